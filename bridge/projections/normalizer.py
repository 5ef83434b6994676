"""From one finished tool call to its projections: what the person sees, what the model reads, where the rest is.

``outputs`` and ``ledger`` are handed in; nothing here opens a file.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from bridge.excerpt.budget import Budget
from bridge.excerpt.deadline import Deadline, OutOfTime
from bridge.excerpt.tree import LONG_TEXT
from bridge.limits import Limits
from bridge.payload.attachments import KeepAttachment
from bridge.payload.unified import FORMAT, Payload
from bridge.projections import kinds
from bridge.projections.complete_output import CompleteOutput, OutputStore, earlier_output, keep, without_output
from bridge.projections.kind import Kind
from bridge.projections.own_contents import remember
from bridge.projections.plain_cut import plain_cut
from bridge.projections.render import Audience, Rendered, View
from bridge.projections.tool_result import Terms, ToolResult, read
from bridge.protocol.models import ToolCall, validate
from bridge.protocol.reasons import NO_IDS, NO_STORE, NOT_NEEDED
from bridge.protocol.results import Policy, Projection, SavedProjection
from bridge.settings import Settings

_UNLIMITED_LINES = 10**9
# The arguments by which a person knows a call again, the most telling first.
_SUBJECTS = ("command", "cmd", "path", "file_path", "url", "query", "pattern")

Ids = tuple[str, str]


class ProjectionLedger(Protocol):
    """Where model projections are kept for replay (``bridge.store.ledger``)."""

    def find(self, session_id: str, call_id: str) -> Any:
        """Return the ``SavedProjection`` of these ids, None if there is none."""

    def save(self, session_id: str, call_id: str, projection: Any, subject: dict[str, Any] | None = None) -> Any:
        """Save a ``SavedProjection`` unless one is saved already, and return the one that is saved."""


class Normalizer:
    """Makes projections; stores what they leave out in ``outputs`` and replays from ``ledger``, if given."""

    def __init__(
        self, settings: Settings, outputs: OutputStore | None = None, ledger: ProjectionLedger | None = None
    ) -> None:
        self._outputs = outputs
        self._ledger = ledger
        self._payload_texts = settings.payload_texts
        self._call_seconds = settings.call_seconds
        self._kinds = kinds(settings)
        limits, share = settings.limits, settings.error_lines_share
        model = Budget(limits.model_max_bytes, limits.model_max_lines - 1)
        terminal = Budget(limits.terminal_max_bytes, _UNLIMITED_LINES)
        self._longest = max(LONG_TEXT, model.size, terminal.size)
        self._model = Audience(model, settings.read_tool, share)
        self._terminal = Audience(terminal, evidence=share, model=self._model)

    def normalize(self, call: ToolCall) -> Projection:
        """Return the projections of one finished tool call. No result makes it raise."""
        ids = None if call.session_id is None or call.call_id is None else (call.session_id, call.call_id)
        try:
            return self._normalized(call, ids)
        except OutOfTime:
            terminal, cut = plain_cut(call, self._model.budget, self._terminal.budget, self._outputs, ids)
            return self._saved(terminal, cut, call, ids)

    def _normalized(self, call: ToolCall, ids: Ids | None) -> Projection:
        saved: SavedProjection | None = self._ledger.find(*ids) if self._ledger and ids else None
        terms = Terms(Deadline(self._call_seconds), self._payload_texts, self._longest)
        result = read(call, self._keeper(None if saved else ids), terms)
        kind = self._kind_of(result.payload)
        terminal = kind.view(result, self._terminal)
        if saved is not None:
            content = _rendered(kind, terminal, CompleteOutput(saved["output"]))
            return {"terminal_content": content.text, **saved, "replayed": True}
        model = kind.view(result, self._model)
        output, for_model, for_person = self._render(kind, model, terminal, ids)
        return self._saved(for_person.text, _projection(kind, result, for_model, output), call, ids)

    def _saved(self, terminal: str, projection: SavedProjection, call: ToolCall, ids: Ids | None) -> Projection:
        """Return the whole answer; what was saved first under the same ids is what the model gets."""
        kept = projection
        if self._ledger and ids:
            kept = self._ledger.save(*ids, projection, subject=_subject(call))
        replayed = kept["model_content"] != projection["model_content"]
        return {"terminal_content": terminal, **kept, "replayed": replayed}

    def _kind_of(self, payload: Payload) -> Kind:
        for kind in self._kinds:
            if kind.matches(payload):
                return kind
        raise LookupError("the last kind takes everything")

    def _render(
        self, kind: Kind, model: View, terminal: View, ids: Ids | None
    ) -> tuple[CompleteOutput, Rendered, Rendered]:
        """Return where the complete output is, and both contents: whole where they fit, else cut.

        The output is stored when one of them lacks something.
        """
        earlier, for_model = earlier_output(model.result), None
        if model.is_complete and terminal.is_complete:
            for_model = kind.whole(model, earlier)
            for_person = self._same(for_model, terminal) or kind.whole(terminal, earlier)
            if for_model and for_person:
                return earlier or without_output(kind.not_stored or NOT_NEEDED), for_model, for_person
        output = self._kept(kind, model.result, ids) if earlier is None else earlier
        # What says nothing of the output is as it was without one.
        if for_model is None or for_model.losses or not for_model.is_plain:
            for_model = _rendered(kind, model, output)
        return output, for_model, self._same(for_model, terminal) or _rendered(kind, terminal, output)

    def _same(self, content: Rendered | None, terminal: View) -> Rendered | None:
        """Return the model's content if the person is to read the same and it fits."""
        if content is None or not content.is_plain or terminal.payload is not terminal.result.payload:
            return None
        return content if len(terminal.result.encoded) <= terminal.audience.budget.size else None

    def _kept(self, kind: Kind, result: ToolResult, ids: Ids | None) -> CompleteOutput:
        if kind.not_stored:
            return without_output(kind.not_stored)
        smaller = Budget(min(self._model.budget.size, self._terminal.budget.size), self._model.budget.lines)
        return keep(result, self._outputs, ids, smaller)

    def _keeper(self, ids: Ids | None) -> KeepAttachment:
        outputs = self._outputs
        if ids is None or outputs is None:
            return lambda _content, _media_type: {"reason": NO_IDS if ids is None else NO_STORE}
        return lambda content, media_type: outputs.store_attachment(*ids, content, media_type)


