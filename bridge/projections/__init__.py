"""The projections of a unified payload: what the model reads, what the person reads, and where the rest is.

Offers ``normalizer.Normalizer``. One module for each kind of result; this list is the only place that names them.
Imports ``payload``, ``excerpt``, ``protocol`` and ``settings``; opens no file.
"""

from __future__ import annotations

from bridge.projections.kind import Kind
from bridge.projections.mutation import Mutation
from bridge.projections.read_file import ReadFile
from bridge.projections.structured import Structured
from bridge.projections.task import Task
from bridge.projections.text import Text
from bridge.settings import Settings


def kinds(settings: Settings) -> tuple[Kind, ...]:
    """Return the kinds in the order in which they are asked: the first that matches a payload takes it."""
    return (ReadFile(), Mutation(settings.mutation_tools), Task(), Text(), Structured())
