"""What a home holds, for a person. Looking makes nothing: a home that is not there has nothing in it."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import Any

from bridge.protocol.errors import StoreUnavailable
from bridge.store.database import Database, DatabaseFault
from bridge.store.names import LEDGER

Row = tuple[Any, ...]

_SESSIONS = (
    "SELECT session_id, (SELECT count(*) FROM files WHERE files.session_id = sessions.session_id), bytes,"
    " last_active FROM sessions ORDER BY last_active"
)
_FILES = "SELECT call_id, stored_at, bytes, path FROM files WHERE session_id = ? ORDER BY id"
_GONE = "SELECT call_id, absent_since, reason, path FROM absences WHERE session_id = ? ORDER BY absent_since"
_PROJECTIONS = "SELECT session_id, projection FROM projections ORDER BY id"


def sessions(home: Path) -> list[Row]:
    """Return each session with its number of files, their bytes, and when it was last used, oldest first."""
    return [(*row[:3], _time(row[3])) for row in _rows(home, _SESSIONS)]


def files(home: Path, session_id: str) -> list[Row]:
    """Return each file of a session: call, time, bytes, path; then those that are gone, with the reason."""
    kept = [(call, _time(at), size, home / path) for call, at, size, path in _rows(home, _FILES, session_id)]
    gone = [(call, _time(since), "-", f"gone: {why}") for call, since, why, _ in _rows(home, _GONE, session_id)]
    return kept + gone


def projections(home: Path) -> list[Row]:
    """Return for each session: calls, how many were cut, bytes of the payloads, bytes that the model got."""
    sums: dict[str, list[int]] = {}
    for session_id, text in _rows(home, _PROJECTIONS):
        saved = json.loads(text)
        policy = saved["model_content_policy"]
        counts = (1, int(policy["truncated"]), policy["total_bytes"], len(saved["model_content"].encode()))
        totals = sums.setdefault(session_id, [0] * len(counts))
        totals[:] = map(sum, zip(totals, counts, strict=True))
    return [(session_id, *totals) for session_id, totals in sums.items()]


def _rows(home: Path, query: str, *parameters: str) -> list[Row]:
    if not (home / LEDGER).exists():
        return []

    def fetch(connection: sqlite3.Connection) -> list[Row]:
        return connection.execute(query, parameters).fetchall()

    try:
        return Database(home).read(fetch)
    except DatabaseFault as fault:
        raise StoreUnavailable({"reason": fault.reason, "detail": fault.detail}) from fault


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
