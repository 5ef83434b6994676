"""Any JSON value within a budget, its shape kept as long as it can be.

In this order, and no further than needed: the longest texts are shortened, down to a common size; then lists lose
their middle, with a count in its place; then branches become the text of their JSON, and that text is shortened.
Small scalars are touched by none of it. What cannot keep its shape at all becomes text as a whole.

The work is bounded by the budget and not by the value: a value is encoded once at each level to be measured, but only
so many of its members are looked at as could be shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import orjson

from bridge.excerpt.budget import Budget, share
from bridge.excerpt.deadline import Deadline
from bridge.excerpt.json_text import encode, newlines
from bridge.excerpt.source import Text
from bridge.excerpt.text import MARKER_LINES, SMALLEST_FOR_MARKER, Excerpt, Style, excerpt, fits

# An item takes at most this part of a list that is shortened, so that there is never only one.
_ITEM_PART = 4
# A list of many small items is not searched for long texts: it is shortened as a list.
_MANY_ITEMS, _SMALL_ITEM = 32, 96
# Of items that are counted, dated or sorted the next ones are often a little larger.
_LARGER = 0.95
# The least that a member of an object takes: two quotes, a colon, a digit, a comma.
_SMALLEST_MEMBER = 5
_MAX_FIELDS = 8
# A name in a path is cut to so many characters, and a path is not continued past its limit: names may be any text.
_LONGEST_NAME, _LONGEST_PATH = 64, 240
# Texts beyond this many code points, or beyond the budget if that is more, are not encoded to be measured.
LONG_TEXT = 65_536
# The sizes of texts up to this many code points are not kept: they cost as much to find as to compute.
_SHORT_TEXT = 1_024
# Less JSON than this is encoded again faster than it is looked through for a long list.
_WORTH_KNOWING = 2_048
_CONTAINERS = (dict, list, tuple)
# What an object says of the request: when one of these is shortened, nothing of the answer is missing.
_OF_THE_REQUEST = frozenset({"args", "arguments", "cmd", "command", "cwd", "description", "input", "query", "url"})
# Names, without case and underscores, that say where the answer goes on behind what is shown.
_POSITIONS = frozenset(
    {"hasmore", "hasnext", "hasnextpage", "more", "next", "continuation", "continuationtoken", "endcursor"}
    | {"next" + what for what in ("cursor", "line", "link", "marker", "offset", "page", "pagetoken", "token", "url")}
)
_KEPT_POSITION = "startcursor"


@dataclass(frozen=True, slots=True)
class _Level:
    """Which values are shortened together, and the budget that each must be left with."""

    leaves: tuple[type, ...]
    smallest: Budget


_TEXTS = _Level((str,), Budget(160, 4))
_LISTS = _Level((str, list, tuple), Budget(240, 4))
_CHILDREN = _Level((object,), Budget(48, 0))


@dataclass(slots=True)
class CutReport:
    """What was shortened: texts, items and branches; bytes lost; the first fields; the cuts by field.

    ``withheld`` are the names of members that said where the answer goes on and were taken out, because something
    before that place is not shown.
    """

    texts: int = 0
    items: int = 0
    branches: int = 0
    lost_bytes: int = 0
    fields: list[str] = field(default_factory=list)
    cuts: dict[str, Excerpt] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        """How many places were shortened."""
        return self.texts + self.items + self.branches

    def __bool__(self) -> bool:
        return bool(self.count)

    def note(self, path: str) -> None:
        """Remember ``path`` as a field that was shortened; only the first few are named."""
        if len(self.fields) < _MAX_FIELDS and path not in self.fields:
            self.fields.append(path)


@dataclass(slots=True)
class TreeShortener:
    """Shortens values with one ``style``; ``report`` and ``counts`` (of cleaning) grow as it works."""

    style: Style
    sizes: SizeCache
    deadline: Deadline | None = None
    report: CutReport = field(default_factory=CutReport)
    counts: Counter[str] = field(default_factory=Counter)

    def fit(self, value: Any, budget: Budget, path: str = "") -> Any:
        """Return ``value`` within ``budget``; its size is that of its compact JSON, quotes included.

        ``budget.size`` is at least 48 bytes, or at least what ``value`` needs.
        """
        if isinstance(value, str):
            return self._text(value, budget, path)
        if self.deadline:
            self.deadline.check()
        size = self.sizes.of(value)
        if size.within(budget):
            return value
        for shaped in self._attempts(value, size, budget, path):
            if shaped is not None:
                return shaped
        # Compact: a value whose shape is too large has too many lines as well when it is indented.
        self.report.branches += 1
        return self._text(encode(value).decode(), budget, path)

    def _attempts(self, value: Any, size: Budget, budget: Budget, path: str) -> Iterator[Any]:
        if isinstance(value, dict):
            if len(value) * _SMALLEST_MEMBER <= budget.size:
                for level in (_TEXTS, _LISTS, _CHILDREN):
                    yield self._shorten(value, level, size, budget, path)
        elif isinstance(value, list | tuple):
            yield self._shorten(value, _TEXTS, size, budget, path)
            yield self._drop_middle(value, budget, path)

    def _shorten(self, value: Any, level: _Level, size: Budget, budget: Budget, path: str) -> Any:
        """Return ``value`` with its greatest leaves cut down to a common size, None if that is too small."""
        survey = _Survey(level, self.sizes, budget.size)
        survey.enter(value)
        cap = survey.cap(size, budget)
        return None if cap is None else self._rebuild(value, survey, cap, path)

    def _rebuild(self, value: Any, survey: _Survey, cap: Budget, path: str) -> Any:
        if id(value) in survey.closed:
            return value
        if not isinstance(value, dict):
            return [self._lower(child, survey, cap, f"{path}[{at}]") for at, child in enumerate(value)]
        rebuilt, answered = {}, False
        # The report names fields in one order too. At the top, the order is that of a content.
        for key in sorted(value) if path else value:
            before = self.report.count
            rebuilt[key] = self._lower(value[key], survey, cap, _joined(path, key))
            answered |= self.report.count != before and key not in _OF_THE_REQUEST
        return self.without_positions(rebuilt) if answered else rebuilt

    def without_positions(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object without the members that say where the answer goes on, which the report then names."""
        stale = {key for key in members if _is_position(key[:_LONGEST_NAME])}
        self.report.withheld |= stale
        return {key: value for key, value in members.items() if key not in stale}

    def _lower(self, value: Any, survey: _Survey, cap: Budget, path: str) -> Any:
        if not isinstance(value, survey.level.leaves):
            return self._rebuild(value, survey, cap, path) if isinstance(value, _CONTAINERS) else value
        size = self.sizes.of(value)
        return value if size.within(cap) else self.fit(value, _lowered(size, cap), path)

    def _drop_middle(self, items: Sequence[Any], budget: Budget, path: str) -> list[Any] | None:
        marker = len(encode(_items_marker(len(items)))) + 1
        inner = Budget(budget.size - 2 - marker, budget.lines)
        if inner.size < 0:
            return None
        each = Budget(inner.size // _ITEM_PART, inner.lines // _ITEM_PART)
        head = self._take(items, Budget(inner.size // 2, inner.lines // 2), each)
        rest = Budget(inner.size - inner.size // 2 + head.left.size, inner.lines - inner.lines // 2 + head.left.lines)
        tail = self._take(items[: head.count - 1 if head.count else None : -1], rest, each)
        fitted = list(items[: head.count])
        if dropped := len(items) - head.count - tail.count:
            self.report.items += dropped
            self.report.lost_bytes += self.sizes.of(items).size - 1 - head.size - tail.size
            self.report.note(path)
            fitted.append(_items_marker(dropped))
        fitted += items[len(items) - tail.count :]
        lowered = [*head.lowered.items(), *((-1 - at, need) for at, need in tail.lowered.items())]
        for at, need in lowered:
            fitted[at] = self.fit(fitted[at], need, f"{path}[{at % len(items)}]")
        return fitted

    def _take(self, items: Sequence[Any], budget: Budget, each: Budget) -> _Taken:
        """Take the items from the front that fit when none takes more than ``each``.

        So many are measured together as fit if they are a little larger than those before them, and half as many where
        they do not.
        """
        taken, together = _Taken(budget), 1
        while taken.count < len(items):
            some = items[taken.count : taken.count + together]
            if self._take_one(taken, some[0], each) if together == 1 else self._take_all(taken, some, each):
                likely = min(each.size, taken.left.size) * _LARGER
                together = max(1, int(likely * taken.count / taken.size))
            elif together == 1:
                break
            else:
                together //= 2
        return taken

    def _take_all(self, taken: _Taken, items: Sequence[Any], each: Budget) -> bool:
        size, lines = size_of(items)
        cost = Budget(size - 1, lines)  # brackets and commas between them, against a comma for each
        return cost.within(each) and taken.take(len(items), cost, cost)

    def _take_one(self, taken: _Taken, item: Any, each: Budget) -> bool:
        # Encoded as a whole: the sizes of its members are of use only where it is shortened.
        cost = self.sizes.of(item) if isinstance(item, str) else size_of(item)
        whole = cost.within(each)
        if not whole and each.size < _CHILDREN.smallest.size:
            return False
        need = cost if whole else _lowered(cost, each)
        fits_in = taken.take(1, Budget(cost.size + 1, cost.lines), Budget(need.size + 1, need.lines))
        if fits_in and not whole:
            taken.lowered[taken.count - 1] = need
        return fits_in

    def _text(self, text: str, budget: Budget, path: str) -> str:
        inner = Budget(budget.size - 2, budget.lines)
        if fits(text, inner):
            return text
        cut = excerpt(self.sizes.text(text), inner, self.style)
        self.counts += cut.cleaned
        if cut.lost:
            self.report.texts += 1
            self.report.lost_bytes += cut.lost
            self.report.note(path)
            self.report.cuts[path] = cut
        return cut.text


class _Survey:
    """The sizes of the leaves of a value that could be shortened, and the lists that are left as they are."""

    def __init__(self, level: _Level, sizes: SizeCache, most: int) -> None:
        self.level = level
        self._measured = sizes
        # Of more values than there are bytes not even the smallest fit.
        self._left = most
        self.leaves: list[Budget] = []
        self.closed: set[int] = set()

    def cap(self, size: Budget, budget: Budget) -> Budget | None:
        """Return what each leaf may take so that a value of ``size`` fits, None if that is too little."""
        if not self.leaves or self._left < 0:
            return None
        left = Budget(
            budget.size - size.size + sum(leaf.size for leaf in self.leaves),
            budget.lines - size.lines + sum(leaf.lines for leaf in self.leaves),
        )
        shared_size = share([leaf.size for leaf in self.leaves], left.size)
        shared_lines = share([_lines_needed(leaf) for leaf in self.leaves], left.lines)
        cap = Budget(
            size.size if shared_size is None else shared_size, budget.lines if shared_lines is None else shared_lines
        )
        return cap if left.lines >= 0 and self.level.smallest.within(cap) else None

    def enter(self, value: Any) -> None:
        """Take the leaves of a container, and of those in it, as far as so many could be shown."""
        if isinstance(value, dict):
            children: Any = value.values()
        elif len(value) > _MANY_ITEMS and self._measured.of(value).size <= len(value) * _SMALL_ITEM:
            self.closed.add(id(value))
            return
        else:
            children = value
        self._left -= len(value)
        if self._left < 0:
            return
        for child in children:
            if isinstance(child, self.level.leaves):
                self.leaves.append(self._measured.of(child))
            elif isinstance(child, _CONTAINERS):
                self.enter(child)


class SizeCache:
    """What values take as compact JSON. Those of containers and of longer texts are kept: they are asked for again."""

    def __init__(self, longest: int = LONG_TEXT) -> None:
        """Take the code points of the ``longest`` text that may fit: those beyond it are not encoded."""
        self.longest = longest
        self._sizes: dict[int, tuple[Any, Budget]] = {}
        self._texts: dict[int, Text] = {}

    def of(self, value: Any) -> Budget:
        """Return the bytes of ``value`` as compact JSON, and the newlines of its texts.

        The bytes of a long text are the least that they can be: it is too long for any content.
        """
        if isinstance(value, str):
            if len(value) <= _SHORT_TEXT:
                return size_of(value)
            text = self.text(value)
            return Budget(text.json_size if len(value) <= self.longest else len(value) + 2, text.newlines)
        if not isinstance(value, _CONTAINERS):
            return size_of(value)
        known = self._sizes.get(id(value))
        if known is None:
            known = self._sizes[id(value)] = (value, self._measure(value))
        return known[1]

    def know(self, value: Any, encoded: bytes) -> None:
        """Take the compact JSON of ``value``: a list of many items that is or is in it need not be encoded again."""
        if len(encoded) < _WORTH_KNOWING:
            return
        if isinstance(value, list):
            if len(value) > _MANY_ITEMS:
                self._sizes[id(value)] = (value, Budget(len(encoded), newlines(encoded)))
        elif isinstance(value, dict) and len(value) <= _MANY_ITEMS:
            lists = [key for key, child in value.items() if isinstance(child, list) and len(child) > _MANY_ITEMS]
            if len(lists) == 1:
                rest = size_of({**value, lists[0]: []})
                size = Budget(len(encoded) - rest.size + len("[]"), newlines(encoded) - rest.lines)
                self._sizes[id(value[lists[0]])] = (value[lists[0]], size)

    def text(self, value: str) -> Text:
        """Return the measures of a text, which are kept: both contents ask for them."""
        known = self._texts.get(id(value))
        if known is None:
            known = self._texts[id(value)] = Text(value)
        return known

    def _measure(self, value: Any) -> Budget:
        if not 0 < len(value) <= _MANY_ITEMS:
            return size_of(value)
        if isinstance(value, dict):
            # The names with brackets and commas; a colon comes behind each.
            size, lines = size_of(list(value))
            size, children = size + len(value), value.values()
        else:
            size, lines, children = 1 + len(value), 0, value
        for child in children:
            part = self.of(child)
            size, lines = size + part.size, lines + part.lines
        return Budget(size, lines)


def size_of(value: Any) -> Budget:
    """Return what ``value`` takes as compact JSON."""
    encoded = orjson.dumps(value)  # keys in any order, for sorting them takes as long as the rest
    if isinstance(value, str):
        return Budget(len(encoded), value.count("\n"))
    return Budget(len(encoded), newlines(encoded))


@lru_cache(maxsize=1024)
def _is_position(name: str) -> bool:
    """Return whether a member of this name, of at most ``_LONGEST_NAME`` characters, says where the answer goes on."""
    plain = name.replace("_", "").replace("-", "").lower()
    return plain in _POSITIONS or ("cursor" in plain and plain != _KEPT_POSITION)


def _joined(path: str, name: str) -> str:
    if len(path) > _LONGEST_PATH:
        return path
    name = name if len(name) <= _LONGEST_NAME else name[:_LONGEST_NAME] + "…"
    return f"{path}.{name}" if path else name


def _lines_needed(size: Budget) -> int:
    """Return the newlines of a leaf that is shortened: its marker may bring some that it did not have."""
    return size.lines + MARKER_LINES if size.size > SMALLEST_FOR_MARKER else size.lines


def _lowered(size: Budget, cap: Budget) -> Budget:
    """Return the budget of a value of ``size`` that has to come down to ``cap``."""
    return Budget(min(size.size, cap.size), min(_lines_needed(size), cap.lines))


def _items_marker(count: int) -> str:
    return f"[... {count} items not shown ...]"


@dataclass(slots=True)
class _Taken:
    """Items taken from one end.

    How many, their size with a comma for each, the budget of those that must be lowered by their place, and the budget
    that is left over.
    """

    left: Budget
    count: int = 0
    size: int = 0
    lowered: dict[int, Budget] = field(default_factory=dict)

    def take(self, count: int, size: Budget, need: Budget) -> bool:
        """Take ``count`` items that take ``size`` and are given ``need``, commas included, where that is left."""
        if not need.within(self.left):
            return False
        self.left = Budget(self.left.size - need.size, self.left.lines - need.lines)
        self.count += count
        self.size += size.size
        return True
