"""Structured data: the shape survives as long as it can (``bridge.excerpt.tree`` has the order)."""

from __future__ import annotations

from bridge.payload.unified import Payload
from bridge.projections.kind import Kind


class Structured(Kind):
    """Whatever no other kind takes."""

    name = "structured"

    def matches(self, payload: Payload) -> bool:  # noqa: ARG002 - it takes what is left
        """Return true."""
        return True
