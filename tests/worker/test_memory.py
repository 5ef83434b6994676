"""The worker's memory stays where it is, however many large results pass through it.

BRIDGE_MEMORY_FULL=1 runs the whole of it, 10,000 completions of 1 MB and requests of up to 18 MB, which takes minutes.
"""

import os
from pathlib import Path

import pytest
from shapes import TEXTS, VALUES, with_numbers_beyond_json

from bridge.payload.weight import FREE_BYTES, MOST_TIMES, needs_too_much

MEGABYTE = 1_000_000
MOST_GROWTH = 5 * MEGABYTE
IS_FULL = bool(os.environ.get("BRIDGE_MEMORY_FULL"))
FIRST, LAST = (1_000, 10_000) if IS_FULL else (50, 150)
# In megabytes, the largest first.
SIZES = range(18, 0, -1) if IS_FULL else range(4, 0, -1)

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


HEAD = (
    b'{"jsonrpc":"2.0","id":1,"method":"tool_completed","params":{"session_id":"s","call_id":"c","name":"%b","result":'
)
# What the allocator keeps beyond what is used differs a little from run to run.
TOLERANCE = 1.05


def growth(spawn, name, result):
    """Return by how many bytes the peak of a worker grows with a completion, its output and projection stored."""
    worker = spawn()
    worker.call("tool_completed", result="x" * 100_000, name="run")
    at_rest = memory(worker, "VmHWM")
    worker.send(HEAD % name.encode() + result + b"}}\n")
    assert "result" in worker.reply()
    grown = memory(worker, "VmHWM") - at_rest
    print(f"{grown / len(result):.1f} times {len(result)} bytes")
    return grown


@pytest.mark.parametrize("changed", [bytes, with_numbers_beyond_json])
@pytest.mark.parametrize("shape", VALUES.values(), ids=VALUES)
def test_the_largest_request_of_values_that_is_not_refused_keeps_the_bound(spawn, shape, changed):
    requests = ((name, changed(result)) for name, result in (shape(size * MEGABYTE) for size in SIZES))
    name, result = next((name, result) for name, result in requests if not needs_too_much(result))
    assert growth(spawn, name, result) <= max(FREE_BYTES, MOST_TIMES * len(result)) * TOLERANCE


@pytest.mark.parametrize("shape", TEXTS.values(), ids=TEXTS)
def test_a_text_keeps_the_bound_at_any_size(spawn, shape):
    """What is made of a text is not estimated before, so no text may need more."""
    name, result = shape(SIZES[0] * MEGABYTE)
    assert growth(spawn, name, result) <= MOST_TIMES * len(result)
