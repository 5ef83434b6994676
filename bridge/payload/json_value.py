"""Turn whatever a tool gave into values that JSON has, with an account of what had to be replaced.

A value is a JSON value when orjson writes it, it is nested no deeper than Ruby's json can read, and no number in it is
NaN or infinite. Nearly every value is, and finding that out costs one encoding. Of the others
those containers are rebuilt in which something is replaced, without recursion, so that no depth and no cycle can break
a turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import accumulate
from typing import Any

import orjson
import pydantic_core

from bridge.excerpt.deadline import Deadline
from bridge.excerpt.scan import Scanner
from bridge.payload.attachments import MARKS as MEDIA_MARKS
from bridge.payload.members import with_members
from bridge.protocol.surrogates import well_formed

# Ruby's JSON.parse stops at 100 levels (max_nesting), and a content adds its own to those of a result.
MAX_DEPTH = 90
# A payload has those levels already, and a content given back has all that a content can have.
MAX_PAYLOAD_DEPTH, MAX_CONTENT_DEPTH = 96, 99
# Attachments travel beside the contents, where a replay puts five more levels around them.
MAX_ATTACHMENT_DEPTH = 90
_ORJSON_DEPTH = 254
# Of a large value that is nested too deep, so many containers are copied and those below them become text.
_MOST_COPIED = 10_000
# A file of more than this may be so many times its compact JSON; a smaller one may be indented however deep it is.
_MOST_INDENTED, _SHORT_DOCUMENT = 4, 1 << 20
_NULL = b"null"
# JSON in which none of these occurs, and no character beyond ASCII, holds nothing that a terminal would act upon.
CLEANING_MARKS = frozenset({b"\\u00", b"\\b", b"\\r"})
_SCANNER = Scanner((_NULL, *MEDIA_MARKS, *CLEANING_MARKS))
_STRICT = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_CONTAINERS = (dict, list, tuple, set, frozenset)
_JSON_CONTAINERS = frozenset({dict, list, tuple})
_SCALARS = frozenset({str, int, float, bool, type(None)})
# The digits up to which Python turns a text into an integer (sys.int_info.default_max_str_digits).
_INTEGER_DIGITS = 4_300


@dataclass(slots=True)
class JsonValue:
    """A JSON value and its compact JSON, keys sorted.

    ``whole`` is the same at any depth, for the disk. ``marks`` are the byte strings in the JSON that call for a closer
    look: those of media and those of terminal escapes. ``replaced`` counts what changed.
    """

    value: Any
    whole: Any
    encoded: bytes
    marks: frozenset[bytes]
    replaced: dict[str, int] = field(default_factory=dict)


def to_json_value(value: Any, depth: int = MAX_DEPTH, deadline: Deadline | None = None) -> JsonValue:
    """Return ``value`` as JSON has it, at most ``depth`` levels of it; raises nothing but ``OutOfTime``."""
    encoded = _strictly_encoded(value, depth)
    if encoded is not None:
        marks = _SCANNER.found(encoded)
        if _NULL not in marks or not _has_nonfinite(encoded, value):
            return JsonValue(value, value, encoded, marks)
    del encoded  # as large as what is made next
    repair = _Repair(deadline)
    flat = whole = repair.run(value)
    encoded = _strictly_encoded(whole, depth)
    if encoded is None:  # nested too deep
        flat = flattened(whole, _affordable_depth(whole, depth), repair.replaced)
        encoded = orjson.dumps(flat, option=orjson.OPT_SORT_KEYS)
    return JsonValue(flat, whole, encoded, _SCANNER.found(encoded), repair.replaced)


def integer(digits: str) -> Any:
    """Return the integer that ``digits`` spell, of any length: as JSON text where Python would refuse it."""
    return int(digits) if len(digits) <= _INTEGER_DIGITS else orjson.Fragment(digits)


def is_too_deep(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return whether a value that was parsed from JSON has more than ``depth`` levels; costs one encoding."""
    try:
        orjson.dumps(_in_lists(value, _ORJSON_DEPTH - depth))
    except TypeError as error:
        return "Recursion" in str(error)
    return False


