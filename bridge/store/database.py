"""The SQLite file of a home: opened at its first use, migrated, and set aside when it is damaged.

Rules:
- Every fault comes out as ``DatabaseFault``; the connection is then closed, and the next call tries again.
- A damaged file is renamed, never deleted, and a new one is begun. What is rare and must not happen twice at
  once (making, migrating and setting aside) is done under a lock file.
- WAL with ``synchronous=NORMAL``: a commit survives a killed process and waits for no disk.
- The file is looked at before every use: a home that was removed or set aside by another worker must not go
  on receiving rows that nobody will find.
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import TypeVar

from bridge.store.faults import LOCKED, UNAVAILABLE, DatabaseFault
from bridge.store.schema import MIGRATIONS

FILE_NAME = "ledger.sqlite3"
LOCK_NAME = "ledger.lock"

# Longer than any transaction of another worker lasts, shorter than a person notices a tool to be late.
PATIENCE_SECONDS = 1.0
# Once the file was found locked for that long, each call only looks whether it still is.
PATIENCE_WHILE_STUCK_SECONDS = 0.05

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

log = logging.getLogger("bridge.ledger")

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


class Database:
    """One connection to the SQLite file of ``home``, for use by one process; threads take turns."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = home / FILE_NAME
        self._clock = clock
        self._turn = RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened: tuple[int, int, int] | None = None
        self._patience = PATIENCE_SECONDS

    def read(self, work: Work[T]) -> T:
        """Give what ``work`` gives for the connection; raises ``DatabaseFault``."""
        with self._turn:
            return self._guarded(work)

    def write(self, work: Work[T]) -> T:
        """Run ``work`` as one transaction, kept whole or not at all; raises ``DatabaseFault``."""
        with self._turn:
            return self._guarded(lambda connection: _in_transaction(connection, work))

    def checkpoint(self) -> None:
        """Bring what the write-ahead log holds into the file itself, as far as no reader is in the way."""
        self.read(lambda connection: connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall())

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _guarded(self, work: Work[T]) -> T:
        try:
            try:
                result = work(self._ready())
            except sqlite3.DatabaseError as error:
                if _code(error) not in _DAMAGED:
                    raise
                self._set_aside(str(error))
                result = work(self._ready())
        except (sqlite3.Error, OSError) as error:
            self.close()
            fault = _fault(error)
            self._patience = PATIENCE_WHILE_STUCK_SECONDS if fault.reason == LOCKED else PATIENCE_SECONDS
            raise fault from error
        self._patience = PATIENCE_SECONDS
        return result

    def _ready(self) -> sqlite3.Connection:
        identity = self._identity()
        if self._connection is not None and identity is not None and self._opened == identity:
            return self._connection
        if self._opened is not None and self._opened[0] != os.getpid():
            # SQLite forbids even to close a connection that was inherited through fork: it is abandoned.
            _inherited.append(self._connection)
            self._connection = None
        self.close()
        self._connection = self._open()
        self._opened = self._identity()
        return self._connection

    def _identity(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return (os.getpid(), found.st_dev, found.st_ino)

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.path.exists() and not self.path.is_file():
            self._set_aside("not a regular file")
        # SQLite would make it readable by all; its -wal and -shm files take the mode of this one.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous = NORMAL")
        if _version(connection) == len(MIGRATIONS):
            return
        with locked(self.path.parent, self._patience):
            connection.execute("PRAGMA journal_mode = WAL")
            _in_transaction(connection, _migrate)

    def _set_aside(self, why: str) -> None:
        self.close()
        with locked(self.path.parent, self._patience):
            if self.path.is_file() and _is_sound(self.path):
                return  # another worker was quicker, and this is the new one
            stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._clock()))
            kept = _unused(self.path.with_name(f"{FILE_NAME}.damaged-{stamp}"))
            for suffix in ("-wal", "-shm", ""):
                with suppress(FileNotFoundError):
                    self.path.with_name(self.path.name + suffix).rename(f"{kept}{suffix}")
        log.error(
            "the ledger %s cannot be used (%s); it is kept as %s, a new one is begun",
            self.path,
            why,
            kept.name,
        )


_inherited: list[sqlite3.Connection | None] = []


@contextmanager
def locked(home: Path, patience: float) -> Iterator[None]:
    """Hold the lock file of ``home``, waiting at most ``patience`` seconds; raises ``BlockingIOError``."""
    deadline = time.monotonic() + patience
    file = os.open(home / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
        yield
    finally:
        os.close(file)


def _in_transaction(connection: sqlite3.Connection, work: Work[T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return result


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise sqlite3.NotSupportedError(f"version {version} of the ledger is newer than this program")
    return version


def _migrate(connection: sqlite3.Connection) -> None:
    for number in range(_version(connection), len(MIGRATIONS)):
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


def _is_sound(path: Path) -> bool:
    try:
        connection = sqlite3.connect(path, timeout=PATIENCE_WHILE_STUCK_SECONDS, isolation_level=None)
        try:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        return _code(error) not in _DAMAGED


def _unused(path: Path) -> Path:
    number, candidate = 1, path
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


def _code(error: BaseException) -> int:
    # The low byte is the primary code (https://sqlite.org/rescode.html); errors of the module have none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _fault(error: sqlite3.Error | OSError) -> DatabaseFault:
    if isinstance(error, BlockingIOError) or _code(error) in _LOCKED:
        return DatabaseFault(LOCKED, "another process holds the ledger")
    detail = error.strerror if isinstance(error, OSError) else str(error)
    return DatabaseFault(UNAVAILABLE, detail or type(error).__name__)
