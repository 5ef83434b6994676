"""One content: the JSON text that the model or the person reads, within its budget, with an account of itself.

A content is ``ok, tool, data, error, error_type, meta`` in this order. What the bridge adds stands in ``meta``:
``shown``, ``continue``, ``output``, ``truncated_by``, ``shortened``, ``cleaned``, ``replaced``, ``withheld``. Its
size is set aside first, with the greatest numbers it could hold; the payload gets all of the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from bridge.excerpt.account import most_shown_bytes
from bridge.excerpt.budget import Budget
from bridge.excerpt.cleaning import clean
from bridge.excerpt.json_text import encode, encode_top, newlines
from bridge.excerpt.text import Excerpt, Style
from bridge.excerpt.tree import CutReport, SizeCache, TreeShortener
from bridge.payload.unified import FORMAT, Payload
from bridge.projections.complete_output import CompleteOutput
from bridge.projections.tool_result import ToolResult
from bridge.protocol.reasons import CUT_BEFORE_IT_CAME_HERE
from bridge.protocol.results import Loss, Recovery

AT_TOOL: Final = "tool"
AT_BRIDGE: Final = "bridge"

# What a tool says of itself when it gave less than there was.
_CUT_MARKS = frozenset({"truncated", "line_truncated", "output_incomplete", "truncated_at_source"})
# The size of ``meta.shortened``: four counts and the names of some fields.
_SHORTENED_SIZE = 240
_WITHHELD_SIZE = 200
_MOST = 10**12
# A meta that cannot keep its shape is put into an object of one member.
_DETAILS = "details"
_DETAILS_SIZE = len(b'{"details":}')


@dataclass(frozen=True, slots=True)
class Audience:
    """Who reads: the budget of the whole content, and how texts are shortened for this reader.

    ``model`` is what the model gets, for the person who reads beside it; None for the model itself.
    """

    budget: Budget
    read_tool: str = ""
    evidence: float = 0.0
    model: Audience | None = None

    @property
    def for_model(self) -> bool:
        """Whether this is the model."""
        return self.model is None


@dataclass(slots=True)
class View:
    """What one audience is to read of a result, before it is cut.

    ``facts`` stand in ``meta`` even of a content that is whole. ``cleaned`` counts what was taken out of the payload.
    ``losses`` are what this audience does not get, at any length.
    """

    result: ToolResult
    audience: Audience
    payload: Payload
    facts: dict[str, Any] = field(default_factory=dict)
    cleaned: dict[str, int] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether the audience misses nothing if all of the view is shown."""
        return not (self.cleaned or self.losses)

    @property
    def sizes(self) -> SizeCache:
        """The sizes of the values of the payload, as far as they are known."""
        return self.result.sizes if self.payload is self.result.payload else SizeCache(self.result.sizes.longest)

    def said(self, output: CompleteOutput | None) -> dict[str, Any]:
        """Return what ``meta`` says of a content that is whole."""
        facts = dict(self.facts)
        if self.cleaned:
            facts["cleaned"] = self.cleaned
        if self.result.replaced:
            facts["replaced"] = self.result.replaced
        if self.cleaned or self.result.replaced:
            # Beside what was cleaned, where every byte is.
            facts["format"] = FORMAT
            if output is not None and output.path is not None:
                facts["output"] = output.to_json()
        return facts


@dataclass(slots=True)
class Rendered:
    """A finished content and the account of what was lost on the way to it.

    ``is_plain`` says that nothing was left out or added, so that it serves every audience that it fits.
    """

    text: str
    losses: list[Loss] = field(default_factory=list)
    cleaned: dict[str, int] = field(default_factory=dict)
    is_plain: bool = False


