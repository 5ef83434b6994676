"""What a home holds, as rows that every command and its ``--json`` share.

Looking changes nothing but that a damaged ledger is set aside, and a home that does not exist yet has nothing in it.
Saved projections are read defensively: a home may have been written by an older version, and a row may be damaged.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from bridge.commands.failures import CommandError
from bridge.protocol.errors import StoreUnavailable
from bridge.settings import default_home
from bridge.store.database import Database, DatabaseFault
from bridge.store.names import LEDGER

Row = dict[str, Any]
T = TypeVar("T")

# What a policy says of a page of a file: the file itself has the rest.
_FILE_ON_DISK = "file_on_disk"

_SESSIONS = (
    "SELECT session_id, (SELECT count(*) FROM projections p WHERE p.session_id = s.session_id),"
    " (SELECT count(*) FROM files f WHERE f.session_id = s.session_id), bytes, last_active"
    " FROM sessions s ORDER BY last_active"
)
_FILES = "SELECT call_id, path, bytes, reference, stored_at FROM files WHERE session_id = ? ORDER BY id"
_GONE = "SELECT call_id, path, reason, detail, absent_since FROM absences WHERE session_id = ? ORDER BY absent_since"
# Every column: a home of an older version, which may only be read, has none for the subject.
_CALLS = "SELECT * FROM projections WHERE (? IS NULL OR session_id = ?) AND saved_at >= ? ORDER BY id"


def home() -> Path:
    """Return the home that the environment names."""
    return default_home(os.environ)


def sessions(home: Path) -> list[Row]:
    """Return each session with its calls, files, their bytes and when it was last active, the oldest first."""
    names = ("session_id", "calls", "files", "bytes", "last_active")
    return [dict(zip(names, row, strict=True)) for row in _fetch(home, _SESSIONS)]


def files(home: Path, session_id: str) -> list[Row]:
    """Return each output and attachment of a session; what is gone has ``gone`` with the reason and ``gone_at``."""
    kept = [
        _file(home, call, path) | {"bytes": size, "lines": json.loads(reference).get("lines"), "stored_at": at}
        for call, path, size, reference, at in _fetch(home, _FILES, session_id)
    ]
    lost = [
        _file(home, call, path) | {"gone": reason, "detail": detail, "gone_at": at}
        for call, path, reason, detail, at in _fetch(home, _GONE, session_id)
    ]
    return kept + lost


def _file(home: Path, call_id: str, path: str) -> Row:
    kind = "attachment" if path.startswith("attachments/") else "output"
    return {"call_id": call_id, "kind": kind, "path": os.fsdecode(home / path), "gone": None}


def calls(home: Path, session_id: str | None = None, since: float | None = None) -> list[Row]:
    """Return each saved call in order: what it was, what it cost, what was lost; ``content`` is not among it."""
    return _calls(home, session_id, since, account)


def replayed(home: Path, session_id: str) -> list[Row]:
    """Return each saved call of a session in order, with the ``content`` that the model read."""
    return _calls(
        home, session_id, None, lambda row: account(row) | {"content": _projection(row["projection"])["model_content"]}
    )


def _calls(home: Path, session_id: str | None, since: float | None, make: Callable[[Any], Row]) -> list[Row]:
    def work(reading: sqlite3.Connection) -> list[Row]:
        found = reading.execute(_CALLS, (session_id, session_id, since or 0))
        columns = [column[0] for column in found.description]
        return [make(dict(zip(columns, row, strict=True))) for row in found]

    return _read(home, work, [])


def account(row: Row) -> Row:
    """Return what a saved projection says of its call; members that it lacks are None."""
    saved = _projection(row["projection"])
    subject = _object(row.get("subject") or "")
    content, policy = saved["model_content"], saved["model_content_policy"]
    read = _object(content)
    size = len(content.encode("utf-8", "surrogatepass"))
    return {
        **{name: row[name] for name in ("session_id", "call_id", "sequence")},
        "time": row["saved_at"],
        "tool": _text(read.get("tool")) or _text(subject.get("tool")),
        "ok": read.get("ok") if isinstance(read.get("ok"), bool) else None,
        "subject": _text(subject.get("text")),
        "kind": policy.get("kind"),
        "cut": bool(policy.get("truncated")),
        "bytes_before": max(size, _count(policy.get("total_bytes"))),
        "bytes_model": size,
        "lines_before": policy.get("total_lines"),
        "cleaned": policy.get("cleaned"),
        "losses": [loss for loss in _list(policy.get("losses")) if isinstance(loss, dict)],
        "output": saved["output"],
        "policy": policy,
        "attachments": len(_list(saved.get("attachments"))),
    }


def _projection(text: str) -> Row:
    """Return a saved projection with the members that are read here, each of its type."""
    saved = _object(text)
    content = saved.get("model_content")
    return {
        **saved,
        "model_content": content if isinstance(content, str) else "",
        "model_content_policy": _mapping(saved.get("model_content_policy")),
        "output": _mapping(saved.get("output")),
    }


def _object(text: str) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(text))
    except (ValueError, RecursionError, TypeError):
        return {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


def lost_for_good(home: Path, rows: list[Row]) -> Iterator[Row]:
    """Yield what no file has any more: where it was lost, how much, and why."""
    gone: dict[str, dict[str, str | None]] = {}
    for row in rows:
        for loss in row["losses"]:
            reason = loss.get("reason")
            if loss.get("recover") == _FILE_ON_DISK:
                continue
            if loss.get("recover") is not None:
                session = row["session_id"]
                gone[session] = gone.get(session) or _reasons(home, session)
                reason = gone[session].get(row["call_id"], "damaged")
            if reason is not None:
                amount = {key: loss.get(key) for key in ("at", "bytes", "lines")}
                yield {key: row[key] for key in ("session_id", "call_id", "tool")} | amount | {"reason": reason}


def _reasons(home: Path, session_id: str) -> dict[str, str | None]:
    """Return for each call of a session why its output cannot be read, None when it can."""
    outputs = [file for file in files(home, session_id) if file["kind"] == "output"]
    there = {file["call_id"]: None if Path(file["path"]).exists() else "damaged" for file in outputs}
    return there | {file["call_id"]: file["gone"] for file in outputs if file["gone"]}


def check_session(home: Path, session_id: str) -> None:
    """Raise ``CommandError`` when nothing is known of a session."""
    known = _fetch(home, "SELECT 1 FROM sessions WHERE session_id = ? LIMIT 1", session_id)
    if not known:
        raise CommandError(
            f"There is no session {session_id} in {home}; rind-bridge outputs lists those that there are."
        )


def _fetch(home: Path, query: str, *given: object) -> list[Any]:
    return _read(home, lambda reading: reading.execute(query, given).fetchall(), [])


def _read(home: Path, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
    if home.exists() and not home.is_dir():
        raise CommandError(f"{home} is not a folder; set RIND_BRIDGE_HOME to one.")
    try:
        # Not exists: some versions of Python say no of what they may not look at.
        (home / LEDGER).stat()
    except FileNotFoundError:
        return nothing
    try:
        return Database(home).read(work)
    except DatabaseFault as fault:
        raise StoreUnavailable({"reason": fault.reason, "detail": fault.detail}) from fault
