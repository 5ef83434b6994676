"""What goes and what stays: age, quotas, the order of removal, the reasons, and what a crash left behind."""

from __future__ import annotations

import os
import time

import pytest

from bridge.limits import Limits
from bridge.protocol.errors import OutputMissing
from bridge.store import files, retention
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

DAY = 86_400.0
START = 1_000_000.0


class Clock:
    """A clock that a test sets; called, it gives the time as ``time.time`` does."""

    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now

    def pass_days(self, days):
        """Go forward."""
        self.now += days * DAY


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def outputs(home, clock):
    return Outputs(home, Limits(), clock)


def missing(outputs, session_id, call_id):
    with pytest.raises(OutputMissing) as caught:
        outputs.read(session_id, call_id)
    return caught.value.data


def reasons(answer):
    return {item["path"]: item["reason"] for item in answer["removed"]}


def projection():
    return {
        "model_content": "{}",
        "model_content_format": "tool_result_v1",
        "model_content_policy": {},
        "attachments": [],
        "output": {"reason": "not_needed"},
    }


# Age


def test_a_session_that_was_not_active_for_the_age_goes_and_reading_says_when_and_why(home, outputs, clock):
    outputs.store("old", "c", b"text")
    outputs.store("old", "empty", b"")
    outputs.store_attachment("old", "c", b"image", "image/png")
    clock.pass_days(7.5)
    answer = outputs.cleanup()
    assert sorted(reasons(answer).values()) == ["expired"] * 3
    assert answer["bytes"] == 9
    assert missing(outputs, "old", "c") == {"reason": "expired", "time": clock.now}
    assert list((home / "outputs").iterdir()) == []
    assert list((home / "attachments").iterdir()) == []


def test_an_old_output_of_a_session_that_is_still_active_stays(home, outputs, clock):
    outputs.store("s", "old", b"text")
    clock.pass_days(6)
    outputs.store("s", "new", b"text")
    clock.pass_days(6)
    Ledger(home, clock).save("s", "third", projection())
    clock.pass_days(6)
    assert outputs.cleanup()["removed"] == []
    assert outputs.read("s", "old")["content"] == "text"
    clock.pass_days(2)
    assert [item["path"] for item in outputs.cleanup()["removed"]] == [
        "outputs/s/old.txt",
        "outputs/s/new.txt",
        "ledger.sqlite3",
    ]


def test_saved_projections_of_an_expired_session_go_with_its_outputs_and_say_why(home, outputs, clock):
    ledger = Ledger(home, clock)
    for number in range(40):
        ledger.save("s", f"c{number}", projection())
    outputs.store("s", "c0", b"text")
    clock.pass_days(8)
    removed = outputs.cleanup()["removed"]
    assert sum(item.get("projections", 0) for item in removed) == 40
    assert {item["reason"] for item in removed} == {"expired"}
    gone = {"reason": "expired", "time": clock.now}
    assert ledger.find("s", "c0") is None
    assert ledger.replay("s") == {"session_id": "s", "items": [], "next_after": None, "gone": gone}
    assert ledger.lookup("s", "c0") == {"session_id": "s", "call_id": "c0", "item": None, **gone}
    ledger.save("s", "new", projection())
    assert [item["sequence"] for item in ledger.replay("s")["items"]] == [41], "no number is given twice"


def test_an_expired_output_may_come_again_but_not_with_other_content(outputs, clock):
    outputs.store("s", "c", b"text")
    clock.pass_days(8)
    outputs.cleanup()
    assert outputs.store("s", "c", b"other")["reason"] == "conflict"
    assert "path" in outputs.store("s", "c", b"text")
    assert outputs.read("s", "c")["content"] == "text"


# Quotas


def small(home, clock, **limits):
    return Outputs(home, Limits(**limits), clock)


def test_a_session_that_is_full_keeps_what_it_cites_and_refuses_what_is_new(home, clock):
    outputs = small(home, clock, output_session_max_bytes=10_000)
    assert "path" in outputs.store("s", "a", b"x" * 6_000)
    assert "path" in outputs.store("s", "b", b"x" * 4_000)
    answer = outputs.store("s", "c", b"x")
    assert answer["reason"] == "quota"
    assert "output_session_max_bytes" in answer["detail"]
    assert missing(outputs, "s", "c") == {"reason": "quota", "time": clock.now, "detail": answer["detail"]}
    assert outputs.read("s", "a")["total_bytes"] == 6_000
    assert "path" in outputs.store("other", "c", b"x"), "another session has its own quota"
    assert outputs.store_attachment("s", "c", b"x", "image/png")["reason"] == "quota"


