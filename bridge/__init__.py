"""Bounds each tool result for the model, keeps the rest on disk, and shows a preview in the panel."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bridge.limits import Limits

if TYPE_CHECKING:
    from bridge.projections.complete_output import OutputStore
    from bridge.protocol.results import Projection

__all__ = ["Limits", "__version__", "normalize", "ui_preview"]
__version__ = "0.2.0"


def ui_preview(result: Any, limit: int = 4_000, name: str | None = None) -> Any:
    """Return what the panel shows: the object of a ``read_file``, else an echo of ``limit`` code points.

    Raises ``TypeError`` for what is not a JSON value. ``bridge.echo.preview`` has the rules and more settings.
    """
    from bridge.echo.preview import ui_preview as preview  # noqa: PLC0415 - keeps `import bridge` cheap

    return preview(result, limit, name)


def normalize(  # noqa: PLR0913 - the members of one finished call
    result: Any,
    *,
    name: str,
    status: str = "completed",
    error_type: str | None = None,
    args: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    outputs: "OutputStore | None" = None,
    session_id: str | None = None,
    call_id: str | None = None,
    payload_texts: bool = False,
) -> "Projection":
    """Return the projections of one finished tool call; what they leave out is kept in ``outputs`` if given.

    ``payload_texts`` says that a text which parses to a payload of the tool ``name`` is that payload.
    Raises ``InvalidParams`` for ids that are not names and for an unknown status; ``bridge.projections.normalizer`` has
    more settings and replay.
    """
    from bridge.projections.normalizer import normalize as made_of  # noqa: PLC0415 - keeps `import bridge` cheap

    call = {
        "result": result,
        "name": name,
        "status": status,
        "error_type": error_type,
        "session_id": session_id,
        "call_id": call_id,
        "args": None if args is None else dict(args),
    }
    return made_of(call, limits or Limits(), outputs, payload_texts=payload_texts)
