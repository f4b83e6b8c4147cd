"""Write docs/images/verdict.svg: a verdict as the terminal shows it.

`make picture` runs the suite on a bus with a seeded fault, and draws the output of `busproof run`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

ROOT: Final = Path(__file__).parent.parent
PICTURE: Final = ROOT / "docs" / "images" / "verdict.svg"
COMMAND: Final = ("busproof", "run", "--adapter", "faulty:mismatch-accepted", "--rule", "KEY-08")

COLUMNS: Final = 98
CHARACTER: Final = 8.4
LINE: Final = 20
MARGIN: Final = 20
BAR: Final = 34
BACKGROUND: Final = "#10201d"
COLOURS: Final = (
    ("$ ", "#7fe0c8"),
    ("KEY-08 violated", "#ff9a8f"),
    ("KEY-08 ", "#ff9a8f"),
    ("  Seen:", "#ff9a8f"),
    ("  Allowed:", "#8fe388"),
    ("Exit code", "#ffd479"),
)
"""Colours by the beginning of a line; the first match counts."""
PLAIN: Final = "#dfe9e6"
NO_BREAK: Final = "\N{NO-BREAK SPACE}"
"""Character that replaces other spaces, which SVG would merge."""


def printed() -> str:
    """Return the output of the command, run in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            [sys.executable, "-m", *COMMAND, "--name", "broken"],
            cwd=folder,
            env={**os.environ, "COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode != 1:
        sys.exit(f"tools/verdict_picture.py: exit code {ended.returncode}: {ended.stderr}")
    return ended.stdout


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of the picture, wrapped at its width."""
    yield f"$ {' '.join(COMMAND)}"
    for line in text.splitlines():
        if len(line) <= COLUMNS:
            yield line.rstrip()
        else:
            indent = " " * (len(line) - len(line.lstrip()) + 2)
            yield from textwrap.wrap(line, COLUMNS, subsequent_indent=indent)


def drawn(lines: list[str]) -> str:
    """Return the SVG."""
    width = round(COLUMNS * CHARACTER) + 2 * MARGIN
    height = len(lines) * LINE + BAR + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title description">\n'
        '<title id="title">A verdict of busproof</title>\n'
        f'<desc id="description">{escape(" ".join(" ".join(lines).split()))}</desc>\n'
        f'<rect width="{width}" height="{height}" rx="10" fill="{BACKGROUND}"/>\n'
        '<g fill="#5f7a74"><circle cx="24" cy="20" r="6"/><circle cx="44" cy="20" r="6"/>'
        '<circle cx="64" cy="20" r="6"/></g>\n'
        '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" '
        'font-size="14">\n'
    ]
    for number, line in enumerate(lines):
        colour = next((candidate for start, candidate in COLOURS if line.startswith(start)), PLAIN)
        if line:
            parts.append(
                f'<text x="{MARGIN}" y="{BAR + MARGIN + number * LINE}" fill="{colour}" '
                f'textLength="{len(line) * CHARACTER:g}" lengthAdjust="spacingAndGlyphs">'
                f"{escape(line).replace(' ', NO_BREAK)}</text>\n"
            )
    return "".join([*parts, "</g>\n</svg>\n"])


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=PICTURE)
    output: Path = parser.parse_args().output
    output.write_text(drawn(list(lines_of(printed()))), encoding="utf-8")


if __name__ == "__main__":
    main()
