"""Homes that earlier versions wrote are kept here, and give today what they gave then, byte for byte."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from bridge.limits import Limits
from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.settings import Settings
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs
from bridge.store.schema import MIGRATIONS

HOMES = sorted((Path(__file__).parents[1] / "fixtures").glob("home-v*"))
SMALLEST = Limits(
    preview_max_chars=0,
    terminal_max_bytes=1_024,
    model_max_bytes=2_048,
    model_max_lines=20,
    request_max_bytes=1_024,
    output_file_max_bytes=4_096,
    output_session_max_bytes=4_096,
    output_total_max_bytes=4_096,
    output_max_age_days=1,
)
LARGEST = Limits(**dict.fromkeys(Limits.__slots__, 2**40))


@pytest.fixture(params=HOMES, ids=lambda home: home.name)
def home(request, tmp_path):
    return shutil.copytree(request.param, tmp_path / "home")


@pytest.fixture
def then(home):
    """Return what ``replay`` gave when the home was written, as the bytes of its JSON."""
    return (home / "replay.json").read_bytes().rstrip(b"\n")


def test_there_is_a_home_of_every_version_of_the_schema():
    assert [home.name for home in HOMES] == [f"home-v{number}" for number in range(1, len(MIGRATIONS) + 1)]


def test_a_session_of_an_earlier_version_replays_to_equal_bytes(home, then):
    assert orjson.dumps(Ledger(home).replay("session-2026")) == then


def test_pages_of_a_replay_joined_are_the_replay(home, then):
    ledger, items, after = Ledger(home), [], 0
    while after is not None:
        page = ledger.replay("session-2026", after=after, limit=2)
        items += page["items"]
        after = page["next_after"]
    assert orjson.dumps(items) == orjson.dumps(orjson.loads(then)["items"])


@pytest.mark.parametrize("limits", [SMALLEST, Limits(), LARGEST], ids=["smallest", "defaults", "largest"])
def test_the_same_ids_give_the_same_bytes_whatever_the_limits_are_and_the_result_is(home, then, limits):
    settings = replace(Settings(home=home), limits=limits)
    normalizer = Normalizer(settings, outputs=Outputs(home, limits), ledger=Ledger(home))
    for item in orjson.loads(then)["items"]:
        call_id = item["call_id"]
        call = ToolCall(result="another result", name="bash", session_id="session-2026", call_id=call_id)
        again = normalizer.normalize(call)
        assert again.pop("replayed") is True
        again.pop("terminal_content")
        saved = {key: item[key] for key in again}
        assert orjson.dumps(again) == orjson.dumps(saved)
    assert orjson.dumps(Ledger(home).replay("session-2026")) == then


def test_every_output_that_a_kept_session_cites_is_read_and_verified(home, then):
    outputs = Outputs(home, SMALLEST)
    cited = [item for item in orjson.loads(then)["items"] if "sha256" in item["output"]]
    assert cited
    for item in cited:
        content, offset, column = "", 1, 1
        while offset is not None:
            page = outputs.read("session-2026", item["call_id"], offset, column)
            content += page["content"]
            offset, column = page["next_offset"], page["next_column"]
        assert content.encode() == (home / "outputs/session-2026" / Path(item["output"]["path"]).name).read_bytes()
        assert len(content.encode()) == item["output"]["bytes"]


def test_an_earlier_version_is_brought_to_this_one_when_it_is_written(home):
    ledger = Ledger(home)
    ledger.save("new", "c", {"model_content": "", "model_content_policy": {}, "attachments": [], "output": {}})
    ledger.close()
    connection = sqlite3.connect(home / "ledger.sqlite3")
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
