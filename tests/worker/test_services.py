"""The services behind a worker: real ones with outputs on disk, replay and homes that fail; and its chores at rest."""

import json
import signal
import sqlite3
from contextlib import closing

import pytest
from pydantic import TypeAdapter
from recorders import Recorders

from bridge.protocol.results import Cleaned, Completion, Counts, Forgotten, Looked, OutputPage, ReplayPage
from bridge.settings import Settings
from bridge.worker import services
from bridge.worker.services import Worker

LONG = "".join(f"line {number}\n" for number in range(30_000))
IDS = {"session_id": "s1", "call_id": "c1"}


@pytest.fixture
def worker(spawn):
    return spawn()


def validated(noun, value):
    return TypeAdapter(noun).validate_python(value, strict=True)


def completed(worker, result=LONG, **params):
    reply = worker.call("tool_completed", result=result, name="bash", **params)
    assert "result" in reply, reply
    projections = reply["result"]
    validated(Completion, projections)
    assert json.loads(projections["model_content"])["tool"] == "bash"
    assert len(projections["model_content"].encode()) <= 25_600
    assert len(projections["terminal_content"].encode()) <= 8_192
    return projections


def pages(worker):
    offset, column = 1, 1
    while offset is not None:
        reply = worker.call("read_output", **IDS, offset=offset, column=column)
        page = validated(OutputPage, reply["result"])
        yield page["content"]
        offset, column = page["next_offset"], page["next_column"]


def test_the_pages_of_a_stored_output_joined_are_the_output(worker):
    assert completed(worker, **IDS)["output"]["bytes"] == len(LONG)
    assert "".join(pages(worker)) == LONG


def test_asking_again_gives_what_was_saved_whatever_the_limits_are(worker):
    first = completed(worker, **IDS)
    worker.call("initialize", client={}, limits={"model_max_bytes": 3_000})
    again = completed(worker, **IDS)
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert again["model_content"] == first["model_content"]
    (item,) = validated(ReplayPage, worker.call("replay", session_id="s1")["result"])["items"]
    assert item["model_content"] == first["model_content"]


def test_a_worker_that_is_killed_loses_nothing_that_it_answered(spawn):
    worker = spawn()
    first = completed(worker, **IDS)
    worker.kill()
    assert completed(spawn(), **IDS)["model_content"] == first["model_content"]


def test_an_output_that_was_never_stored_is_told(worker):
    error = worker.call("read_output", **IDS)["error"]
    assert (error["code"], error["data"]["reason"]) == (-32002, "never_stored")


def test_cleanup_says_what_it_removed(worker):
    completed(worker, **IDS)
    assert validated(Cleaned, worker.call("cleanup")["result"])["removed"] == []


def test_stats_count_the_tool(worker):
    completed(worker)
    counts = validated(Counts, worker.call("stats")["result"])
    assert counts["tools"]["bash"]["bytes_in"] > len(LONG)


@pytest.mark.parametrize("identifier", ["../x", "/etc/passwd", "", "a" * 513])
@pytest.mark.parametrize("field", ["session_id", "call_id"])
def test_an_id_that_is_a_path_is_refused(worker, identifier, field):
    error = worker.call("tool_completed", result=1, name="bash", **{**IDS, field: identifier})["error"]
    assert error["code"] == -32602
    assert list(error["data"]["fields"]) == [field]


class TestAHomeThatFails:
    """A store that is missing or broken never breaks a call."""

    @pytest.fixture
    def worker(self, spawn, tmp_path):
        (tmp_path / "home").write_text("a file stands where the folder should be")
        return spawn()

    def test_the_projections_come_all_the_same_and_say_why_nothing_is_stored(self, worker):
        output = completed(worker, **IDS)["output"]
        assert output["reason"]
        assert "path" not in output

    @pytest.mark.parametrize(("method", "params"), [("read_output", IDS), ("replay", {"session_id": "s1"})])
    def test_a_question_to_the_store_is_answered_with_its_error(self, worker, method, params):
        error = worker.call(method, **params)["error"]
        assert error["code"] in (-32002, -32003)
        assert error["data"]["reason"]
        assert worker.alive()

    def test_a_cleanup_says_why_it_removed_nothing(self, worker):
        result = worker.call("cleanup")["result"]
        assert result["removed"] == []
        assert result["reason"]


