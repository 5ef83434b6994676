"""Nothing a tool prints can hold the bridge up: the cost of a result grows as the result does.

Each input is hard for something that is parsed, and is projected at n, 2n and 4n. What grows with the square would take
sixteen times as long at 4n; what is linear takes four times.
"""

from __future__ import annotations

import time

import pytest

import bridge

# Below this many seconds the clock and the machine say more than the code.
SMALLEST = 0.02
MOST_GROWTH = 9


def nested(width, depth):
    value = {f"k{number}": number for number in range(width)}
    for _ in range(depth):
        value = {"x": value, **{f"k{number}": 1 for number in range(width)}}
    return value


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


HARD = {
    "overwritten by nothing": (lambda n: "\r" * 60_000 * n, "bash"),
    "one line of backspaces": (lambda n: "x" * 50_000 * n + "\b" * 50_000 * n, "bash"),
    "moves of the cursor": (lambda n: "\x1b[999999999C\x1b[999999999D" * 6_000 * n, "bash"),
    "two lines in turns": (lambda n: "aaaa\nbbbb\n" * 20_000 * n, "bash"),
    "empty lines": (lambda n: "\n" * 100_000 * n, "bash"),
    "one long line": (lambda n: "x" * 300_000 * n, "bash"),
    "deciding words": (lambda n: "error\nfatal\nFAIL\npanic\n" * 5_000 * n, "bash"),
    "a stack without end": (
        lambda n: "Traceback (most recent call last):\n" + '  File "a.py", line 1, in f\n    x\n' * 4_000 * n,
        "bash",
    ),
    "joiners": (lambda n: "\U0001f468\u200d" * 15_000 * n, "bash"),
    "syllables": (lambda n: "\u1100\u1161\u0915\u094d" * 10_000 * n, "bash"),
    "lone surrogates": (lambda n: "\ud800" * 20_000 * n, "bash"),
    "JSON lines": (lambda n: '{"level":"error","m":[[[[1]]]]}\n' * 5_000 * n, "bash"),
    "JSON lines that never end": (lambda n: '{"a":\n' * 20_000 * n, "bash"),
    "brackets without end": (lambda n: "[" * 100_000 * n, "bash"),
    "matches": (lambda n: "".join(f"src/f{at}.py:{at}:x\n" for at in range(8_000 * n)), "bash"),
    "paths": (lambda n: "".join(f"{'a/' * 40}{at}\n" for at in range(2_000 * n)), "bash"),
    "a table": (lambda n: "a | b | c\n" + "1 | 2 | 3\n" * 10_000 * n, "bash"),
    "CSV with a quote that never ends": (lambda n: 'a,b,c\n1,"' + "x,y,z\n" * 20_000 * n, "bash"),
    "a diff as a text": (
        lambda n: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" * 2_000 * n,
        "bash",
    ),
    "a hunk longer than it says": (
        lambda n: {"ok": True, "diff": "--- a\n+++ b\n@@ -1 +1 @@\n" + "+x\n" * 30_000 * n},
        "patch_file",
    ),
    "heads of files": (lambda n: {"ok": True, "diff": "--- a\n+++ b\n" * 4_000 * n + "@@ -1 +1 @@\n"}, "patch_file"),
    "dividers": (lambda n: {"ok": True, "diff": "<<<<<<< SEARCH\n" + "=======\n" * 10_000 * n}, "patch_file"),
    "texts that have nothing in common": (
        lambda n: {"ok": True, "before": "a\n" * 30_000 * n, "after": "b\nc\n" * 30_000 * n},
        "edit_file",
    ),
    "bodies of many files": (
        lambda n: {"ok": True, "files": [{"path": f"f{at}", "old": "a\nb", "new": "c\nd"} for at in range(800 * n)]},
        "edit_file",
    ),
    "records of words": (
        lambda n: {"task_id": "t", "status": "running", "stdout": "ab " * 20_000 * n, "records": ["ab " * 20_000 * n]},
        "bash",
    ),
    "rows with gaps": (
        lambda n: {"ok": True, "tool": "read_file", "data": "".join(f"{2 * at} | x\n" for at in range(1, 20_000 * n))},
        "read_file",
    ),
    "a row number of digits": (
        lambda n: {"ok": True, "tool": "read_file", "data": "1" * 90_000 * n + " | x\n"},
        "read_file",
    ),
    "rows cut at the source": (
        lambda n: {"ok": True, "tool": "read_file", "data": "1 | " + "...(truncated:1)" * 9_000 * n},
        "read_file",
    ),
    "returns": (lambda n: "x" * 20_000 * n + "\ra" * 10_000 * n, "bash"),
    "returns in one line of an object": (lambda n: {"stdout": "x" * 20_000 * n + "\ra" * 10_000 * n}, "bash"),
    "backspaces": (lambda n: "ab\b" * 50_000 * n, "bash"),
    "erasures": (lambda n: "ab\x1b[K\x1b[2K\x1b[1K" * 10_000 * n, "bash"),
    "introducers without end": (lambda n: "\x1b]0;" * 30_000 * n, "bash"),
    "parameters without end": (lambda n: "\x1b[" + "1;" * 60_000 * n, "bash"),
    "8-bit controls": (lambda n: "\x9d\x90é" * 30_000 * n, "bash"),
    "equal lines": (lambda n: "again\n" * 20_000 * n, "bash"),
    "a pattern on every line": (lambda n: "".join(f"error: {at} failed\n" for at in range(6_000 * n)), "bash"),
    "one line of patterns": (lambda n: "error: Traceback panicked " * 5_000 * n, "bash"),
    "combining marks": (lambda n: "a" + "\u0301" * 60_000 * n, "bash"),
    "flags": (lambda n: "\U0001f1e9" * 30_000 * n, "bash"),
    "a range of spaces": (lambda n: {"content": "a\n", "range": "1" + " " * 20_000 * n + "x"}, "read_file"),
    "an offset of digits": (lambda n: {"content": "a\n", "range": "1" * 50_000 * n}, "read_file"),
    "numbered rows": (
        lambda n: {"ok": True, "tool": "read_file", "data": "\n".join(f"{at} | x" for at in range(1, 20_000 * n))},
        "read_file",
    ),
    "spaces before a row": (
        lambda n: {"ok": True, "tool": "read_file", "data": "1 | x\n" + " " * 90_000 * n},
        "read_file",
    ),
    "data URIs": (lambda n: " ".join(f"data:a/b;base64,{at:016d}" for at in range(3_000 * n)), "bash"),
    "parameters of a data URI": (lambda n: "data:a/b" + ";a=b" * 30_000 * n + ";base64,", "bash"),
    "media blocks": (
        lambda n: [{"type": "image", "mimeType": "image/png", "data": f"{at:020d}"} for at in range(2_000 * n)],
        "view",
    ),
    "deep and wide": (lambda n: nested(30 * n, 88), "query"),
    "a huge key over many": (lambda n: {"K" * 60_000 * n: {str(at): at for at in range(15_000 * n)}}, "query"),
    "a huge key over many, as a change": (
        lambda n: {"K" * 60_000 * n: {str(at): at for at in range(15_000 * n)}},
        "patch_file",
    ),
    "one number beyond JSON among many": (lambda n: [{"a": [1]} for _ in range(10_000 * n)] + [float("inf")], "query"),
    "deeper than a content": (lambda n: [nested(1, 150) for _ in range(50 * n)], "query"),
    "one branch as deep as it is long": (lambda n: deep(2_000 * n), "query"),
    "nothing but nulls": (lambda n: [None] * 100_000 * n, "query"),
    "nothing but returns in texts": (lambda n: {"a": ["\r" * 50] * 2_000 * n}, "query"),
    "many keys": (lambda n: {f"k{at}": at for at in range(30_000 * n)}, "query"),
    "empty objects": (lambda n: [{} for _ in range(60_000 * n)], "query"),
    "numbers that JSON does not have": (lambda n: [float("nan")] * 20_000 * n, "query"),
    "keys that become equal": (lambda n: dict.fromkeys(range(10000 * n), 1) | {"1": 2}, "query"),
    "a JSON text": (lambda n: "[" + ",".join(f'{{"a":{at}}}' for at in range(15_000 * n)) + "]", "bash"),
    "hunks": (lambda n: {"ok": True, "diff": "@@ -1,1 +1,1 @@\n-a\n+b\n" * 3_000 * n}, "patch_file"),
    "hunks that lie about their counts": (
        lambda n: {"ok": True, "diff": "@@ -1,9 +1,9 @@\n-a\n" * 3_000 * n},
        "patch_file",
    ),
    "at signs": (lambda n: {"ok": True, "diff": "@" * 90_000 * n + " @@ -"}, "patch_file"),
    "blocks": (
        lambda n: {"ok": True, "diff": "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n" * 2_000 * n},
        "patch_file",
    ),
    "blocks that never end": (lambda n: {"ok": True, "diff": "<<<<<<< SEARCH\n" * 8_000 * n}, "patch_file"),
    "texts before and after": (
        lambda n: {"ok": True, "before": "a\nb\n" * 8_000 * n, "after": "b\na\n" * 8_000 * n},
        "edit_file",
    ),
    "records": (
        lambda n: {"task_id": "t", "status": "running", "stdout": "x\n" * 9_000 * n, "records": ["x"] * 9_000 * n},
        "bash",
    ),
}


def seconds(result, name):
    """Return the least processor time of three calls: what else the machine does is not counted."""
    times = []
    for _ in range(3):
        start = time.process_time()
        bridge.normalize(result, name=name)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(("make", "name"), HARD.values(), ids=HARD)
def test_the_cost_grows_as_the_result_does(make, name):
    small, _, large = (seconds(make(n), name) for n in (1, 2, 4))
    assert large <= max(small, SMALLEST) * MOST_GROWTH
