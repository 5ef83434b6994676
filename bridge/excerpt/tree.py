"""Any JSON value within a budget, its shape kept as long as it can be.

In this order, and no further than needed: the longest texts are shortened, down to a common size; then lists
lose their middle, with a count in its place; then branches become the text of their JSON, and that text is
shortened. Small scalars are touched by none of it. What cannot keep its shape at all becomes text as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bridge.excerpt.budget import Budget, share
from bridge.excerpt.json_text import encode, newlines
from bridge.excerpt.text import MARKER_LINES, SMALLEST_FOR_MARKER, Excerpt, Style, Text, excerpt, fits

# An item takes at most this part of a list that is shortened, so that there is never only one.
_ITEM_PART = 4
# A list of many small items is not searched for long texts: it is shortened as a list.
_MANY_ITEMS, _SMALL_ITEM = 32, 96
_MAX_FIELDS = 8
# So many items are measured at once: the cost of a call to the encoder is that of a dozen small items.
_HANDFUL = 16


@dataclass(frozen=True, slots=True)
class _Level:
    """Which values give way together, and the budget that each must be left with."""

    leaves: tuple[type, ...]
    smallest: Budget


_TEXTS = _Level((str,), Budget(160, 4))
_LISTS = _Level((str, list, tuple), Budget(240, 4))
_CHILDREN = _Level((object,), Budget(48, 0))


@dataclass(slots=True)
class CutReport:
    """What was shortened: texts, items (and their bytes), branches; first fields; the cuts by field."""

    texts: int = 0
    items: int = 0
    item_bytes: int = 0
    branches: int = 0
    fields: list[str] = field(default_factory=list)
    cuts: dict[str, Excerpt] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.texts or self.items or self.branches)

    def note(self, path: str) -> None:
        """Remember ``path`` as a field that was shortened; only the first few are named."""
        if len(self.fields) < _MAX_FIELDS and path not in self.fields:
            self.fields.append(path)


@dataclass(slots=True)
class TreeShortener:
    """Shortens values with one ``style``; ``account`` and ``counts`` (of folded lines) grow as it works."""

    style: Style
    costs: SizeCache
    account: CutReport = field(default_factory=CutReport)
    counts: Counter[str] = field(default_factory=Counter)

    def fit(self, value: Any, budget: Budget, path: str = "") -> Any:
        """Return ``value`` within ``budget``; its size is that of its compact JSON, quotes included.

        ``budget.size`` is at least 48 bytes, or at least what ``value`` needs.
        """
        if isinstance(value, str):
            return self._text(value, budget, path)
        cost = self.costs.of(value)
        if _within(cost, budget):
            return value
        for shaped in self._attempts(value, cost, budget, path):
            if shaped is not None:
                return shaped
        return self._as_text(value, budget, path)

    def _attempts(self, value: Any, cost: Budget, budget: Budget, path: str) -> Iterator[Any]:
        if isinstance(value, dict):
            yield self._shorten(value, _TEXTS, cost, budget, path)
            yield self._shorten(value, _LISTS, cost, budget, path)
            yield self._shorten(value, _CHILDREN, cost, budget, path)
        elif isinstance(value, list | tuple):
            yield self._shorten(value, _TEXTS, cost, budget, path)
            yield self._drop_middle(value, budget, path)

    def _shorten(self, value: Any, level: _Level, cost: Budget, budget: Budget, path: str) -> Any:
        """Return ``value`` with its greatest leaves cut down to a common size, None if that is too small."""
        survey = _Survey(level, self.costs)
        survey.enter(value)
        cap = survey.cap(cost, budget)
        return None if cap is None else self._rebuild(value, survey, cap, path)

    def _rebuild(self, value: Any, survey: _Survey, cap: Budget, path: str) -> Any:
        if id(value) in survey.closed:
            return value
        if isinstance(value, dict):
            # The account names fields in one order too. At the top, the order is that of a content.
            keys, join = (sorted(value), f"{path}.") if path else (value, "")
            return {key: self._lower(value[key], survey, cap, join + key) for key in keys}
        return [self._lower(child, survey, cap, f"{path}[{at}]") for at, child in enumerate(value)]

    def _lower(self, value: Any, survey: _Survey, cap: Budget, path: str) -> Any:
        if not isinstance(value, survey.level.leaves):
            return self._rebuild(value, survey, cap, path) if isinstance(value, _CONTAINERS) else value
        cost = self.costs.of(value)
        if _within(cost, cap):
            return value
        return self.fit(value, _lowered(cost, cap), path)

    def _drop_middle(self, items: Sequence[Any], budget: Budget, path: str) -> list[Any] | None:
        marker = len(encode(_items_marker(len(items)))) + 1
        inner = Budget(budget.size - 2 - marker, budget.lines)
        if inner.size < 0:
            return None
        each = Budget(inner.size // _ITEM_PART, inner.lines // _ITEM_PART)
        head = _take(items, Budget(inner.size // 2, inner.lines // 2), each)
        rest = Budget(inner.size - inner.size // 2 + head.left.size, inner.lines - inner.lines // 2 + head.left.lines)
        tail = _take(items[: head.count - 1 if head.count else None : -1], rest, each)
        fitted = list(items[: head.count])
        if dropped := len(items) - head.count - tail.count:
            self.account.items += dropped
            self.account.item_bytes += self.costs.of(items).size - 1 - head.size - tail.size
            self.account.note(path)
            fitted.append(_items_marker(dropped))
        fitted += items[len(items) - tail.count :]
        lowered = [*head.lowered.items(), *((-1 - at, need) for at, need in tail.lowered.items())]
        for at, need in lowered:
            fitted[at] = self.fit(fitted[at], need, f"{path}[{at % len(items)}]")
        return fitted

    def _as_text(self, value: Any, budget: Budget, path: str) -> str:
        # Compact: a value whose shape is too large has too many lines as well when it is indented.
        self.account.branches += 1
        return self._text(encode(value).decode(), budget, path)

    def _text(self, text: str, budget: Budget, path: str) -> str:
        inner = Budget(budget.size - 2, budget.lines)
        if fits(text, inner):
            return text
        return self.excerpt(Text(text), inner, path)

    def excerpt(self, text: Text, budget: Budget, path: str) -> str:
        """Return what of ``text``, which does not fit, fits into ``budget`` once escaped, and account for it."""
        cut = excerpt(text, budget, self.style)
        self.counts += cut.cleaned
        if not cut.lost:
            return cut.text  # runs of equal lines were folded, and then it fitted
        self.account.texts += 1
        self.account.note(path)
        self.account.cuts[path] = cut
        return cut.text


_CONTAINERS = (dict, list, tuple)


class _Survey:
    """The costs of the leaves of a value that could give way, and the lists that are left closed."""

    def __init__(self, level: _Level, costs: SizeCache) -> None:
        self.level = level
        self._measured = costs
        self.costs: list[Budget] = []
        self.closed: set[int] = set()

    def cap(self, cost: Budget, budget: Budget) -> Budget | None:
        """Return what each leaf may take so that a value of ``cost`` fits, None if that is too little."""
        if not self.costs:
            return None
        left = Budget(
            budget.size - cost.size + sum(leaf.size for leaf in self.costs),
            budget.lines - cost.lines + sum(leaf.lines for leaf in self.costs),
        )
        size = share([leaf.size for leaf in self.costs], left.size)
        lines = share([_lines_needed(leaf) for leaf in self.costs], left.lines)
        cap = Budget(cost.size if size is None else size, budget.lines if lines is None else lines)
        return cap if left.lines >= 0 and _within(self.level.smallest, cap) else None

    def enter(self, value: Any) -> None:
        if isinstance(value, dict):
            for child in value.values():
                self._visit(child)
        elif len(value) > _MANY_ITEMS and self._measured.of(value).size <= len(value) * _SMALL_ITEM:
            self.closed.add(id(value))
        else:
            for child in value:
                self._visit(child)

    def _visit(self, value: Any) -> None:
        if isinstance(value, self.level.leaves):
            self.costs.append(self._measured.of(value))
        elif isinstance(value, _CONTAINERS):
            self.enter(value)


def _lines_needed(cost: Budget) -> int:
    """Count the newlines of a leaf that is shortened: its marker may bring some that it did not have."""
    return cost.lines + MARKER_LINES if cost.size > SMALLEST_FOR_MARKER else cost.lines


def cost_of(value: Any) -> Budget:
    """Return what ``value`` takes as compact JSON."""
    return cost_of_encoded(encode(value))


def cost_of_encoded(encoded: bytes) -> Budget:
    """Return what JSON takes: its bytes, and the newlines of its texts."""
    return Budget(len(encoded), newlines(encoded))


class SizeCache:
    """What values take. Those of lists and objects are kept, with the values: they are asked for again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Budget]] = {}

    def of(self, value: Any) -> Budget:
        """Return what ``value`` takes as compact JSON."""
        if not isinstance(value, _CONTAINERS):
            return cost_of(value)
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (value, self._measure(value))
        return known[1]

    def _measure(self, value: Any) -> Budget:
        if not isinstance(value, dict) or not 0 < len(value) <= _MANY_ITEMS:
            return cost_of(value)
        parts = [cost_of(key) for key in value] + [self.of(child) for child in value.values()]
        # Braces, a colon for each member, commas between them.
        return Budget(2 * len(value) + 1 + sum(part.size for part in parts), sum(part.lines for part in parts))


