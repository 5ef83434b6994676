"""What the method ``stats`` tells."""

import json

from bridge.protocol.models import Params, ToolCall
from bridge.worker.framing import InputLine
from bridge.worker.methods import Method
from bridge.worker.rpc import Server
from bridge.worker.stats import MOST_TOOLS, OTHER_TOOLS, Stats


class Named(Params):
    name: str


def test_calls_and_errors_and_time_are_counted_for_each_method(answer):
    for line in ({"id": 1}, {"id": 2, "params": [1]}, {}):
        answer({"jsonrpc": "2.0", "method": "ping", **line})
    count = answer({"jsonrpc": "2.0", "id": 3, "method": "stats"})["result"]["methods"]["ping"]
    assert (count["calls"], count["errors"]) == (3, 1)
    assert count["seconds"] > 0


def test_bytes_are_counted_for_each_tool(worker):
    server = Server(worker, {"normalize": Method(ToolCall, lambda _, call: [call.result, call.name])})
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "normalize", "params": ["x" * 100, "bash"]}).encode()
    reply = server.answer(InputLine(line))
    count = worker.stats.to_json()["tools"]["bash"]
    assert count == {"calls": 1, "bytes_in": len(line), "bytes_out": len(reply) - len(b"\n")}


def test_the_bytes_of_a_batch_are_shared_out(worker):
    server = Server(worker, {"normalize": Method(Named, lambda _, given: given.name)})
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "normalize", "params": [name]} for name in ("a", "b")]
    line = json.dumps(batch).encode()
    server.answer(InputLine(line))
    assert worker.stats.tools["a"]["bytes_in"] == worker.stats.tools["b"]["bytes_in"] == len(line) // 2


def test_made_up_names_of_tools_do_not_grow_the_counts():
    stats = Stats()
    for number in range(MOST_TOOLS + 100):
        stats.count_tool(f"tool {number}", 1, 1)
    assert len(stats.tools) == MOST_TOOLS + 1
    assert stats.tools[OTHER_TOOLS]["calls"] == 100
