"""The OpenRPC document, made from the models of parameters and the TypedDicts of results.

It follows OpenRPC 1.3.2 (https://spec.open-rpc.org). Only ``rpc.discover`` and ``rind-bridge schema`` need it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import is_typeddict

from bridge.protocol import errors, models, results
from bridge.protocol.names import SERVER

SCHEMAS = "#/components/schemas/"
ERRORS = "#/components/errors/"
# What a real worker answered, one call of each method in the order of METHODS (docs/generate/openrpc_examples.py).
EXAMPLES: Final = Path(__file__).with_name("examples.json")
DESCRIPTION = "Bounds each tool result for the model, keeps the rest on disk, and shows a preview in the panel."

# Those that only methods which read or change what is stored give.
STORE_ERRORS: Final = (errors.OutputMissing, errors.StoreUnavailable)
STORE_METHODS: Final = ("read_output", "replay", "lookup", "forget", "cleanup")

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
    for noun in filter(is_typeddict, (*vars(results).values(), *vars(errors).values())):
        with_config(ConfigDict(use_attribute_docstrings=True))(noun)
    shapes = {name: given for name, (_, given) in METHODS.items()}
    shapes |= {error.__name__: error.shape for error in errors.BY_CODE.values() if error.shape}
    adapters: list[tuple[str, Literal["validation"], TypeAdapter[Any]]] = [
        (name, "validation", TypeAdapter(shape)) for name, shape in shapes.items()
    ]
    made, definitions = TypeAdapter.json_schemas(adapters, ref_template=SCHEMAS + "{model}")
    schemas = {name: schema for (name, _), schema in made.items()}
    params = {name: model.model_json_schema(ref_template=SCHEMAS + "{model}") for name, (model, _) in METHODS.items()}
    inner = {name: schema for given in params.values() for name, schema in given.pop("$defs", {}).items()}
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return {
        "openrpc": "1.3.2",
        "info": {"title": SERVER, "version": version, "description": DESCRIPTION},
        "methods": [_method(name, params[name], schemas[name], examples[name]) for name in METHODS],
        "components": {
            "schemas": dict(sorted((definitions["$defs"] | inner).items())),
            "errors": {error.__name__: _error(error, schemas) for error in errors.BY_CODE.values()},
        },
    }


def _method(name: str, params: dict[str, Any], result: dict[str, Any], example: dict[str, Any]) -> dict[str, Any]:
    required = params.get("required", [])
    possible = [error for error in errors.BY_CODE.values() if name in STORE_METHODS or error not in STORE_ERRORS]
    return {
        "name": name,
        "summary": params.get("description", name),  # python -OO has no docstrings to make it of
        "paramStructure": "either",
        "params": [
            {"name": field, "required": field in required, "schema": shape}
            for field, shape in params.get("properties", {}).items()
        ],
        "result": {"name": "result", "schema": result},
        "errors": [{"$ref": ERRORS + error.__name__} for error in possible],
        "examples": [
            {
                "name": f"a call of {name}",
                "params": [{"name": field, "value": value} for field, value in example["params"].items()],
                "result": {"name": "result", "value": example["result"]},
            }
        ],
    }


def _error(error: type[errors.BridgeError], schemas: dict[str, Any]) -> dict[str, Any]:
    described = {"code": error.code, "message": error.message}
    return described | {"data": schemas[error.__name__]} if error.shape else described
