"""What was cut can be found again: what is stored, where, and where reading goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from memory_store import MemoryOutputs
from projecting import IDS, normalize
from reading import MARK, place

import bridge
from bridge.limits import Limits
from bridge.payload.json_value import document
from bridge.store.outputs import Outputs

LINES = [f"line {number} of twenty thousand" for number in range(1, 20_001)]


@pytest.fixture(params=["a text", "an object"])
def partial(request, tmp_path):
    """Finish a call whose output is too large to be kept whole; return the projection and its content."""
    text = "\n".join(LINES) + "\n"
    result = text if request.param == "a text" else {"stdout": text, "exit_code": 1}
    limits = Limits(output_session_max_bytes=8_192)
    outputs = Outputs(tmp_path / "home", limits)
    made = bridge.normalize(result, name="bash", outputs=outputs, limits=limits, **IDS)
    return made, json.loads(made["model_content"])


def test_a_partial_file_is_called_partial_and_says_what_is_gone(partial):
    made, content = partial
    output = content["meta"]["output"]
    assert (output["partial"], output["gone_bytes"]) == (True, made["output"]["gone_bytes"])
    assert "complete" not in made["model_content"]
    kept = Path(made["output"]["path"]).read_text().split("\n")
    assert kept[output["gone_at_line"] - 1].startswith("[... ")


def test_the_continuation_of_a_partial_file_is_a_line_that_it_has(partial):
    made, content = partial
    kept = Path(place(content["meta"])).read_text().split("\n")
    offset = content["meta"]["continue"]["args"]["offset"]
    assert offset <= made["output"]["lines"]
    assert kept[offset - 1].startswith("[... ") or kept[offset - 1] in LINES


def test_every_line_of_the_source_has_its_place_in_a_partial_file(tmp_path):
    """The numbers of the marker lead to the same lines in the file, wherever they are kept."""
    from bridge.projections.complete_output import CompleteOutput

    reference = Outputs(tmp_path, Limits(output_session_max_bytes=8_192)).store(
        "s", "c", ("\n".join(LINES) + "\n").encode()
    )
    output, kept = CompleteOutput(reference), Path(reference["path"]).read_text().split("\n")
    found = [kept[output.line_in_file(number) - 1] for number in range(1, len(LINES) + 1)]
    assert all(line == LINES[at] or line.startswith("[... ") for at, line in enumerate(found))
    assert found[0] == LINES[0]
    assert found[-1] == LINES[-1]


@pytest.mark.parametrize(
    ("result", "limit"),
    [('"' * 70_000, 100_000), ({"a": "x" * 3_984, "n": 1e400}, 4_096)],
)
def test_what_is_cut_is_stored_whatever_the_limits_are(result, limit):
    """Whether the whole must be kept is decided by what was projected, not by an estimate of its size."""
    limits = Limits(model_max_bytes=limit, terminal_max_bytes=limit)
    outputs = MemoryOutputs()
    made = normalize(result, limits=limits, outputs=outputs, **IDS)
    is_cut = made["model_content_policy"]["truncated"] or bool(MARK.search(made["terminal_content"]))
    assert is_cut == bool(outputs.kept)
    assert (made["output"] == {"reason": "not_needed"}) == (not is_cut)


@pytest.mark.parametrize("depth", [92, 120, 300, 3_000])
def test_the_stored_file_of_a_deep_result_is_that_result(depth):
    deep = []
    for _ in range(depth):
        deep = [None, deep]
    result = {"rows": deep, "note": "x" * 30_000, "none": None}
    outputs = MemoryOutputs()
    normalize({"a": result, "b": result["note"]}, outputs=outputs, **IDS)
    assert outputs.kept["s1", "c1"] == document({"a": result, "b": result["note"]})
