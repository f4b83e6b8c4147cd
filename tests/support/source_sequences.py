"""Sequences of scenarios, to be transformed and sent again."""

from collections.abc import Sequence
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.exploration.machine import Watch, terms_of
from busproof.exploration.metamorphic.follow_ups import SourceSequence
from busproof.history.records import Ended, Record, ScenarioVerdict

__all__ = ["MINUTE", "RENEWED", "asked", "sent", "verdicts"]

MINUTE = 60 * v.MICROSECONDS


def sent(body: str, **properties: Any) -> v.Send:
    """Return a send of a message to the queue."""
    return v.Send(queue="q", message=v.Message(body=body, **properties))


def asked(commands: Sequence[v.Command], adapter: ModelAdapter | None = None) -> SourceSequence:
    """Return the sequence of these commands, as a scenario plays it.

    Tokens and numbers may be references: `@0` is the token of the message that command 0 got.
    """
    adapter = adapter or ModelAdapter()
    watch = Watch(adapter, terms_of(adapter))
    sequence = watch.opened()
    for command in commands:
        sequence.ask(referring(command, sequence.events), "c1")
    return SourceSequence(name="a scenario", events=tuple(sequence.events))


def referring(command: Any, events: Sequence[v.Event]) -> v.Command:
    """Return a command with the token that it names, or the number of the last message."""
    token = getattr(command, "lock_token", "")
    if token:
        answer = events[int(token.removeprefix("@"))].outcome
        return attrs.evolve(command, lock_token=answer.message.lock_token)
    if not isinstance(command, v.ReceiveDeferred | v.CancelScheduled):
        return command
    for event in reversed(events):
        if isinstance(event.outcome, v.Scheduled):
            return v.CancelScheduled(queue="q", sequence_number=event.outcome.sequence_number or 0)
        if isinstance(event.outcome, v.Received):
            number = event.outcome.message.sequence_number or 0
            return attrs.evolve(command, sequence_numbers=(number,))
    raise AssertionError("there is no message")


def verdicts(records: Sequence[Record]) -> set[ScenarioVerdict]:
    return {record.verdict for record in records if isinstance(record, Ended)}


RENEWED = (
    v.CreateQueue(queue="q", lock_duration=MINUTE),
    v.AdvanceClock(duration=MINUTE),
    sent("a"),
    v.Receive(queue="q"),
    v.RenewLock(queue="q", lock_token="@3"),
)
