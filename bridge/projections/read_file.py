"""A page of a file: consecutive complete lines from the first one asked for, and where to go on.

Head and tail are never joined, so a model that follows ``next_offset`` reads every line once, in order. A page that
already had a gap ends there. What the tool returned is never altered, only ended earlier.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.excerpt.budget import Budget, fitting
from bridge.excerpt.graphemes import boundary_before
from bridge.excerpt.json_text import encode, encode_top, newlines
from bridge.excerpt.tree import TreeShortener
from bridge.payload.unified import AETHERCODEX, RIND, Payload
from bridge.projections import render
from bridge.projections.complete_output import CompleteOutput, without_output
from bridge.projections.file_page import FilePage, first_line, numbered_page, plain_page, range_bounds
from bridge.projections.kind import Kind
from bridge.projections.render import AT_BRIDGE, AT_TOOL, Audience, Rendered, View
from bridge.projections.tool_result import ToolResult
from bridge.protocol.reasons import BESIDE_THE_PAGE, FILE_ON_DISK
from bridge.protocol.results import Loss

TOOL = "read_file"
LINE_TOO_LONG = "LineTooLong"
# What stands beside the lines of a page is no part of the file, and pages are not stored.
_NOT_KEPT = without_output(BESIDE_THE_PAGE)
_LOST_AT_TOOL: Loss = {"at": AT_TOOL, "recover": FILE_ON_DISK}
# The size of the account of a line that is shown in part.
_CUT_SIZE = 80
# A path that takes a greater part of the budget is not worth repeating.
_PATH_PART = 8
# What is said of the lines of a page: not true of one that was ended earlier, or of one line that is too long.
_OF_A_WHOLE_PAGE = frozenset({"end_line", "last_line", "limit", "line_count", "lines_returned", "returned_lines"})
_OF_A_PAGE = _OF_A_WHOLE_PAGE | {"continue", "line_truncated", "next_offset", "shown", "truncated"}


class ReadFile(Kind):
    """The page that the tool ``read_file`` gave back."""

    name = TOOL
    not_stored = FILE_ON_DISK

    def matches(self, payload: Payload) -> bool:
        """Return whether a read tool gave a page; any other tool can print what looks like one."""
        return payload.ok and payload.tool == TOOL and _text(payload) is not None

    def view(self, result: ToolResult, audience: Audience) -> View:
        """Return the page as it came: nothing in a file is cleaned."""
        return View(result, audience, result.payload)

    def whole(self, view: View, output: CompleteOutput | None) -> Rendered | None:
        """Return the page with nothing left out, None if it does not fit or has a gap."""
        rendered = super().whole(view, output)
        if rendered is None or (view.payload.dialect == RIND and _page(view).broken):
            return None
        rendered.losses = [_LOST_AT_TOOL] if rendered.losses else []
        return rendered

    def shortened(self, view: View, output: CompleteOutput) -> Rendered:  # noqa: ARG002 - the file itself is the output
        """Return the lines of the page that fit, or the error that its first line does not fit.

        A person whose budget is too small for a line that the model has whole is shown the beginning of it: the call
        did not fail.
        """
        part = _Part.of(view)
        if part.count == 0 and part.page.total:
            model = view.audience.model
            if model is not None and _Part.of(replace(view, audience=model)).count:
                return part.beginning_of_line()
        if part.count == 0 and (part.page.total or part.page.broken):
            return part.line_too_long()
        return part.lines()


def _text(payload: Payload) -> str | None:
    data = payload.body.get("data")
    text = data.get("content") if isinstance(data, dict) else data
    return text if isinstance(text, str) else None


def _page(view: View) -> FilePage:
    data, meta = view.payload.body["data"], _meta(view)
    source = view.result.sizes.text(_text(view.payload) or "")
    # A code point takes at least a byte: what lies behind the budget cannot be shown.
    numbered = numbered_page(source, view.audience.budget.size) if view.payload.dialect == RIND else None
    own = data if isinstance(data, dict) else {}
    return numbered or plain_page(source, first_line(own, meta, view.result.args))


def _meta(view: View) -> Mapping[str, Any]:
    meta: Mapping[str, Any] = view.payload.body.get("meta", {})
    return meta


@dataclass(slots=True)
class _Part:
    """The lines of a page that one audience is shown: ``count`` of them, within what stands around them."""

    view: View
    page: FilePage
    frame: dict[str, Any]
    facts: dict[str, Any]
    losses: list[Loss]
    left: Budget
    count: int

    @classmethod
    def of(cls, view: View) -> _Part:
        """Return as many lines as fit; what else the content holds has at most a quarter of the budget."""
        page, shortener = _page(view), render.shortener_for(view, _NOT_KEPT)
        frame = _frame(view, shortener)
        facts = view.said(None)
        losses = render.losses_of(shortener.report, _NOT_KEPT)
        if losses:
            facts["shortened"] = render.named(shortener.report)
        part = cls(view, page, frame, facts, losses, Budget(0, 0), 0)
        longest = encode_top(render.with_meta(_with_header(frame, page), part.longest_additions()))
        size, lines = view.audience.budget
        part.left = Budget(size - len(longest), lines - newlines(longest) - 1)
        part.count = part.fitting_lines()
        return part

    def fitting_lines(self) -> int:
        """Count the lines of the page that fit."""
        body = self.page.body
        end = fitting(body, self.left.size)
        complete = self.page.total if end == len(body) else body.count("\n", 0, end)
        return max(0, min(complete, self.page.count, self.left.lines))

    def lines(self) -> Rendered:
        """Return the content with the lines that fit."""
        tree = self._with_text(self.page.text(self.count) if self.count else "")
        text = encode_top(render.with_meta(tree, self.additions(self.count))).decode()
        return Rendered(text, [*self._losses(self.count), *self.losses])

    def beginning_of_line(self) -> Rendered:
        """Return the content with the beginning of the first line."""
        line = self.page.first_line
        note = "… [{} bytes of this line are not shown]"
        size = self.left.size - len(note.encode()) - len(str(len(line) * 4)) - _CUT_SIZE
        end = boundary_before(line, fitting(line, size))
        text = line[:end] + note.format(len(line[end:].encode()))
        data = {**self.frame["data"], "content": text} if isinstance(self.frame["data"], dict) else text
        shown = {"lines": [], "cut": [{"line": self.page.first, "first_characters": end}]}
        tree = render.with_meta({**self.frame, "data": data}, {**self.additions(0), "shown": shown})
        return Rendered(encode_top(tree).decode(), self._losses(0))

    def line_too_long(self) -> Rendered:
        """Return the error that says how the first line can be read, and where to go on behind it."""
        line, path, result = self.page.first, self._path(), self.view.result
        size = f" ({len(self.page.first_line.encode()) + 1} bytes)" if self.page.total else ""
        program = f"if ($. == {line}) {{ print substr($_, 0, 2000); last }}"
        error = (
            f"Line {line} of the file is too long to be shown whole{size}. Read it in parts with another tool, "
            f"for example: perl -CSD -ne '{program}' -- {shlex.quote(path) if path else 'FILE'} . "
            f"Line {line + 1} is the next one that this tool can be asked for."
        )
        meta = {key: value for key, value in _meta(self.view).items() if key not in _OF_A_PAGE}
        meta |= {"offset": line, **({"path": path} if path else {})}
        body = {"error": error, "error_type": LINE_TOO_LONG, "meta": meta}
        view = View(result, self.view.audience, Payload(ok=False, tool=self.view.payload.tool, body=body))
        rendered = render.whole(view) or render.shortened(view, without_output(FILE_ON_DISK))
        return replace(rendered, losses=self._losses(0), is_plain=False)

    def additions(self, count: int) -> dict[str, Any]:
        """Return what ``meta`` says of a page of which ``count`` lines are shown."""
        page, said = self.page, dict(self.facts)
        if count == page.total and not page.broken:
            return said
        by = [AT_TOOL] if render.cut_by_tool(self.view.payload) or page.broken else []
        if count < page.total:
            by.append(AT_BRIDGE)
        said |= {"truncated": True, "truncated_by": by} | self._positions(page.first + count)
        if _meta(self.view).get("line_truncated"):
            said["line_truncated"] = False
        return said

    def longest_additions(self) -> dict[str, Any]:
        """Return what ``meta`` could say at most."""
        most = 10**16
        return {**self.additions(-1), **self._positions(most), "truncated_by": [AT_TOOL, AT_BRIDGE]}

    def _positions(self, line: int) -> dict[str, Any]:
        """Return what says where the page ends and how to go on, ``line`` being the first one not shown."""
        positions: dict[str, Any] = {"next_offset": line, "shown": {"lines": [[self.page.first, line - 1]]}}
        path, audience = self._path(), self.view.audience
        if path and audience.for_model and len(encode(path)) <= audience.budget.size // _PATH_PART:
            arguments = {"path": path, **self._reading_on(line)}
            positions["continue"] = {"tool": self.view.payload.tool, "args": arguments}
        return positions

    def _reading_on(self, line: int) -> dict[str, Any]:
        if self.view.payload.dialect != AETHERCODEX:
            return {"offset": line}
        own, args = self.view.payload.body["data"], self.view.result.args
        last = range_bounds(own.get("range"))[1] or range_bounds(args.get("range"))[1]
        return {"range": [line, max(line, last or self.page.first + self.page.total - 1)]}

    def _path(self) -> str:
        data = self.view.payload.body["data"]
        places = (data if isinstance(data, dict) else {}, _meta(self.view), self.view.result.args)
        return next((place["path"] for place in places if isinstance(place.get("path"), str)), "")

    def _with_text(self, text: str) -> dict[str, Any]:
        frame, last = self.frame, self.page.first + self.count - 1
        if self.count < self.page.total and isinstance(frame.get("meta"), dict):
            kept = {key: value for key, value in frame["meta"].items() if key not in _OF_A_WHOLE_PAGE}
            frame = {**frame, "meta": kept}
        data = frame["data"]
        if not isinstance(data, dict):
            return {**frame, "data": text}
        shown: dict[str, Any] = {"content": text}
        if "range" in data and self.count:
            first = self.page.first
            shown["range"] = f"{first}..{last}" if isinstance(data["range"], str) else [first, last]
        return {**frame, "data": {**data, **shown}}

    def _losses(self, count: int) -> list[Loss]:
        """Return what is lost of a page of which ``count`` lines are shown; a gap was made before it came here."""
        page = self.page
        at_tool = page.broken or render.cut_by_tool(self.view.payload)
        made = [_LOST_AT_TOOL] if at_tool else []
        if count < page.total:
            size = page.size - len(page.body[: page.end_of(count)].encode())
            made.append({"at": AT_BRIDGE, "lines": page.total - count, "bytes": size, "recover": FILE_ON_DISK})
        return made


def _frame(view: View, shortener: TreeShortener) -> dict[str, Any]:
    """Return the content without the lines, within a quarter of the budget."""
    tree = view.payload.tree()
    data = tree["data"]
    tree["data"] = {**data, "content": ""} if isinstance(data, dict) else ""
    size, lines = view.audience.budget
    frame: dict[str, Any] = shortener.fit(tree, Budget(size // 4, lines // 4))
    return frame if isinstance(frame.get("meta", {}), dict) else {**frame, "meta": {"details": frame["meta"]}}


def _with_header(frame: dict[str, Any], page: FilePage) -> dict[str, Any]:
    most = "9" * 16
    header = "" if page.header is None else f"Showing lines {most} to {most}{page.header}\n"
    data = frame["data"]
    if isinstance(data, dict):
        return {**frame, "data": {**data, "content": header, "range": [int(most), int(most)]}}
    return {**frame, "data": header}
