"""Saved model projections: the same ids again give back the same bytes, and a session replays in order.

They lie in the SQLite file of the home (``bridge.store.database``). A fault never stops a call: what could not be
saved says so in its policy, waits in memory, and is saved later (``Ledger.save_pending``).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import orjson

from bridge.limits import Limits
from bridge.protocol.errors import InvalidParams, StoreUnavailable
from bridge.protocol.names import check_identifiers
from bridge.protocol.reasons import DAMAGED, NEVER_SAVED, NOT_JSON, QUOTA, TOO_DEEP
from bridge.store import inventory, schema
from bridge.store.database import Database, DatabaseFault, check_types

# A page of replay ends before this many bytes of projections, so that no reply fills a pipe for seconds.
REPLAY_PAGE_BYTES = 8_388_608
# What waits in memory to be saved: a few hundred calls.
PENDING_MAX_BYTES = 8_388_608
# Media that could not be stored as files are in the answer as base64; of that, so much is saved for each call.
MEDIA_MAX_BYTES = 4_096
# Ruby's JSON reads 100 levels; around an item of a page are an array and two objects, and a batch is one more.
ITEM_MAX_LEVELS = 96
SUBJECT_MAX_CHARS = 200
# Projections that one call removes to make space; ``cleanup`` removes what is left.
_REMOVED_AT_ONCE = 64

_SQLITE_MAX = 2**63 - 1

_FIND = "SELECT projection FROM projections WHERE session_id = ? AND call_id = ?"
_SAVE = (
    "INSERT INTO projections (session_id, call_id, sequence, saved_at, projection, subject) VALUES (?, ?, ?, ?, ?, ?)"
)
_ITEMS = "SELECT sequence, call_id, saved_at, projection FROM projections WHERE session_id = ?"

Projection = dict[str, Any]
Ids = tuple[str, str]

# What every projection has, and of which type it is; a row that lacks one was changed by somebody else.
_MEMBERS = {"model_content": str, "model_content_policy": dict, "attachments": list, "output": dict}


@dataclass(frozen=True, slots=True)
class _Row:
    """A projection that is to be saved, as it will stand in its row."""

    ids: Ids
    saved_at: float
    text: str
    subject: str | None

    @property
    def bytes(self) -> int:
        """The size as the quotas count it."""
        return len(self.text.encode())


class Ledger:
    """The saved projections under one home.

    ``clock`` gives seconds since 1970. ``database`` is that of the home, where ``Outputs`` of it are used as
    well; without it, one is made.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], float] = time.time,
        limits: Limits | None = None,
        database: Database | None = None,
    ) -> None:
        self.home = Path(home).absolute()
        self.clock = clock
        self.limits = limits or Limits()
        self.database = database or Database(self.home, clock)
        self._pending: dict[Ids, tuple[_Row, dict[str, Any]]] = {}  # and what the policy says of each

    def find(self, session_id: str, call_id: str) -> Projection | None:
        """Return the projection that is saved under these ids, or None: there is none, or it cannot be read."""
        check_identifiers(session_id=session_id, call_id=call_id)
        ids = (session_id, call_id)
        try:
            found = self.database.read(lambda reading: _find(reading, ids))
        except DatabaseFault:
            found = None
        return found if found or ids not in self._pending else self._not_yet_saved(ids)

    def save(
        self, session_id: str, call_id: str, projection: Projection, subject: Mapping[str, Any] | None = None
    ) -> Projection:
        """Keep ``projection`` unless one is kept under these ids, and return the one that is kept.

        ``subject`` says for a person which call it is: ``tool``, ``status`` and ``text`` (its command or path).
        When the projection cannot be kept, gives it with ``model_content_policy.ledger`` saying why (``reason``
        and ``detail``); ``pending`` in it says that it waits in memory to be saved. Raises ``InvalidParams`` for
        ids that are not names; the caller is to blame.
        """
        check_identifiers(session_id=session_id, call_id=call_id)
        ids = (session_id, call_id)
        if self._pending and self.save_pending() and ids in self._pending:
            return self._not_yet_saved(ids)
        try:
            row = _Row(ids, self.clock(), _encode(projection), _subject_text(subject))
        except (TypeError, ValueError, RecursionError) as error:
            return _unsaved(projection, {"reason": NOT_JSON, "detail": type(error).__name__})
        try:
            return self.database.write(lambda writing: self._save(writing, row)) or projection
        except DatabaseFault as fault:
            return _unsaved(projection, self._put_off(row, fault))

    def save_pending(self) -> int:
        """Save what could not be saved when it was made; return how many projections still wait for it.

        For whoever calls ``save``, when there is nothing else to do and at the end: what still waits then is lost.
        """
        for ids, (row, _) in list(self._pending.items()):
            try:
                self.database.write(lambda writing, row=row: self._save(writing, row))  # type: ignore[misc]
            except DatabaseFault as fault:
                if _may_pass(fault):
                    break
            self._pending.pop(ids, None)
        return len(self._pending)

    def forget_pending(self, session_id: str) -> None:
        """Drop what still waits to be saved for a session that is forgotten."""
        for ids in list(self._pending):
            if ids[0] == session_id:
                self._pending.pop(ids, None)

    def lookup(self, session_id: str, call_id: str) -> dict[str, Any]:
        """Return one saved projection: session_id, call_id and ``item``, as an item of ``replay``.

        ``item`` is null when there is none; ``reason`` then says why, and ``time`` since when it is gone.
        Raises ``InvalidParams`` (the caller is to blame) and ``StoreUnavailable``.
        """
        check_identifiers(session_id=session_id, call_id=call_id)
        self.save_pending()
        found, gone = self._read(
            lambda reading: (
                [_item(row) for row in reading.execute(f"{_ITEMS} AND call_id = ?", (session_id, call_id))],
                _gone(reading, session_id),
            )
        )
        head = {"session_id": session_id, "call_id": call_id}
        if found:
            return {**head, "item": found[0]}
        if (session_id, call_id) in self._pending:
            waiting = {"sequence": None, "call_id": call_id, "time": self._pending[session_id, call_id][0].saved_at}
            return {**head, "item": waiting | _readable(self._not_yet_saved((session_id, call_id)))}
        return {**head, "item": None, **(gone or {"reason": NEVER_SAVED})}

    def replay(self, session_id: str, after: int = 0, limit: int = 500) -> dict[str, Any]:
        """Return the saved projections of a session in order: session_id, items, next_after.

        At most ``limit`` items whose sequence is above ``after``, and about 8 MiB of them. Each item is a
        projection with ``sequence`` (1, 2, 3 ...), ``call_id`` and ``time`` (seconds since 1970).
        ``next_after`` is the ``after`` of the next page, null at the end. ``gone`` (reason, time) is there when
        earlier projections of the session were removed, ``pending`` when so many still wait to be saved.
        Raises ``InvalidParams`` (the caller is to blame) and ``StoreUnavailable``.
        """
        check_identifiers(session_id=session_id)
        _check_range("after", after, 0)
        _check_range("limit", limit, 1)
        self.save_pending()
        items, more, gone = self._read(
            lambda reading: (*_page(reading, session_id, after, limit), _gone(reading, session_id))
        )
        pending = sum(session == session_id for session, _ in list(self._pending))
        return {
            "session_id": session_id,
            "items": items,
            "next_after": items[-1]["sequence"] if more else None,
            **({"gone": gone} if gone else {}),
            **({"pending": pending} if pending else {}),
        }

    def close(self) -> None:
        """Save what waits for it, if that can be done now, and close the database; the next use opens it again."""
        self.save_pending()
        self.database.close()

    def _read(self, work: Callable[[Connection], Any]) -> Any:
        try:
            return self.database.read(work)
        except DatabaseFault as fault:
            raise StoreUnavailable({"reason": fault.reason, "detail": fault.detail}) from fault

    def _save(self, writing: Connection, row: _Row) -> Projection | None:
        """Return None when the row is new, else the projection that was there first."""
        session_id, call_id = row.ids
        if found := _find(writing, row.ids):
            return found
        used, sequence = writing.execute(
            "SELECT CAST(projection_bytes AS INTEGER), CAST(last_sequence AS INTEGER) FROM sessions"
            " WHERE session_id = ?",
            (session_id,),
        ).fetchone() or (0, 0)
        limits = self.limits
        if used + row.bytes > min(limits.output_session_max_bytes, limits.output_total_max_bytes):
            raise DatabaseFault(QUOTA, "the session's saved projections take all of output_session_max_bytes")
        writing.execute(_SAVE, (session_id, call_id, sequence + 1, row.saved_at, row.text, row.subject))
        going = inventory.projections_for_space(writing, limits.output_total_max_bytes, _REMOVED_AT_ONCE, session_id)
        inventory.strike_projections(writing, going, QUOTA, row.saved_at)
        return None

    def _put_off(self, row: _Row, fault: DatabaseFault) -> dict[str, Any]:
        """Let the row wait for ``save_pending`` if that may help, and return what the policy says of it."""
        why = {"reason": fault.reason, "detail": fault.detail}
        waiting = sum(other.bytes for other, _ in list(self._pending.values()))
        if not _may_pass(fault) or waiting + row.bytes > PENDING_MAX_BYTES:
            return why
        self._pending[row.ids] = row, {**why, "pending": True}
        return self._pending[row.ids][1]

    def _not_yet_saved(self, ids: Ids) -> Projection:
        row, why = self._pending[ids]
        return _unsaved(_decode(row.text), why)


