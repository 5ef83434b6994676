"""A text that is to be shown, and its measures, each taken once."""

from __future__ import annotations

import weakref
from functools import cached_property
from itertools import accumulate

from bridge.excerpt.cleaning import needs_cleaning
from bridge.excerpt.evidence import Candidate, candidates
from bridge.excerpt.json_text import escape
from bridge.excerpt.structure import Structure, structure_of

# So many bytes are counted once, whatever lines of them are asked for.
_COUNTED_TOGETHER = 4_096


class Text:
    """A text and its measures, each taken once: both contents ask for them."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def raw(self) -> bytes:
        """The bytes of the text."""
        return self.text.encode()

    @cached_property
    def needs_cleaning(self) -> bool:
        """Whether a terminal would act upon any character of the text."""
        return needs_cleaning(self.raw)

    @property
    def newlines(self) -> int:
        """The newlines of the text."""
        return self.text.count("\n") if len(self.text) < _COUNTED_TOGETHER else self._newlines[-1]

    @cached_property
    def _newlines(self) -> list[int]:
        """How many newlines stand before each ``_COUNTED_TOGETHER`` bytes, and in the whole text at last."""
        raw, step = self.raw, _COUNTED_TOGETHER
        return [*accumulate([raw.count(b"\n", at, at + step) for at in range(0, len(raw), step)], initial=0)]

    def newlines_before(self, place: int) -> int:
        """Return how many newlines stand before the byte ``place``; costs no more at the end of a long text."""
        part, rest = divmod(place, _COUNTED_TOGETHER)
        return self._newlines[part] + self.raw.count(b"\n", place - rest, place)

    def newlines_between(self, start: int, end: int) -> int:
        """Return how many newlines stand between the bytes ``start`` and ``end``."""
        if end - start < _COUNTED_TOGETHER:
            return self.raw.count(b"\n", start, end)
        return self.newlines_before(end) - self.newlines_before(start)

    def ends_line(self, place: int) -> bool:
        """Return whether a newline stands before the byte ``place``."""
        return self.raw[place - 1 : place] == b"\n"

    @cached_property
    def json_size(self) -> int:
        """The length of the text in bytes of JSON, quotes included."""
        return len(escape(self.text)) + 2

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The lines that decide, the best first."""
        return candidates(self.raw)

    @cached_property
    def structure(self) -> Structure | None:
        """How the text is shown by its structure, None if it has none."""
        # Not held by what it returns: the text would be freed late.
        itself = weakref.proxy(self)
        return structure_of(self.raw, lambda: itself.candidates)

    @property
    def size(self) -> int:
        """The length of the text in bytes."""
        return len(self.text) if self.text.isascii() else len(self.raw)

    @property
    def lines(self) -> int:
        """The lines of the text; an empty text has none."""
        return self.newlines + (self.text != "" and not self.text.endswith("\n"))
