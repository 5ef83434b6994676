"""Each rule finds what it is there for, and nothing does when it is taken out."""

from __future__ import annotations

from itertools import permutations

import pytest

from bridge.excerpt.evidence import Finder, candidates
from bridge.excerpt.rules import DOUBTFUL, HARMLESS, JSON_RULES, RULES
from bridge.excerpt.scan import Scanner

# One line for each rule of each literal, as tools print them, with the weight that it has by that rule.
LINES = [
    ("src/thing.c:41:9: error: use of undeclared identifier 'widht'", 80),
    ("error[E0308]: mismatched types", 75),
    ("  Error: Cannot find module 'left-pad'", 65),
    ("ReferenceError raised by the server", 65),
    ("3 errors while compiling the assets", 50),
    ("the import finished with errors", 30),
    ("[ERROR] COMPILATION ERROR", 60),
    ("java.lang.IllegalStateException: closed", 70),
    ("** (exception) Exception in thread main", 60),
    ("Traceback (most recent call last):", 85),
    ("Caused by: java.net.ConnectException", 70),
    ("Caused by: a closed socket", 65),
    ("thread 'main' panicked at 'index out of bounds', src/main.rs:2:5", 90),
    ("ld: fatal: symbol referencing", 80),
    ("FATAL the database is gone", 80),
    ("Segmentation fault (core dumped)", 90),
    ("build.sh: line 3: 4711 Killed", 50),
    ("rake aborted!", 0),
    ("the run was aborted by a signal", 50),
    ("--- FAIL: TestAlpha (0.02s)", 70),
    ("2 scenarios failed", 40),
    ("failing: areas of squares", 30),
    ("not ok 301 - the area of a square", 75),
    ("  Assertion does not hold", 55),
    ("Expected: 4", 35),
    ("  ✗ adds numbers", 60),
    ("  ✖ adds numbers", 60),
    ("  ✘ adds numbers", 60),
    ("❌ ThingSpec", 60),
    ("  ● areas adds numbers", 60),
    ("main.o: undefined reference to `area'", 65),
    ("ld: cannot find -lfoo", 50),
    ("dpkg: could not open the archive", 45),
    ("make: gcc: Command not found", 35),
    ("app: the configuration file cannot found: /etc/app.conf", 35),
    ("a key that should not found", 35),
    ("cat: a.txt: No such file or directory", 50),
    ("mkdir: /x: Permission denied", 50),
    ("invalid option -- z", 30),
    ("the connection timed out", 50),
    ('The command "make" exited with 2.', 85),
    ("##[x] Process completed with exit code 1.", 70),
    ("make: *** [all] Stop", 70),
    ("\x1b[31mred alone\x1b[0m", 25),
    ("\x1b[1;31mred alone\x1b[0m", 25),
]
JSON_LINES = [
    '{"level":"error","m":1}', '{"level":"ERROR"}', '{"level":"Error"}', '{"level":"err"}', '{"level":"fatal"}',
    '{"level":"FATAL"}', '{"severity":"critical"}', '{"severity":"CRITICAL"}', '{"level":"panic"}',
    '{"level":"severe"}', '{"level":"SEVERE"}', '{"level":"alert"}', '{"level":"emergency"}', '{"level":50,"m":1}',
    '{"m":"IOException"}', '{"m":"Traceback"}', '{"m":"error: x"}', '{"m":"it failed"}', '{"level":"warn"}',
    '{"level":"WARN"}', '{"level":"warning"}', '{"level":"WARNING"}', '{"level":"Warning"}',
]  # fmt: skip


def weight(line, rules=RULES):
    """Return what ``line`` weighs among others, 0 when it is none that decides."""
    found = Finder(rules).candidates(f"before\n{line}\nafter\n".encode())
    assert len(found) <= 1
    return found[0].weight if found else 0


@pytest.mark.parametrize(("line", "expected"), [pair for pair in LINES if pair[1]])
def test_a_line_as_tools_print_it_decides(line, expected):
    assert weight(line) == expected


@pytest.mark.parametrize(("rules", "lines"), [(RULES, [line for line, _ in LINES]), (JSON_RULES, JSON_LINES)])
def test_each_rule_is_the_reason_why_some_line_weighs_what_it_does(rules, lines):
    for at, rule in enumerate(rules):
        without = [*rules[:at], *rules[at + 1 :]]
        assert any(weight(line, rules) > weight(line, without) for line in lines), rule


