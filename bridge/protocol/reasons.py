"""The words that say why something is not kept, not there or lost; see docs/outputs.md and docs/projections.md."""

from __future__ import annotations

from typing import Final

# Why an output that was stored, or should have been, cannot be read (``OutputMissing``).
EXPIRED: Final = "expired"
QUOTA: Final = "quota"
NEVER_STORED: Final = "never_stored"
FAILED: Final = "failed"
DAMAGED: Final = "damaged"

# Why saved projections, or all of a session, are not there, besides expired and quota.
FORGOTTEN: Final = "forgotten"
NEVER_SAVED: Final = "never_saved"

# Why a call has no complete output, besides quota and failed.
NOT_NEEDED: Final = "not_needed"
NO_IDS: Final = "no_ids"
NO_STORE: Final = "no_store"
FILE_ON_DISK: Final = "file_on_disk"
CONFLICT: Final = "conflict"
TOO_LARGE: Final = "too_large"

# Why what was lost cannot be recovered, besides the words for a missing output.
CUT_BEFORE_IT_CAME_HERE: Final = "cut_before_it_came_here"
BESIDE_THE_PAGE: Final = "beside_the_page"
NOT_KEPT: Final = "not_kept"
OUT_OF_TIME: Final = "out_of_time"

# Why cleanup removed a file, besides expired, quota and damaged.
ABANDONED: Final = "abandoned"

# Why the home or its database cannot be used (``StoreUnavailable``, and ``ledger`` in a policy).
LOCKED: Final = "locked"
UNAVAILABLE: Final = "unavailable"
UNREADABLE: Final = "unreadable"
FOREIGN: Final = "foreign"

# Why a projection was not saved, besides those and quota; and why a reply does not show all of one.
NOT_JSON: Final = "not_json"
TOO_DEEP: Final = "too_deep"
