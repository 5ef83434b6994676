"""Whatever the disk or the database does, a call gets its answer, and the next one tries again."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
import threading
from contextlib import closing, suppress

import pytest

from bridge.limits import Limits
from bridge.protocol.errors import OutputMissing, StoreUnavailable
from bridge.store import database, files
from bridge.store import ledger as ledger_module
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

NOBODY = 65_534
MEGABYTE = b"x" * 79 + b"\n"
MEGABYTE *= 13_000


def projection(text="{}"):
    return {
        "model_content": text,
        "model_content_format": "tool_result_v1",
        "model_content_policy": {},
        "attachments": [],
        "output": {"reason": "not_needed"},
    }


@pytest.fixture
def ledger(home):
    return Ledger(home)


@pytest.fixture
def short_patience(monkeypatch):
    monkeypatch.setattr(database, "PATIENCE_SECONDS", 0.05)


def refusal(call):
    with pytest.raises(OutputMissing) as caught:
        call()
    return caught.value.data


def saved(ledger, call_id):
    answer = ledger.save("s", call_id, projection())
    return "ledger" not in answer["model_content_policy"]


def fill(path):
    """Write a file until its disk has not one free block."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(MEGABYTE)


def visible(home):
    return sorted(str(path.relative_to(home)) for path in (home / "outputs").rglob("*") if path.is_file())


# A full disk


def test_on_a_full_disk_the_turn_goes_on_and_the_next_call_tries_again(small_disk):
    home = small_disk / "home"
    outputs, ledger = Outputs(home, Limits()), Ledger(home)
    assert "path" in outputs.store("s", "first", MEGABYTE)
    assert saved(ledger, "first")
    answer = outputs.store("s", "second", MEGABYTE)
    assert answer == {"reason": "failed", "detail": os.strerror(errno.ENOSPC)}
    assert visible(home) == ["outputs/s/first.txt"]
    assert refusal(lambda: outputs.read("s", "second"))["reason"] == "failed"
    (home / "outputs/s/first.txt").unlink()
    assert "path" in outputs.store("s", "second", MEGABYTE)
    assert outputs.read("s", "second")["total_bytes"] == len(MEGABYTE)


def test_a_ledger_on_a_disk_without_one_free_block_says_so_and_recovers(small_disk):
    home = small_disk / "home"
    ledger, outputs = Ledger(home), Outputs(home, Limits())
    assert saved(ledger, "before")
    filler = small_disk / "filler"
    fill(filler)
    answers = [ledger.save("s", f"c{number}", projection("x" * 20_000)) for number in range(3)]
    assert "ledger" in answers[-1]["model_content_policy"]
    assert answers[-1]["model_content"] == "x" * 20_000
    assert outputs.store("s", "c", b"text")["reason"] == "failed"
    filler.unlink()
    assert saved(ledger, "after")
    assert ledger.find("s", "before") == projection()
    assert "path" in outputs.store("s", "c", b"text")


def test_a_file_size_limit_fails_one_output_and_no_other(home, with_file_size_limit):
    def work():
        outputs, ledger = Outputs(home, Limits()), Ledger(home)
        return [
            outputs.store("s", "large", MEGABYTE),
            "path" in outputs.store("s", "small", b"text\n"),
            saved(ledger, "small"),
        ]

    large, small, kept = with_file_size_limit(600_000, work)
    assert large == {"reason": "failed", "detail": os.strerror(errno.EFBIG)}
    assert small
    assert kept
    assert visible(home) == ["outputs/s/small.txt"]


# A home without permission


@pytest.fixture
def read_only_home(open_folder):
    """Return a home that was written, and that its owner may now only read."""
    home = open_folder / "home"
    Outputs(home, Limits()).store("s", "kept", b"one\ntwo\n")
    ledger = Ledger(home)
    ledger.save("s", "kept", projection())
    ledger.close()  # as at the end of a worker: nothing is left in the log
    paths = [home, *home.rglob("*")]
    for path in paths:
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
        path.chmod(0o500 if path.is_dir() else 0o400)
    yield home
    for path in paths:
        if path.is_dir():
            path.chmod(0o700)