def test_what_is_left_of_a_session_takes_a_part(home, clock):
    outputs = small(home, clock, output_session_max_bytes=10_000)
    outputs.store("s", "a", b"x" * 5_000)
    reference = outputs.store("s", "b", b"line\n" * 5_000)
    assert reference["partial"]
    assert reference["bytes"] <= 5_000


def test_the_total_takes_the_oldest_first_and_says_quota(home, clock):
    outputs = small(home, clock, output_total_max_bytes=10_000)
    for number in range(5):
        outputs.store(f"s{number}", "c", b"x" * 3_000)
    assert missing(outputs, "s0", "c") == {"reason": "quota", "time": clock.now}
    assert missing(outputs, "s1", "c")["reason"] == "quota"
    assert [outputs.read(f"s{number}", "c")["total_bytes"] for number in (2, 3, 4)] == [3_000] * 3
    assert not (home / "outputs/s0/c.txt").exists()


def test_the_total_takes_expired_sessions_before_any_that_is_cited(home, clock):
    outputs = small(home, clock, output_total_max_bytes=10_000)
    outputs.store("kept", "oldest", b"x" * 3_000)
    outputs.store("gone", "c", b"x" * 3_000)
    clock.pass_days(8)
    outputs.store("kept", "newer", b"x" * 3_000)
    outputs.store("kept", "newest", b"x" * 3_000)
    assert missing(outputs, "gone", "c")["reason"] == "expired"
    assert outputs.read("kept", "oldest")["total_bytes"] == 3_000


def test_a_quota_that_was_lowered_is_kept_by_the_next_cleanup(home, outputs, clock):
    for number in range(4):
        outputs.store("s", f"c{number}", b"x" * 3_000)
    answer = small(home, clock, output_total_max_bytes=7_000).cleanup()
    assert reasons(answer) == {"outputs/s/c0.txt": "quota", "outputs/s/c1.txt": "quota"}


def test_more_files_than_a_batch_are_removed_in_one_cleanup(home, outputs, clock):
    for number in range(600):
        outputs.store("s", f"c{number}", b"x")
    clock.pass_days(8)
    assert len(outputs.cleanup()["removed"]) == 600
    assert list((home / "outputs").iterdir()) == []


def test_what_was_removed_by_hand_frees_its_room(home, clock):
    outputs = small(home, clock, output_session_max_bytes=10_000)
    outputs.store("s", "a", b"x" * 10_000)
    (home / "outputs/s/a.txt").unlink()
    assert reasons(outputs.cleanup()) == {"outputs/s/a.txt": "damaged"}
    assert "path" in outputs.store("s", "b", b"x" * 10_000)
    assert missing(outputs, "s", "a") == {"reason": "damaged", "time": clock.now}


# What a crash leaves


def aged(path, clock, seconds=7_200):
    os.utime(path, (clock.now - seconds, clock.now - seconds))
    return path


def test_a_temporary_file_is_removed_when_nobody_can_be_writing_it_any_more(home, outputs, clock):
    outputs.store("s", "c", b"text")
    abandoned, fresh = home / f"outputs/s/.tmp-{1:016x}", home / f"outputs/s/.tmp-{2:016x}"
    for path in (abandoned, fresh):
        path.write_bytes(b"half")
        aged(path, clock, 0)
    aged(abandoned, clock)
    assert reasons(outputs.cleanup()) == {f"outputs/s/.tmp-{1:016x}": "abandoned"}
    assert fresh.exists()


def test_a_file_that_was_never_recorded_is_counted_and_expires(home, outputs, clock):
    outputs.store("s", "c", b"text")
    aged(home / "outputs/s/c.txt", clock)
    orphan = aged((home / "outputs/s/c.txt").rename(home / "outputs/s/d.txt"), clock)
    outputs.cleanup()
    assert outputs.read("s", "d")["content"] == "text"
    assert outputs.store("s", "d", b"text")["lines"] == 1
    clock.pass_days(8)
    outputs.cleanup()
    assert not orphan.exists()
    assert missing(outputs, "s", "d")["reason"] == "expired"


