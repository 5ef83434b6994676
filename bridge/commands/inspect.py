"""``rind-bridge inspect``: what a tool result becomes, for the panel, for the person and for the model."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bridge.commands import content_view, drawing
from bridge.commands.failures import CommandError
from bridge.commands.losses import in_words
from bridge.commands.safe_text import json_text, shown, shown_line
from bridge.echo.preview import ui_preview
from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.protocol.names import Status
from bridge.settings import Settings
from bridge.store.outputs import Outputs

SESSION = "inspect"

# The narrowest terminal on which contents stand side by side.
_SIDE_BY_SIDE = 120


def run(  # noqa: PLR0913, PLR0917 - the options of the command line
    file: str,
    name: str,
    status: Status,
    args: dict[str, Any] | None,
    budget: int | None,
    lines: int | None,
    home: str | None,
    *,
    before: bool,
    as_json: bool,
) -> int:
    """Show what the result in ``file`` becomes."""
    settings = _settings(budget, lines, home)
    result = parse(_read(file))
    row = examine(result, settings, name=name, status=status, args=args, keep=home is not None)
    if as_json:
        sys.stdout.write(json_text(row) + "\n")
        return 0
    console = drawing.console()
    drawing.show(console, draw(row, drawing.page_width(console), before=before))
    return 0


def _settings(budget: int | None, lines: int | None, home: str | None) -> Settings:
    settings = Settings.from_environment(os.environ)
    given = {"model_max_bytes": budget, "model_max_lines": lines}
    limits = settings.limits.replace({name: value for name, value in given.items() if value is not None})
    return dataclasses.replace(settings, limits=limits, home=Path(home).absolute() if home else settings.home)


def _read(file: str) -> bytes:
    if file != "-":
        return Path(file).read_bytes()
    if sys.stdin is None:
        raise CommandError("Standard input is closed; name a file.")
    return sys.stdin.buffer.read()


def parse(source: bytes) -> Any:
    """Return the result that ``source`` is: the value of a JSON text, else the text; bytes if it is not UTF-8."""
    try:
        text = source.decode()
        return json.loads(text)
    except UnicodeDecodeError:
        return source
    except ValueError:
        return text


def examine(  # noqa: PLR0913 - the members of one finished call
    result: Any, settings: Settings, *, name: str, status: Status, args: dict[str, Any] | None, keep: bool = False
) -> dict[str, Any]:
    """Return all that is shown of ``result``; with ``keep`` its complete output is stored."""
    text = result.decode("utf-8", "replace") if isinstance(result, bytes) else result
    before = text if isinstance(text, str) else json.dumps(text, indent=2, ensure_ascii=False)
    ids = {"session_id": SESSION, "call_id": sha256(before.encode("utf-8", "replace")).hexdigest()[:16]} if keep else {}
    outputs = Outputs(settings.home, settings.limits) if keep else None
    projections = Normalizer(settings, outputs).normalize(
        ToolCall(result=result, name=name, status=status, args=args, **ids)
    )
    limits = settings.limits
    panel = ui_preview(text, limits.preview_max_chars, name, structural_tools=settings.structural_tools)
    return {
        "panel": panel,
        "before": before,
        **projections,
        "used": {
            "panel_characters": [len(panel) if isinstance(panel, str) else None, limits.preview_max_chars],
            "terminal_bytes": [_size(projections["terminal_content"]), limits.terminal_max_bytes],
            "model_bytes": [_size(projections["model_content"]), limits.model_max_bytes],
            "model_lines": [_lines(projections["model_content"]), limits.model_max_lines],
        },
    }


def _size(text: str) -> int:
    return len(text.encode())


def _lines(content: str) -> int:
    """Return the lines of text that the model reads: line ends in a JSON text are escaped, so each is one."""
    return content.replace("\\\\", "").count("\\n") + 1


def draw(row: Mapping[str, Any], width: int, *, before: bool = False) -> Iterator[RenderableType]:
    """Yield what a terminal of ``width`` columns shows."""
    yield _budgets(row["used"])
    if before:
        contents = [
            _panel("before: as the tool gave it", content_view.content(row["before"])),
            _panel("after: what the model reads", content_view.content(row["model_content"])),
        ]
    else:
        panel = row["panel"]
        echo = Text(shown(panel)) if isinstance(panel, str) else content_view.laid_out(panel)
        contents = [
            _panel("panel", echo),
            _panel("terminal", content_view.content(row["terminal_content"])),
            _panel("model", content_view.content(row["model_content"])),
        ]
    yield from _beside(contents) if width >= _SIDE_BY_SIDE else contents
    yield drawing.heading("what the model does not read")
    yield from in_words(row["model_content_policy"], row["model_content"], row["output"])
    for number, attachment in enumerate(row["attachments"], 1):
        yield Text(f"Attachment {number}: {shown_line(json.dumps(attachment, ensure_ascii=False))}")


def _budgets(used: Mapping[str, list[int | None]]) -> Table:
    rows = []
    for name, (count, most) in used.items():
        share = 0.0 if count is None or not most else count / most
        unit = name.rpartition("_")[2]
        amount = "passes through whole" if count is None else f"{count:,} of {most:,} {unit}"
        rows.append((name.partition("_")[0], drawing.bar(share), amount))
    return drawing.table(("budget", "used", ""), rows)


def _panel(title: str, body: RenderableType) -> Panel:
    return Panel(body, title=title, title_align="left", border_style="dim")


def _beside(contents: list[Panel]) -> Iterator[Table]:
    beside = Table.grid(expand=True)
    for _ in contents:
        beside.add_column(ratio=1, overflow="fold")
    beside.add_row(*contents)
    yield beside
