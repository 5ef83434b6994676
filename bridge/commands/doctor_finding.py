"""What a check of ``rind-bridge doctor`` found."""

from __future__ import annotations

from dataclasses import asdict, dataclass

OK, NOTE, DO = "ok", "note", "FAILED"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: ``ok``; ``note``, worth knowing; or ``FAILED``, which needs doing.

    ``advice`` says what to do, and stands in every finding that is not ok.
    """

    name: str
    level: str
    text: str
    advice: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the finding as it stands in ``--json``."""
        return asdict(self)
