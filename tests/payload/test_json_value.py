"""Whatever a tool gave becomes JSON values, with an account of what had to be replaced."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from enum import Enum
from functools import reduce

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.excerpt.deadline import Deadline, OutOfTime
from bridge.payload.json_value import MAX_DEPTH, document, integer, to_json_value, well_formed

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé\n"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=20,
)  # fmt: skip


@given(value=JSON)
def test_a_json_value_is_taken_as_the_very_object_and_encoded_once(value):
    made = to_json_value(value)
    assert made.value is made.whole is value
    assert made.encoded == orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    assert made.replaced == {}


@dataclasses.dataclass
class Thing:
    name: str = "x"


@pytest.mark.parametrize(
    ("value", "made", "replaced"),
    [
        (float("nan"), "NaN", {"numbers": 1}),
        ([None, float("-inf")], [None, "-Infinity"], {"numbers": 1}),
        (b"bytes\xff", "bytes\ufffd", {"bytes": 1}),
        ({1: "a", "1": "b"}, {"1": "a", "1'": "b"}, {"keys": 1}),
        ({1: "a", "1": "b", "1'": "c"}, {"1": "a", "1'": "b", "1''": "c"}, {"keys": 1}),
        ("\ud800", "\ufffd", {"surrogates": 1}),
        ("\ud83d\ude00", "😀", {}),
        ((1, 2), [1, 2], {}),
        (dt.date(2026, 1, 2), "2026-01-02", {"objects": 1}),
        (Thing(), "Thing(name='x')", {"objects": 1}),
    ],
)
def test_what_json_does_not_have_is_replaced_and_counted(value, made, replaced):
    result = to_json_value(value)
    assert json.loads(result.encoded) == made
    assert {name: count for name, count in result.replaced.items() if name != "surrogates" or made != "😀"} == replaced


@pytest.mark.parametrize("digits", [20, 4_300, 5_000])
def test_an_integer_of_any_length_stays_a_number(digits):
    encoded = to_json_value({"n": integer("7" * digits)}).encoded
    assert encoded == b'{"n":' + b"7" * digits + b"}"


def test_an_integer_that_python_does_not_print_stays_a_number():
    assert to_json_value(10**5_000).encoded == b"1" + b"0" * 5_000


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 300, 20_000])
def test_what_is_too_deep_becomes_text_where_it_is_and_is_whole_on_the_disk(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    made = to_json_value({"deep": value, "none": None})
    assert made.replaced == ({"branches": 1} if depth >= MAX_DEPTH else {})
    assert document(made.whole).count(b"[") == depth


def test_a_cycle_is_named():
    value = {}
    value["self"] = [value]
    assert to_json_value(value).value == {"self": ["[a value inside itself]"]}


def test_a_value_that_takes_too_long_ends_at_the_deadline():
    with pytest.raises(OutOfTime):
        to_json_value([[float("nan")]] * 1_000, deadline=Deadline(-1))


@given(text=st.text(st.characters(codec=None, categories=["Cs", "Ll", "So"])))
def test_a_text_is_made_well_formed_and_what_was_replaced_is_counted(text):
    whole, count = well_formed(text)
    assert whole.encode().decode() == whole
    assert whole.count("\ufffd") == text.count("\ufffd") + count


def test_what_holds_nothing_that_is_replaced_stays_the_very_object_and_the_result_is_not_changed():
    """A second value beside the first would take as much memory as the first."""
    result = {"a": [{"b": 1}, {"c": float("inf")}], "d": [{}]}
    before = repr(result)
    value = to_json_value(result).value
    assert value == {"a": [{"b": 1}, {"c": "Infinity"}], "d": [{}]}
    assert value["a"][0] is result["a"][0]
    assert value["d"] is result["d"]
    assert repr(result) == before


def test_a_document_that_would_be_spaces_is_not_indented():
    deep = orjson.loads(b"[" + b",".join([b"[" * 80 + b"]" * 80] * 7_000) + b"]")
    assert document(deep) == orjson.dumps(deep) + b"\n"
    assert document({"a": [1]}) == b'{\n  "a": [\n    1\n  ]\n}\n'


def test_rows_beside_a_branch_that_is_too_deep_stay_rows():
    rows = [{"a": at} for at in range(10_001)]
    deep = []
    for _ in range(120):
        deep = [deep]
    made = to_json_value([*rows, deep])
    assert made.value[:-1] == rows
    assert made.replaced == {"branches": 1}


def test_of_very_many_branches_that_are_too_deep_less_is_copied():
    branches = orjson.loads(b"[" + b",".join([b"[" * 150 + b"]" * 150] * 1_000) + b"]")
    made = to_json_value(branches)
    assert made.replaced == {"branches": 1_000}
    assert len(made.encoded) < 2 * len(orjson.dumps(branches))
    assert made.value[0][0][0][0][0][0][0][0][0][0] == "[" * 141 + "]" * 141


class Nested(Enum):
    LISTS = reduce(lambda inner, _: [inner], range(150), 1)


@pytest.mark.parametrize(
    "value", [Nested.LISTS, {"a": Nested.LISTS}, {"a": [Nested.LISTS]}, {"a": {"b": Nested.LISTS}}]
)
def test_what_an_enumeration_stands_for_is_not_deeper_than_anything_else(value):
    json.loads(to_json_value(value).encoded)
    assert to_json_value(value).encoded.count(b"[") <= MAX_DEPTH
