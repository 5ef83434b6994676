"""The store of a home that is not there yet; a module whose home or clock is special has its own."""

from __future__ import annotations

import pytest

from bridge.limits import Limits
from bridge.store.outputs import Outputs


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def outputs(home):
    return Outputs(home, Limits())
