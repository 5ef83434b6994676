from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from bridge.store.ledger import Ledger


@pytest.mark.usefixtures("session")
def test_it_shows_each_call_in_order_with_tool_status_size_and_place(ask, home):
    shown = ask("replay", "s1")
    places = [shown.index(title) for title in ("1. bash make", "2. screenshot", "3. read_file a.rb", "4. grep width")]
    assert places == sorted(places)
    assert "4. grep width  failed  c4" in shown
    assert f"Complete output: {home / 'outputs' / 's1' / 'c1.txt'}" in shown
    assert "3 terminal escape sequences" in shown


@pytest.mark.usefixtures("session")
def test_one_call_alone_is_shown_when_it_is_named(ask):
    shown = ask("replay", "s1", "c3")
    assert "1 │ puts 1" in shown
    assert "c1" not in shown


@pytest.mark.usefixtures("session")
def test_json_has_the_content_that_the_model_read(ask, home):
    (row,) = json.loads(ask("replay", "s1", "c1", "--json"))
    saved = Ledger(home).find("s1", "c1")
    assert row["content"] == saved["model_content"]
    assert (row["tool"], row["subject"], row["ok"], row["cut"]) == ("bash", "make", True, False)


@pytest.mark.usefixtures("session")
def test_a_call_that_is_not_there_is_said_not_to_be_there(ask):
    assert "Session s1 has no call c9" in ask("replay", "s1", "c9", status=1)


@pytest.mark.parametrize(
    "damaged", ["", "[]", "{}", '{"model_content": 7}', '{"model_content": "' + "[" * 9_000 + '"}']
)
@pytest.mark.usefixtures("session")
def test_a_damaged_row_hides_no_other(ask, home, damaged):
    with closing(sqlite3.connect(home / "ledger.sqlite3", isolation_level=None)) as database:
        database.execute("UPDATE projections SET projection = ? WHERE call_id = 'c2'", (damaged,))
    shown = ask("replay", "s1")
    assert "1. bash make" in shown
    assert "4. grep width" in shown
    assert len(json.loads(ask("replay", "s1", "--json"))) == 4
