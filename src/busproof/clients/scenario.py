"""Scenarios: what a broker is prepared for, the task that a program gets, and who judges it."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from busproof.clients.program import Ended
from busproof.clients.wire import Record

if TYPE_CHECKING:
    from busproof.broker.embedding import Embedded

__all__ = [
    "Evidence",
    "Finding",
    "Scenario",
    "break_rule",
    "exempt_rule",
    "keep_rule",
    "miss_deed",
    "miss_rule",
]


@attrs.frozen
class Finding:
    """What a scenario found of a rule.

    Attributes:
        rule: the id of the rule.
        is_kept: whether the client kept it; `None` if its situation did not arise.
        said: what was seen, in a sentence.
        is_exempt: whether the rule does not apply to what the client does.
        is_by_lack: whether the rule counts as broken because something did not happen, which says
            nothing of a program that did not get to its end.
    """

    rule: str
    is_kept: bool | None
    said: str
    is_exempt: bool = False
    is_by_lack: bool = False


def keep_rule(rule: str, said: str) -> Finding:
    """Return the finding that the client kept a rule."""
    return Finding(rule, True, said)


def break_rule(rule: str, said: str) -> Finding:
    """Return the finding that the client broke a rule."""
    return Finding(rule, False, said)


def miss_rule(rule: str, said: str) -> Finding:
    """Return the finding that the situation of a rule did not arise."""
    return Finding(rule, None, said)


def miss_deed(rule: str, said: str) -> Finding:
    """Return the finding that a client broke a rule by what it did not do."""
    return Finding(rule, False, said, is_by_lack=True)


def exempt_rule(rule: str, said: str) -> Finding:
    """Return the finding that a rule does not apply to what the client does."""
    return Finding(rule, None, said, is_exempt=True)


@attrs.frozen
class Evidence:
    """What is known of a program once its task is over.

    Attributes:
        record: what went over the wire.
        ended: what it reported, and how it ended.
        parameters: the parameters of its task.
    """

    record: Record
    ended: Ended
    parameters: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Scenario:
    """A scenario.

    Attributes:
        name: its name, for `--scenario` and the reports.
        about: what happens, in a sentence.
        rules: the ids of the rules that it can show.
        prepare: makes the entities, and lets faults wait.
        task: the name of the task.
        parameters: the parameters of the task.
        judge: finds out what the client did.
        variables: further environment variables of the program.
        is_web: whether AMQP is spoken over WebSockets, and over nothing else.
        idle: seconds of silence after which the broker ends a connection; 0 for none.
    """

    name: str
    about: str
    rules: tuple[str, ...]
    prepare: "Callable[[Embedded], None]"
    task: str
    parameters: Mapping[str, Any]
    judge: Callable[[Evidence], Iterable[Finding]]
    variables: Mapping[str, str] = attrs.field(factory=dict)
    is_web: bool = False
    idle: int = 0
