"""How much text fits into so many bytes of encoded JSON, and how a budget is shared.

A bound is computed, never searched for: a text is escaped once, the escaped bytes are cut, and the cut steps
back over a sequence that it split. Only so much of a text is escaped as could fit, so the cost follows the
budget and not the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bridge.excerpt.json_text import escape, unescape

_UNICODE_ESCAPE = 6  # \u001b


class Budget(NamedTuple):
    """What may be used: ``size`` in bytes of JSON, ``lines`` in newlines."""

    size: int
    lines: int

    def within(self, budget: Budget) -> bool:
        """Return whether something that takes this much fits into ``budget``."""
        return self.size <= budget.size and self.lines <= budget.lines


def fitting(text: str, size: int) -> int:
    """Count the leading code points of ``text`` that take at most ``size`` bytes once escaped."""
    if size <= 0:
        return 0
    window = text[:size]
    escaped = escape(window)
    if len(escaped) <= size:
        return len(window)
    return len(unescape(_whole_sequences(escaped, size)))


def fitting_tail(text: str, size: int) -> int:
    """Count the trailing code points of ``text`` that take at most ``size`` bytes once escaped."""
    # An escape is as long in either direction of reading, so the tail is the head of the reversed text.
    return fitting(text[: -size - 1 : -1], size) if size > 0 else 0


def share(sizes: Sequence[int], budget: int) -> int | None:
    """Return the greatest size that each may have so that all of them fit into ``budget``.

    Those that are smaller keep theirs and leave the rest to the others, so it is the longest that give way,
    down to a common size. None when all fit as they are.
    """
    for left, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        if size * left > budget:
            return max(budget, 0) // left
        budget -= size
    return None


def _whole_sequences(escaped: bytes, size: int) -> bytes:
    end = size
    while end and escaped[end] & 0xC0 == 0x80:
        end -= 1
    backslash = escaped.rfind(b"\\", max(0, end - _UNICODE_ESCAPE + 1), end)
    if backslash < 0 or not _starts_escape(escaped, backslash):
        return escaped[:end]
    length = _UNICODE_ESCAPE if escaped[backslash + 1 : backslash + 2] == b"u" else 2
    return escaped[:backslash] if backslash + length > end else escaped[:end]


def _starts_escape(escaped: bytes, backslash: int) -> bool:
    run = escaped[: backslash + 1]
    return (len(run) - len(run.rstrip(b"\\"))) % 2 == 1
