"""What a terminal would show at last."""

from __future__ import annotations

from collections import Counter

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from bridge.excerpt.cleaning import clean, needs_cleaning


def cleaned(text):
    counts = Counter()
    return clean(text, counts), dict(counts)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred\x9b0m", "\ufffd31mred\ufffd0m"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2\x1b\\text", "text"),
        ("\x1b(Btext\x1b7\x1b8", "text"),
        ("\x90dcs\x9ctext", "\ufffddcs\ufffdtext"),
        ("yesâ\x80\x9d and then deleted it", "yesâ\ufffd\ufffd and then deleted it"),
        ("text\x1b[31", "text"),
        ("text\x1b]0;ti", "text0;ti"),
        ("\x1bPall of it\nnext", "all of it\nnext"),
        ("\rabc\x1b[1K", ""),
        ("\rabc\x1b[2Kd", "   d"),
        ("abc\x1b[1K\rx", "x  "),
        ("text\x1b", "text"),
        ("10%\r20%\r100%\n", "100%\n"),
        ("downloading\rdone\x1b[K\n", "done\n"),
        ("\x1b[2K\rdone\n", "done\n"),
        ("abc\b\bx\n", "axc\n"),
        ("windows\r\nlines\r\n", "windows\r\nlines\r\n"),
        ("50%\r100%\r\n", "100%\r\n"),
        ("nul\x00 bell\x07", "nul bell"),
        ("long line\rshort", "shortline"),
    ],
)
def test_what_a_terminal_shows(text, shown):
    assert cleaned(text)[0] == shown


def test_each_kind_is_counted():
    assert cleaned("\x1b[31mab\rc\x07\n") == ("cb\n", {"escapes": 1, "overwritten": 1, "controls": 1})


def test_a_string_without_an_end_takes_no_text_and_wrongly_decoded_characters_are_counted():
    assert cleaned("\x1b]0;rm -rf /") == ("0;rm -rf /", {"escapes": 1})
    assert cleaned("yesâ\x80\x9d no") == ("yesâ\ufffd\ufffd no", {"controls": 2})


def test_what_takes_nothing_away_is_not_counted():
    assert cleaned("abc\rabc\x1b[0m") == ("abc", {"escapes": 1, "overwritten": 3})
    assert cleaned("\r\x1b[0mabc") == ("abc", {"escapes": 1})
    assert cleaned("\rabc") == ("abc", {})


HARD = {
    "returns": lambda n: "x" * (2 * n) + "\ra" * n,
    "returns and colours": lambda n: "x" * (2 * n) + "\r\x1b[0ma" * n,
    "erasures of the line": lambda n: "x" * (2 * n) + "\x1b[2Ka\b" * n,
    "erasures to the left": lambda n: "x" * (2 * n) + "\x1b[1K\b" * n,
    "backspaces": lambda n: "x" * (2 * n) + "\b" * n + "ab\b" * n,
    "strings without an end": lambda n: "\x1b]" * n + "x" * n,
    "sequences without an end": lambda n: "\x1b[" + "1;" * n,
    "intermediates without an end": lambda n: "\x1b" + " " * n + "\n\x1b[" + " " * n,
}


@pytest.mark.parametrize("hard", HARD.values(), ids=HARD)
def test_the_cost_grows_as_the_text_does(hard):
    """A quadratic replay would take an hour for these and end the run."""
    text = hard(300_000)
    assert needs_cleaning(text.encode())
    assert not needs_cleaning(cleaned(text)[0].encode())


@given(text=strategies.texts)
def test_cleaning_twice_is_cleaning_once(text):
    once, _ = cleaned(text)
    assert cleaned(once) == (once, {})


@given(text=st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t")))
def test_text_without_controls_is_unchanged(text):
    assert cleaned(text) == (text, {})
    assert not needs_cleaning(text.encode())


@given(text=strategies.texts)
def test_lines_stay_lines(text):
    assert cleaned(text)[0].count("\n") == text.count("\n")
