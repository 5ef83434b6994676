"""Pages of stored outputs: complete lines, checked against what was recorded, found through an index.

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
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import orjson

from bridge.excerpt.budget import fitting
from bridge.excerpt.graphemes import cluster_before
from bridge.limits import Limits
from bridge.protocol import reasons
from bridge.protocol.errors import InvalidParams, OutputMissing, StoreUnavailable
from bridge.store import files, inventory, names
from bridge.store.database import Database, DatabaseFault
from bridge.store.inventory import Entry, Known

# An index of a 1 GiB output takes 400 KB: with this many in memory a worker stays small.
_REMEMBERED = 32
# A path that would leave less than this to the content is not shown: ids say as well which output it is. Nor are
# ids, then: whoever asks knows them.
_SMALLEST_CONTENT = 1_024
_SEVERAL_DIGITS = 9_999  # null is as long

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
    text = _decoded(file, offset, min(space + 8, index.total_bytes), index.total_bytes)
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


@dataclass(slots=True)
class _Verified:
    """An index, and what the file looked like when it was built: when that changes, it is built anew."""

    signature: tuple[int, int, int, int]
    index: Index


class PageReader:
    """Reads the outputs of one home; a page is at most ``limits.model_max_bytes`` of JSON."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._home = database.home
        self._limits = limits
        self._verified: OrderedDict[str, _Verified] = OrderedDict()

    def read(self, path: names.Names, head: dict[str, Any], limit: int) -> dict[str, Any]:
        """Return one page as ``Outputs.read`` describes it; ``head`` says of which output, and from where."""
        _check_counts(offset=head["offset"], column=head["column"], limit=limit)
        known = self._look(path, head["session_id"])
        if isinstance(known, DatabaseFault) and known.reason == reasons.DAMAGED:
            raise _damaged(known.detail)
        entry = known.entry if isinstance(known, Known) else None
        try:
            return files.with_file(self._home, path, lambda file: self._page(file, path, entry, head, limit))
        except FileNotFoundError:
            raise _not_there(known) from None
        except files.NotAFileError:
            raise _damaged("something else lies in its place") from None
        except OSError as error:
            raise StoreUnavailable({"reason": reasons.UNREADABLE, "detail": error.strerror}) from error

    def _look(self, path: names.Names, session_id: str) -> Known | DatabaseFault:
        try:
            return self._database.read(lambda reading: inventory.look(reading, names.key(path), session_id))
        except DatabaseFault as fault:
            return fault

    def _page(
        self, file: int, path: names.Names, entry: Entry | None, head: dict[str, Any], limit: int
    ) -> dict[str, Any]:
        index = self._index(file, names.key(path), entry)
        start = locate(file, index, head["offset"], head["column"])
        if start is None:
            raise _no_such_place(file, index, head)
        tail = self._tail(path, index, entry)
        space = self._limits.model_max_bytes - _frame_bytes(head, tail, index)
        if space < _SMALLEST_CONTENT:
            tail["path"] = None
            space = self._limits.model_max_bytes - _frame_bytes(head, tail, index)
        if space < _SMALLEST_CONTENT:
            head = {**head, "session_id": None, "call_id": None}
            space = self._limits.model_max_bytes - _frame_bytes(head, tail, index)
        page = cut_page(file, index, start, min(limit, max(index.total_lines, 1)), space)
        return _result(head, page, tail, index)

    def _index(self, file: int, key: str, entry: Entry | None) -> Index:
        found = os.fstat(file)
        signature = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        remembered = self._verified.get(key)
        if remembered is None or remembered.signature != signature:
            remembered = self._verified[key] = _Verified(signature, build_index(file))
        self._verified.move_to_end(key)
        if len(self._verified) > _REMEMBERED:
            self._verified.popitem(last=False)
        # An adopted file has no recorded hash: there is nothing to hold it against.
        if entry and entry.source_sha256 and entry.reference["sha256"] != remembered.index.sha256:
            raise _damaged("the file is not what was written")
        return remembered.index

    def _tail(self, path: names.Names, index: Index, entry: Entry | None) -> dict[str, Any]:
        tail: dict[str, Any] = {
            "total_lines": index.total_lines,
            "total_bytes": index.total_bytes,
            "path": names.shown(self._home, path),
        }
        if entry and entry.reference.get("partial"):
            for name in ("partial", "gone_bytes", "gone_line_ends", "gone_at_line"):
                tail[name] = entry.reference[name]
        return tail


def _check_counts(**counts: object) -> None:
    wrong = {name: value for name, value in counts.items() if type(value) is not int or value < 1}
    if wrong:
        raise InvalidParams({"fields": dict.fromkeys(wrong, "a whole number, at least 1")})


def _result(head: dict[str, Any], page: OutputPage, tail: dict[str, Any], index: Index) -> dict[str, Any]:
    next_offset = next_column = None
    if page.end < index.total_bytes:
        next_offset = head["offset"] + page.line_ends
        next_column = 1 if page.line_ends else head["column"] + len(page.content)
    return {
        **head,
        "content": page.content,
        "lines": page.lines,
        "next_offset": next_offset,
        "next_column": next_column,
        "replaced": page.replaced,
        **tail,
    }


def _frame_bytes(head: dict[str, Any], tail: dict[str, Any], index: Index) -> int:
    # Every number of a page is at most the file's size, so this frame is at least as long as the real one.
    largest = max(index.total_bytes, _SEVERAL_DIGITS)
    numbers = dict.fromkeys(("lines", "next_offset", "next_column", "replaced"), largest)
    return len(orjson.dumps({**head, "content": "", **numbers, **tail}))


def _not_there(known: Known | DatabaseFault) -> OutputMissing | StoreUnavailable:
    if isinstance(known, DatabaseFault):
        return StoreUnavailable({"reason": known.reason, "detail": known.detail})
    if known.entry:
        return _damaged("the file is gone, and no record says why")
    if known.absence:
        detail = {"detail": known.absence.detail} if known.absence.detail else {}
        return OutputMissing({"reason": known.absence.reason, "time": known.absence.since, **detail})
    return OutputMissing({"reason": reasons.NEVER_STORED, "detail": "nothing was stored under these ids"})


def _damaged(detail: str) -> OutputMissing:
    return OutputMissing({"reason": reasons.DAMAGED, "detail": detail})


def _no_such_place(file: int, index: Index, head: dict[str, Any]) -> InvalidParams:
    if head["column"] > 1 and locate(file, index, head["offset"], 1) is not None:
        return InvalidParams({"fields": {"column": f"line {head['offset']} ends before this column"}})
    return InvalidParams({"fields": {"offset": f"the output has {index.total_lines} lines"}})
