"""For any result and any permitted limits: both contents parse and stay within their limits."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import strategies
from bridge.limits import Limits
from bridge.normalizer import Normalizer
from bridge.settings import Settings

SMALLEST = Limits(terminal_max_bytes=1_024, model_max_bytes=2_048, model_max_lines=20)


def newlines(value):
    if isinstance(value, str):
        return value.count("\n")
    if isinstance(value, dict):
        return sum(newlines(key) + newlines(child) for key, child in value.items())
    return sum(map(newlines, value)) if isinstance(value, list) else 0


def check(made, limits):
    terminal, model = made["terminal_content"], made["model_content"]
    assert len(terminal.encode()) <= limits.terminal_max_bytes
    assert len(model.encode()) <= limits.model_max_bytes
    json.loads(terminal)
    parsed = json.loads(model)
    assert newlines(parsed) + 1 <= limits.model_max_lines
    assert [key for key in ("ok", "tool", "data", "error", "error_type", "meta") if key in parsed] == list(
        parsed
    )
    return parsed


@given(call=strategies.calls)
@settings(deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))
def test_any_result_stays_within_any_permitted_limits(call):
    made = Normalizer(Settings(home=Path("unused"), limits=call.limits)).normalize(
        call.result, name=call.name, status=call.status, error_type=call.error_type, args=call.args
    )
    check(made, call.limits)
