"""Results made to hurt: each is bounded, parses, and says what it leaves out, at default and smallest limits.

Nothing is timed. The sizes are such that an algorithm whose cost grows faster than its input would not end
within the life of a test run.
"""

from __future__ import annotations

import json

import pytest
from memory_store import MemoryOutputs
from projecting import DEFAULTS, IDS, SMALLEST, normalize
from reading import check_excerpt

MILLION = 1_000_000
LIMITS = pytest.mark.parametrize("limits", [DEFAULTS, SMALLEST], ids=["defaults", "smallest"])


def finish(result, name="run_command", limits=DEFAULTS, **call):
    """Finish a call with a store; ``projecting.normalize`` checks both contents against ``limits``."""
    made = normalize(result, name, limits=limits, outputs=MemoryOutputs(), **IDS, **call)
    return made, json.loads(made["model_content"])


def check_account(made, content):
    """A content that is not the whole says so, and its policy says how much is gone and where it is."""
    policy, meta = made["model_content_policy"], content.get("meta", {})
    assert policy["truncated"] == bool(policy["losses"])
    for loss in policy["losses"]:
        assert loss["recover"] == made["output"]["path"]
        if "what" in loss:
            assert meta["withheld"] == loss["fields"]
        else:
            assert loss["bytes"] > 0
            assert meta["truncated_by"] == ["bridge"]


# Texts that a terminal acts upon: what is shown at last, and what was taken away

