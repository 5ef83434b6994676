"""Connects to the SQLite file: made if it is missing, migrated if it is old, read only if it must be."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from bridge.store.schema import MIGRATIONS

FILE_NAME = "ledger.sqlite3"
LOCK_NAME = "ledger.lock"

_RETRY_SECONDS = 0.005
# How long SQLite waits by itself for another process; ``Database`` then asks it again.
_SQLITE_WAITS_SECONDS = 0.03

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


def connect(path: Path, patience: float) -> tuple[sqlite3.Connection, bool]:
    """Open the file for reading and writing; without the right to write, for reading alone.

    Returns the connection and whether it can write. Waits at most ``patience`` seconds for another process that
    makes or migrates the file. Raises ``sqlite3.Error`` and ``OSError``.
    """
    try:
        return _connect_to_write(path, patience), True
    except (sqlite3.OperationalError, OSError) as error:
        if not _is_refusal(error):
            raise
        return _connect_to_read(path), False


def _connect_to_write(path: Path, patience: float) -> sqlite3.Connection:
    _make(path)
    with _closed_on_failure(str(path)) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        if version(connection) < len(MIGRATIONS):
            with locked(path.parent, patience):
                connection.execute("PRAGMA journal_mode = WAL")
                in_transaction(connection, _migrate)
    return connection


def _make(path: Path) -> None:
    # SQLite would make it readable by all; its -wal and -shm files take the mode of this one.
    # O_EXCL is vital: to open and close a file that is there would drop the locks that another connection of
    # this process holds on it, and another worker would throw its log away
    # (https://sqlite.org/howtocorrupt.html, section 2.2).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _connect_to_read(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=ro"
    log_file = path.with_name(f"{FILE_NAME}-wal")
    if not (log_file.exists() and log_file.stat().st_size):
        # Without a log to apply, SQLite need not make its shared-memory file, which it could not.
        address += "&immutable=1"
    with _closed_on_failure(address) as connection:
        version(connection)
    return connection


@contextmanager
def _closed_on_failure(address: str) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(
        address,
        uri=address.startswith("file:"),
        timeout=_SQLITE_WAITS_SECONDS,
        isolation_level=None,  # transactions are begun where they are meant
        check_same_thread=False,  # threads take turns (Database)
    )
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _is_refusal(error: sqlite3.OperationalError | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
    return primary_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def primary_code(error: BaseException) -> int:
    """Return SQLite's code without its extension (https://sqlite.org/rescode.html), 0 for any other error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def version(connection: sqlite3.Connection) -> int:
    """Return the number of migrations that the file has had; raises ``NotSupportedError`` for a newer one."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > len(MIGRATIONS):
        raise sqlite3.NotSupportedError(f"version {found} of the ledger is newer than this program")
    return found


def in_transaction(connection: sqlite3.Connection, work: Work[T]) -> T:
    """Run ``work`` in one transaction that is kept whole or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return result


def _migrate(connection: sqlite3.Connection) -> None:
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


@contextmanager
def locked(home: Path, patience: float) -> Iterator[None]:
    """Hold the lock file of ``home``, waiting at most ``patience`` seconds; raises ``BlockingIOError``."""
    file = os.open(home / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _take(file, time.monotonic() + patience)
        yield
    finally:
        os.close(file)


def _take(file: int, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
        time.sleep(_RETRY_SECONDS)
