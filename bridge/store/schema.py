"""The tables of the ledger's SQLite file, one migration after another.

``PRAGMA user_version`` counts the migrations that a file has had. A migration that was released is never
changed: a new one is added behind it, and tests/fixtures keeps a home of every released version.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

# Counted by triggers, so that a call learns how much is kept from two rows however many files there are.
_VERSION_1 = """
CREATE TABLE projections (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,      -- 1, 2, 3 ... within the session
    saved_at REAL NOT NULL,         -- seconds since 1970
    projection TEXT NOT NULL,       -- the JSON text that was given
    UNIQUE (session_id, call_id),
    UNIQUE (session_id, sequence)
);

CREATE TABLE files (
    id INTEGER PRIMARY KEY,         -- grows with every file: the oldest is the smallest, whatever clocks say
    path TEXT NOT NULL UNIQUE,      -- below the home, with /
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    stored_at REAL NOT NULL,
    bytes INTEGER NOT NULL,
    source_sha256 TEXT,             -- of what was given, not of a part; null when the file was found
    reference TEXT NOT NULL         -- JSON: what the caller was told, without the path
);
CREATE INDEX files_of_session ON files (session_id);

CREATE TABLE absences (
    path TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    absent_since REAL NOT NULL,
    detail TEXT,
    source_sha256 TEXT              -- of what was cited; null when nothing ever was
);

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    last_active REAL NOT NULL
);
CREATE INDEX sessions_by_activity ON sessions (last_active);

CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    total_bytes INTEGER NOT NULL,
    cleaned_at REAL                 -- null before the first cleanup
);
INSERT INTO state VALUES (1, 0, NULL);

CREATE TRIGGER projection_saved AFTER INSERT ON projections BEGIN
    INSERT INTO sessions VALUES (new.session_id, 0, new.saved_at)
    ON CONFLICT (session_id) DO UPDATE SET last_active = max(last_active, new.saved_at);
END;

CREATE TRIGGER file_kept AFTER INSERT ON files BEGIN
    INSERT INTO sessions VALUES (new.session_id, new.bytes, new.stored_at)
    ON CONFLICT (session_id) DO UPDATE
        SET bytes = bytes + new.bytes, last_active = max(last_active, new.stored_at);
    UPDATE state SET total_bytes = total_bytes + new.bytes;
    DELETE FROM absences WHERE path = new.path;
END;

CREATE TRIGGER file_gone AFTER DELETE ON files BEGIN
    UPDATE sessions SET bytes = bytes - old.bytes WHERE session_id = old.session_id;
    UPDATE state SET total_bytes = total_bytes - old.bytes;
END;
"""

# Saved projections are counted and go with a reason, as files do; calls have a subject, so that a person can
# tell them apart. No row of ``projections`` is written anew: a large ledger would take seconds.
_VERSION_2 = """
ALTER TABLE projections ADD COLUMN subject TEXT;    -- JSON: tool, status, text; null where none was given
ALTER TABLE sessions ADD COLUMN projection_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN last_sequence INTEGER NOT NULL DEFAULT 0;   -- never used twice
ALTER TABLE sessions ADD COLUMN gone_reason TEXT;   -- of projections that are not there any more; null: none went
ALTER TABLE sessions ADD COLUMN gone_since REAL;
ALTER TABLE state ADD COLUMN projection_bytes INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER projection_saved;
DROP TRIGGER file_kept;

UPDATE sessions SET
    projection_bytes = (SELECT coalesce(sum(length(CAST(projection AS BLOB))), 0) FROM projections
                        WHERE projections.session_id = sessions.session_id),
    last_sequence = (SELECT coalesce(max(sequence), 0) FROM projections
                     WHERE projections.session_id = sessions.session_id);
UPDATE state SET projection_bytes = (SELECT coalesce(sum(projection_bytes), 0) FROM sessions);

CREATE TRIGGER projection_saved AFTER INSERT ON projections BEGIN
    INSERT INTO sessions (session_id, bytes, last_active, projection_bytes, last_sequence)
    VALUES (new.session_id, 0, new.saved_at, length(CAST(new.projection AS BLOB)), new.sequence)
    ON CONFLICT (session_id) DO UPDATE
        SET projection_bytes = projection_bytes + excluded.projection_bytes,
            last_sequence = max(last_sequence, new.sequence),
            last_active = max(last_active, new.saved_at);
    UPDATE state SET projection_bytes = projection_bytes + length(CAST(new.projection AS BLOB));
END;

CREATE TRIGGER projection_gone AFTER DELETE ON projections BEGIN
    UPDATE sessions SET projection_bytes = projection_bytes - length(CAST(old.projection AS BLOB))
    WHERE session_id = old.session_id;
    UPDATE state SET projection_bytes = projection_bytes - length(CAST(old.projection AS BLOB));
END;

CREATE TRIGGER file_kept AFTER INSERT ON files BEGIN
    INSERT INTO sessions (session_id, bytes, last_active) VALUES (new.session_id, new.bytes, new.stored_at)
    ON CONFLICT (session_id) DO UPDATE
        SET bytes = bytes + new.bytes, last_active = max(last_active, new.stored_at);
    UPDATE state SET total_bytes = total_bytes + new.bytes;
    DELETE FROM absences WHERE path = new.path;
END;
"""

MIGRATIONS = (_VERSION_1, _VERSION_2)
COUNTS_PROJECTIONS = 2  # the first version that knows what projections take, and their subjects
_TABLES = {b"projections", b"files", b"absences", b"sessions", b"state"}


class ForeignFileError(sqlite3.Error):
    """The file is a sound database, but of another program."""


def check_ours(connection: sqlite3.Connection) -> None:
    """Raise ``ForeignFileError`` when the file holds tables of somebody else; reads only."""
    # The version first: whoever makes the tables meanwhile makes all of them.
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    # As bytes: a name that is not UTF-8 is not ours, and could not be read as text.
    names = connection.execute("SELECT CAST(name AS BLOB) FROM sqlite_master WHERE type = 'table'")
    tables = {row[0] for row in names}
    if (found or tables) and not tables >= _TABLES:
        raise ForeignFileError("is the database of another program")


def version(connection: sqlite3.Connection) -> int:
    """Return the number of migrations that the file has had; raises ``NotSupportedError`` for a newer one."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > len(MIGRATIONS):
        raise sqlite3.NotSupportedError(f"version {found} of the ledger is newer than this program")
    return found


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the newest version, inside the transaction that the caller began."""
    for number in range(version(connection), len(MIGRATIONS)):
        for statement in _statements(MIGRATIONS[number]):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number + 1}")


def _statements(script: str) -> Iterator[str]:
    # Not executescript: it would commit the transaction that makes a migration whole.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
