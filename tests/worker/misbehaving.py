"""A worker with methods that do what a method must not; started as a program by the tests."""

import os
import signal
import subprocess
import sys
import time

from pydantic import InstanceOf

from bridge.protocol.models import Params
from bridge.worker.methods import METHODS, Method

SECRET = "the-secret-of-the-tool"


class Raises(Params):
    secret: InstanceOf[str]


class Nests(Params):
    depth: int


class Sleeps(Params):
    seconds: int


class Repeats(Params):
    text: InstanceOf[str]
    times: int


def prints(_worker, _params):
    sys.stdout.write("not a frame\n")
    os.write(1, b"not a frame either\n")
    return sys.stdin.read() + os.read(0, 10).decode()


def raises(_worker, params):
    raise ValueError(params.secret)


def exits(_worker, _params):
    sys.exit("some text")


def interrupts(_worker, _params):
    raise KeyboardInterrupt


def recurses(worker, params):
    return recurses(worker, params)


def gives_an_object(_worker, _params):
    return {"deep": [object()]}


def gives_not_a_number(_worker, _params):
    return [None, float("nan")]


def gives_a_surrogate(_worker, _params):
    return "\udcff"


def nests(_worker, params):
    value = []
    for _ in range(params.depth):
        value = [value]
    return value


def forks_and_stays(_worker, _params):
    """Leave a child behind that has every descriptor of the worker, as a library's helper might."""
    child = os.fork()
    if child == 0:
        time.sleep(30)
        os._exit(0)
    return child


def forks_and_returns(_worker, _params):
    """Let a child come back from the handler, as a fork without an exit would."""
    return os.fork()


def spawns(_worker, _params):
    """Start a program that writes to its stdout and stays."""
    return subprocess.Popen(["/bin/sh", "-c", "echo not a frame; exec sleep 30"]).pid


def alarms(_worker, _params):
    """Ask for a signal that comes while the worker is idle, as a library's timer might."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.2)


def sleeps(_worker, params):
    time.sleep(params.seconds)
    return "slept"


def spins(_worker, _params):
    while True:
        pass


def repeats(_worker, params):
    return params.text * params.times


def install():
    for function in (
        prints,
        exits,
        interrupts,
        recurses,
        gives_an_object,
        gives_not_a_number,
        gives_a_surrogate,
        forks_and_stays,
        forks_and_returns,
        spawns,
        alarms,
        spins,
    ):
        METHODS[function.__name__] = Method(Params, function)
    METHODS["raises"] = Method(Raises, raises)
    METHODS["nests"] = Method(Nests, nests)
    METHODS["sleeps"] = Method(Sleeps, sleeps)
    METHODS["repeats"] = Method(Repeats, repeats)


if __name__ == "__main__":
    install()
    from bridge.worker.stdio import serve

    sys.exit(serve())
