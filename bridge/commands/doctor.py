"""``rind-bridge doctor``: is everything in place? Each check runs the real thing and says what to do where it fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from rich.text import Text

from bridge.commands import doctor_home, doctor_program, doctor_ruby, drawing
from bridge.commands.doctor_finding import DO, NOTE, OK, Finding
from bridge.commands.safe_text import json_text, shown_line

_STYLES = {OK: "green", NOTE: "yellow", DO: "bold red"}


def run(*, as_json: bool) -> int:
    """Look at everything; return 1 when anything needs doing."""
    findings = list(examine(os.environ))
    if as_json:
        sys.stdout.write(json_text([finding.to_json() for finding in findings]) + "\n")
    else:
        drawing.show(drawing.console(), draw(findings))
    return 1 if any(finding.level == DO for finding in findings) else 0


def examine(environment: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what was found for a worker that is started with ``environment``."""
    yield doctor_program.versions()
    settings = doctor_program.settings(environment)
    yield from settings.findings
    if settings.value is None:
        return
    yield from doctor_home.examine(settings.value)
    yield from doctor_program.worker(environment)
    yield from doctor_ruby.examine(environment)


def draw(findings: list[Finding]) -> Iterator[Text]:
    """Yield a line for each finding and one for what to do."""
    for finding in findings:
        text = f"{finding.name}: {shown_line(finding.text)}"
        yield Text.assemble((f"{finding.level:<6}  ", _STYLES[finding.level]), text)
        if finding.advice:
            yield Text(f"        {shown_line(finding.advice)}")