def _within(cost: Budget, budget: Budget) -> bool:
    return cost.size <= budget.size and cost.lines <= budget.lines


def _lowered(cost: Budget, cap: Budget) -> Budget:
    """Return the budget of a value that costs ``cost`` and has to come down to ``cap``."""
    return Budget(min(cost.size, cap.size), min(_lines_needed(cost), cap.lines))


def _items_marker(count: int) -> str:
    return f"[... {count} items not shown ...]"


@dataclass(slots=True)
class _Taken:
    """Items taken from one end.

    How many, their size with a comma for each, the budget of those that must be lowered by their place, and the
    budget that is left over.
    """

    left: Budget
    count: int = 0
    size: int = 0
    lowered: dict[int, Budget] = field(default_factory=dict)

    def take(self, count: int, cost: Budget, need: Budget) -> bool:
        """Take ``count`` items that cost ``cost`` and get ``need``, commas included, if there is budget."""
        if not _within(need, self.left):
            return False
        self.left = Budget(self.left.size - need.size, self.left.lines - need.lines)
        self.count += count
        self.size += cost.size
        return True


def _take(items: Sequence[Any], budget: Budget, each: Budget) -> _Taken:
    """Take the items from the front that fit when none takes more than ``each``.

    They are measured by the handful; one by one only where a handful is too much.
    """
    taken = _Taken(budget)
    for start in range(0, len(items), _HANDFUL):
        handful = items[start : start + _HANDFUL]
        size, lines = cost_of(handful)
        cost = Budget(size - 1, lines)  # brackets and commas between them, against a comma for each
        if _within(cost, each) and taken.take(len(handful), cost, cost):
            continue
        if not all(_take_one(taken, item, each) for item in handful):
            break
    return taken


def _take_one(taken: _Taken, item: Any, each: Budget) -> bool:
    cost = cost_of(item)
    whole = _within(cost, each)
    if not whole and each.size < _CHILDREN.smallest.size:
        return False
    need = cost if whole else _lowered(cost, each)
    fits_in = taken.take(1, Budget(cost.size + 1, cost.lines), Budget(need.size + 1, need.lines))
    if fits_in and not whole:
        taken.lowered[taken.count - 1] = need
    return fits_in
