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

from bridge.protocol.reasons import DAMAGED, EXPIRED, FORGOTTEN, QUOTA
from bridge.store import files
from bridge.store.database import DatabaseFault, check_types
from bridge.store.names import LEDGER


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
    """Return what is known of ``path``; raises ``DatabaseFault`` when somebody changed its row."""
    found = connection.execute("SELECT call_id, source_sha256, reference FROM files WHERE path = ?", (path,)).fetchone()
    entry = Entry(path, session_id, found[0], found[1], _reference(found[2], found[1])) if found else None
    gone = connection.execute(
        "SELECT reason, absent_since, detail, source_sha256 FROM absences WHERE path = ?", (path,)
    ).fetchone()
    used = connection.execute(
        "SELECT CAST(bytes AS INTEGER) FROM sessions WHERE session_id = ?", (session_id,)
    ).fetchone()
    return Known(entry, Absence(*gone) if gone else None, used[0] if used else 0)


def _reference(text: object, source_sha256: str | None) -> dict[str, Any]:
    try:
        reference = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        reference = None
    if not isinstance(reference, dict) or not all(type(reference.get(name)) is int for name in _counts(reference)):
        raise DatabaseFault(DAMAGED, "the record of this file was changed by somebody else")
    if source_sha256 and not isinstance(reference.get("sha256"), str):
        raise DatabaseFault(DAMAGED, "the record of this file was changed by somebody else")
    return reference


def _counts(reference: dict[str, Any]) -> tuple[str, ...]:
    return ("bytes", "gone_bytes", "gone_line_ends", "gone_at_line") if reference.get("partial") else ("bytes",)


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
    """What was struck off: a file (its path below the home), or saved projections of a session in the ledger."""

    path: str
    bytes: int
    reason: str
    session_id: str = ""
    projections: int = 0

    def __post_init__(self) -> None:
        check_types((self.path, str), (self.bytes, int))

    @property
    def names(self) -> tuple[str, ...]:
        """The path as names of folders and file."""
        return tuple(self.path.split("/"))

    def to_json(self) -> dict[str, Any]:
        """Return the item of ``removed`` in the answer of a cleanup."""
        item = {"path": self.path, "bytes": self.bytes, "reason": self.reason}
        projections = {"session_id": self.session_id, "projections": self.projections}
        return item | projections if self.projections else item


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
    excess = connection.execute("SELECT CAST(total_bytes AS INTEGER) FROM state").fetchone()[0] - total_max
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
    found = [row[0] for row in connection.execute("SELECT DISTINCT session_id FROM files")]
    check_types(*((session_id or None, str) for session_id in found))  # an empty one has no folder
    return found


def paths_of(connection: sqlite3.Connection, folder: str, behind: str, most: int) -> list[tuple[str, int]]:
    """Return path and size of files in ``folder`` (a path below the home, ending in /), in order of their paths.

    At most so many, and those ``behind`` a path: the next part of a long list.
    """
    # '0' is the character after '/': a range, because LIKE would take % and _ in a name for wildcards.
    query = "SELECT path, bytes FROM files WHERE path > ? AND path < ? ORDER BY path LIMIT ?"
    return connection.execute(query, (max(folder, behind), folder[:-1] + "0", most)).fetchall()


def unknown(connection: sqlite3.Connection, paths: Iterable[str]) -> list[str]:
    """Return those of ``paths`` that no file is recorded under."""
    known = "SELECT 1 FROM files WHERE path = ?"
    return [path for path in paths if connection.execute(known, (path,)).fetchone() is None]


def adopt(connection: sqlite3.Connection, found: Iterable[tuple[Entry, float]]) -> None:
    """Enter files that were found, each with the time when it was written, unless they were recorded meanwhile."""
    for entry, since in found:
        if unknown(connection, [entry.path]):
            record(connection, entry, since)


# Saved projections: session, number of the row, bytes.
_PROJECTION = "SELECT session_id, projections.id, length(CAST(projection AS BLOB)) FROM projections"

Projection = tuple[str, int, int]


def expired_projections(connection: sqlite3.Connection, cutoff: float, most: int) -> list[Projection]:
    """Return at most so many saved projections of sessions that were last active before ``cutoff``."""
    query = f"{_PROJECTION} JOIN sessions USING (session_id) WHERE last_active < ? LIMIT ?"
    return connection.execute(query, (cutoff, most)).fetchall()


def projections_for_space(
    connection: sqlite3.Connection, total_max: int, most: int, keep: str = ""
) -> list[Projection]:
    """Return the saved projections that must go until all take at most ``total_max`` bytes, at most so many.

    Those of the session that was not active for the longest time go first, its oldest first; those of the session
    ``keep`` never.
    """
    excess = connection.execute("SELECT CAST(projection_bytes AS INTEGER) FROM state").fetchone()[0] - total_max
    going: list[Projection] = []
    inactive = "SELECT session_id FROM sessions WHERE projection_bytes > 0 AND session_id <> ? ORDER BY last_active"
    for session in connection.execute(inactive, (keep,)) if excess > 0 else ():
        for row in connection.execute(f"{_PROJECTION} WHERE session_id = ? ORDER BY sequence", session):
            if excess <= 0 or len(going) == most:
                return going
            going.append(row)
            excess -= row[2]
    return going


def strike_projections(
    connection: sqlite3.Connection, going: list[Projection], reason: str, now: float
) -> list[Removal]:
    """Remove saved projections, note for their sessions why, and return what went, by session."""
    connection.executemany("DELETE FROM projections WHERE id = ?", [row[1:2] for row in going])
    sizes: dict[str, list[int]] = {}
    for session_id, _, size in going:
        sizes.setdefault(session_id, []).append(size)
    connection.executemany(
        "UPDATE sessions SET gone_reason = ?, gone_since = ? WHERE session_id = ?",
        [(reason, now, session_id) for session_id in sizes],
    )
    return [Removal(LEDGER, sum(of), reason, session_id, len(of)) for session_id, of in sizes.items()]


def forget(connection: sqlite3.Connection, home: Path, session_id: str, now: float) -> list[Removal]:
    """Remove the files and saved projections of a session; only that they were there is kept."""
    rows = connection.execute("SELECT path, bytes FROM files WHERE session_id = ?", (session_id,)).fetchall()
    removed = remove_all(connection, home, [Removal(path, size, FORGOTTEN) for path, size in rows], now)
    # The hash of a short secret tells the secret.
    connection.execute(
        "UPDATE absences SET reason = ?, absent_since = ?, detail = NULL, source_sha256 = NULL WHERE session_id = ?",
        (FORGOTTEN, now, session_id),
    )
    connection.execute(
        "UPDATE sessions SET gone_reason = ?, gone_since = ? WHERE session_id = ?", (FORGOTTEN, now, session_id)
    )
    going = connection.execute(f"{_PROJECTION} WHERE session_id = ?", (session_id,)).fetchall()
    return removed + strike_projections(connection, going, FORGOTTEN, now)
