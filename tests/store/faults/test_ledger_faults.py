"""A ledger that is held, damaged or somebody else's: calls get their answers, and what is not ours is left alone."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
from contextlib import closing

import pytest
from saving import projection, refusal, saved

from bridge.limits import Limits
from bridge.protocol.errors import StoreUnavailable
from bridge.store import database
from bridge.store import ledger as ledger_module
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

# A database that is locked or damaged


@pytest.mark.usefixtures("short_patience")
def test_a_locked_ledger_costs_no_output_and_is_used_again_when_it_is_free(home, outputs, ledger, caplog):
    assert saved(ledger, "before")
    holder = sqlite3.connect(home / "ledger.sqlite3", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    answer = ledger.save("s", "during", projection())
    assert answer["model_content_policy"]["ledger"] == {
        "reason": "locked",
        "detail": "another process holds the ledger",
        "pending": True,
    }
    ledger.save("s", "during", projection())
    assert len(caplog.records) == 1, "a trouble that lasts is told once"
    assert ledger.find("s", "before") == projection(), "who reads does not wait for who writes"
    assert "path" in outputs.store("s", "during", b"text\n")
    assert outputs.read("s", "during")["content"] == "text\n"
    holder.execute("ROLLBACK")
    holder.close()
    assert saved(ledger, "during")
    assert ledger.find("s", "during") == projection()


def test_a_ledger_that_waits_for_another_worker_is_saved(home, ledger):
    assert saved(ledger, "before")
    holder = sqlite3.connect(home / "ledger.sqlite3", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.1, lambda: holder.execute("ROLLBACK"))
    release.start()
    assert saved(ledger, "during")
    release.join()
    holder.close()


def overwrite(path, start, content):
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content)


def rename_in_file(path, name, other):
    """Write other bytes, as many, in the place of a name."""
    content = path.read_bytes()
    assert name in content
    path.write_bytes(content.replace(name, other))


DAMAGE = {
    "text instead": lambda path: path.write_text("this is no database, whatever its name says\n" * 100),
    "header gone": lambda path: overwrite(path, 0, b"\0" * 100),
    "cut short": lambda path: os.truncate(path, path.stat().st_size // 2),
    "pages gone": lambda path: overwrite(path, 4_096, b"\xff" * (path.stat().st_size - 4_096)),
    "name of a table": lambda path: rename_in_file(path, b"tableabsencesabsences", b"table\xffbsencesabsences"),
}


CLOSED, OPEN = "between two workers", "while one has it open"
# While it is open the header is in the log as well, and comes back from there; the names of tables were read already.
NOT_SEEN = {("header gone", OPEN), ("name of a table", OPEN)}
WHEN = [(name, when) for name in DAMAGE for when in (CLOSED, OPEN) if (name, when) not in NOT_SEEN]


@pytest.mark.parametrize(("damage", "when"), WHEN)
def test_a_damaged_ledger_is_set_aside_and_a_new_one_begun_with_one_line(home, caplog, damage, when):
    ledger, outputs = Ledger(home), Outputs(home, Limits())
    outputs.store("s", "kept", b"text\n")
    for number in range(50):
        assert saved(ledger, f"c{number}")
    if when == CLOSED:
        for opened in (ledger, outputs):
            opened.close()
    else:
        ledger.database.checkpoint()  # else all rows are in the log and no damage is seen
    DAMAGE[damage](home / "ledger.sqlite3")
    for number in range(60, 70):
        ledger.save("s", f"c{number}", projection())
    assert outputs.read("s", "kept")["content"] == "text\n"
    assert saved(ledger, "new")
    asides = [path for path in home.glob("*.damaged-*") if not path.name.endswith(("-wal", "-shm"))]
    assert len(asides) == 1
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert asides[0].name in line
    assert str(home / "ledger.sqlite3") in line
    outputs.store("s", "last", b"text\n")
    assert Ledger(home).find("s", "new") == projection(), "what still had the old file open took nothing along"


def test_outputs_of_a_ledger_that_was_set_aside_are_counted_again_by_cleanup(home):
    old, now = 10_000.0, 20_000.0
    Outputs(home, Limits(), clock=lambda: old).store("s", "kept", b"text\n")
    os.utime(home / "outputs/s/kept.txt", (old, old))
    shutil.copy(__file__, home / "ledger.sqlite3")
    outputs = Outputs(home, Limits(output_session_max_bytes=4_096), clock=lambda: now)
    outputs.cleanup()
    assert "path" in outputs.store("s", "fits", b"x" * 4_091)
    assert outputs.store("s", "more", b"x")["reason"] == "quota"
    assert outputs.read("s", "kept")["content"] == "text\n"
    assert outputs.store("s", "kept", b"other")["reason"] == "conflict"
    assert outputs.store("s", "kept", b"text\n")["lines"] == 1


# A ledger that another process holds


def hold(home):
    holder = sqlite3.connect(home / "ledger.sqlite3", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    return holder


def test_outputs_and_ledger_of_a_home_wait_for_a_held_ledger_once_and_not_at_every_call(home, monkeypatch):
    outputs = Outputs(home, Limits())
    ledger = Ledger(home, database=outputs.database)
    assert saved(ledger, "before")
    holder, waits, waited = hold(home), [], []
    monkeypatch.setattr(database, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(database.time, "sleep", waits.append)
    for number in range(5):
        before = len(waits)
        assert ledger.find("s", f"c{number}") is None
        assert "path" in outputs.store("s", f"c{number}", b"text\n")
        assert not saved(ledger, f"c{number}")
        waited.append(len(waits) > before)
    holder.close()
    assert waited == [True, False, False, False, False]


@pytest.mark.usefixtures("short_patience")
def test_what_could_not_be_saved_is_saved_later_in_order_and_says_so_meanwhile(home, ledger):
    assert saved(ledger, "before")
    holder = hold(home)
    answers = {name: ledger.save("s", name, projection(name)) for name in ("one", "two")}
    assert answers["one"]["model_content_policy"]["ledger"]["pending"] is True
    assert ledger.find("s", "one") == answers["one"], "a retry gets what the first call got"
    assert ledger.save("s", "one", projection("other")) == answers["one"]
    assert ledger.replay("s")["pending"] == 2
    assert ledger.lookup("s", "two")["item"]["model_content"] == "two"
    assert ledger.save_pending() == 2
    holder.close()
    assert ledger.save_pending() == 0
    page = ledger.replay("s")
    assert "pending" not in page
    assert [item["call_id"] for item in page["items"]] == ["before", "one", "two"]
    assert ledger.find("s", "one") == projection("one")


@pytest.mark.usefixtures("short_patience")
def test_what_waits_to_be_saved_is_bounded(home, ledger, monkeypatch):
    assert saved(ledger, "before")
    monkeypatch.setattr(ledger_module, "PENDING_MAX_BYTES", 1_000)
    holder = hold(home)
    policies = [ledger.save("s", f"c{number}", projection("x" * 400))["model_content_policy"] for number in range(4)]
    holder.close()
    assert ["pending" in policy["ledger"] for policy in policies] == [True, False, False, False]


# What lies in the ledger's place and is somebody else's


@pytest.mark.parametrize("target", ["dangling", "a file", "another program's database"])
def test_a_link_in_the_place_of_the_ledger_is_not_followed(home, outputs, ledger, tmp_path, target):
    home.mkdir()
    other = tmp_path / "other"
    if target == "a file":
        other.write_bytes(b"")
    elif target != "dangling":
        foreign_database(other)
    before = other.read_bytes() if other.exists() else None
    (home / "ledger.sqlite3").symlink_to(other)
    policy = ledger.save("s", "c", projection())["model_content_policy"]
    assert policy["ledger"]["reason"] == "foreign"
    assert "path" in outputs.store("s", "c", b"text\n")
    assert (other.read_bytes() if other.exists() else None) == before
    assert (home / "ledger.sqlite3").is_symlink()
    (home / "ledger.sqlite3").unlink()
    assert ledger.save_pending() == 0
    assert ledger.find("s", "c") == projection()


def foreign_database(path, mode="DELETE"):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE notes (text)")
    connection.execute("INSERT INTO notes VALUES ('mine')")
    connection.execute("PRAGMA user_version = 7")
    connection.close()


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_of_another_program_is_neither_written_nor_renamed_and_the_ledger_comes_back(home, ledger, mode):
    home.mkdir()
    path = home / "ledger.sqlite3"
    foreign_database(path, mode)
    before = path.read_bytes()
    answer = ledger.save("s", "c", projection())["model_content_policy"]["ledger"]
    assert answer["reason"] == "foreign"
    assert "RIND_BRIDGE_HOME" in answer["detail"]
    assert path.read_bytes() == before
    assert not list(home.glob("*damaged*"))
    path.rename(home / "moved")
    assert ledger.save_pending() == 0
    assert ledger.find("s", "c") == projection()


# Rows that somebody changed


def change(home, statement):
    with closing(sqlite3.connect(home / "ledger.sqlite3", isolation_level=None)) as connection:
        connection.execute(statement)


@pytest.mark.parametrize("text", ["x", "[]", "{}", "7", '{"bytes": "4"}', "[" * 5_000])
def test_a_record_of_a_file_that_was_changed_is_damaged(home, outputs, text):
    reference = outputs.store("s", "c", b"text\n")
    change(home, f"UPDATE files SET reference = '{text}'")
    assert refusal(lambda: outputs.read("s", "c"))["reason"] == "damaged"
    assert outputs.store("s", "c", b"text\n") == reference, "whoever brings it again repairs it"
    assert outputs.read("s", "c")["content"] == "text\n"


@pytest.mark.parametrize("text", ["[]", "{}", "null", '{"model_content": 7}', "[" * 5_000])
def test_a_saved_projection_that_was_changed_is_damaged(home, ledger, text):
    assert saved(ledger, "c")
    change(home, f"UPDATE projections SET projection = '{text}'")
    assert ledger.find("s", "c") is None
    assert ledger.save("s", "c", projection())["model_content_policy"]["ledger"]["reason"] == "damaged"
    for call in (lambda: ledger.replay("s"), lambda: ledger.lookup("s", "c")):
        with pytest.raises(StoreUnavailable) as caught:
            call()
        assert caught.value.data["reason"] == "damaged"


def test_a_foreign_database_with_names_that_are_no_text_is_left_alone(home, outputs, ledger):
    home.mkdir()
    path = home / "ledger.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (a)")
        connection.commit()
    rename_in_file(path, b"bookmarks", b"bookmark\xff")
    before = path.read_bytes()
    assert ledger.save("s", "c", projection())["model_content_policy"]["ledger"]["reason"] == "foreign"
    assert "path" in outputs.store("s", "c", b"text\n")
    assert path.read_bytes() == before
    assert [found.name for found in home.glob("ledger.sqlite3*")] == [path.name]


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("UPDATE projections SET call_id = x'fffe'", lambda home: Ledger(home).replay("s")),
        ("UPDATE projections SET sequence = x'fffe'", lambda home: Ledger(home).replay("s")),
        ("UPDATE projections SET saved_at = x'fffe'", lambda home: Ledger(home).lookup("s", "c")),
        ("UPDATE sessions SET gone_reason = x'fffe'", lambda home: Ledger(home).replay("s")),
        ("UPDATE projections SET call_id = CAST(x'fffe' AS TEXT)", lambda home: Ledger(home).replay("s")),
        ("UPDATE projections SET projection = CAST(x'fffe' AS TEXT)", lambda home: Ledger(home).lookup("s", "c")),
        ("UPDATE files SET path = CAST(x'fffe' AS TEXT)", lambda home: Outputs(home, Limits()).forget("s")),
        ("UPDATE files SET path = x'fffe'", lambda home: Outputs(home, Limits()).forget("s")),
    ],
)
def test_a_value_that_was_never_saved_is_damaged(home, outputs, ledger, statement, call):
    outputs.store("s", "c", b"text\n")
    assert saved(ledger, "c")
    change(home, statement)
    with pytest.raises(StoreUnavailable) as caught:
        call(home)
    assert caught.value.data["reason"] == "damaged"
    assert "\ufffd" not in caught.value.data["detail"], "what it says has no contents"


@pytest.mark.parametrize("value", ["x'fffe'", "''"])
def test_a_cleanup_that_meets_a_session_that_is_no_name_says_why_it_ends(home, outputs, value):
    outputs.store("s", "c", b"text\n")
    change(home, f"UPDATE files SET session_id = {value}")
    answer = outputs.cleanup()
    assert answer.get("reason") == "damaged", answer
