"""A seeded bus, which is not the model, served as the model is: what it answers goes out.

The broker asks its bus for more than the vocabulary has: of which kind an entity is, what it was
created with. That is kept here, in a namespace of the model that holds no messages.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import attrs

from busproof.broker.bus import Bus, Description
from busproof.broker.refusals import refusal_of
from busproof.model import Answer
from busproof.model.management import build
from busproof.model.state import Entity
from busproof.model.values import EntityKind, EntitySettings
from busproof.vocabulary.addressing import created_path
from busproof.vocabulary.commands import (
    AcceptNextSession,
    AdvanceClock,
    CloseSession,
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    GetQueue,
    GetTopic,
    ListQueues,
    ListSubscriptions,
    ListTopics,
    Peek,
    Receive,
    ReceiveBatch,
    RestoreQueue,
    Schedule,
    Send,
    SendBatch,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Described,
    Done,
    Empty,
    Listed,
    Outcome,
    Received,
    ReceivedSeveral,
    Scheduled,
    TopicDescribed,
    Witness,
)
from busproof.vocabulary.paths import SUBSCRIPTIONS, subscription_path
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Clock

__all__ = ["ForeignBus", "Implementation"]


class Seen(Protocol):
    """What came of a request, and the choice that was seen with it."""

    @property
    def outcome(self) -> Outcome:
        """What came."""

    @property
    def witness(self) -> Witness | None:
        """The choice."""


class Implementation(Protocol):
    """A bus that is asked in the vocabulary, on a virtual clock."""

    def start(self, profile: Profile) -> None:
        """Begin with an empty namespace, at time 0."""

    def do(self, command: Command, connection: str) -> Seen:
        """Ask one command over the named connection."""


class ForeignBus(Bus):
    """A bus that decides by itself.

    Args:
        implementation: the bus.
        profile: what it is to be held to.
        clock: whether time passes by itself or by request.
        monotonic: tells the time of a real clock, in seconds.
    """

    is_trusted = False

    def __init__(
        self,
        implementation: Implementation,
        profile: Profile,
        clock: str = Clock.REAL,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(profile, clock=clock, monotonic=monotonic)
        self._implementation = implementation
        self._passed = 0
        implementation.start(profile)

    def anew(self, profile: Profile) -> "ForeignBus":
        """The same bus with an empty namespace."""
        return ForeignBus(self._implementation, profile, self.clock, self._monotonic)

    def entity(self, path: str) -> Entity | None:
        """What is known of an entity here, though it may be gone: that the bus itself is asked."""
        return self.namespace.entities.get(path)

    def ask(self, command: Command, connection: str) -> Answer:
        """Ask, and remember what there is now."""
        self.keep_time()
        if isinstance(command, AdvanceClock):
            self._step(command, connection)
            self._keep_pace()
            return Answer(Done())
        self._keep_pace()
        seen = self._implementation.do(command, connection)
        self.traffic.count(command, seen.outcome)
        if isinstance(seen.outcome, Done):
            self._remember(command)
        partition = None if seen.witness is None else seen.witness.partition
        answer = Answer(seen.outcome, partition)
        if isinstance(command, Send | SendBatch | Schedule):
            taken = isinstance(seen.outcome, Done | Scheduled)
            moment = self.namespace.now
            self.decisions.keep(
                command, connection, moment, (), answer.refused, partition if taken else None
            )
        return answer

    def ask_all(self, commands: Sequence[Command], connection: str) -> list[Answer]:
        """Ask one after another, until one is refused; what took effect before has done so."""
        answers: list[Answer] = []
        for command in commands:
            answers.append(self.ask(command, connection))
            if answers[-1].refused is not None:
                break
        return answers

    def wait_for(
        self, command: Receive | AcceptNextSession | CloseSession, connection: str
    ) -> Answer | None:
        """Ask; `None` while there is nothing."""
        answer = self.ask(command, connection)
        return None if isinstance(answer.outcome, Empty) else answer

    def given(self, command: Receive, most: int, connection: str) -> Sequence[Answer]:
        """Ask for as many at once, where there is room for several."""
        if most == 1:
            return super().given(command, most, connection)
        several = ReceiveBatch(
            queue=command.queue, count=most, mode=command.mode, session_id=command.session_id
        )
        outcome = self.ask(several, connection).outcome
        if isinstance(outcome, ReceivedSeveral):
            return [Answer(Received(message=each)) for each in outcome.messages]
        return () if isinstance(outcome, Empty) else (Answer(outcome),)

    def browse(self, queue: str, session_id: str | None, first: int, count: int) -> Answer:
        """Ask for a peek."""
        command = Peek(
            queue=queue, count=count, session_id=session_id, from_sequence_number=first or None
        )
        return self.ask(command, "peek")

    def described(self, path: str) -> Description | None:
        """What it tells of an entity.

        Raises:
            Refusal: it refuses to.
        """
        entity = self.entity(path)
        if entity is None:
            return None
        of_topic = entity.kind is EntityKind.TOPIC
        command = GetTopic(topic=path) if of_topic else GetQueue(queue=path)
        outcome = self._looked_up(command, path)
        return outcome.description if isinstance(outcome, Described | TopicDescribed) else None

    def topics(self) -> list[str]:
        """The topics that it lists.

        Raises:
            Refusal: it refuses to.
        """
        names = self._listed(ListTopics(), "")
        for name in names:
            self._keep(name, EntityKind.TOPIC)
        return names

    def subscriptions(self, topic: str) -> list[str]:
        """The paths of the subscriptions that it lists.

        Raises:
            Refusal: it refuses to.
        """
        names = self._listed(ListSubscriptions(topic=topic), topic)
        paths = [subscription_path(topic, name) for name in names]
        for path in paths:
            self._keep(path, EntityKind.SUBSCRIPTION)
        return paths

    def _listed(self, command: ListTopics | ListSubscriptions, path: str) -> list[str]:
        outcome = self._looked_up(command, path)
        return sorted(outcome.names) if isinstance(outcome, Listed) else []

    def _looked_up(self, command: Command, path: str) -> Outcome:
        answer = self.ask(command, "administration")
        if (refusal := refusal_of(answer, path)) is not None:
            raise refusal
        return answer.outcome

    def names(self) -> list[str]:
        """The queues that it lists, and the topics and subscriptions that were created."""
        outcome = self.ask(ListQueues(), "administration").outcome
        listed = outcome.names if isinstance(outcome, Listed) else ()
        for name in listed:
            self._keep(name, EntityKind.QUEUE)
        others = (EntityKind.TOPIC, EntityKind.SUBSCRIPTION)
        known = (path for path, each in self.namespace.entities.items() if each.kind in others)
        return sorted({*listed, *known})

    def holds(self, path: str, session_id: str, connection: str) -> bool:  # noqa: ARG002
        """It does not say who holds a session, and refuses who does not."""
        return True

    def ends(self, path: str, session_id: str) -> int:  # noqa: ARG002 - it does not say
        """When the lock of a session ends that was taken just now."""
        entity = self.entity(path)
        settings = EntitySettings() if entity is None else entity.settings
        return self.now + settings.lock_duration

    def forget(self, path: str) -> None:
        """It may know a name for longer than it should."""

    def delete(
        self,
        path: str,  # noqa: ARG002 - it cannot
        count: int,  # noqa: ARG002
        is_old: Callable[[Message], bool],  # noqa: ARG002
        session_id: str | None = None,  # noqa: ARG002
    ) -> int:
        """Nobody can ask it to."""
        return 0

    def held(self, path: str, token: str) -> str | None:  # noqa: ARG002 - it does not say
        """It does not say whose lock this is."""
        return None

    def release(self, queue: str, token: str) -> None:
        """Nobody can ask it to give a message back as though it had not been delivered."""

    def _keep_pace(self) -> None:
        """Let as much time have passed for it as has passed here."""
        ahead = self.namespace.now - self._passed
        if ahead > 0:
            self._passed += ahead
            self._implementation.do(AdvanceClock(duration=ahead), "clock")

    def _remember(self, command: Command) -> None:
        """Keep what was created, and what was changed of it."""
        match command:
            case CreateQueue() | RestoreQueue():
                self._keep(command.queue, EntityKind.QUEUE, command, anew=True)
            case CreateTopic():
                self._keep(command.topic, EntityKind.TOPIC, command, anew=True)
            case CreateSubscription():
                path = created_path(command)
                self._keep(path, EntityKind.SUBSCRIPTION, command, anew=True)
            case UpdateTopic(topic=path) | UpdateQueue(queue=path):
                entity = self.entity(path)
                if entity is not None:
                    entity.settings = attrs.evolve(entity.settings, **_said(command))

    def _keep(
        self, path: str, kind: EntityKind, command: Command | None = None, *, anew: bool = False
    ) -> Entity:
        """The entity of which this is known; without a command, partitioned and like any other."""
        entities = self.namespace.entities
        if path in entities and not anew:
            return entities[path]
        topic = None
        if kind is EntityKind.SUBSCRIPTION:
            # There may be a subscription of no topic; whoever asks about that needs one.
            topic = self._keep(path.partition(SUBSCRIPTIONS)[0], EntityKind.TOPIC)
        settings = EntitySettings(**{"partitioned": True} | _said(command))
        entity = entities[path] = build(self.namespace, path, kind, settings, topic)
        return entity


def _said(command: Command | None) -> dict[str, Any]:
    """What a command says of the settings of an entity."""
    names = {each.name for each in attrs.fields(EntitySettings)}
    said = {name: getattr(command, name) for name in names if hasattr(command, name)}
    changed = {name: value for name, value in said.items() if value is not None}
    if said.get("forward_to") == "":
        changed["forward_to"] = None
    return changed
