"""A real worker at real pipes: what it reads, what it writes, and what it never writes."""

import json
import os
import select
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
PONG = b'{"jsonrpc":"2.0","result":"pong","id":1}\n'
MEGABYTE = 1 << 20
ROOT = Path(__file__).parents[2]

needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")


def peak_memory(worker):
    """Return the most resident memory that the process ever had, in bytes (proc(5), VmHWM)."""
    (line,) = [
        line for line in Path(f"/proc/{worker.process.pid}/status").read_text().splitlines() if line.startswith("VmHWM")
    ]
    return int(line.split()[1]) * 1_024


def test_an_id_of_30_digits_comes_back_and_stdout_holds_that_one_line(spawn):
    worker = spawn()
    worker.send(b'{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}\n')
    status, out, err = worker.end()
    assert out == b'{"jsonrpc":"2.0","result":"pong","id":123456789012345678901234567890}\n'
    assert (status, err) == (0, "")


def test_the_console_script_is_the_same_worker(spawn):
    worker = spawn([str(Path(sys.executable).with_name("rind-bridge")), "serve"])
    worker.send(PING)
    assert worker.end()[:2] == (0, PONG)


@pytest.mark.parametrize("stream", [b"", b"\n", b"\r\n \t\n", b"\xef\xbb\xbf\n"])
def test_an_input_without_a_request_is_an_orderly_end(spawn, stream):
    worker = spawn()
    worker.send(stream)
    assert worker.end() == (0, b"", "")


def test_what_was_read_before_the_end_of_input_is_answered(spawn):
    worker = spawn()
    worker.send(PING * 1_000)
    assert worker.end()[:2] == (0, PONG * 1_000)


def test_an_input_that_ends_inside_a_line_is_logged_and_not_answered(spawn):
    """Without its LF a line is no frame: it may be the first half of another request."""
    worker = spawn()
    worker.send(PING + PING.rstrip())
    status, out, err = worker.end()
    assert (status, out) == (0, PONG)
    assert "the input ended inside a line of 40 bytes" in err


@pytest.mark.parametrize(
    "stream",
    [PING, b"\xef\xbb\xbf" + PING, PING.replace(b"\n", b"\r\n"), b"\n\n" + PING],
    ids=["plain", "byte-order mark", "CRLF", "blank lines"],
)
def test_a_frame_byte_by_byte(spawn, stream):
    worker = spawn()
    for byte in stream:
        worker.send(bytes([byte]))
    assert worker.line() == PONG


def test_u_2028_and_nul_stay_inside_a_line(spawn):
    worker = spawn()
    text = "a\u2028b\u2029c\u0085d\u0000e"
    assert worker.call("ui_preview", result=text)["result"] == text
    request = {"jsonrpc": "2.0", "id": 2, "method": "ui_preview", "params": [text]}
    worker.send(json.dumps(request, ensure_ascii=False).encode() + b"\n")
    assert worker.reply()["result"] == text


def test_numbers_that_no_double_and_no_64_bits_hold(spawn):
    """In a pass-through an integer is exact, and a number beyond doubles is still one, never null."""
    worker = spawn()
    line = '{"jsonrpc":"2.0","id":1,"method":"ui_preview","params":{"name":"read_file","result":%s}}\n'
    result = f'{{"z":1.0,"a":1,"big":{2**4_000},"huge":1e400,"tiny":-1e400,"nothing":null}}'
    worker.send((line % result).encode())
    sent = result.replace("1e400", "1e999")
    assert worker.line().decode() == f'{{"jsonrpc":"2.0","result":{sent},"id":1}}\n'


def test_ten_million_brackets_are_a_parse_error(spawn):
    worker = spawn()
    worker.send(b"[" * 10_000_000 + b"\n")
    assert worker.reply()["error"]["code"] == -32700
    assert worker.alive()


@needs_proc
def test_a_line_of_200_mb_is_refused_while_it_streams(spawn):
    """The answer comes before the line ends; the worker never holds more than its limit, and goes on."""
    limit = 8 * MEGABYTE
    worker = spawn(env={"RIND_BRIDGE_REQUEST_MAX_BYTES": str(limit)})
    assert worker.alive()
    before = peak_memory(worker)
    for _ in range(200):
        worker.send(b"a" * MEGABYTE)
    assert worker.reply()["error"] == {
        "code": -32001,
        "message": "Request too large",
        "data": {"request_max_bytes": limit},
    }
    worker.send(b"\n")
    assert worker.alive()
    assert peak_memory(worker) - before < limit + 8 * MEGABYTE


