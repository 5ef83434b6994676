"""Many patterns are found in one pass, as if each was looked for alone."""

from __future__ import annotations

import pytest

from bridge.excerpt.scan import Scanner

# Of several lengths, and more than two automata hold.
PATTERNS = [f"word {number:02}{'!' * (number % 5)}".encode() for number in range(60)]
TEXT = b"".join(b"a line with " + PATTERNS[number * 7 % 60] + b" and more\n" for number in range(9_000))


@pytest.mark.parametrize("count", [1, 8, 9, 40, 41, 60])
def test_places_come_in_order_each_with_the_number_of_its_pattern(count):
    places = list(Scanner(PATTERNS[:count]).places(TEXT))
    assert places == sorted(places)
    assert len(places) == sum(map(TEXT.count, PATTERNS[:count]))
    assert all(TEXT.startswith(PATTERNS[which], at) for at, which in places)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_is_found_alone(pattern):
    scanner = Scanner(PATTERNS)
    line = b"some " + pattern + b" here"
    assert scanner.found(line) == {pattern}
    assert scanner.occurs(line)
    assert not scanner.occurs(b"some word here")
