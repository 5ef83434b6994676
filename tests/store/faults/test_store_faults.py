"""Whatever the disk or the database does, a call gets its answer, and the next one tries again."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from contextlib import suppress

import pytest
from saving import projection, refusal, saved

from bridge.limits import Limits
from bridge.protocol.errors import OutputMissing, StoreUnavailable
from bridge.store import files
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

NOBODY = 65_534
MEGABYTE = b"x" * 79 + b"\n"
MEGABYTE *= 13_000


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
