"""Every parameter at fault is named, with what is wrong with it."""

import pytest

from bridge.protocol.errors import InvalidParams
from bridge.protocol.models import Arguments, Initialize, Params, ToolCall, ToolName, ToolResult, validate


class Method(Params):
    result: ToolResult
    name: ToolName
    limit: int = 5
    args: Arguments = None


def bind(positional, named):
    return validate(Method, named, positional).model_dump(exclude_unset=True)


def faults(positional=(), model=Method, **named):
    with pytest.raises(InvalidParams) as caught:
        validate(model, named, positional)
    return caught.value.data["fields"]


def test_by_name_and_by_position_give_the_same_arguments():
    expected = {"result": 1, "name": "a", "limit": 2, "args": {}}
    assert bind([1, "a", 2, {}], {}) == expected
    assert bind([], {"args": {}, "limit": 2, "name": "a", "result": 1}) == expected


def test_defaults_are_left_to_the_method():
    assert bind([1, "a"], {}) == {"result": 1, "name": "a"}


def test_missing_parameters_are_named():
    assert faults() == {"name": "is missing", "result": "is missing"}


def test_unknown_parameters_are_named():
    unknown = "is not a parameter of this method"
    assert faults(result=1, name="a", self=1, worker=2) == {"self": unknown, "worker": unknown}


def test_parameters_too_many_are_named_by_their_position():
    assert faults([1, "a", 2, {}, 5, 6]) == dict.fromkeys(("4", "5"), "is not a parameter of this method")


def test_all_faults_are_told_at_once():
    assert faults(name=1, limit="x", other=1) == {
        "name": "must be a text",
        "limit": "must be a whole number",
        "other": "is not a parameter of this method",
        "result": "is missing",
    }


@pytest.mark.parametrize("value", [True, 1.0, "1", None, [], {}])
def test_only_a_whole_number_is_one(value):
    assert faults(result=1, name="a", limit=value) == {"limit": "must be a whole number"}


def test_null_is_taken_where_it_is_the_default_and_nowhere_else():
    assert bind([], {"result": None, "name": "a", "args": None})["args"] is None
    assert faults(result=1, name=None) == {"name": "must be a text"}


def test_values_are_taken_as_they_are_and_not_copied():
    result, args = {"a": [1]}, {"b": [2]}
    call = validate(ToolCall, {"result": result, "name": "a", "args": args})
    assert call.result is result
    assert call.args is args


@pytest.mark.parametrize("status", ["error", "", None, True, 1, [], {}])
def test_a_status_is_one_of_three_words(status):
    rule = "must be one of completed, failed, cancelled"
    assert faults(model=ToolCall, result=1, name="a", status=status) == {"status": rule}


def test_a_fault_inside_an_object_is_named_by_its_path():
    assert faults(model=Initialize, client={"ruby": "three", "name": 3}) == {
        "client.name": "must be a text",
        "client.ruby": 'must be a version of Ruby, like "3.4.1"',
    }


def test_a_lone_surrogate_in_a_name_or_an_argument_is_no_fault_of_the_caller():
    """From Python anything may come; what has no UTF-8 is replaced where it is printed."""
    call = validate(ToolCall, {"result": 1, "name": "\ud800", "args": {"\ud800": "\udc00"}})
    assert (call.name, call.args) == ("\ud800", {"\ud800": "\udc00"})


def test_a_fault_says_nothing_of_the_value():
    assert "swordfish" not in str(faults(result=1, name={"swordfish": 1}, limit="swordfish", args="swordfish"))
