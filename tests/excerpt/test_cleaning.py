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
        ("\x9b31mred\x9b0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2\x1b\\text", "text"),
        ("\x1b(Btext\x1b7\x1b8", "text"),
        ("\x90dcs\x9ctext", "text"),
        ("text\x1b[31", "text"),
        ("text\x1b]0;ti", "text"),
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


@given(text=strategies.texts)
def test_cleaning_twice_is_cleaning_once(text):
    once, _ = cleaned(text)
    assert cleaned(once) == (once, {})


@given(text=st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t")))
def test_text_without_controls_is_unchanged(text):
    assert cleaned(text) == (text, {})
    assert not needs_cleaning(text)


@given(text=strategies.texts)
def test_lines_stay_lines(text):
    assert cleaned(text)[0].count("\n") == text.count("\n")
