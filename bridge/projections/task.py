"""A managed task: its status, ids, exit code and the way to its output stay together.

A cursor says "you have seen everything before this". When output was not shown, a cursor that skips it would
be a lie, so it goes; the cursor that the page started at stays, and reading from there loses nothing. A poll
that brought nothing shrinks to its facts.
"""

from __future__ import annotations

from typing import Any

from bridge.content import Case, Content, finish
from bridge.payload import Payload

KIND = "task"

TOOLS = ("bash", "task_control", "bash_output")
_IDS = ("task_id", "bg_id")
_RUNNING = ("running", "pending", "queued")
_POLL_FACTS = (
    *_IDS, "status", "no_new_output", "empty_observation_count", "suggested_next_wait_ms", "wait_ms",
    "elapsed_ms", "start_cursor", "next_cursor", "return_reason", "reason", "output_path",
)  # fmt: skip
_STAYS = "start_cursor"
_OUTPUTS = ("data.stdout", "data.stderr", "data.output", "data.delta")


def matches(payload: Payload) -> bool:
    """Say whether the data is that of a task: an id and a status, or the object of a task tool."""
    data = payload.body.get("data")
    if not isinstance(data, dict):
        return False
    return ("task_id" in data and "status" in data) or (payload.tool in TOOLS and "status" in data)


def project(case: Case) -> Content:
    """Give the task whole, an empty poll as its facts, or its output shortened without a cursor past it."""
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
    """Say whether a running task had nothing new to show."""
    data = payload.body.get("data")
    if not payload.ok or not isinstance(data, dict) or data.get("status") not in _RUNNING:
        return False
    silent = all(data.get(name) in ("", None) for name in ("stdout", "stderr", "output", "delta"))
    return silent and (data.get("no_new_output") is True or ("stdout" in data and "stderr" in data))


def _poll_facts(data: dict[str, Any]) -> dict[str, Any]:
    return {"no_new_output": True, **{name: data[name] for name in _POLL_FACTS if name in data}}


def _skips(name: str) -> bool:
    return "cursor" in name and name != _STAYS


def _with_data(payload: Payload, data: dict[str, Any]) -> Payload:
    return Payload(
        payload.ok, payload.tool, {**payload.body, "data": data}, payload.attachments, payload.dialect
    )
