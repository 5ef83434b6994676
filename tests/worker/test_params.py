"""Every parameter at fault is named, with what is wrong with it."""

import pytest

from bridge.protocol.errors import InvalidParams
from bridge.worker.params import ANYTHING, OBJECT, TEXT, WHOLE_NUMBER, describe


def method(_worker, result, name, limit=5, args=None):
    return result, name, limit, args


METHOD = describe(method, result=ANYTHING, name=TEXT, limit=WHOLE_NUMBER, args=OBJECT)


def faults(positional=(), **named):
    with pytest.raises(InvalidParams) as caught:
        METHOD.bind(positional, named)
    return caught.value.data["fields"]


def test_by_name_and_by_position_give_the_same_arguments():
    expected = {"result": 1, "name": "a", "limit": 2, "args": {}}
    assert METHOD.bind([1, "a", 2, {}], {}) == expected
    assert METHOD.bind([], {"args": {}, "limit": 2, "name": "a", "result": 1}) == expected


def test_defaults_are_left_to_the_method():
    assert METHOD.bind([1, "a"], {}) == {"result": 1, "name": "a"}


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
    assert METHOD.bind([], {"result": None, "name": "a", "args": None})["args"] is None
    assert faults(result=1, name=None) == {"name": "must be a text"}


def test_a_parameter_without_a_check_is_a_mistake_of_ours():
    with pytest.raises(KeyError):
        describe(method, result=ANYTHING)
