"""Managed tasks: facts together, no cursor past what was not shown, empty polls in a line."""

from __future__ import annotations

from projecting import SMALLEST, model, normalize

POLL = {
    "bg_id": "b1", "status": "running", "stdout": "", "stderr": "", "exit_code": -1, "no_new_output": True,
    "empty_observation_count": 3, "suggested_next_wait_ms": 2000, "wait_ms": 500, "elapsed_ms": 9000,
    "sequence": 4, "timestamp": 1, "delta": "",
}  # fmt: skip


def task(stdout, **members):
    data = {
        "task_id": "t1", "status": "running", "exit_code": None, "command": "make", "cwd": "/x", "stdout": stdout,
        "stderr": "", "start_cursor": 100, "next_cursor": 900,
    }  # fmt: skip
    meta = {
        "truncated": True,
        "total_bytes": 5,
        "output_path": "/o",
        "output_incomplete": True,
        "output_error": "full",
    }
    return {"ok": True, "tool": "bash", "data": data | members, "meta": meta}


def test_output_that_is_shown_whole_keeps_its_cursor():
    assert model(task("a\nb\n"), "bash")["data"]["next_cursor"] == 900


def test_shortened_output_loses_the_cursor_that_would_skip_it_and_keeps_the_facts():
    for limits in (SMALLEST, SMALLEST.replace({"model_max_bytes": 25_600})):
        content = model(task("line of output\n" * 9_000), "bash", limits=limits)
        data, meta = content["data"], content["meta"]
        assert "next_cursor" not in data
        assert meta["withheld"] == ["next_cursor"]
        assert (data["task_id"], data["status"], data["exit_code"], data["start_cursor"]) == (
            "t1",
            "running",
            None,
            100,
        )
        assert (meta["output_path"], meta["output_incomplete"], meta["output_error"]) == ("/o", True, "full")
        assert meta["truncated_by"] == ["tool", "bridge"]


def test_a_long_command_costs_no_cursor():
    assert "next_cursor" in model(task("a\n", command="x" * 90_000), "bash")["data"]


def test_an_empty_poll_shrinks_to_its_facts():
    made = normalize({"ok": True, "tool": "bash_output", "data": POLL}, "bash_output")
    assert made["output"] == {"reason": "not_needed"}
    kept = (
        "bg_id",
        "status",
        "no_new_output",
        "empty_observation_count",
        "suggested_next_wait_ms",
        "wait_ms",
        "elapsed_ms",
    )
    content = model({"ok": True, "tool": "bash_output", "data": POLL}, "bash_output")
    assert content["data"] == {name: POLL[name] for name in kept}


def test_a_task_that_ended_in_silence_is_no_empty_poll():
    content = model(task("", status="exited", exit_code=0), "bash")
    assert (content["data"]["exit_code"], content["data"]["stdout"]) == (0, "")