def _strictly_encoded(value: Any, depth: int) -> bytes | None:
    """Return the JSON of ``value``, None where orjson refuses it or it is nested too deep."""
    try:
        # The JSON of a list, or of an object with a longer one, most likely looks as if it were nested too deep.
        inner = _others_than_scalars(value)
        if all(type(child) in _JSON_CONTAINERS and len(child) <= depth for child in inner):
            encoded = orjson.dumps(value, option=_STRICT)
            if all(map(_is_flat, inner)) or not _may_be_deep(encoded, depth):
                return encoded
        # orjson refuses more levels than it can hold, so the value in enough lists is refused when it is too deep.
        lists = _ORJSON_DEPTH - depth
        return orjson.dumps(_in_lists(value, lists), option=_STRICT)[lists:-lists]
    except TypeError:
        return None


def _in_lists(value: Any, lists: int) -> Any:
    for _ in range(lists):
        value = [value]
    return value


def _may_be_deep(encoded: bytes, depth: int) -> bool:
    # No value has more levels than half of its bytes.
    return len(encoded) > 2 * depth and encoded.count(b"[") + encoded.count(b"{") > depth


def _others_than_scalars(value: Any) -> list[Any]:
    """Return those members of an object that may hold others; ``value`` itself where it is no object but may."""
    if type(value) is not dict:
        return [] if type(value) in _SCALARS else [value]
    return [] if _is_flat(value) else [child for child in value.values() if type(child) not in _SCALARS]


def _is_flat(container: Any) -> bool:
    """Return whether a container holds nothing but scalars; orjson writes enumerations as what they stand for."""
    return _SCALARS.issuperset(map(type, container.values() if type(container) is dict else container))


def _has_nonfinite(encoded: bytes, value: Any) -> bool:
    """Return whether orjson wrote a ``null`` for a number: pydantic_core writes such a number as it is."""
    return encoded.count(_NULL) != pydantic_core.to_json(value, inf_nan_mode="constants").count(_NULL)