def test_a_read_only_home_is_read_and_the_turn_goes_on(read_only_home, as_ordinary_user):
    def work():
        outputs, ledger = Outputs(read_only_home, Limits()), Ledger(read_only_home)
        return {
            "page": outputs.read("s", "kept")["content"],
            "found": ledger.find("s", "kept"),
            "replayed": [item["call_id"] for item in ledger.replay("s")["items"]],
            "stored": outputs.store("s", "new", b"text"),
            "saved": ledger.save("s", "new", projection())["model_content_policy"],
            "cleanup": outputs.cleanup()["reason"],
        }

    answer = as_ordinary_user(work)
    assert answer["page"] == "one\ntwo\n"
    assert answer["found"] == projection()
    assert answer["replayed"] == ["kept"]
    assert answer["stored"]["reason"] == "failed"
    assert answer["stored"]["detail"].startswith(os.strerror(errno.EACCES))
    why = {"reason": "unavailable", "detail": "attempt to write a readonly database", "pending": True}
    assert answer["saved"] == {"ledger": why}
    assert answer["cleanup"] == "unavailable"


def test_a_home_that_may_not_be_entered_gives_reasons(read_only_home, as_ordinary_user):
    read_only_home.chmod(0)

    def work():
        outputs, ledger = Outputs(read_only_home, Limits()), Ledger(read_only_home)
        try:
            outputs.read("s", "kept")
        except StoreUnavailable as error:
            reason = error.data["reason"]
        return [reason, ledger.find("s", "kept"), outputs.store("s", "new", b"text")["reason"]]

    assert as_ordinary_user(work) == ["unreadable", None, "failed"]


# Something else in the place of a folder or a file


@pytest.mark.parametrize("place", [".", "outputs", "outputs/s"])
def test_a_file_where_a_folder_should_be_fails_the_output_alone(home, outputs, ledger, place):
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("in the way")
    assert outputs.store("s", "c", b"text")["reason"] == "failed"
    with pytest.raises((StoreUnavailable, OutputMissing)):
        outputs.read("s", "c")
    assert saved(ledger, "c") == (place != ".")
    path.unlink()
    assert "path" in outputs.store("s", "c", b"text")
    assert saved(ledger, "c")


def test_a_folder_where_the_ledger_should_be_is_set_aside(home, ledger, caplog):
    (home / "ledger.sqlite3" / "inside").mkdir(parents=True)
    assert saved(ledger, "c")
    (aside,) = home.glob("ledger.sqlite3.damaged-*")
    assert (aside / "inside").is_dir()
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_not_a_file_is_never_opened_as_an_output(home, outputs, tmp_path, kind):
    path = home / "outputs/s/c.txt"
    outputs.store("s", "c", b"text")
    path.unlink()
    secret = tmp_path / "secret"
    secret.write_bytes(b"text")
    {"link": lambda: path.symlink_to(secret), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}[kind]()
    assert refusal(lambda: outputs.read("s", "c"))["reason"] == "damaged"
    answer = {"reason": "failed", "detail": "something else lies in its place"}
    assert outputs.store("s", "c", b"text") == answer
    assert secret.read_bytes() == b"text"


@pytest.mark.parametrize("place", ["outputs", "outputs/s"])
def test_a_folder_that_is_a_link_is_followed_neither_to_read_nor_to_write(home, outputs, tmp_path, place):
    outputs.store("s", "c", b"text")
    elsewhere = tmp_path / "elsewhere"
    (home / place).rename(elsewhere)
    (home / place).symlink_to(elsewhere)
    with pytest.raises(StoreUnavailable):
        outputs.read("s", "c")
    before = sorted(elsewhere.rglob("*"))
    assert outputs.store("s", "d", b"text")["reason"] == "failed"
    outputs.cleanup()
    assert sorted(elsewhere.rglob("*")) == before


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


