"""The program as a process, into a pipe or on a terminal, and a home with a session."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest
from commanding import HOSTILE, PNG, PROGRAM

from bridge.limits import Limits
from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.settings import Settings
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def environment(home):
    """Variables of a person who has set nothing but the home and the command."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("RIND_BRIDGE_", "LC_", "COLUMNS"))
    }
    command = f"{sys.executable} -P -m bridge serve"
    return kept | {"RIND_BRIDGE_HOME": str(home), "RIND_BRIDGE_COMMAND": command, "LANG": "C.UTF-8", "TZ": "UTC"}


@pytest.fixture
def run(environment, tmp_path):
    """Run the program into pipes and return what finished; checks the exit status and that there is no traceback."""

    def run(*arguments, status=0, stdin="", program=PROGRAM, **variables):
        given = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin
        finished = subprocess.run(
            [*program, *arguments],
            input=given,
            capture_output=True,
            env=environment | variables,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )
        assert b"Traceback" not in finished.stderr, finished.stderr.decode()
        assert finished.returncode == status, finished.stdout + finished.stderr
        return finished

    return run


@pytest.fixture
def ask(run):
    """Run the program into pipes and return what it printed."""

    def ask(*arguments, **options):
        finished = run(*arguments, **options)
        return (finished.stdout + finished.stderr).decode()

    return ask


@pytest.fixture
def terminal(environment, tmp_path):
    """Run the program on a terminal of some columns and return what the terminal got."""

    def terminal(*arguments, columns=80, status=0, **variables):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        given = environment | {"TERM": "xterm-256color", "PAGER": "cat"} | variables
        process = subprocess.Popen(
            [*PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=given, cwd=tmp_path
        )
        os.close(theirs)
        got = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        assert process.wait(60) == status, got
        return got.decode().replace("\r\n", "\n")

    return terminal


def _read(descriptor):
    """Return what came; a terminal without writers is an error on Linux, and the end."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


@pytest.fixture
def session(home):
    """Finish calls in session s1 as a worker does: c1 hostile and cut, c2 an image, c3 small, c4 failed."""
    settings = Settings(home=home, limits=Limits(model_max_bytes=2_048))
    outputs, ledger = Outputs(home, settings.limits), Ledger(home)
    normalizer = Normalizer(settings, outputs, ledger)
    image = {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}
    calls = [
        ("c1", "bash", {"command": "make"}, {"result": HOSTILE + "line of a build\n" * 500}, "completed"),
        ("c2", "screenshot", {}, image, "completed"),
        ("c3", "read_file", {"path": "a.rb"}, {"content": "puts 1\n"}, "completed"),
        ("c4", "grep", {"pattern": "width"}, {"error": "no such file"}, "failed"),
    ]
    for call_id, name, args, result, status in calls:
        call = ToolCall(result=result, name=name, args=args, status=status, session_id="s1", call_id=call_id)
        normalizer.normalize(call)
    ledger.close()
    outputs.close()
    return "s1"
