"""A child that speaks the protocol of adapters, well or badly."""

from collections.abc import Callable
from pathlib import Path

from work import PATIENCE

from busproof.adapters.process import ProcessAdapter
from busproof.vocabulary.commands import Peek
from busproof.vocabulary.profile import Profile

CHILD = Path(__file__).parent.parent / "adapters" / "children" / "child.py"

PROFILE = Profile(edition="de-2021-04")

PEEK = Peek(queue="q")

Make = Callable[..., ProcessAdapter]

IMPATIENCE = 0.3
"""Seconds that a child has for what it never answers."""


def use(adapter: ProcessAdapter, timeout: float = PATIENCE) -> None:
    """Everything that a scenario does, with a second command; the timeout is for commands."""
    adapter.start(PROFILE)
    adapter._timeout = timeout
    adapter.do(PEEK, "c1")
    adapter.do(PEEK, "c1")
    adapter.stop()


def pid_of(adapter: ProcessAdapter) -> int:
    return adapter._child._process.pid
