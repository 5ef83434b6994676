"""One content: the JSON text that the model or the person reads, within its budget, with an account of itself.

A content is ``ok, tool, data, error, error_type, meta`` in this order. What the bridge adds stands in
``meta``: ``shown``, ``continue``, ``output``, ``truncated_by``, ``shortened``, ``cleaned``, ``replaced``.
Budget for it is set aside first, with the greatest numbers it could hold; the payload gets all of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bridge.excerpt.account import most_shown_bytes
from bridge.excerpt.budget import Budget
from bridge.excerpt.json_text import encode, encode_top, newlines
from bridge.excerpt.text import Excerpt, Style, Text
from bridge.excerpt.tree import CutReport, SizeCache, TreeShortener
from bridge.payload.unified import Payload

FORMAT = "tool_result_v1"
# Why there is no complete output: nothing was left out.
NOT_NEEDED = "not_needed"
AT_TOOL, AT_BRIDGE = "tool", "bridge"

# Budget for ``meta.shortened``: four counts and the names of some fields.
_SHORTENED_SIZE = 240
_MOST = 10**12
_LONGEST_FOLDED = {"folded_lines": _MOST}
# A meta that cannot keep its shape is put into an object of one member.
_DETAILS = "details"
_DETAILS_SIZE = len(b'{"details":}')


@dataclass(frozen=True, slots=True)
class Audience:
    """Who reads: the budget of the whole content, and how texts are shortened for this reader."""

    budget: Budget
    for_model: bool
    evidence: float = 0.0


@dataclass(frozen=True, slots=True)
class MainText:
    """The text that makes up nearly all of a payload, and its place in the content, such as data.stdout."""

    place: str
    text: Text


@dataclass(frozen=True, slots=True)
class Case:
    """One projection to be made: what of, for whom, and what is known about it.

    ``facts`` stand in ``meta`` even of a content that is whole. ``size`` is what the payload takes at least.
    ``part_of_line`` says that a line of a file may be shown in part: to a person, if the model has it whole.
    """

    payload: Payload
    side: Audience
    args: Mapping[str, Any]
    output: Mapping[str, Any]
    read_tool: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    bulk: MainText | None = None
    size: int = 0
    costs: SizeCache = field(default_factory=SizeCache)
    part_of_line: bool = False

    def with_payload(self, payload: Payload, *, same_bulk: bool = False) -> Case:
        """Return the same case for another payload."""
        bulk = self.bulk if same_bulk else None
        return replace(self, payload=payload, bulk=bulk, size=0, costs=SizeCache())


@dataclass(slots=True)
class Rendered:
    """A finished content and what was lost on the way to it."""

    text: str
    losses: list[dict[str, Any]] = field(default_factory=list)
    shortened: tuple[str, ...] = ()
    cleaned: dict[str, int] = field(default_factory=dict)
    unreadable: bool = False


def finish(case: Case, facts: Mapping[str, Any] | None = None) -> Rendered:
    """Return the content of ``case``, whole if it fits. ``facts`` are further members of ``meta`` that stay."""
    facts = {**case.facts, **(facts or {})}
    return whole(case, facts) or _shortened(case, facts)


def whole(case: Case, facts: Mapping[str, Any]) -> Rendered | None:
    """Return the content of ``case`` with nothing left out, None if it does not fit."""
    if case.size > case.side.budget.size:
        return None
    encoded = encode_top(with_meta(case.payload.tree(), facts))
    return Rendered(encoded.decode(), tool_losses(case)) if within(encoded, case.side.budget) else None


def shaper_for(case: Case) -> TreeShortener:
    """Return the shaper that shortens texts as the reader of ``case`` needs it."""
    return TreeShortener(_style(case), case.costs)


def _style(case: Case) -> Style:
    side = case.side
    return Style(_where(case.output), side.evidence, clean=side.for_model, fold=side.for_model)


def at_place(value: Any, place: str) -> Any:
    """Return the value at ``place``, names joined by dots."""
    for name in place.split("."):
        value = value[name]
    return value


def with_place(tree: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """Return ``tree`` with ``value`` at ``place``."""
    name, _, rest = place.partition(".")
    return {**tree, name: with_place(tree[name], rest, value) if rest else value}


def within(encoded: bytes, budget: Budget) -> bool:
    """Return whether a content fits into ``budget``."""
    return len(encoded) <= budget.size and newlines(encoded) <= budget.lines


def with_meta(tree: dict[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``tree`` with ``facts`` in its ``meta``, in place of what the tool said by those names."""
    if not facts:
        return tree
    meta = tree.get("meta", {})
    if isinstance(meta, str):
        meta = {_DETAILS: meta}
    return {**tree, "meta": {**meta, **facts}}


