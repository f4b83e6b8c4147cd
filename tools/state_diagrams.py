#!/usr/bin/env python3
"""Print docs/states.md: the life of a message in the reference model, as a diagram."""

from collections.abc import Iterator
from typing import Final

from busproof.model.life_cycle import CHANGES, Action, State

HEAD: Final = """# States

`make diagrams` writes this page from the table in `model/life_cycle.py`.
By that table the reference model decides what may be done to a message.
Each arrow names what a client or the passing of time does, and a rule that says so.
What has no arrow is refused, and nothing happens.

A dead letter is a new, active message of its dead-letter queue.
A scheduled message that has become due is a new, active message, too.
What comes back too often or too late leaves for the dead letters at once (DLQ-02, TTL-06).
A deferred message does not leave for its age (TTL-10).

## A message in one entity
"""
BEGINNINGS: Final = ((State.ACTIVE, "arrive", "LIFE-01"), (State.SCHEDULED, "schedule", "SCHED-01"))
"""Arrows to the first states, because the table has only changes of existing messages."""

FOOT: Final = """
## Sessions and transactions

One connection holds a session from when it is accepted (SESS-03, SESS-06).
The session is free when it is closed (SESS-08) or its lock ends (SESS-11).
A transaction takes sends and settlements from when it is begun (TXN-02).
It ends when it is committed (TXN-12) or rolled back (TXN-13).
"""


def page() -> str:
    """Return the page: Markdown with a Mermaid diagram."""
    return "\n".join([HEAD, "```mermaid", "stateDiagram-v2", *_arrows(), "```", FOOT]).rstrip("\n")


def _arrows() -> Iterator[str]:
    locked = _words(State.DEFERRED_LOCKED)
    yield f'    state "{locked.replace("_", " and ")}" as {locked}'
    for state, doing, rule in BEGINNINGS:
        yield f"    [*] --> {_words(state)}: {doing} ({rule})"
    for before, action, after, rule in CHANGES:
        arrow = "[*]" if after is State.GONE else _words(after)
        yield f"    {_words(before)} --> {arrow}: {_words(action).replace('_', ' ')} ({rule})"


def _words(name: State | Action) -> str:
    return name.name.lower()


if __name__ == "__main__":
    print(page())
