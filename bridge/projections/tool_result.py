"""One finished call, read: its result as JSON values, without media, as the unified payload, and its main text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson
from pydantic_core import from_json

from bridge.excerpt.cleaning import STARTS_C1
from bridge.excerpt.deadline import Deadline
from bridge.excerpt.json_text import encode, newlines
from bridge.excerpt.scan import Scanner
from bridge.excerpt.source import Text
from bridge.excerpt.tree import LONG_TEXT, SizeCache, size_of
from bridge.payload.attachments import DATA_URI_MARK, AttachmentExtractor, KeepAttachment
from bridge.payload.attachments import MARKS as MEDIA_MARKS
from bridge.payload.json_value import (
    CLEANING_MARKS,
    MAX_ATTACHMENT_DEPTH,
    MAX_CONTENT_DEPTH,
    MAX_DEPTH,
    MAX_PAYLOAD_DEPTH,
    JsonValue,
    flattened,
    to_json_value,
)
from bridge.payload.unified import Payload, is_rind, parse_payload_text, unify
from bridge.projections.own_contents import is_own_content, own_content_of
from bridge.protocol.models import ToolCall
from bridge.protocol.surrogates import well_formed

# How deep a text may lie in a result to be its main text.
_MAIN_TEXT_DEPTH = 4
# Of more members than this none is taken for the main text: an object of so many is data.
_MOST_MEMBERS = 256
# The bytes that a code point takes in JSON at most: \u001b.
_MOST_BYTES = 6
# The only media in a text; one pattern is found ten times as fast as four.
_DATA_URI_SCANNER = Scanner((DATA_URI_MARK.encode(),))
# The tool whose result holds the text of a file.
_READ_FILE = "read_file"


class MainText(NamedTuple):
    """The text that is most of a payload, and its place in it, such as data.stdout."""

    place: str
    text: Text


@dataclass(slots=True)
class ToolResult:
    """A call's result, ready to be projected.

    ``whole`` is what would be stored. ``encoded`` is the content as JSON, empty where a long text makes it too long
    for any budget; ``size`` its bytes, of one with a long text the least that they can be. ``main`` is the text that
    makes up most of the payload, None if there is none. ``is_own`` says that the result is a content of the bridge
    given back. ``parsed_texts`` keeps what texts that are JSON were parsed to, None for one that is not.
    """

    call: ToolCall
    payload: Payload
    whole: Any
    encoded: bytes
    size: int
    main: MainText | None
    may_need_cleaning: bool
    is_own: bool
    replaced: dict[str, int]
    sizes: SizeCache
    deadline: Deadline
    parsed_texts: dict[str, Any] = field(default_factory=dict)

    @property
    def args(self) -> dict[str, Any]:
        """The arguments of the call as JSON values."""
        return to_json_value(self.call.args).value if self.call.args else {}

    @property
    def total_bytes(self) -> int:
        """The bytes of the main text, else of the JSON of all of it."""
        return self.main.text.size if self.main else self.size

    @property
    def total_lines(self) -> int:
        """The lines of the main text, else of all texts."""
        if self.main:
            return self.main.text.lines
        return 1 + (newlines(self.encoded) if self.encoded else self.sizes.of(self.payload.tree()).lines)


class Terms(NamedTuple):
    """What a result is read by.

    ``payload_texts`` says that the tools of this caller answer in texts that are Rind's payloads. A text of more than
    ``longest`` code points fits into no budget, so it is not encoded to be measured.
    """

    deadline: Deadline
    payload_texts: bool = False
    longest: int = LONG_TEXT


def read(call: ToolCall, keep_attachment: KeepAttachment, terms: Terms) -> ToolResult:
    """Return the result of ``call``; media are given to ``keep_attachment``.

    Raises nothing but ``OutOfTime``, whatever the result is.
    """
    name = well_formed(call.name)[0]
    sizes = SizeCache(terms.longest)
    source, is_own, attached = _source(call, name, terms, sizes)
    if source.marks and not is_own and not MEDIA_MARKS.isdisjoint(source.marks):
        source, attached = _without_media(source, AttachmentExtractor(keep_attachment, terms.deadline), name)
        sizes = SizeCache(terms.longest)  # without the bytes of what is not shown any more
    error_type = call.error_type and well_formed(call.error_type)[0]
    payload = unify(source.value, name, call.status, error_type, is_own=is_own)
    if payload.attachments or attached:
        own = [flattened(item, MAX_ATTACHMENT_DEPTH, source.replaced) for item in payload.attachments]
        payload.attachments = [*own, *attached]
    encoded = _encoded(payload, source)
    sizes.know(source.value, source.encoded)
    size = len(encoded) or sizes.of(payload.tree()).size
    main = _main_text(payload.body, source.whole, size, sizes)
    cleans = not is_own and _may_need_cleaning(source, sizes)
    return ToolResult(
        call,
        payload,
        source.whole,
        encoded,
        size,
        main,
        cleans,
        is_own,
        source.replaced,
        sizes,
        terms.deadline,
    )


def _without_media(source: JsonValue, extractor: AttachmentExtractor, name: str) -> tuple[JsonValue, list[Any]]:
    value = extractor.extract(source.value, page=name == _READ_FILE)
    if not extractor.attachments:
        return source, []
    whole = value if source.whole is source.value else extractor.extract(source.whole)
    return JsonValue(value, whole, encode(value), source.marks, source.replaced), [*extractor.attachments]


def _main_text(body: dict[str, Any], whole: Any, size: int, sizes: SizeCache) -> MainText | None:
    if isinstance(whole, str):
        place = "data" if "data" in body else "error"
        return MainText(place, sizes.text(body[place]))
    # A shorter one is not most of it even where each of its code points takes six bytes.
    texts = texts_of(body, -(-size // (2 * _MOST_BYTES)))
    if not texts:
        return None
    length, place, text = max(texts)
    return MainText(place, sizes.text(text)) if are_most(body, [place], length, size) else None


def are_most(body: dict[str, Any], places: list[str], length: int, size: int) -> bool:
    """Return whether the texts at ``places``, of ``length`` code points, are most of a content of ``size`` bytes."""
    if length * 2 >= size:
        return True
    if (size - length * _MOST_BYTES) * 2 > size:
        return False
    for place in places:
        body = with_place(body, place, "")
    return size_of(body).size * 2 <= size


def texts_of(
    value: dict[str, Any], shortest: int, path: str = "", depth: int = _MAIN_TEXT_DEPTH
) -> list[tuple[int, str, str]]:
    """Return length, place and text of the texts in objects, down to ``depth`` levels, of ``shortest`` code points."""
    texts: list[tuple[int, str, str]] = []
    if len(value) > _MOST_MEMBERS:
        return texts
    for name, child in value.items():
        if type(child) is str:
            if len(child) >= shortest and "." not in name:  # such a place could not be named
                texts.append((len(child), path + name, child))
        elif type(child) is dict and depth > 1 and "." not in name:
            texts += texts_of(child, shortest, f"{path}{name}.", depth - 1)
    return texts


def with_place(tree: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """Return ``tree`` with ``value`` at ``place``, names joined by dots."""
    name, _, rest = place.partition(".")
    return {**tree, name: with_place(tree[name], rest, value) if rest else value}


def _source(call: ToolCall, name: str, terms: Terms, sizes: SizeCache) -> tuple[JsonValue, bool, list[Any]]:
    """Return the result as JSON has it, whether it is a content of ours, and what was attached to it."""
    result = call.result
    own = own_content_of(result)
    if own is not None:
        source = to_json_value(from_json(own), MAX_CONTENT_DEPTH)
        if is_own_content(source.value, name):
            return source, True, result["attachments"] if isinstance(result, dict) else []
    if isinstance(result, str):
        parsed = parse_payload_text(well_formed(result)[0], name) if terms.payload_texts else None
        if parsed is None:
            return _text_source(result, sizes), False, []
        result = parsed
    if not is_rind(result):
        return to_json_value(result, MAX_DEPTH, terms.deadline), False, []
    source = to_json_value(result, MAX_CONTENT_DEPTH, terms.deadline)
    is_own = is_own_content(source.value, name)
    return source if is_own else to_json_value(result, MAX_PAYLOAD_DEPTH, terms.deadline), is_own, []


def _text_source(text: str, sizes: SizeCache) -> JsonValue:
    """Return a text as JSON has it, without its JSON where it is too long for any budget."""
    if len(text) <= sizes.longest:
        return to_json_value(text)
    try:
        raw = sizes.text(text).raw
    except UnicodeEncodeError:
        whole, surrogates = well_formed(text)
        return replace(_text_source(whole, sizes), replaced={"surrogates": surrogates} if surrogates else {})
    return JsonValue(text, text, b"", _DATA_URI_SCANNER.found(raw))


def _encoded(payload: Payload, source: JsonValue) -> bytes:
    """Return the content as JSON, with what is encoded already as it is."""
    if not source.encoded:
        return b""
    parts = [b'{"ok":true,"tool":' if payload.ok else b'{"ok":false,"tool":', orjson.dumps(payload.tool)]
    for name, value in payload.body.items():
        parts += (b',"', name.encode(), b'":', source.encoded if value is source.value else encode(value))
    return b"".join((*parts, b"}"))


def _may_need_cleaning(source: JsonValue, sizes: SizeCache) -> bool:
    if not source.encoded:
        return sizes.text(source.value).needs_cleaning
    return not CLEANING_MARKS.isdisjoint(source.marks) or STARTS_C1 in source.encoded
