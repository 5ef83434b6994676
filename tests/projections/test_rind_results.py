"""Rind's own results, as Rind's tools send them."""

from __future__ import annotations

import base64
import json

import pytest
from memory_store import MemoryOutputs
from projecting import IDS, SMALLEST, model, normalize

STDOUT = "".join(f"line {number} of the output of a build\n" for number in range(6_000))
COMMAND = "make -j8 " + " ".join(f"target-{number}" for number in range(16))
PNG = base64.b64encode(bytes(range(256)) * 240).decode()


def finish(result, name="bash", **call):
    outputs = MemoryOutputs()
    made = normalize(result, name, outputs=outputs, **IDS, **call)
    return made, json.loads(made["model_content"]), outputs


@pytest.mark.parametrize("name", ["read_file", "view_image"])
def test_an_image_is_never_lost_to_truncation_whatever_the_tool_is_called(name):
    result = {"content": [{"type": "image", "mimeType": "image/png", "data": PNG}], "path": "a.png"}
    made, content, outputs = finish(result, name)
    assert len(made["attachments"]) == 1
    assert outputs.attached == [base64.b64decode(PNG)]
    assert content["data"]["content"][0]["data"] == "[attachment 1: image/png, 61440 bytes]"
    assert len(made["model_content"]) < 300


def test_the_text_of_a_page_keeps_its_data_uris_and_a_block_beside_it_is_lifted():
    text = f"url(data:image/png;base64,{PNG[:400]})\n"
    block = {"type": "image", "mimeType": "image/png", "data": PNG}
    made, content, _ = finish({"content": text, "path": "a.css", "preview": block}, "read_file")
    assert content["data"]["content"] == text
    assert len(made["attachments"]) == 1


WRITTEN_BY_PYTHON = {
    "NaN": '{"ok":false,"tool":"eval","error":"diverged","error_type":"D","meta":{"loss":NaN}}',
    "Infinity": '{"ok":false,"tool":"eval","error":"diverged","error_type":"D","meta":{"loss":-Infinity}}',
    "a lone surrogate": '{"ok":false,"tool":"eval","error":"diverged","error_type":"D","meta":{"loss":"\\ud800"}}',
    "a byte-order mark": '\ufeff{"ok":false,"tool":"eval","error":"diverged","error_type":"D","meta":{"loss":1}}',
    "250 levels": '{"ok":false,"tool":"eval","error":"diverged","error_type":"D","meta":{"loss":%s}}'
    % ("[" * 250 + "]" * 250),
    "5,000 digits": '{"ok":false,"tool":"eval","error":"diverged","error_type":"D","meta":{"loss":%s}}' % ("7" * 5_000),
    "newlines before it": "\n" * 64
    + '{"ok":false,"tool":"eval","error":"diverged","error_type":"D","meta":{"loss":1}}',
}


@pytest.mark.parametrize("text", WRITTEN_BY_PYTHON.values(), ids=WRITTEN_BY_PYTHON)
def test_a_failure_that_python_wrote_as_text_stays_a_failure(text):
    made = normalize(text[:-1] + ',"attachments":[{"path":"/a.png"}]}', "eval", payload_texts=True)
    content = json.loads(made["model_content"], parse_int=str)
    assert (content["ok"], content["error"], content["error_type"]) == (False, "diverged", "D")
    assert "loss" in content["meta"]
    assert made["attachments"] == [{"path": "/a.png"}]


def test_a_long_stream_is_stored_as_text_whatever_stands_beside_it():
    made, content, outputs = finish({"stdout": STDOUT, "exit_code": 1, "command": COMMAND}, "run_command")
    assert len(COMMAND) > 150
    assert outputs.kept == {("s1", "c1"): STDOUT.encode()}
    assert made["output"]["field"] == "stdout"
    arguments = content["meta"]["continue"]["args"]
    assert STDOUT.split("\n")[arguments["offset"] - 1] not in content["data"]["stdout"].split("\n")


def test_two_long_streams_are_stored_each_in_a_place_of_its_own():
    made, content, outputs = finish({"stdout": STDOUT, "stderr": STDOUT[:90_000], "exit_code": 1}, "run_command")
    assert outputs.kept == {("s1", "c1"): STDOUT.encode(), ("s1", "c1", "stderr"): STDOUT[:90_000].encode()}
    assert made["output"]["parts"] == [
        {"part": "stderr", "path": "/home/outputs/s1/c1~stderr.txt", "lines": STDOUT[:90_000].count("\n") + 1}
    ]
    assert content["meta"]["output"]["parts"] == made["output"]["parts"]


def test_what_else_is_cut_beside_a_long_stream_is_stored_as_well():
    rows = [{"row": number} for number in range(3_000)]
    _, _, outputs = finish({"stdout": STDOUT, "rows": rows}, "run_command")
    assert outputs.kept["s1", "c1"] == STDOUT.encode()
    assert json.loads(outputs.kept["s1", "c1", "json"])["rows"] == rows


def test_following_the_continuation_of_a_task_gives_every_line_once():
    data = {
        "task_id": "t1", "status": "exited", "exit_code": 2, "stdout": STDOUT, "stderr": "", "command": COMMAND,
        "cwd": "/app", "start_cursor": 0, "next_cursor": len(STDOUT), "owner_session_id": "s", "notify": True,
    }  # fmt: skip
    _, content, outputs = finish({"ok": True, "tool": "bash", "data": data, "ts": 1.5})
    offset = content["meta"]["continue"]["args"]["offset"]
    shown = STDOUT.split("\n")[: offset - 1]
    assert content["data"]["stdout"].startswith("\n".join(shown))
    assert outputs.kept["s1", "c1"].decode().split("\n")[offset - 1 :] == STDOUT.split("\n")[offset - 1 :]
    assert "next_cursor" not in content["data"]
    assert content["data"]["start_cursor"] == 0
    assert content["meta"]["ts"] == 1.5


