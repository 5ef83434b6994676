"""Images and other media in a result become attachments: stored as files, never text that a model pays for.

Media arrive as content blocks (MCP: ``{"type": "image", "data": base64, "mimeType": ...}``; Anthropic's ``source``;
OpenAI's ``image_url``) or as data URIs (RFC 2397) inside any text. In their place stands a note.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bridge.excerpt.deadline import Deadline
from bridge.payload.members import with_members

KeepAttachment = Callable[[bytes, str], dict[str, Any]]

# Possessive, so that no text can make it look at a character more than once from one place.
_DATA_URI = re.compile(
    r"data:([\w.+-]{1,64}+/[\w.+-]{1,64}+)(?:;[\w.=-]{1,64}+){0,8}?;base64,([A-Za-z0-9+/_=-]{16,}+)", re.ASCII
)
DATA_URI_MARK = ";base64,"
# A model reads text as it is, and words such as "true" or "data" are base64 by chance.
_READABLE = ("text",)
_SHORTEST = 16
_MEDIA_TYPE_KEYS = ("mimeType", "mime_type", "media_type")
# JSON in which none of these occurs holds no media.
MARKS = frozenset({DATA_URI_MARK.encode(), *(key.encode() for key in _MEDIA_TYPE_KEYS)})
# Each costs a file and a record; a result with more of them is data and not a set of pictures.
MOST_ATTACHMENTS = 64


@dataclass(slots=True)
class AttachmentExtractor:
    """Takes media out of values.

    ``keep`` stores bytes and returns a reference, or the ``reason`` why it has none. Media that are not stored stay
    in their attachment as base64, so that none is lost. The first ``MOST_ATTACHMENTS`` are taken out; others stay in
    place.
    """

    keep: KeepAttachment
    deadline: Deadline
    attachments: list[dict[str, Any]] = field(default_factory=list)
    _notes: dict[str, str] = field(default_factory=dict)

    def extract(self, value: Any, *, page: bool = False) -> Any:
        """Return ``value`` with a note in the place of each medium.

        ``page`` says that the text of ``value`` is that of a file, which stays as it is.
        """
        if isinstance(value, str):
            return value if page or DATA_URI_MARK not in value else _DATA_URI.sub(self._from_uri, value)
        self.deadline.check()
        if isinstance(value, dict):
            block = self._without_medium(value)
            if block is not None:
                return block
            # Sorted, for attachments are numbered as they are met.
            return with_members(
                value, lambda key, child: self.extract(child, page=page and key in _PAGE_PLACES), sorted(value)
            )
        if isinstance(value, list | tuple):
            return with_members(value, lambda _, child: self.extract(child))
        return value

    def _without_medium(self, block: dict[str, Any]) -> dict[str, Any] | None:
        """Return a content block that carries base64 without it, None for any other object."""
        media_type = next((block[key] for key in _MEDIA_TYPE_KEYS if block.get(key)), None)
        if not isinstance(media_type, str) or media_type.partition("/")[0] in _READABLE:
            return None
        for key in ("data", "blob"):
            encoded = block.get(key)
            if isinstance(encoded, str) and len(encoded) >= _SHORTEST:
                content = _decoded(encoded)
                note = None if content is None else self._attach(content, media_type)
                if note is not None:
                    return {**block, key: note}
        return None

    def _from_uri(self, match: re.Match[str]) -> str:
        content = _decoded(match[2])
        note = None if content is None else self._attach(content, match[1])
        return match[0] if note is None else note

    def _attach(self, content: bytes, media_type: str) -> str | None:
        """Return the note that stands for ``content``, None where it stays in its place."""
        digest = hashlib.sha256(content).hexdigest()
        if digest not in self._notes:
            number = len(self.attachments) + 1
            if number > MOST_ATTACHMENTS:
                return None
            attachment = {"type": media_type.partition("/")[0], "mime_type": media_type, "bytes": len(content)}
            self.attachments.append(attachment | {"sha256": digest} | self._place(content, media_type))
            self._notes[digest] = f"[attachment {number}: {media_type}, {len(content)} bytes]"
        return self._notes[digest]

    def _place(self, content: bytes, media_type: str) -> dict[str, Any]:
        kept = self.keep(content, media_type)
        if "path" in kept:
            return {"path": kept["path"]}
        return {"data": base64.b64encode(content).decode(), "reason": kept.get("reason", "not_kept")}


# Where the text of a page stands: in the result, in Rind's data, or in the data's own content.
_PAGE_PLACES = ("content", "data")
_URL_SAFE = str.maketrans("-_", "+/", "\r\n \t")


def _decoded(encoded: str) -> bytes | None:
    try:
        return base64.b64decode(encoded.translate(_URL_SAFE), validate=True)
    except (binascii.Error, ValueError):
        return None
