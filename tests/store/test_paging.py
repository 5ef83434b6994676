"""Pages of stored outputs: joined they are the file, whatever it holds and whatever the limits are."""

from __future__ import annotations

import os

import orjson
import pytest
import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.limits import Limits
from bridge.protocol.errors import InvalidParams
from bridge.store import paging
from bridge.store.outputs import Outputs

SMALLEST_PAGE = 2_048

# Whatever makes lines, clusters, escapes and sequences of different lengths meet at the edge of a page.
AWKWARD = st.sampled_from(
    [
        "\n",
        "\r\n",
        "\r",
        "\u2028",
        "\x85",
        "\x00",
        "\x1b[31m",
        '"',
        "\\",
        "é",
        "e\u0301",
        "🇩🇪",
        "👨‍👩‍👧",
        "\ufffd",
        "क्षि",
    ]
)
FRAGMENT = st.one_of(st.text(max_size=30), AWKWARD, st.builds(str.__mul__, AWKWARD, st.integers(1, 400)))
TEXT = st.lists(FRAGMENT, max_size=40).map("".join)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


_numbers = iter(range(10**9))


def stored(home, content, **limits):
    outputs = Outputs(home, Limits(**limits))
    call_id = f"call-{next(_numbers)}"
    reference = outputs.store("session", call_id, content)
    assert reference["bytes"] == len(content)
    return outputs, call_id


def every_page(outputs, call_id, limit=2_000):
    offset, column = 1, 1
    while offset is not None:
        page = outputs.read("session", call_id, offset, column, limit)
        yield page
        assert page["content"] or page["next_offset"] is None, "a page that shows nothing must be the last"
        offset, column = page["next_offset"], page["next_column"]


def joined(outputs, call_id, limit=2_000):
    return "".join(page["content"] for page in every_page(outputs, call_id, limit)).encode()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXT, limit=st.integers(1, 60), size=st.integers(SMALLEST_PAGE, 4_000))
def test_the_pages_joined_are_the_file(home, text, limit, size):
    outputs, call_id = stored(home, text.encode(), model_max_bytes=size)
    shown = list(every_page(outputs, call_id, limit))
    assert "".join(page["content"] for page in shown) == text
    for page in shown:
        assert len(orjson.dumps(page)) <= size
        assert page["lines"] <= limit
        assert page["total_bytes"] == len(text.encode())
        assert page["total_lines"] == text.count("\n") + (not text.endswith("\n") and text != "")


def test_the_longest_names_leave_room_for_the_content_within_the_smallest_page(tmp_path):
    home = tmp_path.joinpath(*["folder" * 20] * 20)
    outputs = Outputs(home, Limits(model_max_bytes=SMALLEST_PAGE, output_file_max_bytes=4_096))
    name = "n" * 128
    assert outputs.store(name, name, b"x" * 9_000)["partial"]
    page = outputs.read(name, name)
    assert len(orjson.dumps(page)) <= SMALLEST_PAGE
    assert len(page["content"]) > 1_000
    assert page["path"] is None


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXT, size=st.integers(SMALLEST_PAGE, 3_000))
def test_a_page_ends_at_a_line_end_or_between_two_grapheme_clusters(home, text, size):
    outputs, call_id = stored(home, text.encode(), model_max_bytes=size)
    boundaries = {cluster.start() for cluster in regex.finditer(r"\X", text)} | {len(text)}
    place = 0
    for page in every_page(outputs, call_id):
        place += len(page["content"])
        longest = max((len(cluster) for cluster in regex.findall(r"\X", page["content"])), default=0)
        assert place in boundaries or longest == len(page["content"])


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.lists(st.one_of(st.binary(max_size=200), AWKWARD.map(str.encode)), max_size=30).map(b"".join))
def test_bytes_that_are_not_utf8_are_shown_as_replacements_and_counted(home, content):
    outputs, call_id = stored(home, content, model_max_bytes=SMALLEST_PAGE)
    expected = content.decode("utf-8", "surrogateescape")
    shown = list(every_page(outputs, call_id, limit=7))
    text = "".join(page["content"] for page in shown)
    assert len(text) == len(expected)
    assert all(b in (a, "\ufffd") for a, b in zip(expected, text, strict=True))
    assert sum(page["replaced"] for page in shown) == sum("\udc80" <= c <= "\udcff" for c in expected)


