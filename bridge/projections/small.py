"""A small clean text, the commonest result of all: its projection by a short way.

The long way (``tool_result`` to ``render``) gives the same, bit for bit; it only asks more
questions, and here all of their answers are no. tests/test_small.py holds the two ways against each other.
"""

from __future__ import annotations

from typing import Any

import orjson

from bridge.excerpt.budget import Budget
from bridge.excerpt.cleaning import needs_cleaning
from bridge.payload.attachments import DATA_URI_MARK
from bridge.projections import mutation, read_file
from bridge.projections.render import FORMAT, NOT_NEEDED
from bridge.projections.text import KIND

# By these names a text is of another kind than a text.
_OTHER_KINDS = frozenset({read_file.TOOL, *mutation.TOOLS})


def small_projection(text: str, name: str, budget: Budget) -> dict[str, Any] | None:
    """Return the model's side of the ``text`` that the tool ``name`` gave back; None when it goes the long way.

    ``budget`` is the smaller one of the two readers, so that its content serves the person as well.
    """
    if len(text) > budget.size or name in _OTHER_KINDS or needs_cleaning(text) or _may_hold_more(text):
        return None
    newlines = text.count("\n")
    try:
        encoded = orjson.dumps({"ok": True, "tool": name, "data": text})
    except TypeError:  # a lone surrogate
        return None
    if len(encoded) > budget.size or newlines + name.count("\n") > budget.lines:
        return None
    policy = {
        "kind": KIND,
        "truncated": False,
        "total_bytes": len(text) if text.isascii() else len(text.encode()),
        "total_lines": newlines + (text != "" and text[-1] != "\n"),
        "losses": [],
    }
    return {
        "model_content": encoded.decode(),
        "model_content_format": FORMAT,
        "model_content_policy": policy,
        "attachments": [],
        "output": {"reason": NOT_NEEDED},
    }


def _may_hold_more(text: str) -> bool:
    """Return whether the text may be a payload of Rind's or hold a data URI; one character mostly decides."""
    return ("{" in text and '"tool"' in text) or (";" in text and DATA_URI_MARK in text)