DAMAGE = {
    "text instead": lambda path: path.write_text("this is no database, whatever its name says\n" * 100),
    "header gone": lambda path: overwrite(path, 0, b"\0" * 100),
    "cut short": lambda path: os.truncate(path, path.stat().st_size // 2),
    "pages gone": lambda path: overwrite(path, 4_096, b"\xff" * (path.stat().st_size - 4_096)),
}


CLOSED, OPEN = "between two workers", "while one has it open"
# While it is open the header is in the log as well, and comes back from there.
WHEN = [(name, when) for name in DAMAGE for when in (CLOSED, OPEN) if (name, when) != ("header gone", OPEN)]


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


# Things that vanish, and clocks


@pytest.mark.parametrize("place", [".", "outputs", "outputs/s"])
def test_a_folder_that_vanished_is_made_again(home, outputs, ledger, place):
    outputs.store("s", "before", b"text\n")
    assert saved(ledger, "before")
    shutil.rmtree(home / place)
    assert "path" in outputs.store("s", "after", b"text\n")
    assert saved(ledger, "after")
    assert outputs.read("s", "after")["content"] == "text\n"
    assert Ledger(home).find("s", "after") == projection(), "no row goes to a file that nobody can find"
    assert refusal(lambda: outputs.read("s", "before"))["reason"] in ("damaged", "never_stored")


def test_an_output_that_was_removed_by_hand_is_written_again_when_it_comes_again(home, outputs):
    reference = outputs.store("s", "c", b"text\n")
    (home / "outputs/s/c.txt").unlink()
    assert refusal(lambda: outputs.read("s", "c"))["reason"] == "damaged"
    assert outputs.store("s", "c", b"other")["reason"] == "conflict"
    assert outputs.store("s", "c", b"text\n") == reference
    assert outputs.read("s", "c")["content"] == "text\n"


def test_the_temporary_file_of_a_write_that_lost_its_folder_is_written_once_more(home, monkeypatch):
    publish, lost = files._publish, []  # noqa: SLF001 - the moment before the link cannot be met from outside

    def lose_it_once(folder, temporary, name):
        if not lost:
            lost.append(name)
            shutil.rmtree(home / "outputs/s")
        publish(folder, temporary, name)

    monkeypatch.setattr(files, "_publish", lose_it_once)
    assert "path" in Outputs(home, Limits()).store("s", "c", b"text\n")
    assert lost


def test_without_hard_links_a_file_is_still_whole_and_the_first_one_stays(home, monkeypatch):
    def no_links(*_, **__):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    outputs = Outputs(home, Limits())
    assert "path" in outputs.store("s", "c", b"text\n")
    (home / "ledger.sqlite3").unlink()
    assert Outputs(home, Limits()).store("s", "c", b"other\n")["reason"] == "conflict"
    assert visible(home) == ["outputs/s/c.txt"]


def test_a_clock_that_goes_backwards_changes_no_order_and_keeps_nothing_for_ever(home):
    times = iter([5_000_000.0, 1_000.0])
    ledger = Ledger(home, clock=lambda: next(times))
    assert saved(ledger, "first")
    assert saved(ledger, "second")
    assert [item["call_id"] for item in ledger.replay("s")["items"]] == ["first", "second"]
    now = [1e12]
    outputs = Outputs(home, Limits(), clock=lambda: now[0])
    outputs.store("future", "c", b"text\n")
    now[0] = 2_000.0
    assert outputs.cleanup()["removed"] == []
    now[0] += 6 * 86_400
    assert outputs.cleanup()["removed"] == []
    now[0] += 2 * 86_400
    removed = outputs.cleanup()["removed"]
    assert [(item["path"], item["reason"]) for item in removed] == [
        ("outputs/future/c.txt", "expired"),
        ("ledger.sqlite3", "expired"),
    ]


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


def rename_in_file(path, name, other):
    """Write other bytes, as many, in the place of a name."""
    content = path.read_bytes()
    assert name in content
    path.write_bytes(content.replace(name, other))


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


def test_a_ledger_with_a_damaged_name_of_a_table_breaks_no_call(home):
    first = Ledger(home)
    assert saved(first, "before")
    first.close()
    rename_in_file(home / "ledger.sqlite3", b"tableabsencesabsences", b"table\xffbsencesabsences")
    assert "ledger" in Ledger(home).save("s", "after", projection())["model_content_policy"]
    with pytest.raises(StoreUnavailable):
        Ledger(home).replay("s")


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("UPDATE projections SET call_id = x'fffe'", lambda home: Ledger(home).replay("s")),
        ("UPDATE projections SET sequence = x'fffe'", lambda home: Ledger(home).replay("s")),
        ("UPDATE projections SET saved_at = x'fffe'", lambda home: Ledger(home).lookup("s", "c")),
        ("UPDATE sessions SET gone_reason = x'fffe'", lambda home: Ledger(home).replay("s")),
        ("UPDATE files SET path = x'fffe'", lambda home: Outputs(home, Limits()).forget("s")),
    ],
)
def test_a_value_of_another_type_is_damaged(home, outputs, ledger, statement, call):
    outputs.store("s", "c", b"text\n")
    assert saved(ledger, "c")
    change(home, statement)
    with pytest.raises(StoreUnavailable) as caught:
        call(home)
    assert caught.value.data["reason"] == "damaged"


@pytest.mark.parametrize("value", ["x'fffe'", "''"])
def test_a_cleanup_that_meets_a_session_that_is_no_name_says_why_it_ends(home, outputs, value):
    outputs.store("s", "c", b"text\n")
    change(home, f"UPDATE files SET session_id = {value}")
    answer = outputs.cleanup()
    assert answer.get("reason") == "damaged", answer
