"""A line that decides is shown with the lines that belong to it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from reading import check_excerpt

from bridge.excerpt.blocks import blocks_of
from bridge.excerpt.budget import Budget
from bridge.excerpt.evidence import Candidate, candidates
from bridge.excerpt.json_text import escape
from bridge.excerpt.source import Text
from bridge.excerpt.text import Style, excerpt

BEFORE = "".join(f"[{number}/900] compiling the module {number}\n" for number in range(900))
AFTER = "".join(f"cleaning up the folder {number}\n" for number in range(900))
BLOCKS = {
    "what was printed before a verdict": (
        [f"{at}. link {at} moved" for at in range(9)] + ['The command "check" exited with 1.'],
        range(9),
    ),
    "a stack below its exception": (
        ["java.lang.IllegalStateException: closed", *(f"\tat com.acme.F{at}.run(F{at}.java:{at})" for at in range(8))],
        range(1, 9),
    ),
    "the test above its assertion": (
        ["3) areas of squares", "   of a large one", "", "     Error: it does not hold"],
        [0, 1],
    ),
    "the place and the code of an error": (
        ["error[E0308]: mismatched types", "  --> src/a.rs:2:5", "   |", "2  |     x", "   |     ^ expected u8"],
        range(1, 5),
    ),
    "an assertion behind a blank line": (["--- FAIL: TestA", "", "    a_test.go:3: want 1"], [2]),
}


@pytest.mark.parametrize("size", [24_000, 7_000])
@pytest.mark.parametrize(("block", "belong"), BLOCKS.values(), ids=BLOCKS)
def test_what_belongs_to_it_is_shown(block, belong, size):
    text = BEFORE + "\n".join(block) + "\n" + AFTER
    cut = excerpt(Text(text), Budget(size, 2_000), Style(evidence=0.65))
    lines = check_excerpt(cut.text, text, {"shown": cut.shown}, str).lines
    assert [block[at] for at in belong] == [lines.get(901 + at) for at in belong]


def test_the_head_is_small_where_lines_decide_and_half_of_it_elsewhere():
    def head(text):
        cut = excerpt(Text(text), Budget(24_000, 2_000), Style(evidence=0.65))
        return len(check_excerpt(cut.text, text, {"shown": cut.shown}, str).head) / 24_000

    assert 0.03 < head(BEFORE + "src/a.c:1:2: error: no\n" + AFTER) <= 0.04
    assert 0.45 < head(BEFORE + AFTER) <= 0.5


def test_blocks_that_would_start_behind_a_place_are_left_out_and_no_others():
    lines = [
        "src/a.c:1:2: error: no",
        "    note: here",
        "",
        "The check exited with 1",
        "x" * 900,
        "y" * 900,
        "z" * 900,
        "  plain",
        "FAIL a",
        "",
        "b" * 900,
    ]
    raw = "".join(f"{lines[number * 5 % len(lines)]}\n" for number in range(120)).encode()
    decisive = candidates(raw)
    every = list(blocks_of(raw, decisive, len(raw) + 1))
    assert len(every) == 2 * len(decisive) > 40
    for before in range(0, len(raw), 97):
        assert list(blocks_of(raw, decisive, before)) == [block for block in every if block.start < before]


@pytest.mark.parametrize(
    "raw", [b"", b"no newline", b"a\n" * 40, b"a\n" + b"b" * 998 + b"\nc\n", b"\n" * 30 + b"d" * 5_000]
)
def test_a_block_ends_at_a_long_line_and_has_no_more_lines_and_bytes_than_it_may(raw):
    starts = [0, *(at + 1 for at, byte in enumerate(raw) if byte == ord("\n"))]
    for place in starts:
        block = next(iter(blocks_of(raw, [Candidate(place, place, 1, verdict=True)], len(raw) + 1)))
        above = [start for start in starts if block.start <= start < place]
        sizes = [end - start for start, end in pairwise([*above, place])]
        assert block.start in starts
        assert max(sizes, default=0) <= 1_000
        assert len(above) <= 12
        assert place - block.start <= 1_500
        if block.start and len(above) < 12:  # one line more would be too much
            longer = starts[starts.index(block.start) - 1]
            assert block.start - longer > 1_000 or place - longer > 1_500


def test_the_tail_goes_on_above_a_block_that_lies_in_it():
    after = AFTER[-4_000:].partition("\n")[2]
    text = BEFORE * 2 + "src/a.c:1:2: error: no\n" + after
    cut = excerpt(Text(text), Budget(8_000, 2_000), Style(evidence=0.65))
    *_, (first, last) = cut.shown["lines"]
    assert last == text.count("\n")
    assert first < text[: text.index("src/a.c")].count("\n") - 24
    assert 0.95 * 8_000 < len(escape(cut.text)) <= 8_000
