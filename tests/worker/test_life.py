"""How a worker ends, and what it survives: signals, its parent, and methods that do what they must not."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

SECRET = "the-secret-of-the-tool"
INTERNAL_ERROR = {"code": -32603, "message": "Internal error"}
PATIENCE_SECONDS = 60

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")


def wait_for_end(pid):
    """Wait until a process that is no child of ours has ended; its parent may take its time to reap it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not has_ended(pid):
        if time.monotonic() > deadline:
            raise TimeoutError(f"process {pid} lives on")
        time.sleep(0.02)


def has_ended(pid):
    """Return whether the process is gone or a zombie (proc(5), the third field of stat)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


class TestMethodsThatMisbehave:
    def test_what_a_method_prints_goes_to_stderr(self, misbehaving):
        """Nor does a method that reads stdin get hold of a request."""
        assert misbehaving.call("prints")["result"] == ""
        assert misbehaving.alive()
        status, out, err = misbehaving.end()
        assert (status, out) == (0, b"")
        assert err.splitlines() == ["not a frame", "not a frame either"]

    @pytest.mark.parametrize(
        ("method", "params"),
        [
            ("raises", {"secret": SECRET}),
            ("exits", {}),
            ("interrupts", {}),
            ("recurses", {}),
            ("gives_an_object", {}),
            ("gives_not_a_number", {}),
            ("nests", {"depth": 100_000}),
        ],
    )
    def test_a_defect_is_one_internal_error_and_its_cause_is_on_stderr(self, misbehaving, method, params):
        """The line on stderr names the request and the place, and holds nothing of what was passed."""
        reply = misbehaving.call(method, "the-id", **params)
        assert reply == {"jsonrpc": "2.0", "error": INTERNAL_ERROR, "id": "the-id"}
        assert misbehaving.alive()
        status, out, err = misbehaving.end()
        assert (status, out) == (0, b"")
        assert len(err.splitlines()) == 1
        assert f"request id='the-id' method={method} failed" in err
        assert SECRET not in err

    def test_a_lone_surrogate_in_a_result_is_replaced(self, misbehaving):
        assert misbehaving.call("gives_a_surrogate")["result"] == "\ufffd"

    def test_a_child_that_keeps_every_descriptor_disturbs_nothing(self, misbehaving):
        """It must not keep the client's stdout open, either: the client waits for its end."""
        child = misbehaving.call("forks_and_stays")["result"]
        try:
            assert misbehaving.alive()
            misbehaving.process.stdin.close()
            assert misbehaving.line() == b""
            assert misbehaving.process.wait(PATIENCE_SECONDS) == 0
            os.kill(child, 0)
        finally:
            os.kill(child, signal.SIGKILL)

    @needs_proc
    def test_a_child_that_comes_back_from_the_method_answers_nothing(self, misbehaving):
        child = misbehaving.call("forks_and_returns")["result"]
        assert child > 0
        wait_for_end(child)
        assert misbehaving.alive()
        assert misbehaving.end()[:2] == (0, b"")

    def test_a_program_that_a_method_starts_has_stderr_for_stdout(self, misbehaving):
        child = misbehaving.call("spawns")["result"]
        try:
            assert misbehaving.alive()
            misbehaving.process.stdin.close()
            assert misbehaving.line() == b""
        finally:
            os.kill(child, signal.SIGKILL)


