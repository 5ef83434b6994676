"""Diffs are counted as diff(1) counts them, cut at whole hunks, and read in one pass whatever they hold."""

from __future__ import annotations

import difflib
import itertools
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from unidiff import PatchSet

from bridge.excerpt.budget import Budget
from bridge.excerpt.diff import (
    BY_EDGES,
    BY_SIGNS,
    INCOMPLETE,
    MAX_FILES,
    MAX_PLACES,
    NOT_COUNTED,
    PARTLY_COUNTED,
    Change,
    changes_of,
    cut_at_hunks,
    is_diff,
    limited,
)
from bridge.excerpt.json_text import escape
from bridge.excerpt.unified_diff import hunks_of

# Lines that look like parts of a diff, and characters that end a line elsewhere but not here.
LINES = [
    "a",
    "b",
    "",
    "-- a",
    "++ b",
    "--- a",
    "+++ b",
    "@@ -1 +1 @@",
    "\\ x",
    "\r",
    "x\u2028y",
    "x\x0cy",
    "\x85",
]
files = st.lists(st.sampled_from(LINES) | st.text("abc\u2028\x0c", max_size=3), max_size=30)
fragments = st.sampled_from(
    ["@@ -1,2 +1,2 @@\n", "@@ -1 +1 @@ f\n", "@@ -0,0 +1,9 @@\n", "@@ -" + "9" * 5_000 + " +1 @@\n", "x",
     "--- a\n", "+++ b\n", "diff --git a/x b/x\n", "+a\n", "-b\n", " c\n", "\n", "\r\n", "\u2028",
     "\\ No newline at end of file\n", "<<<<<<< SEARCH\n", ":start_line:7\n", "-------\n", "=======\n",
     ">>>>>>> REPLACE\n"]
)  # fmt: skip
broken_diffs = st.lists(fragments | st.text(max_size=4), max_size=60).map("".join)


def unified(old, new, **names):
    """Return the diff of two lists of lines as difflib writes it."""
    lines = difflib.unified_diff([f"{x}\n" for x in old], [f"{x}\n" for x in new], **names)
    return "".join(lines)


def expected_counts(old, new):
    patch = PatchSet(unified(old, new, fromfile="a", tofile="b"))
    return (patch.added, patch.removed, [first_change(hunk) for file in patch for hunk in file])


def first_change(hunk):
    """Return the line of the new file at which a hunk of unidiff's first changes something."""
    context = itertools.takewhile(lambda line: line.is_context, hunk)
    return hunk.target_start + sum(1 for _ in context)


@given(old=files, new=files)
def test_counts_and_places_are_those_of_difflib_and_unidiff(old, new):
    text = unified(old, new, fromfile="a/f", tofile="b/f")
    if not text:
        return
    (change,) = changes_of(text)
    places = [place["line"] for place in change.places]
    assert (change.added, change.removed, places) == expected_counts(old, new)
    assert change.path == "f"
    assert change.counted == ""


@given(old=files, new=files)
def test_hunks_reach_from_one_to_the_next_without_a_gap_and_to_the_end(old, new):
    text = unified(old, new, fromfile="a", tofile="b")
    hunks = list(hunks_of(text))
    assert [hunk.start for hunk in hunks[1:]] == [hunk.end for hunk in hunks[:-1]]
    assert not hunks or hunks[-1].end == len(text)


@given(old=files, new=files)
def test_two_files_in_one_diff_are_told_apart_whatever_their_lines_look_like(old, new):
    if old == new:
        return
    one, two = (unified(old, new, fromfile=f"a/{name}", tofile=f"b/{name}") for name in "fg")
    first, second = changes_of(one + two, "called otherwise")
    assert (first.path, second.path) == ("f", "g")
    assert first.to_json() | {"path": ""} == second.to_json() | {"path": ""}


@given(old=files, new=files, size=st.integers(0, 400))
def test_a_cut_diff_is_whole_hunks_of_it_and_a_count_that_is_true(old, new, size):
    text = unified(old, new, fromfile="a", tofile="b")
    cut = cut_at_hunks(text, Budget(size, 10**9))
    assert len(escape(cut)) <= size
    if cut in (text, ""):
        return
    kept, _, note = cut.rpartition("[")
    ends = [hunk.end for hunk in hunks_of(text)]
    shown = 0 if not kept else ends.index(len(kept)) + 1
    assert text.startswith(kept)
    assert note == f"{shown} of {len(ends)} hunks shown]"


