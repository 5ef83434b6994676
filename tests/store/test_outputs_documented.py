"""docs/outputs.md names every reason, every limit and every member that a caller can meet."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from bridge.limits import Limits
from bridge.protocol import reasons
from bridge.store.outputs import Outputs

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = (DOCS / "outputs.md").read_text()
# The words that say why a call has no output are explained where the projection is.
BOTH = DOCUMENT + (DOCS / "projections.md").read_text()
REASONS = sorted(value for name, value in vars(reasons).items() if name.isupper())
LIMITS = sorted(limit.name for limit in dataclasses.fields(Limits) if limit.name.startswith("output_"))


@pytest.mark.parametrize("word", REASONS)
def test_every_reason_has_a_row(word):
    assert f"\n| `{word}` | " in BOTH


@pytest.mark.parametrize("limit", LIMITS)
def test_every_limit_has_a_row(limit):
    assert f"\n| `{limit}` | " in DOCUMENT


def test_every_member_of_references_and_pages_is_named(tmp_path):
    outputs = Outputs(tmp_path, Limits(output_file_max_bytes=4_096))
    reference = outputs.store("s", "c", b"line\n" * 2_000, field="result")
    page = outputs.read("s", "c")
    for member in {*reference, *page, *outputs.cleanup()}:
        assert f"`{member}`" in DOCUMENT, member
