"""JSON out: orjson for nearly everything, an exact encoder for what orjson refuses or would misstate.

Measured on orjson 3.13: it raises on integers beyond 64 bits, on lone surrogates and on nesting past 254,
and it writes ``null`` for a float that is not finite. A number like ``1e400`` reaches us as infinity.
"""

from __future__ import annotations

import math
from typing import Any, Final

import orjson

from bridge.protocol.surrogates import well_formed

# Valid JSON that every reader with IEEE 754 doubles takes for what it stands for: a number beyond them.
BEYOND_DOUBLES = b"1e999"
# A tuple of types is asked twice as fast as their union.
CONTAINERS: Final = (dict, list)


def encode(value: Any) -> bytes:
    """Return ``value`` as UTF-8 JSON without white space.

    Raises ``TypeError`` or ``ValueError`` for what JSON cannot hold (an object of ours, not a number), and
    ``RecursionError`` for nesting past Python's own limit: whoever made the value is to blame.
    """
    try:
        text = orjson.dumps(value)
    except TypeError:
        return _exact(value)
    if b"null" not in text or not _holds_infinity(value):
        return text
    del text  # as large as what is made next
    return _exact(value)


def readable(value: Any, levels: int) -> Any:
    """Return ``value`` with the text of its JSON in place of each array and object deeper than ``levels``.

    The outermost is level 1. What is not deeper is the very object. Raises what ``encode`` raises.
    """
    level: list[Any] = [[value]]
    for _ in range(levels + 1):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, CONTAINERS)
        ]
        if not level:
            return value
    return _shallow(value, levels)


def _shallow(value: Any, levels: int) -> Any:
    if not isinstance(value, CONTAINERS):
        return value
    if not levels:
        return encode(value).decode()
    if isinstance(value, dict):
        return {key: _shallow(member, levels - 1) for key, member in value.items()}
    return [_shallow(member, levels - 1) for member in value]


def _holds_infinity(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_holds_infinity, value.values()))
    return isinstance(value, list) and any(map(_holds_infinity, value))


def _exact(value: Any) -> bytes:
    written = bytearray()
    _write(value, written)
    return bytes(written)


def _write(value: Any, written: bytearray) -> None:
    """Append the JSON of ``value``: pieces that were joined at last would take many times what they hold."""
    if isinstance(value, dict):
        opening = b"{"
        for key, member in value.items():
            written += opening + _text(key) + b":"
            _write(member, written)
            opening = b","
        written += b"}" if value else b"{}"
    elif isinstance(value, list | tuple):
        opening = b"["
        for member in value:
            written += opening
            _write(member, written)
            opening = b","
        written += b"]" if value else b"[]"
    else:
        written += _scalar(value)


def _scalar(value: Any) -> bytes:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return b"%d" % value
    if isinstance(value, float) and not math.isfinite(value):
        return _infinity(value)
    return orjson.dumps(value)


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"a key of a JSON object is text, not {type(value).__name__}")
    return orjson.dumps(well_formed(value)[0])


def _infinity(value: float) -> bytes:
    if math.isnan(value):
        raise ValueError("not a number has no JSON")
    return BEYOND_DOUBLES if value > 0 else b"-" + BEYOND_DOUBLES
