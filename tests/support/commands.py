"""`busproof` as a user sees it, run in this process, which has imported what it needs."""

import os
import subprocess
import sys
from contextlib import ExitStack, chdir
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from unittest.mock import patch

import attrs
from preloaded import popen

from busproof.cli.main import main
from busproof.cli.running import child_process

__all__ = ["FORKING", "Ended", "run_here"]

FORKING = SimpleNamespace(**vars(subprocess) | {"Popen": popen})
"""Module `subprocess`, but the features of a run are forked from a preloaded process."""


@attrs.frozen(kw_only=True)
class Ended:
    """What a user sees of a command: its exit code, and its output."""

    code: int
    out: str
    err: str

    @property
    def sentences(self) -> list[str]:
        """What it said beside its output, which is never a traceback."""
        assert "Traceback (most" not in self.out + self.err.replace("\n  Traceback (most", "")
        assert "INTERNALERROR" not in self.out + self.err
        return [
            line.removeprefix("busproof: ")
            for line in self.err.splitlines()
            if line.startswith("busproof: ")
        ]

    @property
    def sentence(self) -> str:
        """The one sentence that it said, and nothing else beside its output."""
        (only,) = self.sentences
        assert self.err == f"busproof: {only}\n"
        return only

    @property
    def problems(self) -> str:
        """The problems in the printed report, on one line."""
        _, found, after = self.out.partition("\nProblems\n")
        return " ".join(after.partition("\n\n")[0].split()) if found else ""


def run_here(*arguments: str, folder: Path, environment: dict[str, str] | None = None) -> Ended:
    """Run `busproof` with these arguments in a folder, with this whole environment if given."""
    variables = dict(os.environ) if environment is None else environment
    with ExitStack() as stack:
        stack.enter_context(chdir(folder))
        stack.enter_context(patch.dict(os.environ, variables, clear=True))
        # Files of the system: the command may redirect what has a number.
        nothing = stack.enter_context(Path(os.devnull).open())
        out, err = (stack.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in "oe")
        for name, file in (("stdin", nothing), ("stdout", out), ("stderr", err)):
            stack.enter_context(patch.object(sys, name, file))
        stack.enter_context(patch.object(child_process, "subprocess", FORKING))
        try:
            code = main(arguments)
        except SystemExit as ended:  # the parser ends the process itself
            code = ended.code
        streams = [file.read() for file in (out, err) if not file.seek(0)]
    return Ended(code=code, out=streams[0], err=streams[1])
