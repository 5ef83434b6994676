"""Makes the tables of docs/protocol.md: the methods, the specification's examples, the JSON corpus.

Run it to rewrite them:  .venv/bin/python docs/generate/protocol_tables.py
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from bridge.protocol.openrpc import document

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
DOCUMENT = ROOT / "docs" / "protocol.md"
CORPUS = ROOT.parent / "shared" / "jsontestsuite"
EXAMPLES = json.loads((ROOT / "tests" / "worker" / "spec_examples.json").read_text())
PING = b'{"jsonrpc":"2.0","id":"after","method":"ping"}\n'
PONG = {"jsonrpc": "2.0", "result": "pong", "id": "after"}

KINDS = {"y": "y_: must be accepted", "n": "n_: must be refused", "i": "i_: may be either"}
OUTCOMES = ("no reply", "-32700", "-32600", "a batch of -32600")


def examples_table():
    """Return the table of section 7's examples as Markdown; each is proved by test_rpc.py."""
    rows = ["| | example | sent | answered |", "| --- | --- | --- | --- |"]
    for number, example in enumerate(EXAMPLES, 1):
        answer = "nothing" if example["answer"] is None else f"`{json.dumps(example['answer'])}`"
        rows.append(f"| {number} | {example['about']} | `{example['sent']}` | {answer} |")
    return "\n".join(rows)


def methods_table():
    """Return the methods and their parameters as Markdown, from the OpenRPC document."""
    rows = ["| method | parameters | what it does |", "| --- | --- | --- |"]
    for method in document("0")["methods"]:
        parameters = ", ".join(map(parameter, method["params"]))
        rows.append(f"| `{method['name']}` | {parameters} | {method['summary'].replace('``', '`')} |")
    return "\n".join(rows)


def parameter(described):
    if described["required"]:
        return described["name"]
    return f"{described['name']} = {json.dumps(described['schema']['default'])}"


def lines_of(data):
    """Return the lines that a file becomes on the wire: one more LF ends its last."""
    return [line + b"\n" for line in (data.removesuffix(b"\n")).split(b"\n")]


def send_corpus(directory, home):
    """Send every line of every file to one worker, and a ping after each file.

    Returns a count of (kind, outcome). Raises ``ValueError`` when a line is not answered exactly once.
    """
    counts = Counter()
    with subprocess.Popen(
        [sys.executable, "-m", "bridge", "serve"],
        env={"PATH": os.environ["PATH"], "RIND_BRIDGE_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as worker:
        for file in sorted(directory.glob("*.json")):
            kind = file.name[0]
            counts[kind, "files"] += 1
            for line in lines_of(file.read_bytes()):
                counts[kind, "lines"] += 1
                counts[kind, outcome(worker, line)] += 1
        worker.stdin.close()
        if worker.stdout.read():
            raise ValueError("a line was answered more than once")
    return counts


def outcome(worker, line):
    """Send ``line`` and a ping, and name what came before the ping's answer."""
    worker.stdin.write(line + PING)
    worker.stdin.flush()
    replies = [json.loads(worker.stdout.readline())]
    while replies[-1] != PONG:
        replies.append(json.loads(worker.stdout.readline()))
    if len(replies) > 2:
        raise ValueError(f"{line!r} was answered {len(replies) - 1} times")
    return name_of(replies[0]) if len(replies) == 2 else "no reply"


def name_of(reply):
    if isinstance(reply, dict):
        return str(reply["error"]["code"])
    if {element["error"]["code"] for element in reply} != {-32600}:
        raise ValueError(f"an unexpected batch: {reply}")
    return "a batch of -32600"


def corpus_table(counts):
    """Return the counts over the corpus as Markdown."""
    columns = ("files", "lines", *OUTCOMES)
    rows = ["| | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    rows += [
        f"| {about} | " + " | ".join(str(counts[kind, column]) for column in columns) + " |"
        for kind, about in KINDS.items()
    ]
    totals = [sum(counts[kind, column] for kind in KINDS) for column in columns]
    return "\n".join([*rows, "| all | " + " | ".join(map(str, totals)) + " |"])


def section(name, text):
    return f"<!-- {name}: made by docs/generate/protocol_tables.py -->\n{text}\n<!-- end of {name} -->"


def replace_section(document, name, text):
    """Return ``document`` with its section ``name`` made anew."""
    start = document.index(f"<!-- {name}:")
    end = f"<!-- end of {name} -->"
    return document[:start] + section(name, text) + document[document.index(end) + len(end) :]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        counted = send_corpus(CORPUS, Path(scratch))
    page = DOCUMENT.read_text(encoding="utf-8")
    for name, table in (
        ("methods", methods_table()),
        ("examples", examples_table()),
        ("corpus", corpus_table(counted)),
    ):
        page = replace_section(page, name, table)
    DOCUMENT.write_text(page, encoding="utf-8")
