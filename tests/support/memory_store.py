"""A store and a ledger in memory, with the promises of bridge.store.outputs and bridge.store.ledger."""

from __future__ import annotations

import copy
import hashlib


class MemoryOutputs:
    """Keeps what it is given; ``refuses`` is a reason that it gives instead."""

    def __init__(self, refuses=None):
        self.refuses = refuses
        self.kept = {}
        self.attached = []

    def store(self, session_id, call_id, content, *, field=None, part=""):
        if self.refuses:
            return {"reason": self.refuses, "detail": "as told"}
        self.kept[(session_id, call_id, part) if part else (session_id, call_id)] = content
        reference = {
            "path": f"/home/outputs/{session_id}/{call_id}{part and '~'}{part}.txt",
            "bytes": len(content),
            "lines": len(content.splitlines()),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        return reference | ({"field": field} if field else {})

    def store_attachment(self, session_id, call_id, content, media_type):
        if self.refuses:
            return {"reason": self.refuses, "detail": "as told"}
        self.attached.append(content)
        return {
            "path": f"/home/outputs/{session_id}/{call_id}.{len(self.attached)}",
            "media_type": media_type,
        }


class MemoryLedger:
    """Keeps the first projection of each call."""

    def __init__(self):
        self.kept = {}

    def find(self, session_id, call_id):
        return copy.deepcopy(self.kept.get((session_id, call_id)))

    def save(self, session_id, call_id, projection, subject=None):  # noqa: ARG002 - for people, not for the model
        return copy.deepcopy(self.kept.setdefault((session_id, call_id), copy.deepcopy(projection)))
