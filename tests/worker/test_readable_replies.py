"""Real Ruby reads every reply at its JSON's defaults (100 levels), whatever depth a result or a saved call has."""

import json
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest

IDS = {"session_id": "s1", "call_id": "c1"}
RUBY = """
STDIN.each_line do |line|
  puts JSON.generate(id: JSON.parse(line).then { |reply| reply.is_a?(Array) ? reply.length : reply["id"] })
rescue JSON::ParserError => e
  puts JSON.generate(error: e.class.name)
end
"""


def nested(levels):
    value = "end"
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def depth(value):
    if not isinstance(value, list | dict):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


@pytest.fixture
def worker(spawn):
    if not shutil.which("ruby"):
        pytest.skip("no ruby on the PATH: that Ruby reads every reply is unproven here")
    return spawn()


def read_by_ruby(line):
    ran = subprocess.run(["ruby", "-rjson", "-e", RUBY], input=line, capture_output=True, check=True, timeout=60)
    return json.loads(ran.stdout)


def request(method, params, identifier=1):
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}


def asked(worker, method, **params):
    """Return the result of a call whose reply Ruby could read."""
    worker.send(request(method, params))
    line = worker.line()
    assert read_by_ruby(line) == {"id": 1}
    return json.loads(line)["result"]


def attaching(levels):
    return {"ok": True, "tool": "bash", "data": "x", "attachments": [nested(levels)]}


@pytest.mark.parametrize("levels", [90, 96, 97, 98, 150, 190])
def test_a_deep_attachment_is_read_when_it_is_made_and_when_it_is_looked_up(worker, levels):
    asked(worker, "normalize", result=attaching(levels), name="bash")
    for _ in range(2):
        asked(worker, "tool_completed", result=attaching(levels), name="bash", **IDS)
    assert len(asked(worker, "replay", session_id="s1")["items"]) == 1
    assert asked(worker, "lookup", **IDS)["item"]["call_id"] == "c1"


@pytest.mark.parametrize("levels", [97, 195])
def test_what_an_earlier_version_saved_deeper_is_read_too(worker, tmp_path, levels):
    asked(worker, "tool_completed", result=attaching(1), name="bash", **IDS)
    with closing(sqlite3.connect(tmp_path / "home" / "ledger.sqlite3", isolation_level=None)) as ledger:
        (saved,) = ledger.execute("SELECT projection FROM projections").fetchone()
        deep = {**json.loads(saved), "attachments": [nested(levels)]}
        ledger.execute("UPDATE projections SET projection = ?", (json.dumps(deep),))
    ledger.close()
    assert asked(worker, "tool_completed", result=attaching(1), name="bash", **IDS)["replayed"]
    assert len(asked(worker, "replay", session_id="s1")["items"]) == 1
    assert asked(worker, "lookup", **IDS)["item"]["call_id"] == "c1"


@pytest.mark.parametrize("levels", [1, 97, 98])
def test_a_structure_that_ruby_can_send_goes_back_untouched(worker, levels):
    """A request of Ruby's has at most 100 levels, two of them around the result."""
    result = {"a": nested(levels - 1)}
    assert asked(worker, "ui_preview", result=result, name="read_file") == result


@pytest.mark.parametrize("levels", [99, 100, 195])
def test_a_structure_that_is_deeper_ends_in_the_text_of_its_json(worker, levels):
    given = asked(worker, "ui_preview", result={"a": nested(levels - 1)}, name="read_file")
    assert depth(given) == 98
    expected = {"a": nested(levels - 1)}
    while isinstance(given, list | dict):
        given, expected = (given["a"], expected["a"]) if isinstance(given, dict) else (given[0], expected[0])
    assert json.loads(given) == expected


def test_a_batch_of_deep_structures_is_read(worker):
    params = {"result": {"a": nested(150)}, "name": "read_file"}
    worker.send([request("ui_preview", params, number) for number in range(3)])
    assert read_by_ruby(worker.line()) == {"id": 3}


def test_a_deep_result_that_was_stored_is_read_page_by_page(worker):
    text = asked(worker, "tool_completed", result=[nested(150), "x" * 100_000], name="run", **IDS)["model_content"]
    assert json.loads(text)["tool"] == "run"
    assert asked(worker, "read_output", **IDS)["content"]
