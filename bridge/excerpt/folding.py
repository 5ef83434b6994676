"""Runs of equal lines become one line and a count; the numbers of the lines stay those of the source."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from operator import eq


@dataclass(frozen=True, slots=True)
class Folded:
    """A text with its runs folded.

    ``after[i]`` is a line of it, and those that follow lie ``gone[i]`` lines further down in the source.
    """

    text: str
    after: list[int] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)

    def source_line(self, line: int) -> int:
        """Return the number in the source of ``line``, from 1; a line that counts a run has the last of it."""
        at = bisect_right(self.after, line)
        return line + (self.gone[at - 1] if at else 0)


def fold(text: str, window: int, counts: Counter[str]) -> Folded:
    """Fold the runs of ``text`` if there is one within ``window`` code points of its start or end.

    Elsewhere a run costs nothing, for it is not shown. A run is folded when that saves space.
    """
    if not (_has_run(text[:window]) or _has_run(text[-window:])):
        return Folded(text)
    lines: list[str] = []
    after: list[int] = []
    gone: list[int] = []
    body = text.removesuffix("\n")
    for line, run in groupby(body.split("\n")):
        again = sum(1 for _ in run) - 1
        note = f"[the line above {again} more times]"
        if again * (len(line) + 1) <= len(note):
            lines += [line] * (again + 1)
            continue
        lines += [line, note]
        after.append(len(lines))
        gone.append(again - 1)
        counts["folded_lines"] += again
    return Folded("\n".join(lines) + text[len(body) :], after, list(accumulate(gone)))


def _has_run(text: str) -> bool:
    lines = text.split("\n")
    return any(map(eq, lines, lines[1:]))
