"""Runs `busproof` once for each argument; prints how each ended and what it wrote, as JSON."""

import contextlib
import io
import json
import sys
from pathlib import Path

from busproof.cli.main import main


def ended(command: str) -> dict[str, object]:
    """Run one command in this process."""
    before = set(Path().rglob("*"))
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        try:
            code = main(command.split())
        except SystemExit as error:
            code = error.code
    written = sorted(map(str, set(Path().rglob("*")) - before))
    return {"code": code, "out": out.getvalue(), "err": err.getvalue(), "written": written}


if __name__ == "__main__":
    json.dump({command: ended(command) for command in sys.argv[1:]}, sys.stdout)
