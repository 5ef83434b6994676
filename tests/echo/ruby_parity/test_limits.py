"""What cannot be equal, on the wire: the refusals that docs/parity.md lists."""

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("result", "preview"),
    [
        ('{"a":1e400,"b":-1e400}', '{"a":Infinity,"b":-Infinity}'),
        ("[" * 199 + "]" * 199, "[" * 199 + "]" * 199),
        ("9" * 4_300, "9" * 3_997 + "..."),
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
    ],
    ids=["an infinity", "199 levels", "4,300 digits", "a key given twice"],
)
def test_what_the_wire_can_carry_is_printed(result, preview):
    assert ask_worker(result)[0]["result"] == preview


@pytest.mark.parametrize(
    "result",
    ["NaN", "Infinity", r'"\ud800"', "[" * 200 + "]" * 200, "9" * 4_301],
    ids=["NaN", "the word Infinity", "a lone surrogate", "200 levels", "4,301 digits"],
)
def test_what_the_wire_cannot_carry_costs_its_line_and_nothing_else(result):
    refused, answered = ask_worker(result)
    assert refused["error"]["code"] == -32700
    assert answered["result"] == "pong"


def ask_worker(result):
    """Return the replies to a preview of ``result``, a JSON text, and to a ping behind it."""
    preview = f'{{"jsonrpc":"2.0","id":1,"method":"ui_preview","params":{{"result":{result}}}}}'
    ping = '{"jsonrpc":"2.0","id":2,"method":"ping"}'
    command = [sys.executable, "-m", "bridge", "serve"]
    lines = f"{preview}\n{ping}\n".encode()
    run = subprocess.run(command, input=lines, capture_output=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]
