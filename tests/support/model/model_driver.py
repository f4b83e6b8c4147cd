"""A namespace of the reference model to ask, its profiles, and its state as a value."""

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import attrs

from busproof import spec
from busproof import vocabulary as v
from busproof.model import Answer, Choices, Family, RoundRobin, new_namespace, step
from busproof.model.journal import Change, Record
from busproof.model.state import Entity

__all__ = [
    "DEFAULT_PROFILE",
    "SECOND",
    "Always",
    "Bus",
    "catalogue",
    "changed",
    "profile",
    "state_of",
]

SECOND = v.MICROSECONDS


@cache
def catalogue() -> spec.Catalogue:
    return spec.load()


def profile(
    *, edition: str | None = None, tier: str = "standard", partitions: int = 3, **readings: str
) -> v.Profile:
    """A profile; readings are named with underscores."""
    named = {name.replace("_", "-"): reading for name, reading in readings.items()}
    return v.profile_for(
        catalogue(), edition=edition, tier=tier, readings=named, partitions=partitions
    )


DEFAULT_PROFILE = profile()


def changed(changes: Sequence[Change]) -> list[tuple[Any, Any]]:
    """Return each changed record, and each table with the key of a changed entry."""
    found = {(id(thing), key): (thing, key) for thing, key, _ in changes}
    return [entry for entry in found.values() if isinstance(entry[0], Record | dict)]


class Bus:
    """A namespace that is asked one command after another."""

    def __init__(
        self,
        held_to: v.Profile = DEFAULT_PROFILE,
        choices: Choices | None = None,
        **families: type[Family],
    ) -> None:
        self.namespace = new_namespace(held_to, **families)
        self.choices = choices or RoundRobin()

    def ask(self, command: v.Command, connection: str = "c1") -> Answer:
        return step(self.namespace, command, connection, self.choices)

    def done(self, command: v.Command, connection: str = "c1") -> v.Outcome:
        """The outcome of a command that is not refused."""
        outcome = self.ask(command, connection).outcome
        assert not isinstance(outcome, v.Refused), (command, outcome)
        return outcome

    def refused(self, command: v.Command, connection: str = "c1") -> v.Error:
        """The error with which a command is refused."""
        outcome = self.ask(command, connection).outcome
        assert isinstance(outcome, v.Refused), (command, outcome)
        return outcome.error

    def create(self, queue: str = "q", **settings: Any) -> None:
        self.done(v.CreateQueue(queue=queue, **settings))

    def topic(self, **settings: Any) -> str:
        """Create topic `t` with one subscription, and return the path of that."""
        self.done(v.CreateTopic(topic="t"))
        self.done(v.CreateSubscription(topic="t", subscription="a", **settings))
        return "t/subscriptions/a"

    def send(self, body: str, queue: str = "q", **properties: Any) -> int | None:
        """Send a message; its partition."""
        command = v.Send(queue=queue, message=v.Message(body=body, **properties))
        answer = self.ask(command)
        assert answer.outcome == v.Done(), answer
        return answer.partition

    def receive(
        self, queue: str = "q", connection: str = "c1", session_id: str | None = None
    ) -> v.MessageView:
        """Receive a message that is there."""
        outcome = self.done(v.Receive(queue=queue, session_id=session_id), connection)
        assert isinstance(outcome, v.Received), outcome
        return outcome.message

    def bodies(self, queue: str = "q", connection: str = "c1") -> list[str]:
        """Receive and delete until nothing comes."""
        found = []
        mode = v.ReceiveMode.RECEIVE_AND_DELETE
        while isinstance(
            outcome := self.done(v.Receive(queue=queue, mode=mode), connection), v.Received
        ):
            found.append(outcome.message.body)
        return found

    def wait(self, seconds: float) -> None:
        self.done(v.AdvanceClock(duration=int(seconds * SECOND)))

    def down(self, partition: int, queue: str = "q") -> None:
        self.done(v.TakePartitionDown(queue=queue, partition=partition))

    def up(self, partition: int, queue: str = "q") -> None:
        self.done(v.BringPartitionUp(queue=queue, partition=partition))


ABOVE = frozenset({"namespace", "base", "owner", "entity", "session", "arrival", "enlisted"})
"""What a record belongs to; an arrival's number orders messages and is never taken back."""
BESIDE = frozenset({"dead_letters", "transfers", "subscriptions"})
"""Entities that stand in the table of the namespace themselves."""


def state_of(thing: Any) -> Any:
    """A record, or a table of records, as a value to be compared; without indexes."""
    if isinstance(thing, Record):
        found = {name: getattr(thing, name) for name in thing.names if name not in ABOVE}
        return {
            name: repr(path_of(each)) if name in BESIDE else state_of(each)
            for name, each in found.items()
            if each not in ((), None, 0) and each != {}
        }
    if isinstance(thing, dict):
        return {key: state_of(each) for key, each in thing.items()}
    if isinstance(thing, tuple | list):
        return [state_of(each) for each in thing]
    if type(thing).__module__ == "busproof.model.state" and attrs.has(type(thing)):
        return [
            each.path if isinstance(each, Entity) else state_of(each)
            for each in (getattr(thing, field.name) for field in attrs.fields(type(thing)))
        ]
    return thing


def path_of(thing: Any) -> Any:
    """The path of an entity, or of several; a count of them is itself."""
    if isinstance(thing, tuple):
        return [each.path for each in thing]
    return thing.path if isinstance(thing, Entity) else thing


class Always(Random):
    """Chance by which a hostile policy takes the last candidate each time."""

    def random(self) -> float:
        return 0.0
