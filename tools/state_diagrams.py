#!/usr/bin/env python3
"""Print docs/states.md: the tables of states in the model as diagrams."""

from collections.abc import Iterator
from typing import Final

from busproof.oracle.states import MESSAGES, SESSIONS, TRANSACTIONS, Change

HEAD: Final = """# States

`make diagrams` writes this page from the tables in `oracle/states.py`.
A test holds those to what the model's own bus does.
Each arrow names the command that it takes, or *time*, and a rule that says so.
What has outlived its time is gone for whoever asks.
A dead letter is an active message of its dead-letter queue.
"""

SECTIONS: Final = (
    ("A message in one entity", MESSAGES),
    ("A session of an entity", SESSIONS),
    ("A transaction", TRANSACTIONS),
)
NOWHERE: Final = {"absent": "[*]"}
"""States that are none: a message that does not exist yet, or no longer."""


def page() -> str:
    """The page, in Markdown with Mermaid's diagrams."""
    return "\n".join([HEAD, *(_section(title, table) for title, table in SECTIONS)])


def _section(title: str, table: tuple[Change, ...]) -> str:
    return "\n".join([f"## {title}\n", "```mermaid", "stateDiagram-v2", *_arrows(table), "```\n"])


def _arrows(table: tuple[Change, ...]) -> Iterator[str]:
    names = dict.fromkeys(each for change in table for each in (change.before, change.after))
    for name in names:
        if " " in name:
            yield f'    state "{name}" as {_state(name)}'
    for change in table:
        before, after = _state(change.before), _state(change.after)
        yield f"    {before} --> {after}: {change.by} ({change.rule})"


def _state(name: str) -> str:
    return NOWHERE.get(name, name.replace(" ", "_"))


if __name__ == "__main__":
    print(page(), end="")