def _may_pass(fault: DatabaseFault) -> bool:
    return fault.reason not in (DAMAGED, QUOTA)


def _find(reading: Connection, ids: Ids) -> Projection | None:
    row = reading.execute(_FIND, ids).fetchone()
    return _decode(row[0]) if row else None


def _page(reading: Connection, session_id: str, after: int, limit: int) -> tuple[list[Projection], bool]:
    items: list[Projection] = []
    size = 0
    rows = reading.execute(f"{_ITEMS} AND sequence > ? ORDER BY sequence LIMIT ?", (session_id, after, limit + 1))
    for row in rows:
        if len(items) == limit:
            return items, True
        item = _item(row)
        size += len(row[3])
        if items and size > REPLAY_PAGE_BYTES:
            return items, True
        items.append(item)
    return items, False


def _item(row: tuple[int, str, float, str]) -> Projection:
    sequence, call_id, saved_at, text = row
    check_types((sequence, int), (call_id, str), (saved_at, int | float))
    return {"sequence": sequence, "call_id": call_id, "time": saved_at, **_readable(_decode(text))}


def _readable(projection: Projection) -> Projection:
    """Return ``projection`` without what is nested so deep that no client could read a reply with it."""
    shallow, cut = _shallow(projection, ITEM_MAX_LEVELS)
    why = {"reason": TOO_DEEP, "detail": f"shown to {ITEM_MAX_LEVELS} levels; what is deeper is null"}
    return _unsaved(shallow, why) if cut else projection


