"""Any result becomes the unified payload, and nothing of it is lost on the way."""

from __future__ import annotations

import pytest

from bridge.payload.unified import AETHERCODEX, OTHER, RIND, parse_payload_text, unify


@pytest.mark.parametrize(
    ("result", "dialect"),
    [
        ({"ok": True, "tool": "t", "data": 1}, RIND),
        ({"ok": 1, "tool": "t"}, AETHERCODEX),
        ({"ok": True, "tool": 5}, AETHERCODEX),
        ({"result": 1}, AETHERCODEX),
        ("text", OTHER),
        (None, OTHER),
        ([1], OTHER),
    ],
)
def test_a_dialect_is_told_by_its_form(result, dialect):
    assert unify(result, "t", "completed").dialect == dialect


@pytest.mark.parametrize("status", ["failed", "cancelled"])
@pytest.mark.parametrize("result", [{"ok": True, "tool": "t", "data": 1}, {"ok": True, "x": 1}, "text", None, [1]])
def test_no_dialect_turns_a_failed_call_into_a_success(result, status):
    assert unify(result, "t", status).ok is False


def test_members_without_a_place_go_to_the_details():
    result = {"ok": True, "tool": "t", "data": 1, "meta": {"details": "own"}, "extra": 2, "attachments": "none"}
    details = {"extra": 2, "attachments": "none", "meta": {"details": "own"}}
    assert unify(result, "t", "completed").body["meta"] == {"details": details}


@pytest.mark.parametrize("text", ["", "[1]", '{"ok":true}', '{"ok":1,"tool":"t"}', '{"ok":true,"tool":"t"', "x" * 50])
def test_a_text_that_is_no_payload_is_none(text):
    assert parse_payload_text(text, "t") is None


def test_a_payload_of_another_tool_is_none():
    text = '{"ok":true,"tool":"t","data":1}'
    assert parse_payload_text(text, "t") == {"ok": True, "tool": "t", "data": 1}
    assert parse_payload_text(text, "u") is None
