"""What is kept of an output, and the reference that describes it.

Of one that is larger than it may be: head and tail, and a line between them that says what is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

# Digits of the numbers in the marker line included: a 64-bit count has at most 20, or 26 with its commas.
_MARKER_SPACE = 200
SMALLEST_SPACE = 4_096


@dataclass(frozen=True, slots=True)
class Part:
    """What is kept of an output (head, marker line, tail) and what is gone."""

    pieces: tuple[bytes, bytes, bytes]
    gone_bytes: int
    gone_lines: int

    @property
    def marker_line(self) -> int:
        """The number of the marker line in the kept file, counted from 1."""
        return self.pieces[0].count(b"\n") + 1


def describe(content: bytes, source_sha256: str, space: int) -> tuple[tuple[bytes, ...], dict[str, Any]]:
    """Return the pieces of ``content`` that fit ``space`` bytes, and the reference without path and field."""
    if len(content) <= space:
        lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
        return (content,), {"bytes": len(content), "lines": lines, "sha256": source_sha256}
    part = part_of(content, space)
    kept = b"".join(part.pieces)
    return part.pieces, {
        "bytes": len(kept),
        "lines": kept.count(b"\n") + (not kept.endswith(b"\n")),
        "sha256": sha256(kept).hexdigest(),
        "partial": True,
        "total_bytes": len(content),
        "gone_bytes": part.gone_bytes,
        "gone_line_ends": part.gone_lines,
        "gone_at_line": part.marker_line,
    }


def part_of(content: bytes, space: int) -> Part:
    """Keep at most ``space`` bytes of ``content``; ``space`` is at least ``SMALLEST_SPACE``.

    Half is from its start, half from its end, cut at line ends where there are any, else between characters.
    """
    half = (space - _MARKER_SPACE) // 2
    head = _head_end(content, half)
    tail = _tail_start(content, len(content) - half)
    gone_lines = content.count(b"\n", head, tail)
    marker = f"[... {tail - head:,} bytes ({gone_lines:,} line ends) of this output were not kept ...]\n"
    opening = content[:head] + (b"" if content[:head].endswith(b"\n") else b"\n")
    return Part((opening, marker.encode(), content[tail:]), tail - head, gone_lines)


def _head_end(content: bytes, limit: int) -> int:
    line_end = content.rfind(b"\n", 0, limit) + 1
    return line_end or _character_start(content, limit)


def _tail_start(content: bytes, earliest: int) -> int:
    # From one byte earlier: when that is a line end, the tail starts at a line as it is.
    line_end = content.find(b"\n", earliest - 1)
    if 0 <= line_end < len(content) - 1:
        return line_end + 1
    while earliest < len(content) and content[earliest] & 0xC0 == 0x80:
        earliest += 1
    return earliest


def _character_start(content: bytes, position: int) -> int:
    # Bytes 10xxxxxx continue a character (RFC 3629, section 3); at most three follow one another.
    for back in range(4):
        if content[position - back] & 0xC0 != 0x80:
            return position - back
    return position
