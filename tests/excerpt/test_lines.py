"""What a reader shows does not depend on what it was asked before."""

from collections import Counter
from itertools import pairwise

import pytest

from bridge.excerpt.lines import Reader
from bridge.excerpt.source import Text

PLAIN, RED, WAITING = "a plain line\n", "\x1b[31ma red line\x1b[0m\n", "waiting for the same thing\n"


def shown(reader, start, end):
    counts = Counter()
    return reader.text(start, end, counts), counts


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([PLAIN, RED, "another\n", PLAIN], id="what is cleaned between what is not"),
        pytest.param([WAITING] * 6, id="a run of lines that were read one by one"),
        pytest.param([PLAIN, WAITING, WAITING, WAITING, "last\n"], id="a run between other lines"),
        pytest.param(["Größe\n", "日本\n", "the end"], id="beyond ASCII"),
        pytest.param(["crlf\r\n", "crlf again\r\n", "\n", "\n", "\rx"], id="returns"),
    ],
)
def test_lines_that_were_read_before_are_shown_as_if_they_were_not(lines):
    source = Text("".join(lines))
    places = [len("".join(lines[:number]).encode()) for number in range(len(lines) + 1)]
    ranges = [(start, end) for start in places for end in places if start < end]
    for windows in (ranges, ranges[::-1], [*pairwise(places)], [*pairwise(places[::2])]):
        reader = Reader(source, cleaned=True, folded=True)
        for start, end in windows:
            reader.rows(start, end)
        for start, end in ranges:
            assert shown(reader, start, end) == shown(Reader(source, cleaned=True, folded=True), start, end)
