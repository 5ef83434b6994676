"""How a value is printed; the values here were computed by Ruby 3.1.2 with json 2.6.1."""

import sys

import pytest

from bridge.echo import ruby

ENOUGH = 1_000_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (100000000000000.0, "100000000000000.0"),
        (999999999999999.0, "999999999999999.0"),
        (1e15, "1.0e+15"),
        (-1.5e15, "-1.5e+15"),
        (9007199254740993.0, "9.007199254740992e+15"),
        (1234567890123456.0, "1.234567890123456e+15"),
        (1234567890123456.7, "1234567890123456.8"),
        (1e16, "1.0e+16"),
        (1.5e16, "1.5e+16"),
        (0.0001, "0.0001"),
        (0.00001, "1.0e-05"),
        (5e-324, "5.0e-324"),
        (1e100, "1.0e+100"),
        (-0.0, "-0.0"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_a_float_is_laid_out_as_ruby_does_in_all_three_ways_of_printing(value, text):
    assert ruby.to_s(value, ENOUGH) == text
    assert ruby.inspect([value], ENOUGH) == f"[{text}]"
    assert ruby.to_json([value], ENOUGH) == f"[{text}]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999999999999999.0, "999999999999999.0"),
        (1e15, "1e+15"),
        (-1.5e15, "-1.5e+15"),
        (1234567890123456.0, "1.234567890123456e+15"),
        (1234567890123456.7, "1234567890123456.8"),
        (1e16, "1e+16"),
        (1.2345678901234568e17, "1.2345678901234568e+17"),
        (0.0001, "0.0001"),
        (0.00001, "0.00001"),
        (1e-7, "0.0000001"),
        (1.234e-9, "0.000000001234"),
        (1e-9, "0.000000001"),
        (1e-10, "1e-10"),
        (1.5e300, "1.5e+300"),
        (100.0, "100.0"),
        (-0.0, "-0.0"),
        (float("nan"), "NaN"),
    ],
)
def test_json_2_15_lays_out_a_float_in_its_own_way(value, text):
    """Computed by Ruby 3.3.8 with json 3.1.0; other ways of printing stay as they are."""
    assert ruby.to_json([value], ENOUGH, json_2_15=True) == f"[{text}]"
    assert ruby.to_json([value], ENOUGH) == ruby.inspect([value], ENOUGH)


@pytest.mark.parametrize(
    ("text", "inspected"),
    [
        ("\x00\x01\x1f\x7f", r'"\u0000\u0001\u001F\u007F"'),
        ("\a\b\t\n\v\f\r\x1b", r'"\a\b\t\n\v\f\r\e"'),
        ('"\\', r'"\"\\"'),
        ("#", '"#"'),
        ("# {", '"# {"'),
        ("a#{b #$c #@d", r'"a\#{b \#$c \#@d"'),
        ("##{#\x00{", r'"#\#{#\u0000{"'),
        ("\\#{", r'"\\\#{"'),
        ("\x80\x84\x85\x86\x9f", '"\\u0080\\u0084\x85\\u0086\\u009F"'),
        ("\u2028\u2029\u200b\ufeff\u00ad\u3000", '"\\u2028\\u2029\u200b\ufeff\u00ad\u3000"'),
        ("\u0378\ufdd0\uffff", r'"\u0378\uFDD0\uFFFF"'),
        ("\ue000\U000f0000\U0010fffd", '"\ue000\U000f0000\U0010fffd"'),
        ("\U0010ffff\U0001ffff", r'"\u{10FFFF}\u{1FFFF}"'),
        ("\U0001f9cb\U0001f9cc", '"\U0001f9cb\\u{1F9CC}"'),
        ("\ud7ff\ue000", '"\\uD7FF\ue000"'),
    ],
)
def test_inspect_escapes_what_ruby_escapes_and_nothing_else(text, inspected):
    """U+1F9CC came with Unicode 14: Ruby 3.1 does not know it, whatever this Python does."""
    assert ruby.inspect(text, ENOUGH) == inspected


def test_to_json_escapes_only_what_json_demands():
    escaped, kept = '"\\\b\f\n\r\t\x00\x1f', "/\x7f\x85\u2028\u2029\u0378é😀"
    assert ruby.to_json(escaped + kept, ENOUGH) == r'"\"\\\b\f\n\r\t\u0000\u001f' + kept + '"'


