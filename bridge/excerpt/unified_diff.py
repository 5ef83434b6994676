"""Unified diffs: files, hunks, and how far each hunk reaches.

Where a hunk ends is told by the counts in its header, as patch(1) reads it: a removed line ``-- x`` before
an added line ``++ y`` looks like the head of a file and is none. A hunk whose counts are wrong, as models
write them, ends at the next hunk or head of a file, and its lines are counted by their signs. A line ends at
0x0A and nowhere else. (unidiff takes four times as long, refuses a whole diff for one wrong count, and does
not say where in the text a hunk lies; the tests compare with it.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise

# More digits than this are no line number, and int() refuses 4,300 of them.
_NUMBER = r"(\d{1,15})"
_COUNT = rf"{_NUMBER}(?:,{_NUMBER})?"
# Searched with a newline before the text: a literal at the start of an expression is found five times as fast
# as ``^``, and a match then starts where the line of its header starts in the text itself.
_HEADER = re.compile(rf"\n@@ -{_COUNT} \+{_COUNT} @@[^\n]*", re.ASCII)
_FILE_HEAD = re.compile(
    r"^(?:diff --git (?P<git>[^\n]*)\n|--- (?P<old>[^\n]*)\n\+\+\+ (?P<new>[^\n]*)\n?)", re.MULTILINE
)
# More places in a file are counted and not named.
MAX_PLACES = 50
# How git format-patch ends a patch.
_SIGNATURE = "-- \n"


@dataclass(frozen=True, slots=True)
class Hunk:
    """A hunk from ``start`` to ``end`` (code points of the diff); ``line`` is its first change in the new file.

    ``sound`` says whether it has the lines that its header counts.
    """

    start: int
    end: int
    line: int
    removed: int
    added: int
    sound: bool


@dataclass(slots=True)
class FileDiff:
    """What the hunks of one file change; ``path`` is its new name, its old one if it was removed, None if it has none.

    ``first`` are the first ``MAX_PLACES`` hunks; ``sound`` says whether all have the lines that their headers count.
    """

    path: str | None
    hunks: int = 0
    removed: int = 0
    added: int = 0
    sound: bool = True
    first: list[Hunk] = field(default_factory=list)

    def add(self, hunk: Hunk) -> None:
        """Count the next hunk of the file."""
        self.hunks += 1
        self.removed += hunk.removed
        self.added += hunk.added
        self.sound &= hunk.sound
        if self.hunks <= MAX_PLACES:
            self.first.append(hunk)


def has_hunks(text: str) -> bool:
    """Return whether ``text`` holds the header of a hunk."""
    return "@@ -" in text and next(_headers(text), None) is not None


def count_hunks(text: str) -> int:
    """Count the hunks of ``text`` by their headers."""
    return sum(1 for _ in _headers(text))


def hunks_of(text: str) -> Iterator[Hunk]:
    """Return the hunks of ``text`` in order."""
    for header, following in pairwise(chain(_headers(text), (None,))):
        if header is not None:
            yield _hunk(text, header, len(text) if following is None else following.start())


def _headers(text: str) -> Iterator[re.Match[str]]:
    return _HEADER.finditer(f"\n{text}")


def files_of(text: str) -> Iterator[FileDiff]:
    """Return the files of ``text`` in order, those too that have a head and no hunk: renamed, binary."""
    file: FileDiff | None = None
    end = 0
    for hunk in chain(hunks_of(text), (None,)):
        for name in _names(text, end, hunk.start if hunk else len(text)):
            if file:
                yield file
            file = FileDiff(name)
        if hunk:
            file = file or FileDiff(None)
            file.add(hunk)
            end = hunk.end
    if file:
        yield file


def _names(text: str, start: int, end: int) -> Iterator[str | None]:
    """Return the name in each head of a file; that of git and the lines that follow it are one head."""
    git: re.Match[str] | None = None
    for head in _FILE_HEAD.finditer(text, start, end):
        is_git = head["git"] is not None
        if git and is_git:
            yield _name_in_git_head(git["git"])
        if not is_git:
            yield _name(head["old"], head["new"])
        git = head if is_git else None
    if git:
        yield _name_in_git_head(git["git"])


def _hunk(text: str, header: re.Match[str], limit: int) -> Hunk:
    old, new = (int(count or 1) for count in header.group(2, 4))
    start, body, line = header.start(), min(header.end(), limit), int(header[3])
    lines = text[body:limit].split("\n")
    taken, removed, added = _take(lines, old, new)
    if taken:
        end = min(body + sum(map(len, lines[:taken])) + taken, limit)
        if not _goes_on(text, end, limit):
            return Hunk(start, end, line + _context(lines), removed, added, sound=True)
    head = _FILE_HEAD.search(text, body, limit)
    end = head.start() if head else limit
    return Hunk(start, end, line + _context(lines), *counted_by_signs(text[body:end]), sound=False)


def _context(lines: list[str]) -> int:
    """Count the lines of a hunk before its first change."""
    signs = (at for at, line in enumerate(lines) if line[:1] in {"+", "-"})
    return next(signs, 0)


def _take(lines: list[str], old: int, new: int) -> tuple[int, int, int]:
    """Count the lines that make up ``old`` lines before and ``new`` after, and of them the removed and added.

    Returns zeros when they do not come out even.
    """
    removed = added = taken = 0
    for taken, line in enumerate(lines):  # noqa: B007 - also needed after the loop
        sign = line[:1]
        if old <= 0 and new <= 0 and sign != "\\":
            break
        if sign == "+":
            new, added = new - 1, added + 1
        elif sign == "-":
            old, removed = old - 1, removed + 1
        elif sign in (" ", "", "\r"):  # some tools strip the space of an empty line
            old, new = old - 1, new - 1
        elif sign != "\\":
            return 0, 0, 0
    else:
        taken += 1
    return (taken, removed, added) if old == new == 0 else (0, 0, 0)


def _goes_on(text: str, end: int, limit: int) -> bool:
    """Return whether more lines of a hunk follow where its header says that it has ended."""
    if end >= limit or text[end] not in "+- " or text.startswith(_SIGNATURE, end):
        return False
    return _FILE_HEAD.match(text, end) is None


def counted_by_signs(text: str) -> tuple[int, int]:
    """Count the lines of ``text`` that start with ``-`` and with ``+``, without heads of files."""
    heads = sum(head["new"] is not None for head in _FILE_HEAD.finditer(text))
    lines = "\n" + text
    return lines.count("\n-") - heads, lines.count("\n+") - heads


def _name_in_git_head(names: str) -> str | None:
    _, mark, name = names.rpartition(" b/")
    return name if mark else None


def _name(old: str, new: str) -> str | None:
    old, new = old.partition("\t")[0].rstrip("\r"), new.partition("\t")[0].rstrip("\r")
    name, prefix = (old, "a/") if new == "/dev/null" else (new, "b/")
    return name.removeprefix(prefix) or None
