"""Entity names that contain the run and the scenario, so that no other entity has them."""

import os
import re
import secrets
from typing import Final

from busproof.errors import UsageError

__all__ = ["RUN", "is_of_a_run", "new_run", "prefix_of", "run_agreed_to", "run_of"]

RUN: Final = "BUSPROOF_NAMESPACE_RUN"
"""Environment variable with the name of a run; setting it is the user's consent to the run."""

NAME: Final = re.compile(r"busproof-(?P<run>[0-9a-z]{4,16})-\d+-")
RUN_NAME: Final = re.compile(r"[0-9a-z]{4,16}")


def new_run() -> str:
    """Return a new random name for a run."""
    return secrets.token_hex(4)


def prefix_of(run: str, scenario: int) -> str:
    """Return the prefix for the entity names of a scenario."""
    return f"busproof-{run}-{scenario}-"


def run_of(entity: str) -> str | None:
    """Return the run that an entity belongs to according to its name, or `None`."""
    match = NAME.match(entity)
    return None if match is None else match["run"]


def is_of_a_run(entity: str, run: str | None) -> bool:
    """Return whether an entity belongs to a run; with `None`, whether it belongs to any run."""
    owner = run_of(entity)
    return owner is not None and run in (None, owner)


def run_agreed_to() -> str:
    """Return the name of the run that the user has consented to.

    Raises:
        UsageError: there is no consent, or the name is invalid.
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
