"""Each fault that the doctor must find, planted for real."""

from __future__ import annotations

import json
import shutil

import pytest
from commanding import ROOT

from bridge import __version__
from bridge.limits import Limits
from bridge.store.outputs import Outputs

NO_RUBY = "/usr/bin/nothing"


@pytest.fixture
def findings(ask):
    """Return a function that gives the findings by name; those of a name that comes twice are one text."""

    def findings(**options):
        found = {}
        for finding in json.loads(ask("doctor", "--json", **options)):
            name = finding["name"]
            found[name] = {key: f"{found.get(name, {}).get(key, '')}{text}" for key, text in finding.items()}
        return found

    return findings


@pytest.fixture
def fake(tmp_path, environment):
    """Return a function that puts a program first on a PATH and returns that PATH."""

    def fake(name, script):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
        return f"{folder}:{environment['PATH']}"

    return fake


def test_each_finding_that_is_not_ok_says_what_to_do(findings):
    found = findings(status=1, RIND_BRIDGE_COMMAND="/nonexistent", RIND_BRIDGE_MODEL_MAXBYTES="1")
    assert {finding["level"] for finding in found.values()} >= {"ok", "FAILED"}
    assert all(finding["advice"] for finding in found.values() if finding["level"] != "ok")


def test_a_command_that_is_not_there(findings):
    found = findings(status=1, RIND_BRIDGE_COMMAND="/nonexistent serve")["worker"]
    assert (found["level"], found["text"]) == ("FAILED", "/nonexistent is not a program on the PATH")
    assert "export RIND_BRIDGE_COMMAND=" in found["advice"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("true", "is not a worker of this bridge"),
        ("cat", "is not a worker of this bridge"),
        ("false", "it ended with status 1"),
        ("'unfinished", "cannot be split into words"),
        ("sh -c 'echo noise; exec cat'", "sitecustomize"),
    ],
)
def test_a_command_that_is_no_worker(findings, command, said):
    found = findings(status=1, RIND_BRIDGE_COMMAND=command)["worker"]
    assert found["level"] == "FAILED"
    assert said in found["text"]


def test_a_worker_of_another_version(findings, fake):
    hello = '{"jsonrpc":"2.0","id":1,"result":{"server":"rind-bridge","version":"9.9.9"}}'
    preview = '{"jsonrpc":"2.0","id":2,"result":"a line for the preview"}'
    path = fake("old-bridge", f"cat >/dev/null; echo '{hello}'; echo '{preview}'")
    found = findings(status=1, PATH=path, RIND_BRIDGE_COMMAND="old-bridge serve")["worker"]
    assert f"is version 9.9.9, this program is {__version__}" in found["text"]


def test_a_variable_that_nobody_reads_and_the_one_that_was_meant(findings):
    found = findings(status=1, RIND_BRIDGE_MODEL_MAXBYTES="9000")["settings"]
    assert found["text"] == "RIND_BRIDGE_MODEL_MAXBYTES is read by nobody"
    assert found["advice"] == "Did you mean RIND_BRIDGE_MODEL_MAX_BYTES?"


def test_a_ruby_that_is_too_old(findings, fake):
    path = fake("ruby", """echo '{"ruby":"2.6.10","missing":"cannot load such file -- rind_bridge"}'""")
    found = findings(status=1, PATH=path)["ruby"]
    assert found["level"] == "FAILED"
    assert "is 2.6.10; the client needs 3.1 or newer" in found["text"]


def test_a_ruby_that_does_not_run(findings, fake):
    found = findings(status=1, PATH=fake("ruby", "echo broken >&2; exit 3"))["ruby"]
    assert "it ended with status 3 (broken)" in found["text"]


def test_no_ruby_is_worth_a_note_and_no_failure(findings, tmp_path):
    found = findings(PATH=str(tmp_path))["ruby"]
    assert (found["level"], found["text"]) == ("note", "not on the PATH")


@pytest.mark.skipif(shutil.which("ruby") is None, reason="no ruby on the PATH")
def test_a_preview_goes_round_through_the_gem(findings):
    found = findings(RUBYLIB=str(ROOT / "ruby_client" / "lib"))["gem"]
    assert found["level"] == "ok", found
    assert f"rind_bridge {__version__} started the worker" in found["text"]


@pytest.mark.skipif(shutil.which("ruby") is None, reason="no ruby on the PATH")
def test_a_gem_of_another_version(findings, tmp_path):
    lib = tmp_path / "lib"
    shutil.copytree(ROOT / "ruby_client" / "lib", lib)
    version = lib / "rind_bridge" / "version.rb"
    version.write_text(version.read_text().replace(__version__, "0.0.1"))
    found = findings(status=1, RUBYLIB=str(lib))["gem"]
    assert f"rind_bridge is version 0.0.1, this program is {__version__}" in found["text"]


def test_a_home_that_is_not_there_is_noted_and_not_made(findings, home):
    found = findings()["home"]
    assert (found["level"], home.exists()) == ("note", False)
    assert "does not exist yet" in found["text"]


@pytest.mark.parametrize("home", ["/proc/x", "/dev/null/x"])
def test_a_home_where_nothing_can_be_made(findings, home):
    found = findings(status=1, RIND_BRIDGE_HOME=home)["home"]
    assert found["level"] == "FAILED"
    assert f"{home} cannot be used" in found["text"]


def test_a_home_that_others_may_read(findings, home):
    home.mkdir()
    home.chmod(0o755)
    found = findings(status=1)["rights"]
    assert (found["level"], found["advice"]) == ("FAILED", f"Run: chmod 700 {home}")


def test_quotas_that_are_nearly_used_up(findings, home):
    Outputs(home, Limits()).store("s1", "c1", b"x" * 4_000)
    found = findings(status=1, RIND_BRIDGE_OUTPUT_SESSION_MAX_BYTES="4096")["quota"]
    assert "session s1 keeps 4,000 of 4,096" in found["text"]


def test_a_ledger_that_was_set_aside_is_noted(findings, home):
    home.mkdir(mode=0o700)
    (home / "ledger.sqlite3.damaged-20260101T000000Z").write_bytes(b"")
    found = findings()["ledger"]
    assert "ledger.sqlite3.damaged-20260101T000000Z" in found["text"]
