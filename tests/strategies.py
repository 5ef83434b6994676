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
        st.integers(1, 4_000),
    ),
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(10**40), 10**40), st.floats(), texts
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=8),
        st.dictionaries(texts, inner, max_size=8),
        st.builds(lambda item, times: [item] * times, inner, st.integers(0, 600)),
        st.builds(lambda item, times: {f"k{at}": item for at in range(times)}, inner, st.integers(0, 60)),
    ),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=6)
limits = st.builds(
    Limits,
    terminal_max_bytes=st.integers(1_024, 9_000),
    model_max_bytes=st.integers(2_048, 30_000),
    model_max_lines=st.integers(20, 2_100),
)
tools = (
    st.sampled_from(["read_file", "patch_file", "write_file", "bash", "bash_output", "grep", "run_command"])
    | texts
)
rind = st.builds(
    lambda ok, tool, members: {"ok": ok, "tool": tool, **members},
    st.booleans(),
    tools,
    st.fixed_dictionaries(
        {},
        optional={
            "data": values
            | st.fixed_dictionaries(
                {"task_id": texts, "status": texts, "stdout": texts, "next_cursor": st.integers()}
            ),
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
