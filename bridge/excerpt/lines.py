"""Lines of a text as its reader sees them: cleaned if the reader wants that, runs of equal ones folded.

Only lines that may be shown are decoded, cleaned and measured; all places are bytes of the source.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate

from bridge.excerpt.budget import Budget, fitting, fitting_tail
from bridge.excerpt.cleaning import clean_bytes, needs_cleaning
from bridge.excerpt.evidence import Candidate, candidates
from bridge.excerpt.graphemes import boundary_after, boundary_before, is_visible, without_marks
from bridge.excerpt.json_text import escape
from bridge.excerpt.repeats import NOTHING_OMITTED, Omitted, Repeat, repeats_in, without
from bridge.excerpt.rows import Rows, folded_lines, has_runs, rows_of
from bridge.excerpt.structure import Structure, structure_of

# What is read beyond a cut in a long line, in bytes: whether a cluster or an escape goes on there.
_BEYOND_CUT = 4_096
# So many bytes are counted once, whatever lines of them are asked for.
_COUNTED_TOGETHER = 4_096
_NEWLINE = ord("\n")
# How much more is read when a window gave too little: what it gave says how much lines shrink.
_LEAST_WIDER, _MOST_WIDER = 1.25, 12
# Of many lines so many bytes are read at once: short ones take many times their size in memory.
_AT_ONCE = 1 << 19


class Text:
    """A text and its measures, each taken once: both contents ask for them."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def raw(self) -> bytes:
        """The bytes of the text."""
        return self.text.encode()

    @cached_property
    def needs_cleaning(self) -> bool:
        """Whether a terminal would act upon any character of the text."""
        return needs_cleaning(self.raw)

    @property
    def newlines(self) -> int:
        """The newlines of the text."""
        return self.text.count("\n") if len(self.text) < _COUNTED_TOGETHER else self._newlines[-1]

    @cached_property
    def _newlines(self) -> list[int]:
        """How many newlines stand before each ``_COUNTED_TOGETHER`` bytes, and in the whole text at last."""
        raw, step = self.raw, _COUNTED_TOGETHER
        return [*accumulate([raw.count(b"\n", at, at + step) for at in range(0, len(raw), step)], initial=0)]

    def newlines_before(self, place: int) -> int:
        """Return how many newlines stand before the byte ``place``; costs no more at the end of a long text."""
        part, rest = divmod(place, _COUNTED_TOGETHER)
        return self._newlines[part] + self.raw.count(b"\n", place - rest, place)

    @cached_property
    def json_size(self) -> int:
        """The length of the text in bytes of JSON, quotes included."""
        return len(escape(self.text)) + 2

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The lines that decide, the best first."""
        return candidates(self.raw)

    @cached_property
    def structure(self) -> Structure | None:
        """How the text is shown by its structure, None if it has none."""
        # Not held by what it returns: the text would be freed late.
        itself = weakref.proxy(self)
        return structure_of(self.raw, lambda: itself.candidates)

    @property
    def size(self) -> int:
        """The length of the text in bytes."""
        return len(self.text) if self.text.isascii() else len(self.raw)

    @property
    def lines(self) -> int:
        """The lines of the text; an empty text has none."""
        return self.newlines + (self.text != "" and not self.text.endswith("\n"))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line that is too long: its text, where it starts and ends in the source."""

    text: str
    start: int
    end: int


def _wider(window: int, rows: Rows, budget: Budget) -> int:
    """Return the window that should give more than ``budget``, when ``window`` gave ``rows``, which are less."""
    missing = min(_MOST_WIDER, budget.size / max(1, rows.size))
    wider = int(window * max(_LEAST_WIDER, _LEAST_WIDER * missing))
    return min(wider, _most_at_once(budget)) if rows.texts else wider


