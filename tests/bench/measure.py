"""Ratios of two things measured in turn: the machinery that every figure shares."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

BLOCK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table: a name, what it is measured against, the goals, and the pairs that were measured.

    ``pairs`` are (ours, theirs) in the same unit; a figure is the median of their ratios and the spread
    between the first and the third quartile.
    """

    name: str
    against: str
    reach: float
    aim: float
    unit: str
    pairs: Sequence[tuple[float, float]]

    @property
    def ratios(self) -> list[float]:
        return [ours / theirs for ours, theirs in self.pairs]

    @property
    def median(self) -> float:
        return statistics.median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        if len(self.ratios) < 2:
            return self.median, self.median
        first, _, third = statistics.quantiles(self.ratios, n=4, method="inclusive")
        return first, third

    def to_json(self) -> dict[str, object]:
        first, third = self.spread
        return {
            "name": self.name,
            "against": self.against,
            "unit": self.unit,
            "ratio": round(self.median, 4),
            "quartiles": [round(first, 4), round(third, 4)],
            "reach": self.reach,
            "aim": self.aim,
            "ours": statistics.median(ours for ours, _ in self.pairs),
            "theirs": statistics.median(theirs for _, theirs in self.pairs),
        }


def in_turn(ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> list[tuple[float, float]]:
    """Time both in turn ``repeats`` times; gives seconds per call. A block lasts 20 ms or one call."""
    ours_loops, theirs_loops = _loops(ours), _loops(theirs)
    return [(_seconds(ours, ours_loops), _seconds(theirs, theirs_loops)) for _ in range(repeats)]


def _loops(call: Callable[[], object]) -> int:
    call()
    return max(1, round(BLOCK_SECONDS / max(_seconds(call, 1), 1e-7)))


def _seconds(call: Callable[[], object], loops: int) -> float:
    started = time.perf_counter()
    for _ in range(loops):
        call()
    return (time.perf_counter() - started) / loops
