"""ui_preview beyond the contract's cases, which tests/contract runs."""

import subprocess
import sys

import pytest

import bridge
from bridge.echo.preview import is_structural, ui_preview


def test_a_structural_result_is_the_very_object():
    result = {"content": "x" * 5_000, "size": 2**80}
    assert ui_preview(result, 3, "read_file") is result
    assert bridge.ui_preview(result, 3, "read_file") is result


def test_a_new_structural_tool_is_one_name_in_the_setting():
    overview = {"symbols": ["a", "b"]}
    assert ui_preview(overview, name="file_overview") == '{"symbols":["a","b"]}'
    assert ui_preview(overview, name="file_overview", structural_tools=("file_overview",)) is overview


def test_only_an_object_from_a_named_tool_is_structural():
    assert is_structural({}, "read_file")
    assert not is_structural([], "read_file")
    assert not is_structural("text", "read_file")
    assert not is_structural({}, None)
    assert not is_structural({}, "read_file", ())


def test_a_lone_surrogate_becomes_a_replacement_character_so_that_the_echo_can_be_sent():
    """Python alone can hold one: the worker's parser refuses it."""
    assert ui_preview("a\ud800b") == "a\ufffdb"
    assert ui_preview({"content": "\udfff"}) == "\ufffd"
    assert ui_preview({"text": "\udc00\ud800"}) == '{"text":"\ufffd\ufffd"}'
    assert ui_preview(["\ud800"]) == r'["\xED\xA0\x80"]'


@pytest.mark.parametrize("limit", [3, 4, 10])
def test_a_pair_of_surrogates_is_one_character_as_the_json_escapes_are_to_ruby(limit):
    for shape in (lambda text: text, lambda text: [text], lambda text: {"content": text}, lambda text: {text: [text]}):
        halves, whole = "a\ud83d\ude00" * 5, "a\U0001f600" * 5
        assert ui_preview(shape(halves), limit) == ui_preview(shape(whole), limit)


def test_python_and_the_room_agree_on_the_default_limit():
    text = "x" * 4_001
    assert bridge.ui_preview(text) == ui_preview(text) == "x" * 3_997 + "..."


@pytest.mark.parametrize("limit", [-5, 0, 1, 2, 3, 4, 50])
def test_an_echo_is_never_longer_than_its_limit_or_the_three_points(limit):
    for result in ("x" * 99, ["x" * 99], {"content": ["x" * 99]}, {"rows": list(range(99))}):
        assert len(ui_preview(result, limit)) <= max(limit, 3)


def test_importing_the_package_imports_no_room_but_the_limits():
    loaded = "import bridge, sys; print([name for name in sys.modules if name.startswith('bridge.')])"
    run = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['bridge.limits']"
