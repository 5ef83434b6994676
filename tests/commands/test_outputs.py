from __future__ import annotations

import json

import pytest
from commanding import HOSTILE, SENT

from bridge.limits import Limits
from bridge.store.outputs import Outputs

CONTENT = HOSTILE + "line of a build\n" * 500


def test_a_pipe_gets_an_output_byte_for_byte(run, home):
    content = b"\x1b[2Ja\r\n\xff\xfe\x00\tend without a line end"
    Outputs(home, Limits()).store("s1", "c1", content)
    assert run("outputs", "s1", "c1").stdout == content


@pytest.mark.usefixtures("session")
def test_a_terminal_is_shown_controls_and_sent_them_only_when_raw_is_asked_for(terminal):
    shown = terminal("outputs", "s1", "c1")
    assert not [sign for sign in SENT if sign in shown]
    assert r"\x1b]52;c;cHduZWQ=\a" in shown
    assert r"\u202etxt.exe" in shown
    assert "\x1b]52;c;cHduZWQ=\x07" in terminal("outputs", "s1", "c1", "--raw")


@pytest.mark.usefixtures("session")
def test_a_call_whose_only_file_is_an_attachment_names_it(ask, home):
    shown = ask("outputs", "s1", "c2", status=1)
    (image,) = (home / "attachments" / "s1").iterdir()
    assert shown == f"rind-bridge: Call c2 has no output but attachments: {image}\n"


@pytest.mark.usefixtures("session")
def test_a_call_that_needed_no_storing_says_so_and_where_to_look(ask):
    shown = ask("outputs", "s1", "c4", status=1)
    assert "Call c4 has no stored output: nothing was stored, because nothing is missing." in shown
    assert "rind-bridge replay s1 c4" in shown


@pytest.mark.usefixtures("session")
def test_a_call_that_is_not_there_is_said_not_to_be_there(ask):
    assert "Session s1 has no call c9" in ask("outputs", "s1", "c9", status=1)


@pytest.mark.usefixtures("session")
def test_the_list_has_tool_subject_size_lines_and_place_of_each_call(ask, home):
    shown = ask("outputs", "s1").splitlines()
    assert shown[1].split() == ["call", "tool", "about", "age", "bytes", "lines", "where"]
    size = f"{len(CONTENT.encode()):,}"
    assert shown[3].split() == ["c1", "bash", "make", "now", size, "501", str(home / "outputs" / "s1" / "c1.txt")]
    assert [row["call_id"] for row in json.loads(ask("outputs", "s1", "--json"))] == ["c1", "c2", "c3", "c4"]


def test_what_is_gone_is_listed_with_its_reason_and_when(ask, home):
    now = 1_700_000_000.0
    outputs = Outputs(home, Limits(), lambda: now)
    outputs.store("s1", "c1", b"one\n")
    now += 100 * 86_400
    outputs.cleanup()
    (row,) = json.loads(ask("outputs", "s1", "--json"))
    assert (row["gone"], row["gone_at"]) == ("expired", now)
    assert "days: expired" in ask("outputs", "s1")
    shown = ask("outputs", "s1", "c1", status=1)
    assert "it was removed because its session was not active for output_max_age_days" in shown
    assert str(int(now)) not in shown


@pytest.mark.usefixtures("session")
def test_a_file_that_was_changed_is_said_to_be_damaged(ask, home):
    (home / "outputs" / "s1" / "c1.txt").write_text("something else")
    assert "its file was changed or removed by another program" in ask("outputs", "s1", "c1", status=1)


def test_grep_prints_matching_lines_with_their_numbers(ask, home):
    Outputs(home, Limits()).store("s1", "c1", b"one\nerror: two\nthree\nError: four\n")
    assert ask("outputs", "s1", "c1", "--grep", "(?i)error") == "2:error: two\n4:Error: four\n"
    assert ask("outputs", "s1", "c1", "--grep", "(?i)error", "--offset", "3") == "4:Error: four\n"
    assert ask("outputs", "s1", "c1", "--grep", "(?i)error", "--limit", "1") == "2:error: two\n"
    assert ask("outputs", "s1", "c1", "--grep", "none", status=1) == "rind-bridge: No line matches.\n"
    assert "--grep ( is not a Python expression" in ask("outputs", "s1", "c1", "--grep", "(", status=1)


def test_lines_as_json_have_their_numbers(ask, home):
    Outputs(home, Limits()).store("s1", "c1", b"one\ntwo\n")
    rows = json.loads(ask("outputs", "s1", "c1", "--json", "--offset", "2"))
    assert rows == [{"line": 2, "text": "two\n"}]
