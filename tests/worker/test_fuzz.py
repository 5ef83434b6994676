"""Random frames against a real worker: each line is answered as it must be, and the worker lives until told to end.

BRIDGE_FUZZ_SECONDS says for how long (5 by default); BRIDGE_SEED repeats a run whose seed was printed.
"""

import contextlib
import itertools
import json
import os
import random
import time

from pydantic_core import from_json

SECONDS = float(os.environ.get("BRIDGE_FUZZ_SECONDS", "5"))
NEW_SEED = 1 if os.environ.get("CI") else time.time_ns() % 1_000_000_007
SEED = int(os.environ.get("BRIDGE_SEED", NEW_SEED))
METHODS = ("ping", "ui_preview", "stats", "rpc.discover", "initialize", "nope", "rpc.x", "", "shutdown ")
SHUTDOWNS = 0.02  # of all requests: each one that is granted takes a new worker
TEXTS = ("", "a", "read_file", "é\u2028\U0001f600", "\u0000", "\\", "x" * 5_000, "2.0", "null", "\ufeff")
NUMBERS = (0, 1, -1, 4_000, 2**63, 2**64, -(2**64), 10**30, 1.5, 1e300, -0.0)
IDS = (1, "1", "", None, 1.5, 10**29, True, [], {})
PING = b'{"jsonrpc":"2.0","id":"after","method":"ping"}\n'
PONG = b'{"jsonrpc":"2.0","result":"pong","id":"after"}\n'
NOISE = b'{}[]",:\\0123456789eE+-.truefalsnu \t\r\xef\xbb\xbf\xff\x00\xe2\x80\xa8'


class Frames:
    """Makes lines: requests, batches, and either of them damaged."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def line(self):
        """Return one line without its LF."""
        made = json.dumps(self.document(), ensure_ascii=self.random.random() < 0.5).encode()
        while self.random.random() < 0.4:
            made = self.damaged(made)
        return made.replace(b"\n", b"")

    def pieces(self, data):
        """Cut ``data`` where a pipe might."""
        at = sorted(self.random.randrange(len(data) + 1) for _ in range(self.random.randrange(3)))
        return [data[start:end] for start, end in itertools.pairwise([0, *at, len(data)])]

    def document(self):
        if self.random.random() < 0.2:
            return [self.element() for _ in range(self.random.randrange(5))]
        return self.element()

    def element(self):
        if self.random.random() < 0.1:
            return self.value(3)
        method = "shutdown" if self.random.random() < SHUTDOWNS else self.random.choice(METHODS)
        request = {"jsonrpc": "2.0", "method": method}
        if self.random.random() < 0.8:
            request["id"] = self.random.choice(IDS)
        if self.random.random() < 0.7:
            request["params"] = self.params()
        while self.random.random() < 0.15:
            request[self.random.choice(["jsonrpc", "method", "id", "params", "more"])] = self.value(2)
        return request

    def params(self):
        names = ("result", "limit", "name", "client", "more")
        if self.random.random() < 0.3:
            return [self.value(3) for _ in range(self.random.randrange(4))]
        return {name: self.value(3) for name in names if self.random.random() < 0.4}

    def value(self, depth):
        kind = self.random.randrange(6 if depth else 4)
        if kind < 2:
            return self.random.choice(TEXTS)
        if kind < 4:
            return self.random.choice((*NUMBERS, None, True, False))
        if kind == 4:
            return [self.value(depth - 1) for _ in range(self.random.randrange(4))]
        return {self.random.choice(TEXTS): self.value(depth - 1) for _ in range(self.random.randrange(4))}

    def damaged(self, line):
        at = self.random.randrange(len(line) + 1)
        change = self.random.randrange(4)
        if change == 0:
            return line[:at]
        if change == 1:
            return line[:at] + bytes([self.random.choice(NOISE)]) + line[at:]
        if change == 2:
            return line[:at] + line[at + self.random.randrange(1, 8) :]
        return line[:at] + line[at // 2 :]


def expected_ids(line):
    """Return the ids that must be answered, in order; None stands for a line that gets no reply.

    An independent reading of sections 4 to 6 of the specification.
    """
    line = line.removeprefix(b"\xef\xbb\xbf")
    if not line.strip(b" \t\r\x0b\x0c"):
        return None
    try:
        document = from_json(line, allow_inf_nan=False)
    except ValueError:
        return [None]
    if not isinstance(document, list):
        return expected_of(document)
    answered = [identifier for element in document for identifier in expected_of(element) or ()]
    return [None] if document == [] else (answered or None)


def expected_of(element):
    if not isinstance(element, dict):
        return [None]
    if is_request(element) and "id" not in element:
        return None
    identifier = element.get("id")
    return [identifier if is_id(identifier) else None]


def is_request(element):
    return (
        isinstance(element, dict)
        and is_id(element.get("id"))
        and element.get("jsonrpc") == "2.0"
        and isinstance(element.get("method"), str)
        and ("params" not in element or isinstance(element["params"], dict | list))
    )


def is_id(value):
    return value is None or (type(value) in (str, int, float) and value not in (float("inf"), float("-inf")))


def asks_for_the_end(line):
    """Return whether ``line`` holds a shutdown that is granted: one with an id or without, alone or in a batch."""
    try:
        document = from_json(line.removeprefix(b"\xef\xbb\xbf"), allow_inf_nan=False)
    except ValueError:
        return False
    return any(
        is_request(element) and element["method"] == "shutdown" and not element.get("params")
        for element in (document if isinstance(document, list) else [document])
    )


def test_every_random_line_is_answered_as_it_must_be(spawn):
    print(f"BRIDGE_SEED={SEED}")
    frames, worker = Frames(SEED), spawn()
    deadline, sent, ended = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < deadline:
        line = frames.line()
        if asks_for_the_end(line):
            check_end(line, frames, worker)
            worker, ended = spawn(), ended + 1
        else:
            check(line, frames, worker)
        sent += 1
    print(f"{sent} lines in {SECONDS} s, {ended} of them ended their worker")
    assert sent
    status, out, _ = worker.end()
    assert (status, out) == (0, b"")


def check(line, frames, worker):
    """Send ``line`` and a ping; read the reply to the line, if there must be one, and the answer to the ping."""
    for piece in frames.pieces(line + b"\n" + PING):
        worker.send(piece)
    check_reply(line, worker)
    assert worker.line() == PONG, line


def check_end(line, frames, worker):
    """Send ``line`` and a ping; read the reply to the line, if there must be one, and the end with status 0."""
    with contextlib.suppress(BrokenPipeError):  # it may be gone before the ping comes
        for piece in frames.pieces(line + b"\n" + PING):
            worker.send(piece)
    check_reply(line, worker)
    status, out, _ = worker.end()
    assert (status, out) == (0, b""), line


def check_reply(line, worker):
    expected = expected_ids(line)
    if expected is None:
        return
    reply = json.loads(worker.line())
    elements = reply if isinstance(reply, list) else [reply]
    assert [element["id"] for element in elements] == expected, line
    for element in elements:
        assert ("result" in element) != ("error" in element), line
        assert element.get("error", {}).get("code") != -32603, line
