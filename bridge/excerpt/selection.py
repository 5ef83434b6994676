"""Which lines of a text are shown: how head, blocks of evidence and tail share the budget."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from bridge.excerpt.account import (
    Segment,
    bytes_for_segments,
    bytes_of_cut,
    bytes_of_segment,
    longest_cut,
    longest_marker,
)
from bridge.excerpt.blocks import Block, blocks_of
from bridge.excerpt.budget import Budget
from bridge.excerpt.json_text import escape
from bridge.excerpt.lines import Part, Reader
from bridge.excerpt.rows import Rows
from bridge.excerpt.source import Text
from bridge.excerpt.structure import Structure, no_blocks

# Below this there is no budget for a marker and something on both sides of it.
SMALLEST_FOR_MARKER = 320
# Newlines that a marker needs beside those of the text: before it, after it, and one on each side.
MARKER_LINES = 4
# Below this, blocks would push out what little is shown.
_SMALLEST_FOR_BLOCKS = 800
# The share of the head: where lines decide, it only shows how the text begins; else both ends are worth the same.
_HEAD_OF_EVIDENCE, _HEAD_OF_PROSE = 0.04, 0.5
_PLAIN = Structure(no_blocks, share=0.0, head=_HEAD_OF_PROSE)
# So much more of a block than its budget is read, for runs and controls shrink.
_MOST_OF_BLOCK = 8
# When so many blocks on end found no budget, the others are not tried.
_MOST_MISSES = 64
# A part of a line is worth showing if it has so much of the budget that is left.
_WORTH_A_CUT = 64


def select(source: Text, reader: Reader, budget: Budget, share: float, where: str) -> list[Segment]:
    """Return the segments of ``source`` that fit into ``budget`` with their markers, in order."""
    selection = _Selection(source, reader, budget, where)
    shown = _ways_of(source) if share and budget.size >= _SMALLEST_FOR_BLOCKS else _PLAIN
    selection.take_head(shown.head)
    selection.take_blocks(shown.blocks, min(shown.share, share) if shown.tail else shown.share)
    if shown.tail:
        selection.take_tail()
    return selection.segments()


def _ways_of(source: Text) -> Structure:
    """Return how ``source`` is shown: by its structure, by the lines that decide, or by both ends alone."""
    if source.structure:
        return source.structure
    if not source.candidates:
        return _PLAIN
    return Structure(partial(blocks_of, source.raw, source.candidates), share=1.0, head=_HEAD_OF_EVIDENCE)


@dataclass(slots=True)
class _Selection:
    """What is taken so far; ``left`` is the budget that is left when every gap has its marker."""

    source: Text
    reader: Reader
    budget: Budget
    where: str
    left: Budget = field(init=False)
    named: int = 0
    marker: int = 0
    cut: int = 0
    spans: list[list[int]] = field(default_factory=list)
    first: Part | None = None
    last: Part | None = None

    def __post_init__(self) -> None:
        total, size = self.source.lines, len(self.source.raw)
        self.marker = longest_marker(total, size)
        self.cut = longest_cut(total, size)
        whole = longest_marker(total, size, self.where) if self.where else self.marker
        self.left = Budget(self.budget.size - whole, self.budget.lines - 1)
        ends = 2 * (bytes_of_segment(total) + bytes_of_cut(total, size))
        self.named = bytes_for_segments(self.budget.size, total) - ends

    def pay(self, size: int, lines: int) -> None:
        self.left = Budget(self.left.size - size, self.left.lines - lines)

    def take_head(self, share: float) -> None:
        """Take lines from the start, and a part of the next one if that is longer than what they take."""
        part = Budget(int(self.left.size * share), max(1, int(self.left.lines * share)))
        rows = self.reader.forwards(0, part)
        end, (size, lines) = rows.first(part)
        if end:
            self.spans.append([0, end])
            self.pay(size, lines)
        rest = part.size - size - self.cut
        if size * 2 < part.size and rest >= _WORTH_A_CUT // 2 and self.left.lines > 1:
            longer = rows.cost_at(end) if end < rows.end else self.reader.line_end(end) - end
            if longer > part.size - size:
                self.first = self.reader.first_part(end, rest)
                self._pay_cut(self.first)

    def _pay_cut(self, part: Part | None) -> None:
        if part:
            self.pay(self.cut + len(escape(part.text)), 1)

    def take_blocks(self, blocks: Callable[[int], Iterable[Block]], share: float) -> None:
        """Take blocks, the best first, that lie before the least that the tail will have."""
        tail = Budget(self.left.size - int(self.left.size * share), self.left.lines - int(self.left.lines * share))
        lowest = self.reader.line_start(max(0, len(self.source.raw) - tail.size))
        misses = 0
        for block in blocks(lowest):
            left = self.left
            if left.size - tail.size <= self.marker or left.lines - tail.lines <= 1 or misses > _MOST_MISSES:
                break
            if block.start < lowest:
                for start, end in self._uncovered(block.start, min(block.end, lowest)):
                    self._take_lines(start, end, block.core, tail)
                misses = misses + 1 if self.left.size == left.size else 0

    def _take_lines(self, start: int, end: int, core: int, tail: Budget) -> None:
        """Take the lines that leave the ``tail`` what it has, not without the one that decides if it is among them."""
        size, lines = self.left.size - tail.size, self.left.lines - tail.lines
        if end - start > _MOST_OF_BLOCK * size:
            end = self.reader.line_start(start + _MOST_OF_BLOCK * size)
        if end <= start:
            return
        rows = self.reader.rows(start, end)
        markers = 1 - self._joins(start, end)
        stop, taken = rows.first(Budget(size - markers * self.marker, lines - markers))
        if stop < end:  # then they join nothing at their end
            markers = 1 - self._joins(start, start)
            stop, taken = min((stop, taken), rows.first(Budget(size - markers * self.marker, lines - markers)))
        if start < core < end and stop <= core:
            self._take_lines(core, end, core, tail)
            return
        name = markers * bytes_of_segment(self.source.lines)
        if stop > start and name <= self.named:
            self.named -= name
            self.pay(taken.size + markers * self.marker, taken.lines + markers)
            self._add(start, stop)

    def _uncovered(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return what lies between ``start`` and ``end`` and is not taken, as pairs of line starts."""
        pieces = []
        start = max(start, self._head_end())
        for low, high in self.spans:
            if low > start:
                pieces.append((start, min(low, end)))
            start = max(start, high)
        return [piece for piece in [*pieces, (start, end)] if piece[0] < piece[1]]

    def _head_end(self) -> int:
        """Return where the line ends of which the head shows a part."""
        return self.reader.line_end(self.first.start) if self.first else 0

    def _joins(self, start: int, end: int) -> int:
        """Count the spans that the lines from ``start`` to ``end`` would join."""
        return sum((high == start) + (low == end) for low, high in self.spans)

    def _add(self, start: int, end: int) -> None:
        at = bisect_right(self.spans, [start, end])
        self.spans.insert(at, [start, end])
        merged: list[list[int]] = []
        for low, high in self.spans:
            if merged and merged[-1][1] >= low:
                merged[-1][1] = max(high, merged[-1][1])
            else:
                merged.append([low, high])
        self.spans = merged

    def take_tail(self) -> None:
        """Take lines from the end until the budget is used; what is shown already costs nothing."""
        end, lowest = len(self.source.raw), self._head_end()
        spans = list(self.spans)
        while end > lowest:
            rows = self.reader.backwards(end, self.left)
            start = self._take_rows(rows, spans, lowest)
            if start < end:
                self._add(start, end)
            end = start
            if start > rows.start or not rows:
                break
        self._cut_tail(end)

    def _take_rows(self, rows: Rows, spans: list[list[int]], lowest: int) -> int:
        """Take rows from the last one on and return where the first starts that is taken."""
        if rows.start > max(lowest - 1, spans[-1][1] if spans else -1):
            start, taken = rows.last(self.left)
            self.pay(taken.size, taken.lines)
            return start
        at = len(rows.texts)
        size, lines = self.left
        while at and rows.starts[at - 1] >= lowest:
            beyond = max(lowest - 1, spans[-1][1] if spans else -1)
            if rows.starts[at - 1] > beyond:
                count = rows.last_of(bisect_right(rows.starts, beyond, 0, at), at, Budget(size, lines))
                taken = rows.cost(at - count, at)
                size, lines, at = size - taken.size, lines - taken.lines, at - count
                if not count:
                    break
                continue
            start, end = rows.starts[at - 1], rows.starts[at]
            if spans and spans[-1][0] <= start and end <= spans[-1][1]:
                at = bisect_left(rows.starts, max(lowest, spans[-1][0]), 0, at)
            else:
                # A line that joins two segments saves a marker.
                joins = bool(spans) and spans[-1][1] == start
                left = size - rows.costs[at - 1] + joins * self.marker
                high = lines - rows.cost(at - 1, at).lines + joins
                if left < 0 or high < 0:
                    break
                size, lines, at = left, high, at - 1
            while spans and spans[-1][0] >= rows.starts[at]:
                spans.pop()
        self.left = Budget(size, lines)
        return rows.starts[at]

    def _cut_tail(self, end: int) -> None:
        """Show the end of the line before the tail if that is too long for what is left."""
        rest = self.left.size - self.cut
        start = self.reader.line_start(end - 1) if end else 0
        shown = any(low <= start < high for low, high in self.spans)
        if shown or rest < _WORTH_A_CUT or self.left.lines < 1 or end - start <= rest // 2:
            return
        part = self.reader.last_part(end, rest)
        if part and (self.first is None or part.start > self.first.end):
            self.last = part
            self._pay_cut(part)

    def segments(self) -> list[Segment]:
        """Return what is taken, in order."""
        found = [Segment(low, high) for low, high in self.spans]
        if self.first:
            if not found or found[0].start > 0 or found[0].end != self.first.start:
                found.insert(0, Segment(self.first.start, self.first.start))
            found[0].after = self.first
        if self.last:
            if not found or found[-1].start != self.last.end:
                found.append(Segment(self.last.end, self.last.end))
            found[-1].before = self.last
        return found
