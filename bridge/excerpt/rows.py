"""Lines as they are shown, with what each costs; runs of equal ones are folded into a line and a count."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from operator import eq

from bridge.excerpt.budget import Budget
from bridge.excerpt.json_text import escape
from bridge.excerpt.repeats import NOTHING_OMITTED, Omitted

_NEWLINE, _BACKSLASH = rb"\n", rb"\\"
_NEWLINE_SIZE = len(_NEWLINE)
_SAME = re.compile(rb"\x01++")


@dataclass(slots=True)
class Rows:
    """Consecutive whole lines as they are shown.

    ``texts`` has no newline at the ends; ``costs`` are bytes of JSON, a newline included; ``starts`` are bytes
    of the source, with the end of the last row behind them. A folded run is one row of two lines.
    """

    texts: list[str] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    folds: int = 0

    def exceeds(self, budget: Budget) -> bool:
        """Return whether all rows together take more than ``budget``."""
        return sum(self.costs) > budget.size or len(self.texts) + self.folds > budget.lines

    def cost(self, start: int, end: int) -> Budget:
        """Return what the rows from ``start`` to ``end`` take; a folded run has its count under it."""
        folds = sum("\n" in row for row in self.texts[start:end]) if self.folds else 0
        return Budget(sum(self.costs[start:end]), max(0, end - start) + folds)

    def fitting(self, budget: Budget) -> int:
        """Count the first rows that fit into ``budget`` together."""
        count = min(bisect_right(list(accumulate(self.costs)), budget.size), max(0, budget.lines))
        while self.folds and count and self.cost(0, count).lines > budget.lines:
            count -= 1
        return count

    def fitting_last(self, start: int, end: int, budget: Budget) -> int:
        """Count the last rows between ``start`` and ``end`` that fit into ``budget`` together."""
        costs = self.costs[start:end][::-1]
        count = min(bisect_right(list(accumulate(costs)), budget.size), max(0, budget.lines))
        while self.folds and count and self.cost(end - count, end).lines > budget.lines:
            count -= 1
        return count


def rows_of(
    texts: list[str], starts: Sequence[int], counts: Counter[str] | None, omitted: Omitted = NOTHING_OMITTED
) -> Rows:
    """Return the rows of ``texts``, folded if ``counts`` is there to count the lines that are folded away."""
    if counts is not None and (runs := _runs(texts, omitted)):
        return _folded(texts, starts, runs, counts)
    return Rows(texts, _costs(texts), list(starts))


def _costs(texts: Sequence[str]) -> list[int]:
    """Return the bytes of JSON that each text takes; none holds a newline.

    They are escaped together, for a call for each costs more than what it does. With escaped backslashes out of
    the way, what is left of the form of a newline is one.
    """
    escaped = escape("\n".join(texts))
    if _BACKSLASH in escaped:
        escaped = escaped.replace(_BACKSLASH, b"  ")
    return [len(line) + _NEWLINE_SIZE for line in escaped.split(_NEWLINE)]


def has_runs(texts: Sequence[str], omitted: Omitted = NOTHING_OMITTED) -> bool:
    """Return whether there is a run that is worth folding."""
    return bool(_runs(texts, omitted))


def _runs(texts: Sequence[str], omitted: Omitted) -> list[tuple[int, int, int]]:
    """Return the runs that take more than their count: of short lines many.

    Of each the first and the last line, and how many more times the first one stands there.
    """
    same = bytes(map(eq, texts, islice(texts, 1, None)))
    spans = [run.span() for run in _SAME.finditer(same)]
    runs = [(at, last, last - at + omitted.between(at, last)) for at, last in spans]
    return [run for run in runs if run[2] * (len(texts[run[0]]) + 1) > len(_note(run[2]))]


def _note(times: int) -> str:
    return f"[the line above {times} more times]"


def _folded(
    texts: Sequence[str], starts: Sequence[int], runs: Sequence[tuple[int, int, int]], counts: Counter[str]
) -> Rows:
    """Fold ``runs``: the line, and under it how many more times it stands there."""
    rows = Rows(folds=len(runs))
    places, at = [], 0
    for first, last, _ in runs:
        rows.texts += texts[at : first + 1]
        rows.starts += starts[at : first + 1]
        places.append(len(rows.texts) - 1)
        at = last + 1
    rows.texts += texts[at:]
    rows.starts += starts[at:]
    rows.costs = _costs(rows.texts)
    for place, (_, _, times) in zip(places, runs, strict=True):
        note = _note(times)
        rows.texts[place] += f"\n{note}"
        rows.costs[place] += len(note) + _NEWLINE_SIZE
        counts["folded_lines"] += times
    return rows
