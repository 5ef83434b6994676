"""What the tests of the commands share: the program, and texts that must not reach a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-P", "-m", "bridge")

# A cleared screen, a title, a clipboard write, an eight-bit introducer and a reversed reading direction.
HOSTILE = "\x1b[2J\x1b]0;title\x07\x1b]52;c;cHduZWQ=\x07\x9b5m\u202etxt.exe\u2066 end\n"
SENT = ("\x1b[2J", "\x1b]", "\x07", "\x9b", "\u202e", "\u2066")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
