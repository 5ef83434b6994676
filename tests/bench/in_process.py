"""Figures inside one Python process: what normalizing costs beside writing the same payload as JSON."""

from __future__ import annotations

import itertools
import os
import random
import re
import tarfile
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import orjson
from measure import Figure, in_turn

from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.settings import Settings
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

ROOT = Path(__file__).parents[2]
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
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
    """What is normalized, the goals for it, and how the yardstick writes it.

    ``scanned`` says that the yardstick is one pass over the text for colours, as ``re.sub`` makes it, and not JSON.
    """

    label: str
    result: object
    reach: float
    aim: float
    option: int = 0
    tool: str = "run"
    scanned: bool = False


def subjects() -> Iterator[Subject]:
    yield Subject("1 KB of text that fits", text_of(1_000), 12, 6)
    yield from _objects()
    yield Subject("text of 100 KB", text_of(100_000), 12, 6)
    for label, size in (("1 MB", 1_000_000), ("10 MB", 10_000_000)):
        yield Subject(f"text of {label}", text_of(size), 4, 2)
    yield from _texts_to_clean()
    for count in (1_400, 14_000):
        yield Subject(f"{count:,} rows", rows_of(count), 6, 3, orjson.OPT_SORT_KEYS)


def _objects() -> Iterator[Subject]:
    """Yield results in the shapes that the oracle's tools return."""
    for label, size, reach, aim in (("1 KB", 1_000, 30, 15), ("10 KB", 10_000, 60, 30)):
        command = {"result": text_of(size), "exit_status": 0, "cwd": "/srv/project"}
        yield Subject(f"{{result, exit_status, cwd}} of {label}", command, reach, aim)
    page = {"content": text_of(1_000), "path": "lib/a.rb", "range": [1, 12]}
    yield Subject("{content, path, range} of 1 KB", page, 30, 15, tool="read_file")
    diff = "<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n"
    patch = {"ok": True, "path": "lib/a.rb", "diff": diff, "applied": 1}
    yield Subject("a patch of three lines", patch, 30, 15, tool="patch_file")
    numbered = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text_of(52_000).split("\n"), 1))
    yield Subject("numbered page of 60 KB", {"content": numbered, "path": "lib/a.rb"}, 60, 20, tool="read_file")
    yield Subject("{content} page of 1 MB", {"content": text_of(1_000_000)}, 4, 2, tool="read_file")


def _texts_to_clean() -> Iterator[Subject]:
    """Yield megabytes with colours, with overwritten progress, and beyond ASCII; and a real build log."""
    lines = text_of(1_000_000).split("\n")
    yield Subject("1 MB with colours", "\n".join(f"\x1b[32m{line}\x1b[0m" for line in lines), 12, 6, scanned=True)
    yield Subject("1 MB with returns", "\n".join(f"{line[:40]}\r{line}" for line in lines), 12, 6, scanned=True)
    cyrillic = "\n".join(lines).replace("o", "ж").replace("e", "щ")
    yield Subject("1 MB with Cyrillic letters", cyrillic, 4, 2)
    yield Subject("1 MB of one Cyrillic line", "строка журнала сборки\n" * 25_000, 4, 2)
    archive = ROOT.parent / "shared" / "build-logs" / "logs.tar.xz"
    if archive.exists():
        with tarfile.open(archive) as logs:
            largest = max(logs.getmembers(), key=lambda member: member.size)
            text = logs.extractfile(largest).read().decode(errors="replace")  # type: ignore[union-attr]
        yield Subject(f"a real build log of {largest.size // 1_000} KB", text, 12, 6, scanned=True)


def figures(repeats: int) -> Iterator[Figure]:
    """Measure each figure in turn with its yardstick."""
    normalizer = Normalizer(Settings(home=Path(os.devnull)))
    for subject in subjects():
        yield _normalize(normalizer, subject, repeats)
    yield _stored(repeats)


def _normalize(normalizer: Normalizer, subject: Subject, repeats: int) -> Figure:
    payload = {"ok": True, "tool": subject.tool, "data": subject.result}
    yardstick, against = partial(orjson.dumps, payload, option=subject.option), "orjson.dumps of the payload"
    if subject.scanned:
        yardstick, against = partial(COLOURS.sub, "", subject.result), "re.sub of the colours"
    if subject.option:
        against = "orjson.dumps with sorted keys"
    pairs = in_turn(
        lambda: normalizer.normalize(ToolCall(result=subject.result, name=subject.tool)), yardstick, repeats
    )
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
