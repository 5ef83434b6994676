"""A text that is cut says how much is missing, where it is, and who cut it."""

from __future__ import annotations

import json
import re

from memory_store import MemoryOutputs
from projecting import IDS, SMALLEST, model, normalize
from pydantic_core import from_json

from bridge.projections import text

MARKER = re.compile(r"\[\.\.\. not shown: (.*) \((\d+) bytes\)(?:; (.*))? \.\.\.\]\n")


def test_the_marker_says_how_much_is_missing_and_where_it_is():
    text = "".join(f"line {number}\n" for number in range(1, 20_001))
    outputs = MemoryOutputs()
    content = json.loads(normalize(text, outputs=outputs, **IDS)["model_content"])
    (first, last), (again, end) = content["meta"]["shown"]["lines"]
    missing, lost, where = MARKER.search(content["data"]).groups()
    assert (first, end) == (1, 20_000)
    assert missing == f"lines {last + 1} to {again - 1} of 20000"
    assert int(lost) == sum(len(f"line {number}\n") for number in range(last + 1, again))
    assert where is None
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
    assert content["data"].startswith("start\nwaiting for the lock\n[the line above 8999 more times]\nstep 0\n")
    assert content["meta"]["shown"]["of"] == 18_001
    assert content["meta"]["shown"]["lines"][1][1] == 18_001


def test_what_the_tool_cut_stays_visible_beside_what_was_cut_here():
    result = {
        "ok": True,
        "tool": "grep",
        "data": "".join(f"row {number}\n" for number in range(9_000)),
        "meta": {"truncated": True},
    }
    made = normalize(result, "grep")
    meta = json.loads(made["model_content"])["meta"]
    assert (meta["truncated"], meta["truncated_by"]) == (True, ["tool", "bridge"])
    assert [loss["at"] for loss in made["model_content_policy"]["losses"]] == ["tool", "bridge"]


def test_a_json_text_is_cut_to_valid_json_that_keeps_its_shape():
    rows = [{"id": number, "name": f"row {number}"} for number in range(4_000)]
    content = model(json.dumps({"rows": rows, "total": 4_000}), "curl")
    shown = json.loads(content["data"])
    assert shown["total"] == 4_000
    assert shown["rows"][0] == rows[0]
    assert shown["rows"][-1] == rows[-1]
    assert content["meta"]["shortened"]["items"] == 4_001 - len(shown["rows"])


def test_a_json_text_beside_much_else_is_cut_with_it():
    for result in ({"error": ["\n"] * 20}, {"error": ["é" * 900] * 20, "rest": "x" * 4_000}):
        made = normalize(result, "read_file", limits=SMALLEST)
        assert len(made["model_content"].encode()) <= SMALLEST.model_max_bytes


class TestJsonTextsThatCostMuch:
    DEEP = "[" + ",".join(["[" * 95 + "]" * 95] * 300) + "]"

    def test_one_is_parsed_once_for_both_readers(self, monkeypatch):
        parsed = []
        monkeypatch.setattr(text, "from_json", lambda given, **options: parsed.append(0) or from_json(given, **options))
        made = normalize("[" + ",".join(f'{{"a":{number}}}' for number in range(9_000)) + "]")
        assert made["model_content"] != made["terminal_content"]
        assert len(parsed) == 1

    def test_of_one_that_is_nested_too_deep_no_value_is_made(self, monkeypatch):
        monkeypatch.setattr(text, "to_json_value", None)  # it would take seconds
        assert model(self.DEEP)["data"].startswith("[[[[")
