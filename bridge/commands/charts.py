"""Charts as SVG that stands inside a page: bars, with a text for every one of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape

from bridge.commands.safe_text import shown_line

_WIDTH = 720
_ROW = 26
_LABEL = 200
_HEIGHT = 140
_MOST_COLUMNS = 48


def rows(title: str, values: Sequence[tuple[str, int]], unit: str) -> str:
    """Return a chart with one horizontal bar for each name and value."""
    most = max((value for _, value in values), default=0) or 1
    reach = _WIDTH - _LABEL - 150
    drawn = [
        f'<text x="{_LABEL - 8}" y="{y + 17}" text-anchor="end">{_text(_short(name))}</text>'
        f'<rect class="bar" x="{_LABEL}" y="{y + 4}" width="{max(reach * value / most, 1):.1f}" height="18" rx="3">'
        f"<title>{_text(name)}: {value:,} {unit}</title></rect>"
        f'<text x="{_LABEL + reach * value / most + 8:.1f}" y="{y + 17}">{value:,} {unit}</text>'
        for y, (name, value) in zip(range(0, _ROW * len(values), _ROW), values, strict=True)
    ]
    return _svg(title, _ROW * len(values), drawn)


def columns(title: str, times: Sequence[float], unit: str) -> str:
    """Return a chart of how many ``times`` (seconds since 1970) fall into each of equal spans."""
    first, last = min(times), max(times)
    number = min(_MOST_COLUMNS, max(len(times), 1))
    span = (last - first) / number or 1.0
    counts = [0] * number
    for then in times:
        counts[min(int((then - first) / span), number - 1)] += 1
    most, width = max(counts), _WIDTH / number
    drawn = [
        f'<rect class="bar" x="{place * width + 1:.1f}" y="{_HEIGHT * (1 - count / most):.1f}"'
        f' width="{width - 2:.1f}" height="{_HEIGHT * count / most:.1f}" rx="2">'
        f"<title>{_moment(first + place * span)}: {count:,} {unit}</title></rect>"
        for place, count in enumerate(counts)
    ]
    ends = f'<text x="0" y="{_HEIGHT + 18}">{_moment(first)}</text>'
    ends += f'<text x="{_WIDTH}" y="{_HEIGHT + 18}" text-anchor="end">{_moment(last)}</text>'
    return _svg(title, _HEIGHT + 24, [*drawn, ends])


def _svg(title: str, height: int, drawn: Sequence[str]) -> str:
    box = f'viewBox="0 0 {_WIDTH} {height}"'
    return f'<svg role="img" aria-label="{_text(title)}" {box}>{"".join(drawn)}</svg>'


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"


def _text(text: str) -> str:
    return escape(shown_line(text))
