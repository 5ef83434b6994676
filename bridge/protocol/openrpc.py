"""The OpenRPC document, made from the models of parameters and the TypedDicts of results.

It follows OpenRPC 1.3.2 (https://spec.open-rpc.org). Only ``rpc.discover`` and ``rind-bridge schema`` need it.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import is_typeddict

from bridge.protocol import models, results
from bridge.protocol.errors import BY_CODE
from bridge.protocol.names import SERVER

SCHEMAS = "#/components/schemas/"
DESCRIPTION = "Bounds each tool result for the model, keeps the rest on disk, and shows a preview in the panel."

# What pydantic takes for a schema to make: a key, a mode, and the type.
Shape = tuple[tuple[str, int], Literal["validation"], TypeAdapter[Any]]

# The parameters of each method, and what it gives back.
METHODS: dict[str, tuple[type[models.Params], Any]] = {
    "initialize": (models.Initialize, results.Initialized),
    "ping": (models.Ping, Literal["pong"]),
    "ui_preview": (models.UiPreview, Any),
    "normalize": (models.ToolCall, results.Projection),
    "tool_completed": (models.ToolCompleted, results.Completion),
    "read_output": (models.ReadOutput, results.OutputPage),
    "replay": (models.Replay, results.ReplayPage),
    "lookup": (models.Lookup, results.Looked),
    "forget": (models.Forget, results.Forgotten),
    "cleanup": (models.Cleanup, results.Cleaned),
    "stats": (models.Stats, results.Counts),
    "rpc.discover": (models.Discover, dict[str, Any]),
    "shutdown": (models.Shutdown, None),
}


def document(version: str) -> dict[str, Any]:
    """Return the OpenRPC document of a worker of this ``version``."""
    for noun in filter(is_typeddict, vars(results).values()):
        with_config(ConfigDict(use_attribute_docstrings=True))(noun)
    shapes: list[Shape] = [
        ((name, side), "validation", TypeAdapter(shape))
        for name, pair in METHODS.items()
        for side, shape in enumerate(pair)
    ]
    schemas, definitions = TypeAdapter.json_schemas(shapes, ref_template=SCHEMAS + "{model}")
    return {
        "openrpc": "1.3.2",
        "info": {"title": SERVER, "version": version, "description": DESCRIPTION},
        "methods": [
            _method(name, definitions["$defs"][params.__name__], schemas[(name, 1), "validation"])
            for name, (params, _) in METHODS.items()
        ],
        "components": {
            "schemas": definitions["$defs"],
            "errors": {error.__name__: _error(error.code) for error in BY_CODE.values()},
        },
    }


def _method(name: str, params: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    required = params.get("required", [])
    return {
        "name": name,
        "summary": params.get("description", name),
        "paramStructure": "either",
        "params": [
            {"name": field, "required": field in required, "schema": shape}
            for field, shape in params.get("properties", {}).items()
        ],
        "result": {"name": "result", "schema": result},
        "errors": [_error(code) for code in BY_CODE],
    }


def _error(code: int) -> dict[str, Any]:
    return {"code": code, "message": BY_CODE[code].message}
