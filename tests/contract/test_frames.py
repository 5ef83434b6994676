"""Runs every fixture of frames/, which Ruby wrote from a real run, through a worker of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = sorted(Path(__file__).with_name("frames").glob("*.json"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_worker_gives_the_result_that_the_frame_carries(path):
    """The worker prints for itself here, so what Ruby printed into the frame is Python's text too."""
    fixture = json.loads(path.read_text(encoding="utf-8"))
    _, completed = [json.loads(line) for line in fixture["frames"]]
    given = ask_worker(fixture["call"])
    assert json.dumps(given) == json.dumps(completed["payload"]["data"]["result"])


def ask_worker(call):
    """Return the preview of one call by a worker that has the fixture's structural tools."""
    params = {"result": call["result"], "name": call["name"]}
    request = {"jsonrpc": "2.0", "id": 1, "method": "ui_preview", "params": params}
    run = subprocess.run(
        [sys.executable, "-m", "bridge", "serve"],
        input=json.dumps(request).encode() + b"\n",
        stdout=subprocess.PIPE,
        env=os.environ | {"RIND_BRIDGE_STRUCTURAL_TOOLS": ",".join(call["structural_tools"])},
        check=True,
    )
    return json.loads(run.stdout)["result"]
