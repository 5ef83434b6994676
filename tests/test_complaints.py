"""What users of other agents complain of, by their complaints. Pages of files have theirs beside their kind."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path

import pytest
from memory_store import MemoryOutputs
from projecting import IDS, model, normalize, terminal

LOGS = Path(__file__).parent / "fixtures" / "logs"
MARKER = re.compile(r"\[\.\.\. not shown: (.*) \((\d+) bytes\)(?:; (.*))? \.\.\.\]\n")


def test_the_only_error_of_a_build_log_is_in_its_middle():
    lines = [f"compiling module {number} of the library" for number in range(9_000)]
    lines[4_321] = "src/core.c:17:4: error: expected ';' before '}' token"
    content = model("\n".join(lines))
    assert f"4322: {lines[4_321]}\n" in content["data"]
    assert content["meta"]["shown"]["highlights"] == 1


@pytest.mark.parametrize(
    ("log", "deciding"),
    [
        ("cargo", "error[E0308]: mismatched types"),
        ("npm", "Error: Cannot find module './missing-module'"),
        ("pip", "error: ‘missing_name’ undeclared (first use in this function)"),
        ("pytest", "test_sample.py::test_that_squares_are_positive[450] FAILED"),
        ("ruby", 'invalid value for Integer(): "twelve" (ArgumentError)'),
        ("swift", "error: cannot convert return expression of type 'String' to return type 'Int'"),
    ],
)
def test_the_deciding_line_of_a_real_log_is_in_the_models_text(log, deciding):
    """The logs come from fixtures/logs/make.sh; a shell's object has the same as its plain text."""
    text = (LOGS / f"{log}.log").read_text()
    assert deciding in model(text)["data"]
    assert deciding in model({"result": text, "exit_status": 1, "cwd": "/work"})["data"]["result"]


def test_8000_rows_lose_their_middle_with_a_count():
    rows = [{"row": "value"}] * 8_000
    content = model(rows)
    (note,) = [item for item in content["data"] if isinstance(item, str)]
    hidden = int(note.split()[1])
    assert note == f"[... {hidden} items not shown ...]"
    assert len(content["data"]) - 1 + hidden == 8_000
    assert content["meta"]["shortened"] == {"fields": ["data"], "items": hidden}


def test_five_lines_of_20000_characters_are_cut_inside_lines_and_say_so():
    lines = [letter * 20_000 for letter in "abcde"]
    content = model("\n".join(lines))
    missing = MARKER.search(content["data"]).group(1)
    cut = content["meta"]["shown"]["cut"]
    assert cut[0]["line"] == 1
    assert cut[1]["line"] == 5
    assert missing.startswith(
        f"line 1 after its first {cut[0]['first_characters']} characters, lines 2 to 4 of 5"
    )
    assert content["data"].startswith("a" * cut[0]["first_characters"] + "\n[...")


def test_41208_carriage_returns_become_what_the_terminal_showed_at_last():
    progress = "".join(f"\rdownloaded {number} of 41208" for number in range(1, 41_209))
    content = model(f"start{progress}\ndone\n")
    assert content["data"] == "downloaded 41208 of 41208\ndone\n"
    assert content["meta"]["cleaned"]["overwritten"] > 900_000


def test_a_line_of_675_kb_is_shown_from_both_ends():
    data = model("<" + "x" * 675_000 + ">")["data"]
    assert data.startswith("<xxx")
    assert data.endswith("xxx>")
    assert MARKER.search(data)


def test_16000_chinese_characters_are_counted_in_bytes():
    text = "漢字" * 8_000
    content = model(text)
    head, tail = MARKER.split(content["data"])[0], MARKER.split(content["data"])[-1]
    lost = int(MARKER.search(content["data"]).group(2))
    assert text.startswith(head.rstrip("\n"))
    assert text.endswith(tail)
    assert len(head.rstrip("\n").encode()) + len(tail.encode()) + lost == 48_000