def test_containers_are_spaced_by_inspect_and_tight_in_to_json():
    value = {"a": [1, [], {}], "b": {"c": None, "d": [True, False]}}
    assert ruby.inspect(value, ENOUGH) == '{"a"=>[1, [], {}], "b"=>{"c"=>nil, "d"=>[true, false]}}'
    assert ruby.to_json(value, ENOUGH) == '{"a":[1,[],{}],"b":{"c":null,"d":[true,false]}}'


def test_ruby_3_4_spaces_the_arrow_at_every_depth():
    value = [{"a": {"b": 1}}, {}]
    assert ruby.inspect(value, ENOUGH, ruby_3_4=True) == '[{"a" => {"b" => 1}}, {}]'
    assert ruby.to_s({"a": 1}, ENOUGH, ruby_3_4=True) == '{"a" => 1}'


def test_text_and_nothing_are_what_to_s_does_not_inspect():
    assert ruby.to_s('a "b"', ENOUGH) == 'a "b"'
    assert ruby.to_s(None, ENOUGH) == ""
    assert ruby.to_s([None, 'a "b"'], ENOUGH) == r'[nil, "a \"b\""]'


@pytest.mark.parametrize("depth", [1, 100, 101, 1_000, 100_000])
def test_depth_costs_no_stack_and_goes_on_where_ruby_would_raise(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    assert ruby.to_json(value, ENOUGH) == "[" * depth + "]" * depth
    assert ruby.inspect(value, ENOUGH) == "[" * depth + "]" * depth


def test_an_integer_longer_than_python_converts_is_printed_whole():
    digits = sys.get_int_max_str_digits() + 1
    assert ruby.to_json([10**digits, -(10**digits)], ENOUGH) == f"[1{'0' * digits},-1{'0' * digits}]"


def test_a_lone_surrogate_is_inspected_as_the_three_bytes_that_it_is_to_ruby():
    assert ruby.inspect(["a\udfff\ud800"], ENOUGH) == r'["a\xED\xBF\xBF\xED\xA0\x80"]'


class Counted(list):
    """A list that counts what was taken from it."""

    taken = 0

    def __iter__(self):
        for member in super().__iter__():
            self.taken += 1
            yield member


@pytest.mark.parametrize("printer", [ruby.to_s, ruby.inspect, ruby.to_json])
def test_printing_stops_soon_after_the_limit(printer):
    """Members are not even looked at once the limit is passed, so size costs nothing."""
    rows = Counted(range(1_000_000))
    text = printer(rows, 4_000)
    assert 4_000 < len(text) < 4_020
    assert rows.taken < 1_400


@pytest.mark.parametrize("printer", [ruby.to_s, ruby.inspect, ruby.to_json])
@pytest.mark.parametrize("value", ["x" * 1_000_000, ["x" * 1_000_000], {"x" * 1_000_000: 1}])
def test_a_long_text_is_not_printed_to_its_end(printer, value):
    assert 100 < len(printer(value, 100)) < 110


@pytest.mark.parametrize("printer", [ruby.inspect, ruby.to_json])
def test_the_first_limit_characters_are_the_same_under_every_limit(printer):
    """A limit may fall between # and {, in an escape, a key or an arrow: what stands before it is right."""
    value = {"k#{\x00": ["a#$", '"', {"b\U0010ffff": [1.5, None]}], "#": "#"}
    whole = printer(value, ENOUGH)
    for limit in range(-2, len(whole) + 3):
        text = printer(value, limit)
        assert text[: max(limit, 0)] == whole[: max(limit, 0)]
        assert text == whole or len(text) > limit


@pytest.mark.parametrize(
    ("limit", "text"),
    [(-1, "..."), (0, "..."), (3, "..."), (4, "0..."), (9, "012345..."), (10, "0123456789")],
)
def test_truncate_keeps_three_less_than_the_limit(limit, text):
    assert ruby.truncate("0123456789", limit) == text


def test_what_is_not_json_is_refused_by_its_type():
    with pytest.raises(TypeError, match="not bytes"):
        ruby.to_s(b"x", ENOUGH)
    with pytest.raises(TypeError, match="key must be text, not int"):
        ruby.to_json({1: 2}, ENOUGH)
