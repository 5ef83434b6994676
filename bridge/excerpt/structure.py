"""Texts with a structure of their own: JSON lines, unified diffs, lists of matches or of paths, tables.

They are shown by that structure, still as ranges of their lines: which of them come first is all that is
decided here. What a text is, is told by its first lines and, where prose could begin the same, by its middle.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
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
_PATH = re.compile(rb"((?:[^\s:/]{0,255}/)+)[^\s:]{0,255}\n?\Z")
_FINDER = Finder(JSON_RULES)


class Structure(NamedTuple):
    """How a text is shown: blocks, the best first, their share of the budget, that of the head, whether a tail is."""

    blocks: Iterable[Block]
    share: float
    head: float
    tail: bool = True


def structure_of(raw: bytes, evidence: Callable[[], list[Candidate]]) -> Structure | None:
    """Return how ``raw`` is shown by its structure, None if it has none. ``evidence`` gives its deciding lines."""
    if _DIFF_START.match(raw) and raw.find(b"\n@@ -", 0, _DIFF_HEAD) >= 0:
        return Structure(_hunks(raw), share=1.0, head=0.02, tail=False)
    lines = [*_lines(raw, 0), *_lines(raw, len(raw) // 2)]
    if len(lines) < _LOOKED_AT:
        return None
    if _agree(lines, lambda line: line.startswith(b"{") and line.rstrip().endswith(b"}")):
        return Structure(map(_alone, _FINDER.candidates(raw)), share=0.7, head=0.05)
    for pattern in (_MATCH, _PATH):
        if _agree(lines, pattern.match):
            return Structure(_by_file(raw, pattern, evidence()), share=0.7, head=0.1)
    return Structure((), share=0.0, head=0.5) if any(_is_table(lines, mark) for mark in _DELIMITERS) else None


_DELIMITERS = (b",", b"\t", b";", b"|")


def _lines(raw: bytes, place: int) -> list[bytes]:
    """Return some whole lines from ``place`` on."""
    start = raw.find(b"\n", place) + 1 if place else 0
    window = raw[start : start + _WINDOW]
    lines = window[: window.rfind(b"\n") + 1].splitlines(keepends=True)
    return [line for line in lines[:_LOOKED_AT] if line.strip()]


def _agree(lines: list[bytes], is_one: Callable[[bytes], object]) -> bool:
    """Return whether enough of ``lines`` are of a kind; of most texts few need to be looked at to see that not."""
    most = len(lines) - ceil(_AGREE * len(lines))
    others = (line for line in lines if not is_one(line))
    return sum(1 for _ in islice(others, most + 1)) <= most


def _is_table(lines: list[bytes], mark: bytes) -> bool:
    columns = lines[0].count(mark)
    return columns > 1 and _agree(lines, lambda line: line.count(mark) == columns)


def _alone(line: Candidate) -> Block:
    return Block(line.start, line.start, line.end)


def _hunks(raw: bytes) -> Iterator[Block]:
    """Return the heads of the files, each with the head of its first hunk, and then the hunks one by one."""
    places = [match.start() for match in _DIFF_PLACES.finditer(raw)]
    ends = [*places[1:], len(raw)]
    parts = [(start, end, raw.startswith(b"@@", start)) for start, end in zip(places, ends, strict=True)]
    for start, end, is_hunk in parts:
        if not is_hunk:
            yield Block(start, start, end)
    for start, end, is_hunk in parts:
        if is_hunk:
            yield Block(start, start, end)


def _by_file(raw: bytes, pattern: re.Pattern[bytes], evidence: list[Candidate]) -> Iterator[Block]:
    """Return the first line of every file, the lines that decide, and then more lines of each file in turns."""
    groups = list(_groups(raw, pattern))
    step = -(-len(groups) // _MOST_FILES)
    chosen = groups[::step]
    first = (Block(start, start, end) for start, end in (_head(raw, *group, _TURNS[0]) for group in chosen))
    more = (Block(at, at, end) for turn in _TURNS[1:] for at, end in (_head(raw, *group, turn) for group in chosen))
    return chain(first, map(_alone, islice(evidence, _MOST_FILES)), more)


def _groups(raw: bytes, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
    """Return where each run of lines of one file, or of one folder of paths, starts and ends."""
    start, key, at = 0, None, 0
    while at < len(raw):
        match = pattern.match(raw[at : at + _LONGEST_KEY].partition(b"\n")[0])
        found = match[1] if match else key
        if found != key and at > start:
            yield start, at
            start = at
        key = found
        at = raw.find(b"\n", at) + 1 or len(raw)
    if start < len(raw):
        yield start, len(raw)


def _head(raw: bytes, start: int, end: int, lines: int) -> tuple[int, int]:
    at = start
    for _ in range(lines):
        at = raw.find(b"\n", at, end) + 1 or end
        if at == end:
            break
    return start, at
