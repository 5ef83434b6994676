"""What a line of JSON will need in memory, judged from its bytes before it is parsed.

``[{},{},…]`` becomes thirty times its size in Python's objects, a text about three times. A line that would need
more than ``MOST_TIMES`` its own size is refused (docs/protocol.md, "Frames"), unless it is small.
"""

from __future__ import annotations

import re
from typing import Final

# Need that is never refused: with it a line of three megabytes may have any shape that a tool gives.
FREE_BYTES: Final = 128 << 20
MOST_TIMES: Final = 12

# Bytes for each byte of the line, and for each of these outside of texts: measured on whole calls with CPython 3.11.
_TIMES: Final = 3
_WEIGHTS: Final = {b"{": 80, b'{"': 140, b"[": 80, b",": 17, b".": 46}
_EXPONENT_WEIGHT: Final = 46
# An object has room for five members. Of one with many, the names are its own and take memory as well.
_ROOM, _MANY = 5, 16
_MEMBER_WEIGHT, _NAME_WEIGHT = 34, 126
# What holds a value that is replaced is copied; so are what holds that, and so on: the places in it, and the members.
_COPY_WEIGHT, _COPIED_ITEM_WEIGHT, _COPIED_MEMBER_WEIGHT = 200, 18, 60
_REPLACEMENT_WEIGHT: Final = 140
# A line of so many bytes needs less than what is never refused, whatever it is made of.
_NEVER_TOO_MUCH: Final = FREE_BYTES // (_TIMES + 2 * _WEIGHTS[b"["])
# One long text and what precedes it; short texts are counted as if they were structure. Possessive, so nothing is
# tried twice; a text that never ends is one as well, and at the end of the line it always matches.
_LONG_TEXT = re.compile(
    rb'[^"]*+(?:"[^"\\]{0,64}+(?:\\.[^"\\]{0,16}+){0,16}+"[^"]*+)*+(?:"(?P<text>(?:[^"\\]++|\\.)*+)(?:"|\Z)|\Z)',
    re.DOTALL,
)
_EXPONENT = re.compile(rb"[\[:,]\s*+-?\d++[eE]")
# Numbers beyond 64 bits or beyond doubles, and media.
_REPLACED = re.compile(rb"[\[:,]\s*+-?(?:\d{19}|\d++(?:\.\d++)?[eE]\+?\d{3})|;base64,")


def needs_too_much(line: bytes) -> bool:
    """Return whether ``line`` would need more memory than a request may; reads it once more where it looks like it."""
    if len(line) <= _NEVER_TOO_MUCH:
        return False
    bound = max(FREE_BYTES, MOST_TIMES * len(line)) - _TIMES * len(line)
    counts = _counts(line, 0, len(line))
    most = counts[b","] + 1
    if _need(counts, most, most) <= bound:
        return False
    # What looks like structure may stand in texts, where it costs nothing more.
    for found in _LONG_TEXT.finditer(line):
        for mark, count in _counts(line, *found.span("text")).items():
            counts[mark] -= count
    return _need(counts, _occurrences(_EXPONENT, line), _occurrences(_REPLACED, line)) > bound


def _need(counts: dict[bytes, int], exponents: int, replaced: int) -> int:
    """Return the bytes of a value with so many of each mark, of numbers like 1e5, and of what is replaced."""
    members = max(0, counts[b":"] - _ROOM * counts[b'{"'])
    names = max(0, counts[b":"] - _MANY * counts[b'{"'])
    need = sum(counts[mark] * weight for mark, weight in _WEIGHTS.items())
    need += exponents * _EXPONENT_WEIGHT + members * _MEMBER_WEIGHT + names * _NAME_WEIGHT
    if not replaced:
        return need
    copied = counts[b","] * _COPIED_ITEM_WEIGHT + members * _COPIED_MEMBER_WEIGHT
    return need + min(need, copied + replaced * _COPY_WEIGHT) + replaced * _REPLACEMENT_WEIGHT


def _counts(line: bytes, start: int, end: int) -> dict[bytes, int]:
    return {mark: line.count(mark, start, end) for mark in (*_WEIGHTS, b":")}


def _occurrences(pattern: re.Pattern[bytes], line: bytes) -> int:
    return sum(1 for _ in pattern.finditer(line))
