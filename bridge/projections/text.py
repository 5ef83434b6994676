"""Text: what decides, between a little head and the tail; a text that is JSON keeps its shape."""

from __future__ import annotations

from functools import partial
from typing import Any

from pydantic_core import from_json

from bridge.excerpt.budget import Budget
from bridge.excerpt.deadline import Deadline
from bridge.excerpt.json_text import encode, escape, newlines
from bridge.excerpt.tree import TreeShortener
from bridge.payload.json_value import is_too_deep, to_json_value
from bridge.payload.unified import Payload
from bridge.payload.weight import needs_too_much
from bridge.projections import render
from bridge.projections.complete_output import CompleteOutput
from bridge.projections.kind import Kind
from bridge.projections.render import Rendered, View

# A JSON text is escaped once more inside the content: how often its budget is corrected for that.
_ATTEMPTS = 6
_SAFETY = 0.98


class Text(Kind):
    """A result that is one text: the data, or the error when there is no data."""

    name = "text"

    def matches(self, payload: Payload) -> bool:
        """Return whether the payload is one text."""
        return isinstance(payload.body[_place(payload)], str)

    def shortened(self, view: View, output: CompleteOutput) -> Rendered:
        """Return the excerpt of the text, or of the JSON that it is."""
        place = _place(view.payload)
        text, parsed = view.payload.body[place], view.result.parsed_texts
        if text not in parsed:  # both readers ask, and parsing takes longer than all the rest
            parsed[text] = _parsed(text, view.result.deadline)
        value = parsed[text]
        if value is None:
            return render.shortened(view, output)
        return render.shortened(view, output, partial(_fit_json, place, value))


def _place(payload: Payload) -> str:
    return "data" if "data" in payload.body else "error"


def _parsed(text: str, deadline: Deadline) -> Any:
    """Return the object or list that ``text`` is the JSON of, None if it is none."""
    start, end = text[:1].strip() or text[:64].strip()[:1], text[-64:].strip()[-1:]
    if start + end not in ("{}", "[]") or needs_too_much(text.encode()):
        return None
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        return None
    # What is nested too deep has no shape to keep, and making one takes a second a megabyte.
    return None if is_too_deep(value) else to_json_value(value, deadline=deadline).value


def _fit_json(place: str, value: Any, shortener: TreeShortener, tree: dict[str, Any], budget: Budget) -> dict[str, Any]:
    """Return ``tree`` with the JSON text at ``place`` cut to valid JSON that keeps its shape."""
    frame = encode({**tree, place: ""})
    left = Budget(budget.size - len(frame), budget.lines - newlines(frame))
    size = left.size if left.size * 2 >= budget.size and left.lines >= 0 else 0
    for _ in range(_ATTEMPTS if size else 0):
        attempt = TreeShortener(shortener.style, shortener.sizes, shortener.deadline)
        kept = attempt.fit(value, Budget(size, left.lines), place)
        text = encode(render.cleaned(kept, attempt.counts) if shortener.style.clean else kept).decode()
        taken = len(escape(text))
        if taken <= left.size:
            shortener.report, shortener.counts = attempt.report, attempt.counts
            return {**tree, place: text}
        size = int(size * left.size / taken * _SAFETY)
    fitted: dict[str, Any] = shortener.fit(tree, budget)
    return fitted
