"""Bytes to lines, in the manner of h11: this file opens nothing, it takes bytes and gives events.

Rules (docs/protocol.md, "Frames"): byte 0x0A ends a line and nothing else does, so U+2028, U+0085 and a lone
CR are content. A byte-order mark at the start of a line, white space around it and blank lines are forgiven.
A line longer than the limit is reported once, as soon as that is certain, and thrown away as it arrives.
Bytes after the last LF are no line: whoever closes the input asks ``unfinished`` and may say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

LF = b"\n"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(slots=True)
class InputLine:
    """A whole line that is not blank, without its LF and without a byte-order mark."""

    data: bytes

    @property
    def size(self) -> int:
        """Count the bytes held."""
        return len(self.data)


@dataclass(slots=True)
class TooLong:
    """A line went past ``limit`` bytes. The peer is to blame; the rest of that line gives no event."""

    limit: int
    size: ClassVar[int] = 0


Event = InputLine | TooLong


class LineReader:
    """Collects pieces of any size into lines; holds at most ``max_bytes`` bytes of one unfinished line.

    ``max_bytes`` counts the bytes of a line as it arrived, without its LF; it may be changed between feeds.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._held = bytearray()
        self._discarding = False

    @property
    def unfinished(self) -> int:
        """Count the held bytes that no LF has ended yet."""
        return len(self._held)

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that the next ``data`` of the stream completes, in order."""
        events: list[Event] = []
        *ended, rest = data.split(LF)
        for piece in ended:
            self._end_line(piece, events)
        if rest:
            self._hold(rest, events)
        return events

    def _end_line(self, piece: bytes, events: list[Event]) -> None:
        if self._held or len(piece) > self.max_bytes:
            self._hold(piece, events)
            piece = bytes(self._held)
            self._held = bytearray()
        if self._discarding:
            self._discarding = False
        elif line := _tidy(piece):
            events.append(InputLine(line))

    def _hold(self, piece: bytes, events: list[Event]) -> None:
        if self._discarding:
            return
        if len(self._held) + len(piece) > self.max_bytes:
            self._held = bytearray()
            self._discarding = True
            events.append(TooLong(self.max_bytes))
        else:
            self._held += piece


def _tidy(line: bytes) -> bytes:
    """Return ``line`` without its byte-order mark, or nothing when it is blank.

    A CR before the LF needs no care: it is white space to the JSON parser. ``isspace`` stops at the first
    byte that is none, so that a long line is not copied to be looked at.
    """
    if line.startswith(BYTE_ORDER_MARK):
        line = line.removeprefix(BYTE_ORDER_MARK)
    return b"" if line.isspace() else line
