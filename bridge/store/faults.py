"""The fault that comes out of the database, apart from it so that naming it does not import SQLite."""

from __future__ import annotations


class DatabaseFault(Exception):
    """The SQLite file could not be read or written; nobody who called is to blame.

    ``reason`` is a word of ``bridge.store.reasons``, ``detail`` a short text for a person, without contents.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
