"""Text: head and tail at line ends, and between them what is missing, where it is, and what in it decides."""

from __future__ import annotations

from bridge.payload.unified import Payload
from bridge.projections.render import Case, Rendered, finish

KIND = "text"


def matches(payload: Payload) -> bool:
    """Return whether the result is one text: the data, or the error when there is no data."""
    body = payload.body
    return isinstance(body["data"] if "data" in body else body.get("error"), str)


def project(case: Case) -> Rendered:
    """Return the text whole, or its excerpt: it is the longest text of the content, so it alone gives way."""
    return finish(case)
