"""What lines cost, and how many of them fit from either end."""

from __future__ import annotations

from collections import Counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.excerpt.budget import Budget
from bridge.excerpt.rows import folded_lines, rows_of

LINES = ["plain", "", 'a "quote"', "\\", "\\n", "\\\\n", "tab\t", "Größe", "日本", "\x1b[31mred", "end\\"]


def rows(lines, *, folded=False):
    return rows_of(lines, lambda: list(range(len(lines) + 1)), Counter() if folded else None)


def test_a_line_costs_what_it_takes_in_json_with_its_newline():
    assert rows(LINES).costs == [len(orjson.dumps(line + "\n")) - 2 for line in LINES]


@pytest.mark.parametrize("size", range(0, 130, 7))
@pytest.mark.parametrize("lines", [0, 1, 4, 100])
def test_the_rows_that_fit_from_either_end_are_all_that_fit(size, lines):
    made, budget = rows(LINES), Budget(size, lines)
    counts = range(len(LINES) + 1)
    assert made.fitting(budget) == max(n for n in counts if made.cost(0, n).within(budget))
    last = max(n for n in counts if made.cost(len(LINES) - n, len(LINES)).within(budget))
    assert made.fitting_last(0, len(LINES), budget) == last


def test_a_folded_run_takes_two_lines_from_either_end():
    made = rows(["first", *["the same line"] * 9, "last"], folded=True)
    assert (len(made.texts), made.cost(0, 3)) == (3, Budget(sum(made.costs), 4))
    assert made.fitting(Budget(1_000, 2)) == 1
    assert made.fitting_last(0, 3, Budget(1_000, 2)) == 1
    assert made.fitting_last(0, 3, Budget(1_000, 3)) == 2


@given(st.lists(st.sampled_from(["", "a", "b" * 40, "waiting"]), min_size=1, max_size=120))
def test_lines_are_folded_alike_whether_they_are_there_or_come_one_by_one(lines):
    counted, counted_one_by_one = Counter(), Counter()
    rows = rows_of(lines, list, counted)
    assert list(folded_lines(iter(lines), counted_one_by_one)) == rows.texts
    assert counted_one_by_one == counted


def test_rows_say_what_they_cost_together_and_one_by_one_and_where_they_start():
    lines = ["first", *['the "same" \\n line'] * 9, "", *["more of the same"] * 9, "last"]
    for made in (rows(lines), rows(lines, folded=True)):
        assert made.costs == [len(orjson.dumps(row + "\n")) - 2 for row in made.texts]
        assert made.size == sum(made.costs)
        assert made.cost(0, len(made.texts)) == Budget(made.size, len("\n".join(made.texts).split("\n")))
    assert made.starts == [0, 1, 10, 11, 20, 21]
