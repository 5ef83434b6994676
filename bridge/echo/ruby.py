"""How Ruby prints a JSON value: ``to_s``, ``inspect`` and ``to_json`` of Ruby 3.1 with json 2.6.

Every function takes a limit in code points and stops printing soon after it, so that the echo of a huge
result costs what the echo of a small one does. Nothing recurses, so depth costs no stack.

What Ruby refuses to print (NaN and infinities in ``to_json``, nesting beyond 100) is printed as
``JSON.generate(value, allow_nan: true, max_nesting: 0)`` would: a preview that raises helps nobody, and
``null`` would be untrue. docs/parity.md lists all such cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

from bridge.echo.printable import is_printable
from bridge.protocol.surrogates import joined

ELLIPSIS = "..."


def truncate(text: str, limit: int) -> str:
    """Cut ``text`` to ``limit`` code points: keep ``limit - 3`` and add "..."; below 3 only that is left."""
    if len(text) <= limit:
        return text
    return text[: max(limit - len(ELLIPSIS), 0)] + ELLIPSIS


def to_s(value: Any, limit: int, *, ruby_3_4: bool = False) -> str:
    """Print ``value`` as Ruby's ``to_s``: all of it, or its beginning and more than ``limit`` code points.

    Raises ``TypeError`` for what is not a JSON value; the caller is to blame.
    """
    if isinstance(value, str):
        return _beginning(value, limit)
    if value is None:
        return ""
    return inspect(value, limit, ruby_3_4=ruby_3_4)


def inspect(value: Any, limit: int, *, ruby_3_4: bool = False) -> str:
    """Print ``value`` as Ruby's ``inspect``; ``ruby_3_4`` has the spaces around ``=>`` that Ruby 3.4 brought.

    Bounds and errors are those of ``to_s``.
    """
    return _print(value, _INSPECT_3_4 if ruby_3_4 else _INSPECT, limit)


def to_json(value: Any, limit: int, *, json_2_15: bool = False) -> str:
    """Print ``value`` as Ruby's ``to_json``; ``json_2_15`` lays floats out as the json gem does since 2.15.

    Bounds and errors are those of ``to_s``.
    """
    return _print(value, _JSON_2_15 if json_2_15 else _JSON, limit)


@dataclass(frozen=True, slots=True)
class _Style:
    null: str
    separator: str
    arrow: str
    quote: Callable[[str], str]
    number: Callable[[float], str]


def _print(value: Any, style: _Style, limit: int) -> str:
    limit = max(limit, 0)
    pieces: list[str] = []
    size = 0
    open_containers = [iter((_scalar(value, style, limit),))]
    while open_containers:
        for part in open_containers[-1]:
            if not isinstance(part, str):
                open_containers.append(_parts(part, style, limit))
                break
            pieces.append(part)
            size += len(part)
            if size > limit:
                return "".join(pieces)
        else:
            open_containers.pop()
    return "".join(pieces)


def _parts(container: Any, style: _Style, limit: int) -> Iterator[Any]:
    """Yield what is printed of a container: texts, and the containers that stand in it."""
    opening, closing = "{}" if isinstance(container, dict) else "[]"
    lead = opening
    for key, member in _members(container, style, limit):
        part = _scalar(member, style, limit)
        if isinstance(part, str):
            yield lead + key + part
        else:
            yield lead + key
            yield part
        lead = style.separator
    yield closing if container else opening + closing


def _members(container: Any, style: _Style, limit: int) -> Iterator[tuple[str, Any]]:
    if not isinstance(container, dict):
        return (("", member) for member in container)
    return ((_key(key, style, limit), member) for key, member in container.items())


def _key(key: Any, style: _Style, limit: int) -> str:
    if not isinstance(key, str):
        raise TypeError(f"an object's key must be text, not {type(key).__name__}")
    return style.quote(_beginning(key, limit)) + style.arrow


def _scalar(value: Any, style: _Style, limit: int) -> Any:
    """Return the text of a scalar, and a container as it is."""
    if isinstance(value, str):
        return style.quote(_beginning(value, limit))
    if value is None:
        return style.null
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return style.number(value)
    if isinstance(value, dict | list | tuple):
        return value
    raise TypeError(f"a JSON value is wanted, not {type(value).__name__}: convert it to text or to an object")


def _beginning(text: str, limit: int) -> str:
    """Return more than ``limit`` characters of ``text`` where it has them; two surrogates may be one character."""
    if len(text) <= limit and text.isascii():
        return text
    return joined(text[: 2 * max(limit, 0) + 2])[: max(limit, 0) + 1]


def _integer(value: int) -> str:
    try:
        return int.__repr__(value)
    except ValueError:  # more digits than sys.get_int_max_str_digits() lets pass; Decimal has no such bound
        return format(Decimal(value), "f")


def _float(value: float) -> str:
    """Print as Float#to_s: the shortest digits, as in Python, but laid out differently in two places.

    A mantissa keeps its ".0" before an exponent, and an integral value of sixteen digits has an exponent.
    """
    if not isfinite(value):
        return _NOT_FINITE[float.__repr__(value)]
    if 1e15 <= abs(value) < 1e16 and value.is_integer():
        mantissa, exponent = f"{value:.15e}".split("e")
        mantissa = mantissa.rstrip("0")
    else:
        mantissa, _, exponent = float.__repr__(value).partition("e")
    if not exponent:
        return mantissa
    return _with_fraction(mantissa) + "e" + exponent


def _json_float(value: float) -> str:
    """Print a float as json 2.15 and later: few exponents, and a mantissa of one digit has no ".0" before one."""
    size = abs(value)
    if not isfinite(value):
        return _NOT_FINITE[float.__repr__(value)]
    if 1e-9 <= size < 1e-4:
        return format(Decimal(float.__repr__(value)), "f")
    if 1e15 <= size < 1e16 and value.is_integer():
        mantissa, exponent = f"{value:.15e}".split("e")
        return mantissa.rstrip("0").removesuffix(".") + "e" + exponent
    return float.__repr__(value)


_NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def _with_fraction(mantissa: str) -> str:
    whole, _, fraction = mantissa.partition(".")
    return f"{whole}.{fraction or '0'}"


@lru_cache(maxsize=4096)
def _escape(code: int) -> str:
    if is_printable(code):
        return chr(code)
    if 0xD800 <= code <= 0xDFFF:  # to Ruby these are three bytes that are no character
        return "".join(f"\\x{byte:02X}" for byte in chr(code).encode("utf-8", "surrogatepass"))
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\u{{{code:X}}}"


class _Escapes(dict[int, str]):
    """A table for ``str.translate`` that works out what it was not told, and stays small."""

    __missing__ = staticmethod(_escape)


_ESCAPES = _Escapes(zip(b'"\\\a\b\t\n\v\f\r\x1b', (f"\\{letter}" for letter in '"\\abtnvfre'), strict=True))
_INTERPOLATION = re.compile(r"#(?=[{$@])")  # the only places where Ruby source would interpolate


def _inspect_text(text: str) -> str:
    return '"' + _INTERPOLATION.sub(r"\\#", text.translate(_ESCAPES)) + '"'


_INSPECT = _Style(null="nil", separator=", ", arrow="=>", quote=_inspect_text, number=_float)
_INSPECT_3_4 = replace(_INSPECT, arrow=" => ")
_JSON = _Style(null="null", separator=",", arrow=":", quote=encode_basestring, number=_float)
_JSON_2_15 = replace(_JSON, number=_json_float)
