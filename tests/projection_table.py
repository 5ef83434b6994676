"""Writes the table of docs/projections.md from real projections: kind, rule, before, after.

python tests/projection_table.py          prints the page
python tests/projection_table.py --write  rewrites docs/projections.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from bridge.limits import Limits
from bridge.normalizer import Normalizer
from bridge.settings import Settings
from memory_store import MemoryOutputs

PAGE = Path(__file__).parent.parent / "docs" / "projections.md"
LIMITS = Limits(terminal_max_bytes=1_024, model_max_bytes=2_048)
BEGIN, END = "<!-- the table: written by tests/projection_table.py -->\n", "<!-- end of the table -->\n"
SHOWN = 56

LOG = "".join(f"step {number} is done\n" for number in range(1, 901)).replace(
    "step 450 is done", "error: step 450"
)
PAGE_ROWS = "\n".join(f"{number:4d} | a line of the file" for number in range(48, 149))
DIFF = "--- a/x.rb\n+++ b/x.rb\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"
POLL = {
    "bg_id": "b1",
    "status": "running",
    "stdout": "",
    "stderr": "",
    "exit_code": -1,
    "wait_ms": 500,
    "sequence": 4,
}
TASK = {
    "task_id": "t1",
    "status": "running",
    "stdout": LOG,
    "stderr": "",
    "start_cursor": 0,
    "next_cursor": 17000,
}

# Kind, rule, tool, result, arguments.
EXAMPLES = [
    ("text", "Head and tail at line ends; the marker says what is missing and where it is; lines of the middle that decide are kept with their numbers.", "run", LOG, None),
    ("text", "One long line is cut by characters, and the marker says so.", "run", "x" * 9_000, None),
    ("text", "Escapes and overwritten progress are cleaned, and counted in `meta.cleaned`.", "run", "\x1b[32m10%\r\x1b[32m100%\x1b[0m\n", None),
    ("text", "Runs of equal lines are folded when the text is too long.", "run", "waiting\n" * 900 + "ready\n", None),
    ("structured", "The longest texts give way first; small scalars stay.", "run_command", {"result": LOG, "exit_status": 1, "cwd": "/src"}, None),
    ("structured", "Then lists lose their middle, with a count.", "query", [{"row": number} for number in range(900)], None),
    ("text", "A failure stays a failure.", "run_command", {"error": "no such file\n" * 400}, None),
    ("read_file", "Consecutive complete lines from the first one asked for; `next_offset` is the first line not shown.", "read_file", {"ok": True, "tool": "read_file", "data": f"Showing lines 48 to 148:\n{PAGE_ROWS}", "meta": {"path": "a.rb", "offset": 48, "next_offset": None}}, None),
    ("read_file", "The same without numbers; the range is then that of the lines shown.", "read_file", {"content": "a line of the file\n" * 200, "path": "a.rb", "range": [48, 247]}, None),
    ("read_file", "A first line that is too long is an error that says how to read it.", "read_file", {"content": "y" * 9_000, "path": "b.js"}, None),
    ("mutation", "Places and counts for the model; the diff only for the person and the record.", "patch_file", {"ok": True, "diff": DIFF}, {"path": "x.rb"}),
    ("task", "Facts stay together; no cursor past output that was not shown.", "bash", {"ok": True, "tool": "bash", "data": TASK}, None),
    ("task", "An empty poll shrinks to its facts.", "bash_output", {"ok": True, "tool": "bash_output", "data": POLL}, None),
]  # fmt: skip


def brief(value):
    """Give ``value`` with what is long in it elided by ⋯, for a page and not for a model."""
    if isinstance(value, str) and len(value) > 2 * SHOWN + 3 and "[..." not in value:
        return f"{value[:SHOWN]} ⋯ {value[-SHOWN:]}"
    if isinstance(value, str) and "[..." in value:
        start, rest = value.split("[...", 1)
        marker, _, tail = rest.rpartition("...]\n")
        return f"{start[:SHOWN]} ⋯ [...{marker}...]\n⋯ {tail[-SHOWN:]}"
    if isinstance(value, dict):
        return {name: brief(child) for name, child in value.items()}
    if isinstance(value, list) and len(value) > 5:
        notes = [item for item in value if isinstance(item, str) and item.startswith("[...")]
        return [*value[:2], "⋯", *notes, *value[-1:]]
    return [brief(item) for item in value] if isinstance(value, list) else value


def cell(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    escaped = json.dumps(text, ensure_ascii=False)[1:-1] if isinstance(value, str) else text
    return "`" + escaped.replace("|", "\\|").replace("`", "'") + "`"


def row(kind, rule, tool, result, args):
    made = Normalizer(Settings(home=Path("unused"), limits=LIMITS), MemoryOutputs()).normalize(
        result, name=tool, args=args, session_id="s", call_id="c"
    )
    assert made["model_content_policy"]["kind"] == kind
    after = brief(json.loads(made["model_content"]))
    return f"| {kind} | {rule} | {cell(brief(result))} | {cell(after)} |\n"


def table():
    head = f"| kind | rule | before | after, for a model with {LIMITS.model_max_bytes} bytes |\n| --- | --- | --- | --- |\n"
    return head + "".join(row(*example) for example in EXAMPLES)


def page():
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page())
    else:
        print(page(), end="")
