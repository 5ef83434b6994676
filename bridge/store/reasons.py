"""The words that say why something is not kept or not there; docs/outputs.md explains each."""

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
