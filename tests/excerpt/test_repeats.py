"""Stretches of equal lines are left out unread, and nothing that a reader is told changes by that."""

import re
from collections import Counter
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.excerpt.budget import Budget
from bridge.excerpt.lines import Reader
from bridge.excerpt.repeats import repeats_in, without
from bridge.excerpt.rows import folded_lines
from bridge.excerpt.source import Text
from bridge.excerpt.text import Style, excerpt

LINES = st.sampled_from(["", "x", "ж", "a line of a log", "строка журнала сборки", "crlf\r", "w" * 700])
RUNS = st.lists(st.tuples(LINES, st.sampled_from([1, 2, 63, 64, 65, 66, 67, 500, 9_000])), min_size=1, max_size=6)


def folded_one_by_one(text, counts):
    """Return the rows of ``text``, and where they start, as they are folded when each line is looked at."""
    lines = text.removesuffix("\n").split("\n")
    starts = list(accumulate((len(line.encode()) + 1 for line in lines), initial=0))
    rows = list(folded_lines(iter(lines), counts))
    kept, at = [], 0
    for row in rows:
        kept.append(starts[at])
        _, _, note = row.partition("\n")
        at += 1 + (int(re.search(r"above (\d+) more", note)[1]) if note else 0)
    assert at == len(lines)
    return rows, [*kept, len(text.encode())]


@given(RUNS, st.booleans(), st.sampled_from(["\nend", "\n"]))
def test_lines_that_are_left_out_are_counted_and_keep_their_places(runs, cleaned, end):
    text = "\n".join(line for line, times in runs for _ in range(times)) + end
    source, counts, expected = Text(text), Counter(), Counter()
    reader = Reader(source, cleaned=cleaned, folded=True)
    rows = reader.rows(0, len(source.raw))
    assert (rows.texts, rows.starts) == folded_one_by_one(text, expected)
    assert reader.text(0, len(source.raw), counts) == "\n".join(rows.texts) + "\n" * text.endswith("\n")
    assert counts == expected


def test_of_a_megabyte_of_one_line_little_is_left():
    raw = b"head\n" + b"one line again\n" * 70_000 + b"tail"
    (repeat,) = repeats_in(raw, 0, len(raw))
    left = without(raw, 0, len(raw), [repeat])
    assert len(left) < 10_000
    assert left.startswith(b"head\none line again\none line again\n")
    assert left.endswith(b"again\ntail")
    assert repeat.lines + left.count(b"again") == 70_000


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\x1b[32mgreen\x1b[0m\n", id="colours are counted"),
        pytest.param(b"50%\r51%\n", id="what was written over is counted"),
        pytest.param(b"x" * 10_000 + b"\n", id="too few"),
    ],
)
def test_other_lines_are_read_one_by_one(line):
    assert repeats_in(line * 60, 0, 60 * len(line)) == []
    assert len(line) > 9_000 or repeats_in(line * 9_000, 0, 9_000 * len(line)) == []


def test_a_piece_that_is_read_with_and_without_its_repeats_is_not_taken_for_the_other():
    """A text of the size of two pieces: its rows are asked for with them, its lines one by one without."""
    piece = 1 << 19
    equal = b"aaaaaaa\n" * 20_000
    raw = equal + b"\x1b[mbbbb\n" * ((piece - len(equal)) // 8) + b"\x1b[mcccc\n" * (piece // 8)
    shown = excerpt(Text(raw.decode()), Budget(25_000, 2_000), Style(clean=True, fold=True))
    assert shown.cleaned["folded_lines"] == len(raw) // 8 - 3
    assert f"aaaaaaa\n[the line above {20_000 - 1} more times]\n" in shown.text
