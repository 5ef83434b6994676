"""Which lines decide, in the words that tools print: docs/evidence.md says why each family is here.

A literal finds candidates in one pass. At its place an expression looks closer; all of them are anchored there
and possessive or bounded, so that none backtracks. The weight says how sure such a line is to be the reason.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Rule(NamedTuple):
    """A literal, what must stand around it, and the weight of a line that has it.

    ``verdict`` says that the line only announces a failure whose reason stands above it.
    """

    literal: bytes
    around: re.Pattern[bytes]
    weight: int
    verdict: bool = False


def _rule(literal: str, around: str, weight: int, *, verdict: bool = False) -> Rule:
    return Rule(literal.encode(), re.compile(around.encode(), re.MULTILINE), weight, verdict)


_NOT_A_NAME = r"(?![-_/.=(`'\"\w])"
_NOT_NONE = r"(?! *+(?:0\b|no\b|none\b))"

RULES = (
    # Compilers, linters, interpreters: a place and then the verdict, or the verdict first.
    _rule("rror", rf"(?<=[:\])] [eE])rrors?+(?: ?\[?[\w/-]{{1,16}}\]?)?:{_NOT_NONE}", 80),
    _rule("rror", rf"(?<=^[eE])rrors?+(?:\[[\w-]{{1,16}}\])?(?::{_NOT_NONE}| )", 75),
    _rule("rror", rf"(?<=[ \tm][eE])rrors?+(?:\[[\w-]{{1,16}}\])?(?:: |:$|\x1b){_NOT_NONE}", 65),
    _rule("rror", rf"(?<=[a-z]E)rror\b{_NOT_A_NAME}", 65),
    _rule("rror", r"(?<=[eE])rrors? (?:found|in|at|while|during|when|occur|running|compiling|code|\d)", 50),
    _rule("rror", rf"(?<=[eE])rrors?\b{_NOT_A_NAME}(?!:? ?(?:0|mess|handl|report))", 30),
    _rule("ERR", r"ERR(?:ORS?)?+\b(?![=_/.\w]|: *+0)", 60),
    # Exceptions and crashes of interpreters and systems.
    _rule("xception", r"(?<=[a-zA-Z]E)xception\b(?![-_/=(.])", 70),
    _rule("xception", r"(?<=[eE])xception(?=:| in | at |$)", 60),
    _rule("Traceback", r"Traceback \(", 85),
    _rule("aused by", r"(?<=C)aused by:", 65),
    _rule("panic", r"panic(?:ked at|:)", 90),
    _rule("atal", r"(?<=[fF])atal(?: error)?:", 80),
    _rule("FATAL", r"FATAL", 80),
    _rule("egmentation f", r"egmentation fault", 90),
    _rule("illed", r"(?<=[kK])illed\b", 50),
    _rule("bort", r"(?<=[aA])bort(?:ed|ing)\b", 50),
    # Test runners.
    _rule("FAIL", r"(?<![\w/.-])FAIL(?:ED|URES?|S)?+\b(?![=_/.\w]|: *+0)", 70),
    _rule("ail", rf"(?<=[fF])ail(?:ed|ures?)\b{_NOT_A_NAME}(?!: *+0)", 40),
    _rule("ail", r"(?<=[fF])ail(?:ing|s|:)", 30),
    _rule("not ok", r"not ok \d", 75),
    _rule("ssert", r"(?<=[aA])ssert(?:ions?|ionError|Error)\b", 55),
    _rule("xpected", r"(?<=[eE])xpected\b", 35),
    *(_rule(sign, sign, 60) for sign in ("✗", "✖", "✘", "❌", "● ")),
    # Linkers, shells, package managers, networks.
    _rule("ndefined", r"(?<=[uU])ndefined (?:reference|method|symbol|variable|local|index|function|property)", 65),
    _rule("annot ", r"(?<=[cC])annot (?:find|open|load|resolve|read|be|import|access|connect|create)", 50),
    _rule("ould not", r"(?<=[cC])ould not ", 45),
    # Where these stand before "found", the next literal is not seen.
    _rule("annot ", r"annot found\b", 35),
    _rule("ould not", r"ould not found\b", 35),
    _rule("ot found", r"(?<=[nN])ot found\b", 35),
    _rule("o such", r"(?<=[nN])o such (?:file|module|method|host|table|column|element|key)", 50),
    _rule("denied", r"(?<=ssion )denied|(?<=ccess )denied", 50),
    _rule("nvalid", r"(?<=[iI])nvalid ", 30),
    _rule("imed out", r"(?<=[tT])imed out", 50),
    # Verdicts: what failed printed its reason before.
    _rule("xited ", r"(?<=e)xited with (?!0)", 85, verdict=True),
    _rule("xit code", r"(?<=[eE])xit code:? [1-9]", 70, verdict=True),
    _rule("*** [", r"\*\*\* \[", 70, verdict=True),
    # Red, where nothing else speaks.
    _rule("[31m", r"\[31m", 25),
    _rule(";31m", r";31m", 25),
)
# JSON lines: the level, or what an exception is called; numbers are those of bunyan and pino.
JSON_RULES = (
    *(_rule(word, word, 80) for word in ('"error"', '"ERROR"', '"Error"', '"err"', '"fatal"', '"FATAL"', '"critical"')),
    *(_rule(word, word, 80) for word in ('"CRITICAL"', '"panic"', '"severe"', '"SEVERE"', '"alert"', '"emergency"')),
    _rule('"level":', '"level": ?[56]0\\b', 80),
    _rule("xception", "(?<=[eE])xception", 75),
    _rule("Traceback", "Traceback", 75),
    _rule("rror:", "(?<=[eE])rror:", 60),
    _rule("failed", r"failed\b", 50),
    *(_rule(word, word, 40) for word in ('"warn"', '"WARN"', '"warning"', '"WARNING"', '"Warning"')),
)
# A line that says so is about what went well or does not matter.
HARMLESS = (b"PASS", b" ok\n", "✓".encode(), "✔".encode(), b"without error", b"License Exception")
# A line that says so is less likely to be the reason.
DOUBTFUL = (b"arning", b"WARN", b": 0", b"0 fail", b"0 err", b"no err", b"ignored", b"ooking for", b"hecking", b"$ ")
