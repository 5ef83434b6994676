"""Many fixed byte strings looked for in one pass.

``ahocorasick_rs`` searches some patterns with vector instructions (Teddy, which needs leftmost semantics):
a megabyte takes 0.07 ms, where each ``in`` takes 0.5 ms and a regular expression 12 ms or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ahocorasick_rs import BytesAhoCorasick, MatchKind

# The search looks for the first bytes of all patterns at once, at most four and no more than the shortest has. So the
# short ones have an automaton of their own, where more than these take three times as long; of others many cost no more
# than few.
_SHORTEST, _OTHERS = 8, 32
# So many bytes are searched at once: the matches of a text may take many times its memory.
_WINDOW = 65_536

# The number of a pattern in its automaton, where it starts and where it ends.
Match = tuple[int, int, int]


class Scanner:
    """Looks for ``patterns``; the automata are built at the first search."""

    def __init__(self, patterns: Sequence[bytes]) -> None:
        self.patterns = tuple(patterns)
        self._longest = max(map(len, self.patterns))
        self._automata: list[tuple[list[int], BytesAhoCorasick]] = []

    def found(self, encoded: bytes) -> frozenset[bytes]:
        """Return those of the patterns that occur in ``encoded``."""
        found: set[bytes] = set()
        for start in range(0, len(encoded), _WINDOW):
            window = encoded[start : start + _WINDOW + self._longest - 1]
            for numbers, matches in self._matches(window):
                for which, _, _ in matches:
                    found.add(self.patterns[numbers[which]])
        return frozenset(found)

    def occurs(self, line: bytes) -> bool:
        """Return whether any of the patterns occurs in ``line``, which is short: each match takes memory."""
        for _, automaton in self._automata or self._build():  # noqa: SIM110 - a generator takes longer than a search
            if automaton.find_matches_as_indexes(line):
                return True
        return False

    def places(self, encoded: bytes) -> Iterator[tuple[int, int]]:
        """Return where patterns start, in order, each place with the number of its pattern; a window at a time.

        Windows end where lines do; only in a line that is longer than one may a pattern be missed between two. Of two
        patterns that overlap in the text the second may be missed.
        """
        start = 0
        while start < len(encoded):
            end = len(encoded)
            if end - start > _WINDOW:
                end = encoded.rfind(b"\n", start, start + _WINDOW) + 1 or start + _WINDOW
            found = self._matches(encoded[start:end])
            yield from sorted([(start + at, numbers[which]) for numbers, matches in found for which, at, _ in matches])
            start = end

    def _matches(self, encoded: bytes) -> list[tuple[list[int], list[Match]]]:
        """Return the matches of each automaton, with the numbers that its patterns have here."""
        automata = self._automata or self._build()
        return [(numbers, automaton.find_matches_as_indexes(encoded)) for numbers, automaton in automata]

    def _build(self) -> list[tuple[list[int], BytesAhoCorasick]]:
        for numbers in self._groups():
            together = [self.patterns[number] for number in numbers]
            self._automata.append((numbers, BytesAhoCorasick(together, matchkind=MatchKind.LeftmostFirst)))
        return self._automata

    def _groups(self) -> Iterator[list[int]]:
        """Yield the numbers of the patterns that have an automaton together."""
        numbers = sorted(range(len(self.patterns)), key=lambda number: len(self.patterns[number]))
        yield numbers[:_SHORTEST]
        for at in range(_SHORTEST, len(numbers), _OTHERS):
            yield numbers[at : at + _OTHERS]
