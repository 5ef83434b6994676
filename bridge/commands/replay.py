"""``rind-bridge replay``: a session as the model read it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.panel import Panel
from rich.text import Text

from bridge.commands import content_view, drawing, history
from bridge.commands.failures import CommandError
from bridge.commands.history import Row
from bridge.commands.losses import in_words
from bridge.commands.safe_text import json_text, shown_line


def run(session: str, call: str | None, *, as_json: bool) -> int:
    """Show the saved calls of a session, or one of them."""
    rows = select(history.replayed(history.home(), session), session, call)
    if as_json:
        sys.stdout.write(json_text(rows) + "\n")
        return 0
    drawing.show(drawing.console(), draw(rows))
    return 0


def select(rows: list[Row], session: str, call: str | None) -> list[Row]:
    """Return the rows of ``call``, or all; raises ``CommandError`` that says what there is instead."""
    if not rows:
        history.check_session(history.home(), session)
        raise CommandError(f"No call of session {session} was saved; rind-bridge outputs {session} lists its files.")
    chosen = [row for row in rows if call in (None, row["call_id"])]
    if not chosen:
        raise CommandError(f"Session {session} has no call {call}; rind-bridge outputs {session} lists its calls.")
    return chosen


def draw(rows: Iterable[Row]) -> Iterator[RenderableType]:
    """Yield each call: its account in a line, the content, and what the model did not read."""
    for row in rows:
        yield _title(row)
        yield Panel(content_view.content(row["content"]), border_style="dim")
        yield from in_words(row["policy"], row["content"], row["output"])
        yield Text()


def _title(row: Row) -> Text:
    state = {True: ("ok", "green"), False: ("failed", "red"), None: ("unknown", "yellow")}[row["ok"]]
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row["time"]))
    name = " ".join(filter(None, (row["tool"] or "?", row["subject"])))
    facts = f"{row['call_id']}  {when}  {row['bytes_before']:,} bytes, {row['bytes_model']:,} for the model"
    return Text.assemble(
        (f"{row['sequence']}. {shown_line(name)}", "bold"), "  ", state, (f"  {shown_line(facts)}", "dim")
    )
