"""Makes the pictures of docs/ with the program itself: run it after a command draws something else.

    python docs/generate/pictures.py [FOLDER]

The session is made anew each time, with a clock and paths of its own, so that the same program makes the same bytes.
"""

from __future__ import annotations

import io
import itertools
import os
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from bridge.commands import drawing, history, inspect, replay, report
from bridge.limits import Limits
from bridge.projections.normalizer import Normalizer
from bridge.protocol.models import ToolCall
from bridge.settings import Settings
from bridge.store.ledger import Ledger
from bridge.store.outputs import Outputs

DOCS = Path(__file__).parents[1]
SHOWN_HOME = "/home/ada/.local/share/rind-bridge"
SESSION = "fix-login"
FIRST_SECOND = 1_796_000_000
LIMITS = Limits(model_max_bytes=2_048, terminal_max_bytes=1_024)

BUILD = (
    "".join(f"cc -O2 -Wall -c src/module_{number}.c -o module_{number}.o\n" for number in range(10, 40))
    + "src/login.c:41:9: error: 'widht' undeclared (first use in this function)\n"
    + "   41 |     if (widht > 80)\n      |         ^~~~~\n"
    + "".join(f"cc -O2 -Wall -c src/module_{number}.c -o module_{number}.o\n" for number in range(40, 66))
    + "make: *** [login.o] Error 1\n"
)
DIFF = "--- a/src/login.c\n+++ b/src/login.c\n@@ -41,1 +41,1 @@\n-    if (widht > 80)\n+    if (width > 80)\n"
CALLS = [
    ("c1", "read_file", {"path": "src/login.c"}, {"content": "int main(void)\n" * 90, "path": "src/login.c"}),
    ("c2", "run_command", {"command": "make"}, {"result": BUILD, "exit_status": 2, "cwd": "/src"}),
    ("c3", "patch_file", {"path": "src/login.c"}, {"ok": True, "path": "src/login.c", "diff": DIFF}),
    ("c4", "run_command", {"command": "make test"}, {"result": "\x1b[32m12 passed\x1b[0m\n", "exit_status": 0}),
    ("c5", "grep", {"pattern": "width"}, {"error": "src/logn.c: no such file"}),
    (
        "c6",
        "fetch",
        {"url": "https://example.org"},
        {"ok": True, "tool": "fetch", "data": "a page " * 9, "meta": {"truncated": True}},
    ),
]

# rich's own format without the fonts that it would load from elsewhere.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></svg>
"""


class ShownOutputs(Outputs):
    """Outputs that say of their files that they lie in the home of a person who is easily told from a real one."""

    def store(self, *args, **kwargs):
        reference = super().store(*args, **kwargs)
        return {**reference, "path": reference["path"].replace(str(self.home), SHOWN_HOME)}


def main(folder: Path) -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        write_session(home)
        summary = report.summarize(home, SESSION) | {"home": SHOWN_HOME}
        rows = history.replayed(home, SESSION)
    call = {"name": "run_command", "status": "completed", "args": {"command": "make"}}
    shown = inspect.examine(CALLS[1][3], Settings(home=Path(SHOWN_HOME), limits=LIMITS), **call)
    pictures = {
        "inspect": ("make | rind-bridge inspect --before", 140, inspect.draw(shown, 140, before=True)),
        "replay": (f"rind-bridge replay {SESSION}", 100, replay.draw(rows[2:5])),
        "report": (f"rind-bridge report {SESSION}", 110, report.draw(summary)),
    }
    for name, (title, width, drawn) in pictures.items():
        (folder / f"{name}.svg").write_text(picture(name, title, width, drawn), encoding="utf-8")


def write_session(home: Path) -> None:
    seconds = itertools.count(FIRST_SECOND, 7)
    outputs, ledger = ShownOutputs(home, LIMITS, lambda: next(seconds)), Ledger(home, clock=lambda: next(seconds))
    normalizer = Normalizer(Settings(home=home, limits=LIMITS), outputs, ledger)
    for call_id, name, args, result in CALLS:
        normalizer.normalize(ToolCall(result=result, name=name, args=args, session_id=SESSION, call_id=call_id))
    ledger.close()
    outputs.close()


def picture(name: str, title: str, width: int, drawn) -> str:
    console = Console(
        record=True,
        width=width,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )
    drawing.draw_on(console, drawn)
    return console.export_svg(title=f"$ {title}", code_format=SVG, unique_id=name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS)
