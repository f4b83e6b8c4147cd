"""The model beside a spec: what it answers to the spec's commands, in the spec's words."""

from collections.abc import Iterator, Mapping
from typing import Final

import attrs
from immutables import Map

from busproof.oracle.keys import MESSAGE_ID, PARTITION_KEY, SESSION_ID
from busproof.oracle.returning import prepared
from busproof.oracle.sessions import session_at
from busproof.oracle.sighting import view_of
from busproof.oracle.state import Namespace, Queue, fresh_namespace, with_queue
from busproof.oracle.step import step, transitions
from busproof.oracle.stored import Key, Stored
from busproof.oracle.transition import Sighting, Transition
from busproof.spec import load as load_catalogue
from busproof.tla.asking import ANY, NOBODYS, NONE, asked, body_of, connection_of
from busproof.tla.creating import creations
from busproof.tla.manifest import Setting
from busproof.tla.replies import Reply, outcome_of, replies_of
from busproof.tla.same import sameness
from busproof.vocabulary.commands import (
    AdvanceClock,
    BringPartitionUp,
    Command,
    CreateQueue,
    Receive,
    ReceiveDeferred,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import (
    Done,
    Empty,
    Outcome,
    Peeked,
    Received,
    ReceivedSeveral,
    Refused,
    Scheduled,
    Witness,
)
from busproof.vocabulary.paths import is_dead_letter_queue, owner_of
from busproof.vocabulary.profile import profile_for
from busproof.vocabulary.values import Error, ReceiveMode, RuleId

__all__ = ["Answer", "Twin", "born"]

RUNNING: Final = {"OUTAGE-CLOCK": "runs"}
"""The specs' clocks run in an outage, too; whether they do is left open otherwise."""


_PLAIN: Final[Mapping[str, Outcome]] = {"Done": Done(), "Empty": Empty()}


@attrs.frozen
class Answer:
    """One thing that the model answers.

    Attributes:
        replies: the spec's replies that it stands for; several where it leaves the error open.
        twin: the model after it.
        rules: the rules that decided it.
    """

    replies: tuple[Reply, ...]
    twin: "Twin"
    rules: tuple[RuleId, ...]


@attrs.frozen
class Twin:
    """A state of the model, and what was sent and accepted on the way to it."""

    namespace: Namespace
    sent: tuple[Message, ...] = ()

    def fresh_body(self) -> str:
        """The body of the next message that is sent."""
        return body_of(len(self.sent) + 1)

    def token(self, message: int, *, held: bool) -> str | None:
        """The lock token that the message has; one that it had the model has forgotten."""
        if not held:
            return f"an earlier lock of {body_of(message)}"
        stored = self.stored(message)
        return None if stored is None or stored.lock is None else stored.lock.token

    def is_dead(self, message: int, *, held: bool) -> bool:
        """Whether the message is a dead letter; where a lost lock was is of no consequence."""
        queues = self.namespace.queues
        return held and any(
            is_dead_letter_queue(name) and _held_in(queues[name], message) is not None
            for name in queues
        )

    def scheduled(self, message: int) -> int:
        """The number that was told when it was scheduled; else one that no message has."""
        for queue in self.namespace.queues.values():
            places = queue.calendar.bodies.get(body_of(message), ())
            for number, place in queue.calendar.numbers.items():
                if place in places:
                    return number
        return NOBODYS + message

    def number(self, message: int) -> int:
        """The sequence number that its receiver was told; else one that no message has."""
        for queue in self.namespace.queues.values():
            arrived = queue.bodies.get(body_of(message))
            known = arrived if isinstance(arrived, tuple) else ()
            for number, place in queue.numbers.items():
                if place in known and not is_dead_letter_queue(queue.settings.queue):
                    return number
        return NOBODYS + message

    def stored(self, message: int) -> Stored | None:
        """The message with this number, if it is there."""
        found = (_held_in(queue, message) for queue in self.namespace.queues.values())
        return next((stored for stored in found if stored is not None), None)

    def offers(self, spoken: Mapping[str, object], setting: Setting) -> list[Answer] | None:
        """All that the model's `step` answers; `None` where it cannot even be asked."""
        command = asked(spoken, setting, self)
        if command is None:
            return None
        found = step(self.namespace, command, connection_of(spoken))
        return [self._answer(spoken, command, each) for each in found]

    def admits(self, spoken: Mapping[str, object], setting: Setting, reply: Reply) -> list[Answer]:
        """What the model makes of this reply, if it was seen; nothing if it forbids it."""
        command = asked(spoken, setting, self)
        if command is None:
            return []
        outcome = self._outcome(command, reply)
        if outcome is None:
            return []
        seen = Sighting(outcome, _witness(reply))
        connection = connection_of(spoken)
        found = [
            self._answer(spoken, command, each)
            for each in transitions(self.namespace, command, connection, seen)
        ]
        return [each for each in found if reply in each.replies or not _is_refusal(reply)]

    def _answer(
        self, spoken: Mapping[str, object], command: Command, transition: Transition
    ) -> Answer:
        sent = self.sent
        outcome = transition.outcome
        if isinstance(command, Send | Schedule) and isinstance(outcome, Done | Scheduled):
            sent = (*sent, command.message)
        told = len(sent) > len(self.sent) and self._tells_partitions(command)
        settled = _settled(transition.next, command, alone="queue" in spoken)
        return Answer(
            replies=replies_of(transition, sent=len(sent), partition=told),
            twin=Twin(settled, sent),
            rules=transition.rules,
        )

    def _tells_partitions(self, command: Command) -> bool:
        queue = self.namespace.queues.get(getattr(command, "queue", ""))
        partitioned = queue is not None and bool(queue.settings.partitioned)
        return partitioned and self.namespace.vantage.partitions

    def _outcome(self, command: Command, reply: Reply) -> Outcome | None:
        """What a client would see that got this reply; `None` if there is nothing to see."""
        match reply[0]:
            case "Done" | "Empty":
                return _PLAIN[reply[0]]
            case "Refused":
                return Refused(error=Error.OTHER if reply[1] == ANY else Error(reply[1]))
            case "Received":
                return self._received(command, reply[1])
            case "Peeked":
                return self._peeked(command, reply[1])
            case "Scheduled":
                return outcome_of(reply) if reply[1] == len(self.sent) + 1 else None
            case _:
                return outcome_of(reply)

    def _received(self, command: Command, message: int) -> Outcome | None:
        view = self._view(message, command)
        if view is None or not isinstance(command, Receive | ReceiveDeferred):
            return None
        if command.mode is ReceiveMode.PEEK_LOCK:
            queue = self.namespace.queues[owner_of(command.queue)]
            if command.session_id is not None and command.session_id not in queue.sessions:
                return None
            view = attrs.evolve(
                view,
                lock_token=self._next_token(message),
                locked_until=_until(self.namespace, queue, command),
            )
        if isinstance(command, ReceiveDeferred):
            return ReceivedSeveral(messages=(view,))
        return Received(message=view)

    def _view(self, message: int, command: Command) -> MessageView | None:
        """The message as a client would see it there; nobody need know yet that it is there."""
        if message > len(self.sent):
            return None
        queue = self.namespace.queues.get(getattr(command, "queue", ""))
        if queue is not None and (stored := _held_in(queue, message)) is not None:
            return view_of(stored)
        return MessageView.of(self.sent[message - 1])

    def _next_token(self, message: int) -> str:
        stored = self.stored(message)
        before = 0 if stored is None else stored.deliveries
        return f"lock {before + 1} of {body_of(message)}"

    def _peeked(self, command: Command, messages: tuple[int, ...]) -> Outcome | None:
        found = [self._view(message, command) for message in messages]
        views = [each for each in found if each is not None]
        return Peeked(messages=tuple(views)) if len(views) == len(messages) else None

    def key(self, *, alone: bool) -> object:
        """Two states with the same key answer alike from here on; see `sameness`."""
        return (len(self.sent), sameness(self.namespace, alone=alone))


def _settled(namespace: Namespace, command: Command, *, alone: bool) -> Namespace:
    """What a step does in the specs beside what the model does with one command.

    The model ends locks when a queue is next asked for something, a spec at once; and a spec's
    partitions are those of all its queues, unless its commands name a queue that is hit `alone`.
    """
    if isinstance(command, TakePartitionDown | BringPartitionUp):
        for name in () if alone else namespace.queues:
            if name != command.queue and not is_dead_letter_queue(name):
                (also,) = step(namespace, attrs.evolve(command, queue=name))
                namespace = also.next
    if isinstance(command, AdvanceClock):
        for name in namespace.queues:
            namespace = prepared(namespace, name) or namespace
    return namespace


def _held_in(queue: Queue, message: int) -> Stored | None:
    numbers = queue.bodies.get(body_of(message))
    known = numbers if isinstance(numbers, tuple) else ()
    return next((queue.messages[each] for each in known if each in queue.messages), None)


def _until(namespace: Namespace, queue: Queue, command: Receive | ReceiveDeferred) -> int:
    if command.session_id is not None:
        return session_at(queue, command.session_id).expiry.earliest
    return namespace.now.earliest + queue.settings.lock_duration


def _is_refusal(reply: Reply) -> bool:
    return bool(reply[0] == "Refused")


def _witness(reply: Reply) -> Witness | None:
    if reply[0] == "Done" and reply[1] is not None:
        return Witness(partition=reply[1])
    return None


def born(setting: Setting, commands: Iterator[Mapping[str, object]]) -> Twin:
    """The model as a configuration finds it: queues created, the places of keys known."""
    profile = profile_for(
        load_catalogue(), readings={**RUNNING, **setting.readings}, partitions=setting.partitions
    )
    namespace = fresh_namespace(profile, Observability(partitions=setting.beside == "model"))
    for creation in creations(setting, commands):
        namespace = _created(namespace, creation)
        queue = namespace.queues[creation.queue]
        if setting.beside == "model" and creation.partitioned:
            places = {**setting.places, **setting.elsewhere.get(creation.queue, {})}
            queue = attrs.evolve(queue, homes=_homes(places))
            namespace = with_queue(namespace, queue)
    return Twin(namespace)


def _created(namespace: Namespace, creation: CreateQueue) -> Namespace:
    (created,) = step(namespace, creation)
    return created.next


def _homes(places: Mapping[str, int]) -> Map[Key, int]:
    """Each key's partition, whichever property it is taken from."""
    properties = ("", SESSION_ID, PARTITION_KEY, MESSAGE_ID)
    return Map(
        {
            Key(name, key): 1 << place
            for key, place in places.items()
            if key != NONE
            for name in properties
        }
    )
