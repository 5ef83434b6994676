"""JSON out: orjson for nearly everything, an exact encoder for what orjson refuses or would misstate.

Measured on orjson 3.13: it raises on integers beyond 64 bits, on lone surrogates and on nesting past 254,
and it writes ``null`` for a float that is not finite. A number like ``1e400`` reaches us as infinity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    del text
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
    out = bytearray()
    _write(value, out)
    return bytes(out)


def _write(value: Any, out: bytearray) -> None:
    """Append the JSON of ``value`` to ``out``: a list of many pieces would take many times what they say."""
    if isinstance(value, dict):
        _write_object(value, out)
    elif isinstance(value, list | tuple):
        _write_array(value, out)
    elif isinstance(value, str):
        out += _text(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        out += b"%d" % value
    elif isinstance(value, float) and not math.isfinite(value):
        out += _infinity(value)
    else:
        out += orjson.dumps(value)


def _write_object(value: dict[Any, Any], out: bytearray) -> None:
    mark = b"{"
    for key, item in value.items():
        out += mark + _text(key) + b":"
        _write(item, out)
        mark = b","
    out += b"}" if value else b"{}"


def _write_array(value: Sequence[Any], out: bytearray) -> None:
    mark = b"["
    for item in value:
        out += mark
        _write(item, out)
        mark = b","
    out += b"]" if value else b"[]"


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"a key of a JSON object is text, not {type(value).__name__}")
    return orjson.dumps(well_formed(value)[0])


def _infinity(value: float) -> bytes:
    if math.isnan(value):
        raise ValueError("not a number has no JSON")
    return BEYOND_DOUBLES if value > 0 else b"-" + BEYOND_DOUBLES
