"""SEARCH/REPLACE blocks, the form of a change that models write most.

    <<<<<<< SEARCH
    :start_line:12        (may be absent)
    -------               (may be absent)
    what stands there
    =======
    what shall stand there
    >>>>>>> REPLACE

One pass over the markers. A block that is broken off counts as none; the next one starts anew.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from operator import eq

_OPENING = "<<<<< SEARCH"
_MARK = re.compile(
    r"^(?:(?P<open><{5,9} SEARCH[^\n]*)|(?P<divide>={5,9})\r?|(?P<close>>{5,9} REPLACE[^\n]*))$\n?",
    re.MULTILINE,
)
_HEAD = re.compile(r"(?::start_line: ?(\d{1,15})\r?\n)?(?::end_line: ?\d{1,15}\r?\n)?(?:-{5,9}\r?\n)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Block:
    """A block that starts at ``start`` (code points); ``line`` is where it says that it applies."""

    start: int
    line: int | None
    search: list[str]
    replace: list[str]


def blocks_of(text: str) -> Iterator[Block]:
    """Return the complete blocks of ``text`` in order."""
    if _OPENING not in text:
        return
    opened = divided = None
    for mark in _MARK.finditer(text):
        if mark["open"]:
            opened, divided = mark, None
        elif mark["divide"]:
            divided = divided or mark
        else:
            if opened and divided and divided.start() >= opened.end():
                yield _block(text, opened, divided, mark)
            opened = divided = None


def _block(text: str, opened: re.Match[str], divided: re.Match[str], closed: re.Match[str]) -> Block:
    head = _HEAD.match(text, opened.end(), divided.start())
    line, start = (int(head[1]) if head[1] else None, head.end()) if head else (None, opened.end())
    search, replace = text[start : divided.start()], text[divided.end() : closed.start()]
    return Block(opened.start(), line, search.split("\n")[:-1], replace.split("\n")[:-1])


@dataclass(slots=True)
class LineCounter:
    """Counts the lines that blocks remove and add.

    Lines are compared while ``budget`` (pairs of lines) lasts, because that takes quadratic time; ``exact``
    is false once a block was counted from its first to its last line that differs.
    """

    budget: int = 250_000
    exact: bool = True

    def count(self, old: list[str], new: list[str]) -> tuple[int, int]:
        """Return how many lines of ``old`` go and how many of ``new`` come."""
        first = _common(old, new)
        last = min(_common(reversed(old), reversed(new)), len(old) - first, len(new) - first)
        old, new = old[first : len(old) - last], new[first : len(new) - last]
        if not old or not new:
            return len(old), len(new)
        self.budget -= len(old) * len(new)
        if self.budget < 0:
            self.exact = False
            return len(old), len(new)
        if set(old).isdisjoint(new):
            return len(old), len(new)
        # autojunk would take a frequent line for none at all.
        matches = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        kept = sum(match.size for match in matches)
        return len(old) - kept, len(new) - kept


def _common(one: Iterable[str], other: Iterable[str]) -> int:
    """Count the leading lines that both have."""
    return sum(1 for _ in takewhile(bool, map(eq, one, other)))
