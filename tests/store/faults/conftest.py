"""Faults that are real: a disk that is full, a user who may not write, a process with a limit."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import pytest

from bridge.store import database
from bridge.store.ledger import Ledger

NOBODY = 65_534


@pytest.fixture
def small_disk():
    """Return a folder on a disk of 2 MiB that is mounted for this test."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk; the file size limit stands in for it")
    folder = Path(tempfile.mkdtemp(prefix="bridge-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", folder], capture_output=True, check=False
    )
    try:
        if mounted.returncode:
            pytest.skip(f"this machine lets no disk be mounted: {mounted.stderr.decode().strip()}")
        yield folder
    finally:
        if not mounted.returncode:
            subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


@pytest.fixture
def open_folder():
    """Return a folder that an ordinary user can reach, which pytest's own folders are not."""
    folder = Path(tempfile.mkdtemp(prefix="bridge-open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def in_child():
    """Return a runner: it forks, lets ``prepare`` take rights away, and gives what ``work`` gives, as JSON."""
    return _in_child


def _in_child(work, prepare):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            prepare()
            os.write(writing, json.dumps(work()).encode())
        except BaseException:  # noqa: BLE001 - the child must end here, whatever happened
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, "the child failed; its traceback is on stderr"
    return json.loads(answer)


@pytest.fixture
def as_ordinary_user(in_child):
    """Return a runner for work that file permissions apply to, which they do not for root."""
    return lambda work: in_child(work, lambda: os.setuid(NOBODY) if os.geteuid() == 0 else None)


@pytest.fixture
def with_file_size_limit(in_child):
    """Return a runner for work in which no file may grow beyond so many bytes."""

    def run(limit, work):
        return in_child(work, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))

    return run


@pytest.fixture
def ledger(home):
    return Ledger(home)


@pytest.fixture
def short_patience(monkeypatch):
    monkeypatch.setattr(database, "PATIENCE_SECONDS", 0.05)
