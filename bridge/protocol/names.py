"""The words on the wire, each defined once, and the names that may be used as ids.

The shapes of params and results are in ``openrpc``: this file is imported by every room and at every start,
and pydantic's models take longer to load than all the rest of a worker.
"""

from __future__ import annotations

import re
from typing import Final

from bridge.protocol.errors import InvalidParams

JSONRPC: Final = "2.0"
SERVER: Final = "rind-bridge"
# Raised when a client of the old number would misread a reply.
PROTOCOL: Final = 1

PREVIEW_ECHO: Final = "echo"
PREVIEW_STRUCTURE: Final = "structure"

COMPLETED: Final = "completed"
# The result of a call that ended so is an error.
FAILED_STATUSES: Final = ("failed", "cancelled")
STATUSES: Final = (COMPLETED, *FAILED_STATUSES)
STATUS_RULE: Final = f"must be one of {', '.join(STATUSES)}"

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
IDENTIFIER_RULE: Final = "1 to 128 of A-Z a-z 0-9 . _ - and it starts with a letter or digit"


def check_identifiers(**identifiers: object) -> None:
    """Check that each value can name a session or a call; it becomes a file name, so it is never a path.

    Raises ``InvalidParams`` that names every field at fault: the caller is to blame.
    """
    wrong = {field: IDENTIFIER_RULE for field, value in identifiers.items() if not _is_identifier(value)}
    if wrong:
        raise InvalidParams({"fields": wrong})


def check_given_identifiers(**identifiers: object) -> None:
    """Do the same for ids that may be left out, which None stands for."""
    check_identifiers(**{field: value for field, value in identifiers.items() if value is not None})


def _is_identifier(value: object) -> bool:
    return isinstance(value, str) and IDENTIFIER.fullmatch(value) is not None
