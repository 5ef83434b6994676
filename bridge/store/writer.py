"""Keeps outputs and attachments: what is kept already, what fits, written, recorded, and space made behind it.

The file is what counts. A database that cannot be used takes nothing from a caller but the quotas and the
second look: the output is still written, its reference is still given, and the next cleanup enters it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from bridge.limits import Limits
from bridge.store import folders, inventory, paths, reasons
from bridge.store.database import Database
from bridge.store.faults import DatabaseFault
from bridge.store.inventory import Entry, Known
from bridge.store.partial import SMALLEST_SPACE, Part, part_of
from bridge.store.removal import remove_all

_DAY = 86_400.0
_BLOCK = 1 << 20
# Another worker may make space with our file between its writing and its recording: then once more.
_ATTEMPTS = 3

Reference = dict[str, Any]


class Writer:
    """Writes below ``home`` within ``limits``."""

    def __init__(self, home: Path, database: Database, limits: Limits, clock: Callable[[], float] = time.time) -> None:
        self._home = home
        self._database = database
        self._limits = limits
        self._clock = clock

    def store(self, session_id: str, call_id: str, content: bytes, field: str | None) -> Reference:
        """See ``Outputs.store``; the ids are checked."""
        names = paths.output_names(session_id, call_id)
        source = sha256(content).hexdigest()
        known = self._look(names, session_id)
        if answer := self._kept_before(names, source, known):
            return answer
        space = self._space(known)
        entry = Entry(paths.key(names), session_id, call_id, source, {})
        if space < min(len(content), SMALLEST_SPACE):
            return self._refused(entry, reasons.QUOTA, _session_full(self._limits))
        pieces, reference = _describe(content, source, space)
        if field is not None:
            reference["field"] = field
        return self._keep(names, replace(entry, reference=reference), pieces)

    def store_attachment(self, session_id: str, call_id: str, content: bytes, media_type: str) -> Reference:
        """See ``Outputs.store_attachment``; the ids are checked."""
        source = sha256(content).hexdigest()
        names = paths.attachment_names(session_id, call_id, source, media_type)
        known = self._look(names, session_id)
        if answer := self._kept_before(names, source, known):
            return answer
        if len(content) > self._limits.output_file_max_bytes:
            detail = f"{len(content)} bytes; output_file_max_bytes is {self._limits.output_file_max_bytes}"
            return {"reason": reasons.TOO_LARGE, "detail": detail}
        reference = {"bytes": len(content), "sha256": source, "media_type": media_type}
        entry = Entry(paths.key(names), session_id, call_id, source, reference)
        if len(content) > self._space(known):
            return self._refused(entry, reasons.QUOTA, _session_full(self._limits))
        return self._keep(names, entry, (content,))

    def _look(self, names: paths.Names, session_id: str) -> Known:
        try:
            return self._database.read(lambda reading: inventory.look(reading, paths.key(names), session_id))
        except DatabaseFault:
            return Known(None, None, 0)

    def _kept_before(self, names: paths.Names, source: str, known: Known) -> Reference | None:
        if known.cited_sha256 is None:
            return None
        if known.cited_sha256 != source:
            return _conflict()
        if known.entry and self._is_there(names):
            return {"path": paths.shown(self._home, names), **known.entry.reference}
        return None

    def _is_there(self, names: paths.Names) -> bool:
        try:
            return folders.is_there(self._home, names)
        except OSError:
            return False  # writing it will say what is wrong

    def _space(self, known: Known) -> int:
        limits = self._limits
        # A file that is known and comes again takes its own place.
        own = known.entry.reference["bytes"] if known.entry else 0
        session_space = limits.output_session_max_bytes - known.session_bytes + own
        return min(limits.output_file_max_bytes, session_space, limits.output_total_max_bytes)

    def _keep(self, names: paths.Names, entry: Entry, pieces: tuple[bytes, ...]) -> Reference:
        for _ in range(_ATTEMPTS):
            if refusal := self._write(names, entry, pieces):
                return refusal
            if self._record(names, entry):
                return {"path": paths.shown(self._home, names), **entry.reference}
        return self._refused(entry, reasons.FAILED, "the file vanished as often as it was written")

    def _write(self, names: paths.Names, entry: Entry, pieces: tuple[bytes, ...]) -> Reference | None:
        """Return None when the file is written or lies there already, else the reason why it does not."""
        try:
            folders.write_new(self._home, names, pieces)
        except FileExistsError:
            return self._compare(names, entry)
        except OSError as error:
            return self._refused(entry, reasons.FAILED, error.strerror or type(error).__name__)
        return None

    def _compare(self, names: paths.Names, entry: Entry) -> Reference | None:
        try:
            is_same = folders.with_file(self._home, names, _hash) == entry.reference["sha256"]
        except FileNotFoundError:
            return None  # gone again: the recording will notice
        except OSError:
            return self._refused(entry, reasons.FAILED, "something else lies in its place")
        return None if is_same else _conflict()

    def _record(self, names: paths.Names, entry: Entry) -> bool:
        """Return whether the file is still there; where it is, it is recorded, if the database can be used."""
        now = self._clock()
        cutoff = now - self._limits.output_max_age_days * _DAY
        total_max = self._limits.output_total_max_bytes

        def work(writing: Connection) -> bool:
            if not folders.is_there(self._home, names):
                return False
            inventory.record(writing, entry, now)
            too_much = inventory.choose_for_space(writing, total_max, cutoff, entry.path)
            remove_all(writing, self._home, too_much, now)
            return True

        try:
            return self._database.write(work)
        except DatabaseFault:
            return True  # the file is whole and where the reference says; cleanup enters it later

    def _refused(self, entry: Entry, reason: str, detail: str) -> Reference:
        now = self._clock()
        try:
            self._database.write(lambda writing: inventory.record_absence(writing, entry, reason, detail, now))
        except DatabaseFault as fault:
            detail = f"{detail}; not recorded: {fault.detail}"
        return {"reason": reason, "detail": detail}


def _describe(content: bytes, source: str, space: int) -> tuple[tuple[bytes, ...], Reference]:
    if len(content) <= space:
        lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
        return (content,), {"bytes": len(content), "lines": lines, "sha256": source}
    return _describe_part(part_of(content, space), len(content))


def _describe_part(part: Part, total_bytes: int) -> tuple[tuple[bytes, ...], Reference]:
    digest = sha256()
    for piece in part.pieces:
        digest.update(piece)
    line_ends = sum(piece.count(b"\n") for piece in part.pieces)
    return part.pieces, {
        "bytes": sum(map(len, part.pieces)),
        "lines": line_ends + (not part.pieces[-1].endswith(b"\n")),
        "sha256": digest.hexdigest(),
        "partial": True,
        "total_bytes": total_bytes,
        "gone_bytes": part.gone_bytes,
        "gone_line_ends": part.gone_lines,
        "gone_at_line": part.marker_line,
    }


def _hash(file: int) -> str:
    digest = sha256()
    position = 0
    while block := os.pread(file, _BLOCK, position):
        digest.update(block)
        position += len(block)
    return digest.hexdigest()


def _conflict() -> Reference:
    return {
        "reason": reasons.CONFLICT,
        "detail": "these ids are already cited for other content, which is kept",
    }


def _session_full(limits: Limits) -> str:
    return f"the session's outputs take all of output_session_max_bytes ({limits.output_session_max_bytes})"