def _shallow(value: Any, levels: int) -> tuple[Any, bool]:
    """Return ``value`` with null for each array and object beyond ``levels``, and whether there was one."""
    if not isinstance(value, list | dict):
        return value, False
    if not levels:
        return None, True
    children = [_shallow(child, levels - 1) for child in (value.values() if isinstance(value, dict) else value)]
    kept = [child for child, _ in children]
    cut = any(was_cut for _, was_cut in children)
    return (dict(zip(value, kept, strict=True)) if isinstance(value, dict) else kept), cut


def _gone(reading: Connection, session_id: str) -> dict[str, Any] | None:
    if schema.version(reading) < schema.COUNTS_PROJECTIONS:
        return None  # of an earlier version, and nobody may write it: nothing was ever removed
    found = reading.execute(
        "SELECT gone_reason, gone_since FROM sessions WHERE session_id = ? AND gone_reason IS NOT NULL", (session_id,)
    ).fetchone()
    if not found:
        return None
    check_types((found[0], str), (found[1], int | float))
    return {"reason": found[0], "time": found[1]}


def _encode(projection: Projection) -> str:
    attachments = projection.get("attachments")
    saved = {**projection, "attachments": _without_media(attachments)} if attachments else projection
    try:
        return orjson.dumps(saved).decode()
    except TypeError:
        # Integers beyond 64 bits, lone surrogates, deep nesting: the standard library writes them all.
        return json.dumps(saved, allow_nan=False)


def _without_media(attachments: list[Any]) -> list[Any]:
    """Leave out base64 beyond the bound: type, size and hash stay, and the reason why there is no file."""
    left = MEDIA_MAX_BYTES
    kept = []
    for item in attachments:
        size = len(item["data"]) if isinstance(item, dict) and isinstance(item.get("data"), str) else 0
        kept.append(item if size <= left else {name: value for name, value in item.items() if name != "data"})
        left -= size if size <= left else 0
    return kept


def _subject_text(subject: Mapping[str, Any] | None) -> str | None:
    if subject is None:
        return None
    return json.dumps({name: str(value)[:SUBJECT_MAX_CHARS] for name, value in subject.items() if value is not None})


def _decode(text: object) -> Projection:
    # Not orjson: it would make a float of an integer beyond 64 bits.
    try:
        projection = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        projection = None
    if not isinstance(projection, dict):
        raise DatabaseFault(DAMAGED, "a saved projection is not what was saved any more")
    if not all(isinstance(projection.get(name), kind) for name, kind in _MEMBERS.items()):
        raise DatabaseFault(DAMAGED, "a saved projection is not what was saved any more")
    return projection


def _unsaved(projection: Projection, why: Mapping[str, Any]) -> Projection:
    policy = {**projection["model_content_policy"], "ledger": dict(why)}
    return {**projection, "model_content_policy": policy}


def _check_range(field: str, value: object, smallest: int) -> None:
    if type(value) is not int or not smallest <= value < _SQLITE_MAX:
        raise InvalidParams({"fields": {field: f"a whole number from {smallest} to {_SQLITE_MAX - 1}"}})