def test_a_limit_from_initialize_holds_for_the_next_line(spawn):
    worker = spawn()
    assert "result" in worker.call("initialize", client={}, limits={"request_max_bytes": 1_024})
    assert worker.call("ui_preview", result="x" * 1_024)["error"]["code"] == -32001
    assert "result" in worker.call("initialize", client={})
    assert worker.call("ui_preview", result="x" * 1_024)["result"] == "x" * 1_024


def test_a_wrong_limit_in_the_environment_is_told_and_ends_the_worker(spawn):
    worker = spawn(env={"RIND_BRIDGE_MODEL_MAX_BYTES": "many"})
    status, out, err = worker.end()
    assert (status, out) == (2, b"")
    assert "RIND_BRIDGE_MODEL_MAX_BYTES must be a whole number, not 'many'" in err


class TestAClientThatDoesNotRead:
    def test_three_requests_of_100_kb_before_the_first_reply_is_read(self, spawn):
        """Each reply is larger than a pipe holds: the worker must take in requests while a reply waits."""
        worker = spawn()
        requests = [
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "ui_preview",
                "params": [str(number) * 100_000, 200_000],
            }
            for number in range(3)
        ]
        for request in requests:
            worker.send(request)
        replies = [worker.reply() for _ in requests]
        assert [reply["result"] for reply in replies] == [request["params"][0] for request in requests]

    def test_thirty_megabytes_of_requests_before_the_first_reply_is_read(self, spawn):
        worker = spawn()
        text = "x" * 300_000
        for number in range(100):
            worker.send({"jsonrpc": "2.0", "id": number, "method": "ui_preview", "params": [text, 300_000]})
        replies = [worker.reply() for _ in range(100)]
        assert [reply["id"] for reply in replies] == list(range(100))
        assert all(reply["result"] == text for reply in replies)

    def test_reading_ahead_has_a_bound(self, spawn):
        """Past request_max_bytes the worker leaves requests in the pipe: the client waits for itself."""
        worker = spawn(env={"RIND_BRIDGE_REQUEST_MAX_BYTES": str(MEGABYTE)})
        request = {"jsonrpc": "2.0", "id": 1, "method": "ui_preview", "params": ["x" * 300_000, 300_000]}
        data = json.dumps(request).encode() + b"\n"
        os.set_blocking(worker.process.stdin.fileno(), False)
        taken = 0
        while taken < 100 * len(data) and select.select([], [worker.process.stdin], [], 2)[1]:
            taken += os.write(worker.process.stdin.fileno(), data[taken % len(data) :])
        assert 3 * len(data) < taken < 5 * MEGABYTE
        assert worker.reply()["result"] == "x" * 300_000

    def test_a_reply_larger_than_the_pipe_is_written_whole(self, spawn):
        worker = spawn()
        text = "ж" * 2_000_000
        assert worker.call("ui_preview", result=text, limit=3_000_000)["result"] == text


class TestStderr:
    def test_a_closed_stderr_changes_nothing(self, spawn):
        worker = spawn()
        assert worker.alive()
        worker.process.stderr.close()
        worker.send(b"not JSON\n" * 100)
        for _ in range(100):
            assert worker.reply()["error"]["code"] == -32700
        assert worker.alive()

    def test_a_stderr_that_nobody_drains_does_not_hang_the_worker(self, spawn):
        worker = spawn()
        worker.send(b"not JSON\n" * 5_000)
        for _ in range(5_000):
            assert worker.reply()["error"]["code"] == -32700
        assert worker.alive()

    def test_no_stderr_at_all(self, spawn):
        command = f'exec "{sys.executable}" -m bridge serve 2>&-'
        worker = spawn(["/bin/sh", "-c", command], stderr=subprocess.DEVNULL)
        worker.send(b"not JSON\n")
        assert worker.reply()["error"]["code"] == -32700
        assert worker.alive()

    @pytest.mark.parametrize("closed", ["<&-", ">&-"])
    def test_a_missing_stream_is_told(self, spawn, closed):
        worker = spawn(["/bin/sh", "-c", f'exec "{sys.executable}" -m bridge serve {closed}'])
        status, _, err = worker.end()
        assert status == 2
        assert "stdin and stdout must be open" in err


