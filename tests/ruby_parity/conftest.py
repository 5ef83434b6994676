"""The Ruby that the worker is compared with: one process for the whole run."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

REFERENCE = Path(__file__).with_name("reference.rb")


class Reference:
    """A Ruby process that answers questions; reference.rb says which."""

    def __init__(self, process):
        self._process = process
        self.versions = self.ask("versions")
        self.ruby = version(self.versions["ruby"])
        self.json = version(self.versions["json"])

    def ask(self, question):
        """Give the answer to one question; both are JSON, with NaN and the infinities beside."""
        self.send(question)
        return self.receive()

    def send(self, question):
        """Let Ruby work on a question while this process does; ``receive`` then gives the answer."""
        self._process.stdin.write(json.dumps(question, ensure_ascii=False).encode() + b"\n")
        self._process.stdin.flush()

    def receive(self):
        """Give the answer to what was sent."""
        return json.loads(self._process.stdout.readline())


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
