"""What one worker holds between calls: its settings, the rooms it calls, and its counts.

Rooms are built when first needed, so that a worker answers its first request without them, and a store that
cannot be opened is gone without: a call then says that nothing was stored, and goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from bridge.errors import StoreUnavailable
from bridge.settings import Settings
from bridge.worker.stats import Stats

if TYPE_CHECKING:
    from bridge.ledger import Ledger
    from bridge.normalizer import Normalizer
    from bridge.outputs import Outputs

log = logging.getLogger(__name__)

Room = TypeVar("Room")

CLEANUP_EVERY_SECONDS = 3_600.0  # outputs expire in days; an hour late costs nothing
REST_BETWEEN_SLICES_SECONDS = 0.05  # a cleanup that has much to do lets calls in between
REST_BEFORE_CLEANUP_SECONDS = 1.0  # a client that has just started is about to ask something


class Rooms:
    """The normalizer and its stores for one set of settings; replaced whole when the settings change."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def normalizer(self) -> Normalizer:
        """The normalizer, with whatever stores could be opened."""
        from bridge.normalizer import Normalizer  # noqa: PLC0415 - the first reply does not wait for it

        return Normalizer(self._settings, outputs=self.outputs, ledger=self.ledger)

    @cached_property
    def outputs(self) -> Outputs | None:
        """The store of complete outputs, or None when it cannot be opened."""
        from bridge.outputs import Outputs  # noqa: PLC0415 - as above

        return _opened("outputs", lambda: Outputs(self._settings.home, self._settings.limits))

    @cached_property
    def ledger(self) -> Ledger | None:
        """The saved projections, or None when they cannot be opened."""
        from bridge.ledger import Ledger  # noqa: PLC0415 - as above

        return _opened("ledger", lambda: Ledger(self._settings.home))


class Worker:
    """The state that every method gets as its first argument."""

    def __init__(self, settings: Settings, rooms: Callable[[Settings], Any] = Rooms) -> None:
        self._given = settings
        self._build_rooms = rooms
        self.settings = settings
        self.rooms = rooms(settings)
        self.stats = Stats()
        self.ruby_3_4 = False
        self.stopping = False
        self._warm = False
        self._more_to_clean = False

    def limit(self, changes: Mapping[str, Any]) -> None:
        """Replace the limits: the environment's with ``changes`` applied. Raises ``LimitError``."""
        limits = self._given.limits.replace(changes)
        if limits != self.settings.limits:
            self.settings = replace(self._given, limits=limits)
            self.rooms = self._build_rooms(self.settings)

    def store(self, name: str) -> Any:
        """Give the room ``outputs`` or ``ledger``; raises ``StoreUnavailable`` where there is none."""
        room = getattr(self.rooms, name)
        if room is None:
            raise StoreUnavailable({"reason": f"the {name} under {self.settings.home} could not be opened"})
        return room

    def rest(self) -> float:
        """Do what no request should wait for; give the seconds until there is more to do.

        The first rest loads the rooms, the next ones clean up the stored outputs.
        """
        if not self._warm:
            self._warm = True
            _quietly("loading the rooms", lambda: self.rooms.normalizer)
            return REST_BEFORE_CLEANUP_SECONDS
        self._more_to_clean = False
        _quietly("cleaning up", self._clean_up)
        return REST_BETWEEN_SLICES_SECONDS if self._more_to_clean else CLEANUP_EVERY_SECONDS

    def _clean_up(self) -> None:
        if self.rooms.outputs is not None:
            self._more_to_clean = bool(self.rooms.outputs.cleanup(force=False).get("more"))


def _opened(name: str, opening: Callable[[], Room]) -> Room | None:
    try:
        return opening()
    except Exception as error:  # noqa: BLE001 - whatever keeps a store shut, calls go on without it
        log.warning("the %s could not be opened: %s", name, type(error).__name__)
        return None


def _quietly(doing: str, chore: Callable[[], object]) -> None:
    try:
        chore()
    except Exception as error:  # noqa: BLE001 - nobody asked for this chore, so nobody must suffer from it
        log.warning("%s failed: %s", doing, type(error).__name__)
