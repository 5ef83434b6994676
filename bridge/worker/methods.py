"""The methods of the wire, one small function each, in the order of docs/protocol.md.

Each takes the worker first, then its parameters by the names of the wire. What it gives back is the result;
a fault of the caller is raised as a class of ``bridge.protocol.errors``. Anything else that escapes is a defect of
the worker and becomes -32603 in ``rpc``.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from typing import Any

from bridge import __version__
from bridge.echo.preview import echo, is_structural
from bridge.limits import LimitError
from bridge.protocol.errors import InvalidParams
from bridge.protocol.names import (
    PREVIEW_ECHO,
    PREVIEW_STRUCTURE,
    PROTOCOL,
    SERVER,
    check_given_identifiers,
    check_identifiers,
)
from bridge.worker.params import ANYTHING, OBJECT, STATUS, TEXT, WHOLE_NUMBER, Method, describe
from bridge.worker.state import Worker

RUBY_VERSION = re.compile(r"(\d+)\.(\d+)(\..*)?", re.ASCII | re.DOTALL)


def initialize(worker: Worker, client: dict[str, Any], limits: dict[str, Any] | None = None) -> dict[str, Any]:
    """Learn who is calling and replace the limits; say what this worker is. May be called again."""
    ruby_3_4 = _runs_ruby_3_4(client)
    try:
        worker.limit(limits or {})
    except LimitError as error:
        raise InvalidParams({"fields": {"limits": str(error)}}) from None
    worker.ruby_3_4 = ruby_3_4
    settings = worker.settings
    return {
        "server": SERVER,
        "version": __version__,
        "protocol": PROTOCOL,
        "methods": list(METHODS),
        "limits": asdict(settings.limits),
        "structural_tools": list(settings.structural_tools),
        "home": str(settings.home),
        "pid": os.getpid(),
    }


def ping(_worker: Worker) -> str:
    """Say that the worker is there."""
    return "pong"


def ui_preview(worker: Worker, result: Any, limit: int | None = None, name: str | None = None) -> Any:
    """Return what the panel shows of ``result``: the value itself, or its echo of ``limit`` code points."""
    if is_structural(result, name, worker.settings.structural_tools):
        return result
    return _echo(worker, result, limit)


def normalize(  # noqa: PLR0913, PLR0917 - the parameters of the wire
    worker: Worker,
    result: Any,
    name: str,
    status: str = "completed",
    error_type: str | None = None,
    session_id: str | None = None,
    call_id: str | None = None,
    args: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the projections of one finished tool."""
    check_given_identifiers(session_id=session_id, call_id=call_id)
    projections: dict[str, Any] = worker.services.normalizer.normalize(
        result,
        name=name,
        status=status,
        error_type=error_type,
        args=args,
        session_id=session_id,
        call_id=call_id,
    )
    return projections


def tool_completed(  # noqa: PLR0913, PLR0917 - the parameters of the wire
    worker: Worker,
    result: Any,
    name: str,
    status: str = "completed",
    error_type: str | None = None,
    session_id: str | None = None,
    call_id: str | None = None,
    args: dict[str, Any] | None = None,
    limit: int | None = None,
) -> dict[str, Any]:
    """Return the projections of one finished tool, and its preview."""
    projections = normalize(worker, result, name, status, error_type, session_id, call_id, args)
    return {**projections, "preview": _preview(worker, result, limit, name)}


def read_output(  # noqa: PLR0913, PLR0917 - the parameters of the wire
    worker: Worker, session_id: str, call_id: str, offset: int = 1, column: int = 1, limit: int = 2_000
) -> dict[str, Any]:
    """Return one page of a stored output."""
    check_identifiers(session_id=session_id, call_id=call_id)
    page: dict[str, Any] = worker.store("outputs").read(session_id, call_id, offset, column, limit)
    return page


def replay(worker: Worker, session_id: str, after: int = 0, limit: int = 500) -> dict[str, Any]:
    """Return the saved projections of a session, in order, those after number ``after``."""
    check_identifiers(session_id=session_id)
    saved: dict[str, Any] = worker.store("ledger").replay(session_id, after, limit)
    return saved


def cleanup(worker: Worker) -> dict[str, Any]:
    """Remove what is too old or over its quota; say what was removed and why."""
    removed: dict[str, Any] = worker.store("outputs").cleanup()
    return removed


def stats(worker: Worker) -> dict[str, Any]:
    """Return calls, bytes in and out per tool, and time per method."""
    return worker.stats.to_json()


def discover(_worker: Worker) -> dict[str, Any]:
    """Return the OpenRPC document."""
    from bridge.protocol.openrpc import document  # noqa: PLC0415 - pydantic's models load slowly and only people ask

    return document(__version__)


def shutdown(worker: Worker) -> None:
    """Answer null, then let the worker exit with status 0; requests behind this one are not read."""
    worker.stopping = True


def _preview(worker: Worker, result: Any, limit: int | None, name: str) -> dict[str, str]:
    """Return the preview of ``tool_completed``: what passes through is not sent back to who sent it."""
    if is_structural(result, name, worker.settings.structural_tools):
        return {"kind": PREVIEW_STRUCTURE}
    return {"kind": PREVIEW_ECHO, "text": _echo(worker, result, limit)}


def _echo(worker: Worker, result: Any, limit: int | None) -> str:
    most = worker.settings.limits.preview_max_chars if limit is None else limit
    return echo(result, most, ruby_3_4=worker.ruby_3_4)


def _runs_ruby_3_4(client: dict[str, Any]) -> bool:
    """Return whether the client prints hashes as Ruby 3.4 and later do; a client without Ruby has no say."""
    version = client.get("ruby")
    if version is None:
        return False
    found = RUBY_VERSION.fullmatch(version) if isinstance(version, str) else None
    if found is None:
        raise InvalidParams({"fields": {"client.ruby": 'must be a version of Ruby, like "3.4.1"'}})
    return (int(found[1]), int(found[2])) >= (3, 4)


_COMPLETION = {
    "result": ANYTHING,
    "name": TEXT,
    "status": STATUS,
    "error_type": TEXT,
    "session_id": TEXT,
    "call_id": TEXT,
    "args": OBJECT,
}

METHODS: dict[str, Method] = {
    "initialize": describe(initialize, client=OBJECT, limits=OBJECT),
    "ping": describe(ping),
    "ui_preview": describe(ui_preview, result=ANYTHING, limit=WHOLE_NUMBER, name=TEXT),
    "normalize": describe(normalize, **_COMPLETION),
    "tool_completed": describe(tool_completed, **_COMPLETION, limit=WHOLE_NUMBER),
    "read_output": describe(
        read_output,
        session_id=TEXT,
        call_id=TEXT,
        offset=WHOLE_NUMBER,
        column=WHOLE_NUMBER,
        limit=WHOLE_NUMBER,
    ),
    "replay": describe(replay, session_id=TEXT, after=WHOLE_NUMBER, limit=WHOLE_NUMBER),
    "cleanup": describe(cleanup),
    "stats": describe(stats),
    "rpc.discover": describe(discover),
    "shutdown": describe(shutdown),
}
