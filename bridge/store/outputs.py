"""Complete outputs on disk: written whole or not at all, paged by lines, and gone only with a reason.

docs/outputs.md says what is kept, where, for how long, and what each reason means. This module is the door;
the modules behind it (``bridge.store``) are entered at the first call, because SQLite and hashing take longer
to import than a worker has to answer its first request.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.limits import Limits
from bridge.protocol.errors import InvalidParams
from bridge.protocol.names import check_identifiers

if TYPE_CHECKING:
    from bridge.store.database import Database
    from bridge.store.reader import Reader
    from bridge.store.retention import Retention
    from bridge.store.writer import Writer


class Outputs:
    """The outputs under one home. ``clock`` gives seconds since 1970, for ages and records."""

    def __init__(self, home: Path, limits: Limits, clock: Callable[[], float] = time.time) -> None:
        self.home = Path(home).absolute()
        self.limits = limits
        self.clock = clock

    def store(self, session_id: str, call_id: str, content: bytes, *, field: str | None = None) -> dict[str, Any]:
        """Keep the complete output of a call and return its reference: path, bytes, lines, sha256.

        ``field`` names the member of the result that ``content`` is, and comes back in the reference. The
        same content again changes nothing and gives the same reference. What cannot be kept gives ``reason``
        (conflict, quota, failed) and ``detail`` instead: a fault of the disk is never raised.
        Raises ``InvalidParams`` for ids that are not names; the caller is to blame.
        """
        check_identifiers(session_id=session_id, call_id=call_id)
        return self._writer.store(session_id, call_id, content, field)

    def store_attachment(self, session_id: str, call_id: str, content: bytes, media_type: str) -> dict[str, Any]:
        """Keep an attachment and return its reference: path, bytes, sha256, media_type.

        It is kept whole or not at all (``reason`` too_large): a part of an image is no image. Otherwise as
        ``store``, but a call may have any number of attachments.
        """
        check_identifiers(session_id=session_id, call_id=call_id)
        return self._writer.store_attachment(session_id, call_id, content, media_type)

    def read(
        self, session_id: str, call_id: str, offset: int = 1, column: int = 1, limit: int = 2000
    ) -> dict[str, Any]:
        """Return one page of a stored output: complete lines from line ``offset``, both counted from 1.

        At most ``limit`` lines, and at most ``model_max_bytes`` of JSON for the whole page. ``next_offset``
        is the first line not shown, null at the end; a line too long for a page goes on at ``next_column``
        (code points). The pages joined are the file.
        Raises ``InvalidParams`` (the caller is to blame), ``OutputMissing`` when the output is gone or was
        changed by someone else, and ``StoreUnavailable`` when the home cannot be read.
        """
        check_identifiers(session_id=session_id, call_id=call_id)
        _check_counts(offset=offset, column=column, limit=limit)
        return self._reader.read(session_id, call_id, offset, column, limit)

    def cleanup(self, *, force: bool = True) -> dict[str, Any]:
        """Remove what is expired, beyond the quota or abandoned; return what was removed and why.

        Without ``force``, does nothing unless an hour has gone by since any worker of this home did it, and
        works for a fiftieth of a second; ``more`` says whether to ask again. Never raises for a fault of the
        disk; ``reason`` then says why nothing was done.
        """
        return self._retention.cleanup(force=force)

    def close(self) -> None:
        """Close the database; the next use opens it again."""
        if "_database" in self.__dict__:
            self._database.close()

    @cached_property
    def _database(self) -> Database:
        from bridge.store.database import Database  # noqa: PLC0415 - see the head of this file

        return Database(self.home, self.clock)

    @cached_property
    def _writer(self) -> Writer:
        from bridge.store.writer import Writer  # noqa: PLC0415 - see the head of this file

        return Writer(self.home, self._database, self.limits, self.clock)

    @cached_property
    def _reader(self) -> Reader:
        from bridge.store.reader import Reader  # noqa: PLC0415 - see the head of this file

        return Reader(self.home, self._database, self.limits)

    @cached_property
    def _retention(self) -> Retention:
        from bridge.store.retention import Retention  # noqa: PLC0415 - see the head of this file

        return Retention(self.home, self._database, self.limits, self.clock)


def _check_counts(**counts: object) -> None:
    wrong = {name: value for name, value in counts.items() if type(value) is not int or value < 1}
    if wrong:
        raise InvalidParams({"fields": dict.fromkeys(wrong, "a whole number, at least 1")})
