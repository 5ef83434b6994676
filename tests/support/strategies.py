"""What a tool could give back: values, texts with everything in them, payloads of each dialect and kind."""

from __future__ import annotations

from hypothesis import strategies as st

from bridge.limits import Limits


class Case:
    """Drawn arguments whose repr is short: hypothesis prints every failing example."""

    def __init__(self, **members):
        self.__dict__.update(members)

    def __repr__(self):
        return f"Case({', '.join(f'{name}={value!s:.2000}' for name, value in vars(self).items())})"


AWKWARD = [
    "\n",
    "\r\n",
    "\r",
    "\x1b[31m",
    "\x1b]0;t\x07",
    "\b",
    "\\",
    '"',
    "\\n",
    "\x00",
    "\x85",
    "\u2028",
    "é",
    "漢",
    "👩‍👩‍👧",
    "🇩🇪",
    "각",
    "e\u0301",
    "error: x",
    "\ud83d",
    "a",
]

texts = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(AWKWARD), max_size=60).map("".join),
    st.builds(
        lambda piece, times: piece * times,
        st.sampled_from(AWKWARD) | st.text(min_size=1, max_size=9),
        st.integers(1, 400),
    ),
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.integers(-(10**40), 10**40), st.floats(), texts)
# Repeated here and not below: a repetition of repetitions would be a billion items.
repeated = st.one_of(
    st.builds(lambda item, times: [item] * times, scalars, st.integers(0, 300)),
    st.builds(lambda item, times: {f"k{at}": item for at in range(times)}, scalars, st.integers(0, 60)),
)
values = st.recursive(
    scalars | repeated,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(texts, inner, max_size=8),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=6)
limits = st.builds(
    Limits,
    terminal_max_bytes=st.integers(1_024, 9_000),
    model_max_bytes=st.integers(2_048, 30_000),
    model_max_lines=st.integers(20, 2_100),
)
tools = st.sampled_from(["read_file", "patch_file", "write_file", "bash", "bash_output", "grep", "run_command"]) | texts
rind = st.builds(
    lambda ok, tool, members: {"ok": ok, "tool": tool, **members},
    st.booleans(),
    tools,
    st.fixed_dictionaries(
        {},
        optional={
            "data": values
            | st.fixed_dictionaries({"task_id": texts, "status": texts, "stdout": texts, "next_cursor": st.integers()}),
            "error": values,
            "error_type": texts,
            "meta": objects | values,
            "attachments": st.lists(objects, max_size=2),
            "extra": values,
        },
    ),
)
aethercodex = st.one_of(
    st.fixed_dictionaries({"content": texts}, optional={"path": texts, "range": values, "more": values}),
    st.fixed_dictionaries({"result": texts, "exit_status": st.integers(0, 255), "cwd": texts}),
    st.fixed_dictionaries({"error": values}, optional={"more": values}),
    st.fixed_dictionaries({"ok": st.booleans(), "diff": texts}, optional={"path": texts}),
)
results = st.one_of(values, rind, aethercodex)

calls = st.builds(
    Case,
    result=results,
    name=tools,
    status=st.sampled_from(["completed", "failed", "cancelled"]),
    error_type=st.none() | texts,
    args=st.none() | objects,
    limits=limits,
)


def large_text(source):
    piece = "".join(source.choice(AWKWARD) for _ in range(source.randint(0, 6)))
    plain = source.choice(["x", "some words here\n", "     5 | row\n", "漢"])
    return source.choice([piece * source.choice([1, 10, 1_000]), plain * source.choice([1, 50, 5_000])])


def large_value(source, depth=0):
    if source.random() < 0.4 or depth > 3:
        return source.choice([large_text(source), large_text(source)[:20], None, True, 10**30, -1.5, float("nan")])
    size = source.choice([0, 1, 3, 8])
    if source.random() < 0.2:
        return [large_value(source, depth + 3)] * source.choice([10, 300])
    if source.random() < 0.1:
        value = large_value(source, depth + 3)
        for _ in range(source.choice([60, 120, 300])):
            value = [value]
        return value
    if source.random() < 0.5:
        return [large_value(source, depth + 1) for _ in range(size)]
    return {large_text(source)[: source.choice([5, 5, 2_000])]: large_value(source, depth + 1) for _ in range(size)}


def large_call(source):
    """A call whose result is large in any of its parts."""
    text, value = (lambda: large_text(source)), (lambda: large_value(source))
    tool = source.choice(["read_file", "patch_file", "bash", "bash_output", "grep", "run_command", text()])
    task = {"task_id": text(), "status": "running", "stdout": text(), "stderr": text(), "next_cursor": 5}
    meta = {"path": text(), "next_offset": 7, "truncated": True, "more": value()}
    result = source.choice(
        [
            value(),
            text(),
            {
                "ok": source.random() < 0.7,
                "tool": tool,
                "data": source.choice([value(), text(), task]),
                "meta": meta,
            },
            {
                "ok": False,
                "tool": tool,
                "error": text(),
                "error_type": text(),
                "meta": value(),
                "extra": value(),
            },
            {
                "content": text(),
                "path": text(),
                "range": source.choice([[5, 9], "5..9", value()]),
                "more": value(),
            },
            {"result": text(), "exit_status": 3, "cwd": text()},
            {"error": value(), "more": value()},
            {"ok": True, "diff": "@@ -1 +1 @@\n-a\n+b\n" * source.choice([1, 900]) + text(), "path": text()},
        ]
    )
    args = {"path": text(), "range": value(), "diff": text()}
    return Case(result=result, name=tool, status=source.choice(["completed", "failed"]), args=args)
