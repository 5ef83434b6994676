"""A text with a structure is shown by it, as ranges of its lines."""

from __future__ import annotations

import gc
import json
import weakref

import pytest
from reading import check_excerpt

from bridge.excerpt.budget import Budget
from bridge.excerpt.source import Text
from bridge.excerpt.text import Style, excerpt

STYLE = Style(evidence=0.65, clean=True, fold=True)
SIZES = pytest.mark.parametrize("size", [24_000, 7_000, 1_500])


def shown(text, size):
    """Return the whole lines that an excerpt shows, in order, once its account is checked."""
    cut = excerpt(Text(text), Budget(size, 2_000), STYLE)
    return list(check_excerpt(cut.text, text, {"shown": cut.shown}).lines.values())


@SIZES
def test_json_lines_show_the_ones_that_say_error(size):
    levels = {700: "error", 2_500: "fatal"}
    rows = [json.dumps({"level": levels.get(at, "info"), "m": f"request {at}"}) for at in range(4_000)]
    lines = shown("\n".join(rows) + "\n", size)
    assert {rows[700], rows[2_500], rows[-1]} <= set(lines)


def diff(files, hunks, lines=10):
    return "".join(
        f"diff --git a/f{file} b/f{file}\n--- a/f{file}\n+++ b/f{file}\n"
        + "".join(
            f"@@ -{hunk * 50 + 1},{lines} +{hunk * 50 + 1},{lines} @@\n" + f"-old {hunk}\n+new {hunk}\n" * lines
            for hunk in range(hunks)
        )
        for file in range(files)
    )


@pytest.mark.parametrize("size", [24_000, 7_000])
def test_a_diff_keeps_its_file_list_and_whole_hunks(size):
    text = diff(files=12, hunks=20)
    lines = shown(text, size)
    assert [line for line in lines if line.startswith("diff --git")] == [
        f"diff --git a/f{at} b/f{at}" for at in range(12)
    ]
    first = lines.index("@@ -1,10 +1,10 @@")
    assert lines[first + 1 : first + 21] == ["-old 0", "+new 0"] * 10
    assert sum(line.startswith("@@") for line in lines) >= 2


@SIZES
def test_a_list_of_matches_shows_something_of_every_file(size):
    text = "".join(f"src/file{file}.py:{line}:    return {line}\n" for file in range(9) for line in range(1, 400))
    lines = shown(text, size)
    files = {line.partition(":")[0] for line in lines}
    assert len(files) >= (9 if size > 2_000 else 4)


@pytest.mark.parametrize("size", [24_000, 7_000])
def test_a_list_of_paths_shows_something_of_every_folder(size):
    text = "".join(f"lib/folder{folder}/deep/name{at}.rb\n" for folder in range(12) for at in range(300))
    assert len({line.split("/")[1] for line in shown(text, size)}) == 12


@SIZES
def test_a_table_keeps_its_header_and_both_its_ends(size):
    rows = ["id,name,state", *(f"{at},name {at},ok" for at in range(5_000))]
    lines = shown("\n".join(rows) + "\n", size)
    assert lines[:3] == rows[:3]
    assert lines[-2:] == rows[-2:]
    assert (
        abs(2 * lines.index(next(line for line in lines if line not in rows[: len(lines)])) - len(lines))
        < len(lines) / 2
    )


@SIZES
def test_a_build_log_is_no_structure(size):
    text = "".join(f"[{at}/900] compiling a{at}.c\n" for at in range(900))
    middle = "src/a.c:1:2: error: unknown type\n"
    assert middle[:-1] in shown(text + middle + text, size)


@pytest.mark.parametrize("line", ["src/a.py:{}:x = 1", "src/a/{}.py", '{{"at": {}}}', "{},b,c", "prose {}"])
def test_a_text_is_freed_with_its_last_reference(line):
    source = Text("".join(f"{line}\n".format(number) for number in range(100)))
    excerpt(source, Budget(2_000, 100), Style(evidence=0.5))
    gone = weakref.ref(source)
    gc.disable()
    try:
        del source
        assert gone() is None
    finally:
        gc.enable()
