"""The command ``rind-bridge``, also ``python -m bridge``.

``serve`` must move descriptors 0 and 1 away before anything else is imported, and start at once, so this file
imports only what cannot write; the commands for people live in ``bridge.commands``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit status: 0 success, 1 a finding, 2 a wrong command line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given == ["serve"]:
        from bridge.worker.stdio import serve  # noqa: PLC0415 - see above

        return serve()
    from bridge.commands.cli import run  # noqa: PLC0415 - see above

    return run(given)


if __name__ == "__main__":
    sys.exit(main())
