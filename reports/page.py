"""The conformance page: one HTML file for any number of runs, without network or server.

Its parts are files in `web/`. Style and script are embedded, and the Content-Security-Policy names
them by their hashes, so that no answer of a bus can run as code. The values are JSON in a separate
element.
"""

import base64
import hashlib
import json
import os
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Final

from busproof.errors import HistoryError
from busproof.reports.page_data import Comparison, page_data

__all__ = ["page", "write_page"]

SCRIPTS: Final = ("elements.js", "verdicts.js", "summary.js", "list.js", "rule.js", "main.js")
"""Scripts in the order of their use; all share the scope of one function."""


def page(comparison: Comparison) -> str:
    """Return the whole page; the input must be redacted already."""
    style = _file("page.css")
    script = f'(() => {{\n"use strict";\n{"".join(map(_file, SCRIPTS))}}})();\n'
    return Template(_file("page.html")).substitute(
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=_json(page_data(comparison)),
    )


def write_page(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Write the page; its folder is created if it is missing.

    Raises:
        HistoryError: the file cannot be written.
    """
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(comparison), encoding="utf-8", newline="\n")
    except OSError as error:
        raise HistoryError(f"cannot write {file}: {error.strerror or error}") from None


def _file(name: str) -> str:
    return resources.files("busproof.reports").joinpath("web", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(value: dict[str, Any]) -> str:
    """Return JSON that cannot end the element around it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
