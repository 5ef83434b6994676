"""Safe names: no two ids share one, none leads elsewhere, and those of 0.1.0 are what they were."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.limits import Limits
from bridge.protocol.names import is_identifier
from bridge.store import names
from bridge.store.outputs import Outputs

IDS = st.text(st.sampled_from("aA0._-=~:|3D é👍"), min_size=1, max_size=6) | st.text(min_size=1, max_size=512)
IDS = IDS.filter(is_identifier)


@pytest.mark.parametrize("plain", ["a", "x" * 128, "a.txt", "a.", "a..b", "CON", "1", "bell.-_1"])
def test_an_id_of_the_first_version_is_its_own_name(plain):
    assert names.safe(plain) == plain


@given(first=IDS, second=IDS)
def test_no_two_ids_share_a_name_and_every_name_is_one_component(first, second):
    name = names.safe(first)
    assert (name == names.safe(second)) == (first == second)
    assert re.fullmatch(r"[A-Za-z0-9=][A-Za-z0-9._=-]{0,127}", name)
    assert names.is_safe(name)
    assert names.unsafe(name) == (name if "==" in name else first)


@given(call=IDS, part=st.text(max_size=300))
def test_a_part_has_a_name_of_its_own_that_the_file_system_takes(call, part):
    whole, of_part = names.output("s", call), names.output("s", call, part)
    assert (whole == of_part) == (part == "")
    assert len(of_part[-1]) <= 255
    assert names.call_id_of(of_part) == names.call_id_of(whole)


@pytest.mark.parametrize("call_id", ["functions.bash:0", "call_1|fc_2", "_x", "é" * 512, "~", "a~stderr", " "])
def test_ids_as_providers_make_them_are_kept_and_read(tmp_path, call_id):
    outputs = Outputs(tmp_path / "home", Limits())
    assert "path" in outputs.store(call_id, call_id, b"stdout")
    assert "path" in outputs.store(call_id, call_id, b"stderr", part="stderr")
    assert outputs.read(call_id, call_id)["content"] == "stdout"
    page = outputs.read(call_id, call_id, part="stderr")
    assert (page["content"], page["call_id"]) == ("stderr", call_id)
    assert outputs.read(call_id, call_id, 1, 1, 2_000, "stderr") == page


def test_ids_that_leave_no_space_in_the_smallest_page_are_left_out_of_it(tmp_path):
    outputs = Outputs(tmp_path / "home", Limits(model_max_bytes=2_048))
    outputs.store("é" * 512, "é" * 512, b"x" * 9_000)
    page = outputs.read("é" * 512, "é" * 512)
    assert len(page["content"]) > 1_000
    assert page["call_id"] is None
