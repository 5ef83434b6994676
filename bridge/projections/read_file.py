"""A page of a file: consecutive complete lines from the first one asked for, and where to go on.

Head and tail are never joined, so a model that follows ``next_offset`` reads every line once, in order. A
page that already had a gap ends there. What the tool returned is never altered, only ended earlier.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bridge.excerpt.budget import Budget, fitting
from bridge.excerpt.graphemes import boundary_before
from bridge.excerpt.json_text import encode, encode_top, newlines
from bridge.excerpt.tree import TreeShortener
from bridge.payload.unified import AETHERCODEX, RIND, Payload
from bridge.projections.file_page import FilePage, first_line, numbered_page, plain_page, range_bounds
from bridge.projections.render import (
    AT_BRIDGE,
    AT_TOOL,
    Case,
    Rendered,
    cut_by_tool,
    finish,
    losses_of,
    named,
    shaper_for,
    tool_losses,
    whole,
    with_meta,
)

KIND = "read_file"

TOOL = "read_file"
LINE_TOO_LONG = "LineTooLong"
FILE_ON_DISK = "file_on_disk"
# What stands beside the lines of a page is no part of the file, and pages are not stored.
_NOT_KEPT = {"reason": "beside_the_page"}
# Budget for the account of a line that is shown in part.
_CUT_SIZE = 80
# A path that takes a greater part of the budget is not worth repeating.
_PATH_PART = 8
# What is said of the lines of a page, and not of one line that is too long.
_OF_A_PAGE = ("next_offset", "shown", "continue", "truncated", "line_truncated")


def matches(payload: Payload) -> bool:
    """Return whether the payload is a page that a read tool gave back."""
    return payload.ok and payload.tool == TOOL and _text(payload) is not None


def project(case: Case) -> Rendered:
    """Return the page whole, the lines of it that fit, or the error that its first line does not fit.

    A person whose budget is too small for a line that the model has whole is shown the beginning of it: the
    call did not fail.
    """
    page = _page(case)
    if not page.broken:
        content = whole(case, case.facts)
        if content is not None:
            return content
    shaper = shaper_for(case)
    frame = _frame(case, page, shaper)
    beside = losses_of(replace(case, output=_NOT_KEPT), shaper.account)
    if beside:
        case = replace(case, facts={**case.facts, "shortened": named(shaper.account)})
    count = _count(case, page, frame)
    if count == 0 and page.lines and case.part_of_line:
        return _beginning_of_line(case, page, frame)
    if count == 0 and (page.lines or page.broken):
        return _line_too_long(case, page)
    tree = _with_text(frame, page, count)
    text = encode_top(with_meta(tree, _additions(case, page, count))).decode()
    at_tool = [] if page.broken else tool_losses(case)
    return Rendered(text, [*at_tool, *_losses(page, count), *beside], ("data",))


def _text(payload: Payload) -> str | None:
    data = payload.body.get("data")
    text = data.get("content") if isinstance(data, dict) else data
    return text if isinstance(text, str) else None


def _page(case: Case) -> FilePage:
    text, data, meta = _text(case.payload) or "", case.payload.body["data"], _meta(case)
    numbered = numbered_page(text) if case.payload.dialect == RIND else None
    own = data if isinstance(data, dict) else {}
    return numbered or plain_page(text, first_line(own, meta, case.args))


def _meta(case: Case) -> Mapping[str, Any]:
    meta: Mapping[str, Any] = case.payload.body.get("meta", {})
    return meta


def _frame(case: Case, page: FilePage, shaper: TreeShortener) -> dict[str, Any]:
    """Return the content without the lines; what else it holds has at most a quarter of the budget."""
    tree = _with_text(case.payload.tree(), page, 0)
    size, lines = case.side.budget
    frame: dict[str, Any] = shaper.fit(tree, Budget(size // 4, lines // 4))
    return frame if isinstance(frame.get("meta", {}), dict) else {**frame, "meta": {"details": frame["meta"]}}


def _with_text(tree: dict[str, Any], page: FilePage, count: int) -> dict[str, Any]:
    text = page.text(count) if count else ""
    data = tree["data"]
    if not isinstance(data, dict):
        return {**tree, "data": text}
    shown: dict[str, Any] = {"content": text}
    if "range" in data and count:
        last = page.first + count - 1
        shown["range"] = f"{page.first}..{last}" if isinstance(data["range"], str) else [page.first, last]
    return {**tree, "data": {**data, **shown}}


def _budget(case: Case, page: FilePage, frame: dict[str, Any]) -> Budget:
    """Return what ``frame`` and the longest additions leave."""
    longest = encode_top(with_meta(_with_header(frame, page), _longest_additions(case, page)))
    return Budget(case.side.budget.size - len(longest), case.side.budget.lines - newlines(longest) - 1)


def _count(case: Case, page: FilePage, frame: dict[str, Any]) -> int:
    """Count the lines of ``page`` that fit."""
    budget = _budget(case, page, frame)
    body = "".join(page.lines)
    end = fitting(body, budget.size)
    complete = len(page.lines) if end == len(body) else body.count("\n", 0, end)
    return max(0, min(complete, budget.lines))


def _with_header(frame: dict[str, Any], page: FilePage) -> dict[str, Any]:
    most = "9" * 16
    header = "" if page.header is None else f"Showing lines {most} to {most}{page.header}\n"
    data = frame["data"]
    if isinstance(data, dict):
        return {**frame, "data": {**data, "content": header, "range": [int(most), int(most)]}}
    return {**frame, "data": header}


def _longest_additions(case: Case, page: FilePage) -> dict[str, Any]:
    most = 10**16
    additions = _additions(case, page, 0)
    return {**additions, **_positions(case, page, most), "truncated_by": [AT_TOOL, AT_BRIDGE]}


def _additions(case: Case, page: FilePage, count: int) -> dict[str, Any]:
    additions: dict[str, Any] = dict(case.facts)
    if count == len(page.lines) and not page.broken:
        return additions
    by = [AT_TOOL] if cut_by_tool(case.payload) or page.broken else []
    if count < len(page.lines):
        by.append(AT_BRIDGE)
    additions |= {"truncated": True, "truncated_by": by} | _positions(case, page, page.first + count)
    if _meta(case).get("line_truncated"):
        additions["line_truncated"] = False
    return additions


def _positions(case: Case, page: FilePage, line: int) -> dict[str, Any]:
    """Return what says where the page ends and how to go on, ``line`` being the first one not shown."""
    positions: dict[str, Any] = {"next_offset": line, "shown": {"lines": [[page.first, line - 1]]}}
    path = _path(case)
    if path and case.side.for_model and len(encode(path)) <= case.side.budget.size // _PATH_PART:
        positions["continue"] = {
            "tool": case.payload.tool,
            "args": {"path": path, **_reading_on(case, page, line)},
        }
    return positions


def _reading_on(case: Case, page: FilePage, line: int) -> dict[str, Any]:
    if case.payload.dialect != AETHERCODEX:
        return {"offset": line}
    own = case.payload.body["data"]
    last = range_bounds(own.get("range"))[1] or range_bounds(case.args.get("range"))[1] or page.next_line - 1
    return {"range": [line, max(line, last)]}


def _path(case: Case) -> str:
    data = case.payload.body["data"]
    places = (data if isinstance(data, dict) else {}, _meta(case), case.args)
    return next((place["path"] for place in places if isinstance(place.get("path"), str)), "")


def _losses(page: FilePage, count: int) -> list[dict[str, Any]]:
    """Return what is lost of a page of which ``count`` lines are shown; a gap was made before it came here."""
    lost = [*page.lines[count:], *page.beyond]
    where = {"recover": FILE_ON_DISK}
    made: list[dict[str, Any]] = [{"at": AT_TOOL, **where}] if page.broken else []
    if lost:
        size = len("".join(lost).encode())
        made.append({"at": AT_BRIDGE, "lines": len(lost), "bytes": size, **where})
    return made


def _beginning_of_line(case: Case, page: FilePage, frame: dict[str, Any]) -> Rendered:
    line = page.lines[0].removesuffix("\n")
    note = "… [{} bytes of this line are not shown]"
    size = _budget(case, page, frame).size - len(note.encode()) - len(str(len(line) * 4)) - _CUT_SIZE
    end = boundary_before(line, fitting(line, size))
    text = line[:end] + note.format(len(line[end:].encode()))
    data = {**frame["data"], "content": text} if isinstance(frame["data"], dict) else text
    shown = {"lines": [], "cut": [{"line": page.first, "first_characters": end}]}
    encoded = encode_top(with_meta({**frame, "data": data}, {**_additions(case, page, 0), "shown": shown}))
    return Rendered(encoded.decode(), _losses(page, 0), ("data",))


def _line_too_long(case: Case, page: FilePage) -> Rendered:
    line = page.first
    path = _path(case)
    size = f" ({len(page.lines[0].encode())} bytes)" if page.lines else ""
    error = (
        f"Line {line} of the file is too long to be shown whole{size}. Read it in parts with another tool, "
        f"for example: sed -n '{line}p' -- {shlex.quote(path) if path else 'FILE'} | cut -c 1-2000"
    )
    meta = {key: value for key, value in _meta(case).items() if key not in _OF_A_PAGE}
    meta |= {"offset": line, **({"path": path} if path else {})}
    body = {"error": error, "error_type": LINE_TOO_LONG, "meta": meta}
    content = finish(case.with_payload(Payload(ok=False, tool=case.payload.tool, body=body)))
    return Rendered(content.text, [*content.losses, *_losses(page, 0)], ("data",), unreadable=True)
