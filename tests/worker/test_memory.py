"""The worker's memory stays where it is, however many large results pass through it.

BRIDGE_MEMORY_FULL=1 runs the whole of it, 10,000 completions of 1 MB, which takes minutes.
"""

import os
from pathlib import Path

import pytest

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
