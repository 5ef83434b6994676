"""The commands for people, run as a person runs them: as processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from bridge.limits import Limits
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs


def test_inspect_shows_what_each_reader_gets(ask):
    shown = ask("inspect", "--name", "run_command", stdin='{"content": "hello", "ok": true}')
    assert [name for name in ("panel", "terminal", "model") if f"─ {name} ─" in shown] == ["panel", "terminal", "model"]
    assert "│ hello " in shown
    assert "│   content: hello " in shown
    assert "5 of 4,000 characters" in shown
    assert "Nothing: the model reads all of it." in shown


def test_inspect_takes_a_text_that_is_not_json_as_a_text(ask):
    assert json.loads(ask("inspect", "--json", stdin="not {json"))["panel"] == "not {json"


def test_inspect_shows_what_a_worker_with_the_same_settings_would_give(ask):
    text = "".join(f"line {number}\n" for number in range(2_000))
    sizes = [
        len(json.loads(ask("inspect", "--json", stdin=text, **limits))["model_content"])
        for limits in ({}, {"RIND_BRIDGE_MODEL_MAX_BYTES": "3000"})
    ]
    assert sizes[1] < 4_000 < sizes[0]


@pytest.mark.parametrize("arguments", ["[1]", "{bad"])
def test_inspect_says_that_arguments_are_an_object(ask, arguments):
    assert "--args" in ask("inspect", "--args", arguments, status=2)


def test_inspect_says_which_file_is_missing(ask):
    assert "no-such-file" in ask("inspect", "no-such-file", status=1)


def test_outputs_lists_sessions_then_calls_then_prints_the_lines(ask, home):
    Outputs(home, Limits()).store("s1", "c1", b"one\ntwo\nthree\n")
    assert "s1" in ask("outputs")
    assert "c1" in ask("outputs", "s1")
    assert ask("outputs", "s1", "c1") == "one\ntwo\nthree\n"
    assert ask("outputs", "s1", "c1", "--offset", "2", "--limit", "1") == "two\n"


def test_outputs_prints_a_file_of_many_pages_whole(ask, home):
    content = "".join(f"line {number}\n" for number in range(30_000))
    Outputs(home, Limits()).store("s1", "c1", content.encode())
    assert ask("outputs", "s1", "c1") == content


def test_an_output_that_was_never_stored_is_said_to_be_so(ask, home):
    Outputs(home, Limits()).store("s1", "c1", b"one\n")
    assert "Session s1 has no call c2" in ask("outputs", "s1", "c2", status=1)


@pytest.mark.parametrize("asked", ["outputs s1", "outputs s1 c1", "replay s1", "report s1", "forget s1 --yes"])
def test_a_session_that_is_not_kept_is_said_not_to_be_there(ask, home, asked):
    shown = ask(*asked.split(), status=1)
    assert shown == f"rind-bridge: There is no session s1 in {home}; rind-bridge outputs lists those that there are.\n"
    assert not home.exists()


def test_an_empty_home_has_nothing_to_list_and_is_not_made(ask, home):
    assert ask("outputs") == f"No session is kept in {home}.\n"
    assert ask("report") == f"No call is saved in {home} that matches.\n"
    assert not home.exists()


def test_report_adds_up_what_was_cut_in_each_session(ask, home):
    for call, truncated in (("c1", True), ("c2", False)):
        policy = {"truncated": truncated, "total_bytes": 50_000, "total_lines": 1}
        Ledger(home).save("s1", call, {"model_content": "x" * 10, "model_content_policy": policy})
    summary = json.loads(ask("report", "--json"))
    sums = ("session_id", "calls", "cut", "bytes_before", "bytes_model")
    assert [tuple(row[name] for name in sums) for row in summary["sessions"]] == [("s1", 2, 1, 100_000, 20)]
    assert " s1 " in ask("report")


def test_doctor_finds_everything_in_place_and_leaves_nothing_behind(ask, home):
    home.mkdir(mode=0o700)
    shown = ask("doctor", RIND_BRIDGE_COMMAND=f"{sys.executable} -P -m bridge serve")
    assert "FAILED" not in shown
    assert "gave a preview, and ended in order" in shown
    assert list(home.iterdir()) == []


def test_doctor_names_a_wrong_variable_and_what_to_do(ask):
    shown = ask("doctor", status=1, RIND_BRIDGE_MODEL_MAX_BYTES="many")
    assert "FAILED  settings: RIND_BRIDGE_MODEL_MAX_BYTES must be a whole number" in shown


def test_doctor_names_a_home_that_cannot_be_used(ask, tmp_path):
    (tmp_path / "file").write_text("in the way")
    shown = ask("doctor", status=1, RIND_BRIDGE_HOME=str(tmp_path / "file" / "home"))
    assert "FAILED  home: " in shown


def test_schema_is_an_openrpc_document(ask):
    document = json.loads(ask("schema"))
    assert {"openrpc", "info", "methods"} <= set(document)


def test_a_wrong_command_line_says_what_there_is(ask):
    assert "inspect" in ask("unheard-of", status=2)


def test_a_pager_that_is_closed_early_is_no_error(home):
    Outputs(home, Limits()).store("s1", "c1", b"line\n" * 100_000)
    script = f"{sys.executable} -m bridge outputs s1 c1 | head -n 1"
    environment = {**os.environ, "RIND_BRIDGE_HOME": str(home)}
    finished = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "line\n", "")
