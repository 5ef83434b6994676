from __future__ import annotations

import json
from pathlib import Path

import pytest
from commanding import PROGRAM

import bridge

BUILD = "".join(f"compiling module_{number}.c\n" for number in range(3_000))
BROKEN = BUILD + "login.c:41: error: 'widht' undeclared\n" + BUILD


def test_the_model_content_is_what_python_gives(ask):
    row = json.loads(ask("inspect", "--json", "--name", "bash", "--args", '{"command": "make"}', stdin=BROKEN))
    given = bridge.normalize(BROKEN, name="bash", args={"command": "make"})
    assert row["model_content"] == given["model_content"]
    assert row["terminal_content"] == given["terminal_content"]


def test_it_says_what_was_cut_and_why_lines_of_the_middle_were_kept(ask):
    shown = ask("inspect", stdin=BROKEN)
    assert "Shown: lines 1 to " in shown
    assert "for a line that looks like an error or a result: login.c:41: error: 'widht' undeclared" in shown
    assert "Cut here: " in shown
    assert "inspect keeps it with --home" in shown


def test_lines_after_a_gap_have_the_numbers_that_they_have_in_the_whole(ask):
    shown = ask("inspect", stdin=BROKEN)
    assert "3001 │ login.c:41: error: 'widht' undeclared" in shown


def test_the_heading_of_the_panel_counts_characters_as_its_limit_does(ask):
    assert "2 of 4,000 characters" in ask("inspect", stdin="ää")


def test_a_budget_and_lines_of_the_command_line_hold(ask):
    row = json.loads(ask("inspect", "--json", "--budget", "3000", "--lines", "40", stdin=BROKEN))
    used, most = row["used"]["model_bytes"]
    assert used <= most == 3_000
    used, most = row["used"]["model_lines"]
    assert used <= most == 40


def test_a_budget_that_is_too_small_is_one_sentence(ask):
    assert "model_max_bytes must be at least" in ask("inspect", "--budget", "10", status=1)


def test_a_home_keeps_the_complete_output_and_without_one_nothing_is_kept(ask, tmp_path, home):
    kept = tmp_path / "kept"
    row = json.loads(ask("inspect", "--json", "--home", str(kept), stdin=BROKEN))
    assert Path(row["output"]["path"]).read_text() == BROKEN
    assert row["output"]["path"].startswith(str(kept))
    assert not home.exists()


def test_the_same_bad_bytes_are_counted_alike_by_file_standard_input_and_python(ask, tmp_path):
    bad = b"one \xff and another \xfe\n"
    (tmp_path / "bad").write_bytes(bad)
    counts = [
        json.loads(ask("inspect", "--json", "bad"))["model_content_policy"]["replaced"],
        json.loads(ask("inspect", "--json", stdin=bad))["model_content_policy"]["replaced"],
        bridge.normalize(bad, name="tool")["model_content_policy"]["replaced"],
    ]
    assert counts == [counts[0]] * 3


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1" + "}" * 100_000]
)
def test_deep_json_is_one_sentence(run, text):
    finished = run("inspect", stdin=text, status=1)
    assert finished.stderr == b"rind-bridge: The input is nested too deep to be read.\n"
    assert not finished.stdout


def test_arguments_nested_too_deep_are_a_wrong_command_line(ask):
    assert "--args" in ask("inspect", "--args", "[" * 50_000, status=2)


def test_before_shows_the_result_as_it_came_beside_what_the_model_reads(ask):
    shown = ask("inspect", "--before", stdin='{"result": "one\\ntwo\\n"}')
    assert "before: as the tool gave it" in shown
    assert "after: what the model reads" in shown
    assert shown.count("2 │ two") == 2


def test_a_folder_is_one_sentence(ask, tmp_path):
    assert ask("inspect", str(tmp_path), status=1) == f"rind-bridge: {tmp_path}: Is a directory\n"


def test_standard_input_that_is_closed_is_one_sentence(run):
    finished = run(program=("sh", "-c", 'exec "$@" inspect <&-', "sh", *PROGRAM), status=1)
    assert finished.stderr == b"rind-bridge: Standard input is closed; name a file.\n"
