"""What a reader of a shortened text can check: what is shown is the source's, all else is accounted for."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field

from bridge.excerpt.cleaning import clean

MARK = re.compile(
    r"^\[\.\.\. not shown: (?P<missing>[^\n]*) \((?P<lost>\d+) bytes\)(?:; (?P<where>[^\n]*))? \.\.\.\]\n", re.MULTILINE
)
MISSING = re.compile(
    r"(?:line (?P<after>\d+) after its first (?P<first>\d+) characters)?(?:, |\A|\Z)"
    r"(?:lines? (?P<from>\d+)(?: to (?P<to>\d+) of (?P<of>\d+))?)?(?:, |\A|\Z)?"
    r"(?:line (?P<before>\d+) before its last (?P<last>\d+) characters)?"
)
AGAIN = re.compile(r"\[the line above (\d+) more times\]")


@dataclass
class Gap:
    """What a marker says: lines missing whole, lines of which a part is shown, bytes."""

    missing: str
    lost: int
    where: str
    whole: range
    after: tuple[int, int] | None  # the line, and how many of its first characters are shown
    before: tuple[int, int] | None  # the line, and how many of its last characters are shown


@dataclass
class Parts:
    """A shortened text taken apart; ``lines`` are the whole lines that are shown, by their numbers."""

    head: str
    blocks: list[str]
    tail: str
    gaps: list[Gap]
    lines: dict[int, str] = field(default_factory=dict)
    cut: list[dict] = field(default_factory=list)

    @property
    def lost(self):
        return sum(gap.lost for gap in self.gaps)

    @property
    def missing(self):
        return ", ".join(gap.missing for gap in self.gaps)

    @property
    def where(self):
        return self.gaps[0].where

    @property
    def next_line(self):
        """The first line that is not shown whole."""
        return next(number for number in range(1, max(self.lines, default=0) + 2) if number not in self.lines)


def cleaned(text):
    """Return ``text`` as the model reads it."""
    return clean(text, Counter())


def take_apart(text):
    """Return the pieces of a shortened text and the gaps between them."""
    pieces, gaps, at = [], [], 0
    for mark in MARK.finditer(text):
        pieces.append(text[at : mark.start()])
        gaps.append(gap_of(mark))
        at = mark.end()
    assert gaps, "nothing says that a part is missing"
    return [*pieces, text[at:]], gaps


def gap_of(mark):
    found = MISSING.fullmatch(mark["missing"])
    assert found, mark["missing"]
    numbers = {name: int(value) for name, value in found.groupdict().items() if value}
    first = numbers.get("from", 1)
    return Gap(
        mark["missing"],
        int(mark["lost"]),
        mark["where"] or "",
        range(first, numbers.get("to", first) + 1) if "from" in numbers else range(0),
        (numbers["after"], numbers["first"]) if "after" in numbers else None,
        (numbers["before"], numbers["last"]) if "before" in numbers else None,
    )


def check_excerpt(text, source, meta, as_shown=cleaned):
    """Check everything that the shortened ``text`` of ``source`` claims, and return its parts.

    ``as_shown`` gives a whole text as its reader sees it, lines staying lines. Every line is shown, shown in part
    or missing, once.
    """
    pieces, gaps = take_apart(text)
    head = pieces[0].removesuffix("\n") if gaps[0].after else pieces[0]
    parts = Parts(head, pieces[1:-1], pieces[-1], gaps)
    lines = source.removesuffix("\n").split("\n")
    shown = as_shown(source).split("\n")[: len(lines)]
    reader = Reader(shown, parts)
    for piece, previous, following in zip(pieces, [None, *gaps], [*gaps, None], strict=True):
        if previous:
            check_gap(previous, reader.line, lines, shown, ended=source.endswith("\n"))
            reader.line = after_gap(previous, reader.line)
        reader.read(piece, previous and previous.before, following and following.after)
    if reader.line == len(lines) and not shown[-1] and not source.endswith("\n"):
        reader.shown("")
    assert reader.line == len(lines) + 1, "lines are neither shown nor missing"
    assert text.endswith("\n") or not source.endswith("\n")
    expected = {"lines": ranges(parts.lines), "of": len(lines)} | ({"cut": parts.cut} if parts.cut else {})
    assert meta["shown"] == expected
    if "continue" in meta:
        assert meta["continue"]["args"] == {"path": place(meta), "offset": parts.next_line}
        assert "path" not in meta["output"], "the path is said twice"
    return parts


def place(meta):
    """Return the path of the complete output, which a content says once."""
    return meta["continue"]["args"]["path"] if "continue" in meta else meta["output"]["path"]


@dataclass
class Reader:
    """Reads pieces of the ``source`` lines; ``line`` is the next one that may be shown whole."""

    lines: list[str]
    parts: Parts
    line: int = 1

    def read(self, piece, before, after):
        """Check that ``piece`` is what stands in the source from ``line`` on; parts of lines may stand around it."""
        rows = piece.split("\n")
        if rows[-1] == "":
            rows.pop()
        if before:
            number, characters = before
            row = rows.pop(0)
            assert number == self.line - 1
            assert row == self.lines[number - 1][-characters:]
            self.parts.cut.append({"line": number, "last_characters": characters})
        start = rows.pop() if after else None
        while rows:
            self.read_line(rows)
        if after:
            number, characters = after
            assert number == self.line
            assert start == self.lines[number - 1][:characters]
            self.parts.cut.append({"line": number, "first_characters": characters})

    def read_line(self, rows):
        row = rows.pop(0)
        self.shown(row)
        again = AGAIN.fullmatch(rows[0]) if rows else None
        if again and (self.line > len(self.lines) or self.lines[self.line - 1] != rows[0]):
            rows.pop(0)
            for _ in range(int(again[1])):
                self.shown(row)

    def shown(self, row):
        assert row == self.lines[self.line - 1], f"line {self.line}"
        self.parts.lines[self.line] = row
        self.line += 1


def check_gap(gap, line, lines, shown, *, ended):
    """Check that ``gap`` starts at ``line`` and that its bytes are those of the source."""
    first = line + bool(gap.after)
    if gap.whole:
        assert gap.whole.start == first
    size = sum(len(lines[number - 1].encode()) + 1 for number in gap.whole)
    if gap.whole and gap.whole[-1] == len(lines) and not ended:
        size -= 1
    exact = True
    if gap.after and gap.before and gap.after[0] == gap.before[0]:
        body = lines[gap.after[0] - 1]
        exact = shown[gap.after[0] - 1] == body
        size += len(body[gap.after[1] : len(body) - gap.before[1]].encode())
    else:
        if gap.after:
            body = lines[gap.after[0] - 1]
            exact = shown[gap.after[0] - 1] == body
            size += len(body[gap.after[1] :].encode()) + (gap.after[0] < len(lines) or ended)
        if gap.before:
            body = lines[gap.before[0] - 1]
            exact = exact and shown[gap.before[0] - 1] == body
            size += len(body[: len(body) - gap.before[1]].encode())
    assert gap.lost == size or (not exact and gap.lost > 0)


def after_gap(gap, line):
    """Return the first line that may be shown whole after ``gap``."""
    line += bool(gap.after)
    if gap.whole:
        line = gap.whole[-1] + 1
    if gap.before and gap.before[0] >= line:
        line = gap.before[0] + 1
    return line


def ranges(numbers):
    """Return the ranges of consecutive numbers."""
    found = []
    for number in sorted(numbers):
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def contents(made):
    """Return both contents of a projection, parsed."""
    return json.loads(made["model_content"]), json.loads(made["terminal_content"])
