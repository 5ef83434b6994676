"""The commands for people, and ``serve`` for whoever spawns the worker.

``serve`` must move descriptors 0 and 1 away before anything else is imported, and start at once, so this file
imports only what cannot write, and the commands for people live in ``bridge.people``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give the exit status: 0 for success, 1 for a finding, 2 for a wrong command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["serve"]:
        from bridge.worker.stdio import serve  # noqa: PLC0415 - see above

        return serve()
    from bridge.people import run  # noqa: PLC0415 - see above

    return run(given)
