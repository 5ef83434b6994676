"""Many fixed byte strings looked for in one pass.

``ahocorasick_rs`` searches a few patterns with vector instructions (Teddy, which needs leftmost semantics):
a megabyte takes 0.07 ms, where each ``in`` takes 0.5 ms and a regular expression 12 ms or more.
"""

from __future__ import annotations

from collections.abc import Sequence

from ahocorasick_rs import BytesAhoCorasick, MatchKind

_NONE: frozenset[bytes] = frozenset()


class Scanner:
    """Looks for ``patterns``; the automaton is built at the first search."""

    def __init__(self, patterns: Sequence[bytes]) -> None:
        self.patterns = tuple(patterns)
        self._automaton: BytesAhoCorasick | None = None

    def found(self, encoded: bytes) -> frozenset[bytes]:
        """Return those of the patterns that occur in ``encoded``."""
        matches = self.matches(encoded)
        return frozenset(self.patterns[which] for which, _, _ in matches) if matches else _NONE

    def matches(self, encoded: bytes) -> list[tuple[int, int, int]]:
        """Return every match in order: the number of its pattern, its start and its end."""
        if self._automaton is None:
            self._automaton = BytesAhoCorasick(self.patterns, matchkind=MatchKind.LeftmostFirst)
        return self._automaton.find_matches_as_indexes(encoded)
