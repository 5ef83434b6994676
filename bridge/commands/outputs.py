"""``rind-bridge outputs``: which sessions, calls and files there are, and the lines of a complete output."""

from __future__ import annotations

import itertools
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rich.console import RenderableType
from rich.text import Text

from bridge.commands import drawing, history
from bridge.commands.failures import CommandError
from bridge.commands.history import Row
from bridge.commands.losses import where
from bridge.commands.safe_text import json_text, shown, shown_line
from bridge.limits import Limits
from bridge.protocol.errors import OutputMissing
from bridge.store.outputs import Outputs

Line = tuple[int, bytes]


def run(  # noqa: PLR0913 - the options of the command line
    session: str | None,
    call: str | None,
    offset: int,
    limit: int | None,
    grep: str | None,
    *,
    raw: bool,
    as_json: bool,
) -> int:
    """List sessions, list a session's calls, or print the lines of one output."""
    home, now = history.home(), time.time()
    if session is None:
        rows = history.sessions(home)
        return _list(rows, draw_sessions(home, rows, now), as_json=as_json)
    history.check_session(home, session)
    if call is None:
        rows = calls_and_files(session)
        return _list(rows, draw_calls(rows, now), as_json=as_json)
    pattern = None if grep is None else _pattern(grep)
    with _opened(session, call) as file:
        lines = itertools.islice(_lines(file, offset, pattern), limit)
        return _write_json(lines) if as_json else _write(lines, raw=raw, numbers=pattern is not None)


def _list(rows: list[Row], drawn: RenderableType, *, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json_text(rows) + "\n")
    else:
        drawing.show(drawing.console(), [drawn])
    return 0


def calls_and_files(session: str) -> list[Row]:
    """Return a row for each file of a session, and one for each call that has none; calls in their order."""
    files: dict[str, list[Row]] = {}
    for file in history.files(history.home(), session):
        files.setdefault(file["call_id"], []).append(file)
    rows = []
    for call in history.calls(history.home(), session):
        known = {"tool": call["tool"], "subject": call["subject"], "time": call["time"]}
        none = {"call_id": call["call_id"], "kind": None, "path": None, "gone": None, "why_none": where(call["output"])}
        rows += [known | file for file in files.pop(call["call_id"], [none])]
    unsaved = {"tool": None, "subject": None, "time": None}
    return rows + [unsaved | file for found in files.values() for file in found]


def draw_sessions(home: Path, rows: list[Row], now: float) -> RenderableType:
    """Return the table of sessions."""
    if not rows:
        return Text(f"No session is kept in {shown_line(home)}.")
    columns = ("session", "calls", "files", "bytes", "last active")
    return drawing.table(
        columns,
        [(row["session_id"], row["calls"], row["files"], row["bytes"], _ago(row["last_active"], now)) for row in rows],
    )


def draw_calls(rows: list[Row], now: float) -> RenderableType:
    """Return the table of a session's calls and their files."""
    cells = [
        (
            row["call_id"],
            row["tool"],
            row["subject"],
            _ago(row.get("stored_at") or row["time"], now),
            row.get("bytes"),
            row.get("lines"),
            _place(row, now),
        )
        for row in rows
    ]
    return drawing.table(("call", "tool", "about", "age", "bytes", "lines", "where"), cells)


def _place(row: Row, now: float) -> str:
    if row["gone"]:
        return f"gone since {_ago(row['gone_at'], now)}: {row['gone']}"
    return str(row["path"] or row["why_none"])


def _ago(then: float | None, now: float) -> str | None:
    return None if then is None else drawing.ago(now - then)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise CommandError(f"--grep {shown_line(text)} is not a Python expression: {error}.") from None


def _opened(session: str, call: str) -> BinaryIO:
    """Open a complete output that is what was written; raises ``CommandError`` that says why it is not there."""
    store = Outputs(history.home(), Limits())
    try:
        page = store.read(session, call, 1, 1, 1)
    except OutputMissing as missing:
        if (missing.data or {}).get("reason") == "never_stored":
            raise CommandError(_why_none(session, call)) from None
        raise
    # The bytes of the file, not the page: a page has U+FFFD for what is not UTF-8.
    return os.fdopen(os.open(page["path"], os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")


def _why_none(session: str, call: str) -> str:
    rows = [row for row in calls_and_files(session) if row["call_id"] == call]
    if not rows:
        return f"Session {session} has no call {call}; rind-bridge outputs {session} lists its calls."
    attachments = [str(row["path"]) for row in rows if row["kind"] == "attachment" and not row["gone"]]
    if attachments:
        return f"Call {call} has no output but attachments: {', '.join(attachments)}"
    why = rows[0].get("why_none") or "its output was never stored"
    return f"Call {call} has no stored output: {why}. rind-bridge replay {session} {call} shows what the model read."


def _lines(file: BinaryIO, offset: int, pattern: re.Pattern[str] | None) -> Iterator[Line]:
    for number, line in enumerate(file, 1):
        if number >= offset and (pattern is None or pattern.search(line.decode("utf-8", "replace"))):
            yield number, line


def _write_json(lines: Iterator[Line]) -> int:
    rows = [{"line": number, "text": line.decode("utf-8", "replace")} for number, line in lines]
    sys.stdout.write(json_text(rows) + "\n")
    return 0


def _write(lines: Iterator[Line], *, raw: bool, numbers: bool) -> int:
    written = 0

    def counted() -> Iterator[bytes]:
        nonlocal written
        for number, line in lines:
            written += 1
            yield (b"%d:" % number if numbers else b"") + line

    if sys.stdout.isatty() and not raw:
        drawing.page(shown(line.decode("utf-8", "backslashreplace")) for line in counted())
    else:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(counted())
    if numbers and not written:
        raise CommandError("No line matches.")
    return 0
