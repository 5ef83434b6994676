from __future__ import annotations

import shutil
import subprocess

import pytest
from commanding import PROGRAM


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_reads(ask, tmp_path, shell):
    script = ask("completion", shell)
    assert "_RIND_BRIDGE_COMPLETE" in script
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} on the PATH reads what was written")
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("rind-bridge in", {"inspect"}),
        ("rind-bridge report --", {"--since", "--json", "--html", "--help"}),
        ("rind-bridge outputs s", {"s1"}),
        ("rind-bridge replay s1 c", {"c1", "c2", "c3", "c4"}),
        ("rind-bridge inspect --status ", {"completed", "failed"}),
    ],
)
@pytest.mark.usefixtures("session")
def test_commands_options_sessions_and_calls_are_completed(environment, words, expected):
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_RIND_BRIDGE_COMPLETE": "bash_complete"}
    finished = subprocess.run(PROGRAM, capture_output=True, text=True, env=environment | asked, check=False)
    assert {line.partition(",")[2] for line in finished.stdout.splitlines()} >= expected
    assert finished.stderr == ""


def test_completion_in_a_home_that_is_not_there_offers_nothing_and_makes_none(environment, home):
    asked = {"COMP_WORDS": "rind-bridge outputs ", "COMP_CWORD": "2", "_RIND_BRIDGE_COMPLETE": "bash_complete"}
    finished = subprocess.run(PROGRAM, capture_output=True, text=True, env=environment | asked, check=False)
    assert (finished.stdout.strip(), finished.stderr, home.exists()) == ("", "", False)
