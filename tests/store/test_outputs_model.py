"""Any sequence of calls, days, cleanups and removals by hand leaves a store that tells the truth."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bridge.limits import Limits
from bridge.protocol.errors import OutputMissing
from bridge.store.outputs import Outputs

LIMITS = Limits(output_file_max_bytes=6_000, output_session_max_bytes=12_000, output_total_max_bytes=20_000)
SESSIONS, CALLS = st.sampled_from(["one", "two", "three"]), st.sampled_from(["a", "b", "c", "d", "e"])
SIZES = st.sampled_from([0, 1, 1_000, 4_096, 6_000])


class Store(RuleBasedStateMachine):
    """Knows what was cited and what was removed by hand; everything else is asked of the store."""

    def __init__(self):
        super().__init__()
        self.home = Path(tempfile.mkdtemp(prefix="bridge-model-"))
        self.now = 1_800_000_000.0
        self.cited = {}
        self.removed_by_hand = set()
        self.open()

    def teardown(self):
        self.outputs.close()
        shutil.rmtree(self.home)

    @rule()
    def open(self):
        self.outputs = Outputs(self.home, LIMITS, lambda: self.now)

    @rule(session=SESSIONS, call=CALLS, size=SIZES, variant=st.sampled_from([b"x", b"\n"]))
    def store(self, session, call, size, variant):
        content = variant * size
        answer = self.outputs.store(session, call, content)
        cited, _ = self.cited.get((session, call), (None, None))
        if cited is None:
            assert "path" in answer or answer["reason"] == "quota"
        elif cited != content:
            assert answer["reason"] == "conflict"
        else:
            assert "path" in answer or answer["reason"] == "quota"
        if "path" in answer:
            kept = Path(answer["path"]).read_bytes()
            assert answer.get("partial") or kept == content
            self.cited[session, call] = content, kept
            self.removed_by_hand.discard((session, call))

    @rule(session=SESSIONS, call=CALLS, size=SIZES)
    def attach(self, session, call, size):
        answer = self.outputs.store_attachment(session, call, b"y" * size, "image/png")
        assert "path" in answer or answer["reason"] == "quota"

    @rule(days=st.sampled_from([0.01, 1, 3, 8]))
    def wait(self, days):
        self.now += days * 86_400

    @rule()
    def clean(self):
        assert "reason" not in self.outputs.cleanup()
        assert self.recorded() == self.on_disk()

    @rule(session=SESSIONS, call=CALLS)
    def remove_by_hand(self, session, call):
        path = self.home / "outputs" / session / f"{call}.txt"
        if path.exists():
            path.unlink()
            self.removed_by_hand.add((session, call))

    @invariant()
    def what_was_cited_is_there_or_says_why_not(self):
        for (session, call), (_, kept) in self.cited.items():
            try:
                page = self.outputs.read(session, call, limit=10_000)
            except OutputMissing as missing:
                by_hand = (session, call) in self.removed_by_hand
                # What somebody removed may still be struck off later, for its age or for the quota.
                allowed = {"expired", "quota", "damaged"} if by_hand else {"expired", "quota"}
                assert missing.data["reason"] in allowed  # noqa: PT017 - both outcomes are right
            else:
                assert page["content"].encode() == kept

    @invariant()
    def the_sums_are_true_and_within_the_quotas(self):
        recorded = self.recorded()
        assert sum(recorded.values()) <= LIMITS.output_total_max_bytes
        by_session = {}
        for path, size in recorded.items():
            session = path.split("/")[1]
            by_session[session] = by_session.get(session, 0) + size
        assert all(size <= LIMITS.output_session_max_bytes for size in by_session.values())
        assert self.rows("SELECT total_bytes FROM state") in ([(sum(recorded.values()),)], [])
        assert dict(self.rows("SELECT session_id, bytes FROM sessions WHERE bytes > 0")) == {
            session: size for session, size in by_session.items() if size
        }

    def recorded(self):
        return dict(self.rows("SELECT path, bytes FROM files"))

    def rows(self, query):
        if not (self.home / "ledger.sqlite3").exists():
            return []
        connection = sqlite3.connect(self.home / "ledger.sqlite3")
        found = connection.execute(query).fetchall()
        connection.close()
        return found

    def on_disk(self):
        files = [path for path in self.home.rglob("*") if path.is_file() and path.parent != self.home]
        return {str(path.relative_to(self.home)): path.stat().st_size for path in files}


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=40, stateful_step_count=30)
