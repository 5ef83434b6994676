"""JSON as it leaves the bridge: keys sorted, bytes counted, nothing written that is not so.

orjson does the writing. Two of its habits would be untrue here: it writes NaN as ``null``, and it refuses
what is nested deeper than 254 levels. ``bridge.payload.json_value`` sees to it that neither reaches this module.
"""

from __future__ import annotations

from typing import Any

import orjson

_SORTED = orjson.OPT_SORT_KEYS
ESCAPED_NEWLINE = rb"\n"
_ESCAPED_BACKSLASH, _BACKSLASH_AND_N = rb"\\", rb"\\n"


def encode(value: Any) -> bytes:
    """Return the compact JSON of a plain value, keys sorted."""
    return orjson.dumps(value, option=_SORTED)


def encode_top(tree: dict[str, Any]) -> bytes:
    """Return the compact JSON of ``tree`` with its own keys in the order they stand, those below sorted."""
    return orjson.dumps({key: value if type(value) is str else _sorted(value) for key, value in tree.items()})


def escape(text: str) -> bytes:
    """Return ``text`` as it stands between the quotes of a JSON text."""
    return orjson.dumps(text)[1:-1]


def unescape(escaped: bytes) -> str:
    """Return the text that stands as ``escaped`` between the quotes of a JSON text."""
    text: str = orjson.loads(b'"%b"' % escaped)
    return text


def newlines(encoded: bytes) -> int:
    """Count the newlines of all texts in ``encoded``; an escaped backslash before an ``n`` is none."""
    return without_backslashes(encoded).count(ESCAPED_NEWLINE) if b"\\" in encoded else 0


def without_backslashes(encoded: bytes) -> bytes:
    """Return ``encoded``, as long as it is, without escaped backslashes that could make a newline of an ``n``."""
    return encoded.replace(_ESCAPED_BACKSLASH, b"  ") if _BACKSLASH_AND_N in encoded else encoded


def _sorted(value: Any) -> orjson.Fragment:
    return orjson.Fragment(encode(value))
