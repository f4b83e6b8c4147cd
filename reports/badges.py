"""Badges of a run, one for each level: SVG files, and JSON for the endpoint badge of shields.io."""

import json
import os
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

from busproof.errors import HistoryError
from busproof.history.conformance import Conformance
from busproof.reports.levels import LevelFound, State, levels_found
from busproof.spec import Catalogue

__all__ = ["draw_badge", "endpoint", "svg", "write_badges"]

_COLOURS: Final = {State.FULL: "2e7d32", State.PARTIAL: "8a5a00", State.NOT_CLAIMED: "616161"}
"""Colours dark enough for white text."""

_WIDE: Final = 7.2
"""Width of a character at 11 px; a generous estimate."""

_SVG: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" aria-label="{text}">
<title>{text}</title>
<rect width="{whole}" height="20" rx="3" fill="#424242"/>
<path d="M{left} 0h{inner}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3H{left}z" fill="#{colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{label_at}" y="14">{label}</text>
<text x="{state_at}" y="14">{state}</text>
</g>
</svg>
"""


def write_badges(
    conformance: Conformance, catalogue: Catalogue, folder: str | os.PathLike[str]
) -> tuple[Path, ...]:
    """Write `LEVEL.svg` and `LEVEL.json` for each level; return the files.

    Raises:
        HistoryError: a file cannot be written.
    """
    written = []
    for result in levels_found(conformance, catalogue):
        for suffix, text in ((".svg", svg(result)), (".json", json.dumps(endpoint(result)) + "\n")):
            file = Path(folder) / f"{result.level.id}{suffix}"
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            except OSError as error:
                raise HistoryError(f"cannot write {file}: {error.strerror or error}") from None
            written.append(file)
    return tuple(written)


def endpoint(result: LevelFound) -> dict[str, Any]:
    """Return the content of an endpoint badge for shields.io."""
    return {
        "schemaVersion": 1,
        "label": _label(result),
        "message": result.state.value,
        "color": _COLOURS[result.state],
    }


def svg(result: LevelFound) -> str:
    """Return the badge as an image without external resources."""
    return draw_badge(_label(result), result.state)


def draw_badge(label: str, state: State) -> str:
    """Return a badge as an image without external resources."""
    left, right = (round(len(text) * _WIDE) + 10 for text in (label, state.value))
    return _SVG.format(
        whole=left + right,
        left=left,
        inner=right - 3,
        colour=_COLOURS[state],
        label=escape(label),
        state=escape(state.value),
        text=escape(f"{label}: {state.value}", {'"': "&quot;"}),
        label_at=left / 2,
        state_at=left + right / 2,
    )


def _label(result: LevelFound) -> str:
    return f"busproof {result.level.title.lower()}"
