"""The SQLite file of a home: opened at its first use, and set aside when it is damaged.

Rules:
- Every fault comes out as ``DatabaseFault``; the connection is then closed, and the next call tries again.
- A damaged file is renamed, never deleted, and a new one is begun. What is rare and must not happen twice at
  once (making, migrating and setting aside) is done under a lock file.
- A sound database of another program, or a symbolic link, is not ours: it is neither followed, written nor
  renamed, and the ledger is used again as soon as it is out of the way.
- A call waits for another process once. While that one holds the file, the next calls do not wait at all.
- WAL with ``synchronous=NORMAL``: a commit survives a killed process and waits for no disk.
- A file that may not be written is still read: an old session replays from a read-only home.
- The file is looked at before every use: a home that was removed or set aside by another worker must not go
  on receiving rows that nobody will find.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock, RLock
from types import UnionType
from typing import TypeVar
from weakref import WeakSet

from bridge.protocol.reasons import DAMAGED, FOREIGN, LOCKED, UNAVAILABLE
from bridge.store import files, schema
from bridge.store.names import LEDGER

_LOCK_NAME = "ledger.lock"

# Longer than any transaction of another worker lasts, shorter than a person notices a tool to be late.
PATIENCE_SECONDS = 1.0
# Not SQLite's own waiting: it grows to a tenth of a second between two looks, and among busy workers one may
# then never meet a free moment.
_RETRY_SECONDS = 0.002

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

log = logging.getLogger("bridge.store.ledger")

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
Identity = tuple[int, int]


class DatabaseFault(Exception):
    """The SQLite file could not be read or written, or a row was damaged; nobody who called is to blame.

    ``reason`` is a word of ``bridge.protocol.reasons``, ``detail`` a short text for a person, without contents.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def check_types(*columns: tuple[object, type | UnionType]) -> None:
    """Raise ``DatabaseFault`` unless each value is of its type: SQLite keeps any value in any column."""
    if not all(isinstance(value, expected) for value, expected in columns):
        raise DatabaseFault(DAMAGED, "a value in the ledger is not what was saved any more")


