"""Lines as they are shown, with what they cost; runs of equal ones are folded into a line and a count."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import accumulate, groupby, islice, repeat
from operator import eq
from typing import NamedTuple

from bridge.excerpt.budget import Budget
from bridge.excerpt.json_text import ESCAPED_NEWLINE, escape, unescape, without_backslashes
from bridge.excerpt.repeats import NOTHING_OMITTED, Omitted, without
from bridge.excerpt.source import Text

_NEWLINE_SIZE = len(ESCAPED_NEWLINE)
_IS_SAME, _SAME = b"\x01", re.compile(rb"\x01++")


class Run(NamedTuple):
    """Equal lines: the numbers of the first and the last of them, and how many more times the first stands there."""

    first: int
    last: int
    more: int


class Folding(NamedTuple):
    """The ``runs`` among the lines ``texts``, of which some were ``omitted`` before."""

    texts: list[str]
    runs: list[Run]
    omitted: Omitted

    def rows(self, counts: Counter[str]) -> list[str]:
        """Return the lines with each run as one of two lines; ``counts`` grows by the lines that are gone."""
        rows: list[str] = []
        at = 0
        for first, last, more in self.runs:
            rows += self.texts[at:first]
            rows.append(f"{self.texts[first]}\n{_note(more)}")
            counts["folded_lines"] += more
            at = last + 1
        return rows + self.texts[at:]


class Taken(NamedTuple):
    """Rows that fit together: where the last of them ends, or the first of them starts (bytes), and what they take."""

    place: int
    cost: Budget


class Rows:
    """Consecutive whole lines as they are shown, from ``start`` to ``end`` (bytes of the source).

    ``size`` is the bytes of JSON that all of them take, newlines included. What each row takes and where it starts is
    asked for only where that has to be known of each.
    """

    def __init__(self, source: Text, start: int, end: int, text: str, *, verbatim: bool = False) -> None:
        """Take the rows as one ``text`` without the last newline; ``verbatim`` says that it is as in the source."""
        self.start = start
        self.end = end
        self._source = source
        self._text = text
        self._verbatim = verbatim
        # All together, for a call for each costs more than what it does.
        self._escaped = escape(text)
        self.size = len(self._escaped) + _NEWLINE_SIZE if self else 0

    def __bool__(self) -> bool:
        return self.start < self.end

    @cached_property
    def texts(self) -> list[str]:
        """The rows, without the newlines at their ends."""
        return self._text.split("\n") if self else []

    @cached_property
    def starts(self) -> list[int]:
        """Where each row starts, with the end of the last row behind them."""
        return [*_starts(self._raw(), self.start), self.end] if self else [self.end]

    @cached_property
    def lines(self) -> int:
        """The lines that all rows take."""
        return self._lines_between(self.start, self.end)

    @cached_property
    def costs(self) -> list[int]:
        """The bytes of JSON that each row takes, its newlines included."""
        return self._costs_of_lines() if self else []

    def exceeds(self, budget: Budget) -> bool:
        """Return whether all rows together take more than ``budget``."""
        return self.size > budget.size or self.lines > budget.lines

    def first(self, budget: Budget) -> Taken:
        """Return the first rows that fit into ``budget`` together."""
        if not self.exceeds(budget):
            return Taken(self.end, Budget(self.size, self.lines))
        return self._first(budget) if budget.size > 0 and budget.lines > 0 else Taken(self.start, Budget(0, 0))

    def last(self, budget: Budget) -> Taken:
        """Return the last rows that fit into ``budget`` together."""
        if not self.exceeds(budget):
            return Taken(self.start, Budget(self.size, self.lines))
        return self._last(budget) if budget.size > 0 and budget.lines > 0 else Taken(self.end, Budget(0, 0))

    def cost_at(self, start: int) -> int:
        """Return the bytes of JSON that the row takes that starts at ``start``."""
        return self.costs[bisect_left(self.starts, start)]

    def last_of(self, start: int, end: int, budget: Budget) -> int:
        """Count the last rows between the numbers ``start`` and ``end`` that fit into ``budget`` together."""
        sizes = accumulate(self.costs[start:end][::-1])
        return min(bisect_right(list(sizes), budget.size), max(0, budget.lines))

    def cost(self, start: int, end: int) -> Budget:
        """Return what the rows from number ``start`` to ``end`` take."""
        return Budget(sum(self.costs[start:end]), end - start)

    def _first(self, budget: Budget) -> Taken:
        """Cut the JSON of all rows at the last newline that fits."""
        size = _newline_in(self._escaped[: budget.size], bytes.rfind) + _NEWLINE_SIZE
        if size < _NEWLINE_SIZE:
            return Taken(self.start, Budget(0, 0))
        end = self._end_of(self._escaped[:size])
        lines = self._lines_between(self.start, end)
        return Taken(end, Budget(size, lines)) if lines <= budget.lines else self._first_rows(budget.lines)

    def _last(self, budget: Budget) -> Taken:
        """Cut the JSON of all rows behind the first newline that leaves what fits."""
        at = max(0, len(self._escaped) - budget.size)
        before = self._escaped[:at]
        at += (at - len(before.rstrip(b"\\"))) % 2  # not from the middle of an escape on
        found = _newline_in(self._escaped[at:], bytes.find)
        if found < 0:
            return Taken(self.end, Budget(0, 0))
        at += found + _NEWLINE_SIZE
        start = self._start_of(self._escaped[at:])
        lines = self._lines_between(start, self.end)
        size = self.size - at
        return Taken(start, Budget(size, lines)) if lines <= budget.lines else self._last_rows(budget.lines)

    def _first_rows(self, count: int) -> Taken:
        """Return the first ``count`` rows, which are not all of them."""
        size = len(escape("\n".join(self._text.split("\n", count)[:count]))) + _NEWLINE_SIZE
        return Taken(self._end_of_first(count), Budget(size, count))

    def _last_rows(self, count: int) -> Taken:
        """Return the last ``count`` rows, which are not all of them."""
        size = len(escape("\n".join(self._text.rsplit("\n", count)[1:]))) + _NEWLINE_SIZE
        return Taken(self._start_of_last(count), Budget(size, count))

    def _end_of(self, escaped: bytes) -> int:
        """Return where the first rows end of which ``escaped`` is the JSON."""
        text = unescape(escaped)
        return self.start + len(text.encode()) if self._verbatim else self._end_of_first(text.count("\n"))

    def _start_of(self, escaped: bytes) -> int:
        """Return where the last rows start of which ``escaped`` is the JSON."""
        text = unescape(escaped)
        if self._verbatim:
            return self.end - len(text.encode()) - self._source.ends_line(self.end)
        return self._start_of_last(text.count("\n") + 1)

    def _end_of_first(self, count: int) -> int:
        """Return where the first ``count`` rows end, which are not all of them: cleaning leaves each its newline."""
        return self.end - len(self._raw().split(b"\n", count)[-1])

    def _start_of_last(self, count: int) -> int:
        """Return where the last ``count`` rows start, which are not all of them: cleaning leaves each its newline."""
        return self.start + len(self._raw().removesuffix(b"\n").rsplit(b"\n", count)[0]) + 1

    def _lines_between(self, start: int, end: int) -> int:
        """Return the lines between two places, of which the last may lack its newline."""
        return self._source.newlines_between(start, end) + (start < end and not self._source.ends_line(end))

    def _costs_of_lines(self) -> list[int]:
        return [len(line) + _NEWLINE_SIZE for line in without_backslashes(self._escaped).split(ESCAPED_NEWLINE)]

    def _raw(self) -> bytes:
        return self._source.raw[self.start : self.end]


class FoldedRows(Rows):
    """Rows of which some are runs: the line and, under it, how many more times it stands there."""

    def __init__(self, source: Text, start: int, end: int, folding: Folding, counts: Counter[str]) -> None:
        """Take the lines and what is folded of them; ``counts`` grows by the lines that are gone."""
        self.texts = folding.rows(counts)
        super().__init__(source, start, end, "\n".join(self.texts))
        self._runs, self._omitted = folding.runs, folding.omitted

    @cached_property
    def starts(self) -> list[int]:
        """Where each row starts, with the end of the last row behind them."""
        left = without(self._source.raw, self.start, self.end, self._omitted.repeats)
        starts, kept, at = self._omitted.places(_starts(left, self.start)), list[int](), 0
        for first, last, _ in self._runs:
            kept += starts[at : first + 1]
            at = last + 1
        return [*kept, *starts[at:], self.end]

    @cached_property
    def lines(self) -> int:
        """The lines that all rows take."""
        return len(self.texts) + len(self._runs)

    @cached_property
    def costs(self) -> list[int]:
        """The bytes of JSON that each row takes, its newlines included."""
        lines = iter(self._costs_of_lines())
        return [sum(islice(lines, 2 if "\n" in row else 1)) for row in self.texts]

    def cost(self, start: int, end: int) -> Budget:
        """Return what the rows from number ``start`` to ``end`` take."""
        return Budget(sum(self.costs[start:end]), sum(1 + ("\n" in row) for row in self.texts[start:end]))

    def last_of(self, start: int, end: int, budget: Budget) -> int:
        """Count the last rows between the numbers ``start`` and ``end`` that fit into ``budget`` together."""
        count = super().last_of(start, end, budget)
        while self.cost(end - count, end).lines > budget.lines:
            count -= 1
        return count

    def _first(self, budget: Budget) -> Taken:
        count = min(bisect_right(list(accumulate(self.costs)), budget.size), budget.lines)
        while self.cost(0, count).lines > budget.lines:
            count -= 1
        return Taken(self.starts[count], self.cost(0, count))

    def _last(self, budget: Budget) -> Taken:
        number = len(self.texts)
        at = number - self.last_of(0, number, budget)
        return Taken(self.starts[at], self.cost(at, number))


def folding_of(texts: list[str], omitted: Omitted = NOTHING_OMITTED) -> Folding | None:
    """Return the runs of ``texts`` that take more than their count, of short lines many; None if there is none."""
    same = bytes(map(eq, texts, islice(texts, 1, None)))
    spans = [run.span() for run in _SAME.finditer(same)] if _IS_SAME in same else []
    runs = [Run(at, last, last - at + omitted.between(at, last)) for at, last in spans]
    runs = [run for run in runs if _is_worth(texts[run.first], run.more)]
    return Folding(texts, runs, omitted) if runs else None


def folded_lines(lines: Iterable[str], counts: Counter[str]) -> Iterator[str]:
    """Return ``lines`` with their runs folded as ``Folding`` folds them, without holding them all."""
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


def _newline_in(escaped: bytes, find: Callable[[bytes, bytes], int]) -> int:
    """Return where ``find`` finds a newline in ``escaped``, -1 if there is none."""
    at = find(escaped, ESCAPED_NEWLINE)
    is_doubtful = at > 0 and escaped.startswith(b"\\", at - 1)
    return find(without_backslashes(escaped), ESCAPED_NEWLINE) if is_doubtful else at


def _starts(raw: bytes, start: int) -> list[int]:
    """Return where each of the lines ``raw`` starts if the first one does at ``start``."""
    lines = raw.removesuffix(b"\n").split(b"\n")
    return [*accumulate([len(line) + 1 for line in lines[:-1]], initial=start)]