def _subject(call: ToolCall) -> dict[str, Any]:
    """Return what the ledger keeps of a call for a person: tool, status, and its command or path."""
    args = call.args or {}
    text = next((args[name] for name in _SUBJECTS if isinstance(args.get(name), str)), None)
    return {"tool": call.name, "status": call.status, "text": text}


def normalize(call: dict[str, Any], limits: Limits, outputs: OutputStore | None, *, payload_texts: bool) -> Projection:
    """Return the projections of ``call``, the members of a ``ToolCall``, for a Python caller without a worker.

    Raises ``InvalidParams`` that names each member at fault: the caller is to blame.
    """
    normalizer = _without_store(limits, payload_texts) if outputs is None else _made(limits, payload_texts, outputs)
    return normalizer.normalize(validate(ToolCall, call))


def _made(limits: Limits, payload_texts: bool, outputs: OutputStore | None = None) -> Normalizer:  # noqa: FBT001
    # Nobody waits behind a pipe, so the call may take its time.
    settings = Settings(home=Path(), limits=limits, payload_texts=payload_texts, call_seconds=math.inf)
    return Normalizer(settings, outputs)


_without_store = lru_cache(maxsize=8)(_made)


def _rendered(kind: Kind, view: View, output: CompleteOutput) -> Rendered:
    return kind.whole(view, output) or kind.shortened(view, output)


def _projection(kind: Kind, result: ToolResult, content: Rendered, output: CompleteOutput) -> SavedProjection:
    remember(content.text)
    policy: Policy = {
        "kind": kind.name,
        "truncated": bool(content.losses),
        "total_bytes": result.total_bytes,
        "total_lines": result.total_lines,
        "losses": content.losses,
    }
    if content.cleaned:
        policy["cleaned"] = dict(sorted(content.cleaned.items()))
    if result.replaced:
        policy["replaced"] = result.replaced
    return {
        "model_content": content.text,
        "model_content_format": FORMAT,
        "model_content_policy": policy,
        "attachments": result.payload.attachments,
        "output": output.reference,
    }
