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

# An id of a session or a call. It names a file, but is never a path; the store makes safe names of what it keeps.
# The published pattern is this one in the words of ECMA-262; lone surrogates have no UTF-8, so they never come by wire.
IDENTIFIER = re.compile(r"(?!\.{1,2}\Z)[^/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,512}")
IDENTIFIER_PATTERN: Final = r"^(?!\.{1,2}$)[^/\\\u0000-\u001f\u007f-\u009f]{1,512}$"
IDENTIFIER_RULE: Final = '1 to 512 characters, none of them "/", "\\" or a control character, and not "." or ".."'
# What 0.1.0 allowed: such an id is its own file name.
PLAIN_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)


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
