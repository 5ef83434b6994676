"""The methods of the wire, one small function each, in the order of docs/protocol.md.

Each takes the worker and its parameters, validated (``bridge.protocol.models``), and returns the result; a fault of
the caller is raised as a class of ``bridge.protocol.errors``. Anything else that escapes is a defect of the worker
and becomes -32603 in ``rpc``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

from bridge import __version__
from bridge.echo.preview import echo, is_structural
from bridge.limits import LimitError
from bridge.protocol import models
from bridge.protocol.errors import InvalidParams
from bridge.protocol.names import PREVIEW_ECHO, PREVIEW_STRUCTURE, PROTOCOL, SERVER
from bridge.protocol.results import (
    Cleaned,
    Completion,
    Counts,
    Echo,
    Forgotten,
    Initialized,
    Looked,
    OutputPage,
    Projection,
    ReplayPage,
    Structure,
)
from bridge.worker.services import Worker


def initialize(worker: Worker, params: models.Initialize) -> Initialized:
    """Set who is calling and replace the limits; return what this worker is. May be called again."""
    try:
        worker.configure(params.limits or {}, params.payload_texts)
    except LimitError as error:
        raise InvalidParams({"fields": {"limits": str(error)}}) from None
    worker.ruby_3_4 = params.client.prints_as_ruby_3_4
    worker.json_2_15 = params.client.prints_as_json_2_15
    settings = worker.settings
    return {
        "server": SERVER,
        "version": __version__,
        "protocol": PROTOCOL,
        "methods": list(METHODS),
        "limits": asdict(settings.limits),
        "payload_texts": settings.payload_texts,
        "structural_tools": list(settings.structural_tools),
        "mutation_tools": list(settings.mutation_tools),
        "home": str(settings.home),
        "pid": os.getpid(),
    }


def ping(_worker: Worker, _params: models.Ping) -> str:
    """Return "pong"."""
    return "pong"


def ui_preview(worker: Worker, params: models.UiPreview) -> Any:
    """Return what the panel shows of a result: the value itself, or its echo."""
    if is_structural(params.result, params.name, worker.settings.structural_tools):
        return params.result
    return _echo(worker, params)


def normalize(worker: Worker, call: models.ToolCall) -> Projection:
    """Return the projections of one finished tool call."""
    projection: Projection = worker.services.normalizer.normalize(call)
    return projection


def tool_completed(worker: Worker, call: models.ToolCompleted) -> Completion:
    """Return the projections of one finished tool call, and its preview."""
    return {**normalize(worker, call), "preview": _preview(worker, call)}


def read_output(worker: Worker, params: models.ReadOutput) -> OutputPage:
    """Return one page of a stored output."""
    page: OutputPage = worker.store("outputs").read(
        params.session_id, params.call_id, params.offset, params.column, params.limit, params.part
    )
    return page


def replay(worker: Worker, params: models.Replay) -> ReplayPage:
    """Return the saved projections of a session, in order."""
    saved: ReplayPage = worker.store("ledger").replay(params.session_id, params.after, params.limit)
    return saved


def lookup(worker: Worker, params: models.Lookup) -> Looked:
    """Return the saved projection of one call."""
    found: Looked = worker.store("ledger").lookup(params.session_id, params.call_id)
    return found


def forget(worker: Worker, params: models.Forget) -> Forgotten:
    """Remove the outputs and saved projections of a session; return what was removed."""
    removed: Forgotten = worker.store("outputs").forget(params.session_id)
    worker.store("ledger").forget_pending(params.session_id)
    return removed


def cleanup(worker: Worker, _params: models.Cleanup) -> Cleaned:
    """Remove what is too old or over its quota; return what was removed and why."""
    cleaned: Cleaned = worker.store("outputs").cleanup()
    return cleaned


def stats(worker: Worker, _params: models.Stats) -> Counts:
    """Return calls, bytes in and out per tool, and time per method."""
    return worker.stats.to_json()


def discover(_worker: Worker, _params: models.Discover) -> dict[str, Any]:
    """Return the OpenRPC document."""
    from bridge.protocol.openrpc import document  # noqa: PLC0415 - making it is slow and only people ask

    return document(__version__)


def shutdown(worker: Worker, _params: models.Shutdown) -> None:
    """Ask for the end: the worker exits with status 0 once this is answered, and reads no request behind it."""
    worker.stopping = True


def _preview(worker: Worker, call: models.ToolCompleted) -> Echo | Structure:
    """Return the preview of ``tool_completed``: what passes through is not sent back to who sent it."""
    if is_structural(call.result, call.name, worker.settings.structural_tools):
        return {"kind": PREVIEW_STRUCTURE}
    return {"kind": PREVIEW_ECHO, "text": _echo(worker, call)}


def _echo(worker: Worker, call: models.UiPreview | models.ToolCompleted) -> str:
    most = worker.settings.limits.preview_max_chars if call.limit is None else call.limit
    return echo(call.result, most, ruby_3_4=worker.ruby_3_4, json_2_15=worker.json_2_15)


class Method(NamedTuple):
    """One method of the wire: the model of its parameters, and the function behind it."""

    params: type[models.Params]
    function: Callable[..., Any]


METHODS: dict[str, Method] = {
    "initialize": Method(models.Initialize, initialize),
    "ping": Method(models.Ping, ping),
    "ui_preview": Method(models.UiPreview, ui_preview),
    "normalize": Method(models.ToolCall, normalize),
    "tool_completed": Method(models.ToolCompleted, tool_completed),
    "read_output": Method(models.ReadOutput, read_output),
    "replay": Method(models.Replay, replay),
    "lookup": Method(models.Lookup, lookup),
    "forget": Method(models.Forget, forget),
    "cleanup": Method(models.Cleanup, cleanup),
    "stats": Method(models.Stats, stats),
    "rpc.discover": Method(models.Discover, discover),
    "shutdown": Method(models.Shutdown, shutdown),
}
