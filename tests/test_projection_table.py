"""The documented projections are real ones."""

from __future__ import annotations

import projection_table
from bridge.projections import KINDS


def test_the_documented_table_is_what_the_normalizer_gives():
    """When it is not: ``PYTHONPATH=tests python tests/projection_table.py --write``."""
    assert projection_table.PAGE.read_text() == projection_table.page()


def test_every_kind_is_documented():
    assert {example[0] for example in projection_table.EXAMPLES} == {kind.KIND for kind in KINDS}