def whole(view: View, output: CompleteOutput | None = None) -> Rendered | None:
    """Return the content of ``view`` with nothing left out, None if it does not fit."""
    result, budget, facts = view.result, view.audience.budget, view.said(output)
    is_plain = view.payload is result.payload and not facts
    if view.payload is result.payload and result.size > budget.size:
        return None
    encoded = result.encoded if is_plain and result.encoded else encode_top(with_meta(view.payload.tree(), facts))
    if not fits(encoded, budget):
        return None
    losses = _losses_before(view, output) if view.losses or cut_by_tool(view.payload) else []
    return Rendered(encoded.decode(), losses, view.cleaned, is_plain=is_plain)


def fits(encoded: bytes, budget: Budget) -> bool:
    """Return whether a content fits into ``budget``; a newline takes two bytes of it, a backslash the first."""
    if len(encoded) > budget.size:
        return False
    # A single byte is counted six times as fast as two.
    return len(encoded) <= 2 * budget.lines or encoded.count(b"\\") <= budget.lines or newlines(encoded) <= budget.lines


def shortener_for(view: View, output: CompleteOutput) -> TreeShortener:
    """Return the shortener that cuts texts as the audience of ``view`` needs it."""
    reason = output.reference.get("reason")
    audience = view.audience
    where = f"not kept: {reason}" if output.path is None and reason else ""
    style = Style(where, audience.evidence, clean=audience.for_model, fold=audience.for_model)
    return TreeShortener(style, view.sizes, view.result.deadline)


Fit = Callable[[TreeShortener, dict[str, Any], Budget], Any]


