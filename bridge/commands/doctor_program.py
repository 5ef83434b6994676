"""The checks of the program: versions, variables, and whether the command that Ruby would run starts this worker."""

from __future__ import annotations

import difflib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from importlib.metadata import version
from typing import Any

from bridge import __version__
from bridge.commands.doctor_finding import DO, OK, Finding
from bridge.commands.safe_text import shown_line
from bridge.limits import ENVIRONMENT_PREFIX, Limits
from bridge.settings import VARIABLES, Settings, unknown_variables

LIBRARIES = ("jsonrpcserver", "orjson", "pydantic", "click", "rich")
COMMAND_VARIABLE = f"{ENVIRONMENT_PREFIX}COMMAND"
DEFAULT_COMMAND = "rind-bridge serve"
WAIT_SECONDS = 20

_RESULT = "a line for the preview"
_REQUESTS = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"client": {"name": "rind-bridge doctor"}}},
    {"jsonrpc": "2.0", "id": 2, "method": "ui_preview", "params": {"result": _RESULT}},
    {"jsonrpc": "2.0", "id": 3, "method": "shutdown"},
)


def versions() -> Finding:
    """Return the versions of the program, of Python and of the libraries."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return Finding("versions", OK, f"rind-bridge {__version__}, Python {sys.version.split()[0]}, {libraries}")


@dataclass(frozen=True, slots=True)
class Read:
    """The settings, None where a variable is not well formed, and what was found of the variables."""

    value: Settings | None
    findings: list[Finding]


def settings(environment: Mapping[str, str]) -> Read:
    """Read the variables as a worker does, and look for those that no worker reads."""
    findings = [_unread(name) for name in unknown_variables(environment)]
    try:
        value = Settings.from_environment(environment)
    except ValueError as error:
        return Read(None, [*findings, Finding("settings", DO, str(error), "Correct or unset the variable.")])
    if not findings:
        findings = [Finding("settings", OK, f"every {ENVIRONMENT_PREFIX} variable is known and well formed")]
    return Read(value, findings)


def _unread(name: str) -> Finding:
    known = [*VARIABLES, *(limit.name.upper() for limit in fields(Limits))]
    near = difflib.get_close_matches(name.removeprefix(ENVIRONMENT_PREFIX), known, 1)
    advice = f"Did you mean {ENVIRONMENT_PREFIX}{near[0]}?" if near else "Unset it; README lists the variables."
    return Finding("settings", DO, f"{name} is read by nobody", advice)


def command_of(environment: Mapping[str, str]) -> str:
    """Return the command by which the Ruby client starts a worker."""
    return environment.get(COMMAND_VARIABLE) or DEFAULT_COMMAND


def worker(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Start the command that the Ruby client would start, and send a preview through it."""
    command = command_of(environment)
    chosen = COMMAND_VARIABLE in environment
    try:
        words = shlex.split(command)
    except ValueError as error:
        yield Finding("worker", DO, f"{COMMAND_VARIABLE} cannot be split into words: {error}", "Correct or unset it.")
        return
    program = shutil.which(words[0], path=environment.get("PATH")) if words else None
    if program is None:
        name = words[0] if words else command
        advice = f'Run: export {COMMAND_VARIABLE}="{_own_command()}"'
        yield Finding("worker", DO, f"{name} is not a program on the PATH", advice)
        return
    yield _answers([program, *words[1:]], environment, chosen=chosen)


def _own_command() -> str:
    """Return the command that starts this very program, from any working directory."""
    beside = shutil.which("rind-bridge", path=os.path.dirname(sys.executable))  # noqa: PTH120 - a path for which
    words = [beside, "serve"] if beside else [sys.executable, "-P", "-m", "bridge", "serve"]
    return shlex.join(words)


def _answers(words: list[str], environment: Mapping[str, str], *, chosen: bool) -> Finding:
    shown = shlex.join(words)
    advice = f'Run it by hand, or: export {COMMAND_VARIABLE}="{_own_command()}"'
    try:
        replies = _ask(words, environment)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return Finding("worker", DO, f"{shown} did not answer: {shown_line(error)}", advice)
    hello, preview = replies.get(1), replies.get(2)
    if not isinstance(hello, dict) or hello.get("server") != "rind-bridge" or preview != _RESULT:
        return Finding("worker", DO, f"{shown} answers, but it is not a worker of this bridge", advice)
    if hello.get("version") != __version__:
        text = f"{shown} is version {hello.get('version')}, this program is {__version__}"
        return Finding("worker", DO, text, advice)
    origin = f", as {COMMAND_VARIABLE} says" if chosen else ""
    return Finding("worker", OK, f"{shown} was started{origin}, gave a preview, and ended in order")


def _ask(words: list[str], environment: Mapping[str, str]) -> dict[Any, Any]:
    """Return the results by the ids of their requests; raises ``ValueError`` for what is no reply."""
    frames = b"".join(json.dumps(request).encode() + b"\n" for request in _REQUESTS)
    # Not here: a module of the working directory must not run in the place of ours. Nor may the home be made.
    with tempfile.TemporaryDirectory(prefix="rind-bridge-doctor-") as folder:
        given = {**environment, f"{ENVIRONMENT_PREFIX}HOME": folder}
        finished = subprocess.run(  # noqa: S603 - the command that the Ruby client would start
            words, input=frames, capture_output=True, env=given, cwd=folder, timeout=WAIT_SECONDS, check=False
        )
    if finished.returncode:
        said = finished.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ValueError(f"it ended with status {finished.returncode} ({said[:200]})")
    return dict(map(_reply, finished.stdout.splitlines()))


def _reply(line: bytes) -> tuple[Any, Any]:
    try:
        reply = json.loads(line)
        return reply["id"], reply.get("result")
    except (ValueError, KeyError, TypeError, AttributeError):
        said = line[:100].decode("utf-8", "replace")
        raise ValueError(f"it wrote what is no reply: {said!r} (a sitecustomize or .pth file may print)") from None
