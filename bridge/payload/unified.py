"""Any tool result becomes the unified payload: ``ok``, ``tool``, ``data`` or ``error``, and what goes along.

Three dialects arrive (docs/projections.md): Rind's own payload, ÆtherCodex's objects, and anything else.
Nothing is lost: a member that the payload has no place for goes to ``meta.details``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bridge.excerpt.json_text import encode
from bridge.protocol.names import FAILED_STATUSES

RIND, AETHERCODEX, OTHER = "rind", "aethercodex", "other"

_RIND_MEMBERS = ("ok", "tool", "data", "error", "error_type", "meta", "attachments")


@dataclass(slots=True)
class Payload:
    """A unified payload. ``body`` holds those of data, error, error_type and meta that there are."""

    ok: bool
    tool: str
    body: dict[str, Any]
    attachments: list[Any] = field(default_factory=list)
    dialect: str = OTHER

    def tree(self) -> dict[str, Any]:
        """Return the content as an object whose keys stand in their one order."""
        return {"ok": self.ok, "tool": self.tool, **self.body}


def unify(result: Any, name: str, status: str = "completed", error_type: str | None = None) -> Payload:
    """Return the payload of ``result``, the plain value that the tool ``name`` gave back with ``status``."""
    unified = rind_object(result)
    if unified is not None:
        payload = _from_rind(unified)
    elif isinstance(result, dict):
        payload = _from_object(result, name, failed=status in FAILED_STATUSES)
    else:
        payload = _from_value(result, name, status)
    if error_type is not None and "error_type" not in payload.body:
        payload.body["error_type"] = error_type
    payload.body = _ordered(payload.body)
    return payload


def rind_object(result: Any) -> dict[str, Any] | None:
    """Return Rind's payload if ``result`` is one, or is a text that parses to one."""
    if isinstance(result, str):
        result = _parsed(result)
    if isinstance(result, dict) and isinstance(result.get("ok"), bool) and isinstance(result.get("tool"), str):
        return result
    return None


def _parsed(text: str) -> Any:
    if not (text[:1] == "{" or text[:64].lstrip()[:1] == "{") or '"tool"' not in text:
        return None
    from pydantic_core import from_json  # noqa: PLC0415 - only a text that may be a payload needs it

    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return None


def _from_rind(result: dict[str, Any]) -> Payload:
    attachments = result.get("attachments")
    meta = result.get("meta")
    details = {key: value for key, value in result.items() if key not in _RIND_MEMBERS}
    if meta is not None and not isinstance(meta, dict):
        details["meta"] = meta
    if attachments is not None and not isinstance(attachments, list):
        details["attachments"] = attachments
    body = {key: result[key] for key in ("data", "error", "error_type") if result.get(key) is not None}
    body["meta"] = _with_details(meta if isinstance(meta, dict) else {}, details)
    attached = attachments if isinstance(attachments, list) else []
    return Payload(result["ok"], result["tool"], body, attached, RIND)


def _from_object(result: dict[str, Any], name: str, *, failed: bool) -> Payload:
    error = result.get("error")
    if error is not None:
        details = {key: value for key, value in result.items() if key != "error"}
        if not isinstance(error, str):
            details["error"] = error
        body = {"error": _message(error), "meta": _with_details({}, details)}
        return Payload(ok=False, tool=name, body=body, dialect=AETHERCODEX)
    ok = not failed and result.get("ok") is not False
    return Payload(ok, name, {"data": result}, dialect=AETHERCODEX)


def _from_value(result: Any, name: str, status: str) -> Payload:
    if status not in FAILED_STATUSES:
        return Payload(ok=True, tool=name, body={"data": result})
    if isinstance(result, str):
        return Payload(ok=False, tool=name, body={"error": result})
    body = {"error": status} if result is None else {"data": result, "error": status}
    return Payload(ok=False, tool=name, body=body)


def _message(error: Any) -> str:
    """Return the text of an ``error`` that need not be one."""
    if isinstance(error, str):
        return error
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        message: str = error["message"]
        return message
    return encode(error).decode()


def _with_details(meta: dict[str, Any], details: dict[str, Any]) -> dict[str, Any]:
    if not details:
        return meta
    if "details" in meta:
        details = {**details, "meta": {"details": meta["details"]}}
    return {**meta, "details": details}


def _ordered(body: dict[str, Any]) -> dict[str, Any]:
    ordered: dict[str, Any] = {key: body[key] for key in ("data", "error", "error_type") if key in body}
    if "data" not in ordered and "error" not in ordered:
        ordered = {"data": None, **ordered}
    if body.get("meta"):
        ordered["meta"] = body["meta"]
    return ordered
