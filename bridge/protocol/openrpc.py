"""The shapes of params and results as pydantic models, and the OpenRPC document made of them.

Nothing is validated with these at a call: ``worker.params`` checks by hand, and a test holds the two against
each other. The models stand apart from ``contract`` because loading pydantic's model machinery takes as long
as a tenth of a worker's start, and only ``rpc.discover`` and ``rind-bridge schema`` need it.

The document follows OpenRPC 1.3.2 (https://spec.open-rpc.org).
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import models_json_schema

from bridge.limits import Limits
from bridge.protocol.errors import BY_CODE
from bridge.protocol.names import IDENTIFIER, PREVIEW_ECHO, PREVIEW_STRUCTURE, PROTOCOL, SERVER

SCHEMAS = "#/components/schemas/"
DESCRIPTION = "Bounds each tool result for the model, keeps the rest on disk, and shows a preview in the panel."

ToolName = Annotated[str, Field(description="The tool's name.")]
Identifier = Annotated[str, Field(pattern=f"^(?:{IDENTIFIER.pattern})$", description="A name, never a path.")]
ToolResult = Annotated[Any, Field(description="What the tool gave back: any JSON value.")]
Status = Annotated[
    Literal["completed", "failed", "cancelled"],
    Field(description='"failed" and "cancelled" make an error of the result.'),
]
ErrorType = Annotated[str | None, Field(description="The class of the tool's error.")]
Arguments = Annotated[dict[str, Any] | None, Field(description="The arguments of the tool call.")]
PreviewLimit = Annotated[int | None, Field(description="Code points of the echo; null is preview_max_chars.")]
PREVIEW_LIMIT = Limits().preview_max_chars


class Params(BaseModel):
    """Parameters: by name or by position in this order, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Shape(BaseModel):
    """A result: the members named here are always there; more may come with a later version."""

    model_config = ConfigDict(extra="allow", strict=True)


LimitChanges = Annotated[
    dict[str, int],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": False,
            "description": "Limits to change; those not named keep their value from the environment.",
            "properties": {
                item.name: {
                    "type": "integer",
                    "minimum": item.metadata["smallest"],
                    "default": item.default,
                    "description": f"{item.metadata['unit']}; {item.metadata['why']}",
                }
                for item in dataclasses.fields(Limits)
            },
        }
    ),
]


class Client(Shape):
    """Who is calling; ``ruby`` 3.4 or newer switches the echo to that Ruby's way of printing hashes."""

    name: str | None = None
    version: str | None = None
    ruby: str | None = Field(None, examples=["3.1.2", "3.4.1"])


class Initialize(Params):
    """Learn who is calling and replace the limits; say what this worker is. May be called again."""

    client: Client
    limits: LimitChanges | None = None


class Initialized(Shape):
    """What this worker is and works with."""

    server: Literal["rind-bridge"] = Field(SERVER)
    version: str
    protocol: int = Field(PROTOCOL)
    methods: list[str]
    limits: dict[str, int]
    structural_tools: list[str] = Field(description="Tools whose object results pass through ui_preview.")
    home: str = Field(description="The directory of outputs and ledger.")
    pid: int


class Ping(Params):
    """Say that the worker is there."""


class UiPreview(Params):
    """Return what the panel shows of ``result``: the value itself, or its echo of ``limit`` code points."""

    result: ToolResult
    limit: PreviewLimit = PREVIEW_LIMIT
    name: ToolName | None = None


class Normalize(Params):
    """Return the projections of one finished tool."""

    result: ToolResult
    name: ToolName
    status: Status = "completed"
    error_type: ErrorType = None
    session_id: Identifier | None = None
    call_id: Identifier | None = None
    args: Arguments = None


class ToolCompleted(Normalize):
    """Return the projections of one finished tool, and its preview."""

    limit: PreviewLimit = PREVIEW_LIMIT


class Projections(Shape):
    """One tool result, projected: for the terminal, for the model, and where the whole lies."""

    terminal_content: str = Field(description="JSON text within terminal_max_bytes.")
    model_content: str = Field(description="JSON text within model_max_bytes and model_max_lines.")
    model_content_format: str
    model_content_policy: dict[str, Any]
    attachments: list[Any]
    output: dict[str, Any] = Field(description="path, bytes, lines, sha256; or the reason why there is none.")
    replayed: bool = Field(description="Whether these are the saved projections of an earlier call.")


