"""Lines to replies: envelope, batch, dispatch through jsonrpcserver. This file knows no descriptor.

jsonrpcserver 5.0.9 validates a batch at once, loses the id of an invalid request, puts the text of exceptions
into replies and lets SystemExit and results that cannot be serialised escape. So the envelope is judged here,
each element of a batch alone; the library gets valid requests only, and handlers that raise nothing.

Section numbers are those of the JSON-RPC 2.0 specification.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from jsonrpcserver import Error, Result, Success
from jsonrpcserver.dispatcher import call as call_method
from jsonrpcserver.dispatcher import create_request, to_response
from jsonrpcserver.response import to_serializable_one
from pydantic_core import from_json

from bridge.payload.weight import MOST_TIMES, needs_too_much
from bridge.protocol.errors import (
    BridgeError,
    InternalError,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    RequestTooLarge,
)
from bridge.protocol.models import validate
from bridge.protocol.names import JSONRPC
from bridge.worker.encoding import encode, readable
from bridge.worker.faults import report
from bridge.worker.framing import LF, Event, TooLong
from bridge.worker.methods import METHODS, Method
from bridge.worker.services import Worker

log = logging.getLogger(__name__)

# Each element costs a reply of about 80 bytes even when it is the digit 1: without a bound, one line of the
# largest permitted size would ask for gigabytes.
MOST_IN_A_BATCH = 10_000
# Of a line that is refused for its size, so much tells whether it is JSON at all.
BEGINNING_BYTES = 4_096
# Ruby's JSON reads 100 levels unless it is told otherwise, and a batch is one around its replies. A result that
# comes in a request of 100 levels goes back within this.
REPLY_MAX_LEVELS = 99

Handler = Callable[..., Result]


class Call:
    """One request on its way: what jsonrpcserver hands to a handler as its context."""

    __slots__ = ("failed", "id", "method", "seconds", "tool", "worker")

    def __init__(self, worker: Worker, request: dict[str, Any]) -> None:
        self.worker = worker
        self.method: str = request["method"]
        self.id = request.get("id")
        self.tool: str | None = None
        self.seconds = 0.0
        self.failed = False


class Server:
    """Answers lines for one worker."""

    def __init__(self, worker: Worker, methods: Mapping[str, Method] = METHODS) -> None:
        self.worker = worker
        self._handlers: dict[str, Handler] = {name: _handler(method) for name, method in methods.items()}
        _silence_library()

    def answer(self, event: Event) -> bytes | None:
        """Return the reply to one event as a line with its LF, or None where the protocol wants none."""
        if isinstance(event, TooLong):
            log.warning("a request longer than %d bytes was thrown away", event.limit)
            return encode(_error(RequestTooLarge({"request_max_bytes": event.limit}), None)) + LF
        size = len(event.data)
        try:
            document = _parse(event.data)
        except BridgeError as error:
            log.warning("a line of %d bytes: %s %s", size, error, error.data or "")
            return encode(_error(error, None)) + LF
        # Of a large request the bytes are the first thing that the work on it can do without.
        del event
        answer = self._answer_batch if isinstance(document, list) else self._answer_element
        reply = answer(document, size)
        return None if reply is None else reply + LF

    def _answer_batch(self, batch: list[Any], size: int) -> bytes | None:
        """Section 6: one reply per element in a list; a bare error for an empty list, nothing for nothing."""
        if not batch or len(batch) > MOST_IN_A_BATCH:
            log.warning("a batch of %d elements is not a request; 1 to %d are", len(batch), MOST_IN_A_BATCH)
            return encode(_error(InvalidRequest(), None))
        share = size // len(batch)
        replies = [reply for element in batch if (reply := self._answer_element(element, share)) is not None]
        return b"[%b]" % b",".join(replies) if replies else None

    def _answer_element(self, request: Any, size: int) -> bytes | None:
        fault = _fault_of(request)
        if fault is not None:
            log.warning("invalid request: %s", fault)
            return encode(_error(InvalidRequest(), _id_of(request)))
        if request["method"] not in self._handlers:
            log.warning("there is no method %.100r", request["method"])
            return encode(_error(MethodNotFound(), request["id"])) if "id" in request else None
        return self._perform(Call(self.worker, request), request, size)

    def _perform(self, call: Call, request: dict[str, Any], size: int) -> bytes | None:
        try:
            response = self._dispatch(call, request)
            reply = None if response is None else encode(readable(response, REPLY_MAX_LEVELS))
        except BaseException as error:  # noqa: BLE001 - exactly one reply per request, whatever happens
            call.failed = True
            report(error, call)
            reply = encode(_error(InternalError(), call.id)) if "id" in request else None
        self._count(call, size, len(reply or b""))
        return reply

    def _dispatch(self, call: Call, request: dict[str, Any]) -> Any:
        """Call the method through jsonrpcserver; return the response it shapes, or None for a notification.

        These are the parts of its dispatch that are left to do. Those before them parse, validate, unpack
        batches, look the method up and bind its parameters, all of which is done here with better words for
        what is wrong, and doing it twice was more than half of the cost of a small request.
        """
        wanted = create_request(request)
        result = call_method(wanted, call, self._handlers[wanted.method])
        return to_serializable_one(to_response(wanted, result)) if "id" in request else None

    def _count(self, call: Call, bytes_in: int, bytes_out: int) -> None:
        self.worker.stats.count_method(call.method, call.seconds, failed=call.failed)
        if call.tool is not None:
            self.worker.stats.count_tool(call.tool, bytes_in, bytes_out)


def _parse(line: bytes) -> Any:
    """Return the value of a line of JSON; raises ``ParseError`` or ``RequestTooLarge``: the caller is to blame."""
    try:
        if needs_too_much(line):
            # What no parser would read on from, such as brackets without end, is no JSON, however long it is.
            from_json(line[:BEGINNING_BYTES].decode(errors="ignore"), allow_partial=True)
            detail = "too many small values for the size of the line"
            raise RequestTooLarge({"memory_max_times": MOST_TIMES, "detail": detail})
        return from_json(line, allow_inf_nan=False)
    except ValueError:
        raise ParseError from None
    except MemoryError:
        raise _out_of_memory() from None


def _handler(method: Method) -> Handler:
    """Wrap ``method`` for jsonrpcserver: it takes whatever comes, and never raises."""

    def handle(call: Call, /, *positional: Any, **named: Any) -> Result:
        started = time.perf_counter()
        try:
            params = validate(method.params, named, positional)
            call.tool = getattr(params, "name", None)
            return Success(method.function(call.worker, params))
        except BridgeError as error:
            call.failed = True
            return _refusal(error)
        except MemoryError as error:
            call.failed = True
            report(error, call)
            return _refusal(_out_of_memory())
        except BaseException as error:  # noqa: BLE001 - SystemExit and KeyboardInterrupt get a reply as well
            call.failed = True
            report(error, call)
            return _refusal(InternalError())
        finally:
            call.seconds = time.perf_counter() - started

    return handle


def _silence_library() -> None:
    """Silence the log of jsonrpcserver: it logs the text of exceptions, and with it what tools returned."""
    library = logging.getLogger("jsonrpcserver")
    library.propagate = False
    library.addHandler(logging.NullHandler())


def _refusal(error: BridgeError) -> Result:
    return Error(**error.to_json())


def _fault_of(request: Any) -> str | None:
    """Return what keeps ``request`` from being a request object (section 4), or None."""
    if not isinstance(request, dict):
        return "it is not an object"
    if request.get("jsonrpc") != JSONRPC:
        return 'jsonrpc is not "2.0"'
    if not isinstance(request.get("method"), str):
        return "method is not a text"
    if not isinstance(request.get("params", {}), dict | list):
        return "params is neither an object nor a list"
    if not _is_id(request.get("id")):
        return "id is neither a text nor a number nor null"
    return None


def _is_id(value: Any) -> bool:
    """Return whether ``value`` may be an id; a number beyond doubles could not be given back as it came."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def _id_of(request: Any) -> Any:
    """Return the id that an invalid request carries where it is a permitted one, else null (section 5)."""
    identifier = request.get("id") if isinstance(request, dict) else None
    return identifier if _is_id(identifier) else None


def _out_of_memory() -> RequestTooLarge:
    return RequestTooLarge({"detail": "the worker has not enough memory for this request"})


def _error(error: BridgeError, identifier: Any) -> dict[str, Any]:
    return {"jsonrpc": JSONRPC, "error": error.to_json(), "id": identifier}
