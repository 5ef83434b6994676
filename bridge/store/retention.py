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
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from bridge.limits import Limits
from bridge.protocol import reasons
from bridge.store import files, inventory, names
from bridge.store.database import Database, DatabaseFault
from bridge.store.inventory import Entry, Removal

_HOUR = 3_600.0
_DAY = 24 * _HOUR
_LONGEST_AGE_DAYS = 10**9  # any longer age is for ever, and a float cannot hold every whole number
_BATCH = 16
# Files that are looked at between two looks at the clock.
_LOOK_AT = 64

# How long an unforced cleanup works before it lets a call in; what is left is done when it is asked again.
SLICE_SECONDS = 0.02

# What was removed, or None where only work was done: after each a call may come in.
Steps = Iterator[Removal | None]


def cutoff(limits: Limits, now: float) -> float:
    """Return the time since which a session must have been active to be kept, in seconds since 1970."""
    return now - min(limits.output_max_age_days, _LONGEST_AGE_DAYS) * _DAY


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

    def remove_unrecorded(self, session_id: str) -> list[str]:
        """Remove the files of a session that no row knows; return the paths of those that cannot be removed."""
        left = []
        for top in (names.OUTPUTS, names.ATTACHMENTS):
            folder = (top, names.safe(session_id))
            found = [(*folder, name) for name in _listed(self._home, folder)]
            ours = [path for path in found if files.is_temporary(path[-1]) or names.call_id_of(path)]
            left += [names.key(path) for path in ours if not files.remove(self._home, path)]
            files.remove_if_empty(self._home, folder)
        return left

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
        for top in (names.OUTPUTS, names.ATTACHMENTS):
            for session in self._sessions(top):
                yield from self._sweep_lost(top, session)
                yield from self._sweep_unknown(top, session)
                yield None
        self._database.checkpoint()

    def _summary(self, removed: list[Removal]) -> dict[str, Any]:
        return {
            "removed": [item.to_json() for item in removed],
            "bytes": sum(item.bytes for item in removed),
            "more": self._steps is not None,
        }

    def _strike_off(self) -> Steps:
        total_max, since = self._limits.output_total_max_bytes, cutoff(self._limits, self._clock())
        for remove_batch in (
            partial(self._remove_files, lambda reading: inventory.expired(reading, since)),
            partial(self._remove_files, lambda reading: inventory.choose_for_space(reading, total_max, since)),
            lambda writing: self._remove_projections(
                writing, inventory.expired_projections(writing, since, _BATCH), reasons.EXPIRED
            ),
            lambda writing: self._remove_projections(
                writing, inventory.projections_for_space(writing, total_max, _BATCH), reasons.QUOTA
            ),
        ):
            while batch := self._database.write(remove_batch):
                yield from batch

    def _remove_files(self, choose: Callable[[Connection], Iterator[Removal]], writing: Connection) -> list[Removal]:
        return inventory.remove_all(writing, self._home, islice(choose(writing), _BATCH), self._clock())

    def _remove_projections(self, writing: Connection, going: list[inventory.Projection], reason: str) -> list[Removal]:
        return inventory.strike_projections(writing, going, reason, self._clock())

    def _sessions(self, top: str) -> list[str]:
        """Return the names of the folders of sessions, those that should be there and those that are."""
        found = {names.safe(session_id) for session_id in self._database.read(inventory.sessions_with_files)}
        found.update(filter(names.is_safe, _listed(self._home, (top,))))
        return sorted(found)

    def _sweep_lost(self, top: str, session: str) -> Steps:
        """Strike off the files of a folder that somebody removed."""
        folder, behind = f"{top}/{session}/", ""
        while True:
            part = partial(inventory.paths_of, folder=folder, behind=behind, most=_LOOK_AT)
            known = self._database.read(lambda reading, part=part: part(reading))  # type: ignore[misc]
            if not known:
                return
            behind = known[-1][0]
            try:
                there = {
                    f"{folder}{name}" for name, _ in self._look_at(top, session, [_name(path) for path, _ in known])
                }
            except OSError:
                return  # not readable now; that is no proof that anything is gone
            lost = [Removal(path, size, reasons.DAMAGED) for path, size in known if path not in there]
            yield from self._database.write(partial(self._strike_lost, lost)) if lost else ()
            yield None

    def _strike_lost(self, lost: list[Removal], writing: Connection) -> list[Removal]:
        still = [removal for removal in lost if not files.is_there(self._home, removal.names)]
        inventory.strike_off(writing, still, self._clock())
        return still

    def _sweep_unknown(self, top: str, session: str) -> Steps:
        """Take up the files of a folder that no row knows, or remove those that were never finished."""
        found = _listed(self._home, (top, session))
        for start in range(0, len(found), _LOOK_AT):
            try:
                part = self._look_at(top, session, found[start : start + _LOOK_AT])
            except OSError:
                return
            yield from self._settle(top, session, part)
            yield None
        files.remove_if_empty(self._home, (top, session))

    def _look_at(self, top: str, session: str, found: list[str]) -> list[tuple[str, os.stat_result]]:
        """Return name and status of those of the names that are there; raises ``OSError``."""
        there = []
        try:
            with files.opened(self._home, (top, session)) as folder:
                for name in found:
                    with suppress(FileNotFoundError):
                        there.append((name, os.stat(name, dir_fd=folder, follow_symlinks=False)))
        except FileNotFoundError:
            return []
        return there

    def _settle(self, top: str, session: str, found: list[tuple[str, os.stat_result]]) -> Iterator[Removal]:
        old = {name: status for name, status in found if abs(self._clock() - status.st_mtime) > _HOUR}
        for name in filter(files.is_temporary, old):
            if files.remove(self._home, (top, session, name)):
                yield Removal(f"{top}/{session}/{name}", old[name].st_size, reasons.ABANDONED)
        whole = {
            f"{top}/{session}/{name}": (call_id, status)
            for name, status in old.items()
            if (call_id := names.call_id_of((top, session, name))) and stat.S_ISREG(status.st_mode)
        }
        unknown = self._database.read(lambda reading: inventory.unknown(reading, whole)) if whole else []
        if unknown:
            session_id, since = names.unsafe(session), {path: whole[path][1].st_mtime for path in unknown}
            entries = [
                Entry(path, session_id, whole[path][0], None, {"bytes": whole[path][1].st_size}) for path in unknown
            ]
            self._database.write(lambda writing: inventory.adopt(writing, zip(entries, since.values(), strict=True)))


def _listed(home: Path, folder: tuple[str, ...]) -> list[str]:
    with suppress(OSError):
        return files.listed(home, folder)
    return []  # not there, or not readable now


def _name(path: str) -> str:
    return path.rpartition("/")[2]


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
