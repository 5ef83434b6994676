"""What one worker holds between calls: its settings, the services behind its methods, and its counts.

Services are built when first needed, so that a worker answers its first request without them. Without a store that
can be opened calls go on, and say that nothing was stored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from bridge.protocol.errors import StoreUnavailable
from bridge.settings import Settings
from bridge.worker.stats import Stats

if TYPE_CHECKING:
    from bridge.projections.normalizer import Normalizer
    from bridge.store.ledger import Ledger
    from bridge.store.outputs import Outputs

log = logging.getLogger(__name__)

Service = TypeVar("Service")

CLEANUP_EVERY_SECONDS = 3_600.0  # outputs expire in days; an hour late costs nothing
REST_BETWEEN_SLICES_SECONDS = 0.05  # a cleanup that has much to do lets calls in between
REST_BEFORE_CLEANUP_SECONDS = 1.0  # a client that has just started is about to ask something


class Services:
    """The normalizer and its stores for one set of settings; replaced whole when the settings change."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def normalizer(self) -> Normalizer:
        """The normalizer, with whatever stores could be opened."""
        from bridge.projections.normalizer import Normalizer  # noqa: PLC0415 - the first reply does not wait for it

        return Normalizer(self._settings, outputs=self.outputs, ledger=self.ledger)

    @cached_property
    def outputs(self) -> Outputs | None:
        """The store of complete outputs, or None when it cannot be opened."""
        from bridge.store.outputs import Outputs  # noqa: PLC0415 - as above

        return _opened("outputs", lambda: Outputs(self._settings.home, self._settings.limits))

    @cached_property
    def ledger(self) -> Ledger | None:
        """The saved projections, or None when they cannot be opened."""
        from bridge.store.ledger import Ledger  # noqa: PLC0415 - as above

        database = self.outputs.database if self.outputs else None
        return _opened("ledger", lambda: Ledger(self._settings.home, limits=self._settings.limits, database=database))


class Worker:
    """The state that every method gets as its first argument."""

    def __init__(self, settings: Settings, services: Callable[[Settings], Any] = Services) -> None:
        self._given = settings
        self._build_services = services
        self.settings = settings
        self.services = services(settings)
        self.stats = Stats()
        self.ruby_3_4 = False
        self.json_2_15 = False
        self.stopping = False
        self._warm = False
        self._more_to_clean = False

    def configure(self, limits: Mapping[str, Any], payload_texts: bool | None) -> None:  # noqa: FBT001 - as on the wire
        """Replace the settings: the environment's with these changes. Raises ``LimitError``."""
        given = self._given
        texts = given.payload_texts if payload_texts is None else payload_texts
        settings = replace(given, limits=given.limits.replace(limits), payload_texts=texts)
        if settings != self.settings:
            self.close()
            self.settings = settings
            self.services = self._build_services(settings)

    def store(self, name: str) -> Any:
        """Return the store ``outputs`` or ``ledger``; raises ``StoreUnavailable`` where there is none."""
        store = getattr(self.services, name)
        if store is None:
            raise StoreUnavailable({"reason": f"the {name} under {self.settings.home} could not be opened"})
        return store

    def rest(self) -> float:
        """Do the chores that no request should wait for; return the seconds until there are more.

        The first rest loads the services, the next ones clean up the stored outputs.
        """
        if not self._warm:
            self._warm = True
            _quietly("loading the services", lambda: self.services.normalizer)
            return REST_BEFORE_CLEANUP_SECONDS
        self._more_to_clean = False
        _quietly("saving what could not be saved", self._save_pending)
        _quietly("cleaning up", self._clean_up)
        return REST_BETWEEN_SLICES_SECONDS if self._more_to_clean else CLEANUP_EVERY_SECONDS

    def close(self) -> None:
        """Save what could not be saved yet and close the ledger, if it was loaded: these services have done."""
        if ledger := vars(self.services).get("ledger"):
            _quietly("closing the ledger", ledger.close)

    def _save_pending(self) -> None:
        if hasattr(self.services.ledger, "save_pending"):
            self.services.ledger.save_pending()

    def _clean_up(self) -> None:
        if self.services.outputs is not None:
            self._more_to_clean = bool(self.services.outputs.cleanup(force=False).get("more"))


def _opened(name: str, opening: Callable[[], Service]) -> Service | None:
    try:
        return opening()
    except Exception as error:  # noqa: BLE001 - calls go on without a store, whatever its fault is
        log.warning("the %s could not be opened: %s", name, type(error).__name__)
        return None


def _quietly(doing: str, chore: Callable[[], object]) -> None:
    try:
        chore()
    except Exception as error:  # noqa: BLE001 - no call depends on a chore, so its failure fails none
        log.warning("%s failed: %s", doing, type(error).__name__)
