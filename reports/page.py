"""The conformance page: one HTML file of any number of runs, without a network and a server.

Its parts are files in `web/`. Style and script stand in the page and are named by their hashes in
its Content-Security-Policy, so nothing that a bus answered can run there; the values are JSON in
an element of their own.
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
"""In the order in which they stand in the page; all share one function's scope."""


def page(comparison: Comparison) -> str:
    """The whole page; what it is given has to be redacted."""
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
    """Write the page; its folder is made if it is not there.

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
    """JSON in which nothing ends the element that it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
