"""Runs every case of ui_preview.json, whose values real Ruby computed."""

import json
from pathlib import Path

import pytest

from bridge.echo.preview import ui_preview

CASES = json.loads(Path(__file__).with_name("ui_preview.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_gives_what_ruby_computed(case):
    given = ui_preview(**case["params"])
    assert spell(given) == spell(case["expect"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_for_a_client_on_ruby_3_4(case):
    """Where Ruby 3.4 inspects a Hash differently the case says so; all others are as before."""
    given = ui_preview(**case["params"], ruby_3_4=True)
    assert spell(given) == spell(case.get("expect_ruby_3_4", case["expect"]))


def spell(value):
    """Spell a value out, because 1 == 1.0 == True and {"a": 1, "b": 2} == {"b": 2, "a": 1} in Python."""
    return json.dumps(value)
