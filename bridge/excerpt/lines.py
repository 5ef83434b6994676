"""Lines of a text as its reader sees them: cleaned if the reader wants that, runs of equal ones folded.

Only lines that may be shown are decoded, cleaned and measured; all places are bytes of the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, groupby
from operator import eq

import orjson

from bridge.excerpt.budget import Budget, fitting, fitting_tail
from bridge.excerpt.cleaning import clean, needs_cleaning
from bridge.excerpt.evidence import Block
from bridge.excerpt.graphemes import boundary_after, boundary_before, is_visible, without_marks
from bridge.excerpt.json_text import escape

# What is read beyond a cut in a long line, in bytes: whether a cluster or an escape goes on there.
_BEYOND_CUT = 4_096


class Text:
    """A text and its measures, each taken once: both contents ask for them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[Block] | None = None

    @cached_property
    def raw(self) -> bytes:
        """The bytes of the text."""
        return self.text.encode()

    @cached_property
    def newlines(self) -> int:
        """The newlines of the text."""
        return self.text.count("\n")

    @property
    def size(self) -> int:
        """The length of the text in bytes."""
        return len(self.text) if self.text.isascii() else len(self.raw)

    @property
    def lines(self) -> int:
        """The lines of the text; an empty text has none."""
        return self.newlines + (self.text != "" and not self.text.endswith("\n"))


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

    @property
    def cost(self) -> Budget:
        """What all rows take."""
        return Budget(sum(self.costs), len(self.texts) + self.folds)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a line that is too long: its text, where it starts and ends in the source."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads lines of ``raw`` as they are shown."""

    raw: bytes
    cleaned: bool
    folded: bool

    def rows(self, start: int, end: int, counts: Counter[str]) -> Rows:
        """Return the lines between ``start`` and ``end`` (line starts, or the end of the text)."""
        if start >= end:
            return Rows([], [], [end])
        chunk = self.raw[start:end]
        body = chunk[:-1] if chunk.endswith(b"\n") else chunk
        text = body.decode()
        starts = list(accumulate(map(len, body.split(b"\n")), lambda at, size: at + size + 1, initial=start))
        starts[-1] = end
        if self.cleaned and needs_cleaning(text):
            # A carriage return belongs to the end of a line only where a newline follows.
            text = clean(text + "\n", counts)[:-1] if body is not chunk else clean(text, counts)
        texts = text.split("\n")
        if self.folded and any(map(eq, texts, texts[1:])):
            return _folded(texts, starts, counts)
        return Rows(texts, [len(orjson.dumps(line)) for line in texts], starts)

    def forwards(self, start: int, budget: Budget) -> Rows:
        """Return lines from ``start`` on, more than fit into ``budget`` or all there are; none if the first is longer.

        Runs and controls shrink, so more is read until it is enough: at most twice what is needed.
        """
        window, raw = max(budget.size, 1), self.raw
        while True:
            end = self._end_of_lines(start, window)
            rows = self.rows(start, end, Counter())
            if end >= len(raw) or rows.cost.size > budget.size or rows.cost.lines > budget.lines:
                return rows
            if end <= start and not self._may_shrink(start, window):
                return rows
            window = 2 * max(window, end - start)

    def backwards(self, end: int, budget: Budget) -> Rows:
        """Return lines before ``end``, more than fit into ``budget`` or all there are."""
        window = max(budget.size, 1)
        while True:
            start = self._start_of_lines(end, window)
            rows = self.rows(start, end, Counter())
            if start <= 0 or rows.cost.size > budget.size or rows.cost.lines > budget.lines:
                return rows
            if start >= end and not self._may_shrink(max(0, end - window), window):
                return rows
            window = 2 * max(window, end - start)

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
        return self.cleaned and needs_cleaning(self.raw[start : start + window].decode(errors="ignore"))

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
        if self.cleaned:
            line = self.raw[start:end].decode()
            if needs_cleaning(line):
                return clean(line, Counter()), True
        return self.raw[max(start, first) : min(end, last)].decode(errors="ignore"), False


def _folded(texts: Sequence[str], starts: Sequence[int], counts: Counter[str]) -> Rows:
    """Fold a run where that saves bytes: the line, and under it how many more times it stands there."""
    rows = Rows()
    at = 0
    for line, run in groupby(texts):
        number = sum(1 for _ in run)
        note = f"[the line above {number - 1} more times]"
        if (number - 1) * (len(line) + 1) > len(note):
            rows.texts.append(f"{line}\n{note}")
            rows.starts.append(starts[at])
            rows.folds += 1
            counts["folded_lines"] += number - 1
        else:
            rows.texts += [line] * number
            rows.starts += starts[at : at + number]
        at += number
    rows.starts.append(starts[-1])
    rows.costs = [len(escape(row)) + 2 for row in rows.texts]
    return rows