class Echo(Shape):
    """What the panel shows as text."""

    kind: Literal["echo"] = Field(PREVIEW_ECHO)
    text: str


class Structure(Shape):
    """The panel shows the result itself, which is not sent back to the one who sent it."""

    kind: Literal["structure"] = Field(PREVIEW_STRUCTURE)


class Completion(Projections):
    """The projections and the preview."""

    preview: Echo | Structure


class ReadOutput(Params):
    """Return one page of a stored output."""

    session_id: Identifier
    call_id: Identifier
    offset: int = Field(1, description="The first line wanted, from 1.")
    column: int = Field(1, description="The first code point wanted of that line, from 1.")
    limit: int = Field(2_000, description="Lines of the page.")


class Replay(Params):
    """Return the saved projections of a session, in order, those after number ``after``."""

    session_id: Identifier
    after: int = 0
    limit: int = Field(500, description="Projections of the page.")


class Cleanup(Params):
    """Remove what is too old or over its quota; say what was removed and why."""


class Stats(Params):
    """Return calls, bytes in and out per tool, and time per method."""


class Discover(Params):
    """Return this document."""


class Shutdown(Params):
    """Answer null, then let the worker exit with status 0; requests behind this one are not read."""


class Page(Shape):
    """A run of complete lines of a stored output."""

    content: str
    lines: int = Field(description="Lines of this page.")
    next_offset: int | None = Field(description="The first line not shown; null when none is left.")
    next_column: int | None = Field(description="The first code point of that line not shown.")
    total_lines: int
    total_bytes: int


class Replayed(Shape):
    """Saved projections, in the order in which they were saved."""

    session_id: str
    items: list[dict[str, Any]]


class Cleaned(Shape):
    """What a cleanup removed."""

    removed: list[dict[str, Any]] = Field(description="Each output that was removed, and why.")
    bytes: int


class Counts(Shape):
    """What was called since the start."""

    uptime_seconds: float
    methods: dict[str, dict[str, Any]] = Field(description="calls, errors and seconds of each method.")
    tools: dict[str, dict[str, int]] = Field(description="calls, bytes_in and bytes_out of each tool.")


# A schema that is no model of ours stands here as it is.
Result = type[BaseModel] | dict[str, Any]
ANY: dict[str, Any] = {}

METHODS: dict[str, tuple[type[Params], Result]] = {
    "initialize": (Initialize, Initialized),
    "ping": (Ping, {"const": "pong"}),
    "ui_preview": (UiPreview, ANY),
    "normalize": (Normalize, Projections),
    "tool_completed": (ToolCompleted, Completion),
    "read_output": (ReadOutput, Page),
    "replay": (Replay, Replayed),
    "cleanup": (Cleanup, Cleaned),
    "stats": (Stats, Counts),
    "rpc.discover": (Discover, {"type": "object"}),
    "shutdown": (Shutdown, {"type": "null"}),
}


def document(version: str) -> dict[str, Any]:
    """Return the OpenRPC document of a worker of this ``version``."""
    models = [model for pair in METHODS.values() for model in pair if isinstance(model, type)]
    schemas = models_json_schema([(model, "validation") for model in models], ref_template=SCHEMAS + "{model}")
    definitions = schemas[1]["$defs"]
    return {
        "openrpc": "1.3.2",
        "info": {"title": SERVER, "version": version, "description": DESCRIPTION},
        "methods": [_method(name, *shapes, definitions) for name, shapes in METHODS.items()],
        "components": {
            "schemas": definitions,
            "errors": {error.__name__: _error(error.code) for error in BY_CODE.values()},
        },
    }


def _method(name: str, params: type[Params], result: Result, definitions: dict[str, Any]) -> dict[str, Any]:
    schema = definitions[params.__name__]
    required = schema.get("required", [])
    return {
        "name": name,
        "summary": schema["description"],
        "paramStructure": "either",
        "params": [
            {"name": field, "required": field in required, "schema": shape}
            for field, shape in schema.get("properties", {}).items()
        ],
        "result": {"name": "result", "schema": _reference(result)},
        "errors": [_error(code) for code in BY_CODE],
    }


def _reference(result: Result) -> dict[str, Any]:
    return {"$ref": SCHEMAS + result.__name__} if isinstance(result, type) else result


def _error(code: int) -> dict[str, Any]:
    return {"code": code, "message": BY_CODE[code].message}
