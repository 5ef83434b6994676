"""Budgets and the places where texts may be cut."""

from __future__ import annotations

import regex
import strategies
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.excerpt.budget import fitting, fitting_tail, share
from bridge.excerpt.cleaning import ESCAPE
from bridge.excerpt.graphemes import boundary_after, boundary_before
from bridge.excerpt.json_text import encode, escape, newlines
from bridge.payload.json_value import well_formed

clusters = st.lists(
    st.sampled_from(
        [
            "a",
            "é",
            "e\u0301",
            "漢",
            "👩‍👩‍👧‍👦",
            "🇩🇪",
            "각",
            "\u1100\u1161",
            "क्षि",
            "\r\n",
            "\n",
            "👍🏽",
            " ",
            "\u0600",
        ]
    )
).map("".join)


@given(text=strategies.texts, size=st.integers(0, 300))
def test_what_fits_is_the_longest_that_fits(text, size):
    text, _ = well_formed(text)
    count = fitting(text, size)
    assert len(escape(text[:count])) <= size
    assert count == len(text) or len(escape(text[: count + 1])) > size
    back = fitting_tail(text, size)
    tail = text[len(text) - back :]
    assert len(escape(tail)) <= size
    assert back == len(text) or len(escape(text[len(text) - back - 1 :])) > size


@given(text=clusters, index=st.integers(0, 200))
@example(text="\r\né", index=2)
def test_no_cut_falls_inside_a_grapheme_cluster(text, index):
    index = min(index, len(text))
    ends = [0, *(match.end() for match in regex.finditer(r"\X", text))]
    assert boundary_before(text, index) == max(end for end in ends if end <= index)
    assert boundary_after(text, index) == min(end for end in ends if end >= index)


@given(
    parts=st.lists(st.sampled_from(["\x1b[31m", "\x1b]8;;http://x\x1b\\", "text", "\x9b0K"])),
    index=st.integers(0, 80),
)
def test_no_cut_falls_inside_an_escape(parts, index):
    text = "".join(parts)
    index = min(index, len(text))
    inside = [match.span() for match in ESCAPE.finditer(text)]
    for cut in (boundary_before(text, index), boundary_after(text, index)):
        assert not any(start < cut < end for start, end in inside)


@given(sizes=st.lists(st.integers(0, 50)), budget=st.integers(0, 400))
def test_a_share_is_the_greatest_that_all_can_have(sizes, budget):
    cap = share(sizes, budget)
    if cap is None:
        assert sum(sizes) <= budget
    else:
        assert sum(min(size, cap) for size in sizes) <= budget < sum(min(size, cap + 1) for size in sizes)


@given(texts=st.lists(st.text(st.sampled_from('\n\\n"a'))))
def test_newlines_are_counted_in_their_json(texts):
    assert newlines(encode(texts)) == sum(text.count("\n") for text in texts)


def test_a_chain_of_unfinished_escapes_is_walked_back_without_recursion():
    text = "\x90" * 100_000
    cut = boundary_before(text, 50_000)
    assert 50_000 - 4_096 <= cut <= 50_000
    assert boundary_after(text, 50_000) >= 50_000
