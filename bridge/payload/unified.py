"""Any tool result becomes the unified payload: ``ok``, ``tool``, ``data`` or ``error``, and what goes along.

Three dialects arrive (docs/projections.md): Rind's own payload, ÆtherCodex's objects, and anything else. Nothing is
lost: a member that the payload has no place for goes to ``meta.details``. Nothing is believed of a result that the
bridge alone can know: the name and the status are the call's, and the bridge's own words in ``meta`` go to
``meta.details`` too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import from_json

from bridge.excerpt.json_text import encode
from bridge.payload.json_value import integer
from bridge.payload.weight import needs_too_much
from bridge.protocol.names import FAILED_STATUSES

RIND, AETHERCODEX, OTHER = "rind", "aethercodex", "other"
FORMAT = "tool_result_v1"
# What only the bridge says in ``meta``.
OWN_WORDS = frozenset(
    {"format", "output", "continue", "shown", "truncated_by", "withheld", "shortened", "cleaned", "replaced"}
)
_DETAILS = "details"
# ``ts`` is the time of a Rind result; it has no other place.
_RIND_MEMBERS = frozenset({"ok", "tool", "data", "error", "error_type", "meta", "attachments", "ts"})


@dataclass(slots=True)
class Payload:
    """A unified payload. ``body`` holds those of data, error, error_type and meta that there are, in this order."""

    ok: bool
    tool: str
    body: dict[str, Any]
    attachments: list[Any] = field(default_factory=list)
    dialect: str = OTHER

    def tree(self) -> dict[str, Any]:
        """Return the content as an object whose keys stand in their one order."""
        return {"ok": self.ok, "tool": self.tool, **self.body}

    def with_body(self, body: dict[str, Any]) -> Payload:
        """Return the same payload with another body."""
        return replace(self, body=body)


def unify(result: Any, name: str, status: str, error_type: str | None = None, *, is_own: bool = False) -> Payload:
    """Return the payload of ``result``, the JSON value that the tool ``name`` gave back with ``status``.

    ``is_own`` says that it is known to be a content of the bridge: then its ``meta`` is believed.
    """
    failed = status in FAILED_STATUSES
    if is_rind(result):
        payload = _from_rind(result, name, failed=failed, is_own=is_own)
    elif isinstance(result, dict):
        payload = _from_object(result, name, failed=failed)
    else:
        payload = _from_value(result, name, status)
    if error_type is not None and "error_type" not in payload.body:
        payload.body["error_type"] = error_type
    if len(payload.body) > 1 or "data" not in payload.body:
        payload.body = _ordered(payload.body)
    return payload


def is_rind(result: Any) -> bool:
    """Return whether ``result`` is an object in Rind's form."""
    return isinstance(result, dict) and isinstance(result.get("ok"), bool) and isinstance(result.get("tool"), str)


def parse_payload_text(text: str, name: str) -> dict[str, Any] | None:
    """Return Rind's payload if ``text`` is the JSON of one that the tool ``name`` gave, None if not.

    Also what Python's ``json.dumps`` writes beyond JSON: NaN, Infinity, lone surrogates, integers of any length.
    """
    text = text.lstrip("\ufeff \t\r\n")
    if not text.startswith("{") or '"tool"' not in text or needs_too_much(text.encode(errors="replace")):
        return None
    try:
        parsed = from_json(text, allow_inf_nan=False)
    except ValueError:
        try:
            parsed = json.loads(text, parse_int=integer)
        except (ValueError, RecursionError):
            return None
    return parsed if is_rind(parsed) and parsed["tool"] == name else None


def _from_rind(result: dict[str, Any], name: str, *, failed: bool, is_own: bool) -> Payload:
    meta, attachments = result.get("meta"), result.get("attachments")
    details = {key: value for key, value in result.items() if key not in _RIND_MEMBERS}
    if meta is not None and not isinstance(meta, dict):
        details["meta"] = meta
    if attachments is not None and not isinstance(attachments, list):
        details["attachments"] = attachments
    if is_own:
        name = result["tool"]
    elif result["tool"] != name:
        details["tool"] = result["tool"]
    kept = dict(meta) if isinstance(meta, dict) else {}
    if "ts" in result:
        kept.setdefault("ts", result["ts"])
    if not is_own:
        details |= {word: kept.pop(word) for word in sorted(OWN_WORDS & kept.keys())}
    body = {key: result[key] for key in ("data", "error", "error_type") if result.get(key) is not None}
    body["meta"] = _with_details(kept, details)
    attached = attachments if isinstance(attachments, list) else []
    return Payload(result["ok"] and not failed, name, body, attached, RIND)


def _from_object(result: dict[str, Any], name: str, *, failed: bool) -> Payload:
    error = result.get("error")
    if error is None or error is False or (isinstance(error, str | list | dict) and not error):
        ok = not failed and result.get("ok") is not False
        return Payload(ok, name, {"data": result}, dialect=AETHERCODEX)
    details = {key: value for key, value in result.items() if key != "error"}
    if not isinstance(error, str):
        details["error"] = error
    body = {"error": _message(error), "meta": _with_details({}, details)}
    return Payload(ok=False, tool=name, body=body, dialect=AETHERCODEX)


def _from_value(result: Any, name: str, status: str) -> Payload:
    if status not in FAILED_STATUSES:
        return Payload(ok=True, tool=name, body={"data": result})
    if isinstance(result, str):
        return Payload(ok=False, tool=name, body={"error": result})
    body = {"error": status} if result is None else {"data": result, "error": status}
    return Payload(ok=False, tool=name, body=body)


def _message(error: Any) -> str:
    """Return the text of an ``error`` that need not be one."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    return error if isinstance(error, str) else encode(error).decode()


def _with_details(meta: dict[str, Any], details: dict[str, Any]) -> dict[str, Any]:
    if not details:
        return meta
    if _DETAILS in meta:
        details = {**details, "meta": {_DETAILS: meta[_DETAILS]}}
    return {**meta, _DETAILS: details}


def _ordered(body: dict[str, Any]) -> dict[str, Any]:
    ordered: dict[str, Any] = {key: body[key] for key in ("data", "error", "error_type") if key in body}
    if "data" not in ordered and "error" not in ordered:
        ordered = {"data": None, **ordered}
    if body.get("meta"):
        ordered["meta"] = body["meta"]
    return ordered
