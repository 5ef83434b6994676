"""The checks of the Ruby side: is the gem found, does it fit this worker, does a preview go round."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import bridge
from bridge import __version__
from bridge.commands.doctor_finding import DO, NOTE, OK, Finding
from bridge.commands.safe_text import shown_line

WAIT_SECONDS = 30
OLDEST = (3, 1)

# A preview that no worker made counts as a fallback, so the text alone proves nothing.
_SCRIPT = """
require 'json'
found = { ruby: RUBY_VERSION }
begin
  require 'rind_bridge'
  found[:gem] = RindBridge::VERSION
  client = RindBridge.start
  client.connect
  found[:preview] = client.ui_preview('round', 4000, name: 'doctor')
  found.merge!(client.status.slice(:fallbacks, :version, :last_error))
  RindBridge.stop
rescue LoadError => e
  found[:missing] = e.message
end
$stdout.puts JSON.generate(found)
"""


def examine(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what was found; without ruby, that only an oracle needs it."""
    ruby = shutil.which("ruby", path=environment.get("PATH"))
    if ruby is None:
        advice = "Install Ruby 3.1 or newer if your agent is an oracle in Ruby; else there is nothing to do."
        yield Finding("ruby", NOTE, "not on the PATH", advice)
        return
    try:
        found = _ask(ruby, environment)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        yield Finding(
            "ruby", DO, f"{ruby} did not finish a preview: {shown_line(error)}", "Run ruby --version by hand."
        )
        return
    yield from _judge(ruby, found)


def _ask(ruby: str, environment: Mapping[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="rind-bridge-doctor-") as folder:
        given = {**environment, "RIND_BRIDGE_HOME": folder}
        finished = subprocess.run(  # noqa: S603 - the person's own ruby
            [ruby, "-e", _SCRIPT],
            capture_output=True,
            env=given,
            cwd=folder,
            timeout=WAIT_SECONDS,
            check=False,
        )
    if finished.returncode:
        said = finished.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise ValueError(f"it ended with status {finished.returncode} ({said[:200]})")
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found


def _judge(ruby: str, found: Mapping[str, Any]) -> Iterator[Finding]:
    version = str(found["ruby"])
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        yield Finding("ruby", DO, f"{ruby} is {version}; the client needs 3.1 or newer", "Install a newer Ruby.")
        return
    yield Finding("ruby", OK, f"{ruby} is {version}")
    if "gem" not in found:
        yield Finding("gem", NOTE, "the gem rind_bridge is not found", _how_to_find_it())
        return
    if found["gem"] != __version__:
        text = f"rind_bridge is version {found['gem']}, this program is {__version__}"
        yield Finding("gem", DO, text, "Install both from the same release.")
        return
    if found["fallbacks"] or found["preview"] != "round":
        text = f"a preview was made in Ruby alone: {found['last_error'] or 'no worker answered'}"
        yield Finding("gem", DO, text, "See the finding of the worker above.")
        return
    yield Finding("gem", OK, f"rind_bridge {found['gem']} started the worker, and a preview went round")


def _how_to_find_it() -> str:
    checkout = Path(bridge.__file__).parents[1] / "ruby_client" / "lib"
    where = f"export RUBYLIB={checkout}" if checkout.is_dir() else "gem install rind_bridge"
    return f"If your agent is an oracle in Ruby, run: {where}"
