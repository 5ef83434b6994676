"""What is shown of a text, and a marker with an account of what is not at every gap.

A text is shown in segments: whole lines, perhaps with the end of the line before them and the beginning of the
line after them. Places are bytes of the source, numbers those of its lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bridge.excerpt.json_text import escape
from bridge.excerpt.lines import Part
from bridge.excerpt.source import Text

# The part of a budget that ``meta.shown`` may take, and the most and the least that it may take whatever the budget.
_SHOWN_PART, _MOST_SHOWN, _LEAST_SHOWN = 16, 700, 192


def most_shown_bytes(size: int) -> int:
    """Return the most bytes that the JSON of ``Excerpt.shown`` takes for a budget of ``size`` bytes."""
    return max(_LEAST_SHOWN, min(_MOST_SHOWN, size // _SHOWN_PART))


def bytes_of_segment(lines: int) -> int:
    """Return the bytes of ``shown`` that one more segment of a text of ``lines`` takes at most."""
    return 2 * len(str(lines)) + len("[,],")


def bytes_of_cut(lines: int, size: int) -> int:
    """Return the bytes of ``shown`` that one more cut inside a line takes at most; ``size`` is that of the text."""
    return len('{"line":,"first_characters":},') + len(str(lines)) + len(str(size))


def bytes_for_segments(size: int, lines: int) -> int:
    """Return what ``shown`` has for its segments and cuts when the budget is ``size`` bytes."""
    return most_shown_bytes(size) - len('{"lines":[],"of":,"cut":[]}') - len(str(lines))


@dataclass(slots=True)
class Segment:
    """Whole lines from ``start`` to ``end``, and the parts of lines that stand before and after them."""

    start: int
    end: int
    before: Part | None = None
    after: Part | None = None

    @property
    def first(self) -> int:
        """The first byte that is shown."""
        return self.before.start if self.before else self.start

    @property
    def last(self) -> int:
        """The byte after the last one that is shown."""
        return self.after.end if self.after else self.end


class Numbered(NamedTuple):
    """The lines of a segment: those shown whole are ``first`` to ``last`` (``first - 1`` if there are none)."""

    first: int
    last: int
    last_characters: int
    first_characters: int


def numbered(segments: Sequence[Segment], source: Text) -> list[Numbered]:
    """Return the numbers of the lines of ``segments`` of ``source``."""
    size, found = len(source.raw), []
    open_end = source.lines > source.newlines
    for segment in segments:
        before, last = source.newlines_before(segment.start), source.newlines_before(segment.end)
        first = before + 1 + (open_end and segment.start == size)
        unended = open_end and segment.start < segment.end == size
        found.append(
            Numbered(
                first,
                first + last - before - 1 + unended,
                len(segment.before.text.removesuffix("\n")) if segment.before else 0,
                len(segment.after.text) if segment.after else 0,
            )
        )
    return found


def shown_of(lines: Sequence[Numbered], total: int) -> dict[str, Any]:
    """Return what ``meta.shown`` says: ranges of whole lines, and the lines of which a part is shown."""
    shown: dict[str, Any] = {"lines": [[line.first, line.last] for line in lines if line.first <= line.last]}
    shown["of"] = total
    cut = []
    for line in lines:
        if line.last_characters:
            cut.append({"line": line.first - 1, "last_characters": line.last_characters})
        if line.first_characters:
            cut.append({"line": line.last + 1, "first_characters": line.first_characters})
    return {**shown, "cut": cut} if cut else shown


def marker(before: Numbered | None, after: Numbered | None, total: int, lost: int, where: str = "") -> str:
    """Return the line that says what lies between two segments; None stands for an end of the text."""
    parts = []
    first, last = 1, total
    if before:
        first = before.last + 1
        if before.first_characters:
            parts.append(f"line {first} after its first {before.first_characters} characters")
            first += 1
    if after:
        last = after.first - 1
        last -= bool(after.last_characters)
    if first == last:
        parts.append(f"line {first}")
    elif first < last:
        parts.append(f"lines {first} to {last} of {total}")
    if after and after.last_characters:
        parts.append(f"line {after.first - 1} before its last {after.last_characters} characters")
    return _marker(", ".join(parts), lost, where)


def longest_marker(total: int, lost: int, where: str = "") -> int:
    """Return the most bytes of JSON that a marker between whole lines takes, its newline included."""
    return len(escape(_marker(f"lines {total} to {total} of {total}", lost, where)))


def longest_cut(total: int, lost: int) -> int:
    """Return what a marker takes more, at most, for a cut inside a line, its newline included."""
    return len(f"line {total} before its last {lost} characters, ") + len("\\\n")


def _marker(missing: str, lost: int, where: str) -> str:
    place = f"; {where}" if where else ""
    return f"[... not shown: {missing} ({lost} bytes){place} ...]\n"
