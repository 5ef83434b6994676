"""Makes the examples of docs/evidence.md from the logs that real tools wrote (tests/fixtures/logs).

Run it to rewrite them:  .venv/bin/python docs/generate/evidence_examples.py
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import bridge

DOCUMENT = Path(__file__).parents[1] / "evidence.md"
LOGS = Path(__file__).parents[2] / "tests" / "fixtures" / "logs"
BUDGET = 8_192
MARKER = re.compile(r"\[\.\.\. not shown: [^\n]*\]\n")
# What an example shows of a block.
MOST_LINES, LONGEST_LINE = 6, 110
START, END = "<!-- examples: made by docs/generate/evidence_examples.py -->\n", "<!-- end of examples -->"


def examples():
    """Return an example for each log: the beginning of the longest block that is kept of its middle."""
    return "\n".join(example(path) for path in sorted(LOGS.glob("*.log.gz")))


def example(path):
    log = gzip.decompress(path.read_bytes()).decode()
    limits = bridge.Limits(model_max_bytes=BUDGET)
    content = json.loads(bridge.normalize(log, name="run_command", limits=limits)["model_content"])
    pieces = MARKER.split(content["data"])
    half = (BUDGET // 2, len(log) - BUDGET // 2)
    hidden = [piece for piece in pieces[1:-1] if half[0] < log.find(piece[:60]) < half[1]]
    lines = max(hidden or pieces[1:-1], key=len).rstrip("\n").split("\n")
    shown = [line[:LONGEST_LINE] for line in lines[:MOST_LINES]]
    more = [f"… {len(lines) - MOST_LINES} more lines of this block"] if len(lines) > MOST_LINES else []
    name, size, count = path.name.partition(".")[0], len(log.encode()), log.count("\n")
    head = f"**{name}**, {count:,} lines, {size:,} bytes. Blocks kept of its middle: {len(pieces) - 2}. One begins:"
    return f"{head}\n\n```text\n" + "\n".join([*shown, *more]) + "\n```\n"


def with_examples(document):
    start, end = document.index(START) + len(START), document.index(END)
    return document[:start] + examples() + document[end:]


if __name__ == "__main__":
    DOCUMENT.write_text(with_examples(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
