"""``ui_preview``: what the person's panel shows of one tool result.

The rules are ÆtherCodex's, and Ruby's where the two languages differ: an empty text, 0, [] and {} are true.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from bridge.echo import ruby
from bridge.limits import Limits
from bridge.protocol.surrogates import well_formed
from bridge.settings import DEFAULT_STRUCTURAL_TOOLS

DEFAULT_LIMIT = Limits().preview_max_chars


def ui_preview(  # noqa: PLR0913 - a result, its limit and name, and how it is printed
    result: Any,
    limit: int = DEFAULT_LIMIT,
    name: str | None = None,
    *,
    structural_tools: Collection[str] = DEFAULT_STRUCTURAL_TOOLS,
    ruby_3_4: bool = False,
    json_2_15: bool = False,
) -> Any:
    """Return the object itself where a structural tool made it, else an echo of at most ``limit`` code points.

    ``result`` is any JSON value; ``ruby_3_4`` chooses how an object inside an echo is inspected,
    ``json_2_15`` how floats are printed in JSON.
    A limit below 3 still gives the three points of "...". Raises ``TypeError`` for what is not a JSON value.
    """
    if is_structural(result, name, structural_tools):
        return result
    return echo(result, limit, ruby_3_4=ruby_3_4, json_2_15=json_2_15)


def is_structural(result: Any, name: str | None, structural_tools: Collection[str] = DEFAULT_STRUCTURAL_TOOLS) -> bool:
    """Return whether ``result`` passes through: an object, from a tool whose name is in the setting."""
    return isinstance(result, dict) and name in structural_tools


def echo(result: Any, limit: int, *, ruby_3_4: bool = False, json_2_15: bool = False) -> str:
    """Return the echo of any result; it can always be encoded, so a lone surrogate becomes U+FFFD."""
    text = ruby.truncate(_text(result, limit, ruby_3_4=ruby_3_4, json_2_15=json_2_15), limit)
    return well_formed(text)[0]


def _text(result: Any, limit: int, *, ruby_3_4: bool, json_2_15: bool) -> str:
    if not isinstance(result, dict):
        return ruby.to_s(result, limit, ruby_3_4=ruby_3_4)
    content = result.get("content")
    if content is None or content is False:
        return ruby.to_json(result, limit, json_2_15=json_2_15)
    return ruby.to_s(content, limit, ruby_3_4=ruby_3_4)
