"""The ledger: the same ids give back the same bytes, and a session replays in order."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.projections.normalizer import Normalizer
from bridge.protocol.errors import InvalidParams, StoreUnavailable
from bridge.protocol.models import ToolCall
from bridge.settings import Settings
from bridge.store import ledger as ledger_module
from bridge.store import schema
from bridge.store.ledger import Ledger


def projection(text="text", **changes):
    return {
        "model_content": json.dumps({"ok": True, "tool": "bash", "data": text}),
        "model_content_format": "tool_result_v1",
        "model_content_policy": {"truncated": False},
        "attachments": [],
        "output": {"path": "/home/outputs/s/c.txt", "bytes": 4, "lines": 1, "sha256": "00"},
        **changes,
    }


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "home", clock=lambda: 1_000.5)


def test_what_was_never_saved_is_not_found(ledger):
    assert ledger.find("s", "c") is None


def test_a_saved_projection_is_found_as_it_was(ledger):
    saved = projection()
    assert ledger.save("s", "c", saved) is saved
    assert ledger.find("s", "c") == saved


def test_the_first_writer_wins_and_the_second_is_given_the_first(ledger, tmp_path):
    ledger.save("s", "c", projection("first"))
    other = Ledger(tmp_path / "home")
    assert other.save("s", "c", projection("second")) == projection("first")
    assert [item["sequence"] for item in ledger.replay("s")["items"]] == [1]


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(attachments=st.lists(VALUES, max_size=3), text=st.text())
def test_any_json_value_comes_back_equal_in_the_same_order(tmp_path_factory, attachments, text):
    ledger = Ledger(tmp_path_factory.getbasetemp() / "values")
    call_id = f"c{abs(hash((repr(attachments), text)))}"
    saved = projection(text, attachments=attachments)
    ledger.save("s", call_id, saved)
    assert json.dumps(ledger.find("s", call_id)) == json.dumps(saved)


@pytest.mark.parametrize(
    "value", [10**40, -(2**63) - 1, 1.0, "\ud800 alone", json.loads("[" * 300 + "]" * 300)], ids=repr
)
def test_what_orjson_cannot_hold_is_kept_as_well(ledger, value):
    saved = projection(attachments=[value])
    assert ledger.save("s", "c", saved) is saved
    assert repr(ledger.find("s", "c")) == repr(saved)


@pytest.mark.parametrize("value", [object(), {1: 2, "x": object()}, 10**5_000], ids=["object", "nested", "huge"])
def test_what_is_not_json_is_not_saved_and_says_so(ledger, value):
    answer = ledger.save("s", "c", projection(attachments=[value]))
    assert answer["model_content_policy"]["ledger"]["reason"] == "not_json"
    assert answer["model_content"] == projection()["model_content"]
    assert ledger.find("s", "c") is None


def test_a_session_replays_in_order_in_pages(ledger):
    for number in range(7):
        ledger.save("s", f"c{number}", projection(str(number)))
        ledger.save("other", f"c{number}", projection("other"))
    first = ledger.replay("s", limit=3)
    second = ledger.replay("s", after=first["next_after"], limit=3)
    third = ledger.replay("s", after=second["next_after"], limit=3)
    items = first["items"] + second["items"] + third["items"]
    assert [item["sequence"] for item in items] == [1, 2, 3, 4, 5, 6, 7]
    assert [item["call_id"] for item in items] == [f"c{number}" for number in range(7)]
    assert {item["time"] for item in items} == {1_000.5}
    assert third["next_after"] is None
    assert items[3] == {"sequence": 4, "call_id": "c3", "time": 1_000.5, **projection("3")}


def test_a_page_that_ends_with_the_session_says_so(ledger):
    ledger.save("s", "c", projection())
    assert ledger.replay("s", limit=1)["next_after"] is None
    assert ledger.replay("s", after=1) == {"session_id": "s", "items": [], "next_after": None}
    assert ledger.replay("nobody")["items"] == []


def test_a_page_of_replay_is_bounded_in_bytes(ledger, monkeypatch):
    monkeypatch.setattr(ledger_module, "REPLAY_PAGE_BYTES", 3_000)
    for number in range(5):
        ledger.save("s", f"c{number}", projection("x" * 1_000))
    ledger.save("s", "large", projection("x" * 9_000))
    page, seen = {"next_after": 0}, []
    while page["next_after"] is not None:
        page = ledger.replay("s", after=page["next_after"])
        seen.append([item["sequence"] for item in page["items"]])
    assert seen == [[1, 2], [3, 4], [5], [6]]


@pytest.mark.parametrize("bad", ["../x", "/etc/passwd", "", "x" * 513, None, 7, "a\\b", "a/b", "a\n"])
def test_ids_that_are_not_names_are_refused(ledger, bad):
    for call in (
        lambda: ledger.find(bad, "c"),
        lambda: ledger.find("s", bad),
        lambda: ledger.save("s", bad, projection()),
        lambda: ledger.replay(bad),
    ):
        with pytest.raises(InvalidParams):
            call()


@pytest.mark.parametrize("arguments", [{"after": -1}, {"after": True}, {"after": 2**63}, {"limit": 0}, {"limit": "5"}])
def test_a_page_that_cannot_be_is_refused(ledger, arguments):
    with pytest.raises(InvalidParams) as caught:
        ledger.replay("s", **arguments)
    assert list(caught.value.data["fields"]) == list(arguments)


def test_the_file_is_for_its_owner_alone(ledger, tmp_path):
    ledger.save("s", "c", projection())
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    for file in (tmp_path / "home").iterdir():
        assert file.stat().st_mode & 0o777 == 0o600, file.name


def test_the_version_of_the_schema_is_the_number_of_migrations(ledger, tmp_path):
    ledger.save("s", "c", projection())
    with closing(sqlite3.connect(tmp_path / "home" / "ledger.sqlite3", isolation_level=None)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_ledger_of_a_newer_version_is_left_alone(ledger, tmp_path):
    ledger.save("s", "c", projection())
    with closing(sqlite3.connect(tmp_path / "home" / "ledger.sqlite3", isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    answer = Ledger(tmp_path / "home").save("s", "d", projection())
    assert "newer" in answer["model_content_policy"]["ledger"]["detail"]
    with pytest.raises(StoreUnavailable):
        Ledger(tmp_path / "home").replay("s")
    assert not list((tmp_path / "home").glob("*damaged*"))


def test_what_is_saved_is_the_text_that_orjson_writes(ledger, tmp_path):
    ledger.save("s", "c", projection("é"))
    with closing(sqlite3.connect(tmp_path / "home" / "ledger.sqlite3", isolation_level=None)) as connection:
        (text,) = connection.execute("SELECT projection FROM projections").fetchone()
    connection.close()
    assert text.encode() == orjson.dumps(projection("é"))


def test_a_row_that_someone_changed_stops_no_call_and_is_not_shown_as_saved(ledger, tmp_path):
    ledger.save("s", "c", projection())
    with closing(sqlite3.connect(tmp_path / "home" / "ledger.sqlite3", isolation_level=None)) as connection:
        connection.execute("UPDATE projections SET projection = 'half a pro'")
    connection.close()
    assert ledger.find("s", "c") is None
    answer = ledger.save("s", "c", projection("again"))
    assert answer["model_content"] == projection("again")["model_content"]
    assert answer["model_content_policy"]["ledger"]["reason"] == "damaged"
    with pytest.raises(StoreUnavailable) as caught:
        ledger.replay("s")
    assert caught.value.data["reason"] == "damaged"


def test_threads_take_turns_on_one_ledger(ledger):
    def save(thread):
        return [ledger.save("s", f"{thread}-{number}", projection()) for number in range(30)]

    with ThreadPoolExecutor(4) as threads:
        for answers in threads.map(save, range(4)):
            assert answers == [projection()] * 30
    assert len(ledger.replay("s")["items"]) == 120


def test_one_saved_projection_is_looked_up_or_its_absence_is_clear(ledger):
    ledger.save("s", "c", projection())
    head = {"session_id": "s", "call_id": "c"}
    item = {"sequence": 1, "call_id": "c", "time": 1_000.5, **projection()}
    assert ledger.lookup("s", "c") == {**head, "item": item}
    assert ledger.lookup("s", "d") == {**head, "call_id": "d", "item": None, "reason": "never_saved"}


@pytest.mark.parametrize("levels", [90, 91, 97, 300])
def test_no_page_of_replay_is_nested_deeper_than_ruby_reads(ledger, levels):
    deep = json.loads("[" * levels + "]" * levels)
    ledger.save("s", "c", projection(attachments=[deep, {"type": "image"}]))
    for reply in ({"items": [ledger.lookup("s", "c")["item"]]}, ledger.replay("s")):
        (item,) = reply["items"]
        assert depth([{"jsonrpc": "2.0", "result": reply}]) <= 100
        assert item["attachments"][1] == {"type": "image"}
        assert (item["model_content_policy"].get("ledger", {}).get("reason") == "too_deep") == (levels > 94)
    assert ledger.find("s", "c")["attachments"][0] == deep, "the ledger itself has all of it"


def depth(value):
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if children is None else 1 + max(map(depth, children), default=0)


def test_the_subject_of_a_call_is_kept_and_bounded(ledger, tmp_path):
    ledger.save("s", "c", projection(), {"tool": "bash", "status": "failed", "text": "make " * 100})
    ledger.save("s", "d", projection())
    connection = sqlite3.connect(tmp_path / "home" / "ledger.sqlite3")
    (first,), (second,) = connection.execute("SELECT subject FROM projections ORDER BY id").fetchall()
    connection.close()
    assert json.loads(first) == {"tool": "bash", "status": "failed", "text": ("make " * 100)[:200]}
    assert second is None


def test_a_call_that_is_normalized_is_kept_with_its_tool_its_status_and_its_command(tmp_path):
    home = tmp_path / "home"
    normalizer = Normalizer(Settings(home=home), ledger=Ledger(home))
    args = {"path": "/w", "command": "make test"}
    normalizer.normalize(ToolCall(result="x", name="bash", status="failed", args=args, session_id="s", call_id="c"))
    connection = sqlite3.connect(home / "ledger.sqlite3")
    (subject,) = connection.execute("SELECT subject FROM projections").fetchone()
    connection.close()
    assert json.loads(subject) == {"tool": "bash", "status": "failed", "text": "make test"}
