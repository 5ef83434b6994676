"""What goes when its time or the space is up, and what a crash left behind.

Safe beside calls and beside other workers: one worker an hour claims the work in the database, files are
removed in batches that hold the write lock for milliseconds, and what is younger than an hour may belong to a
call under way and is left alone.
"""

from __future__ import annotations

import math
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from sqlite3 import Connection
from typing import Any

from bridge.limits import Limits
from bridge.store import files, inventory, names, reasons
from bridge.store.database import Database
from bridge.store.inventory import Removal
from bridge.store.reasons import DatabaseFault

_HOUR = 3_600.0
_DAY = 24 * _HOUR
_BATCH = 16

# How long an unforced cleanup works before it lets a call in; what is left is done when it is asked again.
SLICE_SECONDS = 0.02

# What was removed, or None where only work was done: after each a call may come in.
Steps = Iterator[Removal | None]


class Retention:
    """The cleanup of one home, which may be done in slices."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._home = database.home
        self._clock = database.clock
        self._limits = limits
        self._looked: float | None = None
        self._steps: Steps | None = None

    def cleanup(self, *, force: bool) -> dict[str, Any]:
        """Do what is due, as ``Outputs.cleanup`` describes it, and return what was removed."""
        removed: list[Removal] = []
        try:
            if self._is_due(force=force):
                self._steps = self._all_steps()
            if self._steps and _advance(self._steps, removed, math.inf if force else SLICE_SECONDS):
                self._steps = None
        except DatabaseFault as fault:
            self._looked = self._steps = None
            return {**self._summary(removed), "reason": fault.reason, "detail": fault.detail}
        return self._summary(removed)

    def _is_due(self, *, force: bool) -> bool:
        if force:
            self._database.write(lambda writing: _claim(writing, self._clock()))
            return True
        # A look at the clock is all that a call pays, not even a look at the disk.
        now, looked = time.monotonic(), self._looked
        if looked is not None and now - looked < _HOUR:
            return False
        self._looked = now
        return self._database.write(lambda writing: _claim(writing, self._clock()))

    def _all_steps(self) -> Steps:
        yield from self._strike_off()
        yield from self._sweep()
        self._database.checkpoint()

    def _summary(self, removed: list[Removal]) -> dict[str, Any]:
        return {
            "removed": [{"path": item.path, "bytes": item.bytes, "reason": item.reason} for item in removed],
            "bytes": sum(item.bytes for item in removed),
            "more": self._steps is not None,
        }

    def _strike_off(self) -> Steps:
        limits, cutoff = self._limits, self._clock() - self._limits.output_max_age_days * _DAY
        for choose in (
            lambda reading: inventory.expired(reading, cutoff),
            lambda reading: inventory.choose_for_space(reading, limits.output_total_max_bytes, cutoff),
        ):
            while batch := self._database.write(partial(self._remove_batch, choose)):
                yield from batch

    def _remove_batch(self, choose: Callable[[Connection], Iterator[Removal]], writing: Connection) -> list[Removal]:
        return inventory.remove_all(writing, self._home, islice(choose(writing), _BATCH), self._clock())

    def _sweep(self) -> Steps:
        for top in (names.OUTPUTS, names.ATTACHMENTS):
            for session_id in self._sessions(top):
                yield from self._sweep_session(top, session_id)
                yield None

    def _sessions(self, top: str) -> list[str]:
        kept = set(self._database.read(inventory.sessions_with_files))
        with suppress(OSError), files.opened(self._home, (top,)) as folder, os.scandir(folder) as entries:
            kept.update(entry.name for entry in entries if names.is_identifier(entry.name))
        return sorted(kept)

    def _sweep_session(self, top: str, session_id: str) -> Iterator[Removal]:
        # The rows first: a file is there before its row is, so a row without a file has lost it.
        known = self._database.read(lambda reading: inventory.paths_of(reading, f"{top}/{session_id}/"))
        try:
            found = self._files(top, session_id)
        except OSError:
            return  # not readable now; that is no proof that anything is gone
        lost = [Removal(path, known[path], reasons.DAMAGED) for path in known.keys() - found.keys()]
        if lost:
            lost = self._database.write(partial(self._strike_lost, lost))
        for path, status in found.items():
            if path not in known and abs(self._clock() - status.st_mtime) > _HOUR:
                yield from self._settle(path, status)
        with suppress(OSError), files.opened(self._home, (top,)) as folder:
            os.rmdir(session_id, dir_fd=folder)  # succeeds only when it is empty
        yield from lost

    def _strike_lost(self, lost: list[Removal], writing: Connection) -> list[Removal]:
        still = [removal for removal in lost if not files.is_there(self._home, removal.names)]
        inventory.strike_off(writing, still, self._clock())
        return still

    def _files(self, top: str, session_id: str) -> dict[str, os.stat_result]:
        try:
            with files.opened(self._home, (top, session_id)) as folder, os.scandir(folder) as entries:
                return {f"{top}/{session_id}/{entry.name}": entry.stat(follow_symlinks=False) for entry in entries}
        except FileNotFoundError:
            return {}

    def _settle(self, path: str, status: os.stat_result) -> Iterator[Removal]:
        """Take up a file that no row knows, or remove it when it was never finished."""
        parts = tuple(path.split("/"))
        if parts[-1].startswith(files.TEMPORARY_PREFIX):
            if files.remove(self._home, parts):
                yield Removal(path, status.st_size, reasons.ABANDONED)
        elif (call_id := names.call_id_of(parts)) and stat.S_ISREG(status.st_mode):
            entry = inventory.Entry(path, parts[1], call_id, None, {"bytes": status.st_size})
            self._database.write(lambda writing: inventory.adopt(writing, entry, status.st_mtime))


def _claim(writing: Connection, now: float) -> bool:
    """Return whether an hour has gone by, and if so begin a new one; also brings back times of the future."""
    (cleaned_at,) = writing.execute("SELECT cleaned_at FROM state").fetchone()
    if cleaned_at is not None and 0 <= now - cleaned_at < _HOUR:
        return False
    # A clock that was wrong must not keep anything for ever: what lies in the future is dated today.
    writing.execute("UPDATE sessions SET last_active = ? WHERE last_active > ?", (now, now))
    writing.execute("UPDATE state SET cleaned_at = ?", (now,))
    return True


def _advance(steps: Steps, removed: list[Removal], seconds: float) -> bool:
    """Go on for so many seconds, note what is removed, and say whether nothing is left to do."""
    deadline = time.monotonic() + seconds
    for removal in steps:
        if removal is not None:
            removed.append(removal)
        if time.monotonic() > deadline:
            return False
    return True
