"""What holds of each command: help, widths, pipes, homes that cannot be used, hostile texts, interruptions."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import pytest
from commanding import PROGRAM, SENT

COMMANDS = ["serve", "inspect", "replay", "report", "outputs", "doctor", "schema", "forget", "completion"]
READERS = ["outputs", "outputs s1", "outputs s1 c1", "replay s1", "replay s1 c1", "report", "report s1"]
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def widest(shown):
    lines = STYLE.sub("", shown).split("\n")
    return max(sum(2 if unicodedata.east_asian_width(sign) == "W" else 1 for sign in line) for line in lines)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(ask, command):
    shown = ask(command, "--help")
    assert "Usage: " in shown
    assert re.search(r"Examples:\n.*rind-bridge ", shown)


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("asked", [*READERS, "doctor", "inspect result.txt", "inspect result.txt --before", "--help"])
@pytest.mark.usefixtures("session")
def test_a_terminal_of_any_width_is_neither_overrun_nor_sent_a_control(terminal, tmp_path, columns, asked):
    (tmp_path / "result.txt").write_text("\x1b]52;c;cHduZWQ=\x07\u202e" + "a word of a line " * 40)
    shown = terminal(*asked.split(), columns=columns)
    assert widest(shown) <= columns or asked == "outputs s1 c1", "an output's own lines are for the pager to fold"
    assert not [sign for sign in SENT if sign in shown]


def test_a_wide_terminal_shows_contents_side_by_side_and_a_narrow_one_below_each_other(terminal, tmp_path):
    (tmp_path / "result.txt").write_text("hello")
    narrow, wide = (STYLE.sub("", terminal("inspect", "result.txt", columns=columns)) for columns in (80, 140))
    titles = r"─ panel ─.*─ terminal ─.*─ model ─"
    assert re.search(titles, wide)
    assert not re.search(titles, narrow)


@pytest.mark.parametrize("asked", ["outputs", "replay s1", "report", "doctor", "inspect result.txt", "--help"])
@pytest.mark.usefixtures("session")
def test_no_color_is_respected(terminal, tmp_path, asked):
    (tmp_path / "result.txt").write_text("hello")
    assert not re.search(r"\x1b\[3\d", terminal(*asked.split(), NO_COLOR="1"))


@pytest.mark.parametrize("asked", [*READERS[:2], *READERS[3:], "doctor"])
@pytest.mark.usefixtures("session")
def test_a_pipe_gets_no_escape_and_a_terminal_without_utf_8_gets_ascii(run, asked):
    assert b"\x1b" not in run(*asked.split()).stdout
    ascii_only = run(*asked.split(), LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii")
    assert ascii_only.stdout.isascii()
    assert ascii_only.stdout


@pytest.mark.parametrize("asked", ["outputs", "report", "outputs --json", "report --json"])
def test_looking_at_a_home_that_is_not_there_makes_none(ask, home, asked):
    assert ask(*asked.split())
    assert not home.exists()


@pytest.mark.parametrize("asked", [*READERS, "forget s1 --yes", "doctor"])
@pytest.mark.usefixtures("session")
def test_a_damaged_ledger_is_kept_and_named(environment, home, asked):
    damaged = b"no database at all\n" * 1_000
    for file in home.glob("ledger.sqlite3*"):
        file.unlink()
    (home / "ledger.sqlite3").write_bytes(damaged)
    command = [*PROGRAM, *asked.split()]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    (kept,) = home.glob("ledger.sqlite3.damaged-*Z")
    assert kept.read_bytes() == damaged
    assert f"it is kept as {kept.name}" in finished.stderr
    assert "Traceback" not in finished.stderr


AS_ORDINARY_USER = """
import os, sys
from bridge.commands import cli, forget, outputs, replay, report
if os.geteuid() == 0:
    os.setuid(65534)  # nothing is forbidden to root
