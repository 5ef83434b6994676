"""Blocks of lines that decide: what a person who knows the tool would look at first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bridge.excerpt.scan import Scanner


class Block(NamedTuple):
    """Lines that belong together (bytes, at line starts); ``core`` is where the line that decides starts."""

    start: int
    core: int
    end: int


# literal -> (strict expression matched at the literal's place, weight)
_RULES: list[tuple[bytes, bytes, int]] = [
    (b"rror", rb"(?<=[eE])rrors?(?:\[[\w-]{1,12}\])?\)?:", 60),
    (b"rror", rb"(?<=[a-z]E)rror\b", 60),
    (b"rror", rb"(?<![-_/.\w][eE])(?<![eE]{2})rrors?\b(?![-_/.=(])", 40),
    (b"ERR", rb"(?<![\w/.-])ERR(?:OR\b|!|\b)(?!=)", 50),
    (b"ail", rb"(?<=[fF])ail(?:ed|ure|ures|ing|s)?\b(?![-_/.=(])", 40),
    (b"FAIL", rb"(?<![\w/.-])FAIL(?:ED|URES?)?\b(?!=)", 70),
    (b"xception", rb"(?<=[eE])xception\b(?![-_/=])", 55),
    (b"panic", rb"panic(?:ked at|:)", 90),
    (b"fatal", rb"(?<![\w/-])fatal(?: error)?:", 80),
    (b"FATAL", rb"FATAL", 80),
    (b"Traceback", rb"Traceback \(", 90),
    (b"ssert", rb"(?<=[aA])ssert(?:ion|Error|ed\b|\b)", 40),
    (b"not ok", rb"not ok \d", 70),
    ("✗".encode(), "✗".encode(), 60),
    ("✖".encode(), "✖".encode(), 60),
    ("✘".encode(), "✘".encode(), 60),
    ("❌".encode(), "❌".encode(), 60),
    ("● ".encode(), "● ".encode(), 60),
    (b"egmentation f", rb"egmentation fault", 90),
    (b"illed", rb"(?<=[kK])illed\b", 50),
    (b"ndefined", rb"(?<=[uU])ndefined (?:reference|method|symbol|variable|local|index|function)", 60),
    (b"annot ", rb"(?<=[cC])annot (?:find|open|load|resolve|read|be|import|access|connect|create)", 45),
    (b"ould not", rb"(?<=[cC])ould not ", 45),
    (b"ot found", rb"(?<=[nN])ot found\b", 35),
    (b"o such", rb"(?<=[nN])o such (?:file|module|method|host|table|column|element|key)", 50),
    (b"denied", rb"(?<=ermission )denied|(?<=ccess )denied", 50),
    (b"nvalid", rb"(?<=[iI])nvalid ", 30),
    (b"xpected", rb"(?<=[eE])xpected\b", 35),
    (b"xited ", rb"(?<=e)xited with (?!0)", 50),
    (b"xit code", rb"(?<=[eE])xit code:? [1-9]", 50),
    (b"imed out", rb"(?<=[tT])imed out", 50),
    (b"aused by", rb"(?<=C)aused by:", 60),
    (b"bort", rb"(?<=[aA])bort(?:ed|ing)\b", 50),
    (b"[31m", rb"\[31m", 30),
    (b";31m", rb";31m", 30),
]
_LITERALS = list(dict.fromkeys(rule[0] for rule in _RULES))
_STRICT = [[(re.compile(rule[1]), rule[2]) for rule in _RULES if rule[0] == literal] for literal in _LITERALS]
_SCANNER = Scanner(_LITERALS)
_SHAPELESS = b"0123456789abcdefABCDEF"
_BEFORE, _AFTER = 4, 16
_LONG = 1_000


class _Line(NamedTuple):
    start: int
    end: int
    weight: int
    shape: bytes


def blocks_of(raw: bytes) -> list[Block]:
    """Return blocks of evidence, the best first."""
    lines = list(_deciding(raw))
    seen: dict[bytes, list[int]] = {}
    for at, line in enumerate(lines):
        seen.setdefault(line.shape, []).append(at)
    ranked = []
    for places in seen.values():
        for order, at in enumerate(_ends_first(places)):
            line = lines[at]
            weight = line.weight - 4 * (len(places)).bit_length() - 8 * (order).bit_length()
            ranked.append((-weight, at))
    ranked.sort()
    return [_block(raw, lines[at]) for _, at in ranked[:200]]


def _ends_first(places: list[int]) -> list[int]:
    order = [place for pair in zip(places, reversed(places), strict=True) for place in pair]
    return list(dict.fromkeys(order))


def _deciding(raw: bytes) -> Iterator[_Line]:
    end = -1
    best = 0
    start = 0
    for which, at, _ in _SCANNER.matches(raw):
        if at >= end:
            if best:
                yield _Line(start, end, best, raw[start : min(end, start + 200)].translate(None, _SHAPELESS))
            start = raw.rfind(b"\n", max(0, end), at) + 1 or max(0, end)
            end = raw.find(b"\n", at) + 1 or len(raw)
            best = 0
        for pattern, weight in _STRICT[which]:
            if weight > best and pattern.match(raw, at):
                best = weight
    if best:
        yield _Line(start, end, best, raw[start : min(end, start + 200)].translate(None, _SHAPELESS))


def _block(raw: bytes, line: _Line) -> Block:
    start, end = line.start, line.end
    for _ in range(_BEFORE):
        previous = raw.rfind(b"\n", 0, max(0, start - 1)) + 1
        if start == 0 or start - previous > _LONG:
            break
        start = previous
    for _ in range(_AFTER):
        following = raw.find(b"\n", end) + 1 or len(raw)
        if end == len(raw) or following - end > _LONG:
            break
        end = following
    return Block(start, line.start, end)
