"""Long stretches of one line again and again, found without a look at each line.

A text that repeats itself every ``n`` bytes is equal to itself moved by ``n`` bytes, and bytes are compared faster than
lines are made. Where a reader folds runs of equal lines, such a stretch need not be split, decoded and cleaned.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from bridge.excerpt.cleaning import needs_cleaning

# A line is compared with the one after it every so many bytes.
_EVERY = 8_192
# So many lines are worth their count whatever they look like.
_FEWEST = 64


class Repeat(NamedTuple):
    """Whole lines from ``start`` to ``end`` (bytes) that are equal to the line before them: how many there are."""

    start: int
    end: int
    lines: int


def repeats_in(raw: bytes, start: int, end: int) -> list[Repeat]:
    """Return long stretches of equal lines between ``start`` and ``end`` (line starts), two lines of each left out.

    Lines that a terminal would act upon are in none: what is taken from each of them is counted.
    """
    found = []
    at = start + _EVERY
    while at < end:
        line = raw.rfind(b"\n", start, at) + 1 or start
        following = raw.find(b"\n", line, end) + 1 or end
        first = following + following - line
        last = _end_of_repeats(raw, following, end, following - line)
        lines = (last - first) // (following - line)
        if lines >= _FEWEST and not needs_cleaning(raw[line:following]):
            found.append(Repeat(first, last, lines))
        at = max(last, at) + _EVERY
    return found


def _end_of_repeats(raw: bytes, start: int, end: int, size: int) -> int:
    """Return where the line of ``size`` bytes before ``start`` is repeated for the last time, ``start`` if never."""
    step = size
    while step >= size:
        if start + step <= end and raw[start : start + step] == raw[start - size : start + step - size]:
            start += step
            step *= 2
        else:
            step //= 2
    return start


def without(raw: bytes, start: int, end: int, repeats: Sequence[Repeat]) -> bytes:
    """Return what lies between ``start`` and ``end`` without ``repeats``."""
    if not repeats:
        return raw[start:end]
    bounds = [start, *(place for repeat in repeats for place in repeat[:2]), end]
    return b"".join(raw[low:high] for low, high in zip(bounds[::2], bounds[1::2], strict=True))


class Omitted:
    """The lines of ``repeats`` by the numbers, from 0, of the lines that are left between ``start`` and the end."""

    def __init__(self, raw: bytes, start: int, repeats: Sequence[Repeat]) -> None:
        self.repeats = repeats
        # Behind which lines they were left out, and how many up to there.
        self._behind: list[int] = []
        self._counts = [0]
        behind = -1
        for repeat in repeats:
            behind += raw.count(b"\n", start, repeat.start)
            start = repeat.end
            self._behind.append(behind)
            self._counts.append(self._counts[-1] + repeat.lines)

    def between(self, first: int, last: int) -> int:
        """Count the lines that are left out behind the lines ``first`` to ``last``."""
        return self._counts[bisect_right(self._behind, last)] - self._counts[bisect_left(self._behind, first)]

    def places(self, starts: list[int]) -> list[int]:
        """Return where lines start in the whole, when they start at ``starts`` without what is left out."""
        placed: list[int] = []
        moved = 0
        for behind, repeat in zip(self._behind, self.repeats, strict=True):
            placed += [start + moved for start in starts[len(placed) : behind + 1]]
            moved += repeat.end - repeat.start
        return placed + [start + moved for start in starts[len(placed) :]] if moved else starts


NOTHING_OMITTED = Omitted(b"", 0, ())
