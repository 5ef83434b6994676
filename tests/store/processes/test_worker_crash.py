"""The same through the whole worker: what it had answered on its pipe is in the ledger and comes again."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time

import orjson

from bridge.limits import Limits
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

SAVED = ("model_content", "model_content_format", "model_content_policy", "attachments", "output")


def result_of(call_id):
    """Return the result of a call: text that is cut, so that each call writes an output and a row."""
    generator = random.Random(call_id)
    return {"result": "".join(f"{generator.random()}\n" for _ in range(generator.randrange(500, 20_000)))}


def request(number, call_id):
    params = {"result": result_of(call_id), "name": "bash", "session_id": "session", "call_id": call_id}
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "method": "tool_completed", "params": params}) + b"\n"


def worker_of(home):
    return subprocess.Popen(
        [sys.executable, "-m", "bridge", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "RIND_BRIDGE_HOME": str(home)},
    )


def answers_before_the_kill(home, generator, calls):
    """Ask for ``calls``, kill the worker somewhere in the midst, and return the replies that had arrived."""
    with worker_of(home) as worker:
        lines = []
        for number in range(generator.randrange(1, len(calls))):
            worker.stdin.write(request(number, calls[number]))
            worker.stdin.flush()
            lines.append(worker.stdout.readline())
        worker.stdin.write(request(len(lines), calls[len(lines)]))
        worker.stdin.flush()
        time.sleep(generator.uniform(0, 0.02))
        worker.kill()
        lines += worker.stdout.readlines()
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def test_whole_workers_that_are_killed_lose_no_reply(tmp_path, counted):
    home, generator, answered = tmp_path / "home", random.Random(5), {}
    for number in range(counted(4, 200)):
        calls = [f"call-{number // 2}-{index}" for index in range(5)]
        for reply in answers_before_the_kill(home, generator, calls):
            saved = {name: reply["result"][name] for name in SAVED}
            assert answered.setdefault(calls[reply["id"]], saved) == saved

    ledger, outputs = Ledger(home), Outputs(home, Limits())
    for call_id, saved in answered.items():
        assert orjson.dumps(ledger.find("session", call_id)) == orjson.dumps(saved)
        assert outputs.read("session", call_id)["total_bytes"] == saved["output"]["bytes"]
    some = generator.sample(sorted(answered), min(20, len(answered)))
    with worker_of(home) as worker:
        for number, call_id in enumerate(some):
            worker.stdin.write(request(number, call_id))
            worker.stdin.flush()
            result = json.loads(worker.stdout.readline())["result"]
            assert result["replayed"] is True
            assert {name: result[name] for name in SAVED} == answered[call_id]
        worker.stdin.close()
        assert worker.wait() == 0
