"""What a kind of result is: which results are of it, what each audience is to read of one, and how that is cut.

This is what every result gets that is of no more special kind.
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from bridge.payload.unified import Payload
from bridge.projections import render
from bridge.projections.complete_output import CompleteOutput
from bridge.projections.render import Audience, Rendered, View
from bridge.projections.tool_result import ToolResult

# A result of more than so many times the budget is not cleaned to see whether it then fits; one that is a text for the
# most part is read on until its budget is used anyway.
_CLEANED_AT_ONCE, _TEXT_CLEANED_AT_ONCE = 4, 2


class Kind:
    """One kind of result; ``name`` stands in ``model_content_policy.kind``."""

    name: ClassVar[str]
    # Why the complete output is not stored, for a kind whose results lie on the disk already.
    not_stored: ClassVar[str] = ""

    def matches(self, payload: Payload) -> bool:
        """Return whether ``payload`` is of this kind."""
        raise NotImplementedError

    def view(self, result: ToolResult, audience: Audience) -> View:
        """Return what ``audience`` is to read of ``result``: for the model, without what a terminal would act upon."""
        if not (audience.for_model and result.may_need_cleaning):
            return View(result, audience, result.payload)
        if result.size > audience.budget.size * self._cleaned_at_once(result):
            return View(result, audience, result.payload)  # what is shown of it is cleaned then
        counts: Counter[str] = Counter()
        body = {name: render.cleaned(value, counts) for name, value in result.payload.body.items()}
        taken = {what: count for what, count in counts.items() if count}
        return View(result, audience, result.payload.with_body(body) if taken else result.payload, cleaned=taken)

    def _cleaned_at_once(self, result: ToolResult) -> float:
        """Return up to how many times its budget a result is cleaned before it is looked at."""
        return _CLEANED_AT_ONCE if result.main is None else _TEXT_CLEANED_AT_ONCE

    def whole(self, view: View, output: CompleteOutput | None) -> Rendered | None:
        """Return the content of ``view`` with nothing left out, None if it does not fit."""
        return render.whole(view, output)

    def shortened(self, view: View, output: CompleteOutput) -> Rendered:
        """Return the content of ``view`` cut to its budget."""
        return render.shortened(view, output)
