"""Changes of files: counts for the model, the diff for the person."""

from __future__ import annotations

import difflib
import json

import pytest
from memory_store import MemoryOutputs
from projecting import IDS, model, normalize, terminal

from bridge.limits import Limits

DIFF = "--- a/x.rb\n+++ b/x.rb\n@@ -1,3 +1,4 @@\n a\n-b\n+c\n+d\n e\n"
BLOCKS = "<<<<<<< SEARCH\nkeep\nold\n=======\nkeep\nnew\nmore\n>>>>>>> REPLACE\n"


def long_diff(hunks):
    before = [f"line {number}\n" for number in range(hunks * 40)]
    after = [line if at % 40 != 20 else f"changed {line}" for at, line in enumerate(before)]
    return "".join(difflib.unified_diff(before, after, "a/x", "b/x"))


def test_the_model_gets_places_and_counts_and_never_the_diff():
    made = normalize({"ok": True, "diff": DIFF, "path": "x.rb"}, "patch_file")
    assert "+c" not in made["model_content"]
    content = model({"ok": True, "diff": DIFF, "path": "x.rb"}, "patch_file")
    place = {"line": 2, "removed": 1, "added": 2}
    assert content["data"]["changes"] == [{"path": "x.rb", "added": 2, "removed": 1, "hunks": 1, "places": [place]}]
    assert content["meta"]["withheld"] == ["data.diff"]


def test_the_person_gets_the_whole_diff_when_it_fits():
    assert terminal({"ok": True, "diff": DIFF, "path": "x.rb"}, "patch_file")["data"]["diff"] == DIFF


def test_the_person_gets_whole_hunks_and_their_totals():
    diff = long_diff(90)
    shown = terminal({"ok": True, "diff": diff}, "patch_file")["data"]["diff"]
    kept, note = shown.rsplit("\n", 1)
    count = shown.count("@@ -")
    assert note == f"[{count} of 90 hunks shown]"
    assert diff.startswith(kept + "\n@@ -")


def test_a_withheld_diff_is_in_the_record():
    outputs = MemoryOutputs()
    made = normalize({"ok": True, "diff": DIFF, "path": "x.rb"}, "patch_file", outputs=outputs, **IDS)
    assert b"+c" in outputs.kept["s1", "c1"]
    assert made["output"]["path"]
    loss = {"at": "bridge", "what": "diff", "fields": ["data.diff"], "recover": made["output"]["path"]}
    assert loss in made["model_content_policy"]["losses"]


def test_files_of_rinds_meta_keep_their_counts_and_lose_their_diffs():
    file = {"path": "x.rb", "added": 2, "removed": 1, "hunks": 1, "created": False, "bytes": 40}
    result = {
        "ok": True,
        "tool": "edit_file",
        "data": {"message": "done"},
        "meta": {"files": [file | {"diff": DIFF}]},
    }
    content = model(result, "edit_file")
    assert content["meta"]["files"] == [file]
    assert content["data"]["changes"][0]["places"] == [{"line": 2, "removed": 1, "added": 2}]


def test_search_and_replace_blocks_of_the_arguments_are_counted():
    content = model({"ok": True}, "patch_file", args={"path": "x.rb", "diff": BLOCKS})
    assert content["data"]["changes"] == [{"path": "x.rb", "added": 2, "removed": 1, "hunks": 1}]


def test_a_diff_without_file_names_is_counted():
    content = model({"ok": True, "diff": "@@ -4,1 +4,1 @@\n-a\n+b\n"}, "patch_file", args={"path": "y"})
    assert content["data"]["changes"][0]["path"] == "y"
    assert content["data"]["changes"][0]["places"] == [{"line": 4, "removed": 1, "added": 1}]


def test_a_diff_that_the_parser_refuses_is_counted_by_its_signs_and_says_so():
    content = model({"ok": True, "diff": "@@ -1,9 +1,9 @@\n-a\n+b\n+c\n"}, "patch_file")
    change = content["data"]["changes"][0]
    assert (change["added"], change["removed"]) == (2, 1)
    assert change["counted"] == "by the first character of each line"


