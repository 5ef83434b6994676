"""The words on the wire: names that may be used as ids, and the shapes of what the worker gives back."""

from __future__ import annotations

import re

from bridge.errors import InvalidParams

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)


def check_identifier(field: str, value: object) -> str:
    """Give ``value`` back if it can name a session or a call; it becomes a file name, so it is never a path.

    Raises ``InvalidParams`` that names ``field``: the caller is to blame.
    """
    if not isinstance(value, str) or not IDENTIFIER.fullmatch(value):
        rule = "1 to 128 of A-Z a-z 0-9 . _ - and it starts with a letter or digit"
        raise InvalidParams({"fields": {field: rule}})
    return value