@given(text=broken_diffs, size=st.integers(0, 300))
def test_any_text_has_counts_or_says_that_it_has_none(text, size):
    is_diff(text)
    for change in changes_of(text):
        assert (change.added is None) == (change.counted == NOT_COUNTED)
        assert (change.added or 0) + (change.removed or 0) <= text.count("\n") + 1
    assert len(escape(cut_at_hunks(text, Budget(size, 10**9)))) <= size


@given(old=files, new=files)
@example(old=["", "a", "", "", "a", "b"], new=["", "", "b", "a"])
def test_a_block_keeps_no_more_lines_than_both_texts_share(old, new):
    """difflib looks for long pieces, so of lines set aside or not it may keep one more or one less."""
    old, new = ([line for line in lines if "=====" not in line] for lines in (old, new))
    (change,) = changes_of(block(old, new))
    kept = len(old) - change.removed
    assert kept == len(new) - change.added
    assert same_at_start(old, new) <= kept <= longest_common(old, new)
    assert kept > 0 or set(old).isdisjoint(new)


def same_at_start(old, new):
    return next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )


def longest_common(old, new):
    """Return the length of the longest common subsequence."""
    before = [0] * (len(new) + 1)
    for one in old:
        row = [0]
        for at, other in enumerate(new):
            row.append(before[at] + 1 if one == other else max(row[at], before[at + 1]))
        before = row
    return before[-1]


def block(old, new, head=""):
    search, replace = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    return f"<<<<<<< SEARCH\n{head}{search}=======\n{replace}>>>>>>> REPLACE\n"


