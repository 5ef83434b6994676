"""The page of a file that a read tool gave back, in either dialect, and pages cut from it.

Rind numbers its lines: ``Showing lines 48 to 90:`` and rows ``  48 | text``. ÆtherCodex gives the text as it
is, and the range stands in the result or in the call's arguments. A line ends at 0x0A and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_HEADER = re.compile(r"Showing lines (\d+) to (\d+)([^\n]*)\n")
_ROW = re.compile(r" *(\d+) \|(?: |\Z)")
# Older Rind sources cut a long line like this and say how long it was.
_CUT_ROW = re.compile(r"\.\.\.\(truncated:(\d+)\)\Z")
_CUT_ROW_KEEPS = 2_000
_RANGE = re.compile(r"\s*(\d+)\s*(?:\.\.\.?|-|,|:)?\s*(\d+)?\s*\Z")


@dataclass(frozen=True, slots=True)
class FilePage:
    """Consecutive lines from ``first`` on, each as it stands in the page, newline included.

    ``header`` is the part after the last number of Rind's first line, None when there is none. ``broken``
    says why the page ends before its source did, if it does: ``gap`` or ``long_line``; ``beyond`` are the
    lines that came behind that place.
    """

    lines: list[str]
    first: int
    header: str | None = None
    broken: str = ""
    beyond: Sequence[str] = ()

    @property
    def next_line(self) -> int:
        """The line after the last one."""
        return self.first + len(self.lines)

    def text(self, count: int) -> str:
        """Return the first ``count`` lines as the page had them."""
        body = "".join(self.lines[:count])
        if self.header is None:
            return body
        last = self.first + count - 1
        return f"Showing lines {self.first} to {last}{self.header}\n{body.removesuffix(_newline(self, count))}"


def _newline(page: FilePage, count: int) -> str:
    """Rind's rows are joined by newlines: the last one shown has none, unless it is the page's own end."""
    return "" if count == len(page.lines) and not page.broken else "\n"


def split_lines(text: str) -> list[str]:
    """Return the lines of ``text``, each with its 0x0A; nothing else ends a line."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def numbered_page(text: str) -> FilePage | None:
    """Return the page of a numbered text up to its first gap, None if it has no numbered row."""
    header = _HEADER.match(text)
    lines = split_lines(text[header.end() :] if header else text)
    first = _number(lines[0]) if lines else None
    if first is None:
        return None
    count, broken = _unbroken(lines, first)
    if not broken and header and first + count - 1 < int(header[2]):
        broken = "gap"
    return FilePage(lines[:count], first, header[3] if header else None, broken, lines[count:])


def plain_page(text: str, first: int) -> FilePage:
    """Return the page of a text without numbers that starts at line ``first``."""
    return FilePage(split_lines(text), first)


def _unbroken(lines: list[str], first: int) -> tuple[int, str]:
    for count, line in enumerate(lines):
        if _number(line) != first + count:
            return count, "gap"
        if _cut_at_source(line):
            return count, "long_line"
    return len(lines), ""


def _number(line: str) -> int | None:
    match = _ROW.match(line.removesuffix("\n"))
    return int(match[1]) if match else None


def _cut_at_source(line: str) -> bool:
    text = line.removesuffix("\n")
    mark = _CUT_ROW.search(text, max(0, len(text) - 40))
    if mark is None:
        return False
    row = _ROW.match(text)
    kept = mark.start() - (row.end() if row else 0)
    return kept == _CUT_ROW_KEEPS and int(mark[1]) > _CUT_ROW_KEEPS


def first_line(*places: Mapping[str, Any]) -> int:
    """Return the first line asked for: ``range`` or ``offset`` of the first place that has one, else 1."""
    for place in places:
        found = range_bounds(place.get("range"))[0] or _positive(place.get("offset"))
        if found:
            return found
    return 1


def range_bounds(value: Any) -> tuple[int | None, int | None]:
    """Return first and last line of a range: ``[first, last]``, or text such as ``first..last``."""
    if isinstance(value, str) and (match := _RANGE.match(value)):
        last = int(match[2]) if match[2] else None
        exclusive = last is not None and "..." in value
        return int(match[1]), last - 1 if last is not None and exclusive else last
    if isinstance(value, list | tuple) and value:
        return _positive(value[0]), _positive(value[1]) if len(value) > 1 else None
    return None, None


def _positive(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None
