"""Is everything in place? Each check runs the real thing and says what to do where it fails."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from bridge import __version__
from bridge.settings import Settings
from bridge.store.outputs import Outputs

LIBRARIES = ("jsonrpcserver", "orjson", "pydantic")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
PONG = b'"result":"pong"'
WAIT_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: whether it is well, and what a person should know or do."""

    ok: bool
    text: str


def examine(environment: Mapping[str, str]) -> list[Finding]:
    """Look at everything that a worker started with ``environment`` needs."""
    return list(_findings(environment))


def _findings(environment: Mapping[str, str]) -> Iterator[Finding]:
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    yield Finding(ok=True, text=f"rind-bridge {__version__}, Python {sys.version.split()[0]}, {libraries}")
    try:
        settings = Settings.from_environment(environment)
    except ValueError as error:
        yield Finding(ok=False, text=f"settings: {error}. Correct or unset the variable.")
        return
    yield Finding(ok=True, text="settings: every RIND_BRIDGE_ variable is well formed")
    yield _tried("home", lambda: _use_home(settings))
    yield _tried("worker", lambda: _ping_worker(environment))
    yield _ruby()


def _tried(name: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(ok=True, text=f"{name}: {check()}")
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return Finding(ok=False, text=f"{name}: {error}")


def _use_home(settings: Settings) -> str:
    """Store an output in a folder of the home that is gone afterwards, as a call would in the home."""
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.home, prefix="doctor-") as folder:
        kept = Outputs(Path(folder), settings.limits).store("doctor", "check", b"the doctor was here\n")
    if "path" not in kept:
        raise ValueError(f"{settings.home} keeps no outputs: {kept}. Set RIND_BRIDGE_HOME to a folder of yours.")
    free = shutil.disk_usage(settings.home).free
    return f"{settings.home} keeps outputs; {free / 1e9:.1f} GB are free"


def _ping_worker(environment: Mapping[str, str]) -> str:
    command = [sys.executable, "-m", "bridge", "serve"]
    finished = subprocess.run(  # noqa: S603 - our own interpreter and module
        command, input=PING, capture_output=True, env=dict(environment), timeout=WAIT_SECONDS, check=True
    )
    if PONG not in finished.stdout:
        raise ValueError(f"{' '.join(command)} answered {finished.stdout[:200]!r} to a ping")
    return "spawned, pinged, and ended in order"


def _ruby() -> Finding:
    ruby = shutil.which("ruby")
    if ruby is None:
        return Finding(ok=True, text="ruby: not on the PATH; only a Ruby oracle needs it")
    finished = subprocess.run([ruby, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    return Finding(ok=finished.returncode == 0, text=f"ruby: {finished.stdout.strip()}")
