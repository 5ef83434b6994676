"""Takes files that were struck off from the disk, unless they came back in the meantime."""

from __future__ import annotations

from pathlib import Path

from bridge.store import folders, inventory
from bridge.store.database import Database
from bridge.store.inventory import Removal


def remove_struck_off(database: Database, home: Path, removal: Removal) -> bool:
    """Remove the file and say whether it is gone; raises ``DatabaseFault``.

    Between the striking off and this, a retry may have found the file, or written it, and recorded it anew:
    under the write lock nobody can, so what is not recorded then may go.
    """
    return database.write(
        lambda writing: not inventory.is_kept(writing, removal.path) and folders.remove(home, removal.names)
    )
