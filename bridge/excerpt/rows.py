"""Lines as they are shown, with what each costs; runs of equal ones are folded into a line and a count."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import accumulate, groupby, islice, repeat
from operator import eq

from bridge.excerpt.budget import Budget
from bridge.excerpt.json_text import escape, newlines
from bridge.excerpt.repeats import NOTHING_OMITTED, Omitted

_NEWLINE, _BACKSLASH = rb"\n", rb"\\"
_NEWLINE_SIZE = len(_NEWLINE)
_IS_SAME, _SAME = b"\x01", re.compile(rb"\x01++")


class Rows:
    """Consecutive whole lines as they are shown.

    ``texts`` has no newline at the ends; ``size`` is the bytes of JSON that all of them take, newlines included. A
    folded run is one row of two lines; ``folds`` counts those. What each row costs and where it starts is asked for
    only where not all of them fit.
    """

    def __init__(
        self,
        texts: list[str],
        starts: Callable[[], list[int]],
        folds: int = 0,
        start_of: Callable[[int], int] | None = None,
    ) -> None:
        """Take what returns where each row starts and, if that is less work, what returns it of one row."""
        self.texts = texts
        self.folds = folds
        self._starts = starts
        self._start_of = start_of
        # All together, for a call for each costs more than what it does.
        self._escaped = escape("\n".join(texts))
        self.size = len(self._escaped) + _NEWLINE_SIZE if texts else 0

    @cached_property
    def starts(self) -> list[int]:
        """Where each row starts, in bytes of the source, with the end of the last row behind them."""
        return self._starts()

    @cached_property
    def costs(self) -> list[int]:
        """The bytes of JSON that each row takes, its newlines included."""
        # With escaped backslashes out of the way, what is left of the form of a newline is one.
        escaped = self._escaped.replace(_BACKSLASH, b"  ") if _BACKSLASH in self._escaped else self._escaped
        costs = [len(line) + _NEWLINE_SIZE for line in escaped.split(_NEWLINE)]
        if self.folds:
            lines = iter(costs)
            return [sum(islice(lines, 2 if "\n" in row else 1)) for row in self.texts]
        return costs if self.texts else []

    def start(self, at: int) -> int:
        """Return ``starts[at]``."""
        if self._start_of is None or "starts" in self.__dict__:
            return self.starts[at]
        return self._start_of(at)

    def exceeds(self, budget: Budget) -> bool:
        """Return whether all rows together take more than ``budget``."""
        return self.size > budget.size or len(self.texts) + self.folds > budget.lines

    def cost(self, start: int, end: int) -> Budget:
        """Return what the rows from ``start`` to ``end`` take; a folded run has its count under it."""
        if end - start == len(self.texts):
            return Budget(self.size, end + self.folds)
        if end <= start:
            return Budget(0, 0)
        rows = self.texts[start:end]
        folds = sum("\n" in row for row in rows) if self.folds else 0
        if "costs" in self.__dict__:
            return Budget(sum(self.costs[start:end]), end - start + folds)
        return Budget(len(escape("\n".join(rows))) + _NEWLINE_SIZE, end - start + folds)

    def fitting(self, budget: Budget) -> int:
        """Count the first rows that fit into ``budget`` together."""
        if not self.exceeds(budget):
            return len(self.texts)
        if not self.folds:
            return min(newlines(self._escaped[: max(0, budget.size)]), max(0, budget.lines))
        count = min(bisect_right(list(accumulate(self.costs)), budget.size), max(0, budget.lines))
        while count and self.cost(0, count).lines > budget.lines:
            count -= 1
        return count

    def fitting_last(self, start: int, end: int, budget: Budget) -> int:
        """Count the last rows between ``start`` and ``end`` that fit into ``budget`` together."""
        if end - start == len(self.texts) and not self.folds:
            return self._last_fitting(budget)
        costs = self.costs[start:end][::-1]
        count = min(bisect_right(list(accumulate(costs)), budget.size), max(0, budget.lines))
        while self.folds and count and self.cost(end - count, end).lines > budget.lines:
            count -= 1
        return count

    def _last_fitting(self, budget: Budget) -> int:
        """Count the last rows of all that fit; none of them is folded."""
        if not self.exceeds(budget):
            return len(self.texts)
        at = len(self._escaped) - budget.size
        if at > 0:
            before = self._escaped[:at]
            at += (at - len(before.rstrip(b"\\"))) % 2  # not from the middle of an escape on
        return min(newlines(self._escaped[max(0, at) :]), max(0, budget.lines))


def rows_of(
    texts: list[str],
    starts: Callable[[], list[int]],
    counts: Counter[str] | None,
    omitted: Omitted = NOTHING_OMITTED,
    start_of: Callable[[int], int] | None = None,
) -> Rows:
    """Return the rows of ``texts``, folded if ``counts`` is there to count the lines that are folded away.

    ``starts`` returns where each text starts, with the end of the last one behind them; ``start_of`` one of these.
    """
    if counts is not None and (runs := _runs(texts, omitted)):
        return _folded(texts, starts, runs, counts)
    return Rows(texts, starts, start_of=start_of)


def has_runs(texts: Sequence[str], omitted: Omitted = NOTHING_OMITTED) -> bool:
    """Return whether there is a run that is worth folding."""
    return bool(_runs(texts, omitted))


def _runs(texts: Sequence[str], omitted: Omitted) -> list[tuple[int, int, int]]:
    """Return the runs that take more than their count: of short lines many.

    Of each the first and the last line, and how many more times the first one stands there.
    """
    same = bytes(map(eq, texts, islice(texts, 1, None)))
    spans = [run.span() for run in _SAME.finditer(same)] if _IS_SAME in same else []
    runs = [(at, last, last - at + omitted.between(at, last)) for at, last in spans]
    return [run for run in runs if _is_worth(texts[run[0]], run[2])]


def folded_lines(lines: Iterable[str], counts: Counter[str]) -> Iterator[str]:
    """Return ``lines`` with their runs folded as ``rows_of`` folds them, without holding them all."""
    for line, run in groupby(lines):
        more = sum(1 for _ in run) - 1
        if _is_worth(line, more):
            counts["folded_lines"] += more
            yield f"{line}\n{_note(more)}"
        else:
            yield from repeat(line, more + 1)


def _is_worth(line: str, more: int) -> bool:
    """Return whether ``more`` lines equal to ``line`` take more than their count does."""
    return more * (len(line) + 1) > len(_note(more))


def _note(times: int) -> str:
    return f"[the line above {times} more times]"


def _folded(
    texts: Sequence[str], starts: Callable[[], list[int]], runs: Sequence[tuple[int, int, int]], counts: Counter[str]
) -> Rows:
    """Fold ``runs``: the line, and under it how many more times it stands there."""
    rows: list[str] = []
    at = 0
    for first, last, more in runs:
        rows += texts[at:first]
        rows.append(f"{texts[first]}\n{_note(more)}")
        counts["folded_lines"] += more
        at = last + 1
    rows += texts[at:]
    return Rows(rows, partial(_starts_without, starts, runs), len(runs))


def _starts_without(starts: Callable[[], list[int]], runs: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return ``starts`` without those of the lines of ``runs`` that are folded away."""
    all_starts, kept, at = starts(), list[int](), 0
    for first, last, _ in runs:
        kept += all_starts[at : first + 1]
        at = last + 1
    return kept + all_starts[at:]
