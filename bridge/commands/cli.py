"""What a person can ask on the command line: inspect, outputs, report, doctor, schema."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bridge import __version__
from bridge.protocol.errors import BridgeError
from bridge.protocol.names import COMPLETED, STATUSES
from bridge.settings import Settings

Command = Callable[[argparse.Namespace], int]


def run(arguments: Sequence[str]) -> int:
    """Run the command that ``arguments`` name; return the exit status as ``bridge.__main__.main`` has it."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except BridgeError as error:
        return _fail(f"{error.message}: {json.dumps(error.data, ensure_ascii=False)}")
    except BrokenPipeError:
        # A pager was closed. What is left in the buffer must not raise again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        return _fail(str(error))


def inspect(options: argparse.Namespace) -> int:
    """Show what a tool result becomes: sizes, the echo, the terminal text and the model text."""
    from bridge.echo.preview import ui_preview  # noqa: PLC0415
    from bridge.projections.normalizer import Normalizer  # noqa: PLC0415 - not needed by the other commands
    from bridge.protocol.models import ToolCall  # noqa: PLC0415 - as above

    settings = Settings.from_environment(os.environ)
    result = _read_result(options.file)
    call = ToolCall(result=result, name=options.name, status=options.status, args=options.args)
    projections = Normalizer(settings).normalize(call)
    limit, structural = settings.limits.preview_max_chars, settings.structural_tools
    _heading("panel", ui_preview(result, limit, options.name, structural_tools=structural))
    _heading("terminal", projections["terminal_content"])
    _heading("model", projections["model_content"])
    _say(f"policy       {json.dumps(projections['model_content_policy'], ensure_ascii=False)}")
    _say(f"attachments  {json.dumps(projections['attachments'], ensure_ascii=False)}")
    return 0


def outputs(options: argparse.Namespace) -> int:
    """List sessions, list a session's outputs, or print the lines of one output."""
    from bridge.store import catalog  # noqa: PLC0415 - not needed by the other commands

    settings = Settings.from_environment(os.environ)
    if options.session is None:
        return _table(("session", "outputs", "bytes", "last used"), catalog.sessions(settings.home))
    if options.call is None:
        return _table(("call", "stored", "bytes", "where"), catalog.files(settings.home, options.session))
    return _print_output(settings, options)


def report(_: argparse.Namespace) -> int:
    """Show for each session how many calls were saved, how many were cut, and from how much to how much."""
    from bridge.store import catalog  # noqa: PLC0415 - not needed by the other commands

    settings = Settings.from_environment(os.environ)
    columns = ("session", "calls", "cut", "bytes before", "bytes for the model")
    return _table(columns, catalog.projections(settings.home))


def doctor(_: argparse.Namespace) -> int:
    """Check that everything a worker needs is in place, and say what to do where it is not."""
    from bridge.commands.doctor import examine  # noqa: PLC0415 - not needed by the other commands

    findings = examine(os.environ)
    for finding in findings:
        _say(f"{'ok    ' if finding.ok else 'FAILED'}  {finding.text}")
    return 0 if all(finding.ok for finding in findings) else 1


def schema(_: argparse.Namespace) -> int:
    """Print the OpenRPC document of the worker."""
    from bridge.protocol.openrpc import document  # noqa: PLC0415 - not needed by the other commands

    _say(json.dumps(document(__version__), indent=2, ensure_ascii=False))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rind-bridge", description=__doc__)
    parser.add_argument("--version", action="version", version=f"rind-bridge {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    commands.add_parser("serve", help="Answer JSON-RPC on standard input and output until it ends.")
    _add_inspect(_add(commands, inspect))
    _add_outputs(_add(commands, outputs))
    for command in (report, doctor, schema):
        _add(commands, command)
    return parser


def _add(commands: Any, command: Command) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = commands.add_parser(
        command.__name__, help=command.__doc__, description=command.__doc__
    )
    added.set_defaults(run=command)
    return added


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="a result, JSON or text; - for standard input")
    parser.add_argument("--name", default="tool", help="the tool's name (default: tool)")
    parser.add_argument("--status", default=COMPLETED, choices=STATUSES)
    parser.add_argument("--args", type=_object, metavar="JSON", help="the call's arguments, an object")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="without it: the sessions that have outputs")
    parser.add_argument("call", nargs="?", help="without it: the outputs of the session")
    parser.add_argument("--offset", type=int, default=1, help="first line, counted from 1 (default 1)")
    parser.add_argument("--limit", type=int, help="lines at most (default: to the end)")


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("must be a JSON object")
    return value


def _read_result(file: str) -> Any:
    text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8", errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _print_output(settings: Settings, options: argparse.Namespace) -> int:
    from bridge.store.outputs import Outputs  # noqa: PLC0415 - not needed by the other commands

    store = Outputs(settings.home, settings.limits)
    offset, column, left = options.offset, 1, options.limit
    while offset is not None and left != 0:
        page = store.read(options.session, options.call, offset, column, min(left or 2_000, 2_000))
        sys.stdout.write(page["content"])
        left = None if left is None else left - page["lines"]
        offset, column = page["next_offset"], page["next_column"]
    return 0


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> int:
    texts = [columns, *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for row in texts:
        _say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _heading(name: str, content: Any) -> None:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    _say(f"== {name}: {len(text.encode('utf-8', 'replace')):,} bytes\n{text}\n")


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _fail(text: str) -> int:
    sys.stderr.write(f"rind-bridge: {text}\n")
    return 1
