"""The page of a file that a read tool gave back, in either dialect, and pages cut from it.

Rind numbers its lines: ``Showing lines 48 to 90:`` and rows ``  48 | text``. ÆtherCodex gives the text as it is, and
the range stands in the result or in the call's arguments. A line ends at 0x0A and nowhere else.

Of a page only the lines that could be shown are looked at; those behind them are counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.excerpt.source import Text

# No line number has more digits.
_NUMBER = r"(\d{1,15})"
_HEADER = re.compile(rf"Showing lines {_NUMBER} to {_NUMBER}([^\n]*)\n", re.ASCII)
_ROW = re.compile(rf" *+{_NUMBER} \|(?: |\n|\Z)", re.ASCII)
_ROWS = re.compile(rf"^ *+{_NUMBER} \|(?: |\n|\Z)", re.ASCII | re.MULTILINE)
# Older Rind sources cut a long line like this and say how long it was.
_CUT_MARK = "...(truncated:"
_CUT_ROW = re.compile(r"\.\.\.\(truncated:(\d{1,15})\)\Z", re.ASCII)
_CUT_ROW_KEEPS = 2_000
_RANGE = re.compile(rf"\s*+{_NUMBER}\s*+(?P<between>\.\.\.?|-|,|:)?\s*+(\d{{1,15}})?\s*+\Z", re.ASCII)
# A range of more characters is none.
_LONGEST_RANGE = 64


@dataclass(frozen=True, slots=True)
class FilePage:
    """Consecutive lines from ``first`` on: ``count`` of them at the start of ``body``, newlines included.

    ``body`` is the text of the page without a header; ``total`` counts all of its lines, ``size`` its bytes.
    ``header`` is the part after the last number of Rind's first line, None when there is none. ``broken`` says why the
    page ends after ``count`` lines, if not because of the budget: ``gap`` or ``long_line``.
    """

    body: str
    first: int
    count: int
    total: int
    size: int
    header: str | None = None
    broken: str = ""

    @property
    def next_line(self) -> int:
        """The line after the last one."""
        return self.first + self.count

    @property
    def first_line(self) -> str:
        """The first line, without its newline."""
        return self.body.partition("\n")[0]

    def end_of(self, count: int) -> int:
        """Return where the first ``count`` lines of ``body`` end, in code points."""
        if count >= self.total:
            return len(self.body)
        return sum(map(len, self.body.split("\n", count)[:count])) + count

    def text(self, count: int) -> str:
        """Return the first ``count`` lines as the page had them."""
        shown = self.body[: self.end_of(count)]
        if self.header is None:
            return shown
        # Rind's rows are joined by newlines: the last one shown has none, unless it is the page's own end.
        ended = count == self.total and not self.broken
        last = self.first + count - 1
        return f"Showing lines {self.first} to {last}{self.header}\n{shown if ended else shown.removesuffix(chr(10))}"


def numbered_page(source: Text, most: int) -> FilePage | None:
    """Return the page of a numbered text up to its first gap, None if it has no numbered row.

    Rows behind the first ``most`` code points are not looked at.
    """
    header = _HEADER.match(source.text)
    body = source.text[header.end() :] if header else source.text
    row = _ROW.match(body)
    if row is None:
        return None
    first, total, size = int(row[1]), source.lines, source.size
    if header:
        total, size = total - 1, size - len(header[0].encode())
    window = body if len(body) <= most else body[: body.rfind("\n", 0, most) + 1]
    looked_at = total if len(body) <= most else window.count("\n")
    count, broken = _unbroken(window, looked_at, first)
    if not broken:
        count = total
        if header and first + total - 1 < int(header[2]):
            broken = "gap"
    return FilePage(body, first, count, total, size, header[3] if header else None, broken)


def plain_page(source: Text, first: int) -> FilePage:
    """Return the page of a text without numbers that starts at line ``first``."""
    return FilePage(source.text, first, source.lines, source.lines, source.size)


def _unbroken(window: str, count: int, first: int) -> tuple[int, str]:
    """Count the rows from the start of ``window``, which has ``count`` lines, that follow one another."""
    numbers = _ROWS.findall(window)
    if _CUT_MARK not in window and numbers == list(map(str, range(first, first + count))):
        return count, ""
    for at, line in enumerate(window.split("\n")[:count]):
        row = _ROW.match(line)
        if row is None or int(row[1]) != first + at:
            return at, "gap"
        if _cut_at_source(line, row.end()):
            return at, "long_line"
    return count, ""


def _cut_at_source(line: str, start: int) -> bool:
    mark = _CUT_ROW.search(line, max(0, len(line) - 40))
    return mark is not None and mark.start() - start == _CUT_ROW_KEEPS and int(mark[1]) > _CUT_ROW_KEEPS


def first_line(*places: Mapping[str, Any]) -> int:
    """Return the first line asked for: ``range`` or ``offset`` of the first place that has one, else 1."""
    for place in places:
        found = range_bounds(place.get("range"))[0] or _line_number(place.get("offset"))
        if found:
            return found
    return 1


def range_bounds(value: Any) -> tuple[int | None, int | None]:
    """Return first and last line of a range: ``[first, last]``, or text such as ``first..last``."""
    if isinstance(value, str) and len(value) <= _LONGEST_RANGE and (match := _RANGE.match(value)):
        last = int(match[3]) if match[3] else None
        return int(match[1]), last - 1 if last is not None and match["between"] == "..." else last
    if isinstance(value, list | tuple) and value:
        return _line_number(value[0]), _line_number(value[1]) if len(value) > 1 else None
    return None, None


def _line_number(value: Any) -> int | None:
    """Return ``value`` if it can be the number of a line."""
    return value if type(value) is int and 0 < value < 10**15 else None
