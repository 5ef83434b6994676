"""One page of a stored file: complete lines, found through an index that is built once.

Text is looked at as Python's ``surrogateescape`` sees it: every byte that is not valid UTF-8 is one code
point of its own, so that a place in the text is always a place in the file. A page shows U+FFFD for each.
A line ends after byte 0x0A and nowhere else.

The index is built while the file is hashed, which must be done anyway before its first page is shown: a
stored index would be one more file to keep true. It holds one checkpoint for every 64 KiB, 24 bytes each
(400 KB for 1 GiB), so a page costs the reading of one such block and of itself, however deep it lies.
"""

from __future__ import annotations

import bisect
import codecs
import os
import re
from array import array
from dataclasses import dataclass, field
from hashlib import sha256

from bridge.excerpt.budget import fitting
from bridge.excerpt.graphemes import cluster_before

STRIDE = 65_536
ENCODING, ERRORS = "utf-8", "surrogateescape"

_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


@dataclass(slots=True)
class Index:
    """Where lines and code points lie: for each checkpoint its line, its column and its byte offset."""

    lines: array[int] = field(default_factory=lambda: array("Q", [1]))
    columns: array[int] = field(default_factory=lambda: array("Q", [1]))
    offsets: array[int] = field(default_factory=lambda: array("Q", [0]))
    total_bytes: int = 0
    total_lines: int = 0
    sha256: str = ""

    def checkpoint_before(self, line: int, column: int) -> tuple[int, int, int]:
        """Return line, column and byte offset of the last checkpoint that is not behind this place."""
        places = range(len(self.lines))
        found = bisect.bisect_right(places, (line, column), key=lambda place: (self.lines[place], self.columns[place]))
        return self.lines[found - 1], self.columns[found - 1], self.offsets[found - 1]


def build_index(file: int) -> Index:
    """Read the file once, in blocks, and return its index with size, line count and hash."""
    index, digest = Index(), sha256()
    decoder = codecs.getincrementaldecoder(ENCODING)(ERRORS)
    line = column = 1
    while block := os.pread(file, STRIDE, index.total_bytes):
        digest.update(block)
        index.total_bytes += len(block)
        line, column = _advance(line, column, decoder.decode(block))
        index.lines.append(line)
        index.columns.append(column)
        index.offsets.append(index.total_bytes - len(decoder.getstate()[0]))
    line, column = _advance(line, column, decoder.decode(b"", final=True))
    index.total_lines = line if column > 1 else line - 1
    index.sha256 = digest.hexdigest()
    return index


def _advance(line: int, column: int, text: str) -> tuple[int, int]:
    line_ends = text.count("\n")
    if line_ends:
        return line + line_ends, len(text) - text.rfind("\n")
    return line, column + len(text)


def locate(file: int, index: Index, line: int, column: int) -> int | None:
    """Return the byte offset of a place, counted from 1; None when the file has no such place."""
    if line > max(index.total_lines, 1):
        return None
    at_line, at_column, offset = index.checkpoint_before(line, column)
    text = _decoded(file, offset, STRIDE + 8, index.total_bytes)
    before = text.split("\n", line - at_line)
    if len(before) <= line - at_line:
        return None
    start = len(text) - len(before[-1])
    place = start + column - (at_column if line == at_line else 1)
    if place >= len(text) or "\n" in text[start:place]:
        return 0 if (line, column, index.total_bytes) == (1, 1, 0) else None
    return offset + len(text[:place].encode(ENCODING, ERRORS))


def _decoded(file: int, offset: int, size: int, total: int) -> str:
    block = os.pread(file, size, offset)
    decoder = codecs.getincrementaldecoder(ENCODING)(ERRORS)
    return decoder.decode(block, final=offset + len(block) >= total)


@dataclass(frozen=True, slots=True)
class OutputPage:
    """What a page shows, and how far it reaches."""

    content: str
    replaced: int
    line_ends: int
    end: int

    @property
    def lines(self) -> int:
        """The number of lines that are shown, whole or in part."""
        return self.line_ends + (1 if self.content and not self.content.endswith("\n") else 0)


def cut_page(file: int, index: Index, offset: int, limit: int, space: int) -> OutputPage:
    """Return the page from byte ``offset``: at most ``limit`` lines, at most ``space`` bytes as a JSON text.

    It ends behind a complete line, or, when the first line alone is too long, between two grapheme clusters
    (inside of one only if that one is longer than a page).
    """
    # A code point is never shorter in JSON than in the file, so more than space bytes cannot be shown.
    text = _decoded(file, offset, space + 8, index.total_bytes)
    shown = _ESCAPED_BYTE.sub("\ufffd", text)
    end = _page_end(shown, fitting(shown, space), limit)
    taken = text[:end]
    return OutputPage(
        content=shown[:end],
        replaced=len(_ESCAPED_BYTE.findall(taken)),
        line_ends=taken.count("\n"),
        end=offset + len(taken.encode(ENCODING, ERRORS)),
    )


def _page_end(text: str, fits: int, limit: int) -> int:
    lines = text[:fits].split("\n", limit)
    if len(lines) > limit:
        return fits - len(lines[-1])
    if fits == len(text):
        return fits
    return text.rfind("\n", 0, fits) + 1 or cluster_before(text, fits) or fits
