"""What a line of JSON will need in memory, judged from its bytes before it is parsed.

``[{},{},…]`` becomes thirty times its size in Python's objects, a text about three times. A line that would need
more than ``MOST_TIMES`` its own size is refused (docs/protocol.md, "Frames"), unless it is small.
"""

from __future__ import annotations

import re
from typing import Final

# Need that is never refused: with it a line of four megabytes may have any shape.
FREE_BYTES: Final = 128 << 20
MOST_TIMES: Final = 12

# Bytes for each byte of the line, and for each of these outside of texts: measured on whole calls with CPython 3.11.
_TIMES: Final = 3
_WEIGHTS: Final = {b"{": 64, b"[": 64, b",": 16, b":": 72, b".": 28}
# A line of so many bytes needs less than what is never refused, whatever it is made of.
_NEVER_TOO_MUCH: Final = FREE_BYTES // (_TIMES + max(_WEIGHTS.values()))
# One long text and what precedes it; short texts are counted as if they were structure. Possessive, so nothing is
# tried twice; a text that never ends is one as well, and at the end of the line it always matches.
_LONG_TEXT = re.compile(
    rb'[^"]*+(?:"[^"\\]{0,64}+"[^"]*+)*+(?:"(?P<text>(?:[^"\\]++|\\.)*+)(?:"|\Z)|\Z)',
    re.DOTALL,
)


def needs_too_much(line: bytes) -> bool:
    """Return whether ``line`` would need more memory than a request may; reads it once more where it looks like it."""
    if len(line) <= _NEVER_TOO_MUCH:
        return False
    bound = max(FREE_BYTES, MOST_TIMES * len(line))
    need = _TIMES * len(line) + _weight(line, 0, len(line))
    if need <= bound:
        return False
    # What looks like structure may stand in texts, where it costs nothing more.
    return need - sum(_weight(line, *found.span("text")) for found in _LONG_TEXT.finditer(line)) > bound


def _weight(line: bytes, start: int, end: int) -> int:
    return sum(line.count(mark, start, end) * weight for mark, weight in _WEIGHTS.items())
