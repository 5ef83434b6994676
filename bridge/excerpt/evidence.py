"""Lines of a dropped middle that decide: errors, failures, panics, summaries of tests.

No model looks at them: a fixed list of patterns is searched in one pass (``scan``). The list favours
what tools print at the deciding line over words that any prose might hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bridge.excerpt.scan import Scanner

# Case stands as tools write it: compilers, test runners, package managers, interpreters, shells, kernels.
PATTERNS = (
    "error:", "Error:", "ERROR", "error[", "Error)", "npm ERR!", "npm error", "FAIL", "Failure", "failed",
    "panicked at", "Traceback (", "Exception", "fatal:", "FATAL", "Segmentation fault", "undefined ",
    "not ok ", "ssertion", "No such file", "not found", "ermission denied", " passed", "Finished in",
    "failures,", "E       ",
)  # fmt: skip
_SCANNER = Scanner([pattern.encode() for pattern in PATTERNS])
# What is searched at a time from either end: the first errors name the cause, the last ones the verdict.
_CHUNK = 65_536
MAX_LINES = 40


class LineSpan(NamedTuple):
    """A line that decides: where it starts and ends (bytes), without its newline."""

    start: int
    end: int


def deciding_lines(text: bytes, start: int, end: int) -> list[LineSpan]:
    """Return at most ``MAX_LINES`` lines between ``start`` and ``end`` (bytes, at line starts), in order.

    Half of them are the first ones, half the last ones.
    """
    first = _take(_from_front(text, start, end), MAX_LINES // 2)
    if len(first) < MAX_LINES // 2:
        return first
    last = _take(_from_back(text, first[-1].end, end), MAX_LINES // 2)
    return first + last[::-1]


def _take(lines: Iterator[LineSpan], how_many: int) -> list[LineSpan]:
    return [line for _, line in zip(range(how_many), lines, strict=False)]


def _from_front(text: bytes, start: int, end: int) -> Iterator[LineSpan]:
    while start < end:
        stop = text.find(b"\n", min(start + _CHUNK, end) - 1, end) + 1 or end
        yield from _matches(text, start, stop)
        start = stop


def _from_back(text: bytes, start: int, end: int) -> Iterator[LineSpan]:
    while start < end:
        begin = max(start, text.rfind(b"\n", start, max(start, end - _CHUNK)) + 1)
        yield from reversed(list(_matches(text, begin, end)))
        end = begin


def _matches(text: bytes, start: int, end: int) -> Iterator[LineSpan]:
    seen = start
    for _, at, _ in _SCANNER.matches(text[start:end]):
        position = start + at
        if position >= seen:
            line = LineSpan(text.rfind(b"\n", seen, position) + 1 or seen, _line_end(text, position, end))
            yield line
            seen = line.end


def _line_end(text: bytes, position: int, end: int) -> int:
    found = text.find(b"\n", position, end)
    return end if found < 0 else found