class Database:
    """One connection to the SQLite file of ``home``, for use by one process; threads take turns.

    ``clock`` gives seconds since 1970.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.home = Path(home).absolute()
        self.path = self.home / LEDGER
        self.clock = clock
        self._turn = RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened: Identity | None = None
        self._stuck = False  # the file was found locked, for all the patience that there is
        self._failed_to_write = False
        self._trouble: str | None = None
        _databases.add(self)

    def __del__(self) -> None:
        # A connection is part of a reference cycle (its cache of statements): it would stay open for long.
        self.close()

    def read(self, work: Work[T]) -> T:
        """Return what ``work`` gives for the connection; raises ``DatabaseFault``."""
        with self._turn:
            return self._guarded(work, writes=False)

    def write(self, work: Work[T]) -> T:
        """Run ``work`` as one transaction, kept whole or not at all; raises ``DatabaseFault``."""
        with self._turn:
            return self._guarded(lambda connection: _in_transaction(connection, work), writes=True)

    def erase(self, work: Work[T]) -> T:
        """Do as ``write``, and leave no bytes of what ``work`` deletes in the file and its log."""
        with self._turn:
            self.read(lambda connection: connection.execute("PRAGMA secure_delete = ON"))
            result = self.write(work)
            self.read(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
            self.close()  # the next connection deletes as ever
        return result

    def checkpoint(self) -> None:
        """Bring what the write-ahead log holds into the file itself, as far as no reader is in the way."""
        self.read(lambda connection: connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall())

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _guarded(self, work: Work[T], *, writes: bool) -> T:
        try:
            result = self._patiently(work)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            self.close()
            fault = self._fault(error)
            self._tell_once(str(fault))
            self._failed_to_write = writes
            self._stuck = fault.reason == LOCKED
            raise fault from error
        if writes or not self._failed_to_write:  # that a file can be read does not say that it can be written
            self._stuck, self._failed_to_write, self._trouble = False, False, None
        return result

    def _patiently(self, work: Work[T]) -> T:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._repaired(work)
            except sqlite3.OperationalError as error:
                if _primary_code(error) not in _LOCKED or time.monotonic() >= deadline:
                    raise
            time.sleep(_RETRY_SECONDS)

    @property
    def _patience(self) -> float:
        return 0 if self._stuck else PATIENCE_SECONDS

    def _tell_once(self, trouble: str) -> None:
        if trouble != self._trouble:
            log.warning("the ledger %s cannot be used now (%s); calls go on without it", self.path, trouble)
        self._trouble = trouble

    def _fault(self, error: sqlite3.Error | OSError | UnicodeDecodeError) -> DatabaseFault:
        if isinstance(error, schema.ForeignFileError):
            advice = "move it away, or set RIND_BRIDGE_HOME to a folder that only the bridge uses"
            return DatabaseFault(FOREIGN, f"{self.path} {error}: {advice}")
        if isinstance(error, BlockingIOError) or _primary_code(error) in _LOCKED:
            return DatabaseFault(LOCKED, "another process holds the ledger")
        # The error of a text that cannot be read is Python's: it has no code, and it shows the text.
        if isinstance(error, sqlite3.OperationalError | UnicodeDecodeError) and not _primary_code(error):
            return DatabaseFault(DAMAGED, "a text in the ledger is not UTF-8 any more")
        detail = error.strerror if isinstance(error, OSError) else str(error)
        return DatabaseFault(UNAVAILABLE, detail or type(error).__name__)

    def _repaired(self, work: Work[T]) -> T:
        try:
            return work(self._ready())
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not _is_damage(error):
                raise
            self._set_aside(str(error))
        return work(self._ready())

    def _ready(self) -> sqlite3.Connection:
        if self._connection is not None and self._opened is not None and self._opened == self._identity():
            return self._connection
        return self._open()

    def _identity(self) -> Identity | None:
        try:
            found = self.path.lstat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino)

    def _open(self) -> sqlite3.Connection:
        self.close()
        with files.opened(self.home, (), create=True):
            pass
        if self.path.is_symlink():
            raise schema.ForeignFileError("is a symbolic link, which is not followed")
        if self.path.exists() and not self.path.is_file():
            self._set_aside("not a regular file")
        try:
            self._connection = _connect_to_write(self.path, self._patience)
            self._opened = self._identity()
        except (sqlite3.OperationalError, OSError) as error:
            if not _is_refusal(error):
                raise
            self._connection = _connect_to_read(self.path)
            # It is used once: it sees nothing that others write, and may be let write soon.
            self._opened = None
        return self._connection

    def _set_aside(self, why: str) -> None:
        self.close()
        with _lock_file(self.home, self._patience):
            if _is_sound(self.path):
                return  # another worker was quicker, and this is the new one
            kept = self._unused_name()
            for suffix in ("-wal", "-shm", ""):
                with suppress(FileNotFoundError):
                    self.path.with_name(LEDGER + suffix).rename(f"{kept}{suffix}")
        log.error("the ledger %s cannot be used (%s); it is kept as %s, a new one is begun", self.path, why, kept.name)

    def _unused_name(self) -> Path:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self.clock()))
        number, candidate = 1, self.path.with_name(f"{LEDGER}.damaged-{stamp}")
        while candidate.exists():
            number += 1
            candidate = self.path.with_name(f"{LEDGER}.damaged-{stamp}-{number}")
        return candidate


# A connection must not be open across a fork: SQLite in the child would believe that it holds the locks of
# its parent (https://sqlite.org/howtocorrupt.html, section 2.6). So all are closed before.
_databases: WeakSet[Database] = WeakSet()
_waiting: list[Database] = []
_fork = Lock()  # two threads may fork at once


def _before_fork() -> None:
    _fork.acquire()
    _waiting.extend(_databases)
    for database in _waiting:
        database._turn.acquire()  # noqa: SLF001 - no other thread may open it again until the fork is done
        database.close()


def _after_fork() -> None:
    while _waiting:
        _waiting.pop()._turn.release()  # noqa: SLF001 - as above
    _fork.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


def _connect_to_write(path: Path, patience: float) -> sqlite3.Connection:
    # SQLite would make the file readable by all; its -wal and -shm files take the mode of this one.
    # O_EXCL is vital: to open and close a file that is there would drop the locks that another connection of
    # this process holds on it, and another worker would throw its log away
    # (https://sqlite.org/howtocorrupt.html, section 2.2).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    # First without the right to write: to close another program's database could write its log into it.
    with suppress(sqlite3.OperationalError), closing(_connection(f"{path.as_uri()}?mode=ro")) as looking:
        schema.check_ours(looking)
    with _closed_on_failure(str(path)) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        if schema.version(connection) < len(schema.MIGRATIONS):
            with _lock_file(path.parent, patience):
                connection.execute("PRAGMA journal_mode = WAL")
                _in_transaction(connection, schema.migrate)
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    address = f"{path.as_uri()}?mode=ro"
    log_file = path.with_name(f"{LEDGER}-wal")
    if not (log_file.exists() and log_file.stat().st_size):
        # Without a log to apply, SQLite need not make its shared-memory file, which it could not.
        address += "&immutable=1"
    with _closed_on_failure(address) as connection:
        schema.check_ours(connection)
        schema.version(connection)
    return connection


def _connection(address: str) -> sqlite3.Connection:
    return sqlite3.connect(
        address,
        uri=address.startswith("file:"),
        timeout=0,  # waiting is done in ``Database``
        isolation_level=None,  # transactions are begun where they are meant
        check_same_thread=False,  # threads take turns (Database)
    )


@contextmanager
def _closed_on_failure(address: str) -> Iterator[sqlite3.Connection]:
    connection = _connection(address)
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def _is_refusal(error: sqlite3.OperationalError | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
    return _primary_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def _is_sound(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with closing(_connection(str(path))) as connection:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return not _is_damage(error)


def _is_damage(error: Exception) -> bool:
    """Return whether SQLite says that the file is damaged; what it says may hold bytes of it that are not UTF-8."""
    return isinstance(error, UnicodeDecodeError) or _primary_code(error) in _DAMAGED


def _primary_code(error: BaseException) -> int:
    """Return SQLite's code without its extension (https://sqlite.org/rescode.html), 0 for any other error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


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


@contextmanager
def _lock_file(home: Path, patience: float) -> Iterator[None]:
    """Hold the lock file of ``home``, waiting at most ``patience`` seconds; raises ``BlockingIOError``."""
    file = os.open(home / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + patience
    try:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(_RETRY_SECONDS)
        yield
    finally:
        os.close(file)