class TestLookupAndForget:
    def test_a_saved_projection_is_found_by_its_ids_before_the_tool_is_run_again(self, worker):
        first = completed(worker, **IDS)
        found = validated(Looked, worker.call("lookup", **IDS)["result"])
        assert found["item"]["model_content"] == first["model_content"]
        assert worker.call("lookup", session_id="s1", call_id="other")["result"]["item"] is None

    def test_a_session_that_is_forgotten_leaves_nothing_and_says_so(self, worker):
        completed(worker, **IDS)
        gone = validated(Forgotten, worker.call("forget", session_id="s1")["result"])
        assert gone["removed"]
        assert worker.call("lookup", **IDS)["result"]["item"] is None
        assert worker.call("read_output", **IDS)["error"]["data"]["reason"] == "forgotten"


class Broken:
    def __init__(self, *_, **__):
        raise OSError("the disk is on fire")


class TestRest:
    @pytest.fixture
    def worker(self, tmp_path):
        return Worker(Settings(home=tmp_path), Recorders)

    def test_the_first_rest_loads_the_services_and_the_next_cleans_up(self, worker):
        assert worker.rest() == services.REST_BEFORE_CLEANUP_SECONDS
        assert worker.services.outputs.calls == []
        assert worker.rest() == services.CLEANUP_EVERY_SECONDS
        assert worker.services.outputs.calls == [("cleanup", (), {"force": False})]

    def test_a_cleanup_that_has_more_to_do_goes_on_soon(self, worker):
        answers = [{"more": True}, {"more": False}]
        worker.services.outputs.cleanup = lambda *, force: answers.pop(0)  # noqa: ARG005 - called by this name
        worker.rest()
        assert worker.rest() == services.REST_BETWEEN_SLICES_SECONDS
        assert worker.rest() == services.CLEANUP_EVERY_SECONDS

    def test_a_cleanup_that_fails_is_logged_without_contents(self, worker, caplog):
        worker.services.outputs = type("Failing", (), {"cleanup": Broken})()
        assert [worker.rest(), worker.rest()] == [
            services.REST_BEFORE_CLEANUP_SECONDS,
            services.CLEANUP_EVERY_SECONDS,
        ]
        assert "cleaning up failed: OSError" in caplog.text
        assert "fire" not in caplog.text

    def test_what_could_not_be_saved_is_saved_while_no_request_waits(self, worker):
        worker.rest()
        worker.rest()
        assert ("save_pending", (), {}) in worker.services.ledger.calls


class TestWhatWaitsToBeSaved:
    @pytest.fixture
    def held(self, spawn, tmp_path):
        """Return a worker with one call saved and one that waits, for the ledger was held; it is free again."""
        worker = spawn()
        worker.call("tool_completed", result="first", name="run", session_id="s", call_id="first")
        with closing(sqlite3.connect(tmp_path / "home" / "ledger.sqlite3", isolation_level=None)) as holder:
            holder.execute("BEGIN IMMEDIATE")
            answer = worker.call("tool_completed", result="second", name="run", session_id="s", call_id="second")
            assert answer["result"]["model_content_policy"]["ledger"]["pending"]
            holder.execute("ROLLBACK")
        return worker

    @pytest.mark.parametrize("ending", ["shutdown", "end of input", "SIGTERM", "other limits"])
    def test_it_is_saved_at_an_orderly_end(self, spawn, held, ending):
        if ending == "shutdown":
            assert held.call("shutdown")["result"] is None
        elif ending == "other limits":
            assert held.call("initialize", client={}, limits={"model_max_bytes": 9_000})["result"]
        elif ending == "SIGTERM":
            held.process.send_signal(signal.SIGTERM)
        assert held.end()[0] == 0
        items = spawn().call("replay", session_id="s")["result"]["items"]
        assert [item["call_id"] for item in items] == ["first", "second"]

    def test_it_is_forgotten_with_its_session(self, spawn, held):
        assert "error" not in held.call("forget", session_id="s")
        assert held.call("replay", session_id="s")["result"]["items"] == []
        assert held.end()[0] == 0
        assert spawn().call("replay", session_id="s")["result"]["items"] == []