class _Repair:
    """One pass over a value that JSON does not have: what nothing changes in is kept as the very object."""

    def __init__(self, deadline: Deadline | None) -> None:
        self._deadline = deadline
        self.replaced: dict[str, int] = {}
        self._open: set[int] = set()
        self._converters: tuple[tuple[type, Callable[[Any], Any]], ...] = (
            (str, self._text),
            (int, self._integer),
            (float, self._float),
            (bytes, self._bytes),
            (orjson.Fragment, lambda item: item),
        )

    def run(self, value: Any) -> Any:
        levels = [self._entered(0, [value])]
        while True:
            level = levels[-1]
            entered = self._next_container(level)
            if entered:
                levels.append(entered)
                continue
            levels.pop()
            self._open.discard(id(level.item))
            if not levels:
                return level.result()[0]
            levels[-1].put(level.key, level.result())

    def _next_container(self, level: _Level) -> _Level | None:
        """Put the leaves of ``level`` up to the next container, and return the level of that one."""
        for key, child in level.members:
            if not isinstance(child, _CONTAINERS):
                level.put(key, self._leaf(child))
            elif id(child) in self._open:
                level.put(key, self._count("cycles", "[a value inside itself]"))
            else:
                return self._entered(key, child)
        return None

    def _entered(self, key: Any, item: Any) -> _Level:
        if self._deadline:
            self._deadline.check()
        self._open.add(id(item))
        if isinstance(item, dict):
            named = type(item) is dict and all(type(name) is str and name.isascii() for name in item)
            return _Level(key, item, None if named else {}, iter(item.items()) if named else self._named(item))
        return _Level(key, item, None if type(item) is list else [None] * len(item), enumerate(item))

    def _named(self, item: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the members of an object by names that are texts, each once."""
        used: set[str] = set()
        repeated: dict[str, int] = {}
        for key, child in item.items():
            name = self._leaf(key) if isinstance(key, str) else self._count("keys", str(self._leaf(key)))
            if name in used:
                name = _unused(name, used, repeated)
            used.add(name)
            yield name, child

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
        text, surrogates = well_formed(str(item))
        return self._count("surrogates", text, surrogates) if surrogates else text

    def _integer(self, item: int) -> Any:
        if -(2**63) <= item < 2**64:
            return int(item)
        try:
            return orjson.Fragment(str(int(item)))
        except ValueError:  # beyond Python's limit for decimal digits (sys.set_int_max_str_digits)
            return orjson.Fragment(format(Decimal(int(item)), "f"))

    def _float(self, item: float) -> Any:
        if math.isfinite(item):
            return float(item)
        return self._count("numbers", "NaN" if math.isnan(item) else "Infinity" if item > 0 else "-Infinity")

    def _count(self, what: str, value: Any, how_many: int = 1) -> Any:
        self.replaced[what] = self.replaced.get(what, 0) + how_many
        return value


@dataclass(slots=True)
class _Level:
    """A container on the way down: its place in the one around it, its copy once something in it changes."""

    key: Any
    item: Any
    copy: Any
    members: Iterator[tuple[Any, Any]]

    def put(self, key: Any, member: Any) -> None:
        if self.copy is None:
            if member is self.item[key]:
                return
            self.copy = self.item.copy()
        self.copy[key] = member

    def result(self) -> Any:
        return self.item if self.copy is None else self.copy


def _unused(name: str, used: set[str], repeated: dict[str, int]) -> str:
    """Return ``name`` with as many apostrophes as make it one that is not in ``used``."""
    more = repeated.get(name, 0) + 1
    while name + "'" * more in used:
        more += 1
    repeated[name] = more
    return name + "'" * more


def flattened(value: Any, depth: int, replaced: dict[str, int]) -> Any:
    """Return ``value`` with every branch below ``depth`` levels as the text of its JSON, counted in ``replaced``."""
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        replaced["branches"] = replaced.get("branches", 0) + 1
        return _compact(value).decode()
    return with_members(value, lambda _, child: flattened(child, depth - 1, replaced))


def document(value: Any) -> bytes:
    """Return the JSON of a value as a file to read by lines: indented, sorted, newline at the end.

    What is nested so deep that it would be spaces for the most part is not indented.
    """
    try:
        compact = orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # nested beyond what orjson writes
        return _written(value) + b"\n"
    if len(compact) > _SHORT_DOCUMENT and _indents_to_more(value, (_MOST_INDENTED - 1) * len(compact)):
        return compact
    del compact
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _indents_to_more(value: Any, most: int) -> bool:
    """Return whether indenting ``value`` adds more than ``most`` bytes to its compact JSON."""
    added = 0
    for depth, containers in enumerate(_levels(value)):
        for item in filter(None, containers):
            # Each member begins a line and so does the closing bracket; a space follows a colon.
            added += len(item) * (3 + 2 * depth + isinstance(item, dict)) + 1 + 2 * depth
        if added > most:
            return True
    return False


def _affordable_depth(value: Any, depth: int) -> int:
    """Return ``depth``, or as many levels as may be copied where too many containers lead to what lies below it."""
    leading = [0] * depth
    _count_leading(value, 0, leading)
    copied = accumulate(leading)
    return next((max(1, level) for level, count in enumerate(copied) if count > _MOST_COPIED), depth)


def _count_leading(value: Any, level: int, leading: list[int]) -> bool:
    """Count the containers of each level that lead to one below the last; return whether ``value`` does."""
    if level == len(leading):
        return True
    children = value.values() if isinstance(value, dict) else value
    leads = False
    for child in children:
        if isinstance(child, dict | list) and _count_leading(child, level + 1, leading):
            leads = True
    leading[level] += leads
    return leads


def _levels(value: Any) -> Iterator[list[Any]]:
    """Yield the containers of ``value`` level by level, the outermost first."""
    level = [value]
    while containers := [child for child in level if isinstance(child, _CONTAINERS)]:
        yield containers
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]


def _compact(value: Any) -> bytes:
    """Return the compact JSON of a value of any depth, keys sorted."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # nested beyond what orjson writes
        return _written(value)


def _written(value: Any) -> bytes:
    out = bytearray()
    stack: list[Iterator[Any]] = [iter((value,))]
    while stack:
        for item in stack[-1]:
            if type(item) is _Raw:
                out += item
            elif isinstance(item, dict) and item:
                stack.append(_members(item))
                break
            elif isinstance(item, list) and item:
                stack.append(_elements(item))
                break
            else:
                out += orjson.dumps(item)
        else:
            stack.pop()
    return bytes(out)


class _Raw(bytes):
    """JSON that is written as it is."""


def _members(item: dict[str, Any]) -> Iterator[Any]:
    for at, key in enumerate(sorted(item)):
        yield _Raw((b"," if at else b"{") + orjson.dumps(key) + b":")
        yield item[key]
    yield _Raw(b"}")


def _elements(item: list[Any]) -> Iterator[Any]:
    for at, child in enumerate(item):
        yield _Raw(b"," if at else b"[")
        yield child
    yield _Raw(b"]")
