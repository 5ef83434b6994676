"""The short way of a small clean text gives what the long way gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import bridge.projections.normalizer
from bridge.limits import Limits
from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.settings import Settings

LIMITS = Limits(terminal_max_bytes=1_024, model_max_bytes=2_048, model_max_lines=20)
NORMALIZER = Normalizer(Settings(home=Path("unused"), limits=LIMITS))

TEXTS = st.text(alphabet=st.one_of(st.sampled_from('ab \n\r\t"\\{}é界\x1b\x00\ud800'), st.characters()), max_size=400)


def by_the_long_way(text, name):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bridge.projections.normalizer, "small_projection", lambda *_: None)
        return NORMALIZER.normalize(ToolCall(result=text, name=name))


@given(TEXTS, st.sampled_from(["bash", "read_file", "patch_file", "a\nb", "é", "", "\ud800"]))
@example("", "bash")
@example("x" * 990, "bash")
@example("\n" * 19, "bash")
@example("\n" * 20, "bash")
@example('{"ok": true, "tool": "bash", "data": "inner"}', "bash")
@example("see data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==", "bash")
@example("progress 1%\rprogress 2%\n", "bash")
def test_both_ways_give_the_same(text, name):
    assert NORMALIZER.normalize(ToolCall(result=text, name=name)) == by_the_long_way(text, name)


def test_the_short_way_is_taken(monkeypatch):
    def refuse(*_arguments, **_members):
        raise AssertionError("the long way was taken")

    monkeypatch.setattr(bridge.projections.normalizer, "read", refuse)
    assert NORMALIZER.normalize(ToolCall(result="hello\n", name="bash"))["model_content_policy"]["total_lines"] == 1
