"""Counts for the method ``stats``: what was called, how long it took, how many bytes each tool cost."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from bridge.protocol.results import Counts, MethodCount, ToolCount

# A caller that makes up names must not make the worker grow; an agent has some dozens of tools.
MOST_TOOLS = 1_000
OTHER_TOOLS = "(other)"


@dataclass(slots=True)
class Stats:
    """The counts of one worker since its start."""

    methods: dict[str, MethodCount] = field(default_factory=dict)
    tools: dict[str, ToolCount] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)

    def count_method(self, name: str, seconds: float, *, failed: bool) -> None:
        """Count one call of the method ``name``."""
        count = self.methods.setdefault(name, {"calls": 0, "errors": 0, "seconds": 0.0})
        count["calls"] += 1
        count["errors"] += failed
        count["seconds"] += seconds

    def count_tool(self, name: str, bytes_in: int, bytes_out: int) -> None:
        """Count one call for the tool ``name``; the bytes of a batch's line are shared out among its elements."""
        known = name in self.tools or len(self.tools) < MOST_TOOLS
        count = self.tools.setdefault(name if known else OTHER_TOOLS, {"calls": 0, "bytes_in": 0, "bytes_out": 0})
        count["calls"] += 1
        count["bytes_in"] += bytes_in
        count["bytes_out"] += bytes_out

    def to_json(self) -> Counts:
        """Return the result of the method ``stats``."""
        return {
            "uptime_seconds": round(time.monotonic() - self.started, 3),
            "methods": dict(sorted(self.methods.items())),
            "tools": dict(sorted(self.tools.items())),
        }
