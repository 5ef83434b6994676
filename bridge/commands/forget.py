"""``rind-bridge forget``: removes all that is kept of a session."""

from __future__ import annotations

import os
import sys

import click

from bridge.commands import history
from bridge.commands.failures import CommandError
from bridge.commands.safe_text import shown_line
from bridge.settings import Settings
from bridge.store.outputs import Outputs


def run(session: str, *, yes: bool) -> int:
    """Ask, remove, and say what was removed."""
    settings = Settings.from_environment(os.environ)
    history.check_session(settings.home, session)
    if not yes:
        _ask(session)
    forgotten = Outputs(settings.home, settings.limits).forget(session)
    removed, size = len(forgotten["removed"]), forgotten["bytes"]
    click.echo(f"Removed what was kept of session {shown_line(session)}: {removed:,} files and calls, {size:,} bytes.")
    if forgotten["left"]:
        raise CommandError(f"The disk did not let go of {', '.join(map(str, forgotten['left']))}; remove it by hand.")
    return 0


def _ask(session: str) -> None:
    if sys.stdin is None or not sys.stdin.isatty():
        raise CommandError("Nobody can be asked here whether to remove it; say so with --yes.")
    click.confirm(
        f"Remove all that is kept of session {shown_line(session)}? It cannot be undone.", abort=True, err=True
    )