class TestTheEnd:
    def test_shutdown_answers_null_then_the_worker_exits(self, spawn):
        worker = spawn()
        assert worker.call("shutdown") == {"jsonrpc": "2.0", "result": None, "id": 1}
        assert worker.process.wait(PATIENCE_SECONDS) == 0

    def test_shutdown_as_a_notification_ends_the_worker_without_a_word(self, spawn):
        worker = spawn()
        worker.send({"jsonrpc": "2.0", "method": "shutdown"})
        assert worker.line() == b""
        assert worker.process.wait(PATIENCE_SECONDS) == 0

    def test_requests_behind_a_shutdown_are_not_answered(self, spawn):
        worker = spawn()
        lines = [
            {"jsonrpc": "2.0", "id": number, "method": method} for number, method in ((1, "shutdown"), (2, "ping"))
        ]
        worker.send(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        assert worker.reply()["id"] == 1
        assert worker.line() == b""

    def test_in_a_batch_what_stands_beside_a_shutdown_is_answered(self, spawn):
        worker = spawn()
        worker.send(
            [{"jsonrpc": "2.0", "id": number, "method": method} for number, method in ((1, "shutdown"), (2, "ping"))]
        )
        assert [reply["result"] for reply in worker.reply()] == [None, "pong"]
        assert worker.process.wait(PATIENCE_SECONDS) == 0

    def test_sigterm_ends_an_idle_worker_in_order(self, spawn):
        worker = spawn()
        assert worker.alive()
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(PATIENCE_SECONDS) == 0

    def test_sigterm_lets_the_reply_under_way_be_finished(self, misbehaving):
        assert misbehaving.alive()
        misbehaving.send({"jsonrpc": "2.0", "id": 1, "method": "sleeps", "params": [1]})
        misbehaving.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        time.sleep(0.2)
        misbehaving.process.send_signal(signal.SIGTERM)
        assert misbehaving.reply() == {"jsonrpc": "2.0", "result": "slept", "id": 1}
        assert misbehaving.process.wait(PATIENCE_SECONDS) == 0

    def test_sigterm_lets_a_reply_that_waits_in_a_full_pipe_be_finished(self, misbehaving):
        assert misbehaving.alive()
        misbehaving.send({"jsonrpc": "2.0", "id": 1, "method": "repeats", "params": ["x", 3_000_000]})
        time.sleep(0.2)
        misbehaving.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        assert misbehaving.reply()["result"] == "x" * 3_000_000
        assert misbehaving.process.wait(PATIENCE_SECONDS) == 0

    @pytest.mark.parametrize("method", ["ping", "sleeps"])
    def test_sigint_is_the_oracles_business(self, misbehaving, method):
        """A terminal's Ctrl-C goes to the whole group; idle or busy, the worker works on."""
        assert misbehaving.alive()
        params = [1] if method == "sleeps" else []
        misbehaving.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        misbehaving.process.send_signal(signal.SIGINT)
        assert "result" in misbehaving.reply()
        misbehaving.process.send_signal(signal.SIGINT)
        assert misbehaving.alive()

    def test_a_client_that_closes_stdout_ends_an_idle_worker(self, spawn):
        worker = spawn()
        assert worker.alive()
        worker.process.stdout.close()
        assert worker.process.wait(PATIENCE_SECONDS) == 1

    def test_a_client_that_closes_stdout_ends_a_worker_that_answers(self, misbehaving):
        assert misbehaving.alive()
        misbehaving.send({"jsonrpc": "2.0", "id": 1, "method": "repeats", "params": ["x", 3_000_000]})
        time.sleep(0.2)
        misbehaving.process.stdout.close()
        assert misbehaving.process.wait(PATIENCE_SECONDS) == 1


@needs_proc
@pytest.mark.parametrize("method", ["ping", "sleeps", "spins"])
def test_a_worker_whose_parent_is_killed_ends(method, tmp_path, request):
    """Even while a sibling holds its pipes open, so that no end of input comes; idle, waiting or busy."""
    parent_program = textwrap.dedent("""
        import subprocess, sys
        print(subprocess.Popen(sys.argv[1:]).pid, file=sys.stderr, flush=True)
        input_never_comes = sys.stderr.flush()
        import time
        time.sleep(600)
    """)
    misbehaving = request.path.with_name("misbehaving.py")
    parent = subprocess.Popen(
        [sys.executable, "-c", parent_program, sys.executable, misbehaving],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"RIND_BRIDGE_HOME": str(tmp_path), "PATH": os.environ["PATH"]},
    )
    with parent:
        worker = int(parent.stderr.readline())
        parent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        parent.stdin.flush()
        assert b"pong" in parent.stdout.readline()
        if method != "ping":
            line = {
                "jsonrpc": "2.0",
                "id": 2,
                "method": method,
                "params": [600] if method == "sleeps" else [],
            }
            parent.stdin.write(json.dumps(line).encode() + b"\n")
            parent.stdin.flush()
            time.sleep(0.2)
        parent.send_signal(signal.SIGKILL)
        wait_for_end(worker)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_stdout_that_is_full_ends_the_worker_in_a_sentence(tmp_path):
    with Path("/dev/full").open("wb") as full:
        worker = subprocess.run(
            [sys.executable, "-P", "-m", "bridge", "serve"],
            input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
            stdout=full,
            stderr=subprocess.PIPE,
            env=os.environ | {"RIND_BRIDGE_HOME": str(tmp_path / "home")},
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert worker.returncode == 1
    assert worker.stderr.endswith(b" ERROR stdin or stdout failed: No space left on device; the worker ends\n")
    assert worker.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        f'{{"jsonrpc":"2.0","id":1,"method":"nope","params":["{SECRET}"]}}',
        f'{{"jsonrpc":"2.0","id":1,"method":"tool_completed","params":{{"result":"{SECRET}"}}}}',
        f'{{"jsonrpc":"2.0","id":1,"method":"tool_completed","params":{{"result":1,"name":["{SECRET}"]}}}}',
        f'{{"jsonrpc":"2.0","id":1,"method":"ui_preview","params":"{SECRET}"}}',
        f'{{"jsonrpc":"1.0","id":1,"method":"ui_preview","params":["{SECRET}"]}}',
        f'{{"jsonrpc":"2.0","id":1,"method":"ui_preview","params":["{SECRET}"]',
        f'["{SECRET}",{{"result":"{SECRET}"}}]',
        f'{{"jsonrpc":"2.0","id":["{SECRET}"],"method":"ping"}}',
    ],
)
def test_what_a_tool_returned_is_neither_logged_nor_told(spawn, line):
    worker = spawn()
    worker.send(line.encode() + b"\n")
    _, out, err = worker.end()
    assert b"error" in out
    assert SECRET not in out.decode() + err


