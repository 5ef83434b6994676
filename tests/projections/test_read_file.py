"""Pages of files: every line once, in order, in both dialects, whatever the limits."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from projecting import DEFAULTS, SMALLEST, model, normalize

from bridge.limits import Limits

lines = st.lists(
    st.text(st.sampled_from('ab \r\x00\x0c\u2028\x85é漢"\\|1'), max_size=30) | st.just("x" * 300),
    max_size=120,
)
files = st.builds(lambda found, end: "\n".join(found) + end, lines, st.sampled_from(["", "\n"]))
small_limits = st.builds(Limits, model_max_bytes=st.integers(2_048, 6_000), model_max_lines=st.integers(20, 60))
drawn = settings(max_examples=60, suppress_health_check=list(HealthCheck))


def source_lines(text):
    found = text.split("\n")
    return found[:-1] if found[-1] == "" else found


def rind_read(text, offset, limit=2_000, **meta):
    """What Rind's read_file gives for a file: a numbered page and where the next one starts."""
    found = source_lines(text)
    page = found[offset - 1 : offset - 1 + limit]
    after = offset + len(page)
    body = "\n".join(f"{offset + at:4d} | {line}" for at, line in enumerate(page))
    data = f"Showing lines {offset} to {after - 1}:\n{body}" if page else ""
    more = after if after <= len(found) else None
    return {
        "ok": True,
        "tool": "read_file",
        "data": data,
        "meta": {
            "path": "a.txt",
            "offset": offset,
            "limit": limit,
            "truncated": bool(more),
            "next_offset": more,
        }
        | meta,
    }


def rows(content):
    body = content["data"].split("\n")[1:]
    return [(int(row[: row.index("|")]), row[row.index("|") + 2 :]) for row in body] if content["data"] else []


@given(text=files, limits=small_limits, limit=st.integers(1, 200))
@drawn
def test_following_next_offset_gives_every_line_of_rinds_pages_once_in_order(text, limits, limit):
    offset, seen = 1, []
    while offset is not None:
        content = model(rind_read(text, offset, limit), "read_file", limits=limits)
        seen += rows(content)
        offset = content["meta"]["next_offset"]
    assert seen == list(enumerate(source_lines(text), 1))


@given(text=files, limits=small_limits)
@drawn
def test_following_next_offset_gives_the_file_in_aethercodex_pages(text, limits):
    offset, seen = 1, ""
    while offset is not None:
        rest = "\n".join(text.split("\n")[offset - 1 :])
        args = {"path": "a.txt", "range": [offset, 10_000]}
        content = model({"content": rest}, "read_file", limits=limits, args=args)
        seen += content["data"]["content"]
        offset = content.get("meta", {}).get("next_offset")
    assert seen == text


def test_1500_lines_read_without_a_range_end_at_a_line_and_say_where_to_go_on():
    text = "".join(f"line {number} of the file, as long as lines are\n" for number in range(1, 1_501))
    content = model({"content": text, "path": "a.rb"}, "read_file")
    shown = content["data"]["content"]
    last = shown.count("\n")
    assert text.startswith(shown)
    assert content["meta"]["next_offset"] == last + 1
    assert content["meta"]["shown"] == {"lines": [[1, last]]}
    assert content["meta"]["continue"] == {
        "tool": "read_file",
        "args": {"path": "a.rb", "range": [last + 1, 1_500]},
    }


def test_a_page_that_is_shown_whole_is_untouched_and_keeps_its_next_offset():
    page = rind_read("a\n" * 50, 1, 10)
    content = model(page, "read_file")
    assert content == {"ok": True, "tool": "read_file", "data": page["data"], "meta": page["meta"]}


@pytest.mark.parametrize("text", ["", "\n", "a", "a\r\nb\r\n", "\x00", "a\u2028b\x0cc\x85d\n"])
def test_what_fits_is_not_altered(text):
    assert model({"content": text}, "read_file")["data"] == {"content": text}


def test_a_page_that_was_spliced_before_it_came_ends_at_its_gap():
    page = rind_read("a\n" * 40, 1)
    head, tail = page["data"].split("\n")[:11], page["data"].split("\n")[31:]
    content = model({**page, "data": "\n".join([*head, "... 20 lines omitted ...", *tail])}, "read_file")
    assert rows(content) == [(number, "a") for number in range(1, 11)]
    assert content["meta"]["next_offset"] == 11
    assert content["data"].startswith("Showing lines 1 to 10:\n")


def test_a_row_that_was_cut_at_its_source_ends_the_page_before_it():
    cut = "x" * 2_000 + "...(truncated:9000)"
    page = rind_read(f"a\nb\n{cut}\nc\n", 1)
    content = model(page, "read_file")
    assert rows(content) == [(1, "a"), (2, "b")]
    assert content["meta"]["next_offset"] == 3
    alone = model(rind_read(f"a\nb\n{cut}\nc\n", 3), "read_file")
    assert (alone["ok"], alone["error_type"]) == (False, "LineTooLong")
    assert "next_offset" not in alone["meta"]


def test_a_first_line_that_is_too_long_says_how_to_read_it():
    content = model({"content": "y" * 675_000 + "\nnext\n", "path": "bundle.js"}, "read_file")
    assert (content["ok"], content["error_type"]) == (False, "LineTooLong")
    assert "perl -CSD -ne 'if ($. == 1) { print substr($_, 0, 2000); last }' -- bundle.js" in content["error"]
    assert "next_offset" not in content["meta"]


def test_a_page_is_never_stored_and_says_that_the_file_is_there():
    made = normalize({"content": "line\n" * 90_000, "path": "a"}, "read_file")
    assert made["output"] == {"reason": "file_on_disk"}


@pytest.mark.parametrize("given_range", [[5, 400], "5..400", "5...401"])
def test_the_range_of_a_cut_page_is_what_it_shows(given_range):
    text = "a line of some length that fills a page\n" * 396
    content = model({"content": text, "path": "a", "range": given_range}, "read_file", limits=SMALLEST)
    last = content["meta"]["next_offset"] - 1
    assert content["data"]["range"] in ([5, last], f"5..{last}")
    assert content["meta"]["continue"]["args"]["range"] == [last + 1, 400]


def test_escapes_in_a_file_are_not_cleaned():
    text = "\x1b[31mred\x1b[0m\rover\b\n"
    assert model({"content": text}, "read_file")["data"]["content"] == text


def test_lines_of_a_page_are_bounded_by_the_limit_of_lines():
    content = model(rind_read("a\n" * 5_000, 1, 5_000), "read_file", limits=DEFAULTS.replace({"model_max_lines": 100}))
    assert content["data"].count("\n") + 1 <= 100
    assert re.match(r"Showing lines 1 to \d+:\n", content["data"])
