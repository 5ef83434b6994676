"""A text too long for its budget: its head, its tail, and between them what is missing and where it is.

Cuts fall at the ends of lines; only where a line is longer than half of its part does a cut fall inside it,
at a place where a reader sees none (``clusters``), and then the marker says so. Lines of the missing
middle that decide (``highlights``) are kept under the marker with their numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bridge.excerpt.budget import Budget, fitting, fitting_tail
from bridge.excerpt.folding import Folded, fold
from bridge.excerpt.graphemes import boundary_after, boundary_before
from bridge.excerpt.json_text import escape

ELLIPSIS = "…"
# Below this there is no budget for a marker and something on both sides of it.
SMALLEST_FOR_MARKER = 320
# Newlines that a marker needs beside those of the text: before it, after it, and one on each side.
MARKER_LINES = 4
# Below this, deciding lines would push out what little is shown.
_SMALLEST_FOR_HIGHLIGHTS = 800
_LONGEST_HIGHLIGHT = 400
_MOST_HIGHLIGHTS = 42
_HIGHLIGHTS_OPEN = "[lines among them that look like errors or results, by number:]\n"
_HIGHLIGHTS_CLOSE = "[end of those lines]\n"


class Text:
    """A text and its measures, each taken once: both contents ask for them."""

    def __init__(self, text: str) -> None:
        self.text = text

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


@dataclass(frozen=True, slots=True)
class Style:
    """How texts are shortened.

    ``where`` names the place of the whole, ``highlights`` is the share of the budget that deciding lines may
    have, and ``fold`` says whether runs of equal lines are folded.
    """

    where: str = ""
    highlights: float = 0.0
    fold: bool = False


@dataclass(slots=True)
class Excerpt:
    """A text that fits and its account: ``shown`` for ``meta``, ``lost`` in bytes, ``next_line`` to read."""

    text: str
    shown: dict[str, Any] = field(default_factory=dict)
    lost: int = 0
    next_line: int | None = None


@dataclass(slots=True)
class _Gap:
    """What lies between ``head`` and ``tail``, code points of ``source.text``."""

    source: Text
    folded: Folded
    head: int
    tail: int


def excerpt(source: Text, budget: Budget, style: Style, counts: Counter[str]) -> Excerpt:
    """Return of ``source``, which does not fit, what fits into ``budget`` once escaped."""
    if budget.size < SMALLEST_FOR_MARKER or budget.lines < MARKER_LINES:
        return _clipped(source.text, budget)
    if not style.fold:
        return _cut(source, Folded(source.text), budget, style)
    folded = fold(source.text, budget.size, counts)
    if folded.after:
        source = Text(folded.text)
        if fits(source.text, budget):
            return Excerpt(source.text)
    return _cut(source, folded, budget, style)


def fits(text: str, budget: Budget) -> bool:
    """Return whether ``text`` fits into ``budget`` once escaped."""
    return len(text) <= budget.size and len(escape(text)) <= budget.size and text.count("\n") <= budget.lines


def _clipped(text: str, budget: Budget) -> Excerpt:
    """Return the beginning of ``text`` and an ellipsis: there is no budget to say more."""
    end = fitting(text, budget.size - len(ELLIPSIS.encode()))
    if text.count("\n", 0, end) > budget.lines:
        end = _after_newline(text, budget.lines + 1) - 1
    end = boundary_before(text, end)
    clipped = text[:end] + ELLIPSIS if budget.size >= len(ELLIPSIS.encode()) else ""
    return Excerpt(clipped, lost=_size(text, end, len(text)))


def _after_newline(text: str, count: int) -> int:
    """Return the place after the newline number ``count`` of ``text``, which has as many."""
    return sum(len(line) + 1 for line in text.split("\n", count)[:count])


def _cut(source: Text, folded: Folded, budget: Budget, style: Style) -> Excerpt:
    marker_size = len(escape(_longest_marker(source.text, style.where)))
    open_budget = Budget(budget.size - marker_size, budget.lines - 2)
    gap = _split(source, folded, open_budget)
    lines: list[tuple[int, str]] = []
    if style.highlights and budget.size >= _SMALLEST_FOR_HIGHLIGHTS:
        lines, rest = _highlights(gap, open_budget, style.highlights)
        gap = _split(source, folded, rest) if lines else gap
    return _join(gap, lines, style.where)


def _split(source: Text, folded: Folded, budget: Budget) -> _Gap:
    text = source.text
    head = _head_end(text, Budget(budget.size // 2, budget.lines // 2))
    used = Budget(len(escape(text[:head])), text.count("\n", 0, head))
    tail = _tail_start(text, Budget(budget.size - used.size, budget.lines - used.lines))
    return _Gap(source, folded, head, max(head, tail))


def _head_end(text: str, budget: Budget) -> int:
    end = fitting(text, budget.size)
    if text.count("\n", 0, end) > budget.lines:
        end = _after_newline(text, budget.lines)
    line_end = text.rfind("\n", 0, end) + 1
    return line_end if line_end * 2 >= end else boundary_before(text, end)


def _tail_start(text: str, budget: Budget) -> int:
    start = len(text) - fitting_tail(text, budget.size)
    if text.count("\n", start) > budget.lines:
        start = len(text) - len("\n".join(text.rsplit("\n", budget.lines)[1:]))
    if start == 0 or text[start - 1] == "\n":
        return start
    line_start = text.find("\n", start) + 1
    # A newline at the very end starts no line.
    if 0 < line_start < len(text) and (len(text) - line_start) * 2 >= len(text) - start:
        return line_start
    return boundary_after(text, start)


def _highlights(gap: _Gap, budget: Budget, part: float) -> tuple[list[tuple[int, str]], Budget]:
    """Return the deciding lines of ``gap`` that their ``part`` of the budget holds, and the budget that is left."""
    frame = len(escape(_HIGHLIGHTS_OPEN + _HIGHLIGHTS_CLOSE))
    allowance = Budget(int(budget.size * part) - frame, min(int(budget.lines * part), _MOST_HIGHLIGHTS) - 2)
    if allowance.size <= 0 or allowance.lines <= 0:
        return [], budget
    from bridge.excerpt.evidence import deciding_lines  # noqa: PLC0415 - only a text that is cut needs the library

    found = deciding_lines(gap.source.raw, *_whole_lines(gap))
    lines = _affordable(_numbered(gap, found), allowance)
    used = sum(len(escape(_listed(line))) for line in lines)
    return lines, Budget(budget.size - frame - used, budget.lines - 2 - len(lines))


def _whole_lines(gap: _Gap) -> tuple[int, int]:
    """Return where in the bytes the first whole line of the gap starts and the last one ends."""
    text, raw = gap.source.text, gap.source.raw
    start = _size(text, 0, gap.head)
    end = len(raw) - _size(text, gap.tail, len(text))
    if start and raw[start - 1 : start] != b"\n":
        start = raw.find(b"\n", start, end) + 1 or end
    return start, max(start, raw.rfind(b"\n", start, end) + 1)


def _numbered(gap: _Gap, found: list[Any]) -> list[tuple[int, str]]:
    raw, lines = gap.source.raw, []
    number, position = 1, 0
    for line in found:
        number += raw.count(b"\n", position, line.start)
        position = line.start
        lines.append((gap.folded.source_line(number), _short(raw[line.start : line.end].decode())))
    return lines


def _listed(line: tuple[int, str]) -> str:
    return f"{line[0]}: {line[1]}\n"


def _short(line: str) -> str:
    if len(line) <= _LONGEST_HIGHLIGHT:
        return line
    return line[: boundary_before(line, _LONGEST_HIGHLIGHT)] + ELLIPSIS


def _affordable(lines: list[tuple[int, str]], budget: Budget) -> list[tuple[int, str]]:
    """Take lines from both ends in turn until the budget is full: the first cause and the last verdict."""
    order = [at for pair in zip(range(len(lines)), range(len(lines) - 1, -1, -1), strict=True) for at in pair]
    kept: set[int] = set()
    size = budget.size
    for at in dict.fromkeys(order):
        size -= len(escape(_listed(lines[at])))
        if size < 0 or len(kept) == budget.lines:
            break
        kept.add(at)
    return [lines[at] for at in sorted(kept)]


def _join(gap: _Gap, lines: list[tuple[int, str]], where: str) -> Excerpt:
    text = gap.source.text
    head, tail = text[: gap.head], text[gap.tail :]
    places = _Places.of(gap)
    shown = places.shown()
    listed = ""
    if lines:
        listed = _HIGHLIGHTS_OPEN + "".join(map(_listed, lines)) + _HIGHLIGHTS_CLOSE
        shown["highlights"] = len(lines)
    lost = _size(text, gap.head, gap.tail)
    marker = _marker(places.missing(), lost, where)
    joint = "" if head.endswith("\n") or not head else "\n"
    return Excerpt(f"{head}{joint}{marker}{listed}{tail}", shown, lost, places.next_line)


def _marker(missing: str, lost: int, where: str) -> str:
    place = f"; {where}" if where else ""
    return f"[... not shown: {missing} ({lost} bytes){place} ...]\n"


def _longest_marker(text: str, where: str) -> str:
    most = 4 * len(text) + 1
    longest = _Places(most, most, most, most, most, most, most).missing(longest=True)
    return "\n" + _marker(longest, most, where)


@dataclass(frozen=True, slots=True)
class _Places:
    """The lines around a gap. A partial line has a count of its shown code points, else 0."""

    head_lines: int
    head_partial: int
    tail_line: int
    tail_partial: int
    total: int
    first_missing: int
    last_missing: int

    @classmethod
    def of(cls, gap: _Gap) -> _Places:
        text, number, newlines = gap.source.text, gap.folded.source_line, gap.source.newlines
        before = text.count("\n", 0, gap.head)
        through = newlines - text.count("\n", gap.tail)
        head_partial = gap.head - (text.rfind("\n", 0, gap.head) + 1)
        tail_partial = 0
        if gap.tail and text[gap.tail - 1] != "\n":
            end = text.find("\n", gap.tail)
            tail_partial = (end if end >= 0 else len(text)) - gap.tail
        total = number(newlines + (not text.endswith("\n")))
        nothing_follows = gap.tail == len(text)
        return cls(
            head_lines=number(before) if before else 0,
            head_partial=head_partial,
            tail_line=total + 1 if nothing_follows else number(through + 1),
            tail_partial=tail_partial,
            total=total,
            first_missing=number(before + 1 + bool(head_partial)),
            last_missing=total if nothing_follows else number(through),
        )

    @property
    def next_line(self) -> int:
        """The first line that is not shown whole."""
        return self.head_lines + 1

    def shown(self) -> dict[str, Any]:
        first_whole = self.tail_line + bool(self.tail_partial)
        ranges = [[1, self.head_lines], [first_whole, self.total]]
        shown: dict[str, Any] = {"lines": [pair for pair in ranges if pair[0] <= pair[1]], "of": self.total}
        cut = []
        if self.head_partial:
            cut.append({"line": self.head_lines + 1, "first_characters": self.head_partial})
        if self.tail_partial:
            cut.append({"line": self.tail_line, "last_characters": self.tail_partial})
        return {**shown, "cut": cut} if cut else shown

    def missing(self, *, longest: bool = False) -> str:
        parts = []
        if self.head_partial:
            parts.append(f"line {self.head_lines + 1} after its first {self.head_partial} characters")
        if self.first_missing == self.last_missing and not longest:
            parts.append(f"line {self.first_missing}")
        elif self.first_missing <= self.last_missing:
            parts.append(f"lines {self.first_missing} to {self.last_missing} of {self.total}")
        if self.tail_partial:
            parts.append(f"line {self.tail_line} before its last {self.tail_partial} characters")
        return ", ".join(parts)


def _size(text: str, start: int, end: int) -> int:
    return end - start if text.isascii() else len(text[start:end].encode())
