"""A change of files: the model gets paths, places and counts; what was written goes to the person and to the record.

The model wrote the change, so neither the diff nor the text before and after tells it anything that it would not pay
for twice. What cannot be counted is withheld all the same. The person gets the diff, cut at whole hunks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pydantic_core import from_json

from bridge.excerpt.budget import Budget
from bridge.excerpt.diff import (
    MAX_FILES,
    Change,
    changes_of,
    count_pair,
    count_written,
    cut_at_hunks,
    is_diff,
    limited,
)
from bridge.excerpt.json_text import encode
from bridge.excerpt.tree import TreeShortener
from bridge.payload.json_value import to_json_value
from bridge.payload.members import GONE, with_members
from bridge.payload.unified import Payload
from bridge.projections import render
from bridge.projections.complete_output import CompleteOutput
from bridge.projections.kind import Kind
from bridge.projections.render import AT_BRIDGE, Audience, Rendered, View
from bridge.projections.tool_result import ToolResult

_DIFF_NAMES = frozenset({"diff", "patch", "unified_diff"})
# The words of which a name is made that holds a text before or after the change.
_BODY_WORDS = frozenset(
    {"after", "before", "body", "content", "contents", "lines", "modified", "new", "old", "original", "previous"}
    | {"replace", "replacement", "search", "source", "str", "string", "text", "updated", "written"}
)
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_PAIRS = (("before", "after"), ("old", "new"), ("original", "modified"), ("original", "updated"), ("search", "replace"))
# A text of one line and no more than this is a message or a name.
_LONGEST_MESSAGE = 120
# A longer text that may be JSON is withheld as it is: parsed it could take thirty times its size.
_LONGEST_PARSED = 1 << 20
# What a tool calls its own counts, added and removed lines.
_ADDED = ("added_lines", "lines_added", "additions", "insertions", "added")
_REMOVED = ("removed_lines", "lines_removed", "deletions", "removed")
_BY_THE_TOOL = "by the tool"
_SMALLEST_DIFF = 200
_MOST_NAMED, _LONGEST_NAMED = 4, 40


class Mutation(Kind):
    """The result of a tool that changes files, and did."""

    name = "mutation"

    def __init__(self, tools: Collection[str]) -> None:
        self._tools = frozenset(tools)

    def matches(self, payload: Payload) -> bool:
        """Return whether a tool that changes files says that it did."""
        return payload.ok and payload.tool in self._tools

    def view(self, result: ToolResult, audience: Audience) -> View:
        """Return the counts for the model, everything for the person."""
        view = super().view(result, audience)
        if not audience.for_model:
            return view
        bodies = _Bodies(view.payload, result)
        view.payload = bodies.counted()
        if names := bodies.named():
            view.facts["withheld"] = names
            view.losses.append({"at": AT_BRIDGE, "what": bodies.kind, "fields": names})
        return view

    def _cleaned_at_once(self, result: ToolResult) -> float:  # noqa: ARG002 - whatever it is
        return math.inf  # diffs and bodies are told by their texts, and counted, without escapes

    def shortened(self, view: View, output: CompleteOutput) -> Rendered:
        """Return the content cut to its budget; for the person, diffs end at whole hunks."""
        if view.audience.for_model:
            return render.shortened(view, output)
        return render.shortened(view, output, _fit_diffs)


def _fit_diffs(shortener: TreeShortener, tree: dict[str, Any], budget: Budget) -> Any:
    """Return ``tree`` with diffs cut at whole hunks, all within half of ``budget``, and the rest cut to fit."""
    diffs = _count_diffs(tree)
    if not diffs:
        return shortener.fit(tree, budget)
    each = Budget(max(_SMALLEST_DIFF, budget.size // 2 // diffs), budget.lines)
    before = shortener.sizes.of(tree).size
    cut = _cut_diffs(tree, each)
    lost = before - shortener.sizes.of(cut).size
    if lost > 0:
        shortener.report.texts += diffs
        shortener.report.lost_bytes += lost
    return shortener.fit(cut, budget)


def _count_diffs(value: Any, name: str = "") -> int:
    if isinstance(value, str):
        return int(_holds_diff(name, value))
    if isinstance(value, dict):
        return sum(_count_diffs(child, key) for key, child in value.items())
    return sum(map(_count_diffs, value)) if isinstance(value, list | tuple) else 0


def _cut_diffs(value: Any, each: Budget, name: str = "") -> Any:
    if isinstance(value, str):
        return cut_at_hunks(value, each) if _holds_diff(name, value) else value
    if isinstance(value, dict):
        return with_members(value, lambda key, child: _cut_diffs(child, each, key))
    return with_members(value, lambda _, child: _cut_diffs(child, each)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class _Body:
    """A text that the model does not get, a diff or what a file holds; its file and the tool's own counts."""

    name: str
    text: str
    is_diff: bool
    path: str | None
    counts: dict[str, int]


