"""What a terminal would show at last: text without escapes, overwritten progress collapsed.

ECMA-48 (fifth edition: 5.4, 5.6, and 8.3.143 for strings) says what a control sequence is. Terminal emulators
such as pyte rebuild a whole screen: that costs a hundred times more and wraps the lines. Expressions are
enough, because only what moves within one line changes what that line shows.
"""

from __future__ import annotations

import re
from collections import Counter

# The characters that a terminal acts upon: a text without any of them is clean. The 8-bit forms are C1.
_C1 = "\x84\x8d\x8e\x8f\x90\x98\x9a\x9b\x9c\x9d\x9e\x9f"
STARTS_ESCAPE = ("\x1b", "\x9b", "\x90", "\x9d", "\x98", "\x9e", "\x9f")

# In order: CSI; the strings DCS, SOS, OSC, PM, APC up to their terminator, another escape or the end of the
# line; an escape of one character with its intermediates; a lone introducer. Unfinished ones match as far
# as they go.
ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[PX\]^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x84\x8d-\x8f\x9a\x9c]"
)
# What moves the cursor within a line or erases a part of it (EL, 8.3.41); other escapes show nothing.
_STEP = re.compile(
    r"(?P<home>\r+)|(?P<back>\x08+)|(?P<silent>[\x00\x07])|(?:\x1b\[|\x9b)(?P<erase>[012]?)K|" + ESCAPE.pattern
)
_SILENT = re.compile(r"[\x00\x07]")


def needs_cleaning(text: str) -> bool:
    """Return whether a terminal would act upon any character of ``text``; costs one scan per character."""
    if "\x1b" in text or "\b" in text or "\x00" in text or "\x07" in text:
        return True
    if "\r" in text and text.count("\r") != text.count("\r\n"):
        return True
    return not text.isascii() and any(mark in text for mark in _C1)


def may_need_cleaning(encoded: bytes) -> bool:
    """Return whether any text in JSON may need cleaning; sure when it says no."""
    if b"\\" in encoded and (b"\\u00" in encoded or b"\\b" in encoded or b"\\r" in encoded):
        return True
    return b"\xc2" in encoded


def clean(text: str, counts: Counter[str]) -> str:
    """Return ``text`` as a terminal would show it at last, adding to ``counts`` what was taken away.

    ``escapes`` counts sequences, ``overwritten`` code points that were written over or erased, ``controls``
    NUL and BEL. CRLF stays. Lines stay lines: their number does not change.
    """
    if not needs_cleaning(text):
        return text
    if "\r" in text or "\b" in text:
        *lines, last = text.split("\n")
        text = "\n".join([*(_replay_ended(line, counts) for line in lines), _replay(last, counts)])
    text = _counted(ESCAPE, text, counts, "escapes")
    return _counted(_SILENT, text, counts, "controls")


def _replay_ended(line: str, counts: Counter[str]) -> str:
    """Replay a line that a newline follows: its last carriage return is a part of the line's end."""
    return _replay(line[:-1], counts) + "\r" if line.endswith("\r") else _replay(line, counts)


def _replay(line: str, counts: Counter[str]) -> str:
    """Write ``line`` into cells as a terminal does, one code point each."""
    if "\b" not in line and not any(mark in line for mark in STARTS_ESCAPE):
        return _overwrite(line, counts) if "\r" in line else line
    cells: list[str] = []
    column = start = 0
    for step in _STEP.finditer(line):
        column = _write(cells, column, line[start : step.start()])
        column = _move(cells, column, step, counts)
        start = step.end()
    _write(cells, column, line[start:])
    shown = "".join(cells)
    counts["overwritten"] += len(_STEP.sub("", line)) - len(shown)
    return shown


def _overwrite(line: str, counts: Counter[str]) -> str:
    """Replay a line in which nothing but carriage returns moves the cursor: the common kind of progress."""
    shown = ""
    for written in line.split("\r"):
        shown = written + shown[len(written) :]
    counts["overwritten"] += len(line) - line.count("\r") - len(shown)
    return shown


def _write(cells: list[str], column: int, text: str) -> int:
    if column > len(cells):
        cells.extend(" " * (column - len(cells)))
    cells[column : column + len(text)] = text
    return column + len(text)


def _move(cells: list[str], column: int, step: re.Match[str], counts: Counter[str]) -> int:
    kind = step.lastgroup
    if kind == "home":
        return 0
    if kind == "back":
        return max(0, column - len(step.group()))
    counts["controls" if kind == "silent" else "escapes"] += 1
    if kind == "erase":
        _erase(cells, column, step["erase"])
    return column


def _erase(cells: list[str], column: int, mode: str) -> None:
    if mode in ("", "0"):
        del cells[column:]
    elif mode == "1":
        cells[: column + 1] = " " * min(column + 1, len(cells))
    else:
        cells.clear()


def _counted(pattern: re.Pattern[str], text: str, counts: Counter[str], what: str) -> str:
    text, found = pattern.subn("", text)
    if found:
        counts[what] += found
    return text
