"""What one call is about: its result as plain values, without media, unified, and cleaned for the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from bridge.clean import clean, may_need_cleaning
from bridge.content import FORMAT
from bridge.jsontext import encode, encode_top, newlines
from bridge.media import Lifter, may_hold_media
from bridge.payload import RIND, Payload, rind_object, unify
from bridge.plain import document, plain, plain_text
from bridge.projections import kind_of, read_file

# What stands beside a text that is stored alone must be so small that no projection ever cuts it.
_BESIDE_BULK = 200
_BULK_DEPTH = 4


@dataclass(slots=True)
class Subject:
    """``whole`` is what would be stored; ``clean`` is the payload for the model; ``bulk`` is the place of the
    text that makes up nearly all of it, if one does. ``size`` and ``newlines`` are those of its JSON.
    """

    whole: Any
    payload: Payload
    clean: Payload
    kind: ModuleType
    args: Mapping[str, Any]
    replaced: dict[str, int]
    size: int = 0
    newlines: int = 0
    cleaned: Counter[str] = field(default_factory=Counter)
    bulk: str = ""

    @property
    def total_bytes(self) -> int:
        """The bytes of the bulk, or of the JSON of all of it."""
        return len(_at(self.payload.body, self.bulk).encode()) if self.bulk else self.size

    @property
    def total_lines(self) -> int:
        """The lines of the bulk, or of all texts."""
        if not self.bulk:
            return self.newlines + 1
        text: str = _at(self.payload.body, self.bulk)
        return text.count("\n") + (not text.endswith("\n"))


def read(
    result: Any,
    lifter: Lifter,
    *,
    name: str,
    status: str,
    error_type: str | None,
    args: Mapping[str, Any] | None,
) -> Subject:
    """Give the subject of a call; media go through ``lifter``. Never raises, whatever ``result`` is."""
    whole, value, replaced = _plain_result(result)
    if name != read_file.TOOL and may_hold_media(value):
        whole = value = lifter.lift(value, uris=True)
    payload = unify(value, plain_text(name)[0], status, error_type and plain_text(error_type)[0])
    payload.attachments = [*payload.attachments, *lifter.attachments]
    encoded = encode_top(payload.tree())
    subject = Subject(whole, payload, payload, kind_of(payload), plain(dict(args or {})).value, replaced)
    subject.size, subject.newlines = len(encoded), newlines(encoded)
    subject.bulk = _bulk(subject)
    if subject.kind is not read_file and may_need_cleaning(encoded):
        body = _cleaned(payload.body, subject.cleaned)
        subject.clean = Payload(payload.ok, payload.tool, body, payload.attachments, payload.dialect)
    return subject


def complete(subject: Subject) -> tuple[bytes, str | None]:
    """Give what is stored of a call, a file to read by lines, and the field of the result that it is."""
    if not subject.bulk:
        return document(subject.whole), None
    text: str = _at(subject.payload.body, subject.bulk)
    return text.encode(), _field(subject)


def earlier_output(payload: Payload) -> dict[str, Any] | None:
    """Give the output that a content of ours names, None if the payload is not one that was cut here."""
    meta = payload.body.get("meta", {})
    if payload.dialect != RIND or meta.get("format") != FORMAT:
        return None
    output = meta.get("output")
    return output if isinstance(output, dict) else {}


def _plain_result(result: Any) -> tuple[Any, Any, dict[str, int]]:
    if isinstance(result, dict) and result.get("model_content_format") == FORMAT:
        result = result.get("model_content")
    if isinstance(result, str):
        text, surrogates = plain_text(result)
        unified = rind_object(text)
        if unified is None:
            return text, text, {"surrogates": surrogates} if surrogates else {}
        result = unified
    made = plain(result)
    return made.whole, made.value, made.replaced


def _cleaned(value: Any, counts: Counter[str]) -> Any:
    if isinstance(value, str):
        return clean(value, counts)
    if isinstance(value, dict):
        return {name: _cleaned(child, counts) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(child, counts) for child in value]
    return value


def _bulk(subject: Subject) -> str:
    """Give the place of the text that is nearly all of the payload, empty if there is none."""
    body = subject.payload.body
    if isinstance(subject.whole, str):
        return "data" if "data" in body else "error"
    _, place = max(_texts(body, "", _BULK_DEPTH), default=(0, ""))
    if not place:
        return ""
    size = len(encode(_at(body, place)))
    return place if subject.size - size <= _BESIDE_BULK and size * 2 > subject.size else ""


def _texts(value: dict[str, Any], path: str, depth: int) -> Iterator[tuple[int, str]]:
    """Give the lengths and places of the texts in objects, down to ``depth`` levels."""
    for name, child in value.items():
        if "." in name:
            continue  # such a place could not be named
        if isinstance(child, str):
            yield len(child), path + name
        elif isinstance(child, dict) and depth > 1:
            yield from _texts(child, f"{path}{name}.", depth - 1)


def _at(value: Any, place: str) -> Any:
    for name in place.split("."):
        value = value[name]
    return value


def _field(subject: Subject) -> str | None:
    """Give the place of the bulk in the result as the tool gave it, None when the result was one text."""
    if subject.bulk in ("data", "error") and (
        isinstance(subject.whole, str) or subject.payload.dialect == RIND
    ):
        return None
    if subject.payload.dialect == RIND:
        return subject.bulk
    return subject.bulk.removeprefix("data.").removeprefix("meta.details.")
