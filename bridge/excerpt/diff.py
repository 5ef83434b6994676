"""Diffs in a result or in a call's arguments: where they change what, and how they are cut at whole hunks.

Two forms are read: unified diffs (``unified_diff``), also indented and with CR LF, and SEARCH/REPLACE blocks
(``search_replace``). A diff that is neither is counted by its signs, and one without signs says that it has no counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, islice, takewhile
from typing import Any

from bridge.excerpt.budget import Budget, fitting
from bridge.excerpt.search_replace import Block, LineCounter, blocks_of
from bridge.excerpt.source import Text
from bridge.excerpt.text import Style, excerpt, fits
from bridge.excerpt.unified_diff import (
    MAX_PLACES,
    FileDiff,
    count_hunks,
    counted_by_signs,
    files_of,
    has_hunks,
    hunks_of,
)

# Below this, a part of a hunk would say nothing.
_SMALLEST_PART = 400
# The changes of more files are counted together.
MAX_FILES = 1_000
_NEWLINE = len(r"\n")
BY_SIGNS = "by the first character of each line"
BY_EDGES = "from the first to the last line that differs"
NOT_COUNTED = "no counts: the diff could not be read"
PARTLY_COUNTED = "without those that could not be read"
INCOMPLETE = "the diff was cut before it came here"
# What opens a hunk in forms that are told from prose by it, wherever on a line it stands: unified, combined, context.
_CONTEXT = r"^[ \t]{0,64}\*{3} \d{1,15}(?:,\d{1,15})? \*{4}[ \t\r]{0,8}$"
_HUNK = re.compile(rf"(?<!@)@@{{1,8}} -\d{{1,15}}(?:,\d{{1,15}})? |{_CONTEXT}", re.MULTILINE | re.ASCII)
_CONTEXT_HUNK = re.compile(_CONTEXT, re.MULTILINE | re.ASCII)
_INDENTED = re.compile(r"^([ \t]{1,64}+)@@ -", re.MULTILINE)
_COMBINED = re.compile(r"^(@@@{1,8}) -", re.MULTILINE)
_CUT_AT_SOURCE = re.compile(
    r"^[^\w\n]{0,8}+(?:diff|patch|output|\d{1,9} (?:more )?lines?)? ?truncated", re.MULTILINE | re.IGNORECASE
)
_HUNK_MARKS = ("@@ -", "***")


@dataclass(slots=True)
class Change:
    """What a diff changes in one file: counts in lines, and the places (line, removed, added).

    One that counts ``files`` together has neither a path nor places.
    """

    path: str | None
    added: int | None
    removed: int | None
    hunks: int
    places: list[dict[str, int]] = field(default_factory=list)
    counted: str = ""
    is_incomplete: bool = False
    files: int = 1

    def to_json(self) -> dict[str, Any]:
        """Return the change as a member of ``data.changes``."""
        change: dict[str, Any] = {"added": self.added, "removed": self.removed, "hunks": self.hunks}
        if self.path:
            change = {"path": self.path, **change}
        if self.places:
            change["places"] = self.places
        if len(self.places) == MAX_PLACES and self.hunks > MAX_PLACES:
            change["places_not_shown"] = self.hunks - MAX_PLACES
        if self.counted:
            change["counted"] = self.counted
        if self.is_incomplete:
            change["incomplete"] = INCOMPLETE
        if self.files > 1:
            change["files"] = self.files
        return change


def limited(changes: Iterable[Change], most: int = MAX_FILES) -> list[Change]:
    """Return the first of ``changes``, at most ``most``, and behind them one that counts the others together."""
    changes = iter(changes)
    first = list(islice(changes, most))
    rest = next(changes, None)
    return first if rest is None else [*first, reduce(_together, changes, rest)]


def _together(one: Change, other: Change) -> Change:
    return Change(
        None,
        _sum(one.added, other.added),
        _sum(one.removed, other.removed),
        one.hunks + other.hunks,
        counted=_counted(one, other),
        is_incomplete=one.is_incomplete or other.is_incomplete,
        files=one.files + other.files,
    )


def _counted(one: Change, other: Change) -> str:
    if PARTLY_COUNTED in (one.counted, other.counted) or (one.added is None) != (other.added is None):
        return PARTLY_COUNTED
    return one.counted or other.counted


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def is_diff(text: str) -> bool:
    """Return whether ``text`` is, or holds, a change in any form that is told from prose by its marks."""
    if any(mark in text for mark in _HUNK_MARKS) and _HUNK.search(text):
        return True
    return next(blocks_of(text), None) is not None


def changes_of(text: str, path: str | None = None) -> list[Change]:
    """Return what the diff ``text`` changes, file by file, ``limited``.

    ``path`` is what the caller calls the file; it does not rename the files of a diff that has several.
    """
    text = _plain(text)
    # Blocks first: what they search for may be a unified diff; no line of a hunk starts with a marker.
    if blocks := list(blocks_of(text)):
        return [_from_blocks(blocks, path)]
    is_incomplete = _CUT_AT_SOURCE.search(text) is not None
    if not has_hunks(text):
        return [_by_signs(text, path, is_incomplete=is_incomplete)]
    files = files_of(text)
    first = list(islice(files, 2))
    path = path if len(first) == 1 else None
    changes = limited(_from_file(file, path or file.path) for file in chain(first, files))
    changes[-1].is_incomplete = is_incomplete
    return changes


def count_pair(before: str, after: str, path: str | None = None) -> Change:
    """Return what changes between two texts of one file, or of a part of one."""
    counter = LineCounter()
    removed, added = counter.count(_lines(before), _lines(after))
    return Change(path, added, removed, 1, counted="" if counter.exact else BY_EDGES)


def count_written(text: str, path: str | None = None) -> dict[str, Any]:
    """Return the size of a text that was written, as a member of ``data.changes``."""
    written: dict[str, Any] = {"lines": len(_lines(text)), "bytes": len(text.encode())}
    return {"path": path, **written} if path else written


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _plain(text: str) -> str:
    """Return a diff without the indentation that the headers of its hunks have."""
    indented = None if has_hunks(text) else _INDENTED.search(text)
    if indented is None:
        return text
    indent = indented[1]
    return "\n".join(line.removeprefix(indent) for line in text.split("\n"))


def _from_file(file: FileDiff, path: str | None) -> Change:
    places = [{"line": hunk.line, "removed": hunk.removed, "added": hunk.added} for hunk in file.first]
    return Change(path, file.added, file.removed, file.hunks, places, "" if file.sound else BY_SIGNS)


def _by_signs(text: str, path: str | None, *, is_incomplete: bool) -> Change:
    removed, added = counted_by_signs(text)
    if (combined := _COMBINED.search(text)) is not None:
        removed, added = _combined_signs(text, len(combined[1]) - 1)
    if (not added and not removed) or _CONTEXT_HUNK.search(text):
        return Change(path, None, None, 0, counted=NOT_COUNTED, is_incomplete=is_incomplete)
    return Change(path, added, removed, 0, counted=BY_SIGNS, is_incomplete=is_incomplete)


def _combined_signs(text: str, parents: int) -> tuple[int, int]:
    """Count the removed and added lines of a combined diff, which has a column of signs for each parent."""
    removed = added = 0
    for line in text.split("\n"):
        signs = line[:parents]
        if line.startswith(("---", "+++", "@@")) or signs.strip("+- "):
            continue
        removed += "-" in signs
        added += "+" in signs
    return removed, added


def _from_blocks(blocks: list[Block], path: str | None) -> Change:
    counter = LineCounter()
    added = removed = 0
    places: list[dict[str, int]] = []
    for block in blocks:
        gone, come = counter.count(block.search, block.replace)
        removed, added = removed + gone, added + come
        if block.line is not None and len(places) < MAX_PLACES:
            places.append({"line": block.line, "removed": gone, "added": come})
    return Change(path, added, removed, len(blocks), places, "" if counter.exact else BY_EDGES)


def cut_at_hunks(text: str, budget: Budget) -> str:
    """Return the whole hunks of ``text`` that fit into ``budget`` once escaped, and how many of all they are.

    Where not even the first one fits, its beginning and the end of the last one are shown, marked as cut.
    """
    if fits(text, budget):
        return text
    total = sum(1 for _ in blocks_of(text)) or count_hunks(text)
    end = fitting(text, budget.size - len(_hunks_note(total, total)) - 2)
    ends = list(takewhile(lambda at: at <= end, _hunk_ends(text)))
    note = _hunks_note(len(ends), total)
    if not ends:
        return _cut_inside(text, budget, note)
    kept = text[: ends[-1]]
    return kept + ("" if kept.endswith("\n") else "\n") + note


def _cut_inside(text: str, budget: Budget, note: str) -> str:
    inner = Budget(budget.size - len(note) - _NEWLINE, budget.lines - 1)
    if inner.size < _SMALLEST_PART:
        return note if fits(note, budget) else ""
    return excerpt(Text(text.removesuffix("\n")), inner, Style()).text + "\n" + note


def _hunks_note(shown: int, total: int) -> str:
    return f"[{shown} of {total} hunks shown]"


def _hunk_ends(text: str) -> Iterator[int]:
    """Yield where each hunk ends; a block ends where the next one starts."""
    starts = [block.start for block in blocks_of(text)]
    return iter([*starts[1:], len(text)]) if starts else (hunk.end for hunk in hunks_of(text))
