"""Takes files from the inventory and from the disk at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from sqlite3 import Connection

from bridge.store import folders, inventory
from bridge.store.inventory import Removal


def remove_all(writing: Connection, home: Path, removals: Iterable[Removal], now: float) -> list[Removal]:
    """Strike files off and remove them, inside one transaction; return what went.

    Under the write lock nobody can record a file, so what is struck off cannot come back in between, and no
    file that is not counted any more is still on the disk. The rows go first, because their part can still
    fail. A crash behind the removal leaves rows without files, which cleanup strikes off.
    """
    going = list(removals)
    inventory.strike_off(writing, going, now)
    for removal in going:
        folders.remove(home, removal.names)
    return going
