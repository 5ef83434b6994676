"""The command line: what can be asked, with which options, and an example of each.

Declares only. What a command does stands in the module of its name, which is imported when it is called: a help text
or a completion needs neither SQLite nor rich.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from bridge import __version__
from bridge.protocol.names import COMPLETED, STATUSES

PROGRAM = "rind-bridge"
COMPLETION_VARIABLE = "_RIND_BRIDGE_COMPLETE"
SHELLS = ("bash", "zsh", "fish")

# None lets click ask whether the stream is a terminal.
_COLOR = False if os.environ.get("NO_COLOR") else None
_INTERRUPTED = 128 + signal.SIGINT
_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def run(arguments: Sequence[str]) -> int:
    """Run the command that ``arguments`` name; return the exit status.

    0 for success, 1 for a finding or a failure, 2 for a wrong command line; failures are one sentence on stderr.
    """
    if sys.stdout is None:
        return _fail("Standard output is closed; there is nowhere to write to.")
    try:
        status = commands.main(list(arguments), PROGRAM, COMPLETION_VARIABLE, standalone_mode=False)
        return int(status or 0)
    except click.UsageError as error:
        return _usage(error)
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, never a traceback
        _discard_output()
        return _fail(import_module("bridge.commands.failures").sentence(error))


def _usage(error: click.UsageError) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return _fail(error.format_message(), 2, head="")
    asked = error.ctx.command if error.ctx else commands
    there_is = f" The commands are {', '.join(asked.commands)}." if isinstance(asked, click.Group) else ""
    path = error.ctx.command_path if error.ctx else PROGRAM
    return _fail(f"{error.format_message()}{there_is} See {path} --help.", 2)


def _discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(text: str, status: int = 1, head: str = f"{PROGRAM}: ") -> int:
    click.echo(head + text, err=True, color=_COLOR)
    return status


class _Help(click.HelpFormatter):
    """Help with headings that stand out on a terminal."""

    def write_heading(self, heading: str) -> None:
        self.write(click.style(f"{'':>{self.current_indent}}{heading}:\n", bold=True))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, prefix or click.style("Usage: ", bold=True))


class _Context(click.Context):
    formatter_class = _Help


class _Command(click.Command):
    context_class = _Context


class _Group(click.Group):
    context_class = _Context
    command_class = _Command


def _examples(*lines: str) -> str:
    return "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in lines)])


@click.group(
    cls=_Group,
    help="Look at what the bridge made of finished tool calls: what the model read, what it cost, where the rest is.",
    epilog=_examples("rind-bridge report", "rind-bridge outputs SESSION CALL", "rind-bridge doctor")
    + "\n\nrind-bridge COMMAND --help explains a command.",
    context_settings={"help_option_names": ["-h", "--help"], "color": _COLOR},
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
def commands() -> None:
    """Hold the commands; ``run`` calls them."""


def _call(command: str, **options: Any) -> int:
    """Run the module of a command: the one place where the command line imports what it declares."""
    try:
        status: int = import_module(f"bridge.commands.{command}").run(**options)
        sys.stdout.flush()
    except BrokenPipeError:
        # A pager was closed. What is left in the buffer must not raise again when Python ends.
        _discard_output()
        return 0
    return status


def _object(_context: click.Context, _parameter: click.Parameter, text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise click.BadParameter("must be a JSON object.")
    return value


def _span(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """Return the seconds of a time span such as 90m, 12h, 2d or 1w."""
    if text is None:
        return None
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdigit() and len(number) < 7 and unit in _SECONDS):
        raise click.BadParameter("must be a number and a unit, such as 90m, 12h, 2d or 1w.")
    return float(int(number) * _SECONDS[unit])


def _complete_session(*_given: object) -> list[CompletionItem]:
    return _complete("sessions", "session_id")


def _complete_call(context: click.Context, *_given: object) -> list[CompletionItem]:
    return _complete("calls", "call_id", context.params["session"])


def _complete(rows: str, member: str, *of: str) -> list[CompletionItem]:
    history = import_module("bridge.commands.history")
    return [CompletionItem(row[member]) for row in getattr(history, rows)(history.home(), *of)]


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _session(*, required: bool = False) -> Decorator:
    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [item for item in _complete_session(context, parameter) if item.value.startswith(incomplete)]

    return click.argument("session", required=required, shell_complete=complete)


def _call_id() -> Decorator:
    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [item for item in _complete_call(context, parameter) if item.value.startswith(incomplete)]

    return click.argument("call", required=False, shell_complete=complete)


_as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON for programs.")


@commands.command(
    short_help="Answer JSON-RPC: this is the worker.",
    help="Answer JSON-RPC on standard input and output until it ends: this is the worker.",
    epilog=_examples('echo \'{"jsonrpc":"2.0","id":1,"method":"ping"}\' | rind-bridge serve'),
)
def serve() -> int:
    """Reached only when ``bridge.__main__`` was not asked."""
    status: int = import_module("bridge.worker.stdio").serve()
    return status


@commands.command(
    short_help="Show what a tool result becomes.",
    help="Show what a tool result becomes: the panel's echo, the terminal text, the model text, and what was left out."
    " FILE is a result, JSON or text; - or nothing is standard input. Limits come from the RIND_BRIDGE_ variables, as a"
    " worker has them.",
    epilog=_examples(
        "make test 2>&1 | rind-bridge inspect --name bash",
        'rind-bridge inspect result.json --name read_file --args \'{"path": "a.rb"}\' --budget 8192',
        "rind-bridge inspect build.log --before",
    ),
)
@click.argument("file", default="-", type=click.Path())
@click.option("--name", default="tool", show_default=True, help="The tool's name.")
@click.option("--status", default=COMPLETED, show_default=True, type=click.Choice(STATUSES), help="How it ended.")
@click.option("--args", callback=_object, metavar="JSON", help="The arguments of the call, an object.")
@click.option("--budget", type=int, metavar="BYTES", help="Bytes that the model may get, instead of model_max_bytes.")
@click.option("--lines", type=int, metavar="LINES", help="Lines that the model may get, instead of model_max_lines.")
@click.option("--home", metavar="FOLDER", help="Store the complete output in this home, in a session named inspect.")
@click.option("--before", is_flag=True, help="Show the result as it came beside what the model reads.")
@_as_json
def inspect(**options: Any) -> int:
    """See ``bridge.commands.inspect``."""
    return _call("inspect", **options)


@commands.command(
    short_help="Show a session as the model read it.",
    help="Show a session as the model read it: each call in order with its tool, its size, what was lost and where it"
    " is; with CALL, that call alone.",
    epilog=_examples(
        "rind-bridge replay SESSION", "rind-bridge replay SESSION CALL", "rind-bridge replay SESSION --json"
    ),
)
@_session(required=True)
@_call_id()
@_as_json
def replay(**options: Any) -> int:
    """See ``bridge.commands.replay``."""
    return _call("replay", **options)


@commands.command(
    short_help="Show what tool results cost.",
    help="Show what tool results cost: by tool and by session, the costliest calls, and what was lost for good.",
    epilog=_examples(
        "rind-bridge report", "rind-bridge report SESSION", "rind-bridge report --since 2d --html report.html"
    ),
)
@_session()
@click.option("--since", callback=_span, metavar="SPAN", help="Only calls of the last 90m, 12h, 2d or 1w.")
@_as_json
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write a page with charts to FILE.")
def report(**options: Any) -> int:
    """See ``bridge.commands.report``."""
    return _call("report", **options)


@commands.command(
    short_help="List sessions and calls, print a complete output.",
    help="List sessions, list a session's calls, or print a complete output. On a terminal it is shown in the pager"
    " with its control characters visible; into a pipe it goes byte for byte.",
    epilog=_examples(
        "rind-bridge outputs",
        "rind-bridge outputs SESSION",
        "rind-bridge outputs SESSION CALL --grep 'error|warning'",
        "rind-bridge outputs SESSION CALL --offset 100 --limit 20",
    ),
)
@_session()
@_call_id()
@click.option("--offset", type=click.IntRange(min=1), default=1, show_default=True, help="First line, counted from 1.")
@click.option("--limit", type=click.IntRange(min=0), help="Lines at most.  [default: to the end]")
@click.option("--grep", metavar="PATTERN", help="Only lines that match (a Python expression), with their numbers.")
@click.option("--raw", is_flag=True, help="Send the bytes to a terminal as they are.")
@_as_json
def outputs(**options: Any) -> int:
    """See ``bridge.commands.outputs``."""
    return _call("outputs", **options)


@commands.command(
    short_help="Check that everything is in place.",
    help="Check everything that a worker and the Ruby client need, and say what to do where something is amiss."
    " The exit status is 1 when anything needs doing.",
    epilog=_examples("rind-bridge doctor", "rind-bridge doctor --json"),
)
@_as_json
def doctor(**options: Any) -> int:
    """See ``bridge.commands.doctor``."""
    return _call("doctor", **options)


@commands.command(
    short_help="Print the OpenRPC document of the worker.",
    help="Print the OpenRPC document of the worker.",
    epilog=_examples("rind-bridge schema > openrpc.json"),
)
def schema() -> int:
    """See ``bridge.commands.schema``."""
    return _call("schema")


@commands.command(
    short_help="Remove all that is kept of a session.",
    help="Remove what is kept of a session: outputs, attachments and saved projections. It cannot be undone.",
    epilog=_examples("rind-bridge forget SESSION", "rind-bridge forget SESSION --yes"),
)
@_session(required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(**options: Any) -> int:
    """See ``bridge.commands.forget``."""
    return _call("forget", **options)


@commands.command(
    short_help="Print the completion script of a shell.",
    help="Print the script that completes commands, options, sessions and calls in your shell.",
    epilog=_examples(
        'eval "$(rind-bridge completion bash)"      in ~/.bashrc',
        'eval "$(rind-bridge completion zsh)"       in ~/.zshrc',
        "rind-bridge completion fish | source      in ~/.config/fish/config.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> int:
    """Print what click makes for the shell."""
    made = click.shell_completion.get_completion_class(shell)
    if made is not None:
        click.echo(made(commands, {}, PROGRAM, COMPLETION_VARIABLE).source())
    return 0