def _most_at_once(budget: Budget) -> int:
    return max(_AT_ONCE, _MOST_WIDER * budget.size)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads lines of ``raw`` as they are shown."""

    raw: bytes
    cleaned: bool
    folded: bool
    _last: dict[tuple[int, int, bool], tuple[str, Counter[str]]] = field(default_factory=dict)

    def rows(self, start: int, end: int, counts: Counter[str]) -> Rows:
        """Return the lines between ``start`` and ``end`` (line starts, or the end of the text)."""
        if start >= end:
            return Rows([], lambda: [end])
        repeats = self._repeats(start, end)
        texts = self._shown(start, end, repeats, counts).split("\n")
        omitted = Omitted(self.raw, start, repeats) if repeats else NOTHING_OMITTED
        starts = partial(self._starts, start, end, repeats, omitted)
        start_of = None if repeats else partial(self._start_of, start, end)
        return rows_of(texts, starts, counts if self.folded else None, omitted, start_of)

    def _start_of(self, start: int, end: int, number: int) -> int:
        """Return where line ``number``, from 0, of those between ``start`` and ``end`` starts, or ``end``."""
        lines = self.raw[start:end].split(b"\n", number)
        return end - len(lines[-1]) if len(lines) > number else end

    def _starts(self, start: int, end: int, repeats: Sequence[Repeat], omitted: Omitted) -> list[int]:
        """Return where the lines between ``start`` and ``end`` start that are not omitted, and ``end``."""
        lines = without(self.raw, start, end, repeats).removesuffix(b"\n").split(b"\n")
        return [*omitted.places([*accumulate([len(line) + 1 for line in lines[:-1]], initial=start)]), end]

    def text(self, start: int, end: int, counts: Counter[str]) -> str:
        """Return the lines between ``start`` and ``end`` as they are shown."""
        if start >= end:
            return ""
        repeats = self._repeats(start, end)
        if self.folded and end - start - sum(stop - first for first, stop, _ in repeats) > _AT_ONCE:
            return "\n".join(folded_lines(self._lines(start, end, counts), counts)) + "\n" * self._ends(end)
        text = self._shown(start, end, repeats, counts)
        omitted = Omitted(self.raw, start, repeats) if repeats else NOTHING_OMITTED
        if self.folded and has_runs(texts := text.split("\n"), omitted):
            text = "\n".join(rows_of(texts, list, counts, omitted).texts)
        return text + "\n" * self._ends(end)

    def _repeats(self, start: int, end: int) -> list[Repeat]:
        """Return the stretches of equal lines that need not be read, for all but their number is folded away."""
        return repeats_in(self.raw, start, end) if self.folded else []

    def _lines(self, start: int, end: int, counts: Counter[str]) -> Iterator[str]:
        """Return the lines between ``start`` and ``end`` as they are shown, some read at a time."""
        while start < end:
            stop = min(end, self._end_of_lines(start, _AT_ONCE))
            stop = stop if stop > start else min(end, self.line_end(start))
            yield from self._shown(start, stop, (), counts).split("\n")
            start = stop

    def _ends(self, end: int) -> bool:
        """Return whether a newline stands before ``end``."""
        return self.raw[end - 1] == _NEWLINE

    def _shown(self, start: int, end: int, repeats: Sequence[Repeat], counts: Counter[str]) -> str:
        """Return the lines between ``start`` and ``end``, cleaned if need be, without the last newline."""
        if not self.cleaned:
            return without(self.raw, start, end, repeats).removesuffix(b"\n").decode()
        # A carriage return belongs to the end of a line only where a newline follows.
        text = self._clean(start, end, counts, repeats)
        return text[:-1] if self._ends(end) else text

    def _clean(self, start: int, end: int, counts: Counter[str], repeats: Sequence[Repeat] = ()) -> str:
        """Return what lies between ``start`` and ``end`` as a terminal would show it, without ``repeats``.

        The last is kept: of a text that is one line, its beginning is asked for, its end and all of it.
        """
        asked = (start, end, bool(repeats))
        if asked not in self._last:
            taken: Counter[str] = Counter()
            text = clean_bytes(without(self.raw, start, end, repeats), taken)
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
        window, raw = max(budget.size, 1), self.raw
        while True:
            end = self._end_of_lines(start, window)
            rows = self.rows(start, end, Counter())
            if end >= len(raw) or rows.exceeds(budget) or (rows.texts and window >= _most_at_once(budget)):
                return rows
            if end <= start and not self._may_shrink(start, window):
                return rows
            window = _wider(max(window, end - start), rows, budget)

    def backwards(self, end: int, budget: Budget) -> Rows:
        """Return lines before ``end``: more than fit into ``budget``, all there are, or as many as are read at once."""
        window = max(budget.size, 1)
        while True:
            start = self._start_of_lines(end, window)
            rows = self.rows(start, end, Counter())
            if start <= 0 or rows.exceeds(budget) or (rows.texts and window >= _most_at_once(budget)):
                return rows
            if start >= end and not self._may_shrink(max(0, end - window), window):
                return rows
            window = _wider(max(window, end - start), rows, budget)

    def _end_of_lines(self, start: int, window: int) -> int:
        """Return where the last line ends that ends within ``window`` bytes, or ``start``."""
        if start + window >= len(self.raw):
            return len(self.raw)
        return self.raw.rfind(b"\n", start, start + window) + 1 or start

    def _start_of_lines(self, end: int, window: int) -> int:
        if end <= window:
            return 0
        # The newline before the window ends the line before it; that of the last line starts none.
        return self.raw.find(b"\n", end - window - 1, end - 1) + 1 or end

    def _may_shrink(self, start: int, window: int) -> bool:
        """Return whether a line that fills a window may be shown shorter than it is."""
        return self.cleaned and needs_cleaning(self.raw[start : start + window])

    def line_start(self, place: int) -> int:
        """Return where the line that holds the byte ``place`` starts."""
        return self.raw.rfind(b"\n", 0, place) + 1

    def line_end(self, place: int) -> int:
        """Return where the line that holds the byte ``place`` ends, its newline included."""
        return self.raw.find(b"\n", place) + 1 or len(self.raw)

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
        if self.cleaned and (needs_cleaning(self.raw[start:end]) or self.raw.find(b"\r", start, end) >= 0):
            return self._clean(start, end, Counter()), True
        return self.raw[max(start, first) : min(end, last)].decode(errors="ignore"), False
