"""The words that say why something is not kept or not there, and the fault that carries one.

docs/outputs.md explains each word.
"""

from __future__ import annotations

# Why an output that was stored, or should have been, cannot be read (``OutputMissing``).
EXPIRED = "expired"
QUOTA = "quota"
NEVER_STORED = "never_stored"
FAILED = "failed"
DAMAGED = "damaged"

# Why nothing was stored, besides quota and failed.
CONFLICT = "conflict"
TOO_LARGE = "too_large"

# Why cleanup removed a file, besides expired, quota and damaged.
ABANDONED = "abandoned"

# Why the home or its database cannot be used (``StoreUnavailable``, and ``ledger`` in a policy).
LOCKED = "locked"
UNAVAILABLE = "unavailable"
UNREADABLE = "unreadable"

# Why a projection was not saved, besides locked and unavailable.
NOT_JSON = "not_json"


class DatabaseFault(Exception):
    """The SQLite file could not be read or written; nobody who called is to blame.

    ``reason`` is a word of this module, ``detail`` a short text for a person, without contents.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
