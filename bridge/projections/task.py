"""A managed task: its status, ids, exit code and the way to its output stay together.

A cursor says "you have seen everything before this". When output was not shown, a cursor that skips it would be
untrue, so it is taken out (``bridge.excerpt.tree``); the cursor that the page started at stays, and reading from
there loses nothing. A poll of which the tool says that it brought nothing shrinks to its facts.
"""

from __future__ import annotations

import re
from typing import Any

from bridge.payload.unified import Payload
from bridge.projections.kind import Kind
from bridge.projections.render import Audience, View
from bridge.projections.tool_result import ToolResult

TOOLS = frozenset({"bash", "task_control", "bash_output"})
_RUNNING = ("running", "pending", "queued")
_STREAMS = ("stdout", "stderr", "output", "delta")
# What a poll says again that the model was told when the task began, and what says nothing: an exit code that
# is none, a counter, a clock. Whatever else there is stays, for it may be the news.
_SAID_BEFORE = frozenset({
    *_STREAMS, "sequence", "timestamp", "owner_session_id", "origin_tool_call_id", "command", "cwd",
    "shell_backend", "shell_executable", "notify", "started_at", "finished_at",
})  # fmt: skip
_NOTHING = {"exit_code": (None, -1), "truncated": (False, None)}
_RECORDS = "records"
_WORD = re.compile(r"\S+")
_RECORD_TEXTS = ("text", "data", "line", "content", "chunk", "delta")


class Task(Kind):
    """The state of a task that runs in the background, or ran."""

    name = "task"

    def matches(self, payload: Payload) -> bool:
        """Return whether the data is that of a task: an id and a status, or the object of a task tool."""
        data = payload.body.get("data")
        return isinstance(data, dict) and "status" in data and ("task_id" in data or payload.tool in TOOLS)

    def view(self, result: ToolResult, audience: Audience) -> View:
        """Return the task without what it says twice, an empty poll as its facts."""
        view = super().view(result, audience)
        data = view.payload.body["data"]
        if _is_empty_poll(view.payload):
            view.payload = view.payload.with_body({**view.payload.body, "data": _poll_facts(data)})
        elif audience.for_model and _repeats_streams(data):
            kept = {name: value for name, value in data.items() if name != _RECORDS}
            view.payload = view.payload.with_body({**view.payload.body, "data": kept})
            view.facts["withheld"] = [_RECORDS]
        return view


def _is_empty_poll(payload: Payload) -> bool:
    """Return whether the tool says of a running task that it has nothing new, and nothing went wrong."""
    data, meta = payload.body["data"], payload.body.get("meta", {})
    if not payload.ok or data.get("status") not in _RUNNING or data.get("no_new_output") is not True:
        return False
    return not (data.get("output_error") or meta.get("output_error")) and not any(
        isinstance(data.get(name), str) and data[name] for name in _STREAMS
    )


def _poll_facts(data: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in data.items() if name not in _SAID_BEFORE and value not in _NOTHING.get(name, ())
    }


def _repeats_streams(data: dict[str, Any]) -> bool:
    """Return whether ``records`` hold the text of the streams once more, and nothing beside it."""
    records = data.get(_RECORDS)
    if not isinstance(records, list) or not records:
        return False
    told = "".join(map(_record_text, records))
    streams = "".join(data[name] for name in _STREAMS if isinstance(data.get(name), str))
    return told != "" and _words(told) == _words(streams)


def _words(text: str) -> tuple[int, int]:
    """Return what is the same of two texts with the same words in any order; a list of them would be large."""
    count = total = 0
    for word in _WORD.finditer(text):
        count += 1
        total += hash(word[0])
    return count, total


def _record_text(record: Any) -> str:
    if isinstance(record, str):
        return record + "\n"
    if not isinstance(record, dict):
        return ""
    text = next((record[name] for name in _RECORD_TEXTS if isinstance(record.get(name), str)), "")
    return text if text.endswith("\n") else text + "\n"