def test_the_file_that_the_tool_wrote_is_the_complete_one():
    meta = {"truncated": True, "total_bytes": 9_000_000, "output_path": "/sess/c1.txt"}
    made, content, outputs = finish({"ok": True, "tool": "bash", "data": STDOUT, "meta": meta})
    assert outputs.kept == {}
    assert made["output"] == {"path": "/sess/c1.txt", "bytes": 9_000_000, "kept_by": "tool"}
    assert content["meta"]["output"]["kept_by"] == "tool"
    assert content["meta"]["continue"]["args"]["path"] == "/sess/c1.txt"
    assert {loss["recover"] for loss in made["model_content_policy"]["losses"]} == {"/sess/c1.txt"}


def test_a_tools_file_that_lacks_something_is_not_the_complete_one():
    meta = {"truncated": True, "output_path": "/sess/c1.txt", "output_incomplete": True}
    _, _, outputs = finish({"ok": True, "tool": "bash", "data": STDOUT, "meta": meta})
    assert outputs.kept["s1", "c1"] == STDOUT.encode()


def test_records_that_repeat_the_streams_cost_nothing():
    lines = [f"row {number}\n" for number in range(100)]
    records = [
        {"stream": "stdout", "text": line, "sequence": at, "timestamp": 17e8 + at} for at, line in enumerate(lines)
    ]
    data = {"task_id": "t1", "status": "running", "stdout": "".join(lines), "stderr": "", "next_cursor": 9}
    made, content, _ = finish({"ok": True, "tool": "bash_output", "data": data | {"records": records}}, "bash_output")
    assert content["data"] == data
    assert content["meta"]["withheld"] == ["records"]
    assert len(made["model_content"]) < 1_500


def test_records_that_say_more_than_the_streams_stay():
    data = {"task_id": "t1", "status": "running", "stdout": "a\n", "records": [{"text": "a\n"}, {"text": "b\n"}]}
    assert "records" in model({"ok": True, "tool": "bash", "data": data}, "bash")["data"]


@pytest.mark.parametrize("more", [{}, {"no_new_output": True, "output_error": "disk full"}])
def test_a_silent_result_is_a_poll_only_where_the_tool_says_so(more):
    data = {
        "task_id": "t1",
        "status": "running",
        "stdout": "",
        "stderr": "",
        "cwd": "/x",
        "command": "make",
        "notify": True,
    }
    content = model({"ok": True, "tool": "bash", "data": data | more}, "bash")
    assert content["data"] == data | more


@pytest.mark.parametrize(
    ("members", "position"),
    [
        ({"content": STDOUT, "next_offset": 6_001, "has_more": True}, {"next_offset", "has_more"}),
        ({"items": [{"n": number} for number in range(9_000)], "next_page_token": "p2"}, {"next_page_token"}),
        ({"items": [{"n": number} for number in range(9_000)], "nextCursor": "c2"}, {"nextCursor"}),
        ({"page": {"rows": [1] * 30_000}, "end_cursor": "c2"}, {"end_cursor"}),
    ],
)
def test_a_position_behind_what_is_not_shown_is_withheld(members, position):
    content = model(members, "fetch_page")
    assert not position & content["data"].keys()
    assert set(content["meta"]["withheld"]) == position


def test_a_position_stays_where_only_the_request_was_shortened():
    assert model({"content": "a", "query": "q" * 90_000, "next_offset": 2}, "search")["data"]["next_offset"] == 2


def test_a_page_that_names_its_next_offset_lies_on_the_disk():
    page = {"ok": True, "tool": "read_file", "data": "   1 | a\n", "meta": {"next_offset": 2, "truncated": True}}
    made, _, _ = finish(page, "read_file")
    assert made["model_content_policy"]["losses"] == [{"at": "tool", "recover": "file_on_disk"}]


def test_a_shortened_page_does_not_keep_the_limit_of_the_whole_one():
    rows = "\n".join(f"{number:>5} | {'x' * 90}" for number in range(1, 1_001))
    page = {"ok": True, "tool": "read_file", "data": rows, "meta": {"path": "a", "limit": 1_000, "offset": 1}}
    content = model(page, "read_file", limits=SMALLEST)
    assert "limit" not in content["meta"]
    assert content["meta"]["next_offset"] == content["meta"]["shown"]["lines"][0][1] + 1


def test_a_line_that_is_too_long_names_the_next_one_and_a_command_that_splits_no_character():
    content = model({"content": "é" * 30_000 + "\nnext\n", "path": "a b.js"}, "read_file")
    assert content["error_type"] == "LineTooLong"
    assert "perl -CSD" in content["error"]
    assert "Line 2 is the next one" in content["error"]


def test_an_integer_of_any_length_stays_a_number():
    content = model({"n": int("9" * 4_000)}, "query")
    assert content["data"]["n"] == int("9" * 4_000)


@pytest.mark.parametrize("offset", [2**64 - 1, 10**3_000, -5, True, 1.5, "x"])
@pytest.mark.parametrize("span", ["1" + " " * 1_300 + "x", "9" * 5_000, [10**3_000, 5], "1..3", None])
def test_no_offset_and_no_range_makes_it_raise(offset, span):
    page = {"content": STDOUT, "path": "a", "offset": offset, "range": span}
    for result in (page, f"Showing lines 1 to {10**40}:\n{10**40} | x\n"):
        assert model(result, "read_file")["tool"] == "read_file"
