"""What users of agents complain of, each with what they would want to be true instead.

The store is a real one, in a folder of the test's own, so that "it is on disk" is proved by reading it there.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import random
import re
import struct
import subprocess
import zlib
from pathlib import Path

import pytest
from reading import check_excerpt, contents, place

from bridge.limits import Limits
from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.settings import Settings
from bridge.store.outputs import Outputs

LIMITS = Limits()


@pytest.fixture
def finish(tmp_path):
    """Finish calls of one session, and check the limits of both contents of each."""
    outputs = Outputs(tmp_path / "home", LIMITS)
    normalizer = Normalizer(Settings(home=tmp_path / "home", payload_texts=True), outputs)
    numbers = itertools.count()

    def finish_one(result, name="run_command", **call):
        given = ToolCall(result=result, name=name, session_id="s", call_id=f"c{next(numbers)}", **call)
        made = normalizer.normalize(given)
        assert len(made["model_content"].encode()) <= LIMITS.model_max_bytes
        assert len(made["terminal_content"].encode()) <= LIMITS.terminal_max_bytes
        return made

    finish_one.outputs = outputs
    return finish_one


def stored(made):
    return Path(made["output"]["path"]).read_bytes()


def losses(made):
    return made["model_content_policy"]["losses"]


# 1,500 lines read without a range

LINES = [f"line {number} of a source file with some words in it\n" for number in range(1, 1_501)]


def ranged_page(first):
    """Answer as ÆtherCodex does: the text from ``first`` on, and where it stands."""
    return {
        "content": "".join(LINES[first - 1 :]),
        "path": "a.py",
        "range": [first, 1_500],
    }, lambda text: text


def numbered_page(first):
    """Answer as Rind does: rows with their numbers under a head line."""
    rows = "\n".join(f"{number:>5} | {LINES[number - 1][:-1]}" for number in range(first, 1_501))
    page = {"ok": True, "tool": "read_file", "data": f"Showing lines {first} to 1500:\n{rows}"}
    return page, lambda text: re.sub(r"(?m)^ *\d+ \| ", "", text.partition("\n")[2].rstrip("\n") + "\n")


@pytest.mark.parametrize(("tool", "expected_pages"), [(ranged_page, 3), (numbered_page, 4)])
def test_1500_lines_read_without_a_range_come_page_by_page_each_line_once(finish, tool, expected_pages):
    read, pages, first = "", 0, 1
    while first is not None:
        page, plain = tool(first)
        made = finish(page, "read_file", args={"path": "a.py"})
        content = json.loads(made["model_content"])
        data, meta = content["data"], content.get("meta", {})
        read += plain(data["content"] if isinstance(data, dict) else data)
        pages += 1
        following = meta.get("next_offset")
        if following is not None:
            assert meta["shown"] == {"lines": [[first, following - 1]]}
            assert meta["continue"]["tool"] == "read_file"
            assert meta["continue"]["args"]["path"] == "a.py"
            assert following > first
        first = following
    assert read == "".join(LINES)
    assert pages == expected_pages


def test_1500_lines_read_without_a_range_end_at_the_end_of_a_line_for_the_person_too(finish):
    shown = json.loads(finish(ranged_page(1)[0], "read_file")["terminal_content"])
    last = shown["meta"]["next_offset"] - 1
    assert shown["data"]["content"] == "".join(LINES[:last])
    assert shown["data"]["range"] == [1, last]


def test_a_file_that_was_read_is_never_written_to_disk_a_second_time(finish):
    made = finish(ranged_page(1)[0], "read_file")
    assert made["output"] == {"reason": "file_on_disk"}
    assert losses(made)[0]["lines"] == 1_500 - (json.loads(made["model_content"])["meta"]["next_offset"] - 1)


# A build log whose only error is in the middle

ERROR = "src/deep/thing.c:41:9: error: use of undeclared identifier 'widht'"
STEPS = [f"[{step}/9000] compiling module_{step}.c" for step in range(9_000)]
BUILD_LOG = "".join(f"{line}\n" for line in [*STEPS[:4_500], ERROR, *STEPS[4_500:]])


def test_a_build_log_whose_only_error_is_in_the_middle_shows_it_with_its_line_number(finish):
    made = finish({"result": BUILD_LOG, "exit_status": 2, "cwd": "/w"})
    for content in contents(made):
        parts = check_excerpt(content["data"]["result"], BUILD_LOG, content["meta"])
        assert parts.lines[4_501] == ERROR
        assert ERROR not in parts.head + parts.tail
        assert place(content["meta"]) == made["output"]["path"]
        assert (content["data"]["exit_status"], content["data"]["cwd"]) == (2, "/w")
    assert stored(made) == BUILD_LOG.encode()


def test_a_build_log_can_be_read_on_from_where_the_model_s_text_breaks_off(finish):
    made = finish({"result": BUILD_LOG, "exit_status": 2})
    offset = json.loads(made["model_content"])["meta"]["continue"]["args"]["offset"]
    page = finish.outputs.read("s", "c0", offset=offset, limit=3)
    assert page["content"] == "".join(BUILD_LOG.splitlines(keepends=True)[offset - 1 : offset + 2])


def test_a_tool_that_the_agent_does_not_have_is_never_recommended(tmp_path):
    settings = Settings(home=tmp_path, read_tool="")
    made = Normalizer(settings, Outputs(tmp_path, LIMITS)).normalize(
        ToolCall(result=BUILD_LOG, name="make", session_id="s", call_id="c")
    )
    meta = json.loads(made["model_content"])["meta"]
    assert "continue" not in meta
    assert meta["output"]["path"] == made["output"]["path"]


# 8,000 rows of {"row": "value"}


@pytest.mark.parametrize("nested", [False, True])
def test_8000_rows_stay_a_list_of_rows_that_says_how_many_are_missing(finish, nested):
    rows = [{"row": "value"}] * 8_000
    made = finish({"rows": rows, "total": 8_000} if nested else rows, "query")
    for content in contents(made):
        data = content["data"]
        shown = data["rows"] if nested else data
        markers = [item for item in shown if not isinstance(item, dict)]
        assert all(item == {"row": "value"} for item in shown if isinstance(item, dict))
        assert markers == [f"[... {8_001 - len(shown)} items not shown ...]"]
        assert not nested or data["total"] == 8_000
        assert content["meta"]["shortened"]["items"] == 8_001 - len(shown)
        assert place(content["meta"]) == made["output"]["path"]
    assert json.loads(stored(made)) == ({"rows": rows, "total": 8_000} if nested else rows)


def test_8000_rows_are_as_many_as_fit_not_a_handful(finish):
    made = finish([{"row": "value"}] * 8_000, "query")
    assert len(made["model_content"]) > LIMITS.model_max_bytes * 0.9


def test_the_rows_that_are_not_shown_count_as_bytes_that_were_lost(finish):
    made = finish([{"row": "value"}] * 8_000, "query")
    shown = len(json.loads(made["model_content"])["data"]) - 1
    (loss,) = losses(made)
    row = len('{"row":"value"}')
    assert loss["items"] == 8_000 - shown
    assert loss["items"] * row <= loss["bytes"] <= loss["items"] * (row + 1)


# 5 lines of 20,000 characters

LONG_LINES = "".join(letter * 20_000 + "\n" for letter in "abcde")


def test_5_lines_of_20000_characters_say_which_parts_of_which_lines_are_shown(finish):
    made = finish(LONG_LINES, "grep")
    for content in contents(made):
        parts = check_excerpt(content["data"], LONG_LINES, content["meta"])
        assert "line 1 after its first" in parts.missing
        assert "line 5 before its last" in parts.missing
        assert set(parts.head) == {"a"}
    assert stored(made) == LONG_LINES.encode()


def test_5_lines_of_20000_characters_can_be_read_whole_line_by_line(finish):
    lines, first = LONG_LINES.splitlines(keepends=True), 1
    read = []
    while first is not None:
        page = {"content": "".join(lines[first - 1 :]), "range": [first, 5]}
        content = json.loads(finish(page, "read_file", args={"path": "a.txt"})["model_content"])
        read.append(content["data"]["content"])
        first = content.get("meta", {}).get("next_offset")
    assert read == lines


def test_a_long_line_of_a_stored_output_can_be_read_by_columns(finish):
    finish(LONG_LINES, "grep")
    read, column = "", 1
    while column is not None:
        page = finish.outputs.read("s", "c0", offset=3, column=column, limit=1)
        read += page["content"]
        column = page.get("next_column") if page.get("next_offset") == 3 else None
    assert read in ("c" * 20_000, "c" * 20_000 + "\n")


# 41,208 carriage returns in one line


def test_41208_carriage_returns_become_the_line_that_a_terminal_would_show_at_last(finish):
    log = "".join(f"\rreceived {number} of 41208" for number in range(1, 41_209)) + "\ndone\n"
    made = finish({"result": log, "exit_status": 0})
    content = json.loads(made["model_content"])
    assert content["data"] == {"result": "received 41208 of 41208\ndone\n", "exit_status": 0}
    assert content["meta"]["cleaned"]["overwritten"] == len(log) - 41_208 - len(content["data"]["result"])
    assert made["model_content_policy"]["cleaned"] == content["meta"]["cleaned"]
    assert made["model_content_policy"]["truncated"] is False
    assert stored(made) == log.encode()


# A 675 KB line

MINIFIED = "".join(f"function f{number}(a){{return a+{number}}};" for number in range(20_000))[:675_000]


def test_a_675_kb_line_is_cut_by_characters_and_says_so(finish):
    made = finish({"result": MINIFIED, "exit_status": 0})
    for content in contents(made):
        parts = check_excerpt(content["data"]["result"], MINIFIED, content["meta"])
        assert content["meta"]["shown"]["lines"] == []
        assert f"line 1 after its first {len(parts.head)} characters" in parts.missing
        assert f"line 1 before its last {len(parts.tail)} characters" in parts.missing
    assert stored(made) == MINIFIED.encode()


def test_a_675_kb_line_of_a_file_is_an_error_that_says_how_to_read_it(finish, tmp_path):
    file = tmp_path / "it's minified.js"
    file.write_text(MINIFIED)
    made = finish({"content": MINIFIED, "path": str(file)}, "read_file")
    for content in contents(made):
        assert content["ok"] is False
        assert content["error_type"] == "LineTooLong"
        assert "next_offset" not in content["meta"]
        command = content["error"].partition("for example: ")[2]
        shown = subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
        assert shown.rstrip("\n") == MINIFIED[:2_000]


# 16,000 CJK characters

CHINESE = "".join(chr(0x4E00 + number % 20_000) for number in range(16_000))


def test_16000_cjk_characters_are_bounded_in_bytes_and_cut_between_characters(finish):
    made = finish({"result": CHINESE, "exit_status": 0})
    for content in contents(made):
        parts = check_excerpt(content["data"]["result"], CHINESE, content["meta"])
        assert len(parts.head) + len(parts.tail) + parts.lost // 3 == 16_000
    assert len(made["model_content"].encode()) > LIMITS.model_max_bytes * 0.9
    assert "\\u4e" not in made["model_content"]


# A 2 MB PNG in a content block


def png(size):
    """Return a real picture of about ``size`` bytes (PNG specification, section 5)."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    side = int(size**0.5)
    noise = random.Random(7).randbytes(side * side)
    rows = b"".join(b"\0" + noise[row * side : (row + 1) * side] for row in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def test_a_2_mb_png_in_a_content_block_becomes_a_file_and_no_text(finish):
    picture = png(2_000_000)
    encoded = base64.b64encode(picture).decode()
    blocks = [{"type": "text", "text": "seen"}, {"type": "image", "data": encoded, "mimeType": "image/png"}]
    made = finish({"content": blocks}, "screenshot")
    (attachment,) = made["attachments"]
    assert attachment["mime_type"] == "image/png"
    assert (attachment["bytes"], attachment["sha256"]) == (len(picture), hashlib.sha256(picture).hexdigest())
    assert Path(attachment["path"]).read_bytes() == picture
    for content in contents(made):
        seen, image = content["data"]["content"]
        assert seen == {"type": "text", "text": "seen"}
        assert image["data"] == f"[attachment 1: image/png, {len(picture)} bytes]"
    assert encoded[1_000:1_040] not in made["model_content"] + made["terminal_content"]
    assert made["model_content_policy"]["truncated"] is False


def test_a_2_mb_png_that_cannot_be_kept_is_still_handed_over_whole(tmp_path):
    picture = png(2_000_000)
    block = {"type": "image", "data": base64.b64encode(picture).decode(), "mimeType": "image/png"}
    made = Normalizer(Settings(home=tmp_path)).normalize(ToolCall(result={"content": [block]}, name="screenshot"))
    (attachment,) = made["attachments"]
    assert base64.b64decode(attachment["data"]) == picture
    assert attachment["reason"] == "no_ids"


# "\e[?1049h" in a command's output


@pytest.mark.parametrize("switch", ["\x1b[?1049h", "\x1b[?104"])
def test_a_switch_to_the_alternate_screen_is_taken_out_of_the_model_s_text_and_kept_on_disk(finish, switch):
    log = f"before{switch}\nafter\n"
    made = finish({"result": log, "exit_status": 0})
    model, _ = contents(made)
    assert model["data"]["result"] == "before\nafter\n"
    assert model["meta"]["cleaned"] == {"escapes": 1}
    assert json.loads(stored(made))["result"] == log


def test_a_switch_to_the_alternate_screen_is_never_a_raw_byte_of_a_content(finish):
    made = finish({"result": "before\x1b[?1049hafter", "exit_status": 0})
    assert "\x1b" not in made["model_content"] + made["terminal_content"]


def test_a_switch_to_the_alternate_screen_in_a_file_that_was_read_is_left_as_it_is(finish):
    text = "tput smcup prints \x1b[?1049h\n"
    for content in contents(finish({"content": text, "path": "notes"}, "read_file")):
        assert content["data"]["content"] == text
        assert "meta" not in content


# An ok: false text of 100 KB

LONG_ERROR = "".join(f"  at frame {number} in module_{number % 97}\n" for number in range(3_000))
FAILURES = {
    "a payload": ({"ok": False, "tool": "bash", "error": LONG_ERROR}, {}),
    "a payload as text": (json.dumps({"ok": False, "tool": "bash", "error": LONG_ERROR}), {}),
    "an object with an error": ({"error": LONG_ERROR, "exit_status": 1}, {}),
    "an object that says ok is false": ({"ok": False, "result": LONG_ERROR}, {}),
    "a text of a call that failed": (LONG_ERROR, {"status": "failed"}),
}


@pytest.mark.parametrize(("result", "call"), FAILURES.values(), ids=FAILURES)
def test_an_error_of_100_kb_stays_an_error_and_shows_its_start_and_its_end(finish, result, call):
    made = finish(result, "bash", **call)
    for content in contents(made):
        assert content["ok"] is False
        text = content["error"] if "error" in content else content["data"]["result"]
        parts = check_excerpt(text, LONG_ERROR, content["meta"])
        assert parts.head.startswith("  at frame 0 ")
        assert parts.tail.endswith("  at frame 2999 in module_89\n")
    assert stored(made) == LONG_ERROR.encode()


# A truncated emoji (lone surrogate)


@pytest.mark.parametrize("half", [chr(0xD83D), chr(0xDC69)], ids=["first", "second"])
@pytest.mark.parametrize("name", ["run_command", "read_file"])
def test_a_truncated_emoji_is_replaced_and_counted_and_whole_ones_stay(finish, half, name):
    made = finish({"content": f"👩 and half of one: {half}"}, name)
    for content in contents(made):
        assert content["data"]["content"] == "👩 and half of one: �"
        assert content["meta"]["replaced"] == {"surrogates": 1}
    assert not re.search("[\ud800-\udfff]", made["model_content"] + made["terminal_content"])
    assert made["model_content_policy"]["replaced"] == {"surrogates": 1}


def test_a_truncated_emoji_in_a_long_text_is_not_passed_to_the_disk_either(finish):
    made = finish("word \ud83d " * 10_000)
    assert stored(made).decode() == "word � " * 10_000
