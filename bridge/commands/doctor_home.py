"""The checks of the home: can it be used, who may read it, how full is it."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bridge.commands import drawing, history
from bridge.commands.doctor_finding import DO, NOTE, OK, Finding
from bridge.commands.failures import CommandError, sentence
from bridge.protocol.errors import BridgeError
from bridge.settings import Settings
from bridge.store.outputs import Outputs

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Below this, a few outputs of the largest size fill the disk.
_LITTLE_SPACE = 1_000_000_000
_NEARLY_FULL = 0.9
_SET_ANOTHER = "Set RIND_BRIDGE_HOME to a folder of yours that can be written."


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield what was found; nothing that was made for it stays behind, and no home is made."""
    home = settings.home
    used = _use(settings)
    yield used
    if used.level == DO or not home.exists():
        return
    yield _rights(home)
    yield from _set_aside(home)
    try:
        yield from _sizes(settings)
    except (BridgeError, CommandError, OSError) as error:
        yield Finding("ledger", DO, sentence(error), "End the program that holds it, or move the file away.")


def _use(settings: Settings) -> Finding:
    """Store an output in a folder that is gone afterwards, in the home or where the home would be made."""
    home = settings.home
    folder = next(place for place in (home, *home.parents) if os.path.lexists(place))
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".rind-bridge-doctor-") as made:
            kept = Outputs(Path(made), settings.limits).store("doctor", "check", b"one line\n")
    except OSError as error:
        return Finding("home", DO, f"{home} cannot be used: {sentence(error)}", _SET_ANOTHER)
    if "path" not in kept:
        why = f"{kept.get('reason')}, {kept.get('detail')}"
        return Finding("home", DO, f"{home} keeps no outputs: {why}", _SET_ANOTHER)
    if folder != home:
        advice = "If you meant another one, set RIND_BRIDGE_HOME; else there is nothing to do."
        return Finding("home", NOTE, f"{home} does not exist yet; the first call that is stored makes it", advice)
    return _space(home, settings.limits.output_total_max_bytes)


def _space(home: Path, quota: int) -> Finding:
    free = shutil.disk_usage(home).free
    text = f"{home} keeps outputs; {free / 1e9:.1f} GB are free"
    if free < min(_LITTLE_SPACE, quota):
        return Finding("home", DO, text, "Free some space, or set RIND_BRIDGE_OUTPUT_TOTAL_MAX_BYTES lower.")
    return Finding("home", OK, text)


def _rights(home: Path) -> Finding:
    found = home.stat()
    if found.st_uid != os.geteuid():
        return Finding("rights", DO, f"{home} belongs to another user", _SET_ANOTHER)
    if found.st_mode & _OTHERS:
        mode = stat.filemode(found.st_mode)
        return Finding("rights", DO, f"{home} is open to other users ({mode})", f"Run: chmod 700 {home}")
    return Finding("rights", OK, "only you can read the home")


def _set_aside(home: Path) -> Iterator[Finding]:
    for damaged in sorted(home.glob("ledger.sqlite3.damaged-*[0-9Z]")):
        advice = f"Get what can be got with: sqlite3 {damaged} .recover; then delete it."
        yield Finding("ledger", NOTE, f"a damaged ledger was set aside: {damaged.name}", advice)


def _sizes(settings: Settings) -> Iterator[Finding]:
    home, limits = settings.home, settings.limits
    sessions = history.sessions(home)
    kept = sum(session["bytes"] for session in sessions)
    text = f"{len(sessions):,} sessions keep {kept:,} of {limits.output_total_max_bytes:,} bytes"
    if kept > _NEARLY_FULL * limits.output_total_max_bytes:
        advice = "Raise RIND_BRIDGE_OUTPUT_TOTAL_MAX_BYTES, or rind-bridge forget a session; else the oldest go."
        yield Finding("quota", DO, text, advice)
    else:
        yield Finding("quota", OK, text)
    for session in sessions:
        if session["bytes"] > _NEARLY_FULL * limits.output_session_max_bytes:
            text = f"session {session['session_id']} keeps {session['bytes']:,} of {limits.output_session_max_bytes:,}"
            yield Finding("quota", DO, text, "Raise RIND_BRIDGE_OUTPUT_SESSION_MAX_BYTES; new outputs are not kept.")
    yield _age(home)


def _age(home: Path) -> Finding:
    first = min((call["time"] for call in history.calls(home)), default=None)
    size = sum(file.stat().st_size for file in home.glob("ledger.sqlite3*") if "damaged" not in file.name)
    since = "" if first is None else f"; age of its first call: {drawing.ago(time.time() - first)}"
    return Finding("ledger", OK, f"{size:,} bytes{since}")
