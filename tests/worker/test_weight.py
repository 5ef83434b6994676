"""Which lines would need too much memory, and that a worker answers them and goes on."""

import json
import resource

import pytest

from bridge.payload.weight import FREE_BYTES, needs_too_much

SIZE = 18_000_000
TOO_LARGE = {"code": -32001, "message": "Request too large"}


def listed(item, size=SIZE):
    return b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]"


@pytest.mark.parametrize("item", [b"{}", b"[]", b"[[]]", b'{"a":1}', b"1.5"], ids=repr)
def test_a_list_of_many_small_things_needs_too_much(item):
    assert needs_too_much(listed(item))
    assert not needs_too_much(listed(item, FREE_BYTES // 40))


@pytest.mark.parametrize("item", [b"1", b'""', b'"ab"', b'{"file":"lib/part1.rb","line":12,"text":"v = compute(i)"}'])
def test_what_results_really_are_does_not(item):
    assert not needs_too_much(listed(item))


def test_structure_inside_a_text_costs_nothing():
    assert not needs_too_much(json.dumps(listed(b'{"a":[{}]}').decode()).encode())
    assert not needs_too_much(b'"' + rb"\"{}[]" * 3_000_000)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))


@pytest.mark.parametrize("item", [b"{}", b"[[]]", b'{"a":1}'], ids=repr)
def test_a_worker_with_little_memory_answers_and_goes_on(spawn, item):
    worker = spawn(preexec_fn=limit_memory)
    head = b'{"jsonrpc":"2.0","id":1,"method":"tool_completed","params":{"name":"run","result":'
    worker.send(head + listed(item) + b"}}\n")
    assert worker.reply()["error"].items() >= TOO_LARGE.items()
    assert worker.alive()


def test_a_line_that_memory_does_not_suffice_for_is_answered_too(spawn):
    """A text of a size that is permitted, in a process that has not the memory for it."""
    worker = spawn(preexec_fn=limit_memory)
    head = b'{"jsonrpc":"2.0","id":1,"method":"tool_completed","params":{"name":"run","result":"'
    worker.send(head + "é line\\n".encode() * 7_000_000 + b'"}}\n')
    assert "id" in worker.reply()
    assert worker.alive()
