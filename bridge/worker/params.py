"""Parameters of a request against the function that takes them: cheap checks that name every field at fault.

A schema validation per request costs more than the request itself, so the shapes are checked by hand; a test
holds these checks against the pydantic models of the published document.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.protocol.errors import InvalidParams
from bridge.protocol.names import STATUS_RULE, STATUSES

Check = tuple[Callable[[Any], bool], str]


def is_text(value: Any) -> bool:
    """Return whether ``value`` is a text."""
    return isinstance(value, str)


def is_object(value: Any) -> bool:
    """Return whether ``value`` is a JSON object."""
    return isinstance(value, dict)


def is_whole_number(value: Any) -> bool:
    """Return whether ``value`` is a whole number; ``true`` is none, and 1.0 is none either."""
    return type(value) is int


def is_status(value: Any) -> bool:
    """Return whether ``value`` says how a call can end."""
    return value in STATUSES


def is_anything(_value: Any) -> bool:
    """Accept every JSON value."""
    return True


TEXT: Check = (is_text, "must be a text")
OBJECT: Check = (is_object, "must be an object")
WHOLE_NUMBER: Check = (is_whole_number, "must be a whole number")
STATUS: Check = (is_status, STATUS_RULE)
ANYTHING: Check = (is_anything, "")

UNKNOWN = "is not a parameter of this method"
MISSING = "is missing"


@dataclass(frozen=True, slots=True)
class Method:
    """One method of the wire: the function behind it, its parameters in order, and how each is checked.

    A parameter whose default is None may be null.
    """

    function: Callable[..., Any]
    checks: Mapping[str, Check]
    required: frozenset[str]
    nullable: frozenset[str]

    def bind(self, positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name; raises ``InvalidParams`` naming each field that is wrong, and why."""
        arguments = dict(zip(self.checks, positional, strict=False)) if positional else named
        faults = {field: fault for field, value in arguments.items() if (fault := self._fault(field, value))}
        if faults or not self.required <= arguments.keys() or len(positional) > len(self.checks):
            faults |= dict.fromkeys(sorted(self.required - arguments.keys()), MISSING)
            faults |= {str(index): UNKNOWN for index in range(len(self.checks), len(positional))}
            raise InvalidParams({"fields": faults})
        return arguments

    def _fault(self, field: str, value: Any) -> str | None:
        check = self.checks.get(field)
        if check is None:
            return UNKNOWN
        accepts, rule = check
        return None if accepts(value) or (value is None and field in self.nullable) else rule


def describe(function: Callable[..., Any], **checks: Check) -> Method:
    """Read the parameters of ``function`` after its first, the worker; ``checks`` has one for each."""
    _worker, *parameters = inspect.signature(function).parameters.values()
    return Method(
        function,
        {parameter.name: checks[parameter.name] for parameter in parameters},
        frozenset(item.name for item in parameters if item.default is inspect.Parameter.empty),
        frozenset(item.name for item in parameters if item.default is None),
    )
