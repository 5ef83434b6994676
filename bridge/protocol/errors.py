"""One class for each JSON-RPC error code, and the one table that maps between them.

Codes -32700 to -32603 are those of the JSON-RPC 2.0 specification, section 5.1; -32001 to -32003 are ours,
from the range that the specification leaves to servers.
"""

from __future__ import annotations

from typing import Any, ClassVar, NotRequired

from typing_extensions import TypedDict


class InvalidParamsData(TypedDict):
    """What is wrong with the parameters."""

    fields: dict[str, str]
    """What is wrong with each, by its name, or by its position from 0 where there are too many."""


class RequestTooLargeData(TypedDict):
    """Which bound the request met."""

    request_max_bytes: NotRequired[int]
    """The bytes that a line may have; this one had more."""
    memory_max_times: NotRequired[int]
    """How many times its own size a line may need in memory; this one would need more."""
    detail: NotRequired[str]


class OutputMissingData(TypedDict):
    """Why the output is not there."""

    reason: str
    """One of expired, quota, forgotten, never_stored, failed, damaged."""
    detail: NotRequired[str | None]
    time: NotRequired[float | None]
    """Since when it is gone, in seconds since 1970."""


class StoreUnavailableData(TypedDict):
    """Why the home cannot be used."""

    reason: str
    detail: NotRequired[str | None]


class BridgeError(Exception):
    """An error that a caller is told about: a code, a fixed message and, where it helps, data of the type ``shape``."""

    code: ClassVar[int]
    message: ClassVar[str]
    shape: ClassVar[Any] = None

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        super().__init__(self.message)
        self.data = data

    def to_json(self) -> dict[str, Any]:
        """Return the ``error`` member of a response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


class ParseError(BridgeError):
    """The line is not JSON that this worker can hold. The caller is to blame."""

    code, message = -32700, "Parse error"


class InvalidRequest(BridgeError):
    """The JSON is not a JSON-RPC 2.0 request. The caller is to blame."""

    code, message = -32600, "Invalid Request"


class MethodNotFound(BridgeError):
    """No method has this name. The caller is to blame."""

    code, message = -32601, "Method not found"


class InvalidParams(BridgeError):
    """Missing, unknown or mistyped parameters; ``data.fields`` names them. The caller is to blame."""

    code, message, shape = -32602, "Invalid params", InvalidParamsData


class InternalError(BridgeError):
    """A fault of the worker. The text is fixed; the cause goes to stderr with the request's id."""

    code, message = -32603, "Internal error"


class RequestTooLarge(BridgeError):
    """The line is longer than ``request_max_bytes``, or needs too much memory; ``data`` says which bound it met."""

    code, message, shape = -32001, "Request too large", RequestTooLargeData


class OutputMissing(BridgeError):
    """A stored output is gone; ``data.reason`` says why."""

    code, message, shape = -32002, "Output missing", OutputMissingData


class StoreUnavailable(BridgeError):
    """The home cannot be read or written; ``data.reason`` says why."""

    code, message, shape = -32003, "Store unavailable", StoreUnavailableData


BY_CODE: dict[int, type[BridgeError]] = {
    error.code: error
    for error in (
        ParseError,
        InvalidRequest,
        MethodNotFound,
        InvalidParams,
        InternalError,
        RequestTooLarge,
        OutputMissing,
        StoreUnavailable,
    )
}
