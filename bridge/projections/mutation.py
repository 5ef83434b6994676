"""A change of files: the model gets paths, places and counts; the diff goes to the person and to the record.

The model wrote the change, so the diff tells it nothing that it would not pay for twice. The person gets the
diff, cut at whole hunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bridge.excerpt.budget import Budget
from bridge.excerpt.diff import changes_of, cut_at_hunks, is_diff
from bridge.excerpt.text import ELLIPSIS
from bridge.payload.unified import Payload
from bridge.projections.render import AT_BRIDGE, Case, Rendered, finish, output_of, recovery, whole

KIND = "mutation"

TOOLS = ("edit_file", "write_file", "patch_file", "create_file")
_DIFF_KEYS = ("diff", "patch", "unified_diff")
_SMALLEST_DIFF = 200
_MOST_NAMED, _LONGEST_NAMED = 4, 40


def matches(payload: Payload) -> bool:
    """Return whether the payload is that of a tool that changes files, and that it did."""
    return payload.ok and payload.tool in TOOLS


def withholds(payload: Payload) -> bool:
    """Return whether the result holds a diff that the model does not get."""
    return bool(_Diffs(payload).found)


def project(case: Case) -> Rendered:
    """Return the counts to the model, the diff to the person."""
    diffs = _Diffs(case.payload)
    if case.side.for_model:
        content = finish(case.with_payload(diffs.counted(case.args)), _withheld(diffs))
        return Rendered(content.text, [*content.losses, *_losses(case, diffs)], content.shortened)
    complete = whole(case, case.facts)
    return complete or finish(case.with_payload(diffs.cut(case.side.budget)), {"output": output_of(case.output)})


def _withheld(diffs: _Diffs) -> dict[str, Any]:
    return {"withheld": _named(diffs)} if diffs.found else {}


def _losses(case: Case, diffs: _Diffs) -> list[dict[str, Any]]:
    if not diffs.found:
        return []
    return [{"at": AT_BRIDGE, "what": "diff", "fields": _named(diffs), **recovery(case.output)}]


def _named(diffs: _Diffs) -> list[str]:
    places = sorted(diffs.found)[:_MOST_NAMED]
    return [place if len(place) <= _LONGEST_NAMED else place[:_LONGEST_NAMED] + ELLIPSIS for place in places]


class _Diffs:
    """The diffs of a payload by their place, and the payload without them."""

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self.found: dict[str, str] = {}
        self._paths: dict[str, str | None] = {}
        self.bare = {name: self._strip(value, name, None) for name, value in payload.body.items()}

    def counted(self, args: Mapping[str, Any]) -> Payload:
        """Return the payload with ``data.changes`` in place of the diffs."""
        path = _path_of(self.bare.get("data")) or _path_of(args)
        texts = [(text, self._paths[place] or path) for place, text in self.found.items()]
        texts = texts or [(text, path) for text in _argument_diffs(args)]
        changes = [change.to_json() for text, owner in texts for change in changes_of(text, owner)]
        return self._with(_with_changes(self.bare, changes) if changes else self.bare)

    def cut(self, budget: Budget) -> Payload:
        """Return the payload with each diff cut at whole hunks, all of them within half of ``budget``."""
        each = Budget(max(_SMALLEST_DIFF, budget.size // 2 // max(1, len(self.found))), budget.lines)
        return self._with({name: self._cut(value, each) for name, value in self.payload.body.items()})

    def _cut(self, value: Any, each: Budget, key: str = "") -> Any:
        if isinstance(value, str):
            return cut_at_hunks(value, each) if _holds_diff(key, value) else value
        if isinstance(value, dict):
            return {name: self._cut(child, each, name) for name, child in value.items()}
        if isinstance(value, list | tuple):
            return [self._cut(child, each) for child in value]
        return value

    def _strip(self, value: Any, place: str, path: str | None) -> Any:
        if isinstance(value, dict):
            path = _path_of(value) or path
            kept = {}
            for name, child in sorted(value.items()):
                if isinstance(child, str) and _holds_diff(name, child):
                    self._find(f"{place}.{name}", child, path)
                else:
                    kept[name] = self._strip(child, f"{place}.{name}", path)
            return kept
        if isinstance(value, list | tuple):
            return [self._strip(child, f"{place}[{at}]", path) for at, child in enumerate(value)]
        if isinstance(value, str) and is_diff(value):
            self._find(place, value, path)
            return None
        return value

    def _find(self, place: str, text: str, path: str | None) -> None:
        self.found[place] = text
        self._paths[place] = path

    def _with(self, body: dict[str, Any]) -> Payload:
        return Payload(self.payload.ok, self.payload.tool, body, self.payload.attachments, self.payload.dialect)


def _holds_diff(name: str, text: str) -> bool:
    return (name in _DIFF_KEYS and bool(text)) or is_diff(text)


def _path_of(value: Any) -> str | None:
    path = value.get("path") if isinstance(value, dict) else None
    return path if isinstance(path, str) else None


def _argument_diffs(args: Mapping[str, Any]) -> list[str]:
    return [args[name] for name in _DIFF_KEYS if isinstance(args.get(name), str) and is_diff(args[name])]


def _with_changes(body: dict[str, Any], changes: list[dict[str, Any]]) -> dict[str, Any]:
    data = body.get("data")
    if isinstance(data, dict):
        return {**body, "data": {**data, "changes": changes}}
    return {**body, "data": {"changes": changes} if data is None else {"changes": changes, "result": data}}
