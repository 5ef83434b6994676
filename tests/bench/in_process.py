"""Figures inside one Python process: what normalizing costs beside writing the same payload as JSON."""

from __future__ import annotations

import itertools
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
from measure import Figure, in_turn

from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.settings import Settings
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

WORDS = [
    "compiling",
    "module",
    "loading",
    '"value"',
    "path/to/file.py",
    "line",
    "123",
    "ok",
    "the",
    "quick",
    "brown",
    "fox",
    "over",
    "lazy",
    "dog",
]


def text_of(size: int) -> str:
    """Return ``size`` characters that look like a build log: lines of about 80, some quotes, no escapes."""
    chance = random.Random(size)
    lines: list[str] = []
    left = size
    while left > 0:
        lines.append(" ".join(chance.choice(WORDS) for _ in range(14)))
        left -= len(lines[-1]) + 1
    return "\n".join(lines)[:size]


def rows_of(count: int) -> dict[str, object]:
    """Return a search result of ``count`` small objects."""
    return {
        "matches": [{"file": f"lib/part{i % 50}.rb", "line": i, "text": "value = compute(i)"} for i in range(count)]
    }


class Subject(NamedTuple):
    """What is normalized, the goals for it, and how the yardstick writes it."""

    label: str
    result: object
    reach: float
    aim: float
    option: int = 0


def subjects() -> Iterator[Subject]:
    yield Subject("1 KB of text that fits", text_of(1_000), 12, 6)
    for label, size in (("100 KB", 100_000), ("1 MB", 1_000_000), ("10 MB", 10_000_000)):
        yield Subject(f"text of {label}", text_of(size), 4, 2)
    for count in (1_400, 14_000):
        yield Subject(f"{count:,} rows", rows_of(count), 6, 3, orjson.OPT_SORT_KEYS)


def figures(repeats: int) -> Iterator[Figure]:
    """Measure each figure in turn with its yardstick."""
    normalizer = Normalizer(Settings(home=Path(os.devnull)))
    for subject in subjects():
        yield _normalize(normalizer, subject, repeats)
    yield _stored(repeats)


def _normalize(normalizer: Normalizer, subject: Subject, repeats: int) -> Figure:
    payload = {"ok": True, "tool": "run", "data": subject.result}
    pairs = in_turn(
        lambda: normalizer.normalize(ToolCall(result=subject.result, name="run")),
        lambda: orjson.dumps(payload, option=subject.option),
        repeats,
    )
    against = "orjson.dumps with sorted keys" if subject.option else "orjson.dumps of the payload"
    return Figure(f"normalize, {subject.label}", against, subject.reach, subject.aim, "s", pairs)


def _stored(repeats: int) -> Figure:
    result = text_of(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        settings = Settings(home=home)
        normalizer = Normalizer(settings, Outputs(home, settings.limits), Ledger(home))
        calls = itertools.count()
        encoded = result.encode()

        def ours() -> None:
            normalizer.normalize(ToolCall(result=result, name="run", session_id="bench", call_id=f"call-{next(calls)}"))

        def theirs() -> None:
            target = home / f"plain-{next(calls)}"
            temporary = target.with_suffix(".tmp")
            temporary.write_bytes(encoded)
            temporary.rename(target)

        pairs = in_turn(ours, theirs, repeats)
    return Figure("normalize with output and ledger, 1 MB", "writing and renaming the same file", 2.5, 1.5, "s", pairs)
