"""What went wrong, in one sentence for a person: what it was, and what to do."""

from __future__ import annotations

from bridge.commands.safe_text import shown_line
from bridge.protocol.errors import BridgeError, InvalidParams, OutputMissing, StoreUnavailable

_MISSING = {
    "expired": "it was removed because its session was not active for output_max_age_days",
    "forgotten": "it was removed because somebody asked the bridge to forget its session",
    "quota": "it was removed because the quota of all outputs needed the space",
    "never_stored": "nothing was stored for this call",
    "failed": "the disk refused it when it was to be stored",
    "damaged": "its file was changed or removed by another program",
}


class CommandError(Exception):
    """A command cannot do what was asked; its text is the sentence for the person. The exit status is 1."""


def sentence(error: BaseException) -> str:
    """Return the sentence that stands on standard error for ``error``."""
    if isinstance(error, BridgeError):
        return _bridge_sentence(error)
    if isinstance(error, OSError) and error.strerror:
        return shown_line(f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    if isinstance(error, RecursionError):
        return "The input is nested too deep to be read."
    return shown_line(error)


def _bridge_sentence(error: BridgeError) -> str:
    data = error.data or {}
    if isinstance(error, OutputMissing):
        return f"The output cannot be shown: {_reason(data)}."
    if isinstance(error, StoreUnavailable):
        why = f"{data.get('reason')}: {data.get('detail')}"
        return f"The store cannot be used ({shown_line(why)}). See rind-bridge doctor."
    if isinstance(error, InvalidParams):
        return "; ".join(f"{field}: {shown_line(rule)}" for field, rule in data.get("fields", {}).items())
    return error.message


def _reason(data: dict[str, object]) -> str:
    reason = str(data.get("reason"))
    detail = data.get("detail")
    return _MISSING.get(reason, shown_line(reason)) + (f" ({shown_line(detail)})" if detail else "")