def _shortened(case: Case, facts: Mapping[str, Any]) -> Rendered:
    size, lines = case.side.budget
    longest = {
        **facts,
        **_longest_additions(case),
        "cleaned": {**facts.get("cleaned", {}), **_LONGEST_FOLDED},
    }
    affordable = _affordable(longest, size // 2)
    reserved = encode(affordable)
    budget = Budget(size - len(reserved) - _DETAILS_SIZE, lines - newlines(reserved))
    shaper = shaper_for(case)
    tree = case.payload.tree()
    fitted = _with_excerpt(case, tree, budget, shaper) or shaper.fit(tree, budget)
    cleaned = {**facts.get("cleaned", {}), **shaper.counts}
    facts = {**facts, "cleaned": cleaned} if cleaned else facts
    said = {**facts, **_additions(case, shaper.account, _fields_size(size))}
    additions = {name: value for name, value in said.items() if name in affordable}
    text = encode_top(with_meta(fitted, additions)).decode()
    losses = [*tool_losses(case), *losses_of(case, shaper.account)]
    return Rendered(text, losses, (*shaper.account.fields, *shaper.account.cuts), cleaned)


def _with_excerpt(case: Case, tree: dict[str, Any], budget: Budget, shaper: TreeShortener) -> dict[str, Any] | None:
    """Return ``tree`` with its bulk shortened: what else there is is small, so the bulk alone gives way."""
    if case.bulk is None:
        return None
    frame = encode_top(with_place(tree, case.bulk.place, ""))
    left = Budget(budget.size - len(frame), budget.lines - newlines(frame))
    if left.size < budget.size // 2 or left.lines < budget.lines // 2:
        return None
    return with_place(tree, case.bulk.place, shaper.excerpt(case.bulk.text, left, case.bulk.place))


def _affordable(additions: dict[str, Any], size: int) -> dict[str, Any]:
    """Return the additions, the first ones first, that fit into ``size`` bytes together."""
    kept: dict[str, Any] = {}
    for name, value in additions.items():
        taken = len(encode({name: value}))
        if taken <= size:
            kept[name] = value
            size -= taken
    return kept


def _fields_size(size: int) -> int:
    """Return the bytes that ``meta.shortened`` may have in a content of ``size`` bytes."""
    return min(_SHORTENED_SIZE, size // 8)


def _longest_additions(case: Case) -> dict[str, Any]:
    """Return the additions with the greatest numbers they could have."""
    most, size = _MOST, case.side.budget.size
    return {
        "format": FORMAT,
        "truncated_by": [AT_TOOL, AT_BRIDGE],
        "shortened": "." * (_fields_size(size) - 2),
        "shown": "." * (most_shown_bytes(size) - 2),
        **_places(case, most),
    }


def _additions(case: Case, account: CutReport, fields_size: int) -> dict[str, Any]:
    if not account:
        return {"format": FORMAT, "output": output_of(case.output)}
    cut = account.cuts.get(case.bulk.place) if case.bulk else None
    additions: dict[str, Any] = {
        "format": FORMAT,
        "truncated_by": [AT_TOOL, AT_BRIDGE] if cut_by_tool(case.payload) else [AT_BRIDGE],
        "shortened": named(account, fields_size),
    }
    if cut is not None and cut.shown:
        additions["shown"] = cut.shown
    return additions | _places(case, _next_line(cut))


def _next_line(cut: Excerpt | None) -> int:
    return 1 if cut is None or cut.next_line is None else cut.next_line


def _places(case: Case, line: int) -> dict[str, Any]:
    """Return where the whole is and, for the model, the call that reads on from ``line``."""
    path = case.output.get("path")
    places: dict[str, Any] = {"output": output_of(case.output)}
    if path and case.side.for_model and case.read_tool:
        places["continue"] = {"tool": case.read_tool, "args": {"path": path, "offset": line}}
    return places


def output_of(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the complete output is, or why nowhere, as ``meta.output`` says it."""
    return {key: output[key] for key in _OUTPUT_KEYS if key in output}


_OUTPUT_KEYS = ("path", "bytes", "lines", "field", "reason")


def named(account: CutReport, size: int = _SHORTENED_SIZE) -> dict[str, Any]:
    """Return what was shortened, with as many names of fields as fit into ``size`` bytes."""
    counts = {"texts": account.texts, "items": account.items, "branches": account.branches}
    named: dict[str, Any] = {what: count for what, count in counts.items() if count}
    fields: list[str] = []
    for name in account.fields:
        if "\n" in name:  # its lines were not set aside
            continue
        if len(encode({**named, "fields": [*fields, name]})) > size:
            break
        fields.append(name)
    return {**named, "fields": fields}


def _where(output: Mapping[str, Any]) -> str:
    """Return why there is no complete output to read on in; where it is stands in ``meta`` alone."""
    return f"not kept: {output['reason']}" if "path" not in output and output.get("reason") else ""


def cut_by_tool(payload: Payload) -> bool:
    """Return whether the tool itself says that it gave less than there was."""
    places = (payload.body.get("meta"), payload.body.get("data"))
    marks = ("truncated", "line_truncated", "output_incomplete", "truncated_at_source")
    return any(place.get(mark) is True for place in places if isinstance(place, dict) for mark in marks)


def tool_losses(case: Case) -> list[dict[str, Any]]:
    """Return the loss that happened at the tool, if it says that there was one."""
    if not cut_by_tool(case.payload):
        return []
    return [{"at": AT_TOOL, "recover": None, "reason": "cut_before_it_came_here"}]


def losses_of(case: Case, account: CutReport) -> list[dict[str, Any]]:
    """Return what ``account`` says was lost here, and where it can be found."""
    if not account:
        return []
    lost = account.item_bytes + sum(cut.lost for cut in account.cuts.values())
    loss: dict[str, Any] = {"at": AT_BRIDGE, "bytes": lost, **named(account)}
    return [loss | recovery(case.output)]


def recovery(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return where what was lost here can be found, or why nowhere."""
    if "path" in output:
        return {"recover": output["path"]}
    return {"recover": None, "reason": output.get("reason", "not_kept")}
