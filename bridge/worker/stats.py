"""Counts for the method ``stats``: what was called, how long it took, how many bytes each tool cost."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

# A caller that makes up names must not make the worker grow; an agent has some dozens of tools.
MOST_TOOLS = 1_000
OTHER_TOOLS = "(other)"


@dataclass(slots=True)
class MethodCount:
    """Calls of one method, how many of them gave an error, and the seconds spent in it."""

    calls: int = 0
    errors: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class ToolCount:
    """Calls for one tool and the bytes of their requests and replies on the wire.

    The bytes of a batch's line are shared out evenly among its elements.
    """

    calls: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


@dataclass(slots=True)
class Stats:
    """The counts of one worker since its start."""

    methods: dict[str, MethodCount] = field(default_factory=dict)
    tools: dict[str, ToolCount] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    def count_method(self, name: str, seconds: float, *, failed: bool) -> None:
        """Count one call of the method ``name``."""
        count = self.methods.get(name) or self.methods.setdefault(name, MethodCount())
        count.calls += 1
        count.errors += failed
        count.seconds += seconds

    def count_tool(self, name: str, bytes_in: int, bytes_out: int) -> None:
        """Count one call for the tool ``name``."""
        count = self.tools.get(name) or self._new_tool(name)
        count.calls += 1
        count.bytes_in += bytes_in
        count.bytes_out += bytes_out

    def to_json(self) -> dict[str, Any]:
        """Return the result of the method ``stats``."""
        return {
            "uptime_seconds": round(time.monotonic() - self.started, 3),
            "methods": {name: asdict(count) for name, count in sorted(self.methods.items())},
            "tools": {name: asdict(count) for name, count in sorted(self.tools.items())},
        }

    def _new_tool(self, name: str) -> ToolCount:
        kept = name if len(self.tools) < MOST_TOOLS else OTHER_TOOLS
        return self.tools.setdefault(kept, ToolCount())
