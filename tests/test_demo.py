"""The demo is the main job: it must go on working, and it checks its own claims."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(shutil.which("ruby") is None, reason="no ruby on the PATH")
def test_the_demo_finishes_real_tools_and_all_that_it_claims_holds(tmp_path):
    environment = {
        **os.environ,
        "RIND_BRIDGE_HOME": str(tmp_path),
        "RIND_BRIDGE_COMMAND": f"{sys.executable} -m bridge serve",
    }
    command = ["ruby", "-w", "-I", "ruby_client/lib", "examples/oracle.rb"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert shown.stderr == ""
    assert shown.stdout.count("\nok ") == 3
    frames = (ROOT / "tmp" / "demo-frames.jsonl").read_bytes().split(b"\n")[:-1]
    types = [json.loads(frame)["payload"]["type"] for frame in frames]
    assert types[::2] == ["tool_starting"] * len(types[::2])
    assert types[1::2] == ["tool_completed"] * len(types[::2])
