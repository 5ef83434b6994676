"""What lines cost, and how many of them fit from either end."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.excerpt.budget import Budget
from bridge.excerpt.lines import Reader
from bridge.excerpt.rows import Taken, folded_lines
from bridge.excerpt.source import Text

LINES = ["plain", "", 'a "quote"', "\\", "\\n", "\\\\n", "tab\t", "Größe", "日本", "\x1b[31mred", "end\\"]
RUN = ["first", *['the "same" \\n line'] * 9, "", *["more of the same"] * 9, "last"]


def rows(lines, *, end="\n", cleaned=False, folded=False):
    source = Text("\n".join(lines) + end)
    return Reader(source, cleaned=cleaned, folded=folded).rows(0, len(source.raw))


def first_that_fit(made, budget):
    """Return the greatest number of first rows that fit, found by trying each."""
    count = max(n for n in range(len(made.texts) + 1) if not n or made.cost(0, n).within(budget))
    return Taken(made.starts[count], made.cost(0, count))


def last_that_fit(made, start, end, budget):
    """Count the last rows between two numbers that fit, by trying each."""
    return max(n for n in range(end - start + 1) if not n or made.cost(end - n, end).within(budget))


def ranges(made):
    """Return some ranges of the numbers of rows; the first is all of them."""
    number = len(made.texts)
    return [(0, number), (number // 3, number), (0, number - number // 4), (number // 3, number // 2)]


def ends_and_counts(made, budget):
    """Return what fits from either end, and how many at the end of each range."""
    return made.first(budget), made.last(budget), [made.last_of(*part, budget) for part in ranges(made)]


def ends_and_counts_that_fit(made, budget):
    """Return the same, found by trying each number of rows."""
    counts = [last_that_fit(made, *part, budget) for part in ranges(made)]
    number = len(made.texts)
    at = number - counts[0]
    return first_that_fit(made, budget), Taken(made.starts[at], made.cost(at, number)), counts


def test_a_line_costs_what_it_takes_in_json_with_its_newline():
    assert rows(LINES).costs == [len(orjson.dumps(line + "\n")) - 2 for line in LINES]


@pytest.mark.parametrize("end", ["\n", "\\", "unended"])
@pytest.mark.parametrize("cleaned", [False, True])
@pytest.mark.parametrize("lines", [-1, 0, 1, 4, 100])
def test_the_rows_that_fit_from_either_end_are_all_that_fit(lines, cleaned, end):
    made = rows(LINES, cleaned=cleaned, end=end)
    for size in range(-1, made.size + 2):
        budget = Budget(size, lines)
        assert ends_and_counts(made, budget) == ends_and_counts_that_fit(made, budget)


@given(
    st.lists(st.sampled_from([*LINES, *RUN, "\\n" * 20, "50%\r51%", "\x00" * 9]), min_size=1, max_size=60),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["\n", "", "an end"]),
    st.integers(0, 900),
    st.integers(0, 60),
)
def test_what_fits_is_found_whatever_the_lines_are(lines, cleaned, folded, end, size, most):  # noqa: PLR0913, PLR0917
    made, budget = rows(lines, cleaned=cleaned, folded=folded, end=end), Budget(size, most)
    assert ends_and_counts(made, budget) == ends_and_counts_that_fit(made, budget)


@pytest.mark.parametrize("cleaned", [False, True])
def test_rows_start_where_their_lines_do(cleaned):
    made = rows(LINES, cleaned=cleaned)
    assert made.starts == list(accumulate((len(line.encode()) + 1 for line in LINES), initial=0))


def test_a_folded_run_takes_two_lines_from_either_end():
    made = rows(["first", *["the same line"] * 9, "last"], folded=True)
    assert (len(made.texts), made.cost(0, 3)) == (3, Budget(sum(made.costs), 4))
    assert made.first(Budget(1_000, 2)).place == made.starts[1]
    assert made.last(Budget(1_000, 2)).place == made.starts[2]
    assert made.last(Budget(1_000, 3)).place == made.starts[1]


@given(st.lists(st.sampled_from(["", "a", "b" * 40, "waiting"]), min_size=1, max_size=120))
def test_lines_are_folded_alike_whether_they_are_there_or_come_one_by_one(lines):
    counted, counted_one_by_one = Counter(), Counter()
    source = Text("\n".join(lines) + "\n")
    shown = Reader(source, cleaned=False, folded=True).text(0, len(source.raw), counted)
    assert "\n".join(folded_lines(iter(lines), counted_one_by_one)) + "\n" == shown
    assert counted_one_by_one == counted


def test_rows_say_what_they_cost_together_and_one_by_one_and_where_they_start():
    for made in (rows(RUN), rows(RUN, folded=True)):
        assert made.costs == [len(orjson.dumps(row + "\n")) - 2 for row in made.texts]
        assert made.size == sum(made.costs)
        assert made.cost(0, len(made.texts)) == Budget(made.size, len("\n".join(made.texts).split("\n")))
        assert [made.cost_at(start) for start in made.starts[:-1]] == made.costs
    lines = [0, 1, 10, 11, 20]
    places = list(accumulate((len(line) + 1 for line in RUN), initial=0))
    assert made.starts == [*(places[line] for line in lines), places[-1]]


def test_no_rows_are_no_lines():
    nothing = Reader(Text("a line\n"), cleaned=True, folded=True).rows(7, 7)
    assert (nothing.texts, nothing.starts, nothing.costs, nothing.size, nothing.lines) == ([], [7], [], 0, 0)
