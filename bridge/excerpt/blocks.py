"""The block of lines that belongs to a line that decides.

It is made three times, so that the best lines have something before any has much: the line with its body, then
the same with more around it. Places are bytes, at line starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from bridge.excerpt.evidence import Candidate


class Block(NamedTuple):
    """Lines that belong together; ``core`` is where the line that decides starts."""

    start: int
    core: int
    end: int


class _Reach(NamedTuple):
    """How many lines a block may have, and how many bytes, before or after its core."""

    lines: int
    size: int


# A longer line is no part of a block.
_LONG = 1_000
# So many blocks get their body before the first of them gets more around it.
_GROUP = 3
_BODY = _Reach(12, 1_200)
_AROUND_BEFORE, _AROUND_AFTER = _Reach(4, 4_000), _Reach(24, 4_000)
# What a command printed before the verdict on it.
_REASON, _MORE_REASON = _Reach(12, 1_500), _Reach(30, 4_000)
_AFTER_VERDICT = _Reach(1, 1_000)
# Lines next to the core belong to it whatever they look like.
_NEXT, _ABOVE = 5, 2
# The line that names the test or the file is looked for so far above.
_NAMED_WITHIN = 5
# No block starts farther above its core.
_FARTHEST = max(_NAMED_WITHIN * _LONG, _AROUND_BEFORE.size, _REASON.size, _MORE_REASON.size)

_COLOURS = rb"(?:\x1b\[[\d;]*+[A-Za-z])*+"
_TIME = rb"(?:\d{4}-\d\d-\d\d[T ][\d:.,]++Z? ?)?+"
_INDENT = re.compile(_COLOURS + _TIME + _COLOURS + rb"([ \t]*+)(\S)?")
# The group that is what a line begins with, which a blank line lacks.
_BEGINS = 2
# How the lines of stacks, excerpts of code, comparisons and notes begin, indented or not.
_CONTINUES = re.compile(
    rb"[ \t]*+(?:at |from |in |File \"|\.\.\.|\||\^|~|\d++[:)|] |-->|==>|=> |E  |> |#\d|note:|help:|hint:"
    rb"|[eE]xpected|[aA]ctual|Caused by|- |\+ |left:|right:)"
)


def blocks_of(raw: bytes, candidates: Sequence[Candidate], before: int) -> Iterator[Block]:
    """Return blocks around ``candidates``, which come best first; later ones may hold earlier ones.

    Those that would not start before the place ``before`` are left out: what is shown anyway needs no block.
    """
    for at in range(0, len(candidates), _GROUP):
        group = candidates[at : at + _GROUP]
        for make in (_least, _most):
            for line in group:
                if line.start - before < _FARTHEST and (block := make(raw, line, before)):
                    yield block


def _least(raw: bytes, line: Candidate, before: int) -> Block | None:
    """Return the line with its body, or a verdict with what stands above it; None if that starts too late."""
    if line.verdict:
        return _reason(raw, line, _REASON, before)
    indent = _indent(raw, line.start)
    start = _named(raw, line.start, indent)
    return Block(start, line.start, _end_of_body(raw, line.end, indent)) if start < before else None


def _most(raw: bytes, line: Candidate, before: int) -> Block | None:
    """Return the line with more around it; None if that starts too late."""
    if line.verdict:
        return _reason(raw, line, _MORE_REASON, before)
    start = _above(raw, line.start, _AROUND_BEFORE)
    return Block(start, line.start, _below(raw, line.end, _AROUND_AFTER)) if start < before else None


def _reason(raw: bytes, line: Candidate, reach: _Reach, before: int) -> Block | None:
    """Return the lines above a verdict: what failed said why before."""
    start = _above(raw, line.start, reach)
    return Block(start, line.start, _below(raw, line.end, _AFTER_VERDICT)) if start < before else None


def _above(raw: bytes, place: int, reach: _Reach) -> int:
    """Return where the lines start that stand above ``place``, within ``reach`` and up to a long one."""
    if not place:
        return 0
    first = place - reach.size - 1
    window = raw[first : place - 1] if first >= 0 else b"\n" + raw[: place - 1]
    return place - _size_of_whole(window.rsplit(b"\n", reach.lines)[:0:-1])


def _below(raw: bytes, place: int, reach: _Reach) -> int:
    """Return where the lines end that stand below ``place``, within ``reach`` and down to a long one."""
    return place + _size_of_whole(raw[place : place + reach.size].split(b"\n", reach.lines)[:-1])


def _size_of_whole(lines: list[bytes]) -> int:
    """Return the bytes of ``lines``, their newlines included, before the first that is long."""
    sizes = list(map(len, lines))
    if max(sizes, default=0) >= _LONG:
        sizes = list(takewhile(_LONG.__gt__, sizes))
    return sum(sizes) + len(sizes)


def _indent(raw: bytes, place: int) -> int | None:
    """Return the indentation of the line at ``place``, behind colours and a time; None for a blank line."""
    match = _INDENT.match(raw, place)
    if match is None or match.lastindex != _BEGINS:
        return None
    start, end = match.span(1)
    return end - start


def _named(raw: bytes, place: int, indent: int | None) -> int:
    """Return where the block starts: two lines above, and the nearest one further up that is less indented."""
    start = at = place
    for number in range(_NAMED_WITHIN):
        previous = raw.rfind(b"\n", 0, max(0, at - 1)) + 1
        if not at or at - previous > _LONG:
            break
        found = _indent(raw, previous)
        if number < _ABOVE:
            start = start if found is None else previous
        elif found is None:
            if not indent:
                break
        else:
            return previous if indent and found < indent else start
        at = previous
    return start


def _end_of_body(raw: bytes, place: int, indent: int | None) -> int:
    end = at = place
    blank = False
    for number in range(_BODY.lines):
        following = raw.find(b"\n", at, at + _LONG) + 1
        if not following or following - place > _BODY.size:
            break
        found = _indent(raw, at)
        if found is None:
            if blank:
                break
            blank = True
        elif found > (indent or 0) or (number < _NEXT and not blank) or _CONTINUES.match(raw, at):
            end, blank = following, False
        else:
            break
        at = following
    return end
