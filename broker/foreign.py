"""A bus that is not the model, served as the model is: what it answers goes out, right or wrong.

The broker asks its bus for more than the vocabulary has: of which kind an entity is, what it was
created with. That is kept here, in a namespace that holds no messages.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import attrs

from busproof.broker.answers import Answer
from busproof.broker.bus import Bus, Description
from busproof.broker.refusals import refusal_of
from busproof.oracle.outages import Outages
from busproof.oracle.state import Queue, Subscription, Topic, with_queue
from busproof.vocabulary.addressing import created_path
from busproof.vocabulary.commands import (
    AcceptNextSession,
    AdvanceClock,
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
from busproof.vocabulary.paths import subscription_path
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

    is_model = False

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

    def entity(self, path: str) -> Queue | None:
        """What is known of an entity here, though it may be gone: that the bus itself is asked."""
        return self.namespace.queues.get(path)

    def ask(self, command: Command, connection: str) -> Answer:
        """Ask, and remember what there is now."""
        self._keep_time()
        if isinstance(command, AdvanceClock):
            later = self.namespace.now.shifted(command.duration)
            self.namespace = attrs.evolve(self.namespace, now=later)
            self._keep_pace()
            return Answer(Done())
        self._keep_pace()
        seen = self._implementation.do(command, connection)
        self.traffic.count(command, seen.outcome)
        if isinstance(seen.outcome, Done):
            self._remember(command)
        partition = None if seen.witness is None else seen.witness.partition
        answer = Answer(seen.outcome, (), partition)
        if isinstance(command, Send | SendBatch | Schedule):
            taken = isinstance(seen.outcome, Done | Scheduled)
            moment = self.namespace.now.latest
            self.decisions.keep(
                command, connection, moment, (), answer.refused, partition if taken else None
            )
        return answer

    def ask_all(self, commands: Iterable[Command], connection: str) -> list[Answer]:
        """Ask one after another, until one is refused; what took effect before has done so."""
        answers: list[Answer] = []
        for command in commands:
            answers.append(self.ask(command, connection))
            if answers[-1].refused is not None:
                break
        return answers

    def wait_for(self, command: Receive | AcceptNextSession, connection: str) -> Answer | None:
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
        queue = self.entity(path)
        if queue is None:
            return None
        of_topic = isinstance(queue.role, Topic)
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
            if name not in self.namespace.queues:
                self._keep(CreateQueue(queue=name), Topic())
        return names

    def subscriptions(self, topic: str) -> list[str]:
        """The paths of the subscriptions that it lists.

        Raises:
            Refusal: it refuses to.
        """
        names = self._listed(ListSubscriptions(topic=topic), topic)
        paths = [subscription_path(topic, name) for name in names]
        for path in paths:
            if path not in self.namespace.queues:
                self._keep(CreateQueue(queue=path), Subscription(topic=topic))
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
            if name not in self.namespace.queues:
                self._keep(CreateQueue(queue=name))
        others = (name for name, each in self.namespace.queues.items() if each.role is not None)
        return sorted({*listed, *others})

    def ends(self, path: str, session_id: str) -> int:  # noqa: ARG002 - it does not say
        """When the lock of a session ends that was taken just now."""
        queue = self.entity(path)
        settings = CreateQueue(queue=path) if queue is None else queue.settings
        return self.now + settings.lock_duration

    def forget(self, path: str) -> None:
        """It may know a name for longer than it should."""

    def sweep(self, path: str) -> None:
        """It does so itself."""

    def delete(self, path: str, count: int, before: int, session_id: str | None = None) -> int:  # noqa: ARG002 - it cannot
        """Nobody can ask it to."""
        return 0

    def held(self, path: str, token: str) -> str | None:  # noqa: ARG002 - it does not say
        """It does not say whose lock this is."""
        return None

    def release(self, queue: str, token: str) -> None:
        """Nobody can ask it to give a message back as though it had not been delivered."""

    def _keep_pace(self) -> None:
        """Let as much time have passed for it as has passed here."""
        ahead = self.namespace.now.latest - self._passed
        if ahead > 0:
            self._passed += ahead
            self._implementation.do(AdvanceClock(duration=ahead), "clock")

    def _remember(self, command: Command) -> None:
        match command:
            case CreateQueue():
                self._keep(command)
            case RestoreQueue():
                self._keep(
                    CreateQueue(
                        queue=command.queue,
                        requires_session=command.requires_session,
                        duplicate_detection=command.duplicate_detection,
                        max_size=command.max_size,
                    )
                )
            case CreateTopic():
                settings = CreateQueue(
                    queue=command.topic,
                    partitioned=command.partitioned,
                    time_to_live=command.time_to_live,
                )
                self._keep(settings, Topic())
            case CreateSubscription():
                self._keep(_settings(command), Subscription(topic=command.topic))
            case UpdateTopic(topic=path) if (queue := self.entity(path)) is not None:
                life = command.time_to_live or queue.settings.time_to_live
                settings = attrs.evolve(queue.settings, time_to_live=life)
                self.namespace = with_queue(self.namespace, attrs.evolve(queue, settings=settings))
            case UpdateQueue(queue=path) if (queue := self.entity(path)) is not None:
                names = {each.name for each in attrs.fields(UpdateQueue)} - {"status"}
                said = {name: getattr(command, name) for name in names}
                changed = {name: value for name, value in said.items() if value is not None}
                if said["forward_to"] == "":
                    changed["forward_to"] = None
                settings = attrs.evolve(queue.settings, **changed)
                self.namespace = with_queue(self.namespace, attrs.evolve(queue, settings=settings))

    def _keep(self, settings: CreateQueue, role: Topic | Subscription | None = None) -> None:
        if isinstance(role, Subscription) and role.topic not in self.namespace.queues:
            # It has a subscription of no topic; whoever asks about that needs one.
            self._keep(CreateQueue(queue=role.topic), Topic())
        queue = Queue(settings=settings, outages=Outages(told=True), role=role)
        self.namespace = with_queue(self.namespace, queue)


def _settings(command: CreateSubscription) -> CreateQueue:
    shared: dict[str, Any] = {
        each.name: getattr(command, each.name)
        for each in attrs.fields(CreateSubscription)
        if each.name not in ("topic", "subscription")
    }
    return CreateQueue(queue=created_path(command), **shared)