ACTED_UPON = {
    "strings that never end": ("\x1b]" * MILLION, "", {"escapes": MILLION}),
    "sequences that never end": ("\x1b[" * MILLION, "", {"escapes": MILLION}),
    "one sequence of a million parameters": ("a\x1b[" + "1;" * MILLION, "a", {"escapes": 1}),
    "one title of a million characters": ("a\x1b]" + "x" * MILLION + "\a", "a", {"escapes": 1}),
    "device control strings that never end": ("\x1bP" * MILLION, "", {"escapes": MILLION}),
    "escapes alone": ("\x1b" * MILLION, "", {"escapes": MILLION}),
    "NUL": ("a" + "\0" * MILLION, "a", {"controls": MILLION}),
    "a character and a backspace, again and again": ("a\b" * MILLION, "a", {"overwritten": MILLION - 1}),
    "a line that is written over": (
        "x" * 100 + "\rab" * MILLION,
        "ab" + "x" * 98,
        {"overwritten": 2 * MILLION},
    ),
    "erasing to the end": ("abc\r\x1b[K" * (MILLION // 4) + "z", "z", None),
}


@LIMITS
@pytest.mark.parametrize(("text", "shown", "counts"), ACTED_UPON.values(), ids=ACTED_UPON)
def test_a_text_that_a_terminal_acts_upon_is_what_it_shows_at_last(text, shown, counts, limits):
    made, content = finish(text, limits=limits)
    assert content["data"] == shown
    assert counts is None or content["meta"]["cleaned"] == counts
    assert made["output"]["bytes"] == len(text.encode())


@pytest.mark.parametrize("text", ["\b" * MILLION, "\r" * MILLION], ids=["backspaces", "carriage returns"])
def test_movements_alone_show_nothing(text):
    made, content = finish(text)
    assert content["data"] == ""
    assert made["output"]["bytes"] == MILLION


def test_half_a_million_lines_that_are_each_written_over_are_cleaned_and_folded():
    made, content = finish("abc\rdef\n" * (MILLION // 2))
    assert content["data"] == f"def\n[the line above {MILLION // 2 - 1} more times]\n"
    assert made["output"]["bytes"] == 4 * MILLION


# Texts that are hard to cut or to count

HARD_TO_CUT = {
    "one letter with a million marks": "a" + "\u0301" * MILLION,
    "joined emoji without end": "👩\u200d" * (MILLION // 2),
    "flags": "🇩" * MILLION,
    "Hangul letters": "\u1100" * MILLION,
    "emoji": "😀" * MILLION,
    "quotes": '"' * MILLION,
    "backslashes": "\\" * MILLION,
    "backslashes and letters": "\\n" * MILLION,
    "unit separators": "\x1f" * MILLION,
    "line separators that end no line": "\u2028" * MILLION,
    "one line that looks like an error throughout": "error:" * MILLION,
    "lines that all look like errors": "".join(f"error: {number}\n" for number in range(100_000)),
    "empty lines between others": "".join(f"{number}\n\n" for number in range(200_000)),
    "a text that looks like our own marker": "[... not shown: line 1 (1 bytes) ...] " * 100_000,
}


@LIMITS
@pytest.mark.parametrize("text", HARD_TO_CUT.values(), ids=HARD_TO_CUT)
def test_a_text_that_is_hard_to_cut_shows_its_start_and_its_end_and_accounts_for_the_rest(text, limits):
    made, content = finish({"result": text, "exit_status": 1}, limits=limits)
    if "[... not shown" not in text:
        parts = check_excerpt(content["data"]["result"], text, content["meta"])
        # The smallest budget may be too small for what people see as one character, and no end of one is shown.
        assert parts.head or limits is SMALLEST
        assert parts.tail or limits is SMALLEST or text.endswith("\u0301")
    assert content["data"]["exit_status"] == 1
    check_account(made, content)


def test_a_million_equal_lines_are_one_line_and_a_count_that_is_reported():
    made, content = finish("same\n" * MILLION)
    assert content["data"] == f"same\n[the line above {MILLION - 1} more times]\n"
    assert content["meta"]["cleaned"] == {"folded_lines": MILLION - 1}
    assert made["output"]["lines"] == MILLION


# Structures


def nested(depth):
    value = "the bottom"
    for _ in range(depth):
        value = {"down": value, "beside": 1}
    return value


STRUCTURES = {
    "100,000 keys": {f"key {number}": number for number in range(100_000)},
    "100 keys of 10,000 characters": {f"{number}{'k' * 10_000}": number for number in range(100)},
    "a key of a megabyte": {"k" * MILLION: 1, "small": 2},
    "100,000 keys of one text each": {f"{number}": "text " * 20 for number in range(100_000)},
    "a million small lists": [[number] for number in range(MILLION // 4)],
    "50,000 texts": ["text " * 20] * 50_000,
    "lists in lists": [[["x" * 100] * 100] * 100] * 10,
}


@LIMITS
@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_a_large_structure_uses_its_room_and_accounts_for_the_rest(structure, limits):
    made, content = finish(structure, limits=limits)
    assert len(made["model_content"]) > limits.model_max_bytes / 3
    check_account(made, content)


@pytest.mark.parametrize("depth", range(20, 120, 7))
def test_no_depth_makes_a_content_larger_than_its_limit(depth):
    made, _ = finish(nested(depth), limits=SMALLEST)
    assert len(made["model_content"].encode()) <= SMALLEST.model_max_bytes


@pytest.mark.parametrize("name", ["a million small lists", "50,000 texts"])
def test_the_items_that_are_shown_and_those_that_are_not_make_up_the_list(name):
    items = STRUCTURES[name]
    _, content = finish(items)
    (at, marker), *others = [
        (at, item) for at, item in enumerate(content["data"]) if item not in (items[at], items[0], items[-1])
    ][:1]
    missing = int(marker.split()[1])
    assert not others
    assert content["data"][:at] == items[:at]
    assert content["data"][at + 1 :] == items[at + missing :]
    assert len(content["data"]) - 1 + missing == len(items)


@LIMITS
@pytest.mark.parametrize("depth", [200, 5_000])
def test_a_structure_that_is_too_deep_becomes_text_where_it_is_and_says_so(depth, limits):
    made, content = finish(nested(depth), limits=limits)
    assert content["data"]["beside"] == 1
    assert content["meta"]["replaced"] == {"branches": 1}
    assert made["model_content_policy"]["replaced"] == {"branches": 1}


# Everything around the data


@LIMITS
@pytest.mark.parametrize("member", ["tool", "error_type", "meta", "many members of meta"])
def test_whatever_is_huge_around_the_data_gives_way_and_the_data_stays(member, limits):
    huge = {
        "tool": {"tool": "t" * 50_000},
        "error_type": {"error_type": "e" * 50_000},
        "meta": {"meta": {"note": "m" * MILLION}},
        "many members of meta": {"meta": {f"m{number}": "v" * 50 for number in range(50_000)}},
    }[member]
    result = {"ok": False, "tool": "bash", "data": "small", **huge}
    made, content = finish(result, result["tool"], limits=limits)
    assert content["ok"] is False
    assert content["data"] == "small"
    assert content["tool"].startswith("t" if member == "tool" else "bash")
    check_account(made, content)


def test_a_call_with_a_huge_name_and_status_and_type_is_still_a_failure_with_its_text():
    made, content = finish("it broke", "t" * 50_000, status="failed", error_type="e" * 50_000)
    assert (content["ok"], content["error"]) == (False, "it broke")
    check_account(made, content)


def test_a_withheld_diff_with_a_huge_name_does_not_silence_what_else_meta_has_to_say():
    result = {
        "ok": True,
        "k" * 20_000: "@@ -1 +1 @@\n-a\n+b\n",
        "text": "".join(f"{n}\n" for n in range(50_000)),
    }
    made, content = finish(result, "patch_file")
    assert content["data"]["changes"][0]["added"] == 1
    check_account(made, content)


# Pages


def test_a_huge_path_in_the_arguments_does_not_make_a_short_line_too_long():
    _, content = finish("short\n" * 3_000, "read_file", args={"path": "p" * 50_000})
    assert content["ok"] is True
    assert content["data"].startswith("short\nshort\n")


def test_a_line_too_long_is_never_blamed_on_the_tool():
    _, content = finish({"content": "x" * MILLION, "path": "p" * 15_000}, "read_file")
    assert content["error_type"] == "LineTooLong"
    assert "tool" not in content["meta"].get("truncated_by", [])


def test_a_line_that_only_the_model_has_room_for_is_shown_to_the_person_in_part():
    made, content = finish({"content": "x" * 20_000 + "\nshort\n", "path": "a"}, "read_file")
    terminal = json.loads(made["terminal_content"])
    assert content["data"]["content"] == "x" * 20_000 + "\nshort\n"
    assert terminal["ok"] is True
    [cut] = terminal["meta"]["shown"]["cut"]
    left = 20_000 - cut["first_characters"]
    assert terminal["data"]["content"].endswith(f"x… [{left} bytes of this line are not shown]")
    assert len(made["terminal_content"]) <= 8_192


@LIMITS
def test_a_page_of_a_million_empty_lines_goes_on_where_it_ends(limits):
    _, content = finish({"content": "\n" * MILLION, "path": "a"}, "read_file", limits)
    shown = content["data"]["content"].count("\n")
    assert content["data"]["content"] == "\n" * shown
    assert content["meta"]["next_offset"] == shown + 1


@LIMITS
def test_a_numbered_page_with_a_million_gaps_ends_at_the_first(limits):
    rows = "\n".join(f"{number:>6} | x" for number in range(1, 200_000, 2))
    page = {"ok": True, "tool": "read_file", "data": f"Showing lines 1 to 200000:\n{rows}"}
    _, content = finish(page, "read_file", limits)
    assert content["meta"]["next_offset"] == 2


# Media


def test_a_thousand_data_uris_become_one_attachment_when_they_are_equal():
    uri = "data:image/png;base64," + "A" * 4_000
    made, content = finish(f"{uri} " * 1_000)
    assert len(made["attachments"]) == 1
    assert content["data"].count("[attachment 1: image/png, 3000 bytes]") > 1


def test_text_that_only_looks_like_media_is_left_as_it_is():
    text = "data:;base64," * 20_000 + "data:image/png;base64" * 20_000
    made, content = finish(text)
    assert made["attachments"] == []
    check_excerpt(content["data"], text, content["meta"])
