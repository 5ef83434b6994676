"""Diffs in a result or in a call's arguments: where they change what, and how they are cut at whole hunks.

Two forms are read: unified diffs (through ``unidiff``) and SEARCH/REPLACE blocks. A diff that neither reads
is counted by its signs, and one without signs says that it has no counts.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bridge.budget import Room, fitting
from bridge.excerpt import fits

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_FILE_HEAD = re.compile(r"^(?:diff --git |--- [^\n]*\n\+\+\+ )", re.MULTILINE)
_BLOCK = re.compile(
    r"^<{5,9} SEARCH[^\n]*\n(?::start_line:(?P<line>\d+)\n)?(?:-{5,9}\n)?(?P<search>.*?)"
    r"^={5,9}\n(?P<replace>.*?)^>{5,9} REPLACE[^\n]*(?:\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
# unidiff takes about a second for 10 MB; a diff beyond this is counted by its signs.
_LARGEST_PARSED = 1_000_000
MAX_PLACES = 50


@dataclass(slots=True)
class Change:
    """What a diff changes in one file: counts in lines, and the places (line, removed, added)."""

    path: str | None
    added: int | None
    removed: int | None
    hunks: int
    places: list[dict[str, int]] = field(default_factory=list)
    counted: str = ""

    def to_json(self) -> dict[str, Any]:
        """Give the change as a member of ``data.changes``."""
        change: dict[str, Any] = {"added": self.added, "removed": self.removed, "hunks": self.hunks}
        if self.path:
            change = {"path": self.path, **change}
        if self.places:
            change["places"] = self.places[:MAX_PLACES]
        if self.counted:
            change["counted"] = self.counted
        return change


def is_diff(text: str) -> bool:
    """Say whether ``text`` is, or holds, a diff in one of the two forms."""
    return ("@@ -" in text and _HUNK.search(text) is not None) or (
        "<<<<" in text and _BLOCK.search(text) is not None
    )


def changes_of(text: str, path: str | None = None) -> list[Change]:
    """Give what the diff ``text`` changes, file by file; ``path`` names the file if the diff does not."""
    if _HUNK.search(text):
        parsed = _unified(text, path) if len(text) <= _LARGEST_PARSED else None
        return parsed or [_by_signs(text, path)]
    blocks = list(_BLOCK.finditer(text))
    return [_from_blocks(blocks, path)] if blocks else [_by_signs(text, path)]


def _unified(text: str, path: str | None) -> list[Change] | None:
    from unidiff.errors import UnidiffParseError  # noqa: PLC0415
    from unidiff.patch import PatchSet  # noqa: PLC0415 - only a mutation with a diff needs it

    if not re.search(r"^\+\+\+ ", text, re.MULTILINE):
        text = f"--- {path or 'a'}\n+++ {path or 'b'}\n" + text[_HUNK.search(text).start() :]  # type: ignore[union-attr]
    try:
        return [_from_file(file, path) for file in PatchSet(text)] or None
    except UnidiffParseError:
        return None


def _from_file(file: Any, path: str | None) -> Change:
    places = [{"line": hunk.target_start, "removed": hunk.removed, "added": hunk.added} for hunk in file]
    return Change(path or file.path, file.added, file.removed, len(file), places)


def _by_signs(text: str, path: str | None) -> Change:
    lines = text.split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    hunks = len(_HUNK.findall(text))
    if not added and not removed:
        return Change(path, None, None, hunks, counted="no counts: the diff could not be read")
    return Change(path, added, removed, hunks, counted="by the first character of each line")


def _from_blocks(blocks: list[re.Match[str]], path: str | None) -> Change:
    change = Change(path, 0, 0, len(blocks))
    for block in blocks:
        removed, added = _block_counts(block["search"], block["replace"])
        change.added = (change.added or 0) + added
        change.removed = (change.removed or 0) + removed
        if block["line"]:
            change.places.append({"line": int(block["line"]), "removed": removed, "added": added})
    return change


def _block_counts(search: str, replace: str) -> tuple[int, int]:
    old, new = search.splitlines(), replace.splitlines()
    if len(old) * len(new) > 1_000_000:
        return len(old), len(new)
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [step for step in steps if step[0] != "equal"]
    return sum(i2 - i1 for _, i1, i2, _, _ in changed), sum(j2 - j1 for _, _, _, j1, j2 in changed)


def cut_at_hunks(text: str, room: Room) -> str:
    """Give the whole hunks of ``text`` that fit into ``room`` once escaped, and how many of how many."""
    if fits(text, room):
        return text
    ends = list(_hunk_ends(text))
    note_size = len(_hunks_note(len(ends), len(ends))) + 2
    end = fitting(text, room.size - note_size)
    shown = bisect_right(ends, end)
    note = _hunks_note(shown, len(ends))
    if not shown:
        return note if fits(note, room) else ""
    kept = text[: ends[shown - 1]]
    return kept + ("" if kept.endswith("\n") else "\n") + note


def _hunks_note(shown: int, total: int) -> str:
    return f"[{shown} of {total} hunks shown]"


def _hunk_ends(text: str) -> Iterator[int]:
    """Give where each hunk ends: at the next hunk, or at the head of the next file before it."""
    pattern = _HUNK if _HUNK.search(text) else _BLOCK
    starts = [match.start() for match in pattern.finditer(text)]
    for start, following in pairwise([*starts, len(text)]):
        head = _FILE_HEAD.search(text, start, following)
        yield head.start() if head else following
