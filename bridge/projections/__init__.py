"""One module for each kind of result, all with the same skeleton.

``KIND``              the word for it in ``model_content_policy.kind``
``matches(payload)``  whether a payload is of this kind
``project(case)``     the content of one case
"""

from __future__ import annotations

from types import ModuleType

from bridge.payload.unified import Payload
from bridge.projections import mutation, read_file, structured, task, text

# The first that matches; ``structured`` takes what is left.
KINDS: tuple[ModuleType, ...] = (read_file, mutation, task, text, structured)


def kind_of(payload: Payload, name: str) -> ModuleType:
    """Return the module of the kind that the ``payload`` of the tool ``name`` is of.

    Only the tool that reads files gives pages of files: any other can print what looks like one.
    """
    kinds = KINDS if name == read_file.TOOL else KINDS[1:]
    return next(kind for kind in kinds if kind.matches(payload))