class _Bodies:
    """The diffs and bodies of a payload, and the payload without them.

    Kept are the first of very many diffs, what the others change, the last body of each name, and the first places.
    """

    def __init__(self, payload: Payload, result: ToolResult) -> None:
        self._diffs: list[_Body] = []
        self._more: list[Change] = []
        self._texts: dict[str, _Body] = {}
        self._places: list[str] = []
        self._payload = payload
        self._args = result.args
        self._deadline = result.deadline
        self._written = [text for text in self._args.values() if isinstance(text, str) and len(text) > _LONGEST_MESSAGE]
        owner = _Owner(None, {})
        self._bare = {name: self._strip(value, name, name, owner) for name, value in payload.body.items()}

    def counted(self) -> Payload:
        """Return the payload with ``data.changes`` in place of the bodies."""
        path = _path_of(self._bare.get("data")) or _path_of(self._args)
        bodies = [*self._diffs, *self._texts.values()] or _bodies_of_arguments(self._args)
        changes = _changes(bodies, self._more, path, _counts_of(self._payload.body.get("meta")))
        return self._payload.with_body(_with_changes(self._bare, changes)) if changes or self._places else self._payload

    @property
    def kind(self) -> str:
        """Return ``diff`` if nothing else was taken, else ``body``."""
        return "body" if self._texts else "diff"

    def named(self) -> list[str]:
        """Return the first places in the payload from which something was taken, in the order of their names."""
        return [place if len(place) <= _LONGEST_NAMED else place[:_LONGEST_NAMED] + "…" for place in self._places]

    def _strip(self, value: Any, name: str, place: str, owner: _Owner) -> Any:
        self._deadline.check()
        if isinstance(value, dict):
            owner = _Owner(_path_of(value) or owner.path, _counts_of(value) or owner.counts)
            return with_members(
                value, lambda key, child: self._strip(child, key, _joined(place, f".{key}"), owner), sorted(value)
            )
        if isinstance(value, str):
            return self._strip_text(value, name, place, owner)
        if isinstance(value, list | tuple):
            if len(value) > 1 and all(isinstance(item, str) for item in value):
                body = self._body(name, "\n".join(value), owner)
                if body is not None:
                    return self._take(place, body)
            return with_members(value, lambda at, child: self._strip(child, "", _joined(place, f"[{at}]"), owner))
        return value

    def _strip_text(self, text: str, name: str, place: str, owner: _Owner) -> Any:
        body = self._body(name, text, owner)
        if body is None:
            return text
        if text[:1] in ("{", "[") and name not in _DIFF_NAMES and len(text) <= _LONGEST_PARSED:
            try:
                parsed = to_json_value(from_json(text, allow_inf_nan=False))
            except ValueError:
                parsed = None
            # One that JSON cannot hold exactly is withheld whole: nothing in it may be told otherwise.
            if parsed is not None and not parsed.replaced:
                return encode(self._strip(parsed.value, name, place, owner)).decode()
        gone = self._take(place, body)
        return None if "." not in place and "[" not in place else gone

    def _take(self, place: str, body: _Body) -> Any:
        if len(self._places) < _MOST_NAMED or place < self._places[-1]:
            self._places = sorted({*self._places, place})[:_MOST_NAMED]
        if not body.is_diff:
            self._texts[body.name] = body
        elif len(self._diffs) <= MAX_FILES:
            self._diffs.append(body)
        else:
            self._more = limited(chain(self._more, changes_of(body.text, body.path)), most=0)
        return GONE

    def _body(self, name: str, text: str, owner: _Owner) -> _Body | None:
        """Return ``text`` as a body if the model is not to get it, else None."""
        holds_diff = _holds_diff(name, text)
        if not (holds_diff or self._is_file_text(name, text)):
            return None
        return _Body(name, text, holds_diff, owner.path, owner.counts)

    def _is_file_text(self, name: str, text: str) -> bool:
        """Return whether ``text`` is what a file held or holds, by its name or by what the model wrote."""
        if len(text) <= _LONGEST_MESSAGE and "\n" not in text.rstrip("\n"):
            return False
        if not _BODY_WORDS.isdisjoint(word.lower() for word in _WORDS.findall(name[:_LONGEST_MESSAGE])):
            return True
        return any(written in text or text in written for written in self._written)


