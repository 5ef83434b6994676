"""A real worker at the end of real pipes, and a server in this process for what needs no pipe."""

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bridge.settings import Settings
from bridge.worker.framing import InputLine
from bridge.worker.rpc import Server
from bridge.worker.services import Worker

HERE = Path(__file__).parent
SERVE = [sys.executable, "-m", "bridge", "serve"]
MISBEHAVING = [sys.executable, str(HERE / "misbehaving.py")]
PATIENCE_SECONDS = 60  # a loaded machine is slow, a hanging worker is slower


class WorkerProcess:
    """A child process that speaks lines of JSON-RPC; every wait has a deadline."""

    def __init__(self, command, home, **options):
        environment = {"PATH": os.environ["PATH"], "RIND_BRIDGE_HOME": str(home), **options.pop("env", {})}
        pipes = {name: options.pop(name, subprocess.PIPE) for name in ("stdin", "stdout", "stderr")}
        self.process = subprocess.Popen(command, env=environment, bufsize=0, **pipes, **options)
        self.received = b""

    def send(self, data):
        if not isinstance(data, bytes):
            data = json.dumps(data).encode() + b"\n"
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def line(self, seconds=PATIENCE_SECONDS):
        """Return the next line with its LF, or what came before the end of the stream."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.received:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"no line within {seconds} s; so far {self.received[:200]!r}")
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                break
            self.received += data
        line, lf, self.received = self.received.partition(b"\n")
        return line + lf

    def reply(self):
        return json.loads(self.line())

    def call(self, method, identifier=1, **params):
        self.send({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params})
        return self.reply()

    def alive(self):
        """Prove that the worker answers and that no byte stands between its replies."""
        return self.call("ping", "alive?") == {"jsonrpc": "2.0", "result": "pong", "id": "alive?"}

    def end(self):
        """Close the input and return the exit status, what was left on stdout, and stderr."""
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, self.received + (out or b""), (err or b"").decode()

    def kill(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def spawn(tmp_path):
    """Start a worker; whatever is still running after the test is killed."""
    workers = []

    def start(command=SERVE, **options):
        workers.append(WorkerProcess(command, tmp_path / "home", **options))
        return workers[-1]

    yield start
    for worker in workers:
        worker.kill()


@pytest.fixture
def misbehaving(spawn):
    """Start a worker with the methods of misbehaving.py beside its own."""
    return spawn(MISBEHAVING)


class NoServices:
    """Services of a worker on a machine where nothing can be stored."""

    def __init__(self, settings):
        self.settings = settings
        self.outputs = self.ledger = None


@pytest.fixture
def worker(tmp_path):
    return Worker(Settings(home=tmp_path / "home"), NoServices)


@pytest.fixture
def answer(worker):
    """Answer one line, given as text, bytes or a value; gives the parsed reply or None."""
    server = Server(worker)

    def reply(line):
        if not isinstance(line, bytes | str):
            line = json.dumps(line)
        data = line.encode() if isinstance(line, str) else line
        frame = server.answer(InputLine(data))
        if frame is None:
            return None
        assert frame.endswith(b"\n")
        assert frame.count(b"\n") == 1
        return json.loads(frame)

    return reply