def shortened(view: View, output: CompleteOutput, fit: Fit = TreeShortener.fit) -> Rendered:
    """Return the content of ``view``, cut to its budget by ``fit``, with an account of what is missing."""
    size, lines = view.audience.budget
    facts = view.said(output)
    affordable = _affordable({**facts, **_longest_additions(view, output, facts)}, size // 2)
    reserved = encode(affordable)
    inner = Budget(size - len(reserved) - _DETAILS_SIZE, lines - newlines(reserved))
    shortener = shortener_for(view, output)
    tree = fit(shortener, view.payload.tree(), inner)
    if view.audience.for_model and view.result.may_need_cleaning:
        tree = {name: cleaned(value, shortener.counts) for name, value in tree.items()}
    report = shortener.report
    if report and isinstance(tree.get("meta"), dict):
        tree["meta"] = shortener.without_positions(tree["meta"])
    counts = dict(Counter(view.cleaned) + shortener.counts)
    said = {**facts, **({"cleaned": counts} if counts else {}), **_additions(view, output, report)}
    additions = {name: value for name, value in said.items() if name in affordable}
    losses = [*_losses_before(view, output), *losses_of(report, output)]
    return Rendered(encode_top(with_meta(tree, additions)).decode(), losses, counts)


def cleaned(value: Any, counts: Counter[str]) -> Any:
    """Return ``value`` with each text as a terminal would show it at last; ``counts`` grows by what is gone."""
    if isinstance(value, str):
        return clean(value, counts)
    if isinstance(value, dict):
        return {name: cleaned(child, counts) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(child, counts) for child in value]
    return value


def with_meta(tree: dict[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``tree`` with ``facts`` in its ``meta``, in place of what the tool said by those names."""
    if not facts:
        return tree
    meta = tree.get("meta", {})
    return {**tree, "meta": {**(meta if isinstance(meta, dict) else {_DETAILS: meta}), **facts}}


def _affordable(additions: dict[str, Any], size: int) -> dict[str, Any]:
    """Return the additions, the first ones first, that fit into ``size`` bytes together."""
    if len(encode(additions)) <= size:
        return additions
    kept: dict[str, Any] = {}
    for name, value in additions.items():
        taken = len(encode({name: value}))
        if taken <= size:
            kept[name] = value
            size -= taken
    return kept


def _shortened_size(size: int) -> int:
    """Return the bytes that ``meta.shortened`` may have in a content of ``size`` bytes."""
    return min(_SHORTENED_SIZE, size // 8)


def _longest_additions(view: View, output: CompleteOutput, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the additions with the greatest numbers they could have."""
    size = view.audience.budget.size
    counts = dict.fromkeys(("escapes", "overwritten", "controls", "folded_lines"), _MOST)
    return {
        "cleaned": {**facts.get("cleaned", {}), **counts},
        "format": FORMAT,
        "truncated_by": [AT_TOOL, AT_BRIDGE],
        "shortened": "." * (_shortened_size(size) - 2),
        "shown": "." * (most_shown_bytes(size) - 2),
        **_places(view, output, _MOST),
        "withheld": "." * min(_WITHHELD_SIZE, size // 12),
    }


def _additions(view: View, output: CompleteOutput, report: CutReport) -> dict[str, Any]:
    if not report:
        return {"format": FORMAT, "output": output.to_json()}
    cut = report.cuts.get(output.place)
    additions: dict[str, Any] = {
        "format": FORMAT,
        "truncated_by": [AT_TOOL, AT_BRIDGE] if cut_by_tool(view.payload) else [AT_BRIDGE],
        "shortened": named(report, _shortened_size(view.audience.budget.size)),
    }
    if cut is not None and cut.shown:
        additions["shown"] = cut.shown
    if report.withheld:
        additions["withheld"] = [*view.facts.get("withheld", []), *sorted(report.withheld)]
    return additions | _places(view, output, _next_line(cut))


def _next_line(cut: Excerpt | None) -> int:
    return 1 if cut is None or cut.next_line is None else cut.next_line


def _places(view: View, output: CompleteOutput, line: int) -> dict[str, Any]:
    """Return where the whole is and, for the model, the call that reads on from ``line``."""
    whole, audience = output.to_json(), view.audience
    if output.path is None or not audience.read_tool:
        return {"output": whole}
    del whole["path"]
    arguments = {"path": output.path, "offset": output.line_in_file(line)}
    return {"output": whole, "continue": {"tool": audience.read_tool, "args": arguments}}


def named(report: CutReport, size: int = _SHORTENED_SIZE) -> dict[str, Any]:
    """Return what was shortened, with as many names of fields as fit into ``size`` bytes."""
    counts = {"texts": report.texts, "items": report.items, "branches": report.branches}
    said: dict[str, Any] = {what: count for what, count in counts.items() if count}
    fields: list[str] = []
    for name in report.fields:
        if "\n" in name:  # its lines were not set aside
            continue
        if len(encode({**said, "fields": [*fields, name]})) > size:
            break
        fields.append(name)
    return {**said, "fields": fields}


def cut_by_tool(payload: Payload) -> bool:
    """Return whether the tool itself says that it gave less than there was."""
    for name in ("meta", "data"):
        place = payload.body.get(name)
        if not isinstance(place, dict) or _CUT_MARKS.isdisjoint(place):
            continue
        if any(place.get(mark) is True for mark in _CUT_MARKS):
            return True
    return False


def _losses_before(view: View, output: CompleteOutput | None) -> list[Loss]:
    """Return what was lost at the tool, if it says so, and what this audience does not get at any length."""
    recovery: Recovery = output.recovery() if output else {}
    losses = [with_recovery(loss, recovery) for loss in view.losses]
    if not cut_by_tool(view.payload):
        return losses
    if output is not None and "kept_by" in output.reference:
        return [with_recovery({"at": AT_TOOL}, recovery), *losses]
    return [{"at": AT_TOOL, "recover": None, "reason": CUT_BEFORE_IT_CAME_HERE}, *losses]


def with_recovery(loss: Loss, recovery: Recovery) -> Loss:
    """Return ``loss`` with where it can be found."""
    found: Any = {**loss, **recovery}
    return cast("Loss", found)


def losses_of(report: CutReport, output: CompleteOutput) -> list[Loss]:
    """Return what ``report`` says was lost here, and where it can be found."""
    if not report:
        return []
    loss: Any = {"at": AT_BRIDGE, "bytes": report.lost_bytes, **named(report)}
    return [with_recovery(loss, output.recovery())]
