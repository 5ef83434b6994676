"""The measures of a text, which both contents share."""

from __future__ import annotations

import orjson
import pytest

from bridge.excerpt.source import Text

TEXTS = {
    "empty": "",
    "one line": "a line without an end",
    "short": 'a "line"\n\nanother\n',
    "long": "".join(f"line {number}: Größe\n" for number in range(4_000)),
    "a whole number of parts": "1234567\n" * 8_192,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_newlines_are_counted_up_to_any_place(text):
    source = Text(text)
    raw = text.encode()
    assert source.newlines == text.count("\n")
    assert source.json_size == len(orjson.dumps(text))
    for place in {0, len(raw) // 3, len(raw) // 2 // 16_384 * 16_384, max(0, len(raw) - 1), len(raw)}:
        assert source.newlines_before(place) == raw[:place].count(b"\n")
        for start in {0, place // 2, max(0, place - 9)}:
            assert source.newlines_between(start, place) == raw[start:place].count(b"\n")
