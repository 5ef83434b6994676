"""What the database knows of the files: which are kept, how much space they take, which are gone and why.

A file is recorded after it was written: a crash in between leaves a whole file that nobody was told of, which
the retry or the next cleanup takes up. Under the write lock it is looked at once more, because another worker
may have removed it since. A file is struck off and removed in one transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.store import files
from bridge.store.reasons import EXPIRED, QUOTA


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that is kept, or that was written just now.

    ``source_sha256`` is None for a file that was found on the disk, so that only its size is known.
    """

    path: str
    session_id: str
    call_id: str
    source_sha256: str | None
    reference: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a file is not there, and since when (seconds since 1970)."""

    reason: str
    since: float
    detail: str | None
    source_sha256: str | None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one path, and how many bytes its session takes."""

    entry: Entry | None
    absence: Absence | None
    session_bytes: int

    @property
    def cited_sha256(self) -> str | None:
        """The hash of the content that was given first under these ids, if any was kept."""
        if self.entry:
            return self.entry.source_sha256
        return self.absence.source_sha256 if self.absence else None


def look(connection: sqlite3.Connection, path: str, session_id: str) -> Known:
    """Return what is known of ``path``."""
    found = connection.execute("SELECT call_id, source_sha256, reference FROM files WHERE path = ?", (path,)).fetchone()
    entry = Entry(path, session_id, found[0], found[1], json.loads(found[2])) if found else None
    gone = connection.execute(
        "SELECT reason, absent_since, detail, source_sha256 FROM absences WHERE path = ?", (path,)
    ).fetchone()
    used = connection.execute("SELECT bytes FROM sessions WHERE session_id = ?", (session_id,)).fetchone()
    return Known(entry, Absence(*gone) if gone else None, used[0] if used else 0)


def record(connection: sqlite3.Connection, entry: Entry, now: float) -> None:
    """Enter a file that was written; what was known of its path before is replaced."""
    connection.execute("DELETE FROM files WHERE path = ?", (entry.path,))
    row = (entry.path, entry.session_id, entry.call_id, now, entry.reference["bytes"], entry.source_sha256)
    connection.execute(
        "INSERT INTO files (path, session_id, call_id, stored_at, bytes, source_sha256, reference)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*row, json.dumps(entry.reference)),
    )


def record_absence(connection: sqlite3.Connection, entry: Entry, reason: str, detail: str, now: float) -> None:
    """Note that a file could not be kept, unless one is kept; nothing was cited, so no hash is held."""
    connection.execute(
        "INSERT OR REPLACE INTO absences SELECT ?, ?, ?, ?, ?, ?, NULL"
        " WHERE NOT EXISTS (SELECT 1 FROM files WHERE path = ?)"
        " AND NOT EXISTS (SELECT 1 FROM absences WHERE path = ? AND source_sha256 IS NOT NULL)",
        (entry.path, entry.session_id, entry.call_id, reason, now, detail, entry.path, entry.path),
    )


@dataclass(frozen=True, slots=True)
class Removal:
    """A file that was struck off: its path below the home, its size and why it went."""

    path: str
    bytes: int
    reason: str

    @property
    def names(self) -> tuple[str, ...]:
        """The path as names of folders and file."""
        return tuple(self.path.split("/"))


def strike_off(connection: sqlite3.Connection, removals: list[Removal], now: float) -> None:
    """Turn files into absences; the caller removes them from the disk in the same transaction."""
    rows = [(removal.reason, now, removal.path) for removal in removals]
    connection.executemany(
        "INSERT OR REPLACE INTO absences"
        " SELECT path, session_id, call_id, ?, ?, NULL, source_sha256 FROM files WHERE path = ?",
        rows,
    )
    connection.executemany("DELETE FROM files WHERE path = ?", [row[2:] for row in rows])


def remove_all(connection: sqlite3.Connection, home: Path, removals: Iterable[Removal], now: float) -> list[Removal]:
    """Strike files off and remove them, inside one transaction; return what went.

    Under the write lock nobody can record a file, so what is struck off cannot come back in between, and no
    file that is not counted any more is still on the disk. The rows go first, because their part can still
    fail. A crash behind the removal leaves rows without files, which cleanup strikes off.
    """
    going = list(removals)
    strike_off(connection, going, now)
    for removal in going:
        files.remove(home, removal.names)
    return going


def choose_for_space(
    connection: sqlite3.Connection, total_max: int, cutoff: float, keep: str | None = None
) -> Iterator[Removal]:
    """Return the files that must go until all take at most ``total_max`` bytes, the oldest first.

    Those of sessions last active before ``cutoff`` go before any that a younger session still cites. ``keep``
    is the path that was written just now.
    """
    excess = connection.execute("SELECT total_bytes FROM state").fetchone()[0] - total_max
    chosen = {keep}
    for removal in _oldest_first(connection, cutoff) if excess > 0 else ():
        if excess <= 0:
            return
        if removal.path not in chosen:
            chosen.add(removal.path)
            excess -= removal.bytes
            yield removal


def _oldest_first(connection: sqlite3.Connection, cutoff: float) -> Iterator[Removal]:
    yield from expired(connection, cutoff)
    for path, size in connection.execute("SELECT path, bytes FROM files ORDER BY id"):
        yield Removal(path, size, QUOTA)


def expired(connection: sqlite3.Connection, cutoff: float) -> Iterator[Removal]:
    """Return the files whose whole session was last active before ``cutoff``, the oldest first."""
    rows = connection.execute(
        "SELECT path, files.bytes FROM sessions JOIN files USING (session_id) WHERE last_active < ? ORDER BY files.id",
        (cutoff,),
    )
    for path, size in rows:
        yield Removal(path, size, EXPIRED)


def sessions_with_files(connection: sqlite3.Connection) -> list[str]:
    """Return the sessions that have files."""
    return [row[0] for row in connection.execute("SELECT DISTINCT session_id FROM files")]


def paths_of(connection: sqlite3.Connection, folder: str) -> dict[str, int]:
    """Return path and size of the files that are kept in ``folder`` (a path below the home, ending in /)."""
    # '0' is the character after '/': a range, because LIKE would take % and _ in a name for wildcards.
    rows = connection.execute("SELECT path, bytes FROM files WHERE path > ? AND path < ?", (folder, folder[:-1] + "0"))
    return dict(rows.fetchall())


def adopt(connection: sqlite3.Connection, entry: Entry, since: float) -> None:
    """Enter a file that was found, written at ``since``, unless it was recorded in the meantime."""
    if not look(connection, entry.path, entry.session_id).entry:
        record(connection, entry, since)
