"""Shared by the tests of projections: make one, and check what holds for all of them."""

from __future__ import annotations

import json
from pathlib import Path

from bridge.limits import Limits
from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall, validate
from bridge.settings import Settings

KEYS = ["ok", "tool", "data", "error", "error_type", "meta"]
DEFAULTS = Limits()
SMALLEST = Limits(terminal_max_bytes=1_024, model_max_bytes=2_048, model_max_lines=20)
WIDE = Limits(terminal_max_bytes=400_000, model_max_bytes=400_000, model_max_lines=20_000)
IDS = {"session_id": "s1", "call_id": "c1"}


def normalize(  # noqa: PLR0913 - what a test may want to choose
    result,
    name="run_command",
    *,
    limits=DEFAULTS,
    outputs=None,
    ledger=None,
    read_tool="read_file",
    payload_texts=False,
    **call,
):
    settings = Settings(
        home=Path("/home"), limits=limits, read_tool=read_tool, payload_texts=payload_texts, call_seconds=600
    )
    given = validate(ToolCall, {"result": result, "name": name, **call})
    made = Normalizer(settings, outputs, ledger).normalize(given)
    check(made, limits)
    return made


def model(result, name="run_command", **call):
    return json.loads(normalize(result, name, **call)["model_content"])


def terminal(result, name="run_command", **call):
    return json.loads(normalize(result, name, **call)["terminal_content"])


def newlines(value):
    if isinstance(value, str):
        return value.count("\n")
    if isinstance(value, dict):
        return sum(newlines(key) + newlines(child) for key, child in value.items())
    return sum(map(newlines, value)) if isinstance(value, list) else 0


def check(made, limits=DEFAULTS):
    """Both contents parse, are within their limits, and have their keys in order."""
    assert len(made["terminal_content"].encode()) <= limits.terminal_max_bytes
    assert len(made["model_content"].encode()) <= limits.model_max_bytes
    for content in (made["terminal_content"], made["model_content"]):
        parsed = json.loads(content, parse_int=str)  # of any length
        assert list(parsed) == [key for key in KEYS if key in parsed]
        assert isinstance(parsed.get("meta", {}), dict)
    assert newlines(parsed) + 1 <= limits.model_max_lines
