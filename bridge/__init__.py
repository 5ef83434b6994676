"""One tool result, several honest projections: an echo, a terminal text, a model text, the whole on disk."""

from typing import Any

__version__ = "0.1.0"


def ui_preview(result: Any, limit: int = 4_000, name: str | None = None) -> Any:
    """Give what the panel shows: the object of a ``read_file``, else an echo of ``limit`` code points.

    Raises ``TypeError`` for what is not a JSON value. ``bridge.preview`` has the rules and more settings.
    """
    from bridge.preview import ui_preview as preview  # noqa: PLC0415 - keeps `import bridge` cheap

    return preview(result, limit, name)