def test_the_system_s_own_diff_is_counted_right(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("".join(f"{at}\n" for at in range(100)))
    new.write_text("".join(f"{at}\n" for at in range(100) if at != 3).replace("90\n", "ninety\n90½\n") + "no end")
    run = subprocess.run(["diff", "-u", old, new], capture_output=True, text=True, check=False)
    (change,) = changes_of(run.stdout, "old")
    assert (change.path, change.removed, change.added, change.hunks) == ("old", 2, 3, 3)
    assert change.counted == ""


def test_only_0x0a_ends_a_line():
    text = "--- a\n+++ b\n@@ -1 +1,2 @@\n-x\u2028+y\x0c+z\r+w\n+a\x85-b\n+c\n"
    (change,) = changes_of(text)
    assert (change.removed, change.added) == (1, 2)
    (change,) = changes_of(block(["x\u2028y\x0cz"], ["x", "y"]))
    assert (change.removed, change.added) == (1, 2)


def test_removed_and_added_lines_that_look_like_a_head_stay_in_their_hunk():
    text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n same\n"
    (change,) = changes_of(text)
    assert (change.path, change.removed, change.added, change.counted) == ("q.sql", 1, 1, "")


def test_a_hunk_whose_header_counts_too_few_or_too_many_is_counted_by_its_signs():
    for header in ("@@ -1 +1 @@", "@@ -1,9 +1,9 @@"):
        (change,) = changes_of(f"--- a\n+++ b\n{header}\n-x\n+y\n+z\n-w\n+v\n")
        assert (change.removed, change.added, change.counted) == (2, 3, BY_SIGNS)


def test_a_git_diff_names_renamed_binary_and_removed_files():
    text = (
        "diff --git a/old.rb b/new.rb\nsimilarity index 100%\nrename from old.rb\nrename to new.rb\n"
        "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )
    changes = [(change.path, change.removed, change.added) for change in changes_of(text)]
    assert changes == [("new.rb", 0, 0), ("i.png", 0, 0), ("gone", 1, 0)]


def test_a_mail_made_by_git_ends_before_its_signature():
    (change,) = changes_of("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n-- \n2.39.2\n")
    assert (change.removed, change.added, change.counted) == (1, 1, "")


def test_a_block_that_is_broken_off_counts_as_none_and_hides_no_other():
    (change,) = changes_of("<<<<<<< SEARCH\nlost\n" + block(["a"], ["b", "c"], ":start_line:12\n-------\n"))
    assert (change.hunks, change.removed, change.added) == (1, 1, 2)
    assert change.places == [{"line": 12, "removed": 1, "added": 2}]


def test_a_block_that_edits_a_diff_counts_as_a_block():
    (change,) = changes_of(block(["@@ -1 +1 @@", "-x", "+y"], ["@@ -1 +1 @@", "-x"]))
    assert (change.hunks, change.removed, change.added) == (1, 1, 0)


def test_what_is_no_diff_says_that_it_has_no_counts():
    assert changes_of("nothing of the kind")[0].to_json() == {
        "added": None, "removed": None, "hunks": 0, "counted": NOT_COUNTED,
    }  # fmt: skip


def test_more_places_than_are_named_are_counted():
    change = changes_of("@@ -1 +1 @@\n-a\n+b\n" * 60)[0].to_json()
    assert len(change["places"]) == MAX_PLACES
    assert change["places_not_shown"] == 60 - MAX_PLACES


def test_of_very_many_files_the_first_are_told_and_the_others_counted_together():
    file = "--- a/f{at}\n+++ b/f{at}\n@@ -1 +1,2 @@\n-a\n+b\n+c\n"
    changes = changes_of("".join(file.format(at=at) for at in range(MAX_FILES + 7)) + "truncated")
    assert [change.path for change in changes[:-1]] == [f"f{at}" for at in range(MAX_FILES)]
    assert changes[-1].to_json() == {"added": 14, "removed": 7, "hunks": 7, "incomplete": INCOMPLETE, "files": 7}


def test_one_file_more_keeps_its_name_and_unread_ones_leave_the_counts_of_the_others():
    read, unread = Change("f", 2, 1, 1), Change("g", None, None, 0, counted=NOT_COUNTED)
    assert limited([read] * (MAX_FILES + 1))[-1] is read
    (together,) = limited([read, unread, read], most=0)
    assert together.to_json() == {"added": 4, "removed": 2, "hunks": 2, "counted": PARTLY_COUNTED, "files": 3}
    assert limited([unread, unread, read], most=0)[0].counted == PARTLY_COUNTED
    assert limited([unread, unread], most=0)[0].to_json()["added"] is None


def test_heads_of_files_without_hunks_each_count_as_a_file():
    """As git writes renamed and binary files, before, between and after files with hunks."""
    text = (
        "diff --git a/one b/one\nrename from x\n"
        "diff --git a/two b/two\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/three b/three\ndiff --git a/four b/four\n--- a/four\n+++ b/four\n--- a/five\n+++ b/five\n"
    )
    found = [(change.path, change.hunks) for change in changes_of(text)]
    assert found == [("one", 0), ("two", 1), ("three", 0), ("four", 0), ("five", 0)]


HOSTILE = {
    "blocks that never end": "<<<<<<< SEARCH\n" * 200_000,
    "dividers alone": "<<<<<<< SEARCH\n" + "=======\n" * 200_000,
    "broken hunks": "@@ -1,2 +1,2 @@\nx\n" * 20_000,
    "hunks that promise a million lines": "@@ -1,999999 +1,999999 @@\n+a\n" * 20_000,
    "heads without hunks": "--- a\n+++ b\n" * 100_000 + "@@ -1 +1 @@\n",
    "a block of equal lines": block(["x"] * 20_000, ["x", "y"] * 20_000),
    "many blocks that compare badly": block(["x", "a", "x", "b"] * 50, ["x", "c", "x", "d"] * 50) * 500,
    "one line": "@@ -1 +1 @@" + "+" * 5_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_diff_is_read_in_one_pass(text):
    """A quadratic reader would not end within the life of a test run."""
    assert is_diff(text) in (True, False)
    assert changes_of(text)
    assert len(escape(cut_at_hunks(text, Budget(4_000, 10**9)))) <= 4_000


def test_blocks_too_large_to_compare_say_how_they_were_counted():
    (change,) = changes_of(block([*"ab" * 1_000], [*"cb" * 1_000]))
    assert (change.removed, change.added, change.counted) == (1_999, 1_999, BY_EDGES)
