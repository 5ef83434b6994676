"""Every block of code in README.md and docs/ruby.md runs as it stands; links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#([^)]*))?\)")
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]

# What an oracle has of its own where the blocks of docs begin.
ORACLE = """
require 'logger'
require 'rind_bridge'
logger = Logger.new($stdout)
result = { result: 'x' * 100_000, exit_status: 0, cwd: Dir.pwd }
args = { command: 'true' }
class Artificer
  def self.ui_preview(result, limit = 4000, name: nil) = raise('the original was called')
end
"""


def blocks(document, language):
    text = (ROOT / document).read_text(encoding="utf-8")
    return [code for found, code in BLOCK.findall(text) if found == language]


def environment(home):
    return {
        **os.environ,
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RIND_BRIDGE_HOME": str(home / "bridge"),
        "RUBYLIB": str(ROOT / "ruby_client" / "lib"),
    }


def run(command, home, **options):
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=environment(home), **options
    )


def ruby(code, home, *, before=""):
    finished = run(["ruby", "-w", "-e", f"{before}\n{code}"], home, cwd=home)
    # A value that a reader is shown, such as done.preview, is used by nobody.
    warnings = [line for line in finished.stderr.splitlines() if "in void context" not in line]
    assert finished.returncode == 0, finished.stderr
    assert warnings == []
    return finished.stdout


needs_ruby = pytest.mark.skipif(shutil.which("ruby") is None, reason="no ruby on the PATH")


@needs_ruby
def test_the_ruby_of_the_readme_runs_as_it_stands(tmp_path):
    [code] = blocks("README.md", "ruby")
    asks = "exit 3 if RindBridge.status[:fallbacks].positive?; "
    assert "RindBridge.stop" in code
    ruby(code.replace("RindBridge.stop", asks + "RindBridge.stop"), tmp_path)


@needs_ruby
def test_the_ruby_of_its_document_runs_as_it_stands_one_block_after_the_other(tmp_path):
    first, *others = (
        code.replace("/srv/oracle/bridge", str(tmp_path / "kept")) for code in blocks("docs/ruby.md", "ruby")
    )
    assert others
    stop = "RindBridge.stop"
    assert stop in first
    ruby("\n".join([first.replace(stop, f"{stop} if false"), *others, stop]), tmp_path, before=ORACLE)
    assert list((tmp_path / "kept" / "outputs").rglob("*.txt")), "the call was stored where home: says"


def test_the_python_of_the_readme_gives_what_its_comments_say(tmp_path):
    [code] = blocks("README.md", "python")
    said = re.findall(r"^(bridge\..*?)  # '(.*)'$", code, re.MULTILINE)
    assert len(said) == 2
    shown = "".join(f"print({expression})\n" for expression, _ in said)
    finished = run([sys.executable, "-W", "error", "-c", code + shown], tmp_path, cwd=tmp_path)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout.splitlines() == [value for _, value in said]


def commands_of(document):
    lines = [line for code in blocks(document, "console") for line in code.splitlines()]
    assert all(line.startswith("$ ") for line in lines)
    return [line.removeprefix("$ ") for line in lines]


def test_the_commands_of_the_readme_run_as_they_stand(tmp_path):
    (tmp_path / "result.json").write_text('{"ok": true}')
    kept = (
        "import sys; from pathlib import Path; from bridge.limits import Limits\n"
        "from bridge.store.outputs import Outputs\n"
        "Outputs(Path(sys.argv[1]), Limits()).store('SESSION', 'CALL', b'kept\\n')"
    )
    home = environment(tmp_path)["RIND_BRIDGE_HOME"]
    assert run([sys.executable, "-c", kept, home], tmp_path).returncode == 0
    asked = [command for command in commands_of("README.md") if command.startswith("rind-bridge ")]
    assert len(asked) >= 5
    for command in asked:
        finished = run(["bash", "-c", command], tmp_path, cwd=tmp_path)
        assert finished.returncode == 0, (command, finished.stdout, finished.stderr)
        assert finished.stdout, command


def test_the_variables_that_the_readme_exports_make_the_command_and_the_gem_found(tmp_path):
    exports = [command for command in commands_of("README.md") if command.startswith("export ")]
    assert len(exports) == 2
    bare = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    found = "import sys; print(sys.argv[1])"
    for export in exports:
        name = export.split()[1].partition("=")[0]
        script = f'{export}\n"{sys.executable}" -c "{found}" "${name}"'
        finished = subprocess.run(
            ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, env=bare, timeout=60
        )
        folder = finished.stdout.split(os.pathsep)[0].strip()
        assert folder.startswith(str(ROOT)), finished.stderr


@pytest.mark.parametrize("command", ["bin/setup", "bin/demo", "bin/test", "bin/bench", "bin/release"])
def test_each_program_of_bin_is_sound_bash_and_may_be_run(command):
    assert os.access(ROOT / command, os.X_OK)
    assert subprocess.run(["bash", "-n", command], cwd=ROOT, check=False, timeout=60).returncode == 0


def test_a_python_that_does_not_exist_is_named_by_setup(tmp_path):
    finished = subprocess.run(
        ["bash", "bin/setup", str(tmp_path / "venv")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHON": "python9"},
        timeout=60,
    )
    assert finished.returncode == 1
    assert "PYTHON is python9, and there is no such command" in finished.stderr
    assert not (tmp_path / "venv").exists()


def heading_anchors(document):
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_link_leads_to_a_file_and_to_a_heading_in_it(document):
    for target, anchor in LINK.findall(document.read_text(encoding="utf-8")):
        file = document.parent / target
        assert file.exists(), target
        assert not anchor or anchor in heading_anchors(file), f"{target}#{anchor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_documents_use_the_words_of_the_field(document):
    text = document.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:houses?|rooms?|doors?|gives? way)\b", text, re.IGNORECASE) == []


def test_worker_and_client_are_of_one_version():
    python = re.search(r'__version__ = "(.+)"', (ROOT / "bridge" / "__init__.py").read_text())
    gem = re.search(r"VERSION = '(.+)'", (ROOT / "ruby_client/lib/rind_bridge/version.rb").read_text())
    assert python[1] == gem[1]
    changes = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes[0] == python[1]
