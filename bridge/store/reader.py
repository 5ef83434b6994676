"""Gives pages of stored outputs: checked against what was recorded, and never more than a page in memory."""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bridge.limits import Limits
from bridge.protocol.errors import InvalidParams, OutputMissing, StoreUnavailable
from bridge.store import folders, inventory, pages, paths, reasons
from bridge.store.database import Database
from bridge.store.faults import DatabaseFault
from bridge.store.inventory import Absence, Entry, Known

# An index of a 1 GiB output takes 400 KB: with this many in memory a worker stays small.
_REMEMBERED = 32

# A path that would leave less than this to the content is not shown: ids say as well which output it is.
_SMALLEST_CONTENT = 1_024

_SEVERAL_DIGITS = 9_999  # null is as long

Signature = tuple[int, int, int, int]


@dataclass(slots=True)
class _Verified:
    """An index, and what the file looked like when it was built: when that changes, it is built anew."""

    signature: Signature
    index: pages.Index


class Reader:
    """Reads below ``home``; a page is at most ``limits.model_max_bytes`` of JSON."""

    def __init__(self, home: Path, database: Database, limits: Limits) -> None:
        self._home = home
        self._database = database
        self._limits = limits
        self._verified: OrderedDict[str, _Verified] = OrderedDict()

    def read(self, session_id: str, call_id: str, offset: int, column: int, limit: int) -> dict[str, Any]:
        """See ``Outputs.read``; the ids are checked and the numbers are at least 1."""
        names = paths.output_names(session_id, call_id)
        known = self._look(names, session_id)
        entry = known.entry if isinstance(known, Known) else None
        head = {"session_id": session_id, "call_id": call_id, "offset": offset, "column": column}
        try:
            return folders.with_file(self._home, names, lambda file: self._page(file, names, entry, head, limit))
        except FileNotFoundError:
            raise _not_there(known) from None
        except folders.NotAFileError:
            raise _damaged("something else lies in its place") from None
        except OSError as error:
            raise StoreUnavailable({"reason": reasons.UNREADABLE, "detail": error.strerror}) from error

    def _look(self, names: paths.Names, session_id: str) -> Known | DatabaseFault:
        try:
            return self._database.read(lambda reading: inventory.look(reading, paths.key(names), session_id))
        except DatabaseFault as fault:
            return fault

    def _page(
        self, file: int, names: paths.Names, entry: Entry | None, head: dict[str, Any], limit: int
    ) -> dict[str, Any]:
        index = self._index(file, paths.key(names), entry)
        start = pages.locate(file, index, head["offset"], head["column"])
        if start is None:
            raise _no_such_place(file, index, head)
        tail = self._tail(names, index, entry)
        space = self._limits.model_max_bytes - _frame_bytes(head, tail, index)
        if space < _SMALLEST_CONTENT:
            tail["path"] = None
            space = self._limits.model_max_bytes - _frame_bytes(head, tail, index)
        page = pages.cut_page(file, index, start, min(limit, max(index.total_lines, 1)), space)
        return _result(head, page, tail, index)

    def _index(self, file: int, key: str, entry: Entry | None) -> pages.Index:
        signature = _signature(file)
        remembered = self._verified.get(key)
        if remembered is None or remembered.signature != signature:
            remembered = self._verified[key] = _Verified(signature, pages.build_index(file))
        self._verified.move_to_end(key)
        if len(self._verified) > _REMEMBERED:
            self._verified.popitem(last=False)
        # An adopted file has no recorded hash: there is nothing to hold it against.
        if entry and entry.source_sha256 and entry.reference["sha256"] != remembered.index.sha256:
            raise _damaged("the file is not what was written")
        return remembered.index

    def _tail(self, names: paths.Names, index: pages.Index, entry: Entry | None) -> dict[str, Any]:
        tail: dict[str, Any] = {
            "total_lines": index.total_lines,
            "total_bytes": index.total_bytes,
            "path": paths.shown(self._home, names),
        }
        if entry and entry.reference.get("partial"):
            for name in ("partial", "gone_bytes", "gone_line_ends", "gone_at_line"):
                tail[name] = entry.reference[name]
        return tail


def _result(head: dict[str, Any], page: pages.OutputPage, tail: dict[str, Any], index: pages.Index) -> dict[str, Any]:
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


def _frame_bytes(head: dict[str, Any], tail: dict[str, Any], index: pages.Index) -> int:
    # Every number of a page is at most the file's size, so this frame is at least as long as the real one.
    largest = max(index.total_bytes, _SEVERAL_DIGITS)
    numbers = dict.fromkeys(("lines", "next_offset", "next_column", "replaced"), largest)
    return len(orjson.dumps({**head, "content": "", **numbers, **tail}))


def _signature(file: int) -> Signature:
    found = os.fstat(file)
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _gone(absence: Absence) -> OutputMissing:
    data: dict[str, Any] = {"reason": absence.reason, "time": absence.since}
    if absence.detail:
        data["detail"] = absence.detail
    return OutputMissing(data)


def _not_there(known: Known | DatabaseFault) -> OutputMissing | StoreUnavailable:
    if isinstance(known, DatabaseFault):
        return StoreUnavailable({"reason": known.reason, "detail": known.detail})
    if known.entry:
        return _damaged("the file is gone, and no record says why")
    if known.absence:
        return _gone(known.absence)
    return OutputMissing({"reason": reasons.NEVER_STORED, "detail": "nothing was stored under these ids"})


def _damaged(detail: str) -> OutputMissing:
    return OutputMissing({"reason": reasons.DAMAGED, "detail": detail})


def _no_such_place(file: int, index: pages.Index, head: dict[str, Any]) -> InvalidParams:
    if head["column"] > 1 and pages.locate(file, index, head["offset"], 1) is not None:
        return InvalidParams({"fields": {"column": f"line {head['offset']} ends before this column"}})
    return InvalidParams({"fields": {"offset": f"the output has {index.total_lines} lines"}})
