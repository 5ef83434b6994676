"""The projection of a result that could not be prepared in time: the beginning and the end of it as it is.

It looks at no more of the result than it shows, and stores what can be stored without looking at it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

import orjson

from bridge.excerpt.budget import Budget, fitting, fitting_tail
from bridge.excerpt.cleaning import clean
from bridge.excerpt.graphemes import boundary_after, boundary_before
from bridge.excerpt.json_text import encode_top, newlines
from bridge.payload.unified import FORMAT
from bridge.projections.complete_output import OutputStore
from bridge.protocol.models import ToolCall
from bridge.protocol.names import COMPLETED
from bridge.protocol.reasons import NO_IDS, NO_STORE, OUT_OF_TIME
from bridge.protocol.results import Loss, OutputReference, SavedProjection
from bridge.protocol.surrogates import well_formed

_KIND = "plain_cut"
_MARKER = "\n[... the middle is not shown: the result could not be prepared in time ...]\n"
# The encoder of the standard library yields a value piece by piece, so its beginning costs no more than it shows.
_PIECES_AT_ONCE = 64


def plain_cut(
    call: ToolCall, model: Budget, terminal: Budget, outputs: OutputStore | None, ids: tuple[str, str] | None
) -> tuple[str, SavedProjection]:
    """Return the person's content and the model's projection of a result that could not be prepared in time."""
    most = max(model.size, terminal.size)
    head, tail, total = _ends(call.result, most)
    output = _kept(call.result, outputs, ids)
    loss: Loss = {"at": "bridge", "reason": OUT_OF_TIME, "recover": output.get("path")}
    projection: SavedProjection = {
        "model_content": _content(call, head, tail, model, output),
        "model_content_format": FORMAT,
        "model_content_policy": {
            "kind": _KIND,
            "truncated": True,
            "total_bytes": total,
            "total_lines": call.result.count("\n") + 1 if isinstance(call.result, str) else 1,
            "losses": [loss],
        },
        "attachments": [],
        "output": output,
    }
    return _content(call, head, tail, terminal, output), projection


def _ends(result: Any, most: int) -> tuple[str, str, int]:
    """Return beginning and end of a result and its bytes; of what is no text, the beginning alone."""
    if isinstance(result, str):
        return result[:most], result[-most:], len(result.encode("utf-8", "replace"))
    text = ""
    pieces = _pieces(result)
    while len(text) < most and (more := "".join(islice(pieces, _PIECES_AT_ONCE))):
        text += more
    return text[:most], "", len(text)


def _pieces(result: Any) -> Iterator[str]:
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True)
    try:
        yield from encoder.iterencode(result)
    except (RecursionError, ValueError):
        return


def _content(call: ToolCall, head: str, tail: str, budget: Budget, output: OutputReference) -> str:
    name = well_formed(call.name)[0][:200]
    ok, place = call.status == COMPLETED, "data" if call.status == COMPLETED else "error"
    meta = {"format": FORMAT, "output": output, "truncated_by": ["bridge"], "shortened": {"reason": OUT_OF_TIME}}
    frame = encode_top({"ok": ok, "tool": name, place: _MARKER, "meta": meta})
    size, lines = max(0, budget.size - len(frame)) // 2, max(0, budget.lines - newlines(frame)) // 2
    text = _first_lines(_shown(head, size), lines) + _MARKER + _last_lines(_shown(tail, size, from_end=True), lines)
    return encode_top({"ok": ok, "tool": name, place: text, "meta": meta}).decode()


def _shown(text: str, size: int, *, from_end: bool = False) -> str:
    text = clean(well_formed(text)[0], Counter())
    if from_end:
        return text[boundary_after(text, len(text) - fitting_tail(text, size)) :]
    return text[: boundary_before(text, fitting(text, size))]


def _first_lines(text: str, count: int) -> str:
    return "\n".join(text.split("\n", count)[:count]) if text.count("\n") >= count else text


def _last_lines(text: str, count: int) -> str:
    return "\n".join(text.rsplit("\n", count)[1:]) if text.count("\n") >= count else text


def _kept(result: Any, outputs: OutputStore | None, ids: tuple[str, str] | None) -> OutputReference:
    if ids is None or outputs is None:
        return {"reason": NO_IDS if ids is None else NO_STORE}
    try:
        content = result.encode("utf-8", "replace") if isinstance(result, str) else orjson.dumps(result)
    except TypeError as error:
        return {"reason": OUT_OF_TIME, "detail": f"it is no JSON: {error}"[:200]}
    return cast("OutputReference", outputs.store(*ids, content))
