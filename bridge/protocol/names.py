"""The words on the wire, each defined once, and the names that may be used as ids.

The parameters of methods are in ``models``, the shapes of results in ``results``.
"""

from __future__ import annotations

import re
from typing import Final, Literal, get_args

from bridge.protocol.errors import InvalidParams

JSONRPC: Final = "2.0"
SERVER: Final = "rind-bridge"
# Raised when a client of the old number would misread a reply.
PROTOCOL: Final = 1

PREVIEW_ECHO: Final = "echo"
PREVIEW_STRUCTURE: Final = "structure"

Status = Literal["completed", "failed", "cancelled"]
COMPLETED: Final = "completed"
# The result of a call that ended so is an error.
FAILED_STATUSES: Final = ("failed", "cancelled")
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
STATUS_RULE: Final = f"must be one of {', '.join(STATUSES)}"

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
IDENTIFIER_RULE: Final = "1 to 128 of A-Z a-z 0-9 . _ - and it starts with a letter or digit"


def check_identifiers(**identifiers: object) -> None:
    """Check that each value can name a session or a call; it becomes a file name, so it is never a path.

    Raises ``InvalidParams`` that names every field at fault: the caller is to blame.
    """
    wrong = {field: IDENTIFIER_RULE for field, value in identifiers.items() if not is_identifier(value)}
    if wrong:
        raise InvalidParams({"fields": wrong})


def is_identifier(value: object) -> bool:
    """Return whether ``value`` can name a session or a call."""
    return isinstance(value, str) and IDENTIFIER.fullmatch(value) is not None
