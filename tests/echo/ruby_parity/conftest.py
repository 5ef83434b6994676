"""Ruby, and a worker to compare with it: one process each for the whole run."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REFERENCE = Path(__file__).with_name("reference.rb")


class Peer:
    """A process that answers lines of JSON with lines of JSON, NaN and the infinities beside."""

    def __init__(self, process):
        self._process = process

    def ask(self, question):
        """Return the answer to one question."""
        self.send(question)
        return self.receive()

    def send(self, question):
        """Let the process work while this one does; ``receive`` then gives the answer."""
        self._process.stdin.write(json.dumps(question, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()

    def receive(self):
        """Return the answer to what was sent."""
        return json.loads(self._process.stdout.readline())


class Reference(Peer):
    """The Ruby that computes the contract; reference.rb says what it can be asked."""

    def __init__(self, process):
        super().__init__(process)
        self.versions = self.ask("versions")
        self.ruby = version(self.versions["ruby"])
        self.json = version(self.versions["json"])


class Worker(Peer):
    """A real worker behind its pipes."""

    def __init__(self, process, ruby):
        super().__init__(process)
        client = {"name": "parity", "version": "0", "ruby": ruby}
        assert "result" in self.ask(request("initialize", {"client": client}))

    def previews(self, batch):
        """Return each text, and None where the object passes through, as reference.rb answers."""
        names = ("result", "limit", "name")
        requests = [request("ui_preview", dict(zip(names, case, strict=True))) for case in batch]
        given = [reply["result"] for reply in self.ask(requests)]
        for preview, (result, *_) in zip(given, batch, strict=True):
            assert not isinstance(preview, dict) or json.dumps(preview) == json.dumps(result)
        return [None if isinstance(preview, dict) else preview for preview in given]


def request(method, params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def version(text):
    return tuple(int(part) for part in text.split(".")[:2])


@pytest.fixture(scope="session")
def reference():
    if not shutil.which("ruby"):
        pytest.skip("no ruby on the PATH: nothing was compared with Ruby")
    # Ruby inspects into its external encoding; the panel's is UTF-8, whatever LANG this test runs under.
    command = ["ruby", "-w", "-EUTF-8:UTF-8", str(REFERENCE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Reference(process)
        process.stdin.close()
    assert process.returncode == 0


@pytest.fixture(scope="session")
def worker(reference):
    command = [sys.executable, "-m", "bridge", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Worker(process, reference.versions["ruby"])
        process.stdin.close()
    assert process.returncode == 0
