"""The pictures of docs/ are what the program draws today."""

from __future__ import annotations

import subprocess
import sys

import pytest
from commanding import ROOT

NAMES = ("inspect", "replay", "report")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make the pictures anew, by the command that a person runs."""
    folder = tmp_path_factory.mktemp("pictures")
    program = ROOT / "docs" / "generate" / "pictures.py"
    subprocess.run([sys.executable, "-P", program, folder], check=True, cwd=ROOT)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_what_the_command_draws(made, name):
    kept = (ROOT / "docs" / f"{name}.svg").read_text()
    assert (made / f"{name}.svg").read_text() == kept, "run: python docs/generate/pictures.py"


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_names_no_folder_of_the_machine_and_loads_nothing(made, name):
    picture = (made / f"{name}.svg").read_text()
    assert not [
        word for word in (str(made), str(ROOT), "/tmp/", "/root", "@import", "href", "url(h") if word in picture
    ]
