"""Where CI runs, hypothesis draws the same examples each time: a red run is then the change's own fault.

Everywhere else it draws new ones; ``bin/test --parity`` and ``bin/test --fuzz`` go on for longer. No example has a
deadline: a loaded machine is slow, and that is nobody's fault.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("bridge", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("bridge")
