"""The worker's memory stays where it is, however many large results pass through it.

BRIDGE_MEMORY_FULL=1 runs the whole of it, 10,000 completions of 1 MB, which takes minutes.
"""

import os
from pathlib import Path

import pytest

from bridge.payload.weight import FREE_BYTES, MOST_TIMES, needs_too_much

MEGABYTE = 1_000_000
MOST_GROWTH = 5 * MEGABYTE
FIRST, LAST = (1_000, 10_000) if os.environ.get("BRIDGE_MEMORY_FULL") else (50, 150)

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")


def memory(worker, field):
    """Return a field of /proc/PID/status in bytes (proc(5))."""
    lines = Path(f"/proc/{worker.process.pid}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(field + ":")]
    return int(line.split()[1]) * 1_024


def test_memory_does_not_grow_with_the_number_of_large_completions(spawn):
    """Between the 1,000th and the 10,000th completion of 1 MB the peak grows by less than 5 MB."""
    worker = spawn()
    lines = "".join(f"line {number} of a tool that says a lot\n" for number in range(26_000))[:MEGABYTE]
    for number in range(LAST):
        if number == FIRST:
            peak, resident = memory(worker, "VmHWM"), memory(worker, "VmRSS")
        reply = worker.call("tool_completed", number, result={"result": lines, "exit_status": 0}, name="bash")
        assert reply["id"] == number
        assert "result" in reply
    grown = memory(worker, "VmHWM") - peak
    print(f"at the {FIRST}th: peak {peak}, resident {resident}; at the {LAST}th: peak {peak + grown}")
    assert grown < MOST_GROWTH


def listed(item, size):
    return b"[" + b",".join([item] * (size // (len(item) + 1))) + b"]"


def named(item, size):
    return b"{" + b",".join(b'"k%07d":%b' % (at, item) for at in range(size // (len(item) + 12))) + b"}"


def beyond(value):
    """Return a list or an object with one more member, a number beyond doubles."""
    return value[:-1] + (b",1e400]" if value.endswith(b"]") else b',"beyond":1e400}')


def text_of(piece, size):
    return b'{"stdout":"' + piece * (size // len(piece)) + b'"}'


def change_of(piece, size):
    return b'{"ok":true,"diff":"' + piece * (size // len(piece)) + b'"}'


# What a result is made of, for every size, and the tool that gave it.
SHAPES = {
    "rows": (lambda size: listed(b'{"file":"lib/part1.rb","line":12,"text":"v = compute(i)"}', size), "query"),
    "empty objects": (lambda size: listed(b"{}", size), "query"),
    "empty lists": (lambda size: listed(b"[]", size), "patch_file"),
    "objects of one member": (lambda size: listed(b'{"a":1}', size), "query"),
    "digits": (lambda size: listed(b"1", size), "query"),
    "floats": (lambda size: listed(b"1.5", size), "query"),
    "powers of ten": (lambda size: listed(b"1e5", size), "query"),
    "nulls": (lambda size: listed(b"null", size), "query"),
    "short texts": (lambda size: listed(b'"ab"', size), "query"),
    "names": (lambda size: named(b"1", size), "query"),
    "names of empty objects": (lambda size: named(b"{}", size), "query"),
    "deep lists": (lambda size: listed(b"[" * 80 + b"]" * 80, size), "query"),
    "deeper than a content": (lambda size: listed(b"[" * 150 + b"]" * 150, size), "query"),
    "large integers": (lambda size: listed(b"9" * 30, size), "query"),
    "numbers beyond doubles": (lambda size: listed(b'{"a":1e400}', size), "query"),
    "lines": (lambda size: text_of(rb"a line of a log\n", size), "bash"),
    "returns": (lambda size: text_of(rb"\r", size), "bash"),
    "escapes": (lambda size: text_of(rb"\u001b[31m", size), "bash"),
    "Cyrillic": (lambda size: text_of("строка\\n".encode(), size), "bash"),
    "a page": (lambda size: text_of(rb"a line\n", size).replace(b"stdout", b"content", 1), "read_file"),
    "hunks": (lambda size: change_of(rb"@@ -1 +1 @@\n-a\n+b\n", size), "patch_file"),
}


HEAD = (
    b'{"jsonrpc":"2.0","id":1,"method":"tool_completed","params":{"session_id":"s","call_id":"c","name":"%b","result":'
)
SIZES = [size * MEGABYTE for size in (range(18, 0, -1) if os.environ.get("BRIDGE_MEMORY_FULL") else range(4, 0, -1))]
# What the allocator keeps beyond what is used differs a little from run to run.
TOLERANCE = 1.05


@pytest.mark.parametrize("changed", [bytes, beyond], ids=["as it is", "with a number beyond doubles"])
@pytest.mark.parametrize(("make", "name"), SHAPES.values(), ids=SHAPES)
def test_no_shape_takes_more_than_the_bound(spawn, make, name, changed):
    """The largest request of a shape that is not refused, with its output stored and its projection saved."""
    result = next(value for size in SIZES if not needs_too_much(value := changed(make(size))))
    worker = spawn()
    worker.call("tool_completed", result="x" * 100_000, name="run")
    at_rest = memory(worker, "VmHWM")
    worker.send(HEAD % name.encode() + result + b"}}\n")
    assert "result" in worker.reply()
    grown = memory(worker, "VmHWM") - at_rest
    print(f"{grown / len(result):.1f} times {len(result)} bytes")
    assert grown <= max(FREE_BYTES, MOST_TIMES * len(result)) * TOLERANCE
