"""Values within a budget: what is measured, and how much of a list is kept."""

from __future__ import annotations

import pytest

from bridge.excerpt.budget import Budget
from bridge.excerpt.json_text import encode
from bridge.excerpt.text import Style
from bridge.excerpt.tree import SizeCache, TreeShortener, size_of


@pytest.mark.parametrize("text", ["plain", "two\nlines", r"a backslash \n", 'quo"te\n\\\n'])
def test_the_size_of_a_long_list_follows_from_that_of_the_object_around_it(text):
    rows = [{"text": text, "number": number} for number in range(100)]
    value = {"rows": rows, "name\n": text, "few": [text]}
    sizes = SizeCache()
    sizes.know(value, encode(value))
    assert sizes.of(rows) == size_of(rows)
    assert sizes.of(value) == size_of(value)


@pytest.mark.parametrize("great", [50, 400, 700])
def test_as_many_items_are_kept_at_both_ends_as_fit(great):
    """Small ones come first, so that many of the great ones behind them are measured together."""
    items = [*range(200), *("x" * great for _ in range(200)), *range(200)]
    kept = TreeShortener(Style(), SizeCache()).fit(items, Budget(4_000, 100))
    (gap,) = (at for at, item in enumerate(kept) if str(item).startswith("[... "))
    assert kept[:gap] == items[:gap]
    assert kept[gap + 1 :] == items[gap + 1 - len(kept) :]
    assert kept[gap] == f"[... {len(items) - len(kept) + 1} items not shown ...]"
    assert len(encode(kept)) <= 4_000 < len(encode([*kept, items[gap]])) + 2
