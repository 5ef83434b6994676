"""What the variables of the environment may say, and what is said of those that may not."""

from pathlib import Path

import platformdirs.unix
import pytest

from bridge.limits import LARGEST, Limits
from bridge.settings import Settings, SettingsError, default_home, unknown_variables


def read(**variables):
    return Settings.from_environment({"XDG_DATA_HOME": "/data", **variables})


def test_without_variables_the_settings_are_the_defaults():
    assert read() == Settings(home=Path("/data/rind-bridge"))


def test_every_variable_is_read():
    settings = read(
        RIND_BRIDGE_HOME="/somewhere",
        RIND_BRIDGE_STRUCTURAL_TOOLS="read_file, file_overview,",
        RIND_BRIDGE_MUTATION_TOOLS="",
        RIND_BRIDGE_READ_TOOL="",
        RIND_BRIDGE_PAYLOAD_TEXTS="on",
        RIND_BRIDGE_ERROR_LINES_SHARE="0.5",
        RIND_BRIDGE_MODEL_MAX_LINES="30",
    )
    assert settings == Settings(
        home=Path("/somewhere"),
        limits=Limits(model_max_lines=30),
        structural_tools=("read_file", "file_overview"),
        mutation_tools=(),
        read_tool="",
        payload_texts=True,
        error_lines_share=0.5,
    )


@pytest.mark.parametrize(
    ("text", "truth"), [("1", True), ("TRUE", True), (" yes ", True), ("0", False), ("off", False), ("", False)]
)
def test_a_truth_is_written_in_the_usual_words(text, truth):
    assert read(RIND_BRIDGE_PAYLOAD_TEXTS=text).payload_texts is truth


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RIND_BRIDGE_PAYLOAD_TEXTS", "maybe"),
        ("RIND_BRIDGE_ERROR_LINES_SHARE", "much"),
        ("RIND_BRIDGE_ERROR_LINES_SHARE", "nan"),
        ("RIND_BRIDGE_ERROR_LINES_SHARE", "1.1"),
        ("RIND_BRIDGE_MODEL_MAX_BYTES", "1"),
        ("RIND_BRIDGE_MODEL_MAX_BYTES", "1e9"),
        ("RIND_BRIDGE_MODEL_MAX_BYTES", "9" * 5_000),
        ("RIND_BRIDGE_OUTPUT_MAX_AGE_DAYS", "9" * 400),
        ("RIND_BRIDGE_OUTPUT_MAX_AGE_DAYS", str(LARGEST + 1)),
        ("RIND_BRIDGE_HOME", "~nosuch/x"),
        ("RIND_BRIDGE_HOME", "a\0b"),
    ],
)
def test_a_value_that_cannot_be_used_names_its_variable_in_one_short_sentence(variable, value):
    with pytest.raises(ValueError, match=variable) as caught:
        read(**{variable: value})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_the_home_is_given_by_the_variable_else_by_the_platform(monkeypatch):
    assert default_home({"RIND_BRIDGE_HOME": "~/x", "XDG_DATA_HOME": "/data"}) == Path("~/x").expanduser()
    assert default_home({"RIND_BRIDGE_HOME": "", "XDG_DATA_HOME": "/data"}) == Path("/data/rind-bridge")
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda name, **_: f"/Users/a/Library/Application Support/{name}")
    assert default_home({}) == Path("/Users/a/Library/Application Support/rind-bridge")


def test_the_home_on_linux_is_where_0_1_0_had_it(monkeypatch):
    linux = platformdirs.unix.Unix("rind-bridge")
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: linux.user_data_dir)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert default_home({}) == Path("~/.local/share/rind-bridge").expanduser()


def test_a_user_without_a_home_directory_is_told_what_to_set(monkeypatch):
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: "~/.local/share/rind-bridge")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(SettingsError, match="set RIND_BRIDGE_HOME to a path"):
        default_home({})


def test_variables_that_are_none_of_ours_are_listed():
    names = ["PATH", "RIND_BRIDGE_HOME", "RIND_BRIDGE_MODEL_MAX_BYTE", "RIND_BRIDGE_", "RIND_BRIDGE_COMMAND"]
    assert unknown_variables(names) == ["RIND_BRIDGE_", "RIND_BRIDGE_MODEL_MAX_BYTE"]