@needs_proc
@pytest.mark.parametrize("method", ["ping", "alarms"])
def test_an_idle_worker_does_not_spin(misbehaving, method):
    """Not after a signal that a library has asked for, either: that wakes the worker as SIGTERM does."""
    assert "result" in misbehaving.call(method)
    with pytest.raises(TimeoutError):
        misbehaving.line(seconds=1)
    before = processor_ticks(misbehaving)
    with pytest.raises(TimeoutError):
        misbehaving.line(seconds=2)
    assert processor_ticks(misbehaving) - before < os.sysconf("SC_CLK_TCK") // 2
    assert misbehaving.alive()


def processor_ticks(worker):
    """Return the processor time used so far (proc(5), utime and stime)."""
    fields = Path(f"/proc/{worker.process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


class TestNoiseWhilePythonStarts:
    """A sitecustomize and a .pth file run before any code of ours."""

    @pytest.fixture
    def customized(self, tmp_path):
        """Return a function that gives the environment of a Python with such a sitecustomize."""

        def environment(program):
            (tmp_path / "sitecustomize.py").write_text(program)
            return {"PYTHONPATH": str(tmp_path)}

        return environment

    def test_what_is_printed_is_on_stderr_and_not_before_the_first_reply(self, spawn, customized):
        worker = spawn(env=customized("print('noise')\nprint('without an end', end='')"))
        worker.send(PING)
        status, out, err = worker.end()
        assert (status, out) == (0, PONG)
        assert err == "noise\nwithout an end"

    @pytest.mark.parametrize(
        "program",
        [
            "import codecs, sys; sys.stdout = codecs.getwriter('utf-8')(sys.stdout.buffer)",
            "import io, sys; sys.stdout = io.StringIO()",
        ],
    )
    def test_a_stdout_that_was_replaced_keeps_no_worker_from_starting(self, spawn, customized, program):
        worker = spawn(env=customized(program))
        worker.send(PING)
        assert worker.end()[:2] == (0, PONG)

    def test_a_pth_file_is_no_different(self, spawn, customized, tmp_path):
        (tmp_path / "noise.pth").write_text("import sys; sys.stdout.write('noise')\n")
        worker = spawn(env=customized(f"import site; site.addsitedir({str(tmp_path)!r})"))
        worker.send(PING)
        assert worker.end() == (0, PONG, "noise")

    @pytest.mark.parametrize("noise", ["noise", "noise\n", '{"level":"info"}\n', "\xff"])
    def test_what_is_flushed_at_once_does_not_cost_ruby_its_worker(self, customized, tmp_path, noise):
        if not shutil.which("ruby"):
            pytest.skip("no ruby on the PATH: that the client survives such noise is unproven here")
        program = """
            RindBridge.start(home: ARGV[0], deadline: 60, preview_deadline: 60)
            echoes = [RindBridge.ui_preview([1]), RindBridge.ui_preview([2])]
            puts JSON.generate(echoes: echoes, status: RindBridge.status)
        """
        path = customized(f"import os; os.write(1, {noise.encode()!r})")["PYTHONPATH"]
        ran = subprocess.run(
            [
                "ruby",
                "-I",
                str(ROOT / "ruby_client" / "lib"),
                "-r",
                "rind_bridge",
                "-e",
                program,
                str(tmp_path / "home"),
            ],
            env={
                "PATH": os.environ["PATH"],
                "RIND_BRIDGE_COMMAND": shlex.join(
                    ["env", f"PYTHONPATH={path}", sys.executable, "-m", "bridge", "serve"]
                ),
            },
            capture_output=True,
            check=True,
        )
        told = json.loads(ran.stdout)
        assert told["echoes"] == ["[1]", "[2]"]
        assert (told["status"]["state"], told["status"]["spawned"], told["status"]["fallbacks"]) == ("ready", 1, 0)
