"""The lines that decide, the best first: what a person who knows the tool would look at.

No model looks at them. One pass finds the literals of ``rules``, each line that has one is looked at more
closely, and lines of one shape share what they are worth: the first and the last of them before the others.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from bridge.excerpt.rules import DOUBTFUL, HARMLESS, RULES, Rule
from bridge.excerpt.scan import Scanner

# How far a line is looked at, in bytes, for words that make it harmless.
_NEAR = 400
# What makes the shape of a line: how it begins, and what follows the literal; numbers do not count.
_SHAPE_START, _SHAPE_LITERAL = 8, 24
_DIGITS = b"0123456789"
# What a doubtful line is worth, and what each doubling costs: of equals in all, and of equals ranked before.
_DOUBT = 0.5
_COMMON, _AGAIN = 4, 12
# Of one literal so many places at either end are looked at closely, and so many in all of those between that differ
# from the others; within so many bytes before and behind the start of the literal they have to, numbers aside.
_ENDS, _BETWEEN = 400, 1_000
_DIFFER_BEFORE, _DIFFER_AFTER = 12, 20
# More lines are never shown.
_MOST, _MOST_OF_KIND = 200, 50
_HARMLESS, _DOUBTFUL = Scanner(HARMLESS), Scanner(DOUBTFUL)


class Candidate(NamedTuple):
    """A line that decides (bytes, its newline included); a verdict has its reason above it."""

    start: int
    end: int
    weight: int
    verdict: bool


# Where a line that decides starts and ends, and its rule.
_Line = tuple[int, int, Rule]
# The rules of one literal; the number of the group that matches is that of the rule.
_Family = tuple[list[Rule], Callable[[bytes, int], re.Match[bytes] | None]]


class Finder:
    """Finds the lines for which one of ``rules`` holds."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        literals = tuple(dict.fromkeys(rule.literal for rule in rules))
        self._families = [_family(rule for rule in rules if rule.literal == literal) for literal in literals]
        self._scanner = Scanner(literals)

    def candidates(self, raw: bytes) -> list[Candidate]:
        """Return the lines of ``raw`` that decide, the best first, each kind by its first and last ones."""
        kinds: defaultdict[tuple[bytes, ...], list[_Line]] = defaultdict(list)
        for rule, at, start, end in self._matches(raw):
            if not _HARMLESS.occurs(raw[start : min(end, start + _NEAR)]):
                kinds[_shape(raw, rule, at, start, end)].append((start, end, rule))
        found = sorted(ranked for lines in kinds.values() for ranked in _ranked(raw, lines))
        return [Candidate(start, end, rule.weight, rule.verdict) for _, start, end, rule in found[:_MOST]]

    def _matches(self, raw: bytes) -> Iterator[tuple[Rule, int, int, int]]:
        """Return each line with a rule that holds: its weightiest rule, where it holds, and the line's bounds."""
        start = end = place = 0
        best: Rule | None = None
        for at, which in self._places(raw):
            if at >= end:
                if best:
                    yield best, place, start, end
                start = raw.rfind(b"\n", end, at) + 1 or end
                end = raw.find(b"\n", at) + 1 or len(raw)
                best = None
            rules, match = self._families[which]
            if best and best.weight >= rules[0].weight:
                continue
            holds = match(raw, at)
            if holds and holds.lastindex:
                rule = rules[holds.lastindex - 1]
                if best is None or rule.weight > best.weight:
                    best, place = rule, at
        if best:
            yield best, place, start, end

    def _places(self, raw: bytes) -> list[tuple[int, int]]:
        """Return where literals stand that are worth a closer look, in order, each with the number of its literal."""
        found = self._scanner.places(raw)
        few = list(islice(found, _ENDS))
        if len(few) < _ENDS:
            return few
        first: defaultdict[int, list[int]] = defaultdict(list)
        last: defaultdict[int, deque[int]] = defaultdict(lambda: deque(maxlen=_ENDS))
        between: dict[bytes, tuple[int, int]] = {}
        for at, which in chain(few, found):
            if len(first[which]) < _ENDS:
                first[which].append(at)
                continue
            last[which].append(at)
            if len(between) < _BETWEEN:
                around = raw[max(0, at - _DIFFER_BEFORE) : at + _DIFFER_AFTER].translate(None, _DIGITS)
                between.setdefault(around, (at, which))
        ends = ((at, which) for which, places in chain(first.items(), last.items()) for at in places)
        return sorted({*ends, *between.values()})


def _family(rules: Iterable[Rule]) -> _Family:
    """Return the rules of one literal, the weightiest first, and what says which of them holds first at a place."""
    ordered = sorted(rules, key=lambda rule: -rule.weight)
    return ordered, re.compile(b"|".join(b"(%b)" % rule.around.pattern for rule in ordered), re.MULTILINE).match


def _ranked(raw: bytes, lines: list[_Line]) -> Iterator[tuple[float, int, int, Rule]]:
    """Return the first and the last of the lines of one shape with what stands against each: less is better."""
    common = _COMMON * len(lines).bit_length()
    if len(lines) > 2 * _MOST_OF_KIND:
        lines = [*lines[:_MOST_OF_KIND], *lines[-_MOST_OF_KIND:]]
    for before, (start, end, rule) in enumerate(_ends_first(lines)):
        doubt = _DOUBT if _DOUBTFUL.occurs(raw[start : min(end, start + _NEAR)]) else 1
        yield common + _AGAIN * before.bit_length() - rule.weight * doubt, start, end, rule


def _shape(raw: bytes, rule: Rule, at: int, start: int, end: int) -> tuple[bytes, ...]:
    beginning, rest = raw[start : min(at, start + _NEAR)], raw[at : min(end, at + _NEAR)]
    return (
        rule.literal,
        beginning.translate(None, _DIGITS)[:_SHAPE_START],
        rest.translate(None, _DIGITS)[:_SHAPE_LITERAL],
    )


def _ends_first(lines: list[_Line]) -> Iterator[_Line]:
    """Return the first, the last, the second, the last but one, and so on."""
    half = (len(lines) + 1) // 2
    for first, last in zip_longest(lines[:half], reversed(lines[half:])):
        yield first
        if last:
            yield last


_FINDER = Finder(RULES)
candidates = _FINDER.candidates
