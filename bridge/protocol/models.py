"""The parameters of every method, as pydantic models: the one declaration, which validates a call and documents it.

``ToolCall`` is also what travels behind the wire: one finished tool call, from whoever made it to its projections.
A value is taken as it is, never converted or copied: ``true`` is no whole number, and a result stays the very object.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, InstanceOf, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from bridge.limits import LARGEST, Limits
from bridge.protocol.errors import InvalidParams
from bridge.protocol.names import COMPLETED, IDENTIFIER_PATTERN, IDENTIFIER_RULE, STATUS_RULE, Status, is_identifier

UNKNOWN: Final = "is not a parameter of this method"
MISSING: Final = "is missing"
VERSION = re.compile(r"(\d+)\.(\d+)(\..*)?", re.ASCII | re.DOTALL)

_RULES: Final = {
    "missing": MISSING,
    "extra_forbidden": UNKNOWN,
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "literal_error": STATUS_RULE,
    "model_type": "must be an object",
    "str": "must be a text",
    "dict": "must be an object",
}


def _checked_identifier(value: str) -> str:
    if not is_identifier(value):
        raise PydanticCustomError("identifier", IDENTIFIER_RULE)
    return value


def _checked_ruby(value: object) -> object:
    if value is None or (isinstance(value, str) and VERSION.fullmatch(value)):
        return value
    raise PydanticCustomError("ruby", 'must be a version of Ruby, like "3.4.1"')


def _checked_json(value: object) -> object:
    if value is None or (isinstance(value, str) and VERSION.fullmatch(value)):
        return value
    raise PydanticCustomError("json", 'must be a version of the json gem, like "2.15.0"')


ToolName = Annotated[InstanceOf[str], Field(description="The tool's name.")]
Identifier = Annotated[
    InstanceOf[str],
    AfterValidator(_checked_identifier),
    WithJsonSchema({"type": "string", "pattern": IDENTIFIER_PATTERN, "description": "A name, never a path."}),
]
ToolResult = Annotated[Any, Field(description="What the tool gave back: any JSON value.")]
CallStatus = Annotated[Status, Field(description='"failed" and "cancelled" make an error of the result.')]
ErrorType = Annotated[InstanceOf[str] | None, Field(description="The class of the tool's error.")]
Arguments = Annotated[InstanceOf[dict[str, Any]] | None, Field(description="The arguments of the tool call.")]
PreviewLimit = Annotated[
    int | None,
    Field(
        description="Code points of the echo; null is preview_max_chars.",
        json_schema_extra={"default": Limits().preview_max_chars},
    ),
]
_VERSION_SCHEMA = WithJsonSchema({"anyOf": [{"type": "string", "pattern": r"^\d+\.\d+(\..*)?$"}, {"type": "null"}]})
RubyVersion = Annotated[Any, AfterValidator(_checked_ruby), _VERSION_SCHEMA]
JsonVersion = Annotated[Any, AfterValidator(_checked_json), _VERSION_SCHEMA]

LimitChanges = Annotated[
    InstanceOf[dict[str, int]],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": False,
            "description": "Limits to change; those not named keep their value from the environment.",
            "properties": {
                item.name: {
                    "type": "integer",
                    "minimum": item.metadata["smallest"],
                    "maximum": LARGEST,
                    "default": item.default,
                    "description": f"{item.metadata['unit']}; {item.metadata['why']}",
                }
                for item in dataclasses.fields(Limits)
            },
        }
    ),
]


class Params(BaseModel):
    """Parameters: by name or by position in this order, and no others."""

    # Building a validator takes a millisecond or two, so a model that a session never uses is never built.
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class Client(BaseModel):
    """Who is calling: how its Ruby (3.4 or newer) prints hashes, and its json gem (2.15 or newer) floats."""

    model_config = ConfigDict(extra="allow", strict=True, defer_build=True)

    name: InstanceOf[str] | None = None
    version: InstanceOf[str] | None = None
    ruby: RubyVersion = Field(None, examples=["3.1.2", "3.4.1"])
    json_gem: JsonVersion = Field(None, alias="json", examples=["2.6.1", "2.21.0"])

    @property
    def prints_as_ruby_3_4(self) -> bool:
        """Whether hashes are printed as by Ruby 3.4 and later; a client that names no Ruby gets the older form."""
        return _at_least(self.ruby, (3, 4))

    @property
    def prints_as_json_2_15(self) -> bool:
        """Whether floats are printed as by json 2.15 and later; a client that names no json gets the older form."""
        return _at_least(self.json_gem, (2, 15))


def _at_least(version: str | None, least: tuple[int, int]) -> bool:
    found = VERSION.fullmatch(version or "")
    # Of a number of many digits the first nine say enough.
    return found is not None and (int(found[1][:9]), int(found[2][:9])) >= least


class Initialize(Params):
    """Set who is calling and replace the limits; return what this worker is. May be called again."""

    client: Client
    limits: LimitChanges | None = None
    payload_texts: bool | None = Field(
        None, description="Whether a tool may answer with a text that is a payload; null is what the environment says."
    )


class Ping(Params):
    """Return "pong": the worker is there."""


class UiPreview(Params):
    """Return what the panel shows of ``result``: the value itself, or its echo of ``limit`` code points."""

    result: ToolResult
    limit: PreviewLimit = None
    name: ToolName | None = None


class ToolCall(Params):
    """Return the projections of one finished tool."""

    result: ToolResult
    name: ToolName
    status: CallStatus = COMPLETED
    error_type: ErrorType = None
    session_id: Identifier | None = None
    call_id: Identifier | None = None
    args: Arguments = None


class ToolCompleted(ToolCall):
    """Return the projections of one finished tool, and its preview."""

    limit: PreviewLimit = None


class ReadOutput(Params):
    """Return one page of a stored output."""

    session_id: Identifier
    call_id: Identifier
    offset: int = Field(1, ge=1, le=LARGEST, description="The first line wanted, from 1.")
    column: int = Field(1, ge=1, le=LARGEST, description="The first code point wanted of that line, from 1.")
    limit: int = Field(2_000, ge=1, le=LARGEST, description="Lines of the page.")
    part: InstanceOf[str] = Field("", description="Another output of the same call, such as stderr.")


class Replay(Params):
    """Return the saved projections of a session, in order, those after number ``after``."""

    session_id: Identifier
    after: int = Field(0, ge=0, le=LARGEST)
    limit: int = Field(500, ge=1, le=LARGEST, description="Projections of the page.")


class Lookup(Params):
    """Return the saved projection of one call, before its tool is run again."""

    session_id: Identifier
    call_id: Identifier


class Forget(Params):
    """Remove the outputs and saved projections of a session; return what was removed."""

    session_id: Identifier


class Cleanup(Params):
    """Remove what is too old or over its quota; return what was removed and why."""


class Stats(Params):
    """Return calls, bytes in and out per tool, and time per method."""


class Discover(Params):
    """Return this document."""


class Shutdown(Params):
    """Answer null, then let the worker exit with status 0; requests behind this one are not read."""


Model = TypeVar("Model", bound=Params)


def validate(model: type[Model], named: Mapping[str, Any], positional: Sequence[Any] = ()) -> Model:
    """Return the parameters as ``model``; those in ``positional`` stand in the order of its members.

    Raises ``InvalidParams`` whose ``data.fields`` names each member at fault and what is wrong with it, by its
    position from 0 where there are too many: the caller is to blame.
    """
    values = dict(zip(model.model_fields, positional, strict=False)) if positional else named
    faults = dict.fromkeys(map(str, range(len(model.model_fields), len(positional))), UNKNOWN)
    try:
        valid = model.model_validate(values)
    except ValidationError as error:
        raise InvalidParams({"fields": _faults(error) | faults}) from None
    if faults:
        raise InvalidParams({"fields": faults})
    return valid


def _faults(error: ValidationError) -> dict[str, str]:
    """Return what is wrong with each member, and nothing of its value."""
    found = error.errors(include_url=False, include_input=False)
    return {".".join(map(str, fault["loc"])): _rule(fault) for fault in found}


def _rule(fault: ErrorDetails) -> str:
    kind = fault["ctx"]["class"] if fault["type"] == "is_instance_of" else fault["type"]
    if kind == "greater_than_equal":
        return f"must be a whole number, at least {fault['ctx']['ge']}"
    if kind == "less_than_equal":
        return f"must be a whole number, at most {fault['ctx']['le']}"
    return _RULES.get(kind, fault["msg"])