@pytest.mark.parametrize(
    ("rules", "pairs"),
    [
        pytest.param(
            RULES,
            {
                (b"annot ", b"ot found"),  # has a rule of its own
                (b"ould not", b"ot found"),  # as well
                (b"annot ", b"not ok"),  # a test's number follows "not ok"
                (b"ould not", b"not ok"),
                (b"ot found", b"ndefined"),  # no words
                (b"xit code", b"denied"),
            },
            id="text",
        ),
        pytest.param(JSON_RULES, set(), id="json"),
    ],
)
def test_which_literals_hide_the_next_one_is_known(rules, pairs):
    """One search finds the first of two that overlap: where both stand in what tools print, that needs a rule."""
    literals = list({rule.literal: rule for rule in rules})
    scanner = Scanner(literals)
    hidden = {
        (first, second)
        for first, second in permutations(literals, 2)
        for size in range(2, min(len(first), len(second)))
        if first.endswith(second[:size]) and second not in scanner.found(first + second[size:])
    }
    assert hidden == pairs


@pytest.mark.parametrize("rules", [RULES, JSON_RULES])
def test_the_rules_of_one_literal_come_weightiest_first(rules):
    for literal in {rule.literal for rule in rules}:
        weights = [rule.weight for rule in rules if rule.literal == literal]
        assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(
    "line",
    [
        "gcc -c error.c -o build/error.o",
        "test_error_handling.py::test_it PASSED",
        "ok 3 - errors are told  ok",
        "  ✓ fails on wrong input: Error: x",
        "  ✔ fails on wrong input: Error: x",
        "should compile without error: yes",
        "the License Exception TSU",
        "# FAIL: 0",
        "Compiling FooException.swift",
        "assertErrorFormat = (code) ->",
    ],
)
def test_a_line_that_only_has_the_word_does_not_decide(line):
    assert weight(line) == 0


@pytest.mark.parametrize("mark", HARMLESS)
def test_a_line_that_tells_of_success_does_not_decide(mark):
    line = b"x.c:1:2: error: y" + mark
    assert candidates(line + b"\n") == []


@pytest.mark.parametrize("mark", DOUBTFUL)
def test_a_doubtful_line_comes_after_one_that_is_sure(mark):
    doubtful, sure = b"a.c:1:2: error: y " + mark + b"\n", b"the run was aborted by a signal\n"
    assert [line.weight for line in candidates(doubtful + sure)] == [50, 80]
    assert [line.weight for line in candidates(b"a.c:1:2: error: y\n" + sure)] == [80, 50]


def test_a_rare_line_comes_before_the_most_of_a_common_kind_and_both_ends_of_it_before_its_middle():
    common = [f"src/a{number}.c:1:2: error: the same\n" for number in range(500)]
    raw = "".join([*common[:250], "the run was aborted by a signal\n", *common[250:]]).encode()
    found = [raw[line.start : line.end] for line in candidates(raw)]
    assert found[:2] == [b"the run was aborted by a signal\n", common[0].encode()]
    assert found.index(common[-1].encode()) < found.index(common[1].encode())


def test_a_megabyte_of_lines_that_all_decide_is_looked_at_once():
    raw = b"".join(b"error: %d\n" % number for number in range(100_000))
    assert len(candidates(raw)) <= 200


def test_a_line_unlike_thousands_of_others_with_its_word_is_found():
    """Of one word only some places at either end and those that differ from the others are looked at closely."""
    usual = [f"12:00:{number % 60:02} worker {number * 7_919}: error: reset" for number in range(6_000)]
    usual[3_000] = "src/area.c:12:5: error: unknown type name 'lenght'"
    raw = "\n".join(usual).encode()
    found = [raw[line.start : line.end] for line in candidates(raw)]
    assert any(b"lenght" in line for line in found)


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537])
def test_the_last_line_is_found_wherever_a_window_of_the_search_ends(size):
    raw = b"x" * 39 + b"\n"
    raw = (raw * 4_000)[:size] + b"\nsrc/area.c:1:1: error: unknown type\n"
    assert [raw[line.start : line.end] for line in candidates(raw)] == [b"src/area.c:1:1: error: unknown type\n"]
