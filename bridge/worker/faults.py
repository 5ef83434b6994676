"""A defect of the worker on stderr: what kind, where, for which request, and never what the tool returned."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any, Protocol

log = logging.getLogger(__name__)

# Of an endless recursion the last frames say enough.
MOST_FRAMES = 12


class Failed(Protocol):
    """The call that failed."""

    method: str
    id: Any


def report(error: BaseException, call: Failed) -> None:
    """Log the type of ``error`` and its frames. Its text and its values stay unsaid: they may be contents."""
    log.error(
        "request id=%.100r method=%s failed: %s at %s",
        call.id,
        call.method,
        type(error).__qualname__,
        " < ".join(_frames(error.__traceback__)) or "no frame",
    )


def _frames(traceback: TracebackType | None) -> list[str]:
    """Return the frames, innermost first, by file, line and function."""
    frames: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        place = "/".join(code.co_filename.split("/")[-2:])
        frames.append(f"{place}:{traceback.tb_lineno} in {code.co_name}")
        traceback = traceback.tb_next
    return frames[: -MOST_FRAMES - 1 : -1]
