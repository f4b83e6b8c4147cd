"""Names that no entity of a customer's has: whose run they are of, and of which scenario."""

import os
import re
import secrets
from typing import Final

from busproof.errors import UsageError

__all__ = ["RUN", "is_of_a_run", "new_run", "prefix_of", "run_agreed_to", "run_of"]

RUN: Final = "BUSPROOF_NAMESPACE_RUN"
"""The environment's word that a namespace may be used, and the name of the run that may."""

NAME: Final = re.compile(r"busproof-(?P<run>[0-9a-z]{4,16})-\d+-")
RUN_NAME: Final = re.compile(r"[0-9a-z]{4,16}")


def new_run() -> str:
    """A name that no other run has."""
    return secrets.token_hex(4)


def prefix_of(run: str, scenario: int) -> str:
    """What the names of a scenario's entities begin with."""
    return f"busproof-{run}-{scenario}-"


def run_of(entity: str) -> str | None:
    """The run that an entity is of, by its name; `None` for one of somebody else's."""
    found = NAME.match(entity)
    return None if found is None else found["run"]


def is_of_a_run(entity: str, run: str | None) -> bool:
    """Return whether an entity is of this run, or of any if none is named."""
    found = run_of(entity)
    return found is not None and run in (None, found)


def run_agreed_to() -> str:
    """The run that a user has agreed to, with all that it does to the namespace.

    Raises:
        UsageError: to none.
    """
    run = os.environ.get(RUN, "")
    if not run:
        raise UsageError(
            "an adapter for a real namespace creates entities in it and removes them: "
            f"`busproof run` asks before that, or set {RUN} to a name for the run, "
            "such as abcd1234"
        )
    if not RUN_NAME.fullmatch(run):
        raise UsageError(f"{RUN} is {run!r}; give 4 to 16 letters a to z and digits")
    return run
