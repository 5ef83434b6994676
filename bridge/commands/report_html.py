"""The report as one page: charts and tables, readable in light and dark, with nothing loaded from elsewhere."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

from bridge.commands import charts
from bridge.commands.losses import brief
from bridge.commands.safe_text import shown_line

# The page has no script, and its policy lets none run, whatever a tool's name holds.
_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>What tool results cost</title>
<style>
  :root { color-scheme: light dark; --text: #1c2128; --page: #fff; --line: #d5dae0; --bar: #2563a8; --quiet: #57606a }
  @media (prefers-color-scheme: dark) {
    :root { --text: #e4e8ee; --page: #14181d; --line: #363d47; --bar: #6ea8e0; --quiet: #9aa4b0 }
  }
  body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
         max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  svg { width: 100%; height: auto; font-size: 13px } svg text { fill: var(--text) } svg .bar { fill: var(--bar) }
  table { border-collapse: collapse; width: 100%; font-size: 14px }
  th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
  .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
  p.rule { color: var(--quiet); font-size: 13px; margin: .2rem 0 }
</style>
"""

_SUMS = ("calls", "failures", "bytes_before", "bytes_model", "saved", "tokens")
_SUM_HEADINGS = ("calls", "failed", "bytes before", "bytes for the model", "saved", "tokens")


def write(file: Path, report: dict[str, Any]) -> None:
    """Write the page to ``file``, whole or not at all; raises ``OSError``."""
    number, made = tempfile.mkstemp(dir=file.parent, prefix=".report-")
    try:
        with os.fdopen(number, "w", encoding="utf-8") as opened:
            opened.writelines(page(report))
        Path(made).replace(file)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(made).unlink()
        raise


def page(report: dict[str, Any]) -> Iterator[str]:
    """Yield the page in pieces."""
    total = report["total"]
    yield _HEAD
    yield "<h1>What tool results cost</h1>"
    yield f"<p>{_text(report['session'] or 'All sessions')} in {_text(report['home'])}: {total['calls']:,} calls, "
    yield f"{total['failures']:,} failed; {total['bytes_before']:,} bytes before, {total['bytes_model']:,} for the "
    yield f"model (about {total['tokens']:,} tokens), {total['saved']:,} saved.</p>\n"
    if report["calls"]:
        yield from _charts(report)
        yield from _tables(report)
    yield from (f'<p class="rule">{_text(name)}: {_text(rule)}.</p>\n' for name, rule in report["rules"].items())
    yield "</html>\n"


def _charts(report: dict[str, Any]) -> Iterator[str]:
    yield "<h2>Calls over time</h2>\n"
    yield charts.columns("Calls over time", [call["time"] for call in report["calls"]], "calls")
    yield "\n<h2>Context by tool</h2>\n"
    yield charts.rows("Context by tool", [(row["tool"], row["bytes_model"]) for row in report["tools"]], "bytes")
    yield "\n<h2>Lost for good, by reason</h2>\n"
    reasons: dict[str, int] = {}
    for loss in report["lost"]:
        reasons[str(loss["reason"])] = reasons.get(str(loss["reason"]), 0) + 1
    yield charts.rows("Losses by reason", list(reasons.items()), "places") if reasons else "<p>Nothing.</p>"


def _tables(report: dict[str, Any]) -> Iterator[str]:
    for title, name in (("By tool", "tool"), ("By session", "session_id")):
        rows = report["tools" if name == "tool" else "sessions"]
        cells = [[row[name], *(row[key] for key in _SUMS), f"{row['share']:.0%}"] for row in rows]
        yield from _table(title, [name.removesuffix("_id"), *_SUM_HEADINGS, "share"], cells)
    keys = ("session_id", "call_id", "tool", "subject", "bytes_before", "bytes_model")
    costly = [[*(row[key] for key in keys), brief(row["losses"])] for row in report["costliest"]]
    headings = ["session", "call", "tool", "about", "bytes before", "bytes for the model", "not read"]
    yield from _table("The costliest calls", headings, costly)
    lost = [[row[key] for key in ("session_id", "call_id", "tool", "bytes", "reason")] for row in report["lost"]]
    if lost:
        yield from _table("Lost for good", ["session", "call", "tool", "bytes", "why"], lost)


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    yield f"\n<h2>{_text(title)}</h2>\n<table><tr>{''.join(f'<th>{_text(name)}</th>' for name in headings)}</tr>\n"
    for row in rows:
        yield f"<tr>{''.join(map(_cell, row))}</tr>\n"
    yield "</table>\n"


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{_text('-' if value is None else value)}</td>"


def _text(text: object) -> str:
    return escape(shown_line(text))
