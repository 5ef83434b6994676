"""Saved model projections: the same ids again give back the same bytes, and a session replays in order.

One SQLite file in the home (``bridge.store.database``). A fault never stops a call: what could not be saved
says so in its policy, and the next call tries again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import orjson

from bridge.protocol.errors import InvalidParams, StoreUnavailable
from bridge.protocol.names import check_identifiers
from bridge.store.database import Database
from bridge.store.reasons import DAMAGED, NOT_JSON, DatabaseFault

# A page of replay ends before this many bytes of projections, so that no reply fills a pipe for seconds.
REPLAY_PAGE_BYTES = 8_388_608

_SQLITE_MAX = 2**63 - 1

_FIND = "SELECT projection FROM projections WHERE session_id = ? AND call_id = ?"
_SAVE = (
    "INSERT INTO projections (session_id, call_id, sequence, saved_at, projection)"
    " SELECT ?, ?, coalesce(max(sequence), 0) + 1, ?, ? FROM projections WHERE session_id = ?"
    " ON CONFLICT (session_id, call_id) DO NOTHING"
)
_REPLAY = (
    "SELECT sequence, call_id, saved_at, projection FROM projections"
    " WHERE session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?"
)


class Ledger:
    """The saved projections under one home.

    ``clock`` gives seconds since 1970. ``database`` is that of the home, where ``Outputs`` of it are used as
    well; without it, one is made.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.time, database: Database | None = None) -> None:
        self.home = Path(home).absolute()
        self.clock = clock
        self.database = database or Database(self.home, clock)

    def find(self, session_id: str, call_id: str) -> dict[str, Any] | None:
        """Return the projection that is saved under these ids, or None: there is none, or it cannot be read."""
        check_identifiers(session_id=session_id, call_id=call_id)
        try:
            return self.database.read(lambda reading: _find(reading, session_id, call_id))
        except DatabaseFault:
            return None

    def save(self, session_id: str, call_id: str, projection: dict[str, Any]) -> dict[str, Any]:
        """Keep ``projection`` unless one is kept under these ids, and return the one that is kept.

        When it cannot be kept, gives ``projection`` with ``model_content_policy.ledger`` saying why
        (``reason`` and ``detail``). Raises ``InvalidParams`` for ids that are not names; the caller is to
        blame.
        """
        check_identifiers(session_id=session_id, call_id=call_id)
        try:
            row = (session_id, call_id, self.clock(), _encode(projection))
            return self.database.write(lambda writing: _save(writing, row)) or projection
        except DatabaseFault as fault:
            return _unsaved(projection, fault.reason, fault.detail)
        except (TypeError, ValueError, RecursionError) as error:
            return _unsaved(projection, NOT_JSON, type(error).__name__)

    def replay(self, session_id: str, after: int = 0, limit: int = 500) -> dict[str, Any]:
        """Return the saved projections of a session in order: session_id, items, next_after.

        At most ``limit`` items whose sequence is above ``after``, and about 8 MiB of them. Each item is a
        projection with ``sequence`` (1, 2, 3 ...), ``call_id`` and ``time`` (seconds since 1970).
        ``next_after`` is the ``after`` of the next page, null at the end.
        Raises ``InvalidParams`` (the caller is to blame) and ``StoreUnavailable``.
        """
        check_identifiers(session_id=session_id)
        _check_range("after", after, 0)
        _check_range("limit", limit, 1)
        try:
            items, more = self.database.read(lambda reading: _page(reading, session_id, after, limit))
        except DatabaseFault as fault:
            raise StoreUnavailable({"reason": fault.reason, "detail": fault.detail}) from fault
        return {
            "session_id": session_id,
            "items": items,
            "next_after": items[-1]["sequence"] if more else None,
        }

    def close(self) -> None:
        """Close the database; the next use opens it again."""
        self.database.close()


def _find(reading: Connection, session_id: str, call_id: str) -> dict[str, Any] | None:
    row = reading.execute(_FIND, (session_id, call_id)).fetchone()
    return _decode(row[0]) if row else None


def _save(writing: Connection, row: tuple[str, str, float, str]) -> dict[str, Any] | None:
    """Return None when the row is new, else the projection that was there first."""
    if writing.execute(_SAVE, (*row, row[0])).rowcount == 1:
        return None
    return _find(writing, *row[:2])


def _page(reading: Connection, session_id: str, after: int, limit: int) -> tuple[list[dict[str, Any]], bool]:
    items: list[dict[str, Any]] = []
    size = 0
    for sequence, call_id, saved_at, text in reading.execute(_REPLAY, (session_id, after, limit + 1)):
        size += len(text)
        if len(items) == limit or (items and size > REPLAY_PAGE_BYTES):
            return items, True
        items.append({"sequence": sequence, "call_id": call_id, "time": saved_at, **_decode(text)})
    return items, False


def _encode(projection: dict[str, Any]) -> str:
    try:
        return orjson.dumps(projection).decode()
    except TypeError:
        # Integers beyond 64 bits, lone surrogates, deep nesting: the standard library writes them all.
        return json.dumps(projection, allow_nan=False)


def _decode(text: str) -> dict[str, Any]:
    # Not orjson: it would make a float of an integer beyond 64 bits.
    try:
        projection: dict[str, Any] = json.loads(text)
    except ValueError:
        raise DatabaseFault(DAMAGED, "a saved projection is not JSON any more") from None
    return projection


def _unsaved(projection: dict[str, Any], reason: str, detail: str) -> dict[str, Any]:
    policy = {**projection["model_content_policy"], "ledger": {"reason": reason, "detail": detail}}
    return {**projection, "model_content_policy": policy}


def _check_range(field: str, value: object, smallest: int) -> None:
    if type(value) is not int or not smallest <= value < _SQLITE_MAX:
        raise InvalidParams({"fields": {field: f"a whole number from {smallest} to {_SQLITE_MAX - 1}"}})
