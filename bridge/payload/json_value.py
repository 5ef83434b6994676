"""From whatever a tool gave to values that JSON has, and an account of what had to be replaced.

A value is plain when orjson writes it, it is nested no deeper than Ruby's json can read, and no number in
it is NaN or infinite. Nearly every value is, and finding that out costs one encoding. The others are rebuilt
without recursion, so that no depth and no cycle can break a turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from bridge.excerpt.scan import Scanner
from bridge.payload.attachments import MARKS

# Ruby's JSON.parse stops at 100 levels (max_nesting), and a content adds its own to those of a result.
MAX_DEPTH = 90
# A payload has those levels already, and a content given back has all that a content can have.
MAX_PAYLOAD_DEPTH, MAX_CONTENT_DEPTH = 96, 99
_ORJSON_DEPTH = 254
_NULL = b"null"
_SCANNER = Scanner((_NULL, *MARKS))
_STRICT = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)


@dataclass(slots=True)
class JsonValue:
    """A plain value and its compact JSON.

    ``whole`` is the same at any depth, for the disk; ``marks`` are those marks of media that the JSON holds;
    ``replaced`` counts what changed.
    """

    value: Any
    whole: Any
    encoded: bytes
    marks: set[bytes]
    replaced: dict[str, int] = field(default_factory=dict)


def plain(value: Any, depth: int = MAX_DEPTH) -> JsonValue:
    """Return ``value`` as JSON has it, at most ``depth`` levels of it; never raises."""
    encoded = _strict(value, depth)
    if encoded is not None:
        marks = _SCANNER.found(encoded)
        if _NULL not in marks or not _has_nonfinite(encoded, value):
            return JsonValue(value, value, encoded, marks)
    repair = _Repair()
    whole = repair.run(value)
    flat = _flatten(whole, depth, repair.replaced)
    encoded = orjson.dumps(flat, option=orjson.OPT_SORT_KEYS)
    return JsonValue(flat, whole, encoded, _SCANNER.found(encoded), repair.replaced)


def plain_text(text: str) -> tuple[str, int]:
    """Return ``text`` with every lone surrogate as U+FFFD, and how many there were."""
    if text.isascii():
        return text, 0
    try:
        text.encode()
    except UnicodeEncodeError:
        whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole, whole.count("\ufffd") - text.count("\ufffd")
    return text, 0


def _strict(value: Any, depth: int) -> bytes | None:
    """Return the JSON of ``value``, None if orjson refuses it: in so many lists it refuses what is too deep."""
    wrappers = _ORJSON_DEPTH - depth
    for _ in range(wrappers):
        value = [value]
    try:
        return orjson.dumps(value, option=_STRICT)[wrappers:-wrappers]
    except TypeError:
        return None


def _has_nonfinite(encoded: bytes, value: Any) -> bool:
    """Return whether orjson wrote a ``null`` for a number: pydantic_core writes such a number as it is."""
    import pydantic_core  # noqa: PLC0415 - only a value with a null in it needs it

    return encoded.count(b"null") != pydantic_core.to_json(value, inf_nan_mode="constants").count(b"null")


_CONTAINERS = (dict, list, tuple, set, frozenset)


class _Repair:
    """One pass over a value that is not plain. The stack holds what is still to be put somewhere."""

    def __init__(self) -> None:
        self.replaced: dict[str, int] = {}
        self._stack: list[tuple[Any, Any, Any]] = []
        self._open: set[int] = set()
        self._converters: tuple[tuple[type, Callable[[Any], Any]], ...] = (
            (str, self._text),
            (int, self._integer),
            (float, self._float),
            (bytes, self._bytes),
        )

    def run(self, value: Any) -> Any:
        root: list[Any] = [None]
        self._stack.append((root, 0, value))
        while self._stack:
            holder, key, item = self._stack.pop()
            if holder is None:
                self._open.discard(key)
            elif id(item) in self._open:
                holder[key] = self._count("cycles", "[a value inside itself]")
            else:
                holder[key] = self._convert(item)
        return root[0]

    def _convert(self, item: Any) -> Any:
        if isinstance(item, dict):
            return self._enter(item, {}, self._named(item))
        if isinstance(item, _CONTAINERS):
            return self._enter(item, [None] * len(item), list(enumerate(item)))
        return self._leaf(item)

    def _enter(self, item: Any, holder: Any, children: list[tuple[Any, Any]]) -> Any:
        self._open.add(id(item))
        self._stack.append((None, id(item), None))
        if isinstance(holder, dict):
            holder.update(dict.fromkeys(key for key, _ in children))
        for key, child in reversed(children):
            # Most children are leaves: they wait for nothing.
            if isinstance(child, _CONTAINERS):
                self._stack.append((holder, key, child))
            else:
                holder[key] = self._leaf(child)
        return holder

    def _named(self, item: dict[Any, Any]) -> list[tuple[str, Any]]:
        names: dict[str, Any] = {}
        for key, child in item.items():
            name = self._leaf(key) if isinstance(key, str) else self._count("keys", str(self._leaf(key)))
            while name in names:
                name += "'"
            names[name] = child
        return list(names.items())

    def _leaf(self, item: Any) -> Any:
        if item is None or isinstance(item, bool) or (type(item) is str and item.isascii()):
            return item
        for kind, convert in self._converters:
            if isinstance(item, kind):
                return convert(item)
        return self._count("objects", self._text(str(item)))

    def _bytes(self, item: bytes) -> Any:
        return self._count("bytes", item.decode("utf-8", "replace"))

    def _text(self, item: str) -> str:
        text, surrogates = plain_text(str(item))
        return self._count("surrogates", text, surrogates) if surrogates else text

    def _integer(self, item: int) -> Any:
        if -(2**63) <= item < 2**64:
            return int(item)
        try:
            return orjson.Fragment(str(int(item)))
        except ValueError:  # beyond Python's limit for decimal digits (sys.set_int_max_str_digits)
            return self._count("integers", hex(item))

    def _float(self, item: float) -> Any:
        if math.isfinite(item):
            return float(item)
        return self._count("numbers", "NaN" if item != item else "Infinity" if item > 0 else "-Infinity")  # noqa: PLR0124 - NaN differs from itself

    def _count(self, what: str, value: Any, how_many: int = 1) -> Any:
        self.replaced[what] = self.replaced.get(what, 0) + how_many
        return value


def _flatten(value: Any, depth: int, replaced: dict[str, int]) -> Any:
    """Return ``value`` with every branch below ``depth`` levels as the text of its JSON."""
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        replaced["branches"] = replaced.get("branches", 0) + 1
        return b"".join(pieces(value)).decode()
    if isinstance(value, dict):
        return {key: _flatten(child, depth - 1, replaced) for key, child in value.items()}
    return [_flatten(child, depth - 1, replaced) for child in value]


def pieces(value: Any) -> Iterator[bytes]:
    """Return the compact JSON of a plain value of any depth, keys sorted, piece by piece."""
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if type(item) is _Raw:
            yield item.text
        elif isinstance(item, dict) and item:
            stack.extend(reversed(_members(item)))
        elif isinstance(item, list) and item:
            stack.extend(reversed(_elements(item)))
        else:
            yield orjson.dumps(item)


@dataclass(frozen=True, slots=True)
class _Raw:
    text: bytes


def _members(item: dict[str, Any]) -> list[Any]:
    parts: list[Any] = []
    for key in sorted(item):
        parts += [_Raw(b"," if parts else b"{"), _Raw(orjson.dumps(key) + b":"), item[key]]
    return [*parts, _Raw(b"}")]


def _elements(item: list[Any]) -> list[Any]:
    parts: list[Any] = []
    for child in item:
        parts += [_Raw(b"," if parts else b"["), child]
    return [*parts, _Raw(b"]")]


def document(value: Any) -> bytes:
    """Return the JSON of a plain value as a file to read by lines: indented, sorted, newline at the end."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # nested beyond what orjson writes
        return b"".join(pieces(value)) + b"\n"
