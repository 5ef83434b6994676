"""Where a text may be cut: not inside a grapheme cluster, not inside a terminal escape.

A cut in plain ASCII costs one look. Only near other characters is ``regex`` (Unicode's segmentation rules,
UAX #29) asked, and only from the nearest place that is a boundary for certain.
"""

from __future__ import annotations

from functools import cache
from typing import Any
from unicodedata import category

from bridge.excerpt.cleaning import ESCAPE, STARTS_ESCAPE

# No cluster that a person sees as one character is longer, and the rules cost the square of the length.
_LONGEST_CLUSTER = 512
# No escape that programs write is longer: hyperlinks (OSC 8) are the longest, and carry one URL.
_LONGEST_ESCAPE = 4_096

# Marks (Mn, Mc, Me) and what only joins or directs others (Cf).
_UNSEEN = ("Mn", "Mc", "Me", "Cf")


def boundary_before(text: str, index: int) -> int:
    """Return the greatest place at most ``index`` where ``text`` may be cut."""
    return _escape_span(text, _cluster_span(text, index)[0])[0]


def boundary_after(text: str, index: int) -> int:
    """Return the least place at least ``index`` where ``text`` may be cut."""
    return _cluster_span(text, _escape_span(text, index)[1])[1]


def is_visible(text: str) -> bool:
    """Return whether a reader sees anything of ``text``: nothing when it is marks and joiners alone."""
    return any(map(_is_seen, text.rstrip("\r\n")))


def without_marks(text: str, index: int) -> int:
    """Return the least place at least ``index`` that does not begin with marks of a character before it."""
    if index:
        while index < len(text) and not text[index].isascii() and not _is_seen(text[index]):
            index += 1
    return index


def _is_seen(character: str) -> bool:
    return category(character) not in _UNSEEN


def cluster_before(text: str, index: int) -> int:
    """Return the greatest place at most ``index`` between two clusters; escapes may be cut."""
    return _cluster_span(text, index)[0]


def _cluster_span(text: str, index: int) -> tuple[int, int]:
    """Return the start and end of the cluster that ``index`` falls inside, or ``index`` twice."""
    if index <= 0 or index >= len(text):
        return index, index
    if text[index - 1 : index + 1].isascii():
        inside = int(text[index - 1 : index + 1] == "\r\n")
        return index - inside, index + inside
    if _is_flag(text[index - 1]) and _is_flag(text[index]):
        inside = _flags_before(text, index) % 2
        return index - inside, index + inside
    return _segmented(text, index)


def _segmented(text: str, index: int) -> tuple[int, int]:
    anchor, cluster = _patterns()
    nearest = max(0, index - _LONGEST_CLUSTER)
    certain = anchor.search(text, nearest, index)
    start = certain.start() + 1 if certain else nearest
    if start == index:
        return index, index
    near = text[start : index + _LONGEST_CLUSTER]
    for match in cluster.finditer(near):
        if match.end() + start >= index:
            end = match.end() + start
            return (index, index) if end == index else (match.start() + start, end)
    return index, index


def _is_flag(character: str) -> bool:
    """Return whether ``character`` is a regional indicator; two of them make a flag (GB12, GB13)."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, index: int) -> int:
    start = index
    while start and _is_flag(text[start - 1]):
        start -= 1
    return index - start


@cache
def _patterns() -> tuple[Any, Any]:
    import regex  # noqa: PLC0415 - only a cut near text beyond ASCII needs it

    # Searched backwards. Between characters of these classes there is a boundary whatever stands around
    # them: no rule of UAX #29 joins them (GB6 to GB12 need a jamo, a mark, a joiner or a flag on the left).
    left = "".join(rf"\p{{GCB={name}}}" for name in ("Other", "LV", "LVT", "V", "T"))
    right = "".join(rf"\p{{GCB={name}}}" for name in ("Other", "L", "LV", "LVT", "Regional_Indicator"))
    return regex.compile(rf"(?r)[{left}][{right}]|[\n\p{{Cc}}]"), regex.compile(r"\X")


def _escape_span(text: str, index: int) -> tuple[int, int]:
    """Return the start and end of the terminal escape that ``index`` falls inside, or ``index`` twice."""
    farthest = max(0, index - _LONGEST_ESCAPE)
    start = end = index
    while (before := _escape_before(text, farthest, start)) is not None:
        # The terminator of a string (ESC \) is an escape of its own inside another: look again from there.
        start = before[0]
        end = before[1] if end == index else end
    return start, end


def _escape_before(text: str, farthest: int, index: int) -> tuple[int, int] | None:
    """Return the escape that starts last before ``index`` if it goes on behind it."""
    start = text.rfind(STARTS_ESCAPE, farthest, index)
    match = ESCAPE.match(text, start) if start >= 0 else None
    return None if match is None or match.end() <= index else match.span()
