"""Consent to changing a real namespace before a run, and cleaning up after it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import attrs

from busproof.cli.console import say, write_aside
from busproof.errors import AdapterError, UsageError

if TYPE_CHECKING:
    from busproof.adapters.amqp.target import Target
    from busproof.cli.running.child_run import Request

__all__ = ["MOST", "Work", "ask_consent", "confirm_plan", "work_of"]

ADAPTER: Final = "BUSPROOF_ADAPTER"
"""Environment variable that passes the address, including its key, to the run's process."""


@attrs.frozen(kw_only=True)
class Work:
    """Upper bounds of a run's work in a namespace."""

    entities: int
    at_once: int
    operations: int


MOST: Final = {
    "smoke": Work(entities=800, at_once=80, operations=30_000),
    "features": Work(entities=3_400, at_once=80, operations=53_000),
    "distilled": Work(entities=1_300, at_once=12, operations=6_000),
    "quick": Work(entities=400, at_once=8, operations=6_000),
    "ci": Work(entities=2_500, at_once=8, operations=40_000),
    "network": Work(entities=120, at_once=8, operations=1_500),
    "filling": Work(entities=13_000, at_once=10_010, operations=100_000),
}
"""The work of a whole run; the features may fill the namespace."""


def work_of(request: "Request", *, disposable: bool = False) -> str:
    """Describe a run's work in words; there is more if the namespace may be filled."""
    if request.replay is not None:
        return "the entities and commands of the file that is replayed"
    parts = [request.only] if request.only in ("features", "distilled") else []
    if request.only is None and request.profile != "smoke":
        parts = ["features", "distilled"]
    if request.profile is not None:
        parts.append(request.profile)
    if disposable and "features" in parts:
        parts.append("filling")
    known = [MOST[part] for part in parts if part in MOST]
    if len(known) < len(parts):
        return "as many entities and operations as there is time for, some 8 entities at a time"
    entities, operations = (
        sum(getattr(work, name) for work in known) for name in ("entities", "operations")
    )
    at_once = max(work.at_once for work in known)
    return (
        f"at most {entities} entities in all ({at_once} at a time), {operations} operations, "
        "and a dozen entities to discover its capabilities"
    )


@contextmanager
def ask_consent(request: "Request", *, yes: bool) -> Iterator["Request"]:
    """Yield the request once the user agrees to use the namespace; clean the namespace afterwards.

    Raises:
        UsageError: the user does not agree.
    """
    from busproof.adapters.finding import is_address, resolve_name

    name = resolve_name(request.adapter)
    if not is_address(name):
        yield request
        return
    from busproof.adapters.amqp import run_names
    from busproof.adapters.amqp.target import target_of

    target = target_of(name)
    run = run_names.new_run()
    work = work_of(request, disposable=target.disposable)
    confirm_plan(_plan(target, run_names.prefix_of(run, 0)[:-2], work), yes=yes)
    before = dict(os.environ)
    os.environ |= {run_names.RUN: run, ADAPTER: name}
    try:
        yield attrs.evolve(request, adapter=f"env:{ADAPTER}")
    finally:
        for variable in (run_names.RUN, ADAPTER):
            _restore(variable, before.get(variable))
        if not target.plain:
            _clean(target, run)


def _plan(target: "Target", prefix: str, work: str) -> str:
    """Return the plan of a run in words."""
    if target.plain:
        return (
            f"this run creates queues whose names begin with {prefix} in the broker "
            f"{target.host}, and leaves them there, because AMQP itself cannot remove them: "
            f"{work}. Nothing else in it is changed."
        )
    return (
        f"this run creates queues and topics whose names begin with {prefix} in the namespace "
        f"{target.host}, and removes them at the end: {work}. Nothing else in it is changed."
    )


def confirm_plan(plan: str, *, yes: bool) -> None:
    """Print the plan of a run in a namespace, and ask for consent.

    Raises:
        UsageError: the user does not agree, or there is no terminal to ask on.
    """
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"{plan} No terminal to confirm on; pass --yes to proceed")
    write_aside(plan)
    if yes:
        return
    write_aside("Continue? Type yes:")
    answer = sys.stdin.readline().strip().lower()
    if answer not in ("y", "yes"):
        raise UsageError("nothing was done to the namespace")


def _restore(variable: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = value


def _clean(target: "Target", run: str) -> None:
    """Remove what an unfinished run has left, and print what was removed."""
    from busproof.adapters.amqp.remote import remove_entities

    with suppress(KeyboardInterrupt):
        try:
            gone, left = remove_entities(target, CLEANED_IN, run)
        except AdapterError as error:
            say(f"cannot list what the run has left: {error}; busproof clean asks again")
            return
        if gone:
            write_aside(f"Removed {len(gone)} entities that the run left behind.")
        if left:
            say(f"{len(left)} entities remain; remove them with busproof clean --run {run}")


CLEANED_IN: Final = 30.0
"""Maximum wait for an answer while entities are removed, in seconds."""
