"""The worker's memory stays where it is, however many large results pass through it.

BRIDGE_MEMORY_FULL=1 runs the whole of it, 10,000 completions of 1 MB, which takes minutes.
"""

import os
from pathlib import Path

import pytest

from bridge.worker.weight import FREE_BYTES, MOST_TIMES

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


# What is never refused, and the modules that a first call loads.
FREE = FREE_BYTES + 8 * MEGABYTE
# Values of many small parts, 4 MB of JSON each: what they become in Python is many times what came.
SMALL_PARTS = {
    "empty objects": "[{},",
    "empty lists": "[[],",
    "objects": '[{"a":1},',
    "numbers": "[1,",
    "fractions": "[1.5,",
    "letters": '["a",',
    "nulls": "[null,",
}


@pytest.mark.parametrize("last", ["0", "1e400", "1" * 30], ids=["plain", "beyond doubles", "beyond 64 bits"])
@pytest.mark.parametrize("start", SMALL_PARTS.values(), ids=SMALL_PARTS)
def test_the_peak_of_a_call_with_very_many_small_values_is_bounded(spawn, start, last):
    """One number that JSON's readers cannot hold does not make a second value of all the others."""
    worker = spawn()
    worker.call("ping", 0)
    rest = memory(worker, "VmHWM")
    result = "[" + start[1:] * (4 * MEGABYTE // len(start[1:])) + last + "]"
    call = f'{{"jsonrpc":"2.0","id":1,"method":"tool_completed","params":{{"name":"bash","result":{result}}}}}\n'
    worker.send(call.encode())
    assert "result" in worker.reply()
    taken = memory(worker, "VmHWM") - rest
    print(f"{taken / len(result):.1f} times the request")
    assert taken < max(FREE, MOST_TIMES * len(result))
