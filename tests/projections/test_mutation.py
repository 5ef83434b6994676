"""Changes of files: counts for the model, the diff for the person."""

from __future__ import annotations

import difflib

from memory_store import MemoryOutputs
from projecting import IDS, model, normalize, terminal

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
