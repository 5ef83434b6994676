"""Draws values, limits and names, and compares their previews with what real Ruby prints for them."""

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.echo.preview import ui_preview
from bridge.echo.printable import is_printable
from bridge.worker.encoding import readable

EXAMPLES = int(os.environ.get("BRIDGE_PARITY_EXAMPLES", "2000"))
BATCH = 20  # values in one question: a round trip to Ruby costs more than most values
BLOCK = 4096  # code points that are inspected in one text
THOROUGH = settings(database=None, suppress_health_check=list(HealthCheck))

# Escapes, interpolation, the ends of the C0 and C1 controls, line separators, format characters, the
# neighbours of the surrogates, private use, noncharacters, and what Unicode 14 to 16 assigned.
SPECIAL = (
    "\"\\/#{$@}<>&'\x00\a\b\t\n\v\f\r\x1b\x1f\x7f\x80\x84\x85\x86\x9f\xa0\xad\u0301\u0378\u061d\u200b\u200d"
    "\u2028\u2029\u3000\ud7ff\ue000\uf8ff\ufdd0\ufeff\uffff\U00010000\U0001f600\U0001f9cc\U0001fae0\U0001fae9"
    "\U000e0001\U000f0000\U0010fffd\U0010ffff界é"
)
LIMITS = st.one_of(st.just(4_000), st.integers(-3, 60), st.integers(0, 6_000), st.just(10**9))
NAMES = st.sampled_from([None, None, "read_file", "Read_file", "patch_file", "", "界"])

# The strategies leave out each character that a newer Ruby knows and Python does not, which makes for a long repr.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")


@pytest.fixture(scope="session")
def disagreements(reference):
    """Return the characters that this Ruby inspects otherwise than the worker: it may know another Unicode."""
    blocks = [range(start, start + BLOCK) for start in range(0, 0x110000, BLOCK)]
    texts = ["".join(chr(code) for code in block if not 0xD800 <= code <= 0xDFFF) for block in blocks]
    return [char for text in differing(reference, texts) for char in differing(reference, text)]


def differing(reference, texts):
    batch = [([text], 10**9, None) for text in texts]
    given = previews(batch, ruby_3_4=False)
    return [text for text, ours, (ruby, _) in zip(texts, given, reference.ask(batch), strict=True) if ours != ruby]


def test_every_code_point_is_inspected_as_by_ruby(reference, disagreements):
    """All 1,112,064 agree with Unicode 13; a newer Ruby prints what was assigned since."""
    if reference.versions["unicode"].startswith("13."):
        assert disagreements == []
    assert [char for char in disagreements if is_printable(ord(char)) and char != "\x85"] == []


def test_python_prints_drawn_values_as_ruby_does(reference, disagreements):
    """What to_json refuses (NaN, infinities, depth) is compared with its text under no such checks."""
    values = cases(reference, disagreements, st.floats())
    compared = compare(reference, values, EXAMPLES, lambda batch: previews(batch, ruby_3_4=reference.ruby >= (3, 4)))
    assert compared >= EXAMPLES


def test_a_worker_prints_drawn_values_as_ruby_does(reference, disagreements, worker):
    """The same through a real worker's pipes, for a tenth of the examples; JSON has no NaN to send there."""
    values = cases(reference, disagreements, st.floats(allow_nan=False, allow_infinity=False))
    # A structure that passes through ends in a text below the levels that Ruby reads.
    values = values.filter(lambda case: case[2] != "read_file" or readable(case[0], 98) is case[0])
    assert compare(reference, values, EXAMPLES // 10, worker.previews) >= EXAMPLES // 10


def compare(reference, values, examples, give_previews):
    """Hold what ``give_previews`` makes of drawn batches against Ruby's answers; report and return how many."""
    seen = Counter()

    @settings(THOROUGH, max_examples=-(-examples // BATCH))
    @given(st.lists(values, min_size=BATCH, max_size=BATCH))
    def run(batch):
        reference.send(batch)
        given = give_previews(batch)
        answers = reference.receive()
        seen.update(kind(*answer) for answer in answers)
        seen["values"] += len(batch)
        assert given == [text for text, _ in answers]

    run()
    report(reference, seen)
    return seen["values"]


def previews(batch, *, ruby_3_4):
    """Return each text, and None where the very object passes through, as reference.rb answers."""
    given = [ui_preview(*case, ruby_3_4=ruby_3_4) for case in batch]
    assert all(preview is case[0] for preview, case in zip(given, batch, strict=True) if isinstance(preview, dict))
    return [None if isinstance(preview, dict) else preview for preview in given]


def kind(text, refusal):
    if text is None:
        return "passed through"
    return f"refused by to_json as {refusal}" if refusal else "printed"


def report(reference, seen):
    counts = ", ".join(f"{count:,} {name}" for name, count in sorted(seen.items()) if name != "values")
    # The figures of the run, for whoever reads its log with -s.
    print(f"\nparity: {seen['values']:,} values compared, 0 differences ({counts}); {reference.versions}")


def cases(reference, disagreements, any_float):
    """Draw what ui_preview takes: a result, a limit and a name."""
    texts = st.text(characters("".join(disagreements)), max_size=12)
    floats = any_floats(any_float) if reference.json < (2, 10) else plain_floats()
    scalars = st.one_of(st.none(), st.booleans(), integers(), floats, texts, texts)
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


def any_floats(anything):
    """Draw floats with many on both sides of where Ruby turns to an exponent."""
    short = st.builds(lambda digits, power: float(f"{digits}e{power}"), st.integers(-99, 99), st.integers(-30, 30))
    integral = st.integers(10**13, 10**18).map(float)
    return st.one_of(anything, st.floats(-1e17, 1e17), short, integral)


def plain_floats():
    """Draw floats that every version of Ruby's json lays out alike; 2.10 changed the others."""
    return st.integers(-(10**9), 10**9).map(lambda eighths: eighths / 8)


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
