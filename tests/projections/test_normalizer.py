"""What holds around the projections: ids, the store, replay, media, what JSON cannot hold."""

from __future__ import annotations

import base64
import json

import pytest
from memory_store import MemoryLedger, MemoryOutputs
from projecting import DEFAULTS, IDS, model, normalize

import bridge
from bridge.protocol.errors import InvalidParams

LONG = "".join(f"line {number}\n" for number in range(9_000))
PNG = base64.b64encode(b"\x89PNG some image").decode()


def test_a_status_that_nobody_knows_is_refused_and_the_known_ones_are_named():
    with pytest.raises(InvalidParams) as refusal:
        normalize("text", status="error")
    assert "completed, failed, cancelled" in refusal.value.data["fields"]["status"]


def test_a_python_caller_has_it_without_a_worker():
    assert json.loads(bridge.normalize("text", name="run")["model_content"]) == {
        "ok": True,
        "tool": "run",
        "data": "text",
    }


@pytest.mark.parametrize("ids", [{"session_id": "../x"}, {"call_id": ""}, {"session_id": "a", "call_id": "/etc"}])
def test_ids_that_are_not_names_are_refused(ids):
    with pytest.raises(InvalidParams):
        normalize("text", **ids)


@pytest.mark.parametrize(
    ("result", "name", "stored", "field"),
    [
        (LONG, "run", LONG, None),
        ({"result": LONG, "exit_status": 0, "cwd": "/"}, "run", LONG, "result"),
        ({"ok": True, "tool": "bash", "data": {"stdout": LONG, "exit_code": 0}}, "bash", LONG, "data.stdout"),
        ({"ok": True, "tool": "bash", "data": LONG}, "bash", LONG, None),
        ({"error": LONG, "exit_status": 2}, "run", LONG, "error"),
        ({"error": "bad", "result": LONG}, "run", LONG, "result"),
        ([1] * 9_000, "run", json.dumps([1] * 9_000, indent=2) + "\n", None),
        ({"b": LONG, "a": LONG}, "run", json.dumps({"a": LONG, "b": LONG}, indent=2) + "\n", None),
        ("\x1b[1mbold\x1b[0m", "run", "\x1b[1mbold\x1b[0m", None),
    ],
)
def test_the_complete_output_is_stored_when_a_content_is_not_the_whole(result, name, stored, field):
    outputs = MemoryOutputs()
    made = normalize(result, name, outputs=outputs, **IDS)
    assert outputs.kept["s1", "c1"].decode() == stored
    assert made["output"].get("field") == field
    assert made["output"]["bytes"] == len(stored.encode())


def test_what_is_shown_whole_is_not_stored():
    outputs = MemoryOutputs()
    assert normalize({"result": "ok"}, outputs=outputs, **IDS)["output"] == {"reason": "not_needed"}
    assert outputs.kept == {}


def test_why_there_is_no_output_is_said():
    assert normalize(LONG)["output"] == {"reason": "no_ids"}
    assert normalize(LONG, **IDS)["output"] == {"reason": "no_store"}
    made = normalize(LONG, outputs=MemoryOutputs(refuses="quota"), **IDS)
    assert made["output"] == {"reason": "quota", "detail": "as told"}
    assert "not kept: quota" in json.loads(made["model_content"])["data"]
    assert made["model_content_policy"]["losses"][0]["reason"] == "quota"


def test_the_same_ids_give_back_what_was_saved_whatever_the_limits_are_today():
    outputs, ledger = MemoryOutputs(), MemoryLedger()
    first = normalize(LONG, outputs=outputs, ledger=ledger, **IDS)
    smaller = DEFAULTS.replace({"terminal_max_bytes": 2_000})
    again = normalize("another result", limits=smaller, outputs=outputs, ledger=ledger, **IDS)
    model_side = ("model_content", "model_content_format", "model_content_policy", "attachments", "output")
    assert {name: first[name] for name in model_side} == {name: again[name] for name in model_side}
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert outputs.kept["s1", "c1"] == LONG.encode()


