"""A worker with methods that do what a method must not; started as a program by the tests."""

import os
import signal
import subprocess
import sys
import time

from bridge.worker.methods import METHODS
from bridge.worker.params import TEXT, WHOLE_NUMBER, describe

SECRET = "the-secret-of-the-tool"


def prints(_worker):
    sys.stdout.write("not a frame\n")
    os.write(1, b"not a frame either\n")
    return sys.stdin.read() + os.read(0, 10).decode()


def raises(_worker, secret):
    raise ValueError(secret)


def exits(_worker):
    sys.exit("some text")


def interrupts(_worker):
    raise KeyboardInterrupt


def recurses(worker):
    return recurses(worker)


def gives_an_object(_worker):
    return {"deep": [object()]}


def gives_not_a_number(_worker):
    return [None, float("nan")]


def gives_a_surrogate(_worker):
    return "\udcff"


def nests(_worker, depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def forks_and_stays(_worker):
    """Leave a child behind that has every descriptor of the worker, as a library's helper might."""
    child = os.fork()
    if child == 0:
        time.sleep(30)
        os._exit(0)
    return child


def forks_and_returns(_worker):
    """Let a child come back from the handler, as a fork without an exit would."""
    return os.fork()


def spawns(_worker):
    """Start a program that writes to its stdout and stays."""
    return subprocess.Popen(["/bin/sh", "-c", "echo not a frame; exec sleep 30"]).pid


def alarms(_worker):
    """Ask for a signal that comes while the worker is idle, as a library's timer might."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.2)


def sleeps(_worker, seconds):
    time.sleep(seconds)
    return "slept"


def spins(_worker):
    while True:
        pass


def repeats(_worker, text, times):
    return text * times


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
        METHODS[function.__name__] = describe(function)
    METHODS["raises"] = describe(raises, secret=TEXT)
    METHODS["nests"] = describe(nests, depth=WHOLE_NUMBER)
    METHODS["sleeps"] = describe(sleeps, seconds=WHOLE_NUMBER)
    METHODS["repeats"] = describe(repeats, text=TEXT, times=WHOLE_NUMBER)


if __name__ == "__main__":
    install()
    from bridge.worker.stdio import serve

    sys.exit(serve())
