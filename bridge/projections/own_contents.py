"""Which contents this process made: a content that comes back is told from one that a tool made up.

What is kept is a keyed hash of each text (Python's, whose key is drawn anew in each process), so that nothing in a
text can make it pass for one of ours. After a restart an old content is taken for what it looks like: a payload with
a ``meta``.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from bridge.excerpt.json_text import encode_top
from bridge.payload.unified import is_rind

# A content given back comes soon, if it comes: within a turn or a session.
_MOST_REMEMBERED = 20_000
_LONG_NAME, _COMPARED = 200, 1
_remembered: OrderedDict[int, None] = OrderedDict()

_CONTENT_KEYS = ("ok", "tool", "data", "error", "error_type", "meta")
_ANSWER_KEYS = frozenset(
    {"terminal_content", "model_content", "model_content_format", "model_content_policy", "attachments", "output"}
)
_ANSWER_MAY_HAVE = _ANSWER_KEYS | {"replayed", "preview"}


def remember(content: str) -> None:
    """Remember that ``content`` was made here."""
    _remembered[hash(content)] = None
    if len(_remembered) > _MOST_REMEMBERED:
        _remembered.popitem(last=False)


def is_own_content(value: Any, name: str) -> bool:
    """Return whether ``value`` is, to the last byte, a content that was made here for the tool ``name``."""
    if not is_rind(value) or not value.keys() <= set(_CONTENT_KEYS):
        return False
    # A name too long for a content was cut in it.
    if value["tool"] != name and not (len(name) > _LONG_NAME and value["tool"][:_COMPARED] == name[:_COMPARED]):
        return False
    return hash(encode_top({key: value[key] for key in _CONTENT_KEYS if key in value}).decode()) in _remembered


def own_content_of(value: Any) -> str | None:
    """Return the text of a content that was made here if ``value`` is one, or is a whole answer with one."""
    if isinstance(value, dict) and _ANSWER_KEYS <= value.keys() <= _ANSWER_MAY_HAVE:
        value = value["model_content"]
    return value if isinstance(value, str) and value.startswith("{") and hash(value) in _remembered else None