def test_a_diff_that_nothing_can_read_says_that_it_has_no_counts():
    change = model({"ok": True, "diff": "one line became another"}, "patch_file")["data"]["changes"][0]
    assert (change["added"], change["removed"]) == (None, None)
    assert "no counts" in change["counted"]


def test_a_failed_change_is_an_error_like_any_other():
    content = model({"error": "SEARCH block not found", "path": "x"}, "patch_file")
    assert (content["ok"], content["error"]) == (False, "SEARCH block not found")


SECRET = "the text that the model wrote"
HUNK = f"--- a/x.rb\n+++ b/x.rb\n@@ -97,7 +97,8 @@\n a\n b\n c\n-old\n+{SECRET}\n+more\n d\n e\n f\n"
BODY = f"{SECRET}\n" * 40
FORMS = {
    "a list of lines": {"diff": HUNK.split("\n")},
    "indented in a message": {"message": "Applied:\n" + "".join(f"    {line}\n" for line in HUNK.split("\n"))},
    "with CR line ends": {"diff": HUNK.replace("\n", "\r\n")},
    "under a name of its own": {"what_happened": HUNK},
    "combined": {"diff": f"diff --cc a\n@@@ -1,2 -1,2 +1,3 @@@\n- a\n -b\n++{SECRET}\n  d\n"},
    "in context form": {
        "out": f"*** a\n--- b\n***************\n*** 1,2 ****\n! a\n  b\n--- 1,2 ----\n! {SECRET}\n  b\n"
    },
    "inside a JSON text": {"result": json.dumps({"diff": HUNK, "note": "fine"})},
    "the texts before and after": {"before": "x\n" * 40, "after": BODY},
    "the text that was written": {"content": BODY},
    "old and new strings": {"old_string": "x\n" * 9, "new_string": BODY},
    "camel case": {"newText": BODY, "oldText": "x\n" * 9},
    "a list of bodies": {"edits": [{"old_str": "x\n" * 9, "new_str": BODY}] * 3},
}


@pytest.mark.parametrize("members", FORMS.values(), ids=FORMS)
def test_what_was_written_never_reaches_the_model_in_whatever_form_it_comes(members):
    outputs = MemoryOutputs()
    made = normalize({"ok": True, "path": "x.rb", **members}, "edit_file", outputs=outputs, **IDS)
    assert SECRET not in made["model_content"]
    content = json.loads(made["model_content"])
    assert content["meta"]["withheld"]
    assert content["data"]["changes"]
    assert SECRET.encode() in outputs.kept["s1", "c1"]


def test_a_result_that_is_a_json_text_keeps_what_is_no_change():
    content = model(json.dumps({"diff": HUNK, "note": "fine"}), "edit_file")
    assert json.loads(content["data"]["result"]) == {"note": "fine"}


def test_what_a_tool_says_beside_its_change_stays():
    said = {
        "ok": True,
        "diagnostics": "a.py:1:1: E1 bad\na.py:2:1: E2 worse\n",
        "content": "File written",
        "diff": HUNK,
    }
    content = model(said, "write_file")
    assert content["data"]["diagnostics"] == said["diagnostics"]
    assert content["data"]["content"] == "File written"


def test_the_place_of_a_change_is_its_line_and_not_that_of_its_context():
    assert model({"ok": True, "diff": HUNK}, "edit_file")["data"]["changes"][0]["places"][0]["line"] == 100


CUT_DIFF = "@@ -1,300 +1,300 @@\n" + "-x\n" * 115 + "... diff truncated ...\n"


def test_the_counts_of_the_tool_win_over_those_of_a_diff_that_was_cut():
    result = {"ok": True, "path": "a", "diff": CUT_DIFF, "added_lines": 300, "removed_lines": 300}
    (change,) = model(result, "edit_file")["data"]["changes"]
    assert (change["added"], change["removed"], change["counted"]) == (300, 300, "by the tool")
    assert "incomplete" not in change


def test_a_diff_that_was_cut_at_its_source_says_so():
    (change,) = model({"ok": True, "diff": CUT_DIFF}, "edit_file")["data"]["changes"]
    assert change["incomplete"] == "the diff was cut before it came here"


