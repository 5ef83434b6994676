"""What a reader of a shortened text can check: what is shown is the source's, all else is accounted for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

MARK = re.compile(r"\[\.\.\. not shown: (?P<missing>[^\n]*) \((?P<lost>\d+) bytes\)(?:; (?P<where>[^\n]*))? \.\.\.\]\n")
LISTED = re.compile(
    r"\[lines among them that look like errors or results, by number:\]\n"
    r"((?:\d+: [^\n]*\n)*)\[end of those lines\]\n"
)


@dataclass
class Parts:
    """A shortened text taken apart; ``listed`` are the deciding lines of its middle by their numbers."""

    head: str
    tail: str
    missing: str
    lost: int
    where: str
    listed: dict[int, str]


def take_apart(text, source):
    mark = MARK.search(text)
    assert mark, "nothing says that a part is missing"
    head, rest = text[: mark.start()], text[mark.end() :]
    listing = LISTED.match(rest)
    listed = {}
    if listing:
        rows = [row.split(": ", 1) for row in listing[1].split("\n")[:-1]]
        listed = {int(number): line for number, line in rows}
        rest = rest[listing.end() :]
    head = head if source.startswith(head) else head.removesuffix("\n")
    return Parts(head, rest, mark["missing"], int(mark["lost"]), mark["where"] or "", listed)


def check_excerpt(text, source, meta):
    """Check everything that the shortened ``text`` of ``source`` claims, and return its parts."""
    parts = take_apart(text, source)
    lines = source.removesuffix("\n").split("\n")
    assert source.startswith(parts.head)
    assert source.endswith(parts.tail)
    assert parts.lost == len(source.encode()) - len((parts.head + parts.tail).encode())
    assert meta["shown"] == expected_ranges(parts, lines) | highlights(parts)
    for number, line in parts.listed.items():
        assert lines[number - 1].startswith(line.removesuffix("…"))
        assert parts.head.count("\n") < number <= len(lines) - parts.tail.count("\n")
    if "continue" in meta:
        assert meta["continue"]["args"] == {
            "path": meta["output"]["path"],
            "offset": parts.head.count("\n") + 1,
        }
    return parts


def highlights(parts):
    return {"highlights": len(parts.listed)} if parts.listed else {}


def expected_ranges(parts, lines):
    """Return what ``meta.shown`` has to say about a head and a tail of ``lines``."""
    head_lines = parts.head.count("\n")
    head_rest = len(parts.head.rpartition("\n")[2])
    first, tail_rest = first_line_of(parts.tail, lines)
    cut = []
    if head_rest:
        cut.append({"line": head_lines + 1, "first_characters": head_rest})
    if tail_rest:
        cut.append({"line": first - 1, "last_characters": tail_rest})
    ranges = [pair for pair in ([1, head_lines], [first, len(lines)]) if pair[0] <= pair[1]]
    return {"lines": ranges, "of": len(lines)} | ({"cut": cut} if cut else {})


def first_line_of(tail, lines):
    """Return the first whole line of a ``tail``, and how many characters of the line before stand there too."""
    if not tail:
        return len(lines) + 1, 0
    first = len(lines) - tail.removesuffix("\n").count("\n")
    start = tail.split("\n")[0]
    return (first, 0) if start == lines[first - 1] else (first + 1, len(start))


def contents(made):
    """Return both contents of a projection, parsed."""
    return json.loads(made["model_content"]), json.loads(made["terminal_content"])
