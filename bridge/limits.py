"""Every budget of the bridge: its name, its default, its unit, and why it is that number.

The names are the same in ``initialize``'s ``limits``, in this class, and in the environment
(``RIND_BRIDGE_`` and the name in capitals). Defaults come from the Rind and ÆtherCodex contracts;
``smallest`` is the least value for which every guarantee of the projections still holds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

ENVIRONMENT_PREFIX = "RIND_BRIDGE_"
# The greatest integer that every reader of JSON holds exactly (RFC 8259, section 6); no budget needs more.
LARGEST = 2**53 - 1


class LimitError(ValueError):
    """A limit with an unknown name, of a wrong type, or outside of what is permitted."""


def _limit(default: int, *, unit: str, why: str, smallest: int) -> int:
    value: int = field(default=default, metadata={"unit": unit, "why": why, "smallest": smallest})
    return value


@dataclass(frozen=True, slots=True)
class Limits:
    """The budgets that one worker, or one call from Python, works with.

    Raises ``LimitError`` for a value that is not an integer from its smallest to ``LARGEST``; the caller is to blame.
    """

    preview_max_chars: int = _limit(
        4_000, unit="code points", why="what the Pythia panel shows of one tool", smallest=0
    )
    terminal_max_bytes: int = _limit(
        8_192, unit="bytes of the final UTF-8 JSON", why="a screen or two for the person", smallest=1_024
    )
    model_max_bytes: int = _limit(
        25_600, unit="bytes of the final UTF-8 JSON", why="about 6,000 tokens of context", smallest=2_048
    )
    model_max_lines: int = _limit(
        2_000, unit="lines of the text that the model reads", why="one page of a file", smallest=20
    )
    request_max_bytes: int = _limit(
        67_108_864, unit="bytes of one line on the wire", why="bounds the memory of a worker", smallest=1_024
    )
    output_file_max_bytes: int = _limit(
        67_108_864, unit="bytes of one stored output", why="one runaway command", smallest=4_096
    )
    output_session_max_bytes: int = _limit(
        268_435_456, unit="bytes of one session's outputs", why="four runaway commands", smallest=4_096
    )
    output_total_max_bytes: int = _limit(
        2_147_483_648, unit="bytes of all outputs", why="what a laptop can spare", smallest=4_096
    )
    output_max_age_days: int = _limit(7, unit="days", why="a working week and its review", smallest=1)

    def __post_init__(self) -> None:
        for item in dataclasses.fields(self):
            _check(item, getattr(self, item.name), item.name)

    def replace(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with ``changes`` applied; raises ``LimitError`` that names an unknown limit."""
        unknown = sorted(set(changes) - {item.name for item in dataclasses.fields(self)})
        if unknown:
            names = ", ".join(item.name for item in dataclasses.fields(self))
            raise LimitError(f"unknown limit {unknown[0]!r}; the limits are {names}")
        return dataclasses.replace(self, **changes)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read ``RIND_BRIDGE_*`` variables; raises ``LimitError`` that names the variable at fault."""
        changes = {}
        for item in dataclasses.fields(cls):
            variable = ENVIRONMENT_PREFIX + item.name.upper()
            if variable in environment:
                changes[item.name] = _parse(variable, environment[variable])
                _check(item, changes[item.name], variable)
        return cls().replace(changes)


def _parse(variable: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise LimitError(f"{variable} must be a whole number, not {text[:40]!r}") from None


def _check(item: dataclasses.Field[Any], value: object, name: str) -> None:
    smallest, unit = item.metadata["smallest"], item.metadata["unit"]
    if type(value) is not int:
        raise LimitError(f"{name} must be a whole number of {unit}, not {value!r}")
    if value < smallest:
        raise LimitError(f"{name} must be at least {smallest} ({unit}), not {value}")
    if value > LARGEST:
        raise LimitError(f"{name} must be at most {LARGEST} ({unit})")
