"""Images and other media in a result become attachments: stored as files, never text that a model pays for.

Media arrive as content blocks (MCP: ``{"type": "image", "data": base64, "mimeType": ...}``; Anthropic's
``source``; OpenAI's ``image_url``) or as data URIs (RFC 2397) inside any text. In their place stands a note.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

KeepAttachment = Callable[[bytes, str], dict[str, Any]]

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.=-]+)*;base64,([A-Za-z0-9+/_=-]{16,})")
DATA_URI_MARK = ";base64,"
# A model reads text as it is, and words such as "true" or "data" are base64 by chance.
_READABLE = ("text",)
_SHORTEST = 16
_MEDIA_TYPE_KEYS = ("mimeType", "mime_type", "media_type")
# JSON in which none of these occurs holds no media.
MARKS = (DATA_URI_MARK.encode(), *(key.encode() for key in _MEDIA_TYPE_KEYS))


@dataclass(slots=True)
class AttachmentExtractor:
    """Takes media out of values.

    ``keep`` stores bytes and gives a reference, or the ``reason`` why it has none. Media that are not stored
    stay in their attachment as base64, so that none is lost.
    """

    keep: KeepAttachment
    attachments: list[dict[str, Any]] = field(default_factory=list)

    def lift(self, value: Any) -> Any:
        """Return ``value`` with a note in the place of each medium."""
        if isinstance(value, str):
            return _DATA_URI.sub(self._from_uri, value) if DATA_URI_MARK in value else value
        if isinstance(value, dict):
            lifted = self._block(value)
            if lifted is not None:
                return lifted
            # Sorted, for attachments are numbered as they are met.
            return {key: self.lift(value[key]) for key in sorted(value)}
        if isinstance(value, list | tuple):
            return [self.lift(child) for child in value]
        return value

    def _block(self, block: dict[str, Any]) -> dict[str, Any] | None:
        """Return a content block that carries base64 without it, None for any other object."""
        media_type = next((block[key] for key in _MEDIA_TYPE_KEYS if block.get(key)), None)
        if not isinstance(media_type, str) or media_type.partition("/")[0] in _READABLE:
            return None
        for key in ("data", "blob"):
            encoded = block.get(key)
            if isinstance(encoded, str) and len(encoded) >= _SHORTEST:
                content = _decoded(encoded)
                if content is not None:
                    return {**block, key: self._attach(content, media_type)}
        return None

    def _from_uri(self, match: re.Match[str]) -> str:
        content = _decoded(match[2])
        return match[0] if content is None else self._attach(content, match[1])

    def _attach(self, content: bytes, media_type: str) -> str:
        digest = hashlib.sha256(content).hexdigest()
        for at, known in enumerate(self.attachments):
            if known["sha256"] == digest:
                return _note(at + 1, known)
        attachment = {"type": media_type.partition("/")[0], "mime_type": media_type, "bytes": len(content)}
        self.attachments.append(attachment | {"sha256": digest} | self._place(content, media_type))
        return _note(len(self.attachments), attachment)

    def _place(self, content: bytes, media_type: str) -> dict[str, Any]:
        kept = self.keep(content, media_type)
        if "path" in kept:
            return {"path": kept["path"]}
        return {"data": base64.b64encode(content).decode(), "reason": kept.get("reason", "not_kept")}


def _note(number: int, attachment: dict[str, Any]) -> str:
    return f"[attachment {number}: {attachment['mime_type']}, {attachment['bytes']} bytes]"


def _decoded(encoded: str) -> bytes | None:
    try:
        return base64.b64decode(encoded.translate(_URL_SAFE), validate=True)
    except (binascii.Error, ValueError):
        return None


_URL_SAFE = str.maketrans("-_", "+/", "\r\n \t")