def test_media_of_a_replayed_call_are_not_stored_again():
    outputs, ledger = MemoryOutputs(), MemoryLedger()
    result = {"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}
    for _ in range(2):
        made = normalize(result, outputs=outputs, ledger=ledger, **IDS)
    assert len(outputs.attached) == 1
    assert made["attachments"][0]["path"] == "/home/outputs/s1/c1.1"


def test_a_data_uri_in_a_text_is_lifted_out():
    content = model(f"see <img src='data:image/png;base64,{PNG}'> there")
    assert content["data"] == "see <img src='[attachment 1: image/png, 15 bytes]'> there"


def test_media_that_cannot_be_stored_stay_in_their_attachment():
    (attachment,) = normalize(f"data:image/png;base64,{PNG}")["attachments"]
    assert (attachment["data"], attachment["reason"]) == (PNG, "no_ids")


def test_a_data_uri_of_a_file_stays_in_its_page():
    text = f"url(data:image/png;base64,{PNG})\n"
    assert model({"content": text}, "read_file")["data"]["content"] == text


def test_rinds_attachments_pass_beside_the_contents():
    attachment = {"type": "image", "path": "/x.png", "width": 3}
    made = normalize({"ok": True, "tool": "view", "data": "an image", "attachments": [attachment]}, "view")
    assert made["attachments"] == [attachment]
    assert "x.png" not in made["model_content"]


def test_numbers_that_json_does_not_have_become_texts_and_are_told():
    content = model({"a": float("nan"), "b": float("inf"), "c": [float("-inf"), None], "d": 10**40})
    assert content["data"] == {"a": "NaN", "b": "Infinity", "c": ["-Infinity", None], "d": 10**40}
    assert content["meta"]["replaced"] == {"numbers": 3}


def test_no_depth_and_no_cycle_breaks_a_turn():
    deep = []
    for _ in range(9_000):
        deep = [deep]
    assert model(deep)["meta"]["replaced"] == {"branches": 1}
    cycle = {}
    cycle["self"] = cycle
    assert model(cycle)["data"] == {"self": "[a value inside itself]"}


def test_what_is_not_json_at_all_becomes_text():
    content = model({"when": {1, 2}, 3: b"bytes", "type": object})
    assert content["data"]["3"] == "bytes"
    assert content["meta"]["replaced"] == {"bytes": 1, "keys": 1, "objects": 1}


RIND_TEXT = '{"ok": true, "tool": "t", "data": 1}'


def error(text, details):
    return {"ok": False, "error": text, "meta": {"details": details}}


@pytest.mark.parametrize(
    ("result", "status", "content"),
    [
        ({"error": "no", "code": 3}, "completed", error("no", {"code": 3})),
        ({"error": None, "x": 1}, "completed", {"ok": True, "data": {"error": None, "x": 1}}),
        ({"error": {"message": "no"}}, "completed", error("no", {"error": {"message": "no"}})),
        ({"ok": False, "diff": ""}, "completed", {"ok": False, "data": {"ok": False, "diff": ""}}),
        ("boom", "failed", {"ok": False, "error": "boom"}),
        (None, "cancelled", {"ok": False, "error": "cancelled"}),
        ([1], "failed", {"ok": False, "data": [1], "error": "failed"}),
        (None, "completed", {"ok": True, "data": None}),
        (7, "completed", {"ok": True, "data": 7}),
        (RIND_TEXT, "completed", {"ok": True, "data": RIND_TEXT}),
    ],
)  # fmt: skip
def test_each_dialect_becomes_the_unified_payload(result, status, content):
    made = model(result, "t", status=status)
    assert made.pop("tool") == "t"
    assert made == content


def test_a_text_that_parses_to_a_payload_is_one_for_a_caller_whose_tools_answer_so():
    assert model(RIND_TEXT, "t", payload_texts=True) == {"ok": True, "tool": "t", "data": 1}
    assert model(RIND_TEXT, "another", payload_texts=True)["data"] == RIND_TEXT


def test_small_values_are_kept_where_they_were():
    result = {
        "result": LONG,
        "exit_status": 1,
        "nested": {"pid": 7, "log": LONG, "flags": [True, None]},
        "rows": [{"n": n} for n in range(9_000)],
    }
    data = model(result)["data"]
    assert (data["exit_status"], data["nested"]["pid"], data["nested"]["flags"]) == (1, 7, [True, None])
    at = next(at for at, row in enumerate(data["rows"]) if isinstance(row, str))
    assert data["rows"][:at] == result["rows"][:at]
    assert data["rows"][at + 1 :] == result["rows"][at + 1 - len(data["rows"]) :]


def test_the_longest_texts_give_way_first_down_to_a_common_size():
    data = model({"short": "a" * 3_000, "long": "b" * 30_000, "longer": "c" * 60_000})["data"]
    assert data["short"] == "a" * 3_000
    assert abs(len(data["long"]) - len(data["longer"])) < 40


def test_an_oversized_meta_a_name_and_an_error_type_are_shortened_and_named():
    result = {"ok": False, "tool": "t" * 50_000, "error": "why", "meta": {"path": "p" * 50_000}}
    content = model(result, "t" * 50_000, error_type="e" * 50_000)
    assert content["error"] == "why"
    assert content["meta"]["shortened"] == {"fields": ["tool", "error_type", "meta.path"], "texts": 3}


def test_what_was_cleaned_is_named_in_one_order_whatever_that_of_the_result():
    made = [normalize(result) for result in ({"a": "\x1b[mx", "b": "old\rnew"}, {"b": "old\rnew", "a": "\x1b[mx"})]
    assert json.dumps(made[0]["model_content_policy"]) == json.dumps(made[1]["model_content_policy"])
