"""Structured data: the shape survives as long as it can (``bridge.excerpt.tree`` has the order)."""

from __future__ import annotations

from bridge.payload.unified import Payload
from bridge.projections.render import Case, Rendered, finish

KIND = "structured"


def matches(payload: Payload) -> bool:  # noqa: ARG001 - the skeleton of all kinds
    """Say yes: this kind takes what no other one takes."""
    return True


def project(case: Case) -> Rendered:
    """Return the data whole, or shortened within its shape."""
    return finish(case)
