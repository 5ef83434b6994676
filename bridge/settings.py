"""What a worker is told beside its budgets, read from ``RIND_BRIDGE_*`` variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from bridge.limits import ENVIRONMENT_PREFIX, Limits

DEFAULT_STRUCTURAL_TOOLS = ("read_file",)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one worker.

    ``structural_tools`` are the names whose object results pass through ``ui_preview`` untouched.
    ``read_tool`` is the tool that ``meta.continue`` recommends; empty means that the agent has none.
    ``error_lines_share`` is the part of a text's budget (0 to 1) kept for error lines of a dropped middle.
    ``home`` is where outputs and ledger live.
    """

    home: Path
    limits: Limits = field(default_factory=Limits)
    structural_tools: tuple[str, ...] = DEFAULT_STRUCTURAL_TOOLS
    read_tool: str = "read_file"
    error_lines_share: float = 0.2

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the variables; raises ``LimitError`` for a bad limit and ``ValueError`` for a bad share."""
        tools = environment.get(ENVIRONMENT_PREFIX + "STRUCTURAL_TOOLS")
        share = environment.get(ENVIRONMENT_PREFIX + "ERROR_LINES_SHARE", "0.2")
        return cls(
            home=default_home(environment),
            limits=Limits.from_environment(environment),
            structural_tools=DEFAULT_STRUCTURAL_TOOLS if tools is None else _names(tools),
            read_tool=environment.get(ENVIRONMENT_PREFIX + "READ_TOOL", "read_file"),
            error_lines_share=_share(share),
        )


def default_home(environment: Mapping[str, str]) -> Path:
    """Return ``RIND_BRIDGE_HOME``, else the data directory of the XDG base directory specification."""
    if home := environment.get(ENVIRONMENT_PREFIX + "HOME"):
        return Path(home).expanduser().absolute()
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser().absolute() / "rind-bridge"


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise ValueError(f"{ENVIRONMENT_PREFIX}ERROR_LINES_SHARE must lie between 0 and 1, not {text}")
    return share