ROOT = Path(__file__).parents[2]
SITE_PACKAGES = sysconfig.get_path("purelib")
IDS = {"session_id": "s", "call_id": "c"}
LONG = "a line of a long output\n" * 20_000


class TestHowPythonIsStarted:
    @pytest.mark.parametrize("options", [["-S"], ["-OO"], ["-S", "-OO"], ["-B", "-P"]], ids=" ".join)
    def test_a_call_is_answered_and_its_output_kept(self, spawn, options):
        """-S: without site and its paths; -OO: without docstrings, of which the document's summaries are made."""
        paths = os.pathsep.join([str(ROOT), SITE_PACKAGES])
        worker = spawn([sys.executable, *options, "-m", "bridge", "serve"], env={"PYTHONPATH": paths})
        assert worker.call("tool_completed", result=LONG, name="run", **IDS)["result"]["output"]["bytes"] == len(LONG)
        assert worker.call("read_output", **IDS)["result"]["total_bytes"] == len(LONG)
        assert len(worker.call("replay", session_id="s")["result"]["items"]) == 1
        assert worker.call("rpc.discover")["result"]["methods"]
        status, out, err = worker.end()
        assert (status, out, err) == (0, b"", "")

    def test_plugins_of_pydantic_are_not_run(self, spawn, tmp_path):
        package = tmp_path / "installed" / "plugin-1.0.dist-info"
        package.mkdir(parents=True)
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
        (package / "entry_points.txt").write_text("[pydantic]\nplugin = meddling_plugin:plugin\n")
        (package.parent / "meddling_plugin.py").write_text("import os\nos._exit(9)\n")
        worker = spawn(env={"PYTHONPATH": str(package.parent)})
        assert worker.call("initialize", client={})["result"]
        assert worker.end()[0] == 0

    def test_packages_that_are_not_found_are_named_in_one_sentence(self, spawn):
        worker = spawn([sys.executable, "-S", "-m", "bridge", "serve"], cwd=ROOT)
        status, out, err = worker.end()
        assert (status, out) == (2, b"")
        assert len(err.splitlines()) == 1
        assert "No module named" in err
        assert "install rind-bridge with its dependencies" in err

    def test_without_any_stream_it_ends_with_a_status(self, spawn):
        worker = spawn(["/bin/sh", "-c", f'exec "{sys.executable}" -m bridge serve <&- >&- 2>&-'])
        assert worker.process.wait(PATIENCE_SECONDS) == 2


