"""Texts with a structure of their own: JSON lines, unified diffs, lists of matches or of paths, tables.

They are shown by that structure, still as ranges of their lines: which of them come first is all that is
decided here. What a text is, is told by its first lines and, where prose could begin the same, by its middle.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, filterfalse, islice
from math import ceil
from typing import NamedTuple

from bridge.excerpt.blocks import Block
from bridge.excerpt.evidence import Candidate, Finder
from bridge.excerpt.rules import JSON_RULES

# The lines by which a text is known, from the start and from the middle, and how many of them must agree.
_LOOKED_AT, _WINDOW = 24, 8_192
_AGREE = 0.9
# Bytes of a diff within which the first hunk must come.
_DIFF_HEAD = 16_384
# So many files of a list are shown by their first line before any has more; more lines of each come in turns.
_MOST_FILES = 60
_TURNS = (1, 3, 8, 20)
_LONGEST_KEY = 300

_DIFF_START = re.compile(rb"(?:diff --git |--- |Index: |commit [0-9a-f]{7,40}\b|From [0-9a-f]{40} )")
_DIFF_PLACES = re.compile(rb"^(?:diff --git |Index: |--- [^\n]*+\n\+\+\+ |@@ -)", re.MULTILINE)
_MATCH = re.compile(rb"([^\s:]{1,300}):\d{1,9}[:-]")
_PATH = re.compile(rb"((?:[^\s:/]{0,255}/)+)[^\s:]{0,255}\Z")
_FINDER = Finder(JSON_RULES)


class Structure(NamedTuple):
    """How a text is shown: blocks, the best first, their share of the budget, that of the head, whether a tail is.

    ``blocks`` is given where the least that the tail will have starts: blocks behind it need not be made.
    """

    blocks: Callable[[int], Iterable[Block]]
    share: float
    head: float
    tail: bool = True


def no_blocks(_: int) -> Iterable[Block]:
    """Return none: both ends show what such a text is."""
    return ()


def structure_of(raw: bytes, evidence: Callable[[], list[Candidate]]) -> Structure | None:
    """Return how ``raw`` is shown by its structure, None if it has none. ``evidence`` gives its deciding lines."""
    if _DIFF_START.match(raw) and raw.find(b"\n@@ -", 0, _DIFF_HEAD) >= 0:
        return Structure(lambda _: _hunks(raw), share=1.0, head=0.02, tail=False)
    lines = [*_lines(raw, 0), *_lines(raw, len(raw) // 2)]
    if len(lines) < _LOOKED_AT:
        return None
    if _agree(lines, lambda line: line.startswith(b"{") and line.rstrip().endswith(b"}")):
        return Structure(lambda _: map(_alone, _FINDER.candidates(raw)), share=0.7, head=0.05)
    for pattern in (_MATCH, _PATH):
        if _agree(lines, pattern.match):
            return Structure(partial(_by_file, raw, pattern, evidence), share=0.7, head=0.1)
    return Structure(no_blocks, share=0.0, head=0.5) if any(_is_table(lines, mark) for mark in _DELIMITERS) else None


_DELIMITERS = (b",", b"\t", b";", b"|")
# Of very many places each is kept in eight bytes.
_PLACE = "Q"


def _lines(raw: bytes, place: int) -> list[bytes]:
    """Return some whole lines from ``place`` on."""
    start = raw.find(b"\n", place) + 1 if place else 0
    lines = raw[start : start + _WINDOW].split(b"\n", _LOOKED_AT)[:-1]
    return [line for line in lines if line.strip()]


def _agree(lines: list[bytes], is_one: Callable[[bytes], object]) -> bool:
    """Return whether so many lines agree; prose is told by its first lines that do not."""
    may_differ = len(lines) - ceil(_AGREE * len(lines))
    return next(islice(filterfalse(is_one, lines), may_differ, None), None) is None


def _is_table(lines: list[bytes], mark: bytes) -> bool:
    columns = lines[0].count(mark)
    return columns > 1 and _agree(lines, lambda line: line.count(mark) == columns)


def _alone(line: Candidate) -> Block:
    return Block(line.start, line.start, line.end)


def _hunks(raw: bytes) -> Iterator[Block]:
    """Return the heads of the files, each with the head of its first hunk, and then the hunks one by one."""
    places = array(_PLACE, (match.start() for match in _DIFF_PLACES.finditer(raw)))
    places.append(len(raw))
    for hunks in (False, True):
        for at in range(len(places) - 1):
            if raw.startswith(b"@@", places[at]) is hunks:
                yield Block(places[at], places[at], places[at + 1])


def _by_file(
    raw: bytes, pattern: re.Pattern[bytes], evidence: Callable[[], list[Candidate]], _before: int
) -> Iterator[Block]:
    """Return the first line of every file, the lines that decide, and then more lines of each file in turns."""
    starts = array(_PLACE, _groups(raw, pattern))
    starts.append(len(raw))
    step = -(-(len(starts) - 1) // _MOST_FILES)
    chosen = [(starts[at], starts[at + 1]) for at in range(0, len(starts) - 1, step)]
    first = (Block(start, start, end) for start, end in (_head(raw, *group, _TURNS[0]) for group in chosen))
    more = (Block(at, at, end) for turn in _TURNS[1:] for at, end in (_head(raw, *group, turn) for group in chosen))
    return chain(first, map(_alone, islice(evidence(), _MOST_FILES)), more)


def _groups(raw: bytes, pattern: re.Pattern[bytes]) -> Iterator[int]:
    """Return where each run of lines of one file, or of one folder of paths, starts."""
    key, at = None, 0
    while at < len(raw):
        match = pattern.match(raw[at : at + _LONGEST_KEY].partition(b"\n")[0])
        found = match[1] if match else key
        if found != key or not at:
            yield at
        key = found
        at = raw.find(b"\n", at) + 1 or len(raw)


def _head(raw: bytes, start: int, end: int, lines: int) -> tuple[int, int]:
    at = start
    for _ in range(lines):
        at = raw.find(b"\n", at, end) + 1 or end
        if at == end:
            break
    return start, at