@dataclass(frozen=True, slots=True)
class _Owner:
    """What the objects around a text say: the file, and the tool's own counts."""

    path: str | None
    counts: dict[str, int]


def _holds_diff(name: str, text: str) -> bool:
    return (name in _DIFF_NAMES and bool(text)) or is_diff(text)


def _joined(place: str, step: str) -> str:
    """Return the place that is a step further, as much of it as is named."""
    return place if len(place) > _LONGEST_NAMED else place + step[: _LONGEST_NAMED + 1]


def _path_of(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return None
    return next((value[name] for name in ("path", "file_path", "file") if isinstance(value.get(name), str)), None)


def _counts_of(value: Any) -> dict[str, int]:
    """Return the counts that a tool gives itself, by the names that a change has."""
    if not isinstance(value, Mapping):
        return {}
    counts = {}
    for name, own_names in (("added", _ADDED), ("removed", _REMOVED)):
        own = next((value[own] for own in own_names if type(value.get(own)) is int), None)
        if own is not None:
            counts[name] = own
    return counts


def _bodies_of_arguments(args: Mapping[str, Any]) -> list[_Body]:
    """Return what the model wrote into the call, where the result says nothing of it."""
    texts = {name: text for name, text in args.items() if isinstance(text, str) and text}
    bodies = [_Body(name, text, _holds_diff(name, text), None, {}) for name, text in sorted(texts.items())]
    diffs = [body for body in bodies if body.is_diff]
    return diffs or [body for body in bodies if not _BODY_WORDS.isdisjoint(_WORDS.findall(body.name))]


def _changes(bodies: list[_Body], more: list[Change], path: str | None, counts: dict[str, int]) -> list[dict[str, Any]]:
    """Return what was changed, file by file; the tool's own counts win over those that were counted here."""
    diffs = [body for body in bodies if body.is_diff]
    found = (change for body in diffs for change in changes_of(body.text, body.path or path))
    changes = [change.to_json() for change in limited(chain(found, more))]
    owners = diffs[:1]
    for old, new in _paired(bodies):
        if old is not None:
            changes.append(count_pair(old.text, new.text, new.path or path).to_json())
        elif not diffs:
            changes.append(count_written(new.text, new.path or path))
        owners.append(new)
    if len(changes) == 1:
        return [_told(changes[0], owners[0].counts or counts)]
    return changes


def _told(change: dict[str, Any], counts: dict[str, int]) -> dict[str, Any]:
    """Return ``change`` with the tool's own ``counts``, which know of what is missing in its diff."""
    if counts.items() <= change.items():
        return change
    kept = {name: value for name, value in change.items() if name != "incomplete"}
    return {**kept, **counts, "counted": _BY_THE_TOOL}


def _paired(bodies: list[_Body]) -> list[tuple[_Body | None, _Body]]:
    """Return the texts before and after that belong together, and those after that stand alone."""
    texts = {body.name: body for body in bodies if not body.is_diff}
    pairs: list[tuple[_Body | None, _Body]] = []
    taken: set[str] = set()
    for name, body in texts.items():
        for before, after in _PAIRS:
            other = name.replace(before, after, 1)
            if before in name and other in texts and not {name, other} & taken:
                pairs.append((body, texts[other]))
                taken |= {name, other}
    olds = tuple(before for before, _ in _PAIRS)
    alone = [body for name, body in texts.items() if name not in taken and not any(old in name for old in olds)]
    return pairs + [(None, body) for body in alone]


def _with_changes(body: dict[str, Any], changes: list[dict[str, Any]]) -> dict[str, Any]:
    data = body.get("data")
    data = None if data is GONE else data
    if not changes:
        return {**body, "data": data} if "data" in body else body
    if isinstance(data, dict):
        return {**body, "data": {**data, "changes": changes}}
    return {**body, "data": {"changes": changes} if data is None else {"changes": changes, "result": data}}
