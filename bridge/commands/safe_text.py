"""Text that a terminal may be given: controls are shown, not sent.

What a tool printed may write the clipboard, ask the terminal for its title, clear the screen or reverse the reading
direction. Everything here that comes from a home or from a result goes through this module before it is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

# Unicode's Bidi_Control characters (UAX 9), the line and paragraph separators, and the byte order mark.
_BIDIRECTIONAL = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SEPARATORS = (0x2028, 0x2029, 0xFEFF)
_SURROGATES = range(0xD800, 0xE000)
_NAMED = {0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}


def _escapes(code_points: Iterable[int]) -> dict[int, str]:
    return {code: _NAMED.get(code) or (f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}") for code in code_points}


# Every escape from U+0080 on is one of JSON's as well, so that a JSON text stays the same value.
_BEYOND_ASCII = _escapes([*range(0x80, 0xA0), *_BIDIRECTIONAL, *_SEPARATORS, *_SURROGATES])
_LINE = {**_escapes([*range(0x20), 0x7F]), **_BEYOND_ASCII}
_TEXT = {code: escape for code, escape in _LINE.items() if code not in (0x09, 0x0A)}
_JSON = {0x7F: "\\u007f", **_BEYOND_ASCII}


def shown(text: str) -> str:
    """Return ``text`` with its controls as the escapes of Python; line ends and tabs stay."""
    return text.translate(_TEXT)


def shown_line(text: object) -> str:
    """Return ``text`` as one line: line ends and tabs are shown as well."""
    return str(text).translate(_LINE)


def json_text(value: Any) -> str:
    """Return ``value`` as indented JSON that parses to the same value and sends no control."""
    return json.dumps(value, indent=2, ensure_ascii=False).translate(_JSON)
