"""What a worker is told beside its budgets, read from ``RIND_BRIDGE_*`` variables."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import platformdirs

from bridge.limits import ENVIRONMENT_PREFIX, Limits

DEFAULT_STRUCTURAL_TOOLS: Final = ("read_file",)
DEFAULT_MUTATION_TOOLS: Final = (
    "edit_file",
    "write_file",
    "patch_file",
    "create_file",
    "apply_patch",
    "edit",
    "insert",
    "multi_edit",
    "replace_in_file",
    "search_replace",
    "str_replace",
    "write",
)
# Less than half of what the Ruby client waits for a completion by default: the rest is for reading and writing.
CALL_SECONDS: Final = 2.0

# The variables beside those of the limits. RIND_BRIDGE_COMMAND is the Ruby client's.
VARIABLES: Final = (
    "HOME",
    "COMMAND",
    "STRUCTURAL_TOOLS",
    "MUTATION_TOOLS",
    "READ_TOOL",
    "PAYLOAD_TEXTS",
    "ERROR_LINES_SHARE",
)
_TRUE: Final = ("1", "true", "yes", "on")
_FALSE: Final = ("0", "false", "no", "off", "")


class SettingsError(ValueError):
    """A variable with a value that cannot be used; the message names it and says what it must be."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one worker.

    ``structural_tools`` are the names whose object results pass through ``ui_preview`` untouched.
    ``mutation_tools`` are the names whose results and arguments are changes of files, which the model gets as counts.
    ``read_tool`` is the tool that ``meta.continue`` recommends; empty means that the agent has none.
    ``payload_texts`` says that tools may answer with a text that is a payload of Rind's.
    ``error_lines_share`` is the part of a text's budget (0 to 1) that blocks around error lines may take.
    ``call_seconds`` is what one call may take before its result is cut plainly.
    ``home`` is where outputs and ledger live.
    """

    home: Path
    limits: Limits = field(default_factory=Limits)
    structural_tools: tuple[str, ...] = DEFAULT_STRUCTURAL_TOOLS
    mutation_tools: tuple[str, ...] = DEFAULT_MUTATION_TOOLS
    read_tool: str = "read_file"
    payload_texts: bool = False
    error_lines_share: float = 0.65
    call_seconds: float = CALL_SECONDS

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the variables; raises ``LimitError`` or ``SettingsError`` that names the variable at fault."""

        def read(name: str, default: str) -> str:
            return environment.get(ENVIRONMENT_PREFIX + name, default)

        return cls(
            home=default_home(environment),
            limits=Limits.from_environment(environment),
            structural_tools=_names(read("STRUCTURAL_TOOLS", ",".join(DEFAULT_STRUCTURAL_TOOLS))),
            mutation_tools=_names(read("MUTATION_TOOLS", ",".join(DEFAULT_MUTATION_TOOLS))),
            read_tool=read("READ_TOOL", "read_file"),
            payload_texts=_truth("PAYLOAD_TEXTS", read("PAYLOAD_TEXTS", "0")),
            error_lines_share=_share("ERROR_LINES_SHARE", read("ERROR_LINES_SHARE", "0.65")),
        )


def default_home(environment: Mapping[str, str]) -> Path:
    """Return ``RIND_BRIDGE_HOME``, else ``rind-bridge`` in the user's data directory as the platform has it.

    Raises ``SettingsError`` where that is in the home directory of a user that the system does not know.
    """
    if home := environment.get(ENVIRONMENT_PREFIX + "HOME"):
        return _expanded(home, f"{ENVIRONMENT_PREFIX}HOME is {home!r}")
    if data := environment.get("XDG_DATA_HOME"):
        return _expanded(data, f"XDG_DATA_HOME is {data!r}") / "rind-bridge"
    return _expanded(platformdirs.user_data_dir("rind-bridge", appauthor=False), "no home is set")


def unknown_variables(names: Iterable[str]) -> list[str]:
    """Return those of ``names`` that begin as ours do and are none of ours: mistyped, or of another version."""
    known = {*VARIABLES, *(item.name.upper() for item in dataclasses.fields(Limits))}
    ours = (name for name in names if name.startswith(ENVIRONMENT_PREFIX))
    return sorted(name for name in ours if name.removeprefix(ENVIRONMENT_PREFIX) not in known)


def _expanded(path: str, given: str) -> Path:
    expanded = os.path.expanduser(path)  # noqa: PTH111 - Path's own raises a RuntimeError that names nothing
    if expanded.startswith("~"):
        user = expanded.partition("/")[0]
        raise SettingsError(f"{given}, but {user} is no user's home directory; set {ENVIRONMENT_PREFIX}HOME to a path")
    if "\0" in expanded:
        raise SettingsError(f"{given}; a path has no NUL")
    return Path(expanded).absolute()


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _truth(name: str, text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE + _FALSE:
        raise SettingsError(f"{ENVIRONMENT_PREFIX}{name} must be 1 or 0, true or false, not {text[:40]!r}")
    return word in _TRUE


def _share(name: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise SettingsError(f"{ENVIRONMENT_PREFIX}{name} must be a number from 0 to 1, not {text[:40]!r}")
    return share
