"""What a terminal would show at last: text without escapes, overwritten progress collapsed.

ECMA-48 (fifth edition: 5.4, 5.6, and 8.3.143 for strings) says what a control sequence is. Terminal emulators
such as pyte rebuild a whole screen: that costs a hundred times more and wraps the lines. Expressions are
enough, because only what moves within one line changes what that line shows.

A text came as UTF-8, where U+0080 to U+009F are not the 8-bit forms of the controls but, as a rule, characters
that were decoded wrongly: they introduce nothing and are replaced where they stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

STARTS_ESCAPE = "\x1b"
REPLACED = "\ufffd"

# In order: CSI; the strings DCS, SOS, OSC, PM, APC with their terminator; an escape of one character with its
# intermediates. A string without a terminator loses its introducer only: what follows may be what was printed.
ESCAPE = re.compile(
    r"\x1b\[[0-?]*+[ -/]*+[@-~]?"
    r"|\x1b[PX\]^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)"
    r"|\x1b[ -/]*+[0-~]?"
)
# What moves the cursor within a line or erases a part of it (EL, 8.3.41); other escapes show nothing.
_STEP = re.compile(r"(?P<home>\r+)|(?P<back>\x08+)|(?P<silent>[\x00\x07])|\x1b\[(?P<erase>[012]?)K|" + ESCAPE.pattern)
# A character that the next one is written over, as overstriking and spinners do.
_STRUCK_OVER = re.compile(r"[^\x00\x07\x08\r]\x08(?=[^\x00\x07\x08\r])")
_SILENT = re.compile(r"[\x00\x07]")
# U+0080 to U+009F. Their first byte is found a hundred times faster in UTF-8 than a range of characters in a text.
STARTS_C1 = b"\xc2"
_C1, _C1_BYTES = re.compile(r"[\x80-\x9f]"), re.compile(STARTS_C1 + rb"[\x80-\x9f]")
# A return moves the cursor unless it is a part of the end of a line.
_LONE_RETURN, _LONE_RETURN_BYTES = re.compile(r"\r(?!\n)"), re.compile(rb"\r(?!\n)")


def needs_cleaning(raw: bytes) -> bool:
    """Return whether a terminal would act upon any character of ``raw``, UTF-8; costs one scan per character."""
    if b"\x1b" in raw or b"\b" in raw or b"\x00" in raw or b"\x07" in raw:
        return True
    if b"\r" in raw and _LONE_RETURN_BYTES.search(raw):
        return True
    return STARTS_C1 in raw and _C1_BYTES.search(raw) is not None


def _moves(text: str) -> bool:
    """Return whether anything but escapes moves the cursor within a line."""
    return "\b" in text or ("\r" in text and _LONE_RETURN.search(text) is not None)


def clean_bytes(raw: bytes, counts: Counter[str]) -> str:
    """Return the text of ``raw``, UTF-8, as ``clean`` does; the caller has seen that it ``needs_cleaning``."""
    return _cleaned(raw.decode(), counts, may_have_c1=STARTS_C1 in raw)


def clean(text: str, counts: Counter[str]) -> str:
    """Return ``text`` as a terminal would show it at last, adding to ``counts`` what was taken away.

    ``escapes`` counts sequences, ``overwritten`` code points that were written over or erased, ``controls``
    NUL, BEL and the C1 characters, which are replaced. CRLF stays. The number of lines does not change.
    """
    raw = text.encode(errors="replace")
    if not needs_cleaning(raw):
        return text
    may_have_c1 = STARTS_C1 in raw
    del raw  # as large as what is made next
    return _cleaned(text, counts, may_have_c1=may_have_c1)


def _cleaned(text: str, counts: Counter[str], *, may_have_c1: bool) -> str:
    if _moves(text):
        *lines, last = text.split("\n")
        text = "\n".join([*_replayed(lines, counts), _replay(last, counts)])
    if STARTS_ESCAPE in text:
        text = _counted(ESCAPE, "", text, counts, "escapes")
    if "\x00" in text or "\x07" in text:
        text = _counted(_SILENT, "", text, counts, "controls")
    return _counted(_C1, REPLACED, text, counts, "controls") if may_have_c1 else text


def _replayed(lines: list[str], counts: Counter[str]) -> Iterator[str]:
    """Replay lines that newlines follow; those of a run, which progress often is, only once."""
    previous = shown = ""
    taken: Counter[str] = Counter()
    for line in lines:
        if "\r" not in line and "\b" not in line:
            yield line
            continue
        if line != previous:
            previous = line
            # The last carriage return of such a line is a part of its end.
            body = line.removesuffix("\r")
            taken.clear()
            shown = _replay(body, taken) + line[len(body) :]
        if taken:
            counts.update(taken)
        yield shown


def _replay(line: str, counts: Counter[str]) -> str:
    """Write ``line`` into cells as a terminal does, one code point each."""
    if "\r" not in line and "\b" not in line:
        return line
    if STARTS_ESCAPE not in line:
        if "\b" in line:
            line, struck = _STRUCK_OVER.subn("", line)
            _count(counts, "overwritten", struck)
        if "\b" not in line:
            return _overwrite(line, counts)
    cells = _Cells()
    start = written = 0
    for step in _STEP.finditer(line):
        cells.write(line[start : step.start()])
        written += step.start() - start
        _move(cells, step, counts)
        start = step.end()
    cells.write(line[start:])
    shown = cells.shown()
    _count(counts, "overwritten", written + len(line) - start - len(shown))
    return shown


def _overwrite(line: str, counts: Counter[str]) -> str:
    """Replay a line in which nothing but carriage returns moves the cursor: the common kind of progress.

    Of what was written earlier only the part that nothing later covers is left, so the last comes first.
    """
    parts: list[str] = []
    covered = 0
    pieces = line.split("\r")
    for written in reversed(pieces):
        if len(written) > covered:
            parts.append(written[covered:])
            covered = len(written)
    _count(counts, "overwritten", len(line) - len(pieces) + 1 - covered)
    return "".join(parts)


class _Cells:
    """The cells of a line and the cursor. The cells before ``blank`` are erased, so that none is erased twice."""

    def __init__(self) -> None:
        self._cells: list[str] = []
        self.column = 0
        self._blank = 0

    def write(self, text: str) -> None:
        if text:
            self._blank = min(self._blank, self.column)
            self._cells[self.column : self.column + len(text)] = text
            self.column += len(text)

    def erase(self, mode: str) -> None:
        if mode != "1":
            del self._cells[self.column :]
        if mode in ("1", "2"):
            end = min(self.column + 1, len(self._cells))
            self._cells[self._blank : end] = " " * (end - self._blank)
            self._blank = max(self._blank, end)

    def shown(self) -> str:
        """Return the line; cells that were erased and not written again do not end it."""
        return "" if self._blank >= len(self._cells) else "".join(self._cells)


def _move(cells: _Cells, step: re.Match[str], counts: Counter[str]) -> None:
    kind = step.lastgroup
    if kind == "home":
        cells.column = 0
    elif kind == "back":
        cells.column = max(0, cells.column - len(step.group()))
    else:
        counts["controls" if kind == "silent" else "escapes"] += 1
        if kind == "erase":
            cells.erase(step["erase"])


def _count(counts: Counter[str], what: str, number: int) -> None:
    if number > 0:
        counts[what] += number


def _counted(pattern: re.Pattern[str], by: str, text: str, counts: Counter[str], what: str) -> str:
    text, found = pattern.subn(by, text)
    _count(counts, what, found)
    return text
