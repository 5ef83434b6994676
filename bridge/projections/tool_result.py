"""What one call is about: its result as plain values, without media, unified, and cleaned for the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from bridge.excerpt.cleaning import clean, may_need_cleaning, needs_cleaning
from bridge.excerpt.json_text import encode
from bridge.excerpt.scan import Scanner
from bridge.excerpt.text import Text
from bridge.excerpt.tree import SizeCache
from bridge.payload.attachments import DATA_URI_MARK, AttachmentExtractor
from bridge.payload.json_value import (
    MAX_CONTENT_DEPTH,
    MAX_DEPTH,
    MAX_PAYLOAD_DEPTH,
    JsonValue,
    document,
    plain,
    plain_text,
)
from bridge.payload.unified import RIND, Payload, rind_object, unify
from bridge.projections import kind_of, read_file
from bridge.projections.render import FORMAT, MainText, at_place, with_place

# What stands beside a text that is stored alone must be so small that no projection ever cuts it.
_BESIDE_BULK = 200
_BULK_DEPTH = 4
# A text of more code points is not encoded to be measured: it is cut, or limits are as wide as it is long.
_LARGE = 65_536
_URI_SCANNER = Scanner((DATA_URI_MARK.encode(),))


@dataclass(slots=True)
class ToolResult:
    """A call's result, ready to be projected.

    ``whole`` is what would be stored, ``clean`` the payload for the model, ``clean_bulk`` its bulk. ``size``
    (bytes) and ``newlines`` are what the payload takes as JSON; of a large text, ``size`` is the least.
    """

    whole: Any
    payload: Payload
    clean: Payload
    kind: ModuleType
    args: Mapping[str, Any]
    replaced: dict[str, int]
    costs: SizeCache
    size: int = 0
    newlines: int = 0
    cleaned: Counter[str] = field(default_factory=Counter)
    bulk: MainText | None = None
    clean_bulk: MainText | None = None

    @property
    def total_bytes(self) -> int:
        """The bytes of the bulk, or of the JSON of all of it."""
        return self.bulk.text.size if self.bulk else self.size

    @property
    def total_lines(self) -> int:
        """The lines of the bulk, or of all texts."""
        return self.bulk.text.lines if self.bulk else self.newlines + 1


def read(  # noqa: PLR0913 - the members of one finished call
    result: Any,
    lifter: AttachmentExtractor,
    *,
    name: str,
    status: str,
    error_type: str | None,
    args: Mapping[str, Any] | None,
) -> ToolResult:
    """Return the subject of a call; media go through ``lifter``. Never raises, whatever ``result`` is."""
    made = _plain_result(result)
    given_back = is_content(made.value)
    if made.marks and name != read_file.TOOL and not given_back:
        made.whole = made.value = lifter.lift(made.value)
    payload = unify(made.value, plain_text(name)[0], status, error_type and plain_text(error_type)[0])
    payload.attachments = [*payload.attachments, *lifter.attachments]
    arguments = plain(dict(args)).value if args else {}
    subject = ToolResult(made.whole, payload, payload, kind_of(payload, name), arguments, made.replaced, SizeCache())
    _measure(subject)
    if subject.kind is not read_file and not given_back:
        _clean(subject)
    return subject


def _measure(subject: ToolResult) -> None:
    subject.bulk = subject.clean_bulk = _bulk(subject)
    if subject.bulk and len(subject.bulk.text.text) > _LARGE:
        subject.size, subject.newlines = len(subject.bulk.text.text), subject.bulk.text.newlines
    else:
        subject.size, subject.newlines = subject.costs.of(subject.payload.tree())


def _clean(subject: ToolResult) -> None:
    payload = subject.payload
    if not _may_need_cleaning(subject):
        return
    body = {name: _cleaned(value, subject.cleaned) for name, value in payload.body.items()}
    if subject.cleaned:
        subject.clean = Payload(payload.ok, payload.tool, body, payload.attachments, payload.dialect)
        if subject.bulk:
            subject.clean_bulk = MainText(subject.bulk.place, Text(at_place(body, subject.bulk.place)))


def complete(subject: ToolResult) -> tuple[bytes, str | None]:
    """Return what is stored of a call, a file to read by lines, and the field of the result that it is."""
    if subject.bulk is None:
        return document(subject.whole), None
    return subject.bulk.text.raw, _field(subject, subject.bulk.place)


def is_content(value: Any) -> bool:
    """Return whether ``value`` is a content that the bridge made and said something about."""
    meta = value.get("meta") if isinstance(value, dict) else None
    return isinstance(meta, dict) and meta.get("format") == FORMAT and rind_object(value) is not None


def earlier_output(payload: Payload) -> dict[str, Any] | None:
    """Return the output that a content of ours names, None if the payload is not one."""
    if payload.dialect != RIND or not is_content(payload.tree()):
        return None
    output = payload.body["meta"].get("output")
    return output if isinstance(output, dict) else {}


def _is_projection(result: Any) -> bool:
    """Return whether ``result`` is a whole answer of the bridge, so that its model content says all."""
    return (
        isinstance(result, dict)
        and result.get("model_content_format") == FORMAT
        and isinstance(result.get("model_content_policy"), dict)
        and rind_object(result.get("model_content")) is not None
    )


def _plain_result(result: Any) -> JsonValue:
    if _is_projection(result):
        result = result["model_content"]
    if isinstance(result, str):
        text, surrogates = plain_text(result)
        result = rind_object(text)
        if result is None:
            marks = _URI_SCANNER.found(text.encode())
            return JsonValue(text, text, b"", marks, {"surrogates": surrogates} if surrogates else {})
    return plain(result, _depth(result))


def _depth(result: Any) -> int:
    if is_content(result):
        return MAX_CONTENT_DEPTH
    return MAX_DEPTH if rind_object(result) is None else MAX_PAYLOAD_DEPTH


def _cleaned(value: Any, counts: Counter[str]) -> Any:
    if isinstance(value, str):
        return clean(value, counts)
    if isinstance(value, dict):
        return {name: _cleaned(child, counts) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(child, counts) for child in value]
    return value


def _bulk(subject: ToolResult) -> MainText | None:
    """Return the text that is nearly all of the payload, None if there is none."""
    body = subject.payload.body
    if isinstance(subject.whole, str):
        return MainText("data", Text(body["data"])) if "data" in body else MainText("error", Text(body["error"]))
    length, place = max(_texts(body, "", _BULK_DEPTH), default=(0, ""))
    if length <= _BESIDE_BULK:
        return None
    rest = with_place(body, place, "")
    # Measured apart from the subject's costs: the objects on the way to the place are new and die here.
    beside = sum(len(encode(name)) + len(encode(value)) for name, value in rest.items())
    return MainText(place, Text(at_place(body, place))) if beside <= _BESIDE_BULK else None


def _may_need_cleaning(subject: ToolResult) -> bool:
    if subject.bulk and len(subject.bulk.text.text) > _LARGE:
        rest = with_place(subject.payload.body, subject.bulk.place, "")
        return needs_cleaning(subject.bulk.text.text) or may_need_cleaning(encode(rest))
    return may_need_cleaning(encode(subject.payload.body))


def _texts(value: dict[str, Any], path: str, depth: int) -> Iterator[tuple[int, str]]:
    """Return the lengths and places of the texts in objects, down to ``depth`` levels."""
    for name, child in value.items():
        if "." in name:
            continue  # such a place could not be named
        if isinstance(child, str):
            yield len(child), path + name
        elif isinstance(child, dict) and depth > 1:
            yield from _texts(child, f"{path}{name}.", depth - 1)


def _field(subject: ToolResult, place: str) -> str | None:
    """Return the place of the bulk in the result as the tool gave it, None when the result is one text."""
    if subject.payload.dialect == RIND:
        return None if place in ("data", "error") else place
    if isinstance(subject.whole, str):
        return None
    return place.removeprefix("data.").removeprefix("meta.details.")
