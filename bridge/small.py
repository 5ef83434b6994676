"""A small clean text, the commonest result of all: its content by a short way.

The long way (``bridge.subject`` to ``bridge.content``) gives the same, bit for bit; it only asks more
questions, and here all of their answers are no. tests/test_small.py holds the two ways against each other.
"""

from __future__ import annotations

import orjson

from bridge.cutting.budget import Room
from bridge.cutting.clean import needs_cleaning
from bridge.media import DATA_URI_MARK
from bridge.projections import mutation, read_file

# By these names a text is of another kind than a text.
_OTHER_KINDS = frozenset({read_file.TOOL, *mutation.TOOLS})
_RIND_MARK = '"tool"'


def small_content(text: str, name: str, room: Room) -> str | None:
    """Give the content of the ``text`` that the tool ``name`` gave back; None when that takes the long way.

    ``room`` is the smaller one of the two readers, so that one content serves both.
    """
    if len(text) > room.size or name in _OTHER_KINDS or needs_cleaning(text):
        return None
    if _RIND_MARK in text or DATA_URI_MARK in text:
        return None
    try:
        encoded = orjson.dumps({"ok": True, "tool": name, "data": text})
    except TypeError:  # a lone surrogate
        return None
    if len(encoded) > room.size or text.count("\n") + name.count("\n") > room.lines:
        return None
    return encoded.decode()
