"""Real logs of commands that failed, each with its cause in the middle: the model reads it, by its number.

``fixtures/logs/make.py`` ran the commands and made the logs.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from reading import check_excerpt, contents

import bridge
from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.settings import Settings
from bridge.store.outputs import Outputs

LOGS = Path(__file__).parents[1] / "fixtures" / "logs"
# What a person would look for in each log first.
DECIDING = json.loads((LOGS / "deciding.json").read_text())


def read_log(name):
    return gzip.decompress((LOGS / f"{name}.log.gz").read_bytes()).decode()


def finish(log, home, share=0.45):
    settings = replace(Settings(home=home), error_lines_share=share)
    result = {"result": log, "exit_status": 1, "cwd": "/project"}
    made = Normalizer(settings, Outputs(home, settings.limits)).normalize(
        ToolCall(result=result, name="run_command", session_id="s", call_id="c")
    )
    return made, *contents(made)


def test_every_log_has_its_deciding_line():
    assert {path.name.partition(".")[0] for path in LOGS.glob("*.gz")} == set(DECIDING)


@pytest.mark.parametrize("name", DECIDING)
def test_the_line_that_decides_is_in_the_model_s_text_with_its_number(name, tmp_path):
    log = read_log(name)
    _, model, _ = finish(log, tmp_path)
    parts = check_excerpt(model["data"]["result"], log, model["meta"])
    found = [number for number, line in parts.lines.items() if re.search(DECIDING[name], line)]
    assert found, f"not among {parts.blocks}"
    assert not re.search(DECIDING[name], parts.head), "the log does not have its cause in the middle"
    assert re.search(DECIDING[name], log.split("\n")[found[0] - 1]) or "\x1b" in log
    assert (model["data"]["exit_status"], model["data"]["cwd"]) == (1, "/project")


@pytest.mark.parametrize("name", DECIDING)
def test_without_a_share_for_such_lines_the_model_would_not_see_it(name, tmp_path):
    """So that the test above cannot pass because of what head and tail show anyway."""
    _, model, _ = finish(read_log(name), tmp_path, share=0.0)
    assert not re.search(DECIDING[name], model["data"]["result"])


@pytest.mark.parametrize("name", DECIDING)
def test_the_lines_that_decide_take_no_more_than_their_share(name, tmp_path):
    log = read_log(name)
    _, model, _ = finish(log, tmp_path)
    parts = check_excerpt(model["data"]["result"], log, model["meta"])
    assert 0 < sum(map(len, parts.blocks)) <= 25_600 * 0.65


@pytest.mark.parametrize("name", DECIDING)
def test_the_log_on_disk_is_every_byte_of_it(name, tmp_path):
    log = read_log(name)
    made, model, _ = finish(log, tmp_path)
    assert Path(made["output"]["path"]).read_bytes() == log.encode()
    assert model["meta"]["output"]["lines"] == log.count("\n")


@pytest.mark.parametrize(("budget", "least"), [(25_600, 6), (8_192, 6), (4_096, 4)])
def test_of_the_logs_at_least_so_many_keep_the_line_that_decides(budget, least):
    """The figure may not fall: a rule that loses one of them must win more elsewhere, and be argued for."""
    kept = [
        name
        for name, line in DECIDING.items()
        if re.search(line, json.loads(model_content(read_log(name), budget))["data"])
    ]
    assert len(kept) >= least, f"only {kept}"


def model_content(log, budget):
    return bridge.normalize(log, name="run_command", limits=bridge.Limits(model_max_bytes=budget))["model_content"]
