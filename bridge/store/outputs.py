"""Complete outputs on disk: written whole or not at all, paged by lines, and gone only with a reason.

The file is what counts. A database that cannot be used takes nothing from a caller but the quotas and the
second look: the output is still written, its reference is still given, and the next cleanup enters it.
docs/outputs.md says what is kept, where, for how long, and what each reason means.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from bridge.limits import Limits
from bridge.protocol import reasons
from bridge.protocol.errors import StoreUnavailable
from bridge.protocol.names import check_identifiers
from bridge.store import files, inventory, names
from bridge.store.database import Database, DatabaseFault
from bridge.store.inventory import Entry, Known
from bridge.store.paging import PageReader
from bridge.store.partial import SMALLEST_SPACE, describe
from bridge.store.retention import Retention, cutoff

# Another worker may make space with our file between its writing and its recording: then once more.
_ATTEMPTS = 3

Reference = dict[str, Any]


class Outputs:
    """The outputs under one home.

    ``clock`` gives seconds since 1970, for ages and records. ``database`` is that of the home, where a
    ``Ledger`` of it is used as well; without it, one is made.
    """

    def __init__(
        self, home: Path, limits: Limits, clock: Callable[[], float] = time.time, database: Database | None = None
    ) -> None:
        self.home = Path(home).absolute()
        self.limits = limits
        self.clock = clock
        self.database = database or Database(self.home, clock)
        self._pages = PageReader(self.database, limits)
        self._retention = Retention(self.database, limits)

    def store(
        self, session_id: str, call_id: str, content: bytes, *, field: str | None = None, part: str = ""
    ) -> Reference:
        """Keep the complete output of a call and return its reference: path, bytes, lines, sha256.

        ``field`` names the member of the result that ``content`` is, and comes back in the reference. ``part``
        names a second output of the call, which gets a file of its own. The same content again changes nothing and
        gives the same reference. What cannot be kept gives ``reason`` (conflict, quota, failed) and ``detail``
        instead: a fault of the disk is never raised.
        Raises ``InvalidParams`` for ids that are not names; the caller is to blame.
        """
        path = names.output(session_id, call_id, part)
        source = sha256(content).hexdigest()
        known = self._look(path, session_id)
        if answer := self._kept_before(path, source, known):
            return answer
        space = self._space(known)
        entry = Entry(names.key(path), session_id, call_id, source, {})
        if space < min(len(content), SMALLEST_SPACE):
            return self._refused(entry, reasons.QUOTA, self._session_full())
        pieces, reference = describe(content, source, space)
        if field is not None:
            reference["field"] = field
        return self._keep(path, replace(entry, reference=reference), pieces)

    def store_attachment(self, session_id: str, call_id: str, content: bytes, media_type: str) -> Reference:
        """Keep an attachment and return its reference: path, bytes, sha256, media_type.

        It is kept whole or not at all (``reason`` too_large): a part of an image is no image. Otherwise as
        ``store``, but a call may have any number of attachments.
        """
        source = sha256(content).hexdigest()
        path = names.attachment(session_id, call_id, source, media_type)
        known = self._look(path, session_id)
        if answer := self._kept_before(path, source, known):
            return answer
        if len(content) > self.limits.output_file_max_bytes:
            detail = f"{len(content)} bytes; output_file_max_bytes is {self.limits.output_file_max_bytes}"
            return {"reason": reasons.TOO_LARGE, "detail": detail}
        reference = {"bytes": len(content), "sha256": source, "media_type": media_type}
        entry = Entry(names.key(path), session_id, call_id, source, reference)
        if len(content) > self._space(known):
            return self._refused(entry, reasons.QUOTA, self._session_full())
        return self._keep(path, entry, (content,))

    def read(  # noqa: PLR0913, PLR0917 - the parameters of the wire
        self, session_id: str, call_id: str, offset: int = 1, column: int = 1, limit: int = 2000, part: str = ""
    ) -> dict[str, Any]:
        """Return one page of a stored output: complete lines from line ``offset``, both counted from 1.

        At most ``limit`` lines, and at most ``model_max_bytes`` of JSON for the whole page. ``next_offset``
        is the first line not shown, null at the end; a line too long for a page goes on at ``next_column``
        (code points). The pages joined are the file.
        Raises ``InvalidParams`` (the caller is to blame), ``OutputMissing`` when the output is gone or was
        changed by someone else, and ``StoreUnavailable`` when the home cannot be read.
        """
        head = {"session_id": session_id, "call_id": call_id, "offset": offset, "column": column}
        return self._pages.read(names.output(session_id, call_id, part), head, limit)

    def cleanup(self, *, force: bool = True) -> dict[str, Any]:
        """Remove what is expired, beyond the quota or abandoned; return what was removed and why.

        Without ``force``, does nothing unless an hour has gone by since any worker of this home did it, and
        works for a fiftieth of a second; ``more`` says whether to ask again. Never raises for a fault of the
        disk; ``reason`` then says why nothing was done.
        """
        return self._retention.cleanup(force=force)

    def forget(self, session_id: str) -> dict[str, Any]:
        """Remove the outputs, attachments and saved projections of a session, and return what was removed.

        The answer has ``session_id``, ``removed`` and ``bytes`` as that of ``cleanup``, and ``left``: the paths of
        files that the disk did not let go. Whoever asks for what is gone is told the reason ``forgotten``. Raises
        ``InvalidParams`` (the caller is to blame) and ``StoreUnavailable``, when nothing was removed.
        """
        check_identifiers(session_id=session_id)
        now = self.clock()
        try:
            removed = self.database.erase(lambda writing: inventory.forget(writing, self.home, session_id, now))
        except DatabaseFault as fault:
            raise StoreUnavailable({"reason": fault.reason, "detail": fault.detail}) from fault
        return {
            "session_id": session_id,
            "removed": [item.to_json() for item in removed],
            "bytes": sum(item.bytes for item in removed),
            "left": self._retention.remove_unrecorded(session_id),
        }

    def close(self) -> None:
        """Close the database; the next use opens it again."""
        self.database.close()

    def _look(self, path: names.Names, session_id: str) -> Known:
        try:
            return self.database.read(lambda reading: inventory.look(reading, names.key(path), session_id))
        except DatabaseFault:
            return Known(None, None, 0)

    def _kept_before(self, path: names.Names, source: str, known: Known) -> Reference | None:
        if known.cited_sha256 is None:
            return None
        if known.cited_sha256 != source:
            return _conflict()
        if known.entry and self._is_there(path):
            return self._reference(path, known.entry)
        return None

    def _is_there(self, path: names.Names) -> bool:
        try:
            return files.is_there(self.home, path)
        except OSError:
            return False  # writing it will say what is wrong

    def _space(self, known: Known) -> int:
        # A file that is known and comes again takes its own place.
        own = known.entry.reference["bytes"] if known.entry else 0
        session_space = self.limits.output_session_max_bytes - known.session_bytes + own
        return min(self.limits.output_file_max_bytes, session_space, self.limits.output_total_max_bytes)

    def _keep(self, path: names.Names, entry: Entry, pieces: tuple[bytes, ...]) -> Reference:
        for _ in range(_ATTEMPTS):
            if refusal := self._write(path, entry, pieces):
                return refusal
            if self._record(path, entry):
                return self._reference(path, entry)
        return self._refused(entry, reasons.FAILED, "the file vanished as often as it was written")

    def _reference(self, path: names.Names, entry: Entry) -> Reference:
        return {"path": names.shown(self.home, path), **entry.reference}

    def _write(self, path: names.Names, entry: Entry, pieces: tuple[bytes, ...]) -> Reference | None:
        """Return None when the file is written or lies there already, else the reason why it does not."""
        try:
            files.write_new(self.home, path, pieces)
        except FileExistsError:
            return self._compare(path, entry)
        except OSError as error:
            return self._refused(entry, reasons.FAILED, error.strerror or type(error).__name__)
        return None

    def _compare(self, path: names.Names, entry: Entry) -> Reference | None:
        try:
            is_same = files.with_file(self.home, path, files.sha256_of) == entry.reference["sha256"]
        except FileNotFoundError:
            return None  # gone again: the recording will notice
        except OSError:
            return self._refused(entry, reasons.FAILED, "something else lies in its place")
        return None if is_same else _conflict()

    def _record(self, path: names.Names, entry: Entry) -> bool:
        """Return whether the file is still there; where it is, it is recorded, if the database can be used."""
        now = self.clock()
        since, total_max = cutoff(self.limits, now), self.limits.output_total_max_bytes

        def work(writing: Connection) -> bool:
            if not files.is_there(self.home, path):
                return False
            inventory.record(writing, entry, now)
            too_much = inventory.choose_for_space(writing, total_max, since, entry.path)
            inventory.remove_all(writing, self.home, too_much, now)
            return True

        try:
            return self.database.write(work)
        except DatabaseFault:
            return True  # the file is whole and where the reference says; cleanup enters it later

    def _refused(self, entry: Entry, reason: str, detail: str) -> Reference:
        now = self.clock()
        try:
            self.database.write(lambda writing: inventory.record_absence(writing, entry, reason, detail, now))
        except DatabaseFault as fault:
            detail = f"{detail}; not recorded: {fault.detail}"
        return {"reason": reason, "detail": detail}

    def _session_full(self) -> str:
        limit = self.limits.output_session_max_bytes
        return f"the session's outputs take all of output_session_max_bytes ({limit})"


def _conflict() -> Reference:
    return {
        "reason": reasons.CONFLICT,
        "detail": "these ids are already cited for other content, which is kept",
    }