def test_a_file_that_came_back_after_its_removal_is_counted_and_expires_again(home, outputs, clock):
    outputs.store("s", "c", b"text")
    path = home / "outputs/s/c.txt"
    kept = path.read_bytes()
    clock.pass_days(8)
    outputs.cleanup()
    path.parent.mkdir()
    path.write_bytes(kept)
    aged(path, clock)
    outputs.cleanup()
    assert outputs.read("s", "c")["content"] == "text"
    clock.pass_days(8)
    assert reasons(outputs.cleanup()) == {"outputs/s/c.txt": "expired"}
    assert not path.exists()


def test_a_file_that_cannot_be_removed_is_counted_again_and_tried_again(home, outputs, clock, monkeypatch):
    outputs.store("s", "c", b"text")
    aged(home / "outputs/s/c.txt", clock)
    clock.pass_days(8)
    monkeypatch.setattr(files, "remove", lambda *_: False)
    outputs.cleanup()
    assert outputs.read("s", "c")["content"] == "text"
    outputs.cleanup()
    monkeypatch.undo()
    outputs.cleanup()
    assert missing(outputs, "s", "c")["reason"] == "expired"


def test_files_of_somebody_else_are_left_alone(home, outputs, clock):
    outputs.store("s", "c", b"text")
    foreign = [home / "outputs/s/notes.md", home / "attachments/s/photo.png", home / "outputs/s/.DS_Store"]
    for path in foreign:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"mine")
        aged(path, clock)
    clock.pass_days(30)
    outputs.cleanup()
    assert all(path.read_bytes() == b"mine" for path in foreign)


# How often


def test_an_unforced_cleanup_runs_at_the_start_and_then_once_an_hour_for_all_workers(home, clock, monkeypatch):
    ticks = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: ticks[0])
    roomy = Outputs(home, Limits(), clock)
    first, second, third = (small(home, clock, output_total_max_bytes=5_000) for _ in range(3))
    calls = iter(range(100))

    def removed_by(worker):
        roomy.store("s", f"c{next(calls)}", b"x" * 4_000)
        return len(worker.cleanup(force=False)["removed"])

    assert removed_by(first) == 0
    assert removed_by(first) == 0, "it has looked within the hour"
    assert removed_by(second) == 0, "another worker has cleaned within the hour"
    clock.now += 3_600
    assert removed_by(third) == 3
    ticks[0] += 3_600
    assert removed_by(first) == 0, "another worker has cleaned within the hour"
    assert len(first.cleanup()["removed"]) == 1, "when it is asked for, it is done"


def test_an_unforced_cleanup_lets_calls_in_between_and_goes_on_when_it_is_asked_again(
    home, outputs, clock, monkeypatch
):
    monkeypatch.setattr(retention, "SLICE_SECONDS", 0)
    for number in range(20):
        outputs.store(f"s{number}", "c", b"x")
    clock.pass_days(8)
    answers = [outputs.cleanup(force=False)]
    while answers[-1]["more"]:
        outputs.store("new", f"c{len(answers)}", b"x")
        answers.append(outputs.cleanup(force=False))
    removed = [item["path"] for answer in answers for item in answer["removed"]]
    assert sorted(removed) == sorted(f"outputs/s{number}/c.txt" for number in range(20))
    assert len(answers) > 20
    assert [path.name for path in (home / "outputs").iterdir()] == ["new"]


def test_a_cleanup_that_is_not_due_touches_no_disk(home, outputs):
    outputs.cleanup(force=False)
    (home / "ledger.sqlite3").rename(home / "moved")
    assert outputs.cleanup(force=False) == {"removed": [], "bytes": 0, "more": False}
    assert not (home / "ledger.sqlite3").exists()


# Saved projections


def test_saved_projections_of_a_session_are_bounded_and_what_is_new_says_why(home, clock):
    ledger = Ledger(home, clock, Limits(output_session_max_bytes=4_096))
    large = {**projection(), "model_content": "x" * 1_500}
    answers = [ledger.save("s", f"c{number}", large) for number in range(4)]
    assert [answer["model_content_policy"].get("ledger", {}).get("reason") for answer in answers] == [
        None,
        None,
        "quota",
        "quota",
    ]
    assert ledger.save("other", "c", large) is large
    assert ledger.save_pending() == 0


