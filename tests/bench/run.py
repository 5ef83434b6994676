"""Measures every figure of the table, prints it, writes bench.json, and compares with an earlier one."""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import in_process
import processes
from measure import Figure

ROOT = Path(__file__).parents[2]
ROUND_TRIPS = {
    "ui_preview, 100 B": ("JSON.generate, a line echo in Python, JSON.parse", 3, 2),
    "ui_preview, 10 KB": ("the same", 1.5, 1),
    "ui_preview, 1 MB": ("the same", 0.5, 0.05),
    "tool_completed, 1 KB object": ("JSON.generate, a line echo in Python, JSON.parse", 5, 3),
    "tool_completed, 1 MB": ("orjson.loads and orjson.dumps of it, and that echo", 1.5, 1.2),
}


def main() -> None:
    options = _options()
    # One core for every process: else the scheduler decides the result.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as home:
        os.environ["RIND_BRIDGE_HOME"] = home
        if options.profile:
            _profile()
            return
        measured = [figure.to_json() for figure in _figures(options.repeats)]
    earlier = json.loads(options.compare.read_text())["figures"] if options.compare else []
    _print_table(measured, {row["name"]: row["ratio"] for row in earlier})
    options.write.write_text(json.dumps({"python": sys.version, "figures": measured}, indent=2) + "\n")
    print(f"\nwritten: {options.write}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/bench", description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="pairs measured for each figure (default 15)")
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help="show what changed since this file")
    parser.add_argument("--write", type=Path, default=ROOT / "bench.json", help="where the figures go")
    parser.add_argument("--profile", action="store_true", help="show where the time goes, and measure nothing")
    return parser.parse_args()


def _figures(repeats: int) -> Iterator[Figure]:
    yield from _round_trips(repeats)
    yield from in_process.figures(repeats)
    yield from processes.figures(repeats)


def _round_trips(repeats: int) -> Iterator[Figure]:
    command = ["ruby", "-I", "ruby_client/lib", "tests/bench/round_trip.rb", str(repeats), sys.executable]
    finished = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    for line in finished.stdout.splitlines():
        row = json.loads(line)
        against, reach, aim = ROUND_TRIPS[row["name"]]
        yield Figure(row["name"], against, reach, aim, "s", [tuple(pair) for pair in row["pairs"]])


def _print_table(rows: list[dict], earlier: dict[str, float]) -> None:
    print("| figure | measured against | ratio | quartiles | reach | aim | |" + (" before |" if earlier else ""))
    print("| --- | --- | --- | --- | --- | --- | --- |" + (" --- |" if earlier else ""))
    for row in rows:
        first, third = row["quartiles"]
        met = "aim" if row["ratio"] <= row["aim"] else "reach" if row["ratio"] <= row["reach"] else "missed"
        cells = [row["name"], row["against"], f"{row['ratio']:.2f}", f"{first:.2f} to {third:.2f}"]
        cells += [f"{row['reach']:g}", f"{row['aim']:g}", met]
        if earlier:
            before = earlier.get(row["name"])
            cells.append("new" if before is None else f"{before:.2f}")
        print("| " + " | ".join(cells) + " |")


def _profile() -> None:
    for label, result in (("1 KB", in_process.text_of(1_000)), ("1 MB", in_process.text_of(1_000_000))):
        normalizer = in_process.Normalizer(in_process.Settings(home=Path(os.devnull)))
        profiler = cProfile.Profile()
        profiler.enable()
        for _ in range(100):
            normalizer.normalize(in_process.ToolCall(result=result, name="run"))
        profiler.disable()
        print(f"\n== 100 times normalize, {label} of text")
        pstats.Stats(profiler).sort_stats("tottime").print_stats(12)


if __name__ == "__main__":
    main()
