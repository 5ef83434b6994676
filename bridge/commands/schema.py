"""``rind-bridge schema``: the OpenRPC document of the worker."""

from __future__ import annotations

import click

from bridge import __version__
from bridge.commands.safe_text import json_text
from bridge.protocol.openrpc import document


def run() -> int:
    """Print the document."""
    click.echo(json_text(document(__version__)))
    return 0
