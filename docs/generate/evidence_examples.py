"""Makes the examples of docs/evidence.md from the logs that real tools wrote (tests/fixtures/logs).

Run it to rewrite them:  .venv/bin/python docs/generate/evidence_examples.py
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import bridge
from bridge.excerpt.cleaning import clean

DOCUMENT = Path(__file__).parents[1] / "evidence.md"
LOGS = Path(__file__).parents[2] / "tests" / "fixtures" / "logs"
BUDGET = 8_192
# What an example shows around the line that decides.
LINES_BEFORE, LINES_AFTER, LONGEST_LINE = 2, 4, 110
START, END = "<!-- examples: made by docs/generate/evidence_examples.py -->\n", "<!-- end of examples -->"


def examples():
    """Return an example for each log."""
    deciding = json.loads((LOGS / "deciding.json").read_text())
    return "\n".join(example(name, pattern) for name, pattern in sorted(deciding.items()))


def example(name, pattern):
    """Return what head and tail, half each, show of a log, and what the model reads around the line that decides."""
    log = gzip.decompress((LOGS / f"{name}.log.gz").read_bytes()).decode()
    lines = clean(log, Counter()).splitlines()
    at = first(pattern, lines)
    head, tail = log.count("\n", 0, BUDGET // 2), len(lines) - log.count("\n", len(log) - BUDGET // 2) + 1
    cut = f"lines 1 to {head:,} and {tail:,} to {len(lines):,}, {'without' if head <= at < tail - 1 else 'with'} it"
    content = json.loads(
        bridge.normalize(log, name="run_command", limits=bridge.Limits(model_max_bytes=BUDGET))["model_content"]
    )
    read = content["data"].split("\n")
    found = first(pattern, read)
    shown = [line[:LONGEST_LINE] for line in read[found - LINES_BEFORE : found + LINES_AFTER + 1]]
    return (
        f"**{name}**, {len(lines):,} lines, {len(log.encode()):,} bytes; what decides is line {at + 1:,}.\n"
        f"Head and tail: {cut}. The bridge, beside both ends:\n\n"
        "```text\n" + "\n".join(shown) + "\n```\n"
    )


def first(pattern, lines):
    """Return the place of the first of ``lines`` in which ``pattern`` is found."""
    return next(at for at, line in enumerate(lines) if re.search(pattern, line))


def with_examples(document):
    start, end = document.index(START) + len(START), document.index(END)
    return document[:start] + examples() + document[end:]


if __name__ == "__main__":
    DOCUMENT.write_text(with_examples(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
