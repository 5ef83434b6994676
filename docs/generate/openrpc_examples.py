"""Makes bridge/protocol/examples.json: one call of each method, and what a real worker answered.

Run it to rewrite them:  .venv/bin/python docs/generate/openrpc_examples.py
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager

from bridge.protocol.openrpc import EXAMPLES

IDS = {"session_id": "s1", "call_id": "c1"}
CLIENT = {"name": "an example", "version": "1", "ruby": "3.4.1", "json": "2.21.0"}
LOG = "".join(f"ok {number} - a test that passed\n" for number in range(1, 101)) + "not ok 101 - a test that failed\n"
# In this order: a call stores what the next ones read.
CALLS = {
    "initialize": {"client": CLIENT, "limits": {"model_max_bytes": 2_048, "terminal_max_bytes": 1_024}},
    "ping": {},
    "ui_preview": {"result": {"result": [1.0, None, "a"], "exit_status": 0}, "limit": 20},
    "normalize": {"result": {"error": "no such file", "path": "a.rb"}, "name": "grep", "status": "failed"},
    "tool_completed": {"result": LOG, "name": "bash", **IDS, "args": {"command": "make test"}},
    "read_output": {**IDS, "offset": 101, "limit": 10},
    "replay": {"session_id": "s1", "limit": 1},
    "lookup": {"session_id": "s1", "call_id": "another"},
    "forget": {"session_id": "s1"},
    "cleanup": {},
    "stats": {},
    "rpc.discover": {},
    "shutdown": {},
}
# What differs from run to run, and what stands for it in the file.
HOME = "/tmp/rind-bridge-examples"
VOLATILE = {"pid": 4711, "version": "0.2.0", "time": 1767225600.0, "seconds": 0.001, "uptime_seconds": 0.5}


@contextmanager
def serving(**options):
    """Start a worker; yield its home and a function that sends a line and returns the reply."""
    home = tempfile.mkdtemp(prefix="rind-bridge-")
    with subprocess.Popen(
        [sys.executable, "-m", "bridge", "serve"],
        env={"PATH": os.environ["PATH"], "RIND_BRIDGE_HOME": home, **options},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as worker:

        def call(line):
            worker.stdin.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
            worker.stdin.flush()
            return json.loads(worker.stdout.readline())

        try:
            yield home, call
        finally:
            worker.stdin.close()
            worker.wait()
            shutil.rmtree(home)


def answers():
    """Return what a real worker answers to ``CALLS``: its home, and the result of each."""
    with serving() as (home, call):
        request = {"jsonrpc": "2.0", "id": 1}
        return home, {
            method: call({**request, "method": method, "params": params})["result"] for method, params in CALLS.items()
        }


def steady(value, home):
    """Return ``value`` with what differs from run to run replaced."""
    if isinstance(value, dict):
        return {name: VOLATILE.get(name, steady(member, home)) for name, member in value.items()}
    if isinstance(value, list):
        return [steady(member, home) for member in value]
    return value.replace(home, HOME) if isinstance(value, str) else value


def examples():
    """Return the examples as they stand in the file; of its own document ``rpc.discover`` shows the head alone."""
    home, given = answers()
    shown = {method: steady(result, home) for method, result in given.items()}
    shown["rpc.discover"] |= {"methods": [], "components": {}}
    return {method: {"params": CALLS[method], "result": shown[method]} for method in CALLS}


if __name__ == "__main__":
    EXAMPLES.write_text(json.dumps(examples(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
