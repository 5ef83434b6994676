"""What a content says of itself, in words: what is shown, what was cut, cleaned and withheld, and where it all is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from bridge.commands.content_view import deciding_lines
from bridge.commands.safe_text import shown_line

_CLEANED = {
    "escapes": "terminal escape sequences",
    "overwritten": "characters that a later one overwrote",
    "controls": "control characters",
    "folded_lines": "lines equal to their neighbours, folded into one",
}
_REPLACED = {
    "surrogates": "lone surrogates",
    "bytes": "bytes that were no text",
    "numbers": "numbers that JSON lacks",
    "branches": "branches nested too deep",
}
_WHERE = {
    "file_on_disk": "the file itself has it",
    "no_ids": "not kept: the call had no session and call id (inspect keeps it with --home)",
    "no_store": "not kept: there was no store",
    "not_needed": "nothing was stored, because nothing is missing",
    "cut_before_it_came_here": "the tool itself left it out; it never came here",
}


def in_words(policy: Mapping[str, Any], content: str, output: Mapping[str, Any]) -> Iterator[Text]:
    """Yield a line for each thing that the model does not read as the tool gave it, and where it is."""
    meta = _meta(content)
    said = [*_shown(meta.get("shown"), content), *_lost(policy), *_counted("Cleaned", policy.get("cleaned"), _CLEANED)]
    said += _counted("Replaced", policy.get("replaced"), _REPLACED)
    said += [f"Withheld: {_names(meta['withheld'])}."] if meta.get("withheld") else []
    for line in said or ["Nothing: the model reads all of it."]:
        yield Text(shown_line(line))
    yield Text(f"Complete output: {where(output)}", style="bold")
    if meta.get("continue"):
        yield Text(f"The model reads on with: {shown_line(json.dumps(meta['continue'], ensure_ascii=False))}")


def where(output: Mapping[str, Any]) -> str:
    """Return where a complete output lies, or why it lies nowhere."""
    if "path" in output:
        size = output.get("bytes")
        return shown_line(output["path"]) + (f" ({size:,} bytes)" if isinstance(size, int) else "")
    reason = output.get("reason")
    return _WHERE.get(str(reason), f"not kept: {shown_line(reason)}")


def brief(policy_losses: list[Mapping[str, Any]]) -> str:
    """Return in a few words how much was lost, for one cell of a table."""
    return "; ".join(_amount(loss) for loss in policy_losses)


def _meta(content: str) -> Mapping[str, Any]:
    try:
        meta = json.loads(content).get("meta")
    except (ValueError, AttributeError, RecursionError):
        return {}
    return meta if isinstance(meta, dict) else {}


def _shown(places: Any, content: str) -> Iterator[str]:
    """Say which lines stand in the content, and why those of the middle do."""
    if not isinstance(places, dict) or not isinstance(places.get("lines"), list):
        return
    ranges = [f"{first:,} to {last:,}" for first, last in places["lines"]]
    of = f" of {places['of']:,}" if isinstance(places.get("of"), int) else ""
    yield f"Shown: lines {', '.join(ranges) or 'none'}{of}."
    why = deciding_lines(content) if len(ranges) > 2 else []
    for number, kept in enumerate(ranges[1:-1]):
        quoted = f": {why[number]}" if len(why) == len(ranges) - 2 else ""
        yield f"Kept of the middle: lines {kept}, for a line that looks like an error or a result{quoted}"
    if highlights := places.get("highlights"):
        yield f"Listed of the middle: {highlights:,} lines that look like errors or results."
    for cut in places.get("cut") or ():
        yield f"Cut inside a line: {json.dumps(cut)}."


def _lost(policy: Mapping[str, Any]) -> Iterator[str]:
    for loss in policy.get("losses") or ():
        place = "before it came here" if loss.get("at") == "tool" else "here"
        recover = loss.get("recover")
        reason = _WHERE.get(str(recover or loss.get("reason")), recover or loss.get("reason"))
        yield f"Cut {place}: {_amount(loss)}; {reason}."


def _amount(loss: Mapping[str, Any]) -> str:
    what = [f"the {loss['what']}"] if loss.get("what") else []
    counted = [
        f"{loss[unit]:,} {unit}" for unit in ("lines", "bytes", "items", "branches") if _is_count(loss.get(unit))
    ]
    fields = [f"in {_names(loss['fields'])}"] if loss.get("fields") else []
    return " ".join([", ".join(what + counted) or "an unknown amount", *fields])


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value > 0


def _names(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _counted(verb: str, counts: Any, units: Mapping[str, str]) -> list[str]:
    if not isinstance(counts, dict) or not counts:
        return []
    return [f"{verb}: {', '.join(f'{count} {units.get(unit, unit)}' for unit, count in counts.items())}."]
