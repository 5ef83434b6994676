"""The time that one call may take, so that no result holds a worker beyond its client's patience."""

from __future__ import annotations

import time


class OutOfTime(Exception):
    """The work on one call has taken longer than it may; whoever made the deadline ends it in a simpler way."""


class Deadline:
    """A moment, ``seconds`` of real time after it was made. Work that grows with its input checks it as it goes."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise ``OutOfTime`` when the moment has passed; costs less than a microsecond."""
        if time.monotonic() > self._end:
            raise OutOfTime
