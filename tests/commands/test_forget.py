from __future__ import annotations

import pytest


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.usefixtures("session")
def test_it_removes_outputs_attachments_and_calls_of_the_session(ask, home):
    shown = ask("forget", "s1", "--yes")
    assert shown.startswith("Removed what was kept of session s1: ")
    assert "bytes.\n" in shown
    assert files(home / "outputs") == files(home / "attachments") == []
    assert b"line of a build" not in b"".join(path.read_bytes() for path in home.iterdir() if path.is_file())
    assert ask("report") == f"No call is saved in {home} that matches.\n"


@pytest.mark.usefixtures("session")
def test_an_output_that_was_forgotten_is_said_to_be_so(ask):
    ask("forget", "s1", "--yes")
    shown = ask("outputs", "s1", "c1", status=1)
    assert "asked the bridge to forget its session" in shown


@pytest.mark.usefixtures("session")
def test_without_anybody_to_ask_nothing_is_removed(ask, home):
    assert "say so with --yes" in ask("forget", "s1", status=1)
    assert files(home / "outputs") == ["c1.txt"]
