"""Prints the peak of a worker for results that take much memory, as multiples of their requests."""

from __future__ import annotations

import os
import sys
import tempfile
from itertools import count
from pathlib import Path

from processes import MEGABYTE, PING, Worker

sys.path.append(str(Path(__file__).parents[1] / "support"))
from shapes import TEXTS, VALUES, with_numbers_beyond_json

from bridge.payload.weight import needs_too_much

# In megabytes.
LARGEST = 18
HEAD = (
    b'{"jsonrpc":"2.0","id":1,"method":"tool_completed","params":'
    b'{"session_id":"bench","call_id":"call-%d","name":"%b","result":'
)
CALLS = count()


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["RIND_BRIDGE_HOME"] = home
        print("| a result of | largest that is not refused | peak | with numbers beyond JSON | peak |")
        print("| --- | --- | --- | --- | --- |")
        for what, shape in VALUES.items():
            cells = [*_peak(shape), *_peak(shape, with_numbers_beyond_json)]
            print(f"| {what} | {' | '.join(cells)} |", flush=True)
        for what, shape in TEXTS.items():
            print(f"| {what} | {' | '.join(_peak(shape))} | | |", flush=True)


def _peak(shape, changed=bytes) -> tuple[str, str]:
    """Return the size of the largest request that is not refused, and by how many times that the peak grows."""
    requests = ((name, changed(result)) for name, result in (shape(at * MEGABYTE) for at in range(LARGEST, 0, -1)))
    name, result = next((name, result) for name, result in requests if not needs_too_much(result))
    with Worker() as worker:
        worker.call(PING)
        at_rest = worker.memory("VmHWM")
        worker.call(HEAD % (next(CALLS), name.encode()) + result + b"}}\n")
        grown = worker.memory("VmHWM") - at_rest
    return f"{len(result) / MEGABYTE:.0f} MB", f"{grown / len(result):.1f}"


if __name__ == "__main__":
    main()
