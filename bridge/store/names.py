"""Where things lie below the home, as tuples of names, and the safe names of ids.

An id that a file can bear on every system is its own name. Any other is written with ``=`` and two digits for each
byte that is not of A-Z a-z 0-9 . _ -, and one that is too long ends in ``==`` and its hash. So no two ids have the
same name, none leads elsewhere, and ``~`` is free to part the name of a call from that of a part of its output.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from bridge.protocol.names import PLAIN_IDENTIFIER, check_identifiers, is_identifier

OUTPUTS, ATTACHMENTS = "outputs", "attachments"
LEDGER = "ledger.sqlite3"

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
_PART = "~"

_UNSAFE_BYTE = re.compile(rb"[^A-Za-z0-9._-]")
_ESCAPED_BYTE = re.compile("=([0-9A-F]{2})")
# A file system takes names of 255 bytes: that of a call, that of a part, ``~`` and ``.txt``.
_LONGEST = 120
_HASHED = re.compile(r"[A-Za-z0-9._=-]{1,54}==[0-9a-f]{64}")
_OUTPUT = re.compile(rf"([^{_PART}]+)(?:{_PART}([^{_PART}]+))?\.txt")
_ATTACHMENT = re.compile(r"(.+)-[0-9a-f]{16}\.[a-z0-9]+")

Names = tuple[str, ...]


def safe(identifier: str) -> str:
    """Return the name of an id in the file system; two ids never have the same one."""
    if PLAIN_IDENTIFIER.fullmatch(identifier):
        return identifier
    content = identifier.encode(errors="surrogatepass")
    name = _UNSAFE_BYTE.sub(lambda byte: b"=%02X" % ord(byte[0]), content).decode()
    if name[0] in "._-":  # a file that is hidden, or taken for an option
        name = f"={ord(name[0]):02X}{name[1:]}"
    if len(name) <= _LONGEST and "=" in name:
        return name
    return f"{name[: _LONGEST - 66]}=={sha256(content).hexdigest()}"


def unsafe(name: str) -> str:
    """Return the id that has this name; of a long id, whose name cannot be read back, the name itself."""
    if _HASHED.fullmatch(name):
        return name
    return _ESCAPED_BYTE.sub(lambda byte: chr(int(byte[1], 16)), name).encode("latin-1").decode(errors="surrogatepass")


def is_safe(name: str) -> bool:
    """Return whether an id has this name."""
    return _is_written(name) and is_identifier(unsafe(name))


def _is_written(name: str) -> bool:
    """Return whether ``safe`` writes such names, of ids or of other texts."""
    try:
        return _HASHED.fullmatch(name) is not None or safe(unsafe(name)) == name
    except ValueError:
        return False


def output(session_id: str, call_id: str, part: str = "") -> Names:
    """Return the one name of a call's output, text or JSON: taking it is what makes one of two writers win.

    ``part`` names a second output of the call: any text. Raises ``InvalidParams`` for what is no id: the caller is to
    blame.
    """
    check_identifiers(session_id=session_id, call_id=call_id)
    # The longest ids that are their own names leave no space for a part as long.
    name = safe(part if len(part) <= _LONGEST else f"={part}") if part else ""
    return (OUTPUTS, safe(session_id), f"{safe(call_id)}{_PART + name if name else ''}.txt")


def attachment(session_id: str, call_id: str, sha256: str, media_type: str) -> Names:
    """Return the name of an attachment, which is that of its content: the same one again is the same file.

    Raises ``InvalidParams`` for what is no id: the caller is to blame.
    """
    check_identifiers(session_id=session_id, call_id=call_id)
    essence = media_type.partition(";")[0].strip().lower()
    suffix = SUFFIXES.get(essence, _ANY_SUFFIX)
    return (ATTACHMENTS, safe(session_id), f"{safe(call_id)}-{sha256[:16]}{suffix}")


def call_id_of(names: Names) -> str | None:
    """Return the call that a file belongs to, None when no call of this program can have written it."""
    top, _, name = names
    found = (_OUTPUT if top == OUTPUTS else _ATTACHMENT).fullmatch(name)
    if found is None or not is_safe(found[1]):
        return None
    part = found[2] if top == OUTPUTS else None
    return unsafe(found[1]) if part is None or _is_written(part) else None


def shown(home: Path, names: Names) -> str:
    """Return the path for a reader; bytes of the home's name that are not UTF-8 cannot be written in JSON."""
    return os.fsencode(home.joinpath(*names)).decode("utf-8", "replace")


def key(names: Names) -> str:
    """Return the path below the home by which the database knows the file."""
    return "/".join(names)
