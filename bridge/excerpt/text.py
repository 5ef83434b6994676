"""A text too long for its budget: a little head, blocks of evidence, the tail, and what is missing at every gap.

The tail is the base: a command that fails says so at its end. Blocks of the middle (``evidence``) take a share
of the budget, best first, and what head and blocks do not need goes to the tail. Cuts fall at the ends of
lines; only where a line is longer than its part does a cut fall inside it, at a place where a reader sees
none (``graphemes``), and then the marker says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bridge.excerpt.account import Segment, marker, numbered, shown_of
from bridge.excerpt.budget import Budget, fitting
from bridge.excerpt.cleaning import clean
from bridge.excerpt.graphemes import boundary_before
from bridge.excerpt.json_text import escape
from bridge.excerpt.lines import Reader
from bridge.excerpt.selection import MARKER_LINES, SMALLEST_FOR_MARKER, select
from bridge.excerpt.source import Text

__all__ = ["ELLIPSIS", "MARKER_LINES", "SMALLEST_FOR_MARKER", "Excerpt", "Style", "excerpt", "fits"]

ELLIPSIS = "…"
# So much more of a text than its budget is cleaned at once where there is only budget for its beginning.
_CLIPPED_WINDOW = 4


class Style(NamedTuple):
    """How texts are shortened.

    ``where`` says why the whole was not kept, ``evidence`` is the share of the budget (0 to 1) that blocks of
    evidence may have, ``clean`` and ``fold`` say whether what a terminal acts upon is taken away and runs of
    equal lines are folded.
    """

    where: str = ""
    evidence: float = 0.0
    clean: bool = False
    fold: bool = False


@dataclass(slots=True)
class Excerpt:
    """A text that fits, and its account.

    ``shown`` is for ``meta``, ``lost`` are the bytes of the source that are not shown, ``next_line`` is the first
    line that is not shown whole, ``cleaned`` counts what cleaning and folding took from what is shown.
    """

    text: str
    shown: dict[str, Any] = field(default_factory=dict)
    lost: int = 0
    next_line: int | None = None
    cleaned: Counter[str] = field(default_factory=Counter)


def excerpt(source: Text, budget: Budget, style: Style) -> Excerpt:
    """Return of ``source``, which does not fit as it is, what fits into ``budget`` once escaped."""
    if budget.size < SMALLEST_FOR_MARKER or budget.lines < MARKER_LINES:
        return _clipped(source.text, budget, style)
    # Most texts were cleaned already or need none: that is found in one search, not for every block anew.
    reader = Reader(source, cleaned=style.clean and source.needs_cleaning, folded=style.fold)
    segments = select(source, reader, budget, style.evidence, style.where)
    return _joined(source, reader, segments, style.where)


def fits(text: str, budget: Budget) -> bool:
    """Return whether ``text`` fits into ``budget`` once escaped."""
    return len(text) <= budget.size and len(escape(text)) <= budget.size and text.count("\n") <= budget.lines


def _clipped(text: str, budget: Budget, style: Style) -> Excerpt:
    """Return the beginning of ``text`` and an ellipsis: there is no budget to say more."""
    counts: Counter[str] = Counter()
    near = text[: _CLIPPED_WINDOW * max(budget.size, 0)]
    shown = clean(near, counts) if style.clean else near
    if len(near) == len(text) and fits(shown, budget):
        return Excerpt(shown, cleaned=counts)
    end = fitting(shown, budget.size - len(ELLIPSIS.encode()))
    if shown.count("\n", 0, end) > budget.lines:
        end = sum(len(line) + 1 for line in shown.split("\n", budget.lines + 1)[: budget.lines + 1]) - 1
    kept = shown[: boundary_before(shown, end)]
    clipped = kept + ELLIPSIS if budget.size >= len(ELLIPSIS.encode()) else ""
    return Excerpt(clipped, lost=max(1, len(text.encode()) - len(kept.encode())), cleaned=counts)


def _joined(source: Text, reader: Reader, segments: Sequence[Segment], where: str) -> Excerpt:
    """Return the segments with a marker at every gap; ``where`` stands in the first one."""
    raw, counts = source.raw, Counter[str]()
    lines = numbered(segments, source)
    pieces: list[str] = []
    lost = at = 0
    for segment, before, after in zip(segments, [None, *lines], lines, strict=False):
        if segment.first > at:
            pieces.append(marker(before, after, source.lines, segment.first - at, "" if lost else where))
            lost += segment.first - at
        pieces.append(_text_of(segment, reader, counts))
        at = segment.last
    if at < len(raw):
        pieces.append(marker(lines[-1] if lines else None, None, source.lines, len(raw) - at, "" if lost else where))
        lost += len(raw) - at
    if not lost:
        return Excerpt("".join(pieces), cleaned=counts)
    return Excerpt("".join(pieces), shown_of(lines, source.lines), lost, _next_line(segments, lines), counts)


def _text_of(segment: Segment, reader: Reader, counts: Counter[str]) -> str:
    text = reader.text(segment.start, segment.end, counts)
    before = segment.before.text if segment.before else ""
    # The marker that follows a cut inside a line stands on a line of its own.
    return f"{before}{text}{segment.after.text}\n" if segment.after else before + text


def _next_line(segments: Sequence[Segment], lines: Sequence[Any]) -> int:
    if not segments or segments[0].first > 0:
        return 1
    return int(lines[0].last) + 1
