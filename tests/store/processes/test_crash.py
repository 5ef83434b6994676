"""Workers are killed at any moment; what they had answered is kept, and nothing half-written is seen."""

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


def content_of(call_id):
    """Return the content of a call: from nothing to 2 MB, so that kills meet writes of all lengths."""
    generator = random.Random(call_id)
    return generator.randbytes(int(2 ** generator.uniform(0, 21)))


def complete(outputs, ledger, call_id):
    """Do what ``tool_completed`` does with the store, and return what the caller is answered."""
    if found := ledger.find("session", call_id):
        return found
    reference = outputs.store("session", call_id, content_of(call_id))
    projection = {
        "model_content": json.dumps({"call": call_id, "filler": "x" * 20_000}),
        "model_content_format": "tool_result_v1",
        "model_content_policy": {"truncated": True},
        "attachments": [],
        "output": reference,
    }
    return ledger.save("session", call_id, projection)


def complete_until_killed(home, seed):
    def work(tell):
        generator = random.Random(seed)
        outputs, ledger = Outputs(home, Limits()), Ledger(home)
        while True:
            call_id = f"call-{generator.randrange(10_000)}"
            tell([call_id, complete(outputs, ledger, call_id)])

    return work


def test_workers_that_are_killed_at_random_lose_no_answer_and_leave_nothing_half_written(tmp_path, start, counted):
    home, answered = tmp_path / "home", {}
    generator = random.Random(20_261_130)
    for number in range(counted(40, 200)):
        child, pipe = start(complete_until_killed(home, number))
        # Those that wait for no answer die while they make or open the ledger, the others in a later call.
        lines = [pipe.readline() for _ in range(generator.randrange(5))]
        time.sleep(generator.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        for line in [*lines, *pipe.readlines()]:
            if line.endswith(b"\n"):
                call_id, answer = json.loads(line)
                assert answered.setdefault(call_id, answer) == answer
        pipe.close()
    assert len(answered) > counted(40, 200)

    no_file_is_half_written(home)
    the_database_is_whole(home)
    every_answer_is_kept_and_given_again(home, answered)
    nothing_is_left_over(home)


def no_file_is_half_written(home):
    for path in (home / "outputs/session").iterdir():
        if not path.name.startswith(".tmp-"):
            assert path.read_bytes() == content_of(path.name.removesuffix(".txt")), path


def the_database_is_whole(home):
    connection = sqlite3.connect(home / "ledger.sqlite3")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    kept = connection.execute("SELECT total(bytes) FROM files").fetchone()
    assert connection.execute("SELECT total_bytes FROM state").fetchone() == kept
    sequences = [row[0] for row in connection.execute("SELECT sequence FROM projections ORDER BY sequence")]
    connection.close()
    assert sequences == list(range(1, len(sequences) + 1))
    assert not list(home.glob("*.damaged-*"))


def every_answer_is_kept_and_given_again(home, answered):
    outputs, ledger = Outputs(home, Limits(model_max_bytes=9_999)), Ledger(home)
    for call_id, answer in answered.items():
        assert json.dumps(ledger.find("session", call_id)) == json.dumps(answer)
        assert json.dumps(complete(outputs, ledger, call_id)) == json.dumps(answer)
        assert outputs.store("session", call_id, content_of(call_id)) == answer["output"]
    call_id = next(iter(answered))
    assert outputs.read("session", call_id)["total_bytes"] == len(content_of(call_id))


def nothing_is_left_over(home):
    # Two hours later whatever was abandoned is old enough to be removed, and what is kept is not.
    kept = {path for path in (home / "outputs/session").iterdir() if not path.name.startswith(".tmp-")}
    Outputs(home, Limits(), clock=lambda: time.time() + 7_200).cleanup()
    assert set((home / "outputs/session").iterdir()) == kept
