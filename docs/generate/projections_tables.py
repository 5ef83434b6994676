"""Makes the tables of docs/projections.md: each kind with its rule and an example, the limits.

Run it to rewrite them:  .venv/bin/python docs/generate/projections_tables.py
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))

from memory_store import MemoryOutputs

from bridge.limits import Limits
from bridge.projections.mutation import Mutation
from bridge.projections.normalizer import Normalizer
from bridge.projections.read_file import ReadFile
from bridge.projections.structured import Structured
from bridge.projections.task import Task
from bridge.projections.text import Text
from bridge.protocol.models import ToolCall
from bridge.settings import Settings

DOCUMENT = Path(__file__).parents[1] / "projections.md"
MARKER = re.compile(r"\[\.\.\. not shown: [^\n]*\]\n")
# What a text of an example shows of its start and of its end.
START, END = 40, 24

SOURCE = "".join(f"line {number} of a source file\n" for number in range(1, 3_001))
ROWS = "\n".join(f"{number:>5} | line {number} of a source file" for number in range(48, 1_501))
NUMBERED = f"Showing lines 48 to 1500:\n{ROWS}"
BUILD = "".join(f"[{step}/4000] compiling\n" for step in range(1, 4_001))
BUILD = BUILD.replace("[2000/4000] compiling\n", "thing.c:41: error: 'widht' undeclared\n")
DIFF = "--- a/app.rb\n+++ b/app.rb\n@@ -1,2 +1,3 @@\n-one\n+1\n+2\n three\n"
POLL = {"task_id": "t1", "status": "running", "stdout": "", "stderr": "", "no_new_output": True, "pid": 4}
TASK = {
    "task_id": "t1", "status": "running", "exit_code": None, "stdout": SOURCE, "stderr": "", "command": "make -j8 all",
    "cwd": "/app", "start_cursor": 0, "next_cursor": len(SOURCE), "owner_session_id": "s1", "notify": True,
}  # fmt: skip
PICTURE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(bytes(600)).decode()}
# The kind, what the example shows beyond the rule of its kind, and the call.
EXAMPLES = (
    (ReadFile, "", "read_file", {"content": SOURCE, "path": "a.rb"}),
    (ReadFile, "The same of a page with numbers; what the tool said of the file stays.", "read_file",
     {"ok": True, "tool": "read_file", "meta": {"path": "a.rb", "next_offset": None}, "data": NUMBERED}),
    (ReadFile, "A first line that does not fit is an error that says how to read it.", "read_file",
     {"content": "x" * 30_000 + "\n", "path": "a.js"}),
    (Mutation, "", "patch_file", {"ok": True, "path": "app.rb", "diff": DIFF}),
    (Task, "", "bash_output",
     {"ok": True, "tool": "bash_output", "data": TASK, "ts": 1764700000.5}),
    (Task, "A poll that brought nothing shrinks to its facts.", "bash_output", POLL),
    (Structured, "", "run_command", {"result": BUILD, "exit_status": 2, "cwd": "/app"}),
    (Structured, "Lists lose their middle, with a count in its place.", "query", [{"row": "value"}] * 8_000),
    (Structured, "Media become attachments; a note stands in their place.", "screenshot",
     {"content": [PICTURE]}),
    (Text, "", "grep", BUILD),
    (Text, "What a terminal would not show at last is not shown to the model.", "install",
     "".join(f"\rfetched {part}%" for part in range(101)) + "\n\x1b[32mdone\x1b[0m\n"),
)  # fmt: skip


def project(result, name):
    normalizer = Normalizer(Settings(home=Path("unused")), MemoryOutputs())
    return normalizer.normalize(ToolCall(result=result, name=name, session_id="s1", call_id="c1"))


def kinds_table():
    """Return the kinds, their rules, and a result of each before and after, as Markdown."""
    rows = ["| kind | rule | the result | what the model reads |", "| --- | --- | --- | --- |"]
    for kind, rule, name, result in EXAMPLES:
        made = project(result, name)
        if made["model_content_policy"]["kind"] != kind.name:
            raise ValueError(f"{name} is {made['model_content_policy']['kind']}, not {kind.name}")
        content = made["model_content"]
        before = f"`{name}`, {size(json.dumps(result, ensure_ascii=False))}: {code(result)}"
        after = f"{size(content)}: {code(json.loads(content))}"
        cells = (f"`{kind.name}`", rule or rule_of(kind), before, after)
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def size(text):
    return f"{len(text.encode()):,} bytes"


def rule_of(kind):
    """Return the first sentence of a projection's module."""
    return sys.modules[kind.__module__].__doc__.split("\n")[0].replace("``", "`")


def code(value):
    """Return ``value``, made brief, as inline code within a table."""
    written = json.dumps(brief(value), ensure_ascii=False, separators=(",", ":"))
    return f"``{written}``".replace("|", "\\|")


def brief(value):
    """Return ``value`` with ``⋯`` for the greater part of long texts and lists, its markers whole."""
    if isinstance(value, dict):
        return {name: brief(child) for name, child in value.items()}
    if isinstance(value, list) and len(value) > 4:
        markers = [item for item in value if isinstance(item, str) and item.startswith("[... ")]
        return [value[0], *(["⋯", *markers] if markers else []), "⋯", value[-1]]
    if isinstance(value, list):
        return [brief(item) for item in value]
    if not isinstance(value, str) or len(value) <= 200:
        return value
    marker = MARKER.search(value)
    middle = marker[0] + "⋯" if marker else ""
    return f"{value[:START]}⋯{middle}{value[-END:]}"


def limits_table():
    """Return the limits of the projections as Markdown."""
    rows = ["| limit | default | smallest | counts |", "| --- | ---: | ---: | --- |"]
    for limit in dataclasses.fields(Limits):
        if limit.name.startswith(("terminal_", "model_")):
            about = limit.metadata
            rows.append(f"| `{limit.name}` | {limit.default:,} | {about['smallest']:,} | {about['unit']} |")
    return "\n".join(rows)


TABLES = {"kinds": kinds_table, "limits": limits_table}


def section(name):
    made = f"<!-- {name}: made by docs/generate/projections_tables.py -->"
    return f"{made}\n{TABLES[name]()}\n<!-- end of {name} -->"


def with_section(document, name):
    """Return ``document`` with its section ``name`` made anew."""
    end = f"<!-- end of {name} -->"
    start = document.index(f"<!-- {name}:")
    return document[:start] + section(name) + document[document.index(end) + len(end) :]


if __name__ == "__main__":
    page = DOCUMENT.read_text(encoding="utf-8")
    for each in TABLES:
        page = with_section(page, each)
    DOCUMENT.write_text(page, encoding="utf-8")