def test_all_saved_projections_are_bounded_and_those_of_the_session_longest_at_rest_go_first(home, clock):
    ledger = Ledger(home, clock, Limits(output_total_max_bytes=6_000))
    large = {**projection(), "model_content": "x" * 1_500}
    for name in ("old", "newer", "newest"):
        for number in range(2):
            clock.now += 1
            assert ledger.save(name, f"c{number}", large) is large
    assert [len(ledger.replay(name)["items"]) for name in ("old", "newer", "newest")] == [0, 1, 2]
    assert ledger.lookup("old", "c0")["reason"] == "quota"
    small(home, clock, output_total_max_bytes=4_096).cleanup()
    assert [len(ledger.replay(name)["items"]) for name in ("old", "newer", "newest")] == [0, 0, 2]


def test_media_that_could_not_be_kept_as_files_are_in_the_answer_and_not_in_the_ledger(home, clock):
    ledger = Ledger(home, clock)
    image = {"type": "image", "mime_type": "image/png", "bytes": 1_000_000, "sha256": "00", "reason": "quota"}
    given = {**projection(), "attachments": [{**image, "data": "A" * 1_400_000}] * 5}
    assert ledger.save("s", "c", given)["attachments"][0]["data"]
    assert ledger.find("s", "c")["attachments"] == [image] * 5
    ledger.close()
    assert (home / "ledger.sqlite3").stat().st_size < 200_000


@pytest.mark.parametrize("digits", [5, 15])
def test_a_limit_of_any_size_is_a_limit(home, clock, digits):
    names = [name for name in Limits.__slots__ if name.startswith("output_") or name == "model_max_bytes"]
    outputs = Outputs(home, Limits(**dict.fromkeys(names, 10**digits)), clock)
    assert "path" in outputs.store("s", "c", b"text\n")
    assert "path" in outputs.store_attachment("s", "c", b"text\n", "image/png")
    assert outputs.read("s", "c")["content"] == "text\n"
    assert outputs.cleanup()["removed"] == []
    assert Ledger(home, clock, outputs.limits).save("s", "c", projection()) == projection()


def test_files_whose_names_only_look_temporary_are_left_alone(home, outputs, clock):
    outputs.store("s", "c", b"text")
    notes = [
        home / "outputs/s" / name for name in (".tmp-my-notes.txt", ".tmp-1", f".tmp-{1:015x}", f".tmp-{'F' * 16}")
    ]
    for path in notes:
        path.write_bytes(b"mine")
        aged(path, clock)
    outputs.cleanup()
    assert [path.read_bytes() for path in notes] == [b"mine"] * len(notes)


def test_unrecorded_files_are_taken_up_in_slices(home, outputs, clock, monkeypatch):
    outputs.store("s", "c", b"text")
    for number in range(1_000):
        path = home / f"outputs/s/found-{number}.txt"
        path.write_bytes(b"x")
        aged(path, clock)
    monkeypatch.setattr(retention, "SLICE_SECONDS", 0)
    slices = 1
    while outputs.cleanup(force=False)["more"]:
        slices += 1
    assert slices > 10
    assert outputs.read("s", "found-999")["content"] == "x"


# Forgetting


def test_a_forgotten_session_leaves_nothing_but_the_reason(home, outputs, clock):
    ledger = Ledger(home, clock)
    secret = "p4ssw0rd-" * 500
    for name in ("s", "other"):
        outputs.store(name, "c", secret.encode())
        outputs.store(name, "c", b"stderr", part="stderr")
        outputs.store_attachment(name, "c", secret.encode(), "image/png")
        ledger.save(name, "c", {**projection(), "model_content": secret}, {"tool": "bash", "text": secret})
    (home / "outputs/s/unrecorded.txt").write_text(secret)
    (home / "outputs/s/notes.md").write_text("mine")
    answer = outputs.forget("s")
    assert len(answer["removed"]) == 4
    assert answer["left"] == []
    assert missing(outputs, "s", "c") == {"reason": "forgotten", "time": clock.now}
    assert ledger.find("s", "c") is None
    assert ledger.lookup("s", "c")["reason"] == ledger.replay("s")["gone"]["reason"] == "forgotten"
    assert [path.name for path in home.rglob("outputs/s/*")] == ["notes.md"]
    assert not (home / "attachments/s").exists()
    assert outputs.read("other", "c")["total_bytes"] == len(secret)
    assert "path" in outputs.store("s", "c", b"something else"), "no hash of what was forgotten is kept"
    outputs.forget("other")
    ledger.close()
    assert not any(b"p4ssw0rd" in path.read_bytes() for path in home.iterdir() if path.is_file())
