"""Draws values, limits and names, and compares their previews with what real Ruby prints for them."""

import os
from collections import Counter
from itertools import accumulate, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.preview import ui_preview
from bridge.printable import is_printable

EXAMPLES = int(os.environ.get("BRIDGE_PARITY_EXAMPLES", "2000"))
BATCH = 20  # values in one question: a round trip to Ruby costs more than most values
THOROUGH = settings(
    max_examples=-(-EXAMPLES // BATCH), deadline=None, database=None, suppress_health_check=list(HealthCheck)
)

# Escapes, interpolation, the ends of the C0 and C1 controls, line separators, format characters, the
# neighbours of the surrogates, private use, noncharacters, and what Unicode 14 to 16 assigned.
SPECIAL = (
    "\"\\/#{$@}<>&'\x00\a\b\t\n\v\f\r\x1b\x1f\x7f\x80\x84\x85\x86\x9f\xa0\xad\u0301\u0378\u061d\u200b\u200d"
    "\u2028\u2029\u3000\ud7ff\ue000\uf8ff\ufdd0\ufeff\uffff\U00010000\U0001f600\U0001f9cc\U0001fae0\U0001fae9"
    "\U000e0001\U000f0000\U0010fffd\U0010ffff界é"
)
LIMITS = st.one_of(st.just(4_000), st.integers(-3, 60), st.integers(0, 6_000), st.just(10**9))
NAMES = st.sampled_from([None, None, "read_file", "Read_file", "patch_file", "", "界"])


@pytest.fixture(scope="session")
def disagreements(reference):
    """Give the characters that this Ruby inspects otherwise than Ruby 3.1, for it knows another Unicode."""
    starts = list(accumulate(reference.ask("printable"), initial=0))
    printed = {code for start, end in list(pairwise(starts))[1::2] for code in range(start, end)}
    return [chr(code) for code in range(0x110000) if (code in printed) != is_printable(code)]


def test_every_code_point_is_escaped_or_printed_as_by_ruby(reference, disagreements):
    """All 1,114,112 agree with Unicode 13; a newer Ruby prints more, and may escape U+0085 at last."""
    if reference.versions["unicode"].startswith("13."):
        assert disagreements == []
    assert [char for char in disagreements if is_printable(ord(char)) and char != "\x85"] == []


def test_previews_of_drawn_values_are_the_text_that_ruby_prints(reference, disagreements):
    """What to_json refuses (NaN, infinities, depth) is compared with its text under no such checks."""
    seen = Counter()

    @THOROUGH
    @given(st.lists(cases(reference, disagreements), min_size=BATCH, max_size=BATCH))
    def compare(batch):
        reference.send(batch)
        previews = [preview(*case, ruby_3_4=reference.ruby >= (3, 4)) for case in batch]
        answers = reference.receive()
        seen.update(kind(*answer) for answer in answers)
        seen["values"] += len(batch)
        assert previews == [text for text, _ in answers]

    compare()
    report(reference, seen, len(disagreements))
    assert seen["values"] >= EXAMPLES


def preview(result, limit, name, *, ruby_3_4):
    """Give the text of a preview, and None where the very object passes through, as reference.rb answers."""
    given = ui_preview(result, limit, name, ruby_3_4=ruby_3_4)
    if isinstance(given, dict):
        assert given is result
        return None
    return given


def kind(text, refusal):
    if text is None:
        return "passed through"
    return f"refused by to_json as {refusal}" if refusal else "printed"


def report(reference, seen, disagreeing):
    counts = ", ".join(f"{count:,} {name}" for name, count in sorted(seen.items()) if name != "values")
    figures = f"{seen['values']:,} values compared, 0 differences ({counts})"
    # The figures of the run, for whoever reads its log with -s.
    print(f"\nparity: {figures}\n{reference.versions}, {disagreeing} code points left out")


def cases(reference, disagreements):
    """Draw what ui_preview takes: a result, a limit and a name."""
    texts = st.text(characters("".join(disagreements)), max_size=12)
    scalars = st.one_of(st.none(), st.booleans(), integers(), floats(reference), texts, texts)
    return st.tuples(results(scalars, texts), LIMITS, NAMES)


def characters(excluded):
    """Draw from every class of Unicode but the surrogates, which JSON cannot carry."""
    special = st.sampled_from([char for char in SPECIAL if char not in excluded])
    anything = st.characters(exclude_categories=["Cs"], exclude_characters=excluded)
    return st.one_of(special, st.characters(max_codepoint=126), anything)


def integers():
    near_powers = st.builds(
        lambda bits, offset, sign: sign * (2**bits + offset),
        st.sampled_from([31, 53, 62, 63, 64, 80]),
        st.integers(-2, 2),
        st.sampled_from([1, -1]),
    )
    powers_of_ten = st.integers(17, 400).map(lambda power: 10**power)
    return st.one_of(st.integers(-1_000, 1_000), near_powers, st.integers(), powers_of_ten)


def floats(reference):
    """Draw any floats; for json since 2.10, which lays them out anew, only those that all versions share."""
    if reference.json >= (2, 10):
        return st.integers(-(10**9), 10**9).map(lambda eighths: eighths / 8)
    short = st.builds(
        lambda digits, power: float(f"{digits}e{power}"), st.integers(-99, 99), st.integers(-30, 30)
    )
    integral = st.integers(10**13, 10**18).map(float)
    return st.one_of(st.floats(), st.floats(-1e17, 1e17), short, integral)


def results(scalars, texts):
    """Draw results of every shape: flat, nested, 130 deep, 2,000 wide, long, and objects with a content."""
    nested = st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
        max_leaves=8,
    )
    objects = st.dictionaries(texts, nested, max_size=4)
    return st.one_of(
        nested,
        objects,
        st.builds(lambda content, rest: {**rest, "content": content}, nested, objects),
        st.builds(deepen, nested, st.integers(1, 130), texts),
        st.builds(lambda member, width: {"rows": [member] * width}, scalars, st.integers(0, 2_000)),
        st.builds(lambda member, width: [member] * width, scalars, st.integers(0, 2_000)),
        st.builds(lambda text, times: text * times, texts, st.integers(0, 1_000)),
    )


def deepen(value, depth, key):
    """Put ``value`` into ``depth`` containers, an object and a list in turn, the outermost an object."""
    for level in range(depth, 0, -1):
        value = {key: value} if level % 2 else [value]
    return value