sys.exit(cli.run(sys.argv[1:]))
"""


@pytest.fixture
def closed_home():
    """Return a home that an ordinary user reaches and may not enter."""
    folder = Path(tempfile.mkdtemp(prefix="bridge-closed-"))
    folder.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    (home / "ledger.sqlite3").touch()
    home.chmod(0o700 if os.geteuid() == 0 else 0)
    yield home
    home.chmod(0o700)
    shutil.rmtree(folder)


@pytest.mark.parametrize("asked", [*READERS, "forget s1 --yes"])
def test_a_home_that_may_not_be_read_is_one_sentence(run, closed_home, asked):
    program = (sys.executable, "-P", "-c", AS_ORDINARY_USER)
    finished = run(*asked.split(), status=1, program=program, RIND_BRIDGE_HOME=str(closed_home))
    assert finished.stderr.decode() == f"rind-bridge: {closed_home / 'ledger.sqlite3'}: Permission denied\n"
    assert not finished.stdout


@pytest.mark.parametrize("asked", [*READERS, "forget s1 --yes"])
def test_a_home_that_is_a_file_is_one_sentence(ask, home, asked):
    home.write_text("in the way")
    assert ask(*asked.split(), status=1) == (f"rind-bridge: {home} is not a folder; set RIND_BRIDGE_HOME to one.\n")


@pytest.mark.parametrize("asked", [*READERS, "forget s1 --yes", "doctor"])
def test_a_home_in_the_folder_of_a_user_that_is_not_there_is_one_sentence(ask, asked):
    shown = ask(*asked.split(), status=1, RIND_BRIDGE_HOME="~nosuch/x")
    assert "~nosuch is no user's home directory" in shown


@pytest.mark.parametrize("asked", ["inspect", "doctor"])
@pytest.mark.parametrize("name", ["ERROR_LINES_SHARE", "MODEL_MAX_BYTES", "PAYLOAD_TEXTS"])
def test_a_variable_that_is_not_well_formed_is_named(ask, asked, name):
    shown = ask(asked, status=1, **{f"RIND_BRIDGE_{name}": "x"})
    assert f"RIND_BRIDGE_{name} must be" in shown


@pytest.mark.parametrize("asked", [*READERS, "schema", "doctor", "inspect", "--help", "completion bash"])
@pytest.mark.usefixtures("session")
def test_every_command_works_without_docstrings_and_asserts(run, asked):
    optimized = (sys.executable, "-OO", *PROGRAM[1:])
    assert run(*asked.split(), program=optimized).stdout


@pytest.mark.parametrize(
    "asked", ["bad", "inspect --nosuch", "replay", "forget", "outputs s1 c1 --offset 0", "report --since 5x"]
)
def test_a_wrong_command_line_is_a_sentence_with_status_2(run, asked):
    finished = run(*asked.split(), status=2)
    assert finished.stderr.startswith(b"rind-bridge: ")
    assert finished.stderr.count(b"\n") == 1
    assert not finished.stdout


def test_no_command_at_all_shows_the_help_without_escapes_in_a_pipe(run):
    finished = run(status=2)
    assert b"Commands:" in finished.stderr
    assert b"\x1b" not in finished.stderr


@pytest.mark.parametrize("asked", [*READERS, "schema", "doctor", "--help"])
@pytest.mark.usefixtures("session")
def test_a_full_disk_behind_standard_output_is_one_sentence(environment, asked):
    with Path("/dev/full").open("wb") as full:
        command = [*PROGRAM, *asked.split()]
        finished = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment, check=False)
    assert (finished.returncode, finished.stderr) == (1, b"rind-bridge: No space left on device\n")


@pytest.mark.parametrize("asked", [*READERS, "schema", "--help"])
@pytest.mark.usefixtures("session")
def test_a_closed_standard_output_is_one_sentence(environment, asked):
    script = f'exec "$@" {asked} >&-'
    command = ["sh", "-c", script, "sh", *PROGRAM]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert finished.returncode == 1
    assert finished.stderr == "rind-bridge: Standard output is closed; there is nowhere to write to.\n"


@pytest.fixture
def heeded_interrupts():
    """Let what is started heed SIGINT: a shell has its background commands ignore it, and theirs inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded_interrupts")
def test_ctrl_c_ends_without_a_traceback(environment, tmp_path):
    os.mkfifo(tmp_path / "result")
    command = [*PROGRAM, "inspect", "result"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=tmp_path)
    with (tmp_path / "result").open("wb"):  # the command is reading when this returns
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=30)
    assert (process.returncode, shown, said.strip()) == (130, b"", b"")


def test_nothing_of_the_working_directory_is_run(run, tmp_path):
    planted = tmp_path / "bridge"
    planted.mkdir()
    for name in ("__init__", "__main__"):
        (planted / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    for name in ("json", "click", "rich", "sqlite3"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    shown = run("doctor", RIND_BRIDGE_COMMAND=f"{sys.executable} -m bridge serve").stdout.decode()
    assert "gave a preview, and ended in order" in shown
    run("outputs")
    run("inspect")
    assert not (tmp_path / "ran").exists()


def test_a_worker_imports_neither_rich_nor_click(environment):
    requests = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"client":{"name":"test"}}}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"tool_completed","params":{"result":"one\\n","name":"bash",'
        b'"session_id":"s1","call_id":"c1"}}\n'
        b'{"jsonrpc":"2.0","id":3,"method":"replay","params":{"session_id":"s1"}}\n'
        b'{"jsonrpc":"2.0","id":4,"method":"shutdown"}\n'
    )
    command = [PROGRAM[0], "-X", "importtime", *PROGRAM[1:], "serve"]
    finished = subprocess.run(command, input=requests, capture_output=True, env=environment, check=True)
    assert finished.stdout.count(b'"result"') == 4
    imported = {line.rpartition(b"|")[2].strip().partition(b".")[0] for line in finished.stderr.splitlines()}
    assert {b"bridge", b"sqlite3"} <= imported
    assert not imported & {b"rich", b"click"}
