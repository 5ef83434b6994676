"""Lines of a text as its reader sees them: cleaned if the reader wants that, runs of equal ones folded.

Only lines that may be shown are decoded, cleaned and measured; all places are bytes of the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bridge.excerpt.budget import Budget, fitting, fitting_tail
from bridge.excerpt.cleaning import clean_bytes, needs_cleaning
from bridge.excerpt.graphemes import boundary_after, boundary_before, is_visible, without_marks
from bridge.excerpt.repeats import NOTHING_OMITTED, Omitted, Repeat, repeats_in, without
from bridge.excerpt.rows import FoldedRows, Folding, Rows, folded_lines, folding_of
from bridge.excerpt.source import Text

# What is read beyond a cut in a long line, in bytes: whether a cluster or an escape goes on there.
_BEYOND_CUT = 4_096
# How much more is read when a window gave too little: what it gave says how much lines shrink.
_LEAST_WIDER, _MOST_WIDER = 1.25, 12
# Of many lines so many bytes are read at once: short ones take many times their size in memory.
_AT_ONCE = 1 << 19


class Part(NamedTuple):
    """A part of a line that is too long: its text, where it starts and ends in the source."""

    text: str
    start: int
    end: int


def _wider(window: int, rows: Rows, budget: Budget) -> int:
    """Return the window that should give more than ``budget``, when ``window`` gave ``rows``, which are less."""
    missing = min(_MOST_WIDER, budget.size / max(1, rows.size))
    wider = int(window * max(_LEAST_WIDER, _LEAST_WIDER * missing))
    return min(wider, _most_at_once(budget)) if rows else wider


def _most_at_once(budget: Budget) -> int:
    return max(_AT_ONCE, _MOST_WIDER * budget.size)


class Reader:
    """Reads lines of ``source`` as they are shown: ``cleaned``, and runs of equal ones ``folded``."""

    def __init__(self, source: Text, *, cleaned: bool, folded: bool) -> None:
        self._source = source
        self._raw = source.raw
        self._cleaned = cleaned
        self._folded = folded
        self._last: dict[tuple[int, int, int], tuple[str, Counter[str]]] = {}
        # What is taken away from lines that are only measured, which nobody is told.
        self._measured: Counter[str] = Counter()
        # Lines that are shown as they are, and so is any part of them: where they start and end, by both places.
        self._verbatim: dict[int, tuple[int, int]] = {}

    def rows(self, start: int, end: int) -> Rows:
        """Return the lines between ``start`` and ``end`` (line starts, or the end of the text)."""
        if start >= end:
            return Rows(self._source, end, end, "")
        repeats = self._repeats(start, end)
        text, verbatim = self._shown(start, end, repeats, self._measured)
        if self._folded and (folding := self._folding(text, start, repeats)):
            return FoldedRows(self._source, start, end, folding, self._measured)
        if verbatim:
            self._verbatim[start] = self._verbatim[end] = start, end
        return Rows(self._source, start, end, text, verbatim=verbatim)

    def text(self, start: int, end: int, counts: Counter[str]) -> str:
        """Return the lines between ``start`` and ``end`` as they are shown."""
        if start >= end:
            return ""
        if self._is_verbatim(start, end):
            return self._raw[start:end].decode()
        repeats = self._repeats(start, end)
        if self._folded and end - start - sum(stop - first for first, stop, _ in repeats) > _AT_ONCE:
            return "\n".join(folded_lines(self._lines(start, end, counts), counts)) + "\n" * self._source.ends_line(end)
        text, _ = self._shown(start, end, repeats, counts)
        if self._folded and (folding := self._folding(text, start, repeats)):
            text = "\n".join(folding.rows(counts))
        return text + "\n" * self._source.ends_line(end)

    def _is_verbatim(self, start: int, end: int) -> bool:
        """Return whether the lines between ``start`` and ``end`` are known to be shown as they are."""
        for place in (start, end):
            low, high = self._verbatim.get(place, (0, 0))
            if low <= start and end <= high:
                return True
        return False

    def _folding(self, text: str, start: int, repeats: Sequence[Repeat]) -> Folding | None:
        """Return the runs of ``text``, which are the lines from ``start`` on without ``repeats``."""
        return folding_of(text.split("\n"), Omitted(self._raw, start, repeats) if repeats else NOTHING_OMITTED)

    def _repeats(self, start: int, end: int) -> list[Repeat]:
        """Return the stretches of equal lines that need not be read, for all but their number is folded away."""
        return repeats_in(self._raw, start, end) if self._folded else []

    def _lines(self, start: int, end: int, counts: Counter[str]) -> Iterator[str]:
        """Return the lines between ``start`` and ``end`` as they are shown, some read at a time."""
        while start < end:
            stop = min(end, self._end_of_lines(start, _AT_ONCE))
            stop = stop if stop > start else min(end, self.line_end(start))
            yield from self._shown(start, stop, (), counts)[0].split("\n")
            start = stop

    def _shown(self, start: int, end: int, repeats: Sequence[Repeat], counts: Counter[str]) -> tuple[str, bool]:
        """Return the lines between ``start`` and ``end``, without the last newline, and whether they are verbatim."""
        raw = without(self._raw, start, end, repeats)
        if not (self._cleaned and needs_cleaning(raw)):
            return raw.removesuffix(b"\n").decode(), not repeats
        # A carriage return belongs to the end of a line only where a newline follows.
        text = self._clean(start, end, raw, counts)
        return text[:-1] if self._source.ends_line(end) else text, False

    def _clean(self, start: int, end: int, raw: bytes, counts: Counter[str]) -> str:
        """Return ``raw``, what lies between ``start`` and ``end`` or some of it, as a terminal would show it.

        The last is kept: of a text that is one line, its beginning is asked for, its end and all of it.
        """
        asked = (start, end, len(raw))
        if asked not in self._last:
            taken: Counter[str] = Counter()
            text = clean_bytes(raw, taken)
            self._last.clear()
            self._last[asked] = text, taken
        text, taken = self._last[asked]
        if taken:
            counts.update(taken)
        return text

    def forwards(self, start: int, budget: Budget) -> Rows:
        """Return lines from ``start`` on: more than fit into ``budget``, all there are, or as many as are read at once.

        None if the first is longer. Runs and controls shrink, so more is read until it is enough: at most twice what
        is needed.
        """
        window, raw = max(budget.size, 1), self._raw
        while True:
            end = self._end_of_lines(start, window)
            rows = self.rows(start, end)
            if end >= len(raw) or rows.exceeds(budget) or (rows and window >= _most_at_once(budget)):
                return rows
            if end <= start and not self._may_shrink(start, window):
                return rows
            window = _wider(max(window, end - start), rows, budget)

    def backwards(self, end: int, budget: Budget) -> Rows:
        """Return lines before ``end``: more than fit into ``budget``, all there are, or as many as are read at once."""
        window = max(budget.size, 1)
        while True:
            start = self._start_of_lines(end, window)
            rows = self.rows(start, end)
            if start <= 0 or rows.exceeds(budget) or (rows and window >= _most_at_once(budget)):
                return rows
            if start >= end and not self._may_shrink(max(0, end - window), window):
                return rows
            window = _wider(max(window, end - start), rows, budget)

    def _end_of_lines(self, start: int, window: int) -> int:
        """Return where the last line ends that ends within ``window`` bytes, or ``start``."""
        if start + window >= len(self._raw):
            return len(self._raw)
        return self._raw.rfind(b"\n", start, start + window) + 1 or start

    def _start_of_lines(self, end: int, window: int) -> int:
        if end <= window:
            return 0
        # The newline before the window ends the line before it; that of the last line starts none.
        return self._raw.find(b"\n", end - window - 1, end - 1) + 1 or end

    def _may_shrink(self, start: int, window: int) -> bool:
        """Return whether a line that fills a window may be shown shorter than it is."""
        return self._cleaned and needs_cleaning(self._raw[start : start + window])

    def line_start(self, place: int) -> int:
        """Return where the line that holds the byte ``place`` starts."""
        return self._raw.rfind(b"\n", 0, place) + 1

    def line_end(self, place: int) -> int:
        """Return where the line that holds the byte ``place`` ends, its newline included."""
        return self._raw.find(b"\n", place) + 1 or len(self._raw)

    def first_part(self, start: int, size: int) -> Part | None:
        """Return the beginning of the line at ``start`` within ``size`` bytes of JSON; None if nothing is seen."""
        end = self.line_end(start)
        line, cleaned = self._line(start, end, start, start + size + _BEYOND_CUT)
        body = line.removesuffix("\n")
        text = body[: boundary_before(body, fitting(body, size))]
        if not is_visible(text):
            return None
        taken = len(text.encode())
        # What cleaning took from the line belongs to the part that is shown.
        last = max(start + 1, end - len(line[len(text) :].encode())) if cleaned else start + taken
        return Part(text, start, last)

    def last_part(self, end: int, size: int) -> Part | None:
        """Return the end of the line that ends at ``end`` within ``size`` bytes of JSON; None if nothing is seen."""
        start = self.line_start(end - 1)
        line, _ = self._line(start, end, end - size - _BEYOND_CUT, end)
        text = line[without_marks(line, boundary_after(line, len(line) - fitting_tail(line, size))) :]
        return Part(text, max(start + 1, end - len(text.encode())), end) if is_visible(text) else None

    def _line(self, start: int, end: int, first: int, last: int) -> tuple[str, bool]:
        """Return a line as it is shown: all of it if it is cleaned, else what lies between ``first`` and ``last``."""
        if self._cleaned:
            line = self._raw[start:end]
            if b"\r" in line or needs_cleaning(line):
                return self._clean(start, end, line, self._measured), True
        return self._raw[max(start, first) : min(end, last)].decode(errors="ignore"), False