def test_a_png_of_2_mb_is_an_attachment_and_never_text():
    png = b"\x89PNG\r\n\x1a\n" + os.urandom(2_000_000)
    blocks = [
        {"type": "text", "text": "the screen"},
        {"type": "image", "data": base64.b64encode(png).decode(), "mimeType": "image/png"},
    ]
    outputs = MemoryOutputs()
    made = normalize({"content": blocks}, "screenshot", outputs=outputs, **IDS)
    (attachment,) = made["attachments"]
    assert outputs.attached == [png]
    assert (attachment["type"], attachment["mime_type"], attachment["bytes"]) == (
        "image",
        "image/png",
        len(png),
    )
    assert attachment["path"] == "/home/outputs/s1/c1.1"
    shown = json.loads(made["model_content"])["data"]["content"]
    assert shown[0] == blocks[0]
    assert shown[1]["data"] == f"[attachment 1: image/png, {len(png)} bytes]"


def test_the_alternate_screen_of_a_command_does_not_reach_the_model():
    content = model("\x1b[?1049h\x1b[2Jtop\x1b[?1049l\n")
    assert content["data"] == "top\n"
    assert content["meta"]["cleaned"] == {"escapes": 3}


def test_a_failure_of_100_kb_stays_a_failure():
    for side in (model, terminal):
        content = side({"ok": False, "tool": "bash", "error": "it failed here\n" * 7_000})
        assert content["ok"] is False
        assert content["error"].startswith("it failed here\n")


def test_a_truncated_emoji_is_replaced_and_told():
    content = model({"result": "half \ud83d", "exit_status": 0})
    assert content["data"]["result"] == "half \ufffd"
    assert content["meta"]["replaced"] == {"surrogates": 1}


def test_the_marker_says_how_much_is_missing_and_where_it_is():
    text = "".join(f"line {number}\n" for number in range(1, 20_001))
    outputs = MemoryOutputs()
    content = json.loads(normalize(text, outputs=outputs, **IDS)["model_content"])
    (first, last), (again, end) = content["meta"]["shown"]["lines"]
    missing, lost, where = MARKER.search(content["data"]).groups()
    assert (first, end) == (1, 20_000)
    assert missing == f"lines {last + 1} to {again - 1} of 20000"
    assert int(lost) == sum(len(f"line {number}\n") for number in range(last + 1, again))
    assert where == "complete output: /home/outputs/s1/c1.txt"
    assert outputs.kept["s1", "c1"] == text.encode()
    reading_on = {"path": "/home/outputs/s1/c1.txt", "offset": last + 1}
    assert content["meta"]["continue"] == {"tool": "read_file", "args": reading_on}


def test_a_tool_that_the_agent_does_not_have_is_not_recommended():
    made = normalize("line\n" * 20_000, outputs=MemoryOutputs(), read_tool="", **IDS)
    meta = json.loads(made["model_content"])["meta"]
    assert "continue" not in meta
    assert meta["output"]["path"] == "/home/outputs/s1/c1.txt"


def test_runs_of_equal_lines_are_folded_and_the_numbers_stay_those_of_the_file():
    text = "start\n" + "waiting for the lock\n" * 9_000 + "".join(f"step {n}\n" for n in range(9_000))
    content = model(text)
    assert content["data"].startswith(
        "start\nwaiting for the lock\n[the line above 8999 more times]\nstep 0\n"
    )
    assert content["meta"]["cleaned"] == {"folded_lines": 8_999}
    assert content["meta"]["shown"]["of"] == 18_001
    assert content["meta"]["shown"]["lines"][1][1] == 18_001


def test_what_the_tool_cut_stays_visible_beside_what_was_cut_here():
    result = {
        "ok": True,
        "tool": "grep",
        "data": "".join(f"row {n}\n" for n in range(9_000)),
        "meta": {"truncated": True},
    }
    made = normalize(result, "grep")
    meta = json.loads(made["model_content"])["meta"]
    assert (meta["truncated"], meta["truncated_by"]) == (True, ["tool", "bridge"])
    assert [loss["at"] for loss in made["model_content_policy"]["losses"]] == ["tool", "bridge"]
