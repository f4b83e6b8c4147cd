"""The result of a command: the client's view, and the details that only a test can see."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.journal import Change
from busproof.model.state import QueuedMessage

__all__ = ["DONE", "EMPTY", "Answer", "view_of"]

DONE: Final = v.Done()
EMPTY: Final = v.Empty()


@attrs.define
class Answer:
    """The answer to a command.

    Attributes:
        outcome: the result that the client sees.
        partition: the partition that took all sent messages, if there is one.
        rules: the rules that decided the answer.
        changes: the changes of the step, as the journal keeps them.
    """

    outcome: v.Outcome
    partition: int | None = None
    rules: tuple[v.RuleId, ...] = ()
    changes: Sequence[Change] = attrs.field(default=(), eq=False, repr=False)

    @property
    def refused(self) -> v.Refused | None:
        """Return the refusal, if the answer is one."""
        return self.outcome if isinstance(self.outcome, v.Refused) else None


CARRIED: Final = tuple(field.name for field in attrs.fields(v.Message))
LEARNED: Final = (
    "sequence_number",
    "dead_letter_reason",
    "delivery_count",
    "lock_token",
    "locked_until",
    "state",
)
carried_by: Final = attrgetter(*CARRIED)
SETTERS: Final = tuple(vars(v.MessageView)[name].__set__ for name in (*CARRIED, *LEARNED))
"""Slots of a view: setting them one by one is three times as fast as the initializer."""


def view_of(
    queued: QueuedMessage, *, locked: bool = False, state: v.MessageState | None = None
) -> v.MessageView:
    """Return a message as a receiver or a peek sees it."""
    learned: tuple[Any, ...] = (queued.number, queued.reason, None, None, None, state)
    if locked:
        until = queued.locked_until if queued.session is None else queued.session.locked_until
        learned = (queued.number, queued.reason, queued.failed, queued.token, until, state)
    return as_view(queued.message, learned)


def as_view(message: v.Message, learned: tuple[Any, ...]) -> v.MessageView:
    """Return the view of a message, with the values that the service adds."""
    found = object.__new__(v.MessageView)
    for setter, value in zip(SETTERS, carried_by(message) + learned):  # noqa: B905 - as many
        setter(found, value)
    return found
