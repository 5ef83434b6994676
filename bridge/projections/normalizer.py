"""From one tool result to its projections: what the person sees, what the model reads, where the rest is.

The order of the work: the result becomes plain values, media leave it, it becomes the unified payload, the
ledger is asked, the complete output is stored if a projection will not be the whole, and then the kind of the
payload makes both contents. ``outputs`` and ``ledger`` are handed in; nothing here opens a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from bridge.excerpt.budget import Budget
from bridge.excerpt.tree import SizeCache
from bridge.payload.attachments import AttachmentExtractor, KeepAttachment
from bridge.payload.unified import Payload
from bridge.projections import mutation, read_file
from bridge.projections.render import FORMAT, NOT_NEEDED, Audience, Case, Rendered, output_of
from bridge.projections.small import small_projection
from bridge.projections.tool_result import ToolResult, complete, earlier_output, read
from bridge.protocol.models import ToolCall
from bridge.protocol.names import COMPLETED
from bridge.settings import Settings

NO_IDS, NO_STORE = "no_ids", "no_store"

_UNLIMITED_LINES = 10**9

Ids = tuple[str, str]


class OutputStore(Protocol):
    """Where complete outputs and attachments are kept (``bridge.store.outputs``)."""

    def store(self, session_id: str, call_id: str, content: bytes, *, field: str | None = None) -> dict[str, Any]:
        """KeepAttachment ``content`` and return its reference, or the reason why it was not kept."""

    def store_attachment(self, session_id: str, call_id: str, content: bytes, media_type: str) -> dict[str, Any]:
        """KeepAttachment an attachment and return its reference, or the reason why it was not kept."""


class ProjectionLedger(Protocol):
    """Where model projections are kept for replay (``bridge.store.ledger``)."""

    def find(self, session_id: str, call_id: str) -> dict[str, Any] | None:
        """Return the saved projection of these ids."""

    def save(self, session_id: str, call_id: str, projection: dict[str, Any]) -> dict[str, Any]:
        """Save unless something is saved already, and return what is saved."""


class Normalizer:
    """Makes projections; stores what they leave out in ``outputs`` and replays from ``ledger``, if given."""

    def __init__(
        self, settings: Settings, outputs: OutputStore | None = None, ledger: ProjectionLedger | None = None
    ) -> None:
        self._settings = settings
        self._outputs = outputs
        self._ledger = ledger
        limits, part = settings.limits, settings.error_lines_share
        model = Budget(limits.model_max_bytes, limits.model_max_lines - 1)
        self._model = Audience(model, for_model=True, evidence=part)
        terminal = Budget(limits.terminal_max_bytes, _UNLIMITED_LINES)
        self._terminal = Audience(terminal, for_model=False, evidence=part)
        self._smaller = Budget(min(model.size, terminal.size), model.lines)

    def normalize(self, call: ToolCall) -> dict[str, Any]:
        """Return the projections of one finished tool call. No result makes it raise."""
        result, name, status, error_type, args = call.result, call.name, call.status, call.error_type, call.args
        ids = None if call.session_id is None or call.call_id is None else (call.session_id, call.call_id)
        saved = self._ledger.find(*ids) if self._ledger and ids else None
        if saved is None and type(result) is str and status == COMPLETED and error_type is None:
            small = small_projection(result, name, self._smaller)
            if small is not None:
                return self._saved(ids, small["model_content"], small)
        lifter = AttachmentExtractor(self._keeper(None if saved else ids))
        subject = read(result, lifter, name=name, status=status, error_type=error_type, args=args)
        if saved is not None:
            return self._replayed(subject, saved)
        output = self._stored(subject, ids)
        content = self._content(subject, subject.clean, self._model, output)
        projection = _projection(subject, content, output)
        terminal = self._terminal_text(subject, output, readable=not content.unreadable)
        return self._saved(ids, terminal, projection)

    def _saved(self, ids: Ids | None, terminal: str, projection: dict[str, Any]) -> dict[str, Any]:
        """Return the whole answer; a worker that was quicker with these ids has the say on the model's side."""
        kept = self._ledger.save(*ids, projection) if self._ledger and ids else projection
        replayed = kept["model_content"] != projection["model_content"]
        return {"terminal_content": terminal, **kept, "replayed": replayed}

    def _replayed(self, subject: ToolResult, saved: dict[str, Any]) -> dict[str, Any]:
        readable = read_file.LINE_TOO_LONG not in saved["model_content"]
        terminal = self._terminal_text(subject, saved["output"], readable=readable)
        return {"terminal_content": terminal, **saved, "replayed": True}

    def _terminal_text(self, subject: ToolResult, output: Mapping[str, Any], *, readable: bool) -> str:
        """Return what the person sees; ``readable`` says that the model has the first line of a page whole."""
        return self._content(subject, subject.payload, self._terminal, output, part_of_line=readable).text

    def _content(
        self,
        subject: ToolResult,
        payload: Payload,
        side: Audience,
        output: Mapping[str, Any],
        *,
        part_of_line: bool = False,
    ) -> Rendered:
        facts = _facts(subject, for_model=side.for_model)
        if facts:  # the mark by which a content is known when it is given back, and where every byte is
            where = {"output": output_of(output)} if "path" in output else {}
            facts = {"format": FORMAT, **facts, **where}
        raw = payload is subject.payload
        case = Case(
            payload,
            side,
            subject.args,
            output,
            self._settings.read_tool,
            facts,
            subject.bulk if raw else subject.clean_bulk,
            subject.size if raw else 0,
            subject.costs if raw else SizeCache(),
            part_of_line,
        )
        content: Rendered = subject.kind.project(case)
        return content

    def _keeper(self, ids: Ids | None) -> KeepAttachment:
        outputs = self._outputs
        if ids is None or outputs is None:
            return lambda _content, _media_type: {"reason": NO_IDS if ids is None else NO_STORE}
        return lambda content, media_type: outputs.store_attachment(*ids, content, media_type)

    def _stored(self, subject: ToolResult, ids: Ids | None) -> dict[str, Any]:
        if subject.kind is read_file:
            return {"reason": read_file.FILE_ON_DISK}
        earlier = earlier_output(subject.payload) or {}
        if self._lies_at_home(earlier.get("path")):
            return earlier
        if not self._something_is_lost(subject):
            return earlier if "reason" in earlier else {"reason": NOT_NEEDED}
        if ids is None:
            return {"reason": NO_IDS}
        if self._outputs is None:
            return {"reason": NO_STORE}
        content, field = complete(subject)
        return self._outputs.store(*ids, content, field=field)

    def _lies_at_home(self, path: Any) -> bool:
        """Return whether ``path`` is one of our files; a content that any tool printed may name any other."""
        return isinstance(path, str) and Path(os.path.normpath(path)).is_relative_to(self._settings.home)

    def _something_is_lost(self, subject: ToolResult) -> bool:
        if subject.cleaned or (subject.kind is mutation and mutation.withholds(subject.payload)):
            return True
        return subject.size > self._smaller.size or subject.newlines > self._model.budget.lines


def _facts(subject: ToolResult, *, for_model: bool) -> dict[str, Any]:
    """Return what ``meta`` says even of a content that is whole."""
    facts: dict[str, Any] = {}
    if for_model and subject.cleaned:
        facts["cleaned"] = dict(subject.cleaned)
    if subject.replaced:
        facts["replaced"] = subject.replaced
    return facts


def _projection(subject: ToolResult, content: Rendered, output: dict[str, Any]) -> dict[str, Any]:
    return {
        "model_content": content.text,
        "model_content_format": FORMAT,
        "model_content_policy": _policy(subject, content),
        "attachments": subject.payload.attachments,
        "output": output,
    }


def _policy(subject: ToolResult, content: Rendered) -> dict[str, Any]:
    """Return the account of what the model does not read: where it was lost, how much, and where it is."""
    policy: dict[str, Any] = {
        "kind": subject.kind.KIND,
        "truncated": bool(content.losses),
        "total_bytes": subject.total_bytes,
        "total_lines": subject.total_lines,
        "losses": content.losses,
    }
    cleaned = {"cleaned": content.cleaned} if content.cleaned else {}
    return policy | _facts(subject, for_model=True) | cleaned
