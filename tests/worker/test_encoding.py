"""What leaves the worker is JSON, and says what the value says."""

import json
import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from bridge.worker.encoding import encode, readable

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_every_json_value_comes_back_as_it_was(value):
    """Integers of any size, 1.0 beside 1, infinity, and the order of keys."""
    back = from_json(encode(value))
    assert repr(back) == repr(value)


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**4_000, [2**64], {"a": {"b": 2**64}}])
def test_integers_beyond_64_bits_are_exact(value):
    assert json.loads(encode(value)) == value


@pytest.mark.parametrize(("value", "text"), [(math.inf, b"1e999"), ([None, -math.inf], b"[null,-1e999]")])
def test_a_number_beyond_doubles_never_becomes_null(value, text):
    """1e400 arrives as infinity; readers take 1e999 for the same."""
    assert encode(value) == text


def test_not_a_number_has_no_json():
    with pytest.raises(ValueError, match="not a number"):
        encode({"a": math.nan})


def test_null_stays_null():
    assert encode({"a": None, "b": "null", "c": 1.5}) == b'{"a":null,"b":"null","c":1.5}'


@pytest.mark.parametrize("value", ["\ud800", "a\udcffb", {"\ud800": ["\udfff"]}])
def test_a_lone_surrogate_becomes_the_replacement_character(value):
    assert "\ufffd" in encode(value).decode()
    json.loads(encode(value))


@pytest.mark.parametrize("depth", [253, 254, 255, 400])
def test_nesting_deeper_than_orjson_writes(depth):
    value = []
    for _ in range(depth):
        value = [value]
    assert encode(value) == b"[" * (depth + 1) + b"]" * (depth + 1)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", {1: "a key"}, [2**64, object()], {2**64: 1}])
def test_what_is_no_json_is_refused(value):
    with pytest.raises(TypeError):
        encode(value)


def nested(levels, inside="end"):
    value = inside
    for level in range(levels):
        value = [value] if level % 2 else {"a": value, "b": 1}
    return value


@pytest.mark.parametrize("value", [1, "text", [], {"a": [1.0, None, {}]}, nested(9), [nested(8), "[[[[[[[[[["]])
def test_what_is_not_too_deep_is_the_very_object(value):
    assert readable(value, 9) is value


@pytest.mark.parametrize("levels", [10, 11, 200, 300])
def test_what_is_too_deep_is_the_text_of_its_json_where_it_stands(levels):
    value = nested(levels, 2**64)
    shallow = readable({"deep": value, "flat": [1]}, 9)
    assert shallow["flat"] == [1]
    within = shallow["deep"]
    for _ in range(8):
        value, within = (value["a"], within["a"]) if isinstance(value, dict) else (value[0], within[0])
    assert json.loads(within) == value


def test_levels_are_counted_along_one_path_and_not_over_all():
    wide = [[[1]]] * 1_000
    assert readable(wide, 3) is wide
    assert readable(wide, 2) == [["[1]"]] * 1_000


def test_an_exact_encoding_holds_no_pieces():
    """Each piece that orjson writes keeps a kilobyte: a list of them took a thousand times the value."""
    value = [1.5] * 100_000 + [math.inf]
    tracemalloc.start()
    assert encode(value).endswith(b"1.5,1e999]")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * len(value)
