"""A content laid out for a person: a member on a line, texts as texts with the numbers that their lines have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from bridge.commands.safe_text import shown, shown_line
from bridge.excerpt.evidence import candidates

# JSON deeper than this is drawn on one line.
_DEEPEST = 40
_LONGEST_QUOTE = 100

# The bridge's own line at a gap of a text. A tool may print one as well: then only numbers on a screen are wrong.
_MARKER = re.compile(r"\[\.\.\. not shown: lines? (\d{1,12})(?: to (\d{1,12}))?")


def content(text: str) -> Text:
    """Return a content (JSON text) laid out: a member on a line, texts as texts with numbered lines."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return numbered(text)
    return laid_out(value)


def laid_out(value: Any) -> Text:
    """Return any value laid out."""
    if isinstance(value, str):
        return numbered(value)
    return Text("\n").join(_value(value, 0))


def numbered(text: str, indent: int = 0) -> Text:
    """Return ``text`` with the number of each line before it, where the text has gaps that of the whole."""
    lines = list(_numbers(shown(text).removesuffix("\n").split("\n")))
    width = max(len(number) for number, _ in lines)
    return Text("\n").join(
        Text.assemble(" " * indent, (f"{number:>{width}} │ ", "dim"), (line, "" if number else "yellow"))
        for number, line in lines
    )


def _numbers(lines: list[str]) -> Iterator[tuple[str, str]]:
    number = 1
    for line in lines:
        if gap := _MARKER.match(line):
            number = int(gap[2] or gap[1]) + 1
            yield "", line
        else:
            yield str(number), line
            number += 1


def deciding_lines(content: str) -> list[str]:
    """Return for each block of the middle that a content shows the line for which it was kept.

    The blocks are those between the first and the last gap of the longest text; empty when there are none.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return []
    text = max(_texts(value.get("data") if isinstance(value, Mapping) else value), key=len, default="")
    blocks: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if _MARKER.match(line):
            blocks.append([])
        else:
            blocks[-1].append(line)
    return [_deciding("".join(block)) for block in blocks[1:-1]]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (item for item in value.values() if isinstance(item, str))


def _deciding(block: str) -> str:
    raw = block.encode("utf-8", "replace")
    best = candidates(raw)
    line = raw[best[0].start if best else 0 :].partition(b"\n")[0].decode("utf-8", "replace").strip()
    return line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1]}…"


def _value(value: Any, depth: int) -> Iterator[Text]:
    """Yield the lines of an object or a list, one for each member that fits on a line."""
    pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    if not isinstance(value, (dict, list)):
        yield _scalar(value)
        return
    for key, item in pairs:
        head = Text("  " * depth).append(f"{shown_line(key)}: " if key is not None else "- ", style="cyan")
        if isinstance(item, str) and "\n" in item:
            yield head
            yield numbered(item, 2 * depth + 2)
        elif isinstance(item, (dict, list)) and item and depth < _DEEPEST and not _is_short(item):
            yield head
            yield from _value(item, depth + 1)
        else:
            yield head.append_text(_scalar(item))


def _is_short(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return len(value) <= 4 and all(isinstance(item, (int, float, type(None))) for item in items)


def _scalar(value: Any) -> Text:
    if isinstance(value, str):
        return Text(shown(value), style="green")
    style = "magenta" if isinstance(value, (int, float, type(None))) else ""
    return Text(shown_line(json.dumps(value, ensure_ascii=False)), style=style)
