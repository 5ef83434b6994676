"""Where things lie below the home, as tuples of names; ids are checked, so none of them leads elsewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bridge.protocol.names import PLAIN_IDENTIFIER

OUTPUTS, ATTACHMENTS = "outputs", "attachments"

# What an agent is likely to attach. Not the mimetypes module: it reads the system's tables, so the same
# attachment would lie elsewhere on another machine.
SUFFIXES = {
    "application/json": ".json",
    "application/pdf": ".pdf",
    "audio/mpeg": ".mp3",
    "audio/wav": ".wav",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/svg+xml": ".svg",
    "image/webp": ".webp",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "video/mp4": ".mp4",
}
_ANY_SUFFIX = ".bin"
_ATTACHMENT = re.compile(r"(.+)-[0-9a-f]{16}\.[a-z0-9]+")

Names = tuple[str, ...]


def output(session_id: str, call_id: str, part: str = "") -> Names:
    """Return the one name of a call's output, text or JSON: taking it is what makes one of two writers win."""
    return (OUTPUTS, session_id, f"{call_id}~{part}.txt" if part else f"{call_id}.txt")


def attachment(session_id: str, call_id: str, sha256: str, media_type: str) -> Names:
    """Return the name of an attachment, which is that of its content: the same one again is the same file."""
    essence = media_type.partition(";")[0].strip().lower()
    return (ATTACHMENTS, session_id, f"{call_id}-{sha256[:16]}{SUFFIXES.get(essence, _ANY_SUFFIX)}")


def is_identifier(name: str) -> bool:
    """Return whether a folder's name can be that of a session."""
    return PLAIN_IDENTIFIER.fullmatch(name) is not None


def call_id_of(names: Names) -> str | None:
    """Return the call that a file belongs to, None when no call of this program can have written it."""
    top, _, name = names
    if top == OUTPUTS:
        call_id = name.removesuffix(".txt")
        return call_id if call_id != name and is_identifier(call_id) else None
    found = _ATTACHMENT.fullmatch(name)
    return found[1] if found and is_identifier(found[1]) else None


def shown(home: Path, names: Names) -> str:
    """Return the path for a reader; bytes of the home's name that are not UTF-8 cannot be written in JSON."""
    return os.fsencode(home.joinpath(*names)).decode("utf-8", "replace")


def key(names: Names) -> str:
    """Return the path below the home by which the database knows the file."""
    return "/".join(names)
