"""The commands for people and for whoever spawns the worker.

``serve`` must move descriptors 0 and 1 away before anything else is imported, so this file imports nothing
that could write.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

USAGE = "usage: rind-bridge serve\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give the exit status: 0 for success, 2 for a wrong command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["serve"]:
        from bridge.worker.stdio import serve  # noqa: PLC0415 - see above

        return serve()
    sys.stderr.write(USAGE)
    return 2
