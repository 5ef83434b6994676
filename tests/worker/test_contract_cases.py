"""All of tests/contract/ui_preview.json over the wire, to clients of an older and a newer Ruby."""

import json
from pathlib import Path

import pytest

CASES = json.loads(Path(__file__).parents[1].joinpath("contract/ui_preview.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize(
    ("ruby", "expect"), [(None, "expect"), ("3.3.6", "expect"), ("3.4.0", "expect_ruby_3_4")], ids=str
)
def test_every_case_gives_what_ruby_computed(spawn, ruby, expect):
    """Compared as text: key order, 1.0 beside 1, and integers beyond 64 bits are part of the value."""
    worker = spawn()
    assert "result" in worker.call("initialize", client={"ruby": ruby} if ruby else {})
    for case in CASES:
        given = worker.call("ui_preview", case["id"], **case["params"])
        assert json.dumps(given["result"]) == json.dumps(case.get(expect, case["expect"])), case["id"]


def test_every_case_has_a_preview_in_tool_completed(spawn):
    worker = spawn()
    for case in CASES:
        params = {"name": "", **case["params"]}
        if params["name"] is None:
            continue
        preview = worker.call("tool_completed", **params)["result"]["preview"]
        if isinstance(case["expect"], dict):
            assert preview == {"kind": "structure"}
        else:
            assert preview == {"kind": "echo", "text": case["expect"]}
