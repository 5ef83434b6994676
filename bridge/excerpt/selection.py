"""Which lines of a text are shown: how head, blocks of evidence and tail share the budget."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field

from bridge.excerpt.account import (
    Segment,
    bytes_for_segments,
    bytes_of_cut,
    bytes_of_segment,
    longest_cut,
    longest_marker,
)
from bridge.excerpt.budget import Budget
from bridge.excerpt.evidence import Block, blocks_of
from bridge.excerpt.json_text import escape
from bridge.excerpt.lines import Part, Reader, Rows, Text

# Below this there is no budget for a marker and something on both sides of it.
SMALLEST_FOR_MARKER = 320
# Newlines that a marker needs beside those of the text: before it, after it, and one on each side.
MARKER_LINES = 4
# Below this, blocks would push out what little is shown.
_SMALLEST_FOR_BLOCKS = 800
# The share of the head: where lines decide, it only shows how the text begins; else both ends are worth the same.
_HEAD_OF_EVIDENCE, _HEAD_OF_PROSE = 0.04, 0.5
# A part of a line is worth showing if it has so much of the budget that is left.
_WORTH_A_CUT = 64


def select(source: Text, reader: Reader, budget: Budget, share: float, where: str) -> list[Segment]:
    """Return the segments of ``source`` that fit into ``budget`` with their markers, in order."""
    tail = reader.backwards(len(source.raw), budget)
    if _is_whole(tail, source, budget):
        return [Segment(0, len(source.raw))]
    selection = _Selection(source, reader, budget, where)
    blocks = _blocks(source) if share and budget.size >= _SMALLEST_FOR_BLOCKS else []
    selection.take_head(_HEAD_OF_EVIDENCE if blocks else _HEAD_OF_PROSE)
    selection.take_blocks(blocks, share, tail)
    selection.take_tail(tail)
    return selection.segments()


def _blocks(source: Text) -> list[Block]:
    if source.blocks is None:
        source.blocks = blocks_of(source.raw)
    return source.blocks


def _is_whole(tail: Rows, source: Text, budget: Budget) -> bool:
    if not tail.texts or tail.starts[0] > 0:
        return False
    size, lines = tail.cost
    if not source.text.endswith("\n"):
        size, lines = size - 2, lines - 1
    return size <= budget.size and lines <= budget.lines


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
    after: dict[int, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        total, size = self.source.lines, len(self.source.raw)
        self.marker = longest_marker(total, size)
        self.cut = longest_cut(total, size)
        whole = longest_marker(total, size, self.where)
        self.left = Budget(self.budget.size - whole, self.budget.lines - 1)
        ends = 2 * (bytes_of_segment(total) + bytes_of_cut(total, size))
        self.named = bytes_for_segments(self.budget.size, total) - ends

    def pay(self, size: int, lines: int) -> None:
        self.left = Budget(self.left.size - size, self.left.lines - lines)

    def take_head(self, share: float) -> None:
        """Take lines from the start, and a part of the next one if that is longer than what they take."""
        part = Budget(int(self.left.size * share), max(1, int(self.left.lines * share)))
        rows = self.reader.forwards(0, part)
        count = _fitting(rows, part)
        size, end = sum(rows.costs[:count]), rows.starts[count]
        if count:
            self.spans.append([0, end])
            self.pay(size, _lines(rows, count))
        rest = part.size - size - self.cut
        if size * 2 < part.size and rest >= _WORTH_A_CUT // 2 and self.left.lines > 1:
            self.first = self.reader.first_part(end, rest)
            self._pay_cut(self.first)

    def _pay_cut(self, part: Part | None) -> None:
        if part:
            self.pay(self.cut + len(escape(part.text)), 1)

    def take_blocks(self, blocks: list[Block], share: float, tail: Rows) -> None:
        """Take blocks, the best first, that lie before the least that the tail will have."""
        room = Budget(int(self.left.size * share), int(self.left.lines * share))
        floor = _floor(tail, _minus(self.left, room))
        for block in blocks:
            if room.size <= self.marker or room.lines <= 1:
                break
            if block.start >= floor:
                continue
            room = _minus(room, self._take_block(block, room, floor))

    def _take_block(self, block: Block, room: Budget, floor: int) -> Budget:
        """Take what of ``block`` is not shown yet, and return what it took."""
        before = self.left
        for start, end in self._uncovered(block.start, min(block.end, floor)):
            taken = _minus(before, self.left)
            self._take_lines(start, end, block.core, _minus(room, taken))
        return _minus(before, self.left)

    def _take_lines(self, start: int, end: int, core: int, room: Budget) -> None:
        """Take the lines that fit into ``room``, not without the one that decides if it is among them."""
        rows = self.reader.rows(start, end, Counter())
        markers = 1 - self._joins(start, end)
        count = _fitting(rows, Budget(room.size - markers * self.marker, room.lines - markers))
        if start < core < end and rows.starts[count] <= core:
            self._take_lines(core, end, core, room)
            return
        markers = 1 - self._joins(start, rows.starts[count])
        name = markers * bytes_of_segment(self.source.lines)
        if count and name <= self.named:
            self.named -= name
            self.pay(sum(rows.costs[:count]) + markers * self.marker, _lines(rows, count) + markers)
            self._add(start, rows.starts[count])

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

    def take_tail(self, rows: Rows) -> None:
        """Take lines from the end until the budget is used; what is shown already costs nothing."""
        at, floor = len(rows.texts), self._head_end()
        spans = list(self.spans)
        while at and rows.starts[at - 1] >= floor:
            start, end = rows.starts[at - 1], rows.starts[at]
            if not (spans and spans[-1][1] >= end):
                joins = bool(spans) and spans[-1][1] == start
                if not self._affords(rows.costs[at - 1], _height(rows, at - 1), joins=joins):
                    break
            if spans and spans[-1][0] >= start:
                spans.pop()
            at -= 1
        if at < len(rows.texts):
            self._add(rows.starts[at], len(self.source.raw))
        self._cut_tail(rows.starts[at])

    def _affords(self, size: int, lines: int, *, joins: bool) -> bool:
        """Pay for a line if there is budget; one that joins two segments saves a marker."""
        size, lines = size - joins * self.marker, lines - joins
        if size > self.left.size or lines > self.left.lines:
            return False
        self.pay(size, lines)
        return True

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


def _minus(budget: Budget, taken: Budget) -> Budget:
    return Budget(budget.size - taken.size, budget.lines - taken.lines)


def _height(rows: Rows, at: int) -> int:
    """Return the lines that a row takes: a folded run has its count under it."""
    return 2 if rows.folds and "\n" in rows.texts[at] else 1


def _lines(rows: Rows, count: int) -> int:
    return count + sum("\n" in row for row in rows.texts[:count]) if rows.folds else count


def _fitting(rows: Rows, budget: Budget) -> int:
    """Count the first rows that fit into ``budget``."""
    size, lines = budget
    for count, cost in enumerate(rows.costs):
        size -= cost
        lines -= _height(rows, count)
        if size < 0 or lines < 0:
            return count
    return len(rows.costs)


def _floor(rows: Rows, budget: Budget) -> int:
    """Return where the last rows that fit into ``budget`` start."""
    size, lines = budget
    for at in range(len(rows.costs) - 1, -1, -1):
        size -= rows.costs[at]
        lines -= 1
        if size < 0 or lines < 0:
            return rows.starts[at + 1]
    return rows.starts[0]
