"""Structured data: the shape survives as long as it can (``bridge.cutting.shape`` has the order)."""

from __future__ import annotations

from bridge.content import Case, Content, finish
from bridge.payload import Payload

KIND = "structured"


def matches(payload: Payload) -> bool:  # noqa: ARG001 - the skeleton of all kinds
    """Say yes: this kind takes what no other one takes."""
    return True


def project(case: Case) -> Content:
    """Give the data whole, or shortened within its shape."""
    return finish(case)