@pytest.mark.parametrize("text", ["", "\n", "no end", "a\nb", "\n\n\n", "\r", "\r\n", "\ufeffbom\n"])
def test_small_files_are_one_page(home, text):
    outputs, call_id = stored(home, text.encode())
    page = outputs.read("session", call_id)
    assert page["content"] == text
    assert (page["next_offset"], page["next_column"]) == (None, None)
    assert page["lines"] == page["total_lines"] == text.count("\n") + (not text.endswith("\n") and text != "")


def test_one_line_of_ten_megabytes_is_paged_by_columns(home):
    text = "0123456789é" * 900_000
    outputs, call_id = stored(home, text.encode())
    shown = list(every_page(outputs, call_id))
    assert "".join(page["content"] for page in shown) == text
    assert {page["offset"] for page in shown} == {1}
    assert {page["lines"] for page in shown} == {1}


def test_a_page_after_the_rest_of_a_long_line_goes_on_with_whole_lines(home):
    outputs, call_id = stored(home, b"x" * 3_000 + b"\nsecond\nthird\n", model_max_bytes=SMALLEST_PAGE)
    first, second = every_page(outputs, call_id)
    assert (first["next_offset"], first["next_column"]) == (1, len(first["content"]) + 1)
    assert second["content"].endswith("x\nsecond\nthird\n")
    assert second["lines"] == 3


def test_lines_are_counted_to_the_limit_and_not_beyond(home):
    outputs, call_id = stored(home, b"1\n2\n3\n4\n5")
    page = outputs.read("session", call_id, offset=2, limit=2)
    assert (page["content"], page["lines"], page["next_offset"]) == ("2\n3\n", 2, 4)
    assert joined(outputs, call_id, limit=1) == b"1\n2\n3\n4\n5"


@pytest.mark.parametrize("lines", [1, 999, 70_000, 300_000])
def test_any_line_of_a_long_file_is_found_through_the_index(home, lines):
    content = "".join(f"{number}\n" for number in range(1, lines + 1)).encode()
    outputs, call_id = stored(home, content)
    for line in {1, lines // 3 + 1, lines // 2 + 1, lines}:
        assert outputs.read("session", call_id, offset=line, limit=1)["content"] == f"{line}\n"


def test_a_page_deep_in_a_file_reads_one_block_and_itself(home, monkeypatch):
    outputs, call_id = stored(home, b"a line of text\n" * 600_000)
    outputs.read("session", call_id)
    read, pread = [], os.pread
    monkeypatch.setattr(os, "pread", lambda *place: read.append(pread(*place)) or read[-1])
    assert outputs.read("session", call_id, offset=599_000, limit=3)["content"] == "a line of text\n" * 3
    assert sum(map(len, read)) < paging.STRIDE + Limits().model_max_bytes + 100


def test_an_index_takes_24_bytes_for_64_kib(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"line\n" * 400_000)
    with path.open("rb") as file:
        index = paging.build_index(file.fileno())
    assert index.total_lines == 400_000
    assert len(index.offsets) <= 2_000_000 // paging.STRIDE + 2


@pytest.mark.parametrize(
    ("place", "field", "why"),
    [
        ({"offset": 4}, "offset", "the output has 3 lines"),
        ({"offset": 10**30}, "offset", "the output has 3 lines"),
        ({"offset": 2, "column": 5}, "column", "line 2 ends before this column"),
        ({"column": 10**30}, "column", "line 1 ends before this column"),
        ({"offset": 0}, "offset", "a whole number, at least 1"),
        ({"column": -1}, "column", "a whole number, at least 1"),
        ({"limit": True}, "limit", "a whole number, at least 1"),
        ({"limit": 1.0}, "limit", "a whole number, at least 1"),
    ],
)
def test_a_place_that_is_not_there_is_refused_with_what_is_wrong(home, place, field, why):
    outputs, call_id = stored(home, b"one\ntwo\nthree")
    with pytest.raises(InvalidParams) as caught:
        outputs.read("session", call_id, **place)
    assert caught.value.data == {"fields": {field: why}}


def test_a_limit_beyond_any_file_is_no_limit(home):
    outputs, call_id = stored(home, b"one\ntwo\n")
    assert outputs.read("session", call_id, limit=10**30)["content"] == "one\ntwo\n"
