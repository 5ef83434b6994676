"""One table of streams; each is fed whole, byte by byte, glued to itself, and with bytes behind it."""

import tracemalloc

import pytest

from bridge.worker.framing import InputLine, LineReader, TooLong

LIMIT = 10
OVER = TooLong(LIMIT)

# name: (what arrives, the events it gives)
CASES = {
    "a line": (b"{}\n", [b"{}"]),
    "two lines": (b"1\n2\n", [b"1", b"2"]),
    "nothing": (b"", []),
    "a blank line": (b"\n", []),
    "white space alone": (b" \t\r\n", []),
    "a CR before the LF is left to the parser": (b"{}\r\n", [b"{}\r"]),
    "a lone CR ends nothing": (b"1\r2\n", [b"1\r2"]),
    "U+2028 ends nothing": (b"1\xe2\x80\xa82\n", [b"1\xe2\x80\xa82"]),
    "U+0085 ends nothing": (b"1\xc2\x852\n", [b"1\xc2\x852"]),
    "a vertical tab and a form feed end nothing": (b"1\x0b2\x0c3\n", [b"1\x0b2\x0c3"]),
    "a byte-order mark at the start": (b"\xef\xbb\xbf{}\n", [b"{}"]),
    "a byte-order mark inside": (b"1\xef\xbb\xbf\n", [b"1\xef\xbb\xbf"]),
    "a byte-order mark alone": (b"\xef\xbb\xbf\n", []),
    "only the first of two byte-order marks": (b"\xef\xbb\xbf\xef\xbb\xbf1\n", [b"\xef\xbb\xbf1"]),
    "NUL and invalid UTF-8 are content": (b"\x00\xff\n", [b"\x00\xff"]),
    "one under the limit": (b"a" * 9 + b"\n", [b"a" * 9]),
    "at the limit": (b"a" * 10 + b"\n", [b"a" * 10]),
    "one over the limit": (b"a" * 11 + b"\n", [OVER]),
    "far over the limit, then a line": (b"a" * 99 + b"\n1\n", [OVER, b"1"]),
    "a line, then one over the limit": (b"1\n" + b"a" * 11 + b"\n", [b"1", OVER]),
    "two over the limit are two": (b"a" * 11 + b"\n" + b"b" * 12 + b"\n", [OVER, OVER]),
    "white space over the limit is too long, too": (b" " * 11 + b"\n", [OVER]),
    "a byte-order mark counts": (b"\xef\xbb\xbf" + b"a" * 8 + b"\n", [OVER]),
}


def expected(events):
    return [event if isinstance(event, TooLong) else InputLine(event) for event in events]


@pytest.mark.parametrize(("stream", "events"), CASES.values(), ids=CASES)
class TestTable:
    def test_whole(self, stream, events):
        assert LineReader(LIMIT).feed(stream) == expected(events)

    def test_byte_by_byte(self, stream, events):
        reader = LineReader(LIMIT)
        given = [event for byte in stream for event in reader.feed(bytes([byte]))]
        assert given == expected(events)

    def test_glued_to_itself(self, stream, events):
        assert LineReader(LIMIT).feed(stream * 3) == expected(events) * 3

    @pytest.mark.parametrize("behind", [b"x", b"\xef\xbb", b'{"half'])
    def test_with_bytes_behind(self, stream, events, behind):
        """What no LF has ended is no event, and is counted as unfinished."""
        reader = LineReader(LIMIT)
        assert reader.feed(stream + behind) == expected(events)
        assert reader.unfinished == len(behind)


def test_a_line_too_long_is_reported_before_it_ends_and_only_once():
    reader = LineReader(LIMIT)
    assert reader.feed(b"a" * 11) == [OVER]
    assert reader.feed(b"a" * 11) == []
    assert reader.unfinished == 0
    assert reader.feed(b"\n1\n") == [InputLine(b"1")]


def test_the_limit_may_change_between_feeds():
    reader = LineReader(LIMIT)
    reader.max_bytes = 20
    assert reader.feed(b"a" * 20 + b"\n") == [InputLine(b"a" * 20)]


def test_a_line_too_long_is_never_held():
    """200 MB pass through a reader with a limit of 1 MB; it holds no more than the limit and a piece."""
    limit, piece = 1 << 20, b"a" * (1 << 16)
    reader = LineReader(limit)
    tracemalloc.start()
    events = [event for _ in range(3_200) for event in reader.feed(piece)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert events == [TooLong(limit)]
    assert peak < 2 * limit


def test_a_long_line_in_many_pieces_costs_one_copy():
    """64 MB in pieces of 64 KB: joining at each piece would copy 32 GB."""
    piece = b"a" * (1 << 16)
    reader = LineReader(1 << 26)
    for _ in range(1_024):
        assert reader.feed(piece) == []
    (line,) = reader.feed(b"\n")
    assert len(line.data) == 1 << 26
