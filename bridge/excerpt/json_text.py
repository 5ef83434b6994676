"""JSON as it leaves the bridge: keys sorted, bytes counted, nothing written that is not so.

orjson does the writing. Two of its habits would be untrue here: it writes NaN as ``null``, and it refuses
what is nested deeper than 254 levels. ``bridge.payload.json_value`` sees to it that neither reaches this module.
"""

from __future__ import annotations

from typing import Any

import orjson

_SORTED = orjson.OPT_SORT_KEYS
_ESCAPED_BACKSLASH, _ESCAPED_NEWLINE = rb"\\", rb"\n"
_BACKSLASH_AND_N = rb"\\n"


def encode(value: Any) -> bytes:
    """Return the compact JSON of a plain value, keys sorted."""
    return orjson.dumps(value, option=_SORTED)


def encode_top(tree: dict[str, Any]) -> bytes:
    """Return the compact JSON of ``tree`` with its own keys in the order they stand, those below sorted."""
    return orjson.dumps({key: value if type(value) is str else _sorted(value) for key, value in tree.items()})


def escape(text: str) -> bytes:
    """Return ``text`` as it stands between the quotes of a JSON text."""
    return orjson.dumps(text)[1:-1]


def newlines(encoded: bytes) -> int:
    """Count the newlines of all texts in ``encoded``; an escaped backslash before an ``n`` is none."""
    if b"\\" not in encoded:
        return 0
    if _BACKSLASH_AND_N in encoded:
        encoded = encoded.replace(_ESCAPED_BACKSLASH, b"")
    return encoded.count(_ESCAPED_NEWLINE)


def _sorted(value: Any) -> orjson.Fragment:
    return orjson.Fragment(encode(value))
