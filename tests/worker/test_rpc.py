"""The envelope to the letter, without a pipe."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge.protocol.models import Params
from bridge.worker.framing import InputLine, TooLong
from bridge.worker.methods import Method
from bridge.worker.rpc import MOST_IN_A_BATCH, Server

EXAMPLES = json.loads(Path(__file__).with_name("spec_examples.json").read_text())
PARSE_ERROR = {"code": -32700, "message": "Parse error"}
INVALID_REQUEST = {"code": -32600, "message": "Invalid Request"}


def error(code, identifier=None):
    return {"jsonrpc": "2.0", "error": code, "id": identifier}


def pong(identifier):
    return {"jsonrpc": "2.0", "result": "pong", "id": identifier}


class Subtract(Params):
    minuend: int
    subtrahend: int


class Sum(Params):
    a: int
    b: int
    c: int


class NotifyHello(Params):
    number: int


SPECIFICATION_METHODS = {
    "subtract": Method(Subtract, lambda _, given: given.minuend - given.subtrahend),
    "sum": Method(Sum, lambda _, given: given.a + given.b + given.c),
    "get_data": Method(Params, lambda _worker, _params: ["hello", 5]),
    "notify_hello": Method(NotifyHello, lambda _, given: given.number),
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["about"])
def test_the_examples_of_the_specification(worker, example):
    """Section 7 of the JSON-RPC 2.0 specification, all 15."""
    reply = Server(worker, SPECIFICATION_METHODS).answer(InputLine(example["sent"].encode()))
    assert (reply and json.loads(reply)) == example["answer"]


@pytest.mark.parametrize(
    "identifier",
    [None, 1, 0, -1, 1.5, "1", "", "\u0000", "ж\u2028", 2**64, 123456789012345678901234567890, 10**4_299],
)
def test_an_id_comes_back_as_it_was_sent(worker, identifier):
    line = json.dumps({"jsonrpc": "2.0", "id": identifier, "method": "ping"}).encode()
    reply = json.loads(Server(worker).answer(InputLine(line)))
    assert reply == pong(identifier)
    assert type(reply["id"]) is type(identifier)


@pytest.mark.parametrize("identifier", ["true", "false", "[]", "{}", "[1]", "1e400", "-1e400"])
def test_what_cannot_be_an_id_makes_the_request_invalid(answer, identifier):
    """1e400 is a number, but none that could be given back as it came."""
    assert answer(f'{{"jsonrpc":"2.0","id":{identifier},"method":"ping"}}') == error(INVALID_REQUEST)


@pytest.mark.parametrize("identifier", [7, "seven", 1.5, None, 123456789012345678901234567890])
@pytest.mark.parametrize(
    "fault",
    [
        {"jsonrpc": "1.0"},
        {"jsonrpc": 2.0},
        {"jsonrpc": None},
        {"method": 1},
        {"method": None},
        {"params": None},
        {"params": "bar"},
        {"params": 0},
        {"params": False},
    ],
    ids=str,
)
def test_the_id_of_an_invalid_request_is_kept(answer, identifier, fault):
    request = {"jsonrpc": "2.0", "id": identifier, "method": "ping", **fault}
    assert answer(request) == error(INVALID_REQUEST, identifier)


@pytest.mark.parametrize("line", ["1", '"text"', "null", "true", "{}", '{"id":true}', '{"method":"ping"}'])
def test_what_is_no_request_gets_an_invalid_request(answer, line):
    assert answer(line) == error(INVALID_REQUEST)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "nul",
        "NaN",
        "Infinity",
        "[1,]",
        "{} {}",
        b"\xff",
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"\x00",
        '"\\ud800"',
        "1" * 4_301,
        "[" * 10_000,
        "[" * 254 + "]" * 254,
        '{"jsonrpc":"2.0","id":1,"method":"ping"',
    ],
    ids=lambda line: repr(line[:12]),
)
def test_what_this_worker_cannot_read_is_a_parse_error(answer, line):
    assert answer(line) == error(PARSE_ERROR)


@pytest.mark.parametrize("depth", [99, 100, 101, 198])
def test_nesting_is_read_to_a_depth_of_200(answer, depth):
    """The envelope is two levels of the parser's 200; Ruby's own JSON stops at 100."""
    params = "[" * depth + "]" * depth
    reply = answer(f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":[{params}]}}')
    assert reply["error"]["code"] == -32602


@pytest.mark.parametrize("depth", [254, 1_000])
def test_deeper_nesting_is_a_parse_error(answer, depth):
    params = "[" * depth + "]" * depth
    line = f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}'
    assert answer(line) == error(PARSE_ERROR)


def test_of_duplicate_members_the_last_counts(answer):
    line = '{"jsonrpc":"2.0","id":1,"id":2,"method":"nope","method":"ping","params":[1],"params":[]}'
    assert answer(line) == pong(2)


def test_unknown_members_of_the_envelope_are_ignored(answer):
    assert answer({"jsonrpc": "2.0", "id": 1, "method": "ping", "meta": {"a": 1}}) == pong(1)


@pytest.mark.parametrize("params", [{}, []])
def test_empty_params_are_no_params(answer, params):
    assert answer({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params}) == pong(1)


def test_null_is_a_request_id_and_absence_is_not(answer):
    """Section 4.1: a notification is a request without the member; null is discouraged, but is an id."""
    assert answer({"jsonrpc": "2.0", "id": None, "method": "ping"}) == pong(None)
    assert answer({"jsonrpc": "2.0", "method": "ping"}) is None


@pytest.mark.parametrize("name", ["nope", "rpc.nope", "rpc.", "", "Ping", "ping ", "__class__"])
def test_an_unknown_method_is_not_found(answer, name):
    found = answer({"jsonrpc": "2.0", "id": 1, "method": name})
    assert found == error({"code": -32601, "message": "Method not found"}, 1)


def test_a_notification_of_an_unknown_method_is_logged_and_not_answered(answer, caplog):
    assert answer({"jsonrpc": "2.0", "method": "nope"}) is None
    assert "there is no method 'nope'" in caplog.text


@pytest.mark.parametrize("params", [{"x": 1}, [1], {"context": 1, "self": 2, "request": 3}])
def test_a_notification_with_wrong_params_is_not_answered(answer, params):
    assert answer({"jsonrpc": "2.0", "method": "ping", "params": params}) is None


class TestBatches:
    def test_a_batch_of_one_is_answered_with_a_batch(self, answer):
        assert answer([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]) == [pong(1)]

    def test_a_batch_in_a_batch_is_an_invalid_request(self, answer):
        inner = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
        assert answer([inner, *inner]) == [error(INVALID_REQUEST), pong(1)]

    def test_each_element_is_judged_alone(self, answer):
        batch = [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            None,
            {"id": 3},
            {"jsonrpc": "2.0", "method": "ping"},
        ]
        assert answer(batch) == [pong(1), error(INVALID_REQUEST), error(INVALID_REQUEST, 3)]

    def test_the_same_id_twice_is_answered_twice(self, answer):
        request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert answer([request, request]) == [pong(1), pong(1)]

    @pytest.mark.parametrize(("count", "replies"), [(MOST_IN_A_BATCH, MOST_IN_A_BATCH), (MOST_IN_A_BATCH + 1, None)])
    def test_a_batch_has_a_largest_size(self, answer, count, replies):
        """Past it one error answers the whole: its replies would be many times the size of the request."""
        reply = answer(b"[" + b",".join([b"1"] * count) + b"]")
        assert reply == (error(INVALID_REQUEST) if replies is None else [error(INVALID_REQUEST)] * replies)


def test_a_request_too_large_says_the_limit(worker):
    reply = json.loads(Server(worker).answer(TooLong(1_024)))
    told = {"code": -32001, "message": "Request too large", "data": {"request_max_bytes": 1_024}}
    assert reply == error(told)


class Secret(Params):
    secret: Any


def fails(_worker, params):
    raise ValueError(params.secret)


def exits(_worker, params):
    raise SystemExit(params.secret)


def recurses(worker, params):
    return recurses(worker, params)


def gives_an_object(_worker, params):
    return {"deep": [type(params.secret, (), {})()]}


def gives_not_a_number(_worker, params):
    return {params.secret: float("nan"), "null": None}


@pytest.mark.parametrize("method", [fails, exits, recurses, gives_an_object, gives_not_a_number])
class TestDefects:
    """Whatever a method does, its request gets one reply, and nobody reads what it was given."""

    SECRET = "swordfish"

    @pytest.fixture
    def server(self, worker, method):
        return Server(worker, {"defect": Method(Secret, method)})

    @pytest.mark.parametrize("params", [[SECRET], {"secret": SECRET}], ids=["by position", "by name"])
    def test_a_defect_is_one_internal_error_with_a_fixed_text(self, server, params):
        request = {"jsonrpc": "2.0", "id": 5, "method": "defect", "params": params}
        reply = json.loads(server.answer(InputLine(json.dumps(request).encode())))
        assert reply == error({"code": -32603, "message": "Internal error"}, 5)

    def test_the_cause_is_logged_with_the_id_and_without_contents(self, server, caplog):
        request = {"jsonrpc": "2.0", "id": "the-id", "method": "defect", "params": [self.SECRET]}
        server.answer(InputLine(json.dumps(request).encode()))
        assert "request id='the-id' method=defect failed" in caplog.text
        assert self.SECRET not in caplog.text

    def test_a_notification_that_fails_is_logged_and_not_answered(self, server, caplog):
        request = {"jsonrpc": "2.0", "method": "defect", "params": [self.SECRET]}
        assert server.answer(InputLine(json.dumps(request).encode())) is None
        assert "method=defect failed" in caplog.text or caplog.text == ""

    def test_in_a_batch_only_its_own_element_fails(self, server):
        request = {"jsonrpc": "2.0", "id": 1, "method": "defect", "params": [self.SECRET]}
        codes = [
            reply["error"]["code"]
            for reply in json.loads(server.answer(InputLine(json.dumps([request, 1, request]).encode())))
        ]
        assert codes == [-32603, -32600, -32603]


def test_a_fault_of_the_library_keeps_its_text_to_itself(worker, monkeypatch, caplog):
    def fails(*_):
        raise AssertionError("swordfish")

    monkeypatch.setattr("bridge.worker.rpc.to_response", fails)
    reply = Server(worker).answer(InputLine(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
    assert json.loads(reply) == error({"code": -32603, "message": "Internal error"}, 1)
    assert "method=ping failed: AssertionError" in caplog.text
    assert "swordfish" not in caplog.text


def test_the_library_itself_logs_nothing():
    """It logs whole exceptions, and with them what tools returned. In a process without pytest's handlers."""
    program = """if True:
        import logging
        from pathlib import Path
        from bridge.settings import Settings
        from bridge.worker.rpc import Server
        from bridge.worker.services import Worker
        logging.basicConfig()
        Server(Worker(Settings(home=Path("nowhere"))))
        logging.getLogger("jsonrpcserver.dispatcher").error("swordfish")
        logging.getLogger("bridge").error("heard")
    """
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "heard" in ran.stderr
    assert "swordfish" not in ran.stderr + ran.stdout
