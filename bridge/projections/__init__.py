"""One module for each kind of result, all with the same skeleton.

``KIND``              the word for it in ``model_content_policy.kind``
``matches(payload)``  whether a payload is of this kind
``project(case)``     the content of one case
"""

from __future__ import annotations

from types import ModuleType

from bridge.payload import Payload
from bridge.projections import mutation, read_file, structured, task, text

# The first that matches; ``structured`` takes what is left.
KINDS: tuple[ModuleType, ...] = (read_file, mutation, task, text, structured)


def kind_of(payload: Payload) -> ModuleType:
    """Give the module of the kind that ``payload`` is of."""
    return next(kind for kind in KINDS if kind.matches(payload))
