"""What the commands share when they draw: the console, tables and bars."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence

import click
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.commands.safe_text import shown_line

# A pipe has no width: a table takes what it needs there, and running text the width of a page.
_PIPE_WIDTH = 100_000
_PAGE_WIDTH = 100

_ASCII = str.maketrans("█░…·│─", "#.~-|-")
_UNKNOWN_CHARACTERS = "rind-bridge-characters"


def _replace_characters(error: UnicodeError) -> tuple[str, int]:
    """Write what the terminal's encoding lacks as ASCII: our own signs by likeness, all else as an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_ASCII)
    return text.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error(_UNKNOWN_CHARACTERS, _replace_characters)


def console() -> Console:
    """Return the console on standard output; it respects NO_COLOR, COLUMNS, pipes and other encodings than UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_UNKNOWN_CHARACTERS)
    known = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return Console(width=None if known else _PIPE_WIDTH, highlight=False, markup=False, emoji=False)


def page_width(where: Console) -> int:
    """Return the columns that running text and panels take."""
    return _PAGE_WIDTH if where.width == _PIPE_WIDTH else where.width


def show(where: Console, renderables: Iterable[RenderableType]) -> None:
    """Print ``renderables`` one after another; on a terminal through the person's pager."""
    if where.is_terminal:
        page(_rendered(where, renderables))
    else:
        draw_on(where, renderables)


def draw_on(where: Console, renderables: Iterable[RenderableType]) -> None:
    """Print ``renderables`` without a pager."""
    for renderable in renderables:
        # Into a pipe no sentence is wrapped and no table is squeezed: programs and searches read lines.
        soft = isinstance(renderable, Text) and where.width == _PIPE_WIDTH
        where.print(renderable, width=None if isinstance(renderable, Table) else page_width(where), soft_wrap=soft)


def page(texts: Iterable[str]) -> None:
    """Give texts to the pager; without settings of the person's own, one that ends by itself on a single screen."""
    os.environ.setdefault("LESS", "FRX")
    click.echo_via_pager(texts, color=True)


def _rendered(where: Console, renderables: Iterable[RenderableType]) -> Iterator[str]:
    for renderable in renderables:
        with where.capture() as captured:
            draw_on(where, [renderable])
        yield captured.get()


def table(columns: Sequence[str], rows: Iterable[Sequence[RenderableType | int | None]], title: str = "") -> Table:
    """Return a table; numbers stand right with thousands apart, None is a dash, and long texts are folded."""
    cells = [list(row) for row in rows]
    drawn = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False)
    for number, name in enumerate(columns):
        right = any(isinstance(row[number], int) for row in cells)
        drawn.add_column(name, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in cells:
        drawn.add_row(*map(_cell, row))
    return drawn


def _cell(value: RenderableType | int | None) -> RenderableType:
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return shown_line(value) if isinstance(value, str) else value


def heading(text: str) -> Text:
    """Return a heading with an empty line above it."""
    return Text(f"\n{shown_line(text)}", style="bold")


def bar(share: float, width: int = 20, style: str = "cyan") -> Text:
    """Return a bar of which ``share`` (0 to 1) is filled; anything above nothing fills at least one column."""
    filled = min(width, max(round(share * width), 1 if share > 0 else 0))
    return Text("█" * filled, style=style, no_wrap=True).append("░" * (width - filled), style="dim")


def ago(seconds: float) -> str:
    """Return a time span in its largest unit, such as ``3 days``."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            number = int(seconds // length)
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return "now"