class TestSigstop:
    def test_what_was_sent_to_a_stopped_worker_is_answered_when_it_goes_on(self, spawn):
        worker = spawn()
        assert worker.alive()
        worker.process.send_signal(signal.SIGSTOP)
        for number in range(100):
            worker.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
        worker.process.send_signal(signal.SIGCONT)
        assert [worker.reply()["id"] for _ in range(100)] == list(range(100))
        assert worker.end() == (0, b"", "")

    def test_a_reply_that_was_stopped_half_way_is_whole(self, misbehaving):
        assert misbehaving.alive()
        misbehaving.send({"jsonrpc": "2.0", "id": 1, "method": "repeats", "params": ["x", 3_000_000]})
        misbehaving.received = os.read(misbehaving.process.stdout.fileno(), 1_000)
        misbehaving.process.send_signal(signal.SIGSTOP)
        misbehaving.process.send_signal(signal.SIGCONT)
        assert misbehaving.reply()["result"] == "x" * 3_000_000
        assert misbehaving.alive()

    def test_the_end_of_input_of_a_stopped_worker_is_seen_when_it_goes_on(self, spawn):
        worker = spawn()
        assert worker.alive()
        worker.process.send_signal(signal.SIGSTOP)
        worker.process.stdin.close()
        worker.process.send_signal(signal.SIGCONT)
        assert worker.process.wait(PATIENCE_SECONDS) == 0


class TestAUserWithoutPrivileges:
    """Root may write everywhere, so what a read-only home does is seen only by somebody else."""

    NOBODY = 65_534
    # All that a call imports is imported first: this user may not be able to read the files of this Python.
    PROGRAM = """if True:
        import os, sys
        import bridge
        from bridge.store import ledger, outputs
        from bridge.worker import rpc, services
        from bridge.worker.stdio import serve
        bridge.normalize("a line\\n" * 20_000, name="run")
        os.setgroups([])
        os.setgid(int(sys.argv[1]))
        os.setuid(int(sys.argv[1]))
        sys.exit(serve())
    """

    @pytest.fixture
    def home(self):
        """Return a folder of root's that everybody may enter, as none below pytest's own is."""
        if os.geteuid() != 0:
            pytest.skip("not root: the worker of every other test is already one of a user without privileges")
        with tempfile.TemporaryDirectory() as home:
            Path(home).chmod(0o755)
            yield Path(home)

    @pytest.fixture
    def worker(self, spawn, home):
        command = [sys.executable, "-c", self.PROGRAM, str(self.NOBODY)]
        return spawn(command, env={"RIND_BRIDGE_HOME": str(home)})

    def test_in_a_home_that_is_its_own_everything_is_kept(self, worker, home):
        os.chown(home, self.NOBODY, self.NOBODY)
        output = worker.call("tool_completed", result=LONG, name="run", **IDS)["result"]["output"]
        assert Path(output["path"]).stat().st_uid == self.NOBODY
        assert worker.call("read_output", **IDS)["result"]["total_bytes"] == len(LONG)

    def test_in_a_home_that_is_not_its_own_calls_go_on_and_say_why_nothing_is_kept(self, worker, home):
        result = worker.call("tool_completed", result=LONG, name="run", **IDS)["result"]
        assert len(result["model_content"].encode()) <= 25_600
        assert result["output"]["reason"]
        assert result["model_content_policy"]["ledger"]["reason"]
        assert worker.call("replay", session_id="s")["error"]["code"] == -32003
        assert worker.alive()
        assert list(home.iterdir()) == []
