"""Four workers on one home: every call is saved once, no row is lost, and the quota holds all the while."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import time

from bridge.limits import Limits
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

WORKERS = 4
LARGEST_FILE = 20_000
LIMITS = Limits(output_total_max_bytes=1_000_000, output_session_max_bytes=2**40)


def content_of(call):
    """Return the content of a call, the same in every worker."""
    generator = random.Random(call)
    return generator.randbytes(generator.randrange(LARGEST_FILE))


def complete_all(home, worker, count):
    """Complete every call in an order of its own, with a projection that says who made it."""

    def work(tell):
        outputs, ledger = Outputs(home, LIMITS), Ledger(home)
        calls = list(range(count))
        random.Random(worker).shuffle(calls)
        for call in calls:
            call_id, session_id = f"call-{call}", f"session-{call % 7}"
            reference = outputs.store(session_id, call_id, content_of(call))
            projection = {
                "model_content": json.dumps({"worker": worker, "call": call}),
                "model_content_format": "tool_result_v1",
                "model_content_policy": {},
                "attachments": [],
                "output": reference,
            }
            tell([session_id, call_id, ledger.save(session_id, call_id, projection)])

    return work


def clean_for_ever(home):
    def work(_):
        outputs = Outputs(home, LIMITS)
        while True:
            outputs.cleanup()

    return work


def bytes_on_disk(home):
    total = 0
    for path in (home / "outputs").rglob("*.txt"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue  # removed while we count
    return total


class Watch:
    """Looks at the home from outside, in moments when no worker can record or strike off a file."""

    def __init__(self, home):
        self.home = home
        self.looks = 0
        self.most_recorded = self.most_on_disk = 0

    def look(self):
        """Take the write lock for as long as it takes to count."""
        connection = sqlite3.connect(self.home / "ledger.sqlite3", isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        (recorded,) = connection.execute("SELECT total_bytes FROM state").fetchone()
        self.most_recorded = max(self.most_recorded, recorded)
        self.most_on_disk = max(self.most_on_disk, bytes_on_disk(self.home))
        connection.execute("ROLLBACK")
        connection.close()
        self.looks += 1


def test_four_workers_with_the_same_calls_save_each_once_and_keep_the_quota(tmp_path, start, counted):
    home, count = tmp_path / "home", counted(300, 2_000)
    Ledger(home).find("session", "none")
    children = [start(complete_all(home, worker, count)) for worker in range(WORKERS)]
    cleaner, silence = start(clean_for_ever(home))
    watch, answers = Watch(home), []
    running = [child for child, _ in children]
    readers = [pipe.fileno() for _, pipe in children]
    collected = dict.fromkeys(readers, b"")
    while readers:
        watch.look()
        readers = [reader for reader in readers if drained(reader, collected)]
        time.sleep(0.02)
    assert [os.waitpid(child, 0)[1] for child in running] == [0] * WORKERS
    os.kill(cleaner, signal.SIGKILL)
    os.waitpid(cleaner, 0)
    silence.close()
    for _, pipe in children:
        answers += map(json.loads, collected[pipe.fileno()].splitlines())
        pipe.close()

    assert len(answers) == WORKERS * count
    every_call_is_saved_once(home, answers, count)
    assert watch.looks > 5
    assert watch.most_recorded <= LIMITS.output_total_max_bytes
    assert watch.most_on_disk <= LIMITS.output_total_max_bytes + WORKERS * LARGEST_FILE
    assert watch.most_recorded > LIMITS.output_total_max_bytes - 2 * LARGEST_FILE, "the quota was never reached"
    what_is_recorded_is_on_the_disk(home)


def drained(reader, collected):
    """Take what has arrived, and say whether more may come."""
    block = os.read(reader, 1 << 20)
    collected[reader] += block
    return bool(block)


def what_is_recorded_is_on_the_disk(home):
    connection = sqlite3.connect(home / "ledger.sqlite3")
    recorded = {row[0]: row[1] for row in connection.execute("SELECT path, bytes FROM files")}
    connection.close()
    found = {str(path.relative_to(home)): path.stat().st_size for path in (home / "outputs").rglob("*.txt")}
    # The cleaner may have been killed between striking a file off and removing it.
    assert recorded.items() <= found.items()
    assert len(found) - len(recorded) <= 1
    assert sum(recorded.values()) <= LIMITS.output_total_max_bytes


def every_call_is_saved_once(home, answers, count):
    saved = {}
    for number in range(7):
        items = Ledger(home).replay(f"session-{number}", limit=count)["items"]
        assert [item["sequence"] for item in items] == list(range(1, len(items) + 1))
        for item in items:
            assert saved.setdefault(item["call_id"], item) is item
    assert len(saved) == count
    for _, call_id, answer in answers:
        item = saved[call_id]
        assert {key: item[key] for key in answer} == answer


def test_a_process_that_forks_and_its_children_lose_no_row(tmp_path, start):
    """A child that kept its parent's connection would hold no lock, and another would throw its log away."""
    home, ledger = tmp_path / "home", Ledger(tmp_path / "home")

    def save(name):
        projection = {"model_content": "", "model_content_policy": {}, "attachments": [], "output": {}}
        for number in range(20):
            assert ledger.save("session", f"{name}-{number}", projection) is projection
        ledger.close()

    save("before")
    for round_ in range(3):
        names = [f"{round_}-{child}" for child in range(2)]
        children = [start(lambda _, name=name: save(name)) for name in names]
        save(f"{round_}-parent")
        for child, pipe in children:
            assert os.waitpid(child, 0)[1] == 0
            pipe.close()
    assert len(Ledger(home).replay("session")["items"]) == 20 * (1 + 3 * 3)


def test_workers_that_begin_a_home_at_once_all_save(tmp_path, start):
    home = tmp_path / "home"

    def work(tell):
        projection = {"model_content": "", "model_content_policy": {}, "attachments": [], "output": {}}
        call_id = f"call-{os.getpid()}"
        tell(Ledger(home).save("session", call_id, projection) == projection)

    children = [start(work) for _ in range(10)]
    for child, pipe in children:
        assert os.waitpid(child, 0)[1] == 0
        assert json.loads(pipe.read()) is True
        pipe.close()
    assert len(Ledger(home).replay("session")["items"]) == 10
