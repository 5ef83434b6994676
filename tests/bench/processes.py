"""Figures of whole processes: spawn, memory from the operating system, batches."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Self

import orjson
from in_process import text_of
from measure import Figure, in_turn

SERVE = [sys.executable, "-m", "bridge", "serve"]
IMPORTS = "import jsonrpcserver, orjson, pydantic"
# Says when it is done, and ends with its input.
IMPORTED = [sys.executable, "-c", f"{IMPORTS}; print(flush=True); __import__('sys').stdin.read()"]
MEGABYTE = 1_000_000


class Worker:
    """A worker, or what it is measured against, at the other end of a pipe: spoken to in raw frames."""

    def __init__(self, command: Sequence[str] = SERVE) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stdin.close()
        self._process.wait(timeout=10)
        self._stdout.close()

    @property
    def _stdin(self):  # type: ignore[no-untyped-def]
        return self._process.stdin

    @property
    def _stdout(self):  # type: ignore[no-untyped-def]
        return self._process.stdout

    def call(self, frame: bytes) -> bytes:
        self._stdin.write(frame)
        self._stdin.flush()
        return self._stdout.readline()

    def memory(self, field: str) -> int:
        """Return ``VmRSS`` or ``VmHWM`` of the worker in bytes (proc(5))."""
        with open(f"/proc/{self._process.pid}/status") as status:  # noqa: PTH123 - a kernel file
            line = next(line for line in status if line.startswith(field))
        return int(line.split()[1]) * 1024


def request(method: str, params: dict[str, object], request_id: int = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def frame(message: object) -> bytes:
    return orjson.dumps(message) + b"\n"


PING = frame(request("ping", {}))


def figures(repeats: int) -> Iterator[Figure]:
    """Measure each figure in turn with its yardstick."""
    spawned = [(_seconds_to_answer(SERVE, PING), _seconds_to_answer(IMPORTED, b"")) for _ in range(repeats)]
    yield Figure("spawn to the first reply", f'python -c "{IMPORTS}"', 1.3, 1.1, "s", spawned)
    yield Figure("memory at rest", "the same import", 1.3, 1.15, "B", [_memory_at_rest() for _ in range(3)])
    yield Figure("peak memory for 50 MB", "its bytes", 5, 3.5, "B", [_peak_memory() for _ in range(3)])
    yield _growth(repeats)
    yield _batch(repeats)


def _seconds_to_answer(command: Sequence[str], asked: bytes) -> float:
    """Return how long it takes from the start of ``command`` to its first line; its end is not timed."""
    started = time.perf_counter()
    with Worker(command) as process:
        process.call(asked)
        return time.perf_counter() - started


def _memory_at_rest() -> tuple[float, float]:
    return _memory_once_answered(SERVE, PING), _memory_once_answered(IMPORTED, b"")


def _memory_once_answered(command: Sequence[str], asked: bytes) -> float:
    with Worker(command) as process:
        process.call(asked)
        return process.memory("VmRSS")


def _completion(megabytes: int) -> bytes:
    return frame(request("tool_completed", {"name": "run", "result": text_of(MEGABYTE) * megabytes}))


def _peak_memory() -> tuple[float, float]:
    with Worker() as worker:
        worker.call(_completion(50))
        return worker.memory("VmHWM"), 50 * MEGABYTE


def _growth(repeats: int) -> Figure:
    small, large = _completion(1), _completion(50)
    with Worker() as worker:
        pairs = in_turn(lambda: worker.call(large), lambda: worker.call(small), max(3, repeats // 3))
    linear = [(ours, 50 * theirs) for ours, theirs in pairs]
    return Figure("growth of cost, 1 MB to 50 MB", "linear", 1.3, 1.1, "s", linear)


def _batch(repeats: int) -> Figure:
    previews = [request("ui_preview", {"result": "x" * 100}, number) for number in range(100)]
    batch, singles = frame(previews), [frame(preview) for preview in previews]

    def one_by_one() -> None:
        for single in singles:
            worker.call(single)

    with Worker() as worker:
        pairs = in_turn(lambda: worker.call(batch), one_by_one, repeats)
    return Figure("batch of 100 small previews", "100 single ones", 0.6, 0.4, "s", pairs)