def test_a_line_of_any_length_counts_as_one():
    diff = f"@@ -1,1 +1,1 @@\n-a\n+{'b' * 20_000}\n"
    (change,) = model({"ok": True, "diff": diff}, "edit_file")["data"]["changes"]
    assert (change["added"], change["removed"]) == (1, 1)


@pytest.mark.parametrize(
    ("name", "args", "change"),
    [
        (
            "str_replace",
            {"path": "a", "old_str": "a\nb\n", "new_str": "a\nc\nd\n"},
            {"added": 2, "removed": 1, "hunks": 1},
        ),
        ("write_file", {"path": "a", "content": "a\nb\nc\n"}, {"lines": 3, "bytes": 6}),
        (
            "apply_patch",
            {"path": "a", "patch": "@@ -1,1 +1,2 @@\n-a\n+b\n+c\n"},
            {"added": 2, "removed": 1, "hunks": 1},
        ),
    ],
)
def test_where_the_result_says_only_that_it_is_done_the_arguments_are_counted(name, args, change):
    (made,) = model({"ok": True}, name, args=args)["data"]["changes"]
    assert {key: value for key, value in made.items() if key != "places"} == {"path": "a", **change}


def test_of_very_many_diffs_the_first_are_told_and_the_others_counted_together():
    result = {"ok": True, "edits": [{"path": f"f{at}", "diff": DIFF} for at in range(1_005)]}
    made = normalize(result, "patch_file", limits=Limits(model_max_bytes=500_000, model_max_lines=20_000))
    content = json.loads(made["model_content"])
    changes = content["data"]["changes"]
    assert [change["path"] for change in changes[:-1]] == [f"f{at}" for at in range(1_000)]
    assert changes[-1] == {"added": 10, "removed": 5, "hunks": 5, "files": 5}
    result["edits"] = result["edits"][:1_001]
    made = normalize(result, "patch_file", limits=Limits(model_max_bytes=500_000, model_max_lines=20_000))
    assert json.loads(made["model_content"])["data"]["changes"][-1]["path"] == "f1000"
    assert content["meta"]["withheld"] == [f"data.edits[{at}].diff" for at in (0, 1000, 1001, 1002)]


def test_a_body_that_is_json_with_a_number_beyond_it_is_withheld_whole():
    body = '{"id": 1e400,\n"content": "line\\nSECRET"}'
    content = model({"ok": True, "path": "a.json", "content": body}, "write_file")
    assert "SECRET" not in json.dumps(content)
    assert content["data"]["changes"] == [{"path": "a.json", "lines": 2, "bytes": len(body)}]


def test_a_body_that_is_json_with_an_integer_beyond_64_bits_does_not_raise():
    body = json.dumps({"id": 2**64, "content": "line\nSECRET"}, indent=1)
    content = model({"ok": True, "path": "a.json", "content": body}, "write_file")
    assert "SECRET" not in json.dumps(content)
    assert str(2**64) in content["data"]["content"]


@pytest.mark.parametrize("lines", [300, 1_500, 6_000], ids=lambda lines: f"{lines} lines")
class TestColours:
    """What a tool prints in colours is what it is without them, however long it is."""

    def test_what_was_written_is_withheld(self, lines):
        body = "".join(f"line {number} of the file\n" for number in range(lines))
        coloured = body.replace("line", "\x1b[32mline\x1b[0m")
        result = {"ok": True, "path": "a.py", "result": coloured}
        made = normalize(result, "write_file", args={"path": "a.py", "content": body})
        assert "of the file" not in made["model_content"]

    def test_a_diff_is_counted(self, lines):
        signs = [f"\x1b[31m-old {n}\x1b[0m\n\x1b[32m+new {n}\x1b[0m\n" for n in range(lines)]
        head = f"\x1b[1m--- a/x.rb\x1b[0m\n\x1b[1m+++ b/x.rb\x1b[0m\n\x1b[36m@@ -1,{lines} +1,{lines} @@\x1b[0m\n"
        (change,) = model({"ok": True, "path": "x.rb", "diff": head + "".join(signs)}, "patch_file")["data"]["changes"]
        assert (change["added"], change["removed"], change["hunks"]) == (lines, lines, 1)
