"""docs/projections.md is what its command prints, and names every word that contents and policies hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import projections_tables as tables
import pytest

from bridge.payload.unified import FORMAT
from bridge.projections import kinds
from bridge.protocol import reasons
from bridge.settings import Settings

PAGE = tables.DOCUMENT.read_text(encoding="utf-8")
MADE = [(result, tables.project(result, name)) for _, _, name, result in tables.EXAMPLES]


@pytest.mark.parametrize("name", tables.TABLES)
def test_a_table_is_what_its_command_prints(name):
    assert tables.section(name) in PAGE, "run docs/generate/projections_tables.py and look at what changed"


def test_the_command_runs_from_anywhere_and_changes_nothing_when_nothing_changed(tmp_path):
    subprocess.run([sys.executable, tables.__file__], cwd=tmp_path, check=True)
    assert tables.DOCUMENT.read_text(encoding="utf-8") == PAGE


@pytest.mark.parametrize("kind", kinds(Settings(home=Path())), ids=lambda kind: kind.name)
def test_every_kind_has_an_example(kind):
    assert type(kind) in {example[0] for example in tables.EXAMPLES}


@pytest.mark.parametrize(("result", "made"), MADE, ids=[name for _, _, name, _ in tables.EXAMPLES])
def test_every_member_of_meta_and_policy_is_explained(result, made):
    policy = made["model_content_policy"]
    meta = json.loads(made["model_content"]).get("meta", {})
    own = result.get("meta", {}) if isinstance(result, dict) else {}
    words = {*meta, *policy, *meta.get("shown", {}), *meta.get("shortened", {}), *meta.get("output", {})}
    words |= {word for loss in policy["losses"] for word in loss}
    words -= {*own, *result} if isinstance(result, dict) else own.keys()
    words -= {"path", "offset"}  # of the error LineTooLong, whose text has them
    missing = [word for word in words if f"`{word}`" not in PAGE]
    assert not missing


@pytest.mark.parametrize(
    "word",
    [
        reasons.NO_IDS,
        reasons.NO_STORE,
        reasons.NOT_NEEDED,
        reasons.FILE_ON_DISK,
        reasons.CUT_BEFORE_IT_CAME_HERE,
        reasons.BESIDE_THE_PAGE,
        reasons.OUT_OF_TIME,
        FORMAT,
    ],
)
def test_every_reason_of_the_normalizer_is_explained(word):
    assert f"`{word}`" in PAGE
