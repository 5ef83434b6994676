"""``rind-bridge report``: what tool results cost the conversation, and what of them is gone."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from bridge.commands import drawing, history
from bridge.commands.history import Row
from bridge.commands.losses import brief
from bridge.commands.report_html import write
from bridge.commands.safe_text import json_text

BYTES_PER_TOKEN = 4
RULES = {
    "tokens": f"one token for every {BYTES_PER_TOKEN} bytes that the model got, rounded up",
    "before": "bytes of the JSON that the model would have got of an uncut result; of a cut one, the bytes of its text,"
    " which are at most those of its JSON",
    "share": "part of all that the model read from tools",
}
COSTLIEST = 10


def run(session: str | None, since: float | None, html: str | None, *, as_json: bool) -> int:
    """Show the report, or write it as JSON or as a page."""
    home, now = history.home(), time.time()
    if session is not None:
        history.check_session(home, session)
    report = summarize(home, session, None if since is None else now - since)
    if html is not None:
        write(Path(html), report)
        sys.stdout.write(f"Written: {html}\n")
    elif as_json:
        sys.stdout.write(json_text(report) + "\n")
    else:
        drawing.show(drawing.console(), draw(report))
    return 0


def summarize(home: Path, session: str | None = None, since: float | None = None) -> dict[str, Any]:
    """Return the whole report: totals, tools, sessions, the costliest calls, what is lost for good."""
    calls = history.calls(home, session, since)
    total = sum(call["bytes_model"] for call in calls)
    return {
        "home": str(home),
        "session": session,
        "since": since,
        "rules": RULES,
        "total": _sums(calls, total),
        "tools": _groups(calls, total, "tool", lambda call: call["tool"] or "?"),
        "sessions": _groups(calls, total, "session_id", lambda call: call["session_id"]),
        "costliest": sorted(calls, key=lambda call: -call["bytes_model"])[:COSTLIEST],
        "lost": list(history.lost_for_good(home, calls)),
        "calls": [{key: call[key] for key in ("time", "tool", "bytes_model", "ok")} for call in calls],
    }


def _groups(calls: list[Row], total: int, name: str, key: Callable[[Row], str]) -> list[Row]:
    groups: dict[str, list[Row]] = {}
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    rows = [{name: value, **_sums(group, total)} for value, group in groups.items()]
    return sorted(rows, key=lambda row: -row["bytes_model"])


def _sums(calls: list[Row], total: int) -> Row:
    before, model = (sum(call[size] for call in calls) for size in ("bytes_before", "bytes_model"))
    return {
        "calls": len(calls),
        "failures": sum(call["ok"] is False for call in calls),
        "cut": sum(call["cut"] for call in calls),
        "bytes_before": before,
        "bytes_model": model,
        "saved": before - model,
        "share": round(model / total, 4) if total else 0.0,
        "tokens": -(-model // BYTES_PER_TOKEN),
    }


def draw(report: dict[str, Any]) -> Iterator[RenderableType]:
    """Yield the tables of a report."""
    total = report["total"]
    if not total["calls"]:
        yield Text(f"No call is saved in {report['home']} that matches.")
        return
    yield Text(
        f"{total['calls']:,} calls, {total['failures']:,} failed; {total['bytes_before']:,} bytes before,"
        f" {total['bytes_model']:,} for the model (about {total['tokens']:,} tokens),"
        f" {total['saved']:,} saved.",
        style="bold",
    )
    yield _sum_table("By tool", "tool", report["tools"])
    yield _sum_table("By session", "session_id", report["sessions"])
    yield drawing.table(
        ("session", "call", "tool", "about", "before", "model", "not read"),
        [_call_cells(row) for row in report["costliest"]],
        f"The {COSTLIEST} costliest calls",
    )
    yield _lost_table(report["lost"])
    for name, rule in report["rules"].items():
        yield Text(f"{name}: {rule}.", style="dim")


def _sum_table(title: str, name: str, rows: Iterable[Row]) -> RenderableType:
    columns = (name.removesuffix("_id"), "calls", "failed", "before", "model", "saved", "tokens", "share", "")
    sums = ("calls", "failures", "bytes_before", "bytes_model", "saved", "tokens")
    cells = [
        (row[name], *(row[key] for key in sums), f"{row['share']:.0%}", drawing.bar(row["share"], 10)) for row in rows
    ]
    return drawing.table(columns, cells, title)


def _call_cells(row: Row) -> tuple[Any, ...]:
    keys = ("session_id", "call_id", "tool", "subject", "bytes_before", "bytes_model")
    return (*(row[key] for key in keys), brief(row["losses"]))


def _lost_table(rows: list[Row]) -> RenderableType:
    if not rows:
        return Text("Nothing is lost for good.")
    keys = ("session_id", "call_id", "tool", "bytes", "reason")
    cells = [tuple(row[key] for key in keys) for row in rows]
    return drawing.table(("session", "call", "tool", "bytes", "why"), cells, "Lost for good")
