"""Real processes on one home: children that do one thing and tell it line by line through a pipe."""

from __future__ import annotations

import json
import os
import sys
import traceback

import pytest

# The full counts take minutes; a few seconds' worth runs with every test.
FULL = os.environ.get("BRIDGE_STORE_FULL") == "1"


@pytest.fixture
def counted():
    """Return the number that fits: ``counted(short, full)``."""
    return lambda short, full: full if FULL else short


@pytest.fixture
def start():
    """Return a starter: it forks a child for ``work(tell)`` and gives its id and the pipe of its lines."""
    return _start


def _start(work):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(lambda value: os.write(writing, json.dumps(value).encode() + b"\n"))
        except BaseException:  # noqa: BLE001 - the child must end here, whatever happened
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
        os._exit(0)
    os.close(writing)
    return child, os.fdopen(reading, "rb")
