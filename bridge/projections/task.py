"""A managed task: its status, ids, exit code and the way to its output stay together.

A cursor says "you have seen everything before this". When output was not shown, a cursor that skips it would
be a lie, so it goes; the cursor that the page started at stays, and reading from there loses nothing. A poll
that brought nothing shrinks to its facts.
"""

from __future__ import annotations

from typing import Any

from bridge.payload.unified import Payload
from bridge.projections.render import Case, Rendered, finish

KIND = "task"

TOOLS = ("bash", "task_control", "bash_output")
_RUNNING = ("running", "pending", "queued")
_STREAMS = ("stdout", "stderr", "output", "delta")
# What a poll says again that the model was told when the task began, and what says nothing: an exit code that
# is none, a counter, a clock. Whatever else there is stays, for it may be the news.
_SAID_BEFORE = frozenset({
    *_STREAMS, "sequence", "timestamp", "owner_session_id", "origin_tool_call_id", "command", "cwd",
    "shell_backend", "shell_executable", "notify", "started_at", "finished_at",
})  # fmt: skip
_NOTHING = {"exit_code": (None, -1), "truncated": (False, None)}
_STAYS = "start_cursor"
_OUTPUTS = ("data.stdout", "data.stderr", "data.output", "data.delta")


def matches(payload: Payload) -> bool:
    """Return whether the data is that of a task: an id and a status, or the object of a task tool."""
    data = payload.body.get("data")
    if not isinstance(data, dict):
        return False
    return ("task_id" in data and "status" in data) or (payload.tool in TOOLS and "status" in data)


def project(case: Case) -> Rendered:
    """Return the task whole, an empty poll as its facts, or its output shortened without a cursor past it."""
    payload = case.payload
    if is_empty_poll(payload):
        return finish(case.with_payload(_with_data(payload, _poll_facts(payload.body["data"]))))
    content = finish(case)
    if not any(field.startswith(_OUTPUTS) or field == "data" for field in content.shortened):
        return content
    withheld = sorted(name for name in payload.body["data"] if _skips(name))
    if not withheld:
        return content
    data = {name: value for name, value in payload.body["data"].items() if name not in withheld}
    return finish(case.with_payload(_with_data(payload, data), same_bulk=True), {"withheld": withheld})


def is_empty_poll(payload: Payload) -> bool:
    """Return whether a running task had nothing new to show."""
    data = payload.body.get("data")
    if not payload.ok or not isinstance(data, dict) or data.get("status") not in _RUNNING:
        return False
    silent = all(data.get(name) in ("", None, True) for name in _STREAMS)
    return silent and (data.get("no_new_output") is True or ("stdout" in data and "stderr" in data))


def _poll_facts(data: dict[str, Any]) -> dict[str, Any]:
    facts = {name: value for name, value in data.items() if name not in _SAID_BEFORE}
    return {
        "no_new_output": True,
        **{name: value for name, value in facts.items() if value not in _NOTHING.get(name, ())},
    }


def _skips(name: str) -> bool:
    return "cursor" in name and name != _STAYS


def _with_data(payload: Payload, data: dict[str, Any]) -> Payload:
    return Payload(payload.ok, payload.tool, {**payload.body, "data": data}, payload.attachments, payload.dialect)
