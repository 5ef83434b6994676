"""Whatever a text is and whatever the budget: the excerpt fits, and its account is true to the last byte."""

from __future__ import annotations

import json

import strategies
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reading import MARK, check_excerpt, cleaned

from bridge.excerpt.account import most_shown_bytes
from bridge.excerpt.budget import Budget
from bridge.excerpt.source import Text
from bridge.excerpt.text import Style, excerpt, fits
from bridge.payload.json_value import well_formed

pieces = st.sampled_from(
    [
        *strategies.AWKWARD,
        "error: it broke\n",
        "  at f (a.js:1:2)\n",
        "waiting\n",
        "\x1b[31mred\x1b[0m\n",
        "10%\r20%\rdone\n",
        "a" + "\u0301" * 600,
        "x" * 700,
        "漢" * 300,
        "\r\n",
        "\n\n\n",
        "plain words on a line\n",
    ]
)
runs = st.builds(lambda piece, times: piece * times, pieces, st.integers(1, 60))
long_texts = st.lists(runs | strategies.texts, min_size=1, max_size=40).map("".join)


budgets = st.builds(Budget, st.integers(0, 3_000), st.integers(0, 60))
FOR_READING = Style(clean=True, fold=True)
styles = st.builds(
    Style,
    st.sampled_from(["", "not kept: no session or call id"]),
    st.sampled_from([0.0, 0.2, 0.45, 1.0]),
    st.booleans(),
    st.booleans(),
)


@given(text=long_texts, budget=budgets, style=styles)
@example(text="a" + "\u0301" * 3_000, budget=Budget(400, 60), style=Style(clean=True, fold=True))
@example(text="\r" + "error: x" * 9, budget=Budget(1_851, 4), style=Style(evidence=0.2, clean=True))
@example(text="waiting\n" * 300 + "x\n" * 2_000, budget=Budget(400, 60), style=Style(clean=True, fold=True))
@example(text="error: x\n" * 300 + "y" * 5_000, budget=Budget(900, 60), style=Style(evidence=1.0))
@example(text="000\x06\x06" * 13 + "\r", budget=Budget(320, 4), style=Style(clean=True))
@example(text="\r" + "👩\u200d👩\u200d👧" * 8, budget=Budget(320, 4), style=Style(clean=True))
@example(text="\b" + "👩\u200d👩\u200d👧" * 8, budget=Budget(320, 4), style=Style(clean=True))
@example(text="👩\u200d👩\u200d👧" * 11 + "\b", budget=Budget(320, 4), style=Style(clean=True))
@example(text="waiting\n" * 140_000 + "x\n" * 300_000 + "end\n", budget=Budget(400, 60), style=FOR_READING)
@example(text="start\n" + "10%\r20%\n" * 200_000 + "z" * 900_000, budget=Budget(900, 60), style=FOR_READING)
@settings(max_examples=300)
def test_an_excerpt_fits_and_accounts_for_every_line_and_byte(text, budget, style):
    text, _ = well_formed(text)
    source = Text(text)
    cut = excerpt(source, budget, style)
    assert fits(cut.text, budget)
    assert len(json.dumps(cut.shown, separators=(",", ":"))) <= most_shown_bytes(budget.size)
    assert excerpt(Text(text), budget, style) == excerpt(source, budget, style) == cut
    assert 0 not in cut.cleaned.values()
    assert cut.lost <= len(text.encode())
    if cut.shown:
        parts = check_excerpt(cut.text, text, {"shown": cut.shown}, cleaned if style.clean else str)
        assert (parts.lost, parts.next_line) == (cut.lost, cut.next_line)
    elif not cut.lost and not MARK.search(cut.text):
        assert style.clean or style.fold or cut.text == text
