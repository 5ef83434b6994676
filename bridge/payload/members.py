"""Containers with some of their members replaced: what is the same stays the very object, so it takes no memory."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

# In the place of a member that is to be left out.
GONE: Final = object()


def with_members(container: Any, replacement: Callable[[Any, Any], Any], names: Collection[Any] | None = None) -> Any:
    """Return an object or a list with ``replacement(key, member)`` for each member, ``container`` if all are the same.

    The key of an item of a list is its number. A member for which ``GONE`` is returned is left out. ``names`` are the
    keys of an object in the order in which they are asked for. ``container`` itself is not changed.
    """
    is_object = isinstance(container, dict)
    copy: Any = None
    for key in names if names is not None else container if is_object else range(len(container)):
        member = container[key]
        new = replacement(key, member)
        if new is not member:
            if copy is None:
                copy = dict(container) if is_object else list(container)
            copy[key] = new
    if copy is None:
        return container
    if is_object:
        return {key: member for key, member in copy.items() if member is not GONE}
    return [member for member in copy if member is not GONE]
