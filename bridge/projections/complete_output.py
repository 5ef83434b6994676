"""Keep the complete output of a call where a projection leaves something out, and say where it is or why it is nowhere.

A long text is stored as text, so that it can be paged by lines: the main text, and each long stream of a command as a
file of its own. What else may have been left out is stored as indented JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, cast

from bridge.excerpt.budget import Budget
from bridge.excerpt.tree import size_of
from bridge.payload.json_value import document
from bridge.payload.unified import RIND
from bridge.projections.tool_result import ToolResult, are_most, texts_of, with_place
from bridge.protocol.reasons import NO_IDS, NO_STORE, NOT_KEPT
from bridge.protocol.results import OutputPart, OutputReference, Recovery

_STREAMS = frozenset({"stdout", "stderr", "output", "delta", "result"})
# A stream of fewer code points is shown whole, or is in the document.
_SHORTEST_STREAM = 1_024
# A shorter text is stored with what stands beside it.
_SHORTEST_MAIN_TEXT = 200
# Beside the stored texts no more than this part of the smaller budget may stand that is not stored as well.
_BESIDE_PART = 4
_DOCUMENT_PART = "json"
_SHOWN_MEMBERS = (
    "path",
    "bytes",
    "lines",
    "field",
    "kept_by",
    "partial",
    "gone_bytes",
    "gone_at_line",
    "parts",
    "reason",
)


class OutputStore(Protocol):
    """Where complete outputs and attachments are kept (``bridge.store``)."""

    def store(
        self, session_id: str, call_id: str, content: bytes, *, field: str | None = None, part: str = ""
    ) -> dict[str, Any]:
        """Keep ``content`` and return its reference, or the reason why it was not kept."""

    def store_attachment(self, session_id: str, call_id: str, content: bytes, media_type: str) -> dict[str, Any]:
        """Keep an attachment and return its reference, or the reason why it was not kept."""


@dataclass(frozen=True, slots=True)
class CompleteOutput:
    """Where the complete output is: its reference, and the place in the payload of the text that it is."""

    reference: OutputReference
    place: str = ""

    @property
    def path(self) -> str | None:
        """The path of the file, None where there is none."""
        return self.reference.get("path")

    def to_json(self) -> dict[str, Any]:
        """Return where the complete output is, or why nowhere, as ``meta.output`` says it."""
        return {key: value for key, value in self.reference.items() if key in _SHOWN_MEMBERS}

    def recovery(self) -> Recovery:
        """Return where what was lost here can be found, or why nowhere, as a loss says it."""
        if self.path is not None:
            return {"recover": self.path}
        return {"recover": None, "reason": self.reference.get("reason", NOT_KEPT)}

    def line_in_file(self, line: int) -> int:
        """Return where ``line`` of the whole lies in the file, which may lack a middle."""
        reference = self.reference
        if not reference.get("partial") or line < reference["gone_at_line"]:
            return line
        return int(max(reference["gone_at_line"], line - reference["gone_line_ends"] + 1))


def without_output(reason: str, place: str = "") -> CompleteOutput:
    """Return the output of a call that has none; ``place`` is that of the text that would be it."""
    return CompleteOutput({"reason": reason}, place)


def earlier_output(result: ToolResult) -> CompleteOutput | None:
    """Return the output that a content of ours names, or the file that the tool itself wrote, else None."""
    if result.payload.dialect != RIND:
        return None
    meta, place = result.payload.body.get("meta", {}), result.main.place if result.main else ""
    if result.is_own and isinstance(meta.get("output"), dict):
        path = meta.get("continue", {}).get("args", {}).get("path")
        named: Any = meta["output"] if path is None else {"path": path, **meta["output"]}
        return CompleteOutput(named, place)
    if meta.get("truncated") is not True:
        return None
    path, size = meta.get("output_path"), meta.get("total_bytes")
    if not isinstance(path, str) or not path or meta.get("output_incomplete") or meta.get("output_error"):
        return None
    reference: OutputReference = {"path": path, "kept_by": "tool"}
    if type(size) is int:
        reference["bytes"] = size
    return CompleteOutput(reference, place)


def keep(result: ToolResult, store: OutputStore | None, ids: tuple[str, str] | None, smaller: Budget) -> CompleteOutput:
    """Store what ``result`` holds and return where; ``smaller`` is the smaller one of the two budgets."""
    if ids is None or store is None:
        return without_output(NO_IDS if ids is None else NO_STORE, result.main.place if result.main else "")
    plan = _plan(result, smaller)
    first, *others = plan.files
    reference = cast("OutputReference", store.store(*ids, first.content, field=first.field))
    if others:
        reference["parts"] = [_part(other, store, ids) for other in others]
    return CompleteOutput(reference, plan.place)


def _part(file: _File, store: OutputStore, ids: tuple[str, str]) -> OutputPart:
    kept = store.store(*ids, file.content, field=file.field, part=file.part)
    part: OutputPart = {"part": file.part}
    if "path" in kept and "lines" in kept:
        return {**part, "path": kept["path"], "lines": kept["lines"]}
    return {**part, "reason": kept.get("reason", NOT_KEPT)}


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    field: str | None = None
    part: str = ""


@dataclass(slots=True)
class _Plan:
    """The files to be stored, the main one first, and the place of the text that it is."""

    files: list[_File]
    place: str = ""


def _plan(result: ToolResult, smaller: Budget) -> _Plan:
    if isinstance(result.whole, str):
        return _Plan([_File(result.whole.encode())], "data" if "data" in result.payload.body else "error")
    texts = sorted(_long_texts(result), reverse=True)
    if not texts:
        return _Plan([_File(document(result.whole))])
    files: dict[str, _File] = {}
    rest = result.payload.body
    for _, place, text in texts:
        part = place.rpartition(".")[2] if files else ""
        if part not in files:
            files[part] = _File(text.encode(), _field(result, place), part)
            rest = with_place(rest, place, "")
    if size_of(rest).size > smaller.size // _BESIDE_PART:
        files[_DOCUMENT_PART] = _File(document(result.whole), None, _DOCUMENT_PART)
    return _Plan(list(files.values()), texts[0][1])


def _long_texts(result: ToolResult) -> list[tuple[int, str, str]]:
    """Return the texts that are stored as files: the streams of a command, else the one main text."""
    texts = texts_of(result.payload.body, _SHORTEST_STREAM)
    streams = [text for text in texts if text[1].rpartition(".")[2] in _STREAMS]
    length = sum(length for length, _, _ in streams)
    if are_most(result.payload.body, [place for _, place, _ in streams], length, result.size):
        return streams
    main = result.main
    if main is None or len(main.text.text) < _SHORTEST_MAIN_TEXT:
        return []
    return [(len(main.text.text), main.place, main.text.text)]


def _field(result: ToolResult, place: str) -> str | None:
    """Return the place of a text in the result as the tool gave it, None when the result is one text."""
    if result.payload.dialect == RIND:
        return None if place in ("data", "error") else place
    return place.removeprefix("data.").removeprefix("meta.details.")
