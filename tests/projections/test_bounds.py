"""What holds for every result: within the limits, the same bytes each time, never cut twice."""

from __future__ import annotations

import json
import random

import pytest
import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_store import MemoryOutputs
from projecting import DEFAULTS, IDS, SMALLEST, normalize

thorough = settings(max_examples=60, suppress_health_check=list(HealthCheck))


@given(call=strategies.calls)
@thorough
def test_any_result_stays_within_any_permitted_limits(call):
    """The other limits are checked by ``normalize`` itself."""
    made = normalize(
        call.result,
        call.name,
        limits=call.limits,
        status=call.status,
        error_type=call.error_type,
        args=call.args,
    )
    assert len(made["model_content"].encode()) <= call.limits.model_max_bytes


@pytest.mark.parametrize("seed", range(150))
def test_large_results_stay_within_limits(seed):
    """Hypothesis draws small values; these are large ones, from a seed, at the smallest limits too."""
    source = random.Random(seed)
    call = strategies.large_call(source)
    for limits in (DEFAULTS, SMALLEST):
        made = normalize(call.result, call.name, limits=limits, status=call.status, args=call.args)
        assert len(made["model_content"].encode()) <= limits.model_max_bytes


def shuffled(value, source):
    """Return ``value`` with the keys of every object in another order."""
    if isinstance(value, dict):
        members = list(value.items())
        source.shuffle(members)
        return {key: shuffled(child, source) for key, child in members}
    return [shuffled(child, source) for child in value] if isinstance(value, list) else value


@given(call=strategies.calls, seed=st.integers())
@thorough
def test_the_order_of_keys_makes_no_difference(call, seed):
    other = shuffled(call.result, random.Random(seed))
    first, second = (normalize(result, call.name, limits=SMALLEST) for result in (call.result, other))
    assert first["model_content"] == second["model_content"]
    assert first["terminal_content"] == second["terminal_content"]


@pytest.mark.parametrize("seed", range(100))
def test_a_content_given_back_is_not_cut_twice(seed):
    """As text, as object, and as the whole answer; its stored output is not overwritten, but named again."""
    call = strategies.large_call(random.Random(seed))
    first = normalize(call.result, call.name, outputs=MemoryOutputs(), **IDS)
    for given_back in (first["model_content"], json.loads(first["model_content"]), first):
        outputs = MemoryOutputs()
        again = normalize(given_back, call.name, outputs=outputs, payload_texts=True, **IDS)
        assert again["model_content"] == first["model_content"]
        if "format" in json.loads(first["model_content"]).get("meta", {}):
            assert outputs.kept == {}


def test_limits_below_the_smallest_are_refused():
    with pytest.raises(ValueError, match="terminal_max_bytes must be at least 1024"):
        DEFAULTS.replace({"terminal_max_bytes": 1_023})
