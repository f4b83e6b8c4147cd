"""The model as a bus for clients: its state, its clock and its decisions."""

import time
from collections.abc import Callable, Generator, Sequence
from random import Random
from typing import Final, Protocol

import attrs

from busproof import vocabulary as v
from busproof.adapters.hostile import HOSTILE_SLACK, WrongTimers
from busproof.broker.direct_actions import (
    act,
    deletable,
    delete,
    find_locked,
    free,
    give_back,
    rest,
)
from busproof.broker.due_timers import DueTimers
from busproof.broker.names import belongs_to
from busproof.broker.observability.decisions import Decisions
from busproof.broker.observability.traffic import Traffic
from busproof.broker.policies import REGULAR, Regular, choices_of, patient, readings_seen
from busproof.errors import UsageError
from busproof.model import Answer, Namespace, RoundRobin, forget, new_namespace, step
from busproof.model.journal import Change
from busproof.model.life_cycle import ACTIVE
from busproof.model.rules import NO_FAULT, Families
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import EntityKind, EntitySettings

__all__ = ["SERVED", "Bus", "Description", "Watching"]

Description = v.QueueDescription | v.TopicDescription
Heard = Callable[[Sequence[Change]], object]
"""Called with the changes of a step."""

SERVED: Final = (EntityKind.QUEUE, EntityKind.TOPIC, EntityKind.SUBSCRIPTION)
"""Kinds of entities that clients create and delete; dead-letter queues come and go with them."""
NOTED: Final = (v.Send, v.SendBatch, v.Schedule)
"""Commands whose decisions are recorded."""
ENDS: Final = (v.CommitTransaction, v.RollBackTransaction)


class Watching(Protocol):
    """Follower of all that a bus decides, which never changes a decision."""

    def begin(self, bus: "Bus") -> None:
        """Follow a bus from now on; it may have entities already."""

    def meet(self, connection: str, client: str) -> None:
        """Note the name that the client of a connection has given itself."""

    def saw(self, command: v.Command, outcome: v.Outcome, connection: str) -> None:
        """Note a request that was answered."""

    def note_release(self, path: str, token: str) -> None:
        """Note that a locked message is released as if it had never been delivered."""

    def note_deletion(self, path: str, bodies: Sequence[str]) -> None:
        """Note that messages are deleted without having been received."""


class Moment:
    """A block in which the clock of a bus stands still; one may be within another.

    Args:
        keep_time: advances the clock.
    """

    def __init__(self, keep_time: Callable[[], object]) -> None:
        self._keep_time = keep_time
        self.depth = 0
        """Number of blocks that have begun and not ended."""

    def __enter__(self) -> None:
        self._keep_time()
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


class Bus:
    """A namespace whose requests the model decides one after another.

    Args:
        profile: the rules and readings in force.
        policy: how the model chooses among permitted behaviours.
        seed: the seed of its choices.
        clock: real or virtual.
        monotonic: a function that returns the time of the real clock, in seconds.
        families: families of rules with a fault.
    """

    is_trusted = True
    """Whether the broker relies on the namespace's state and may refuse requests itself."""

    def __init__(
        self,
        profile: v.Profile,
        policy: str = "round-robin",
        seed: int = 0,
        clock: str = v.Clock.REAL,
        monotonic: Callable[[], float] = time.monotonic,
        families: Families = NO_FAULT,
    ) -> None:
        self._policy, self._seed = policy, seed
        random = Random(seed)  # noqa: S311 - repeatable choices, not secrets
        self._choices = self._choosing = choices_of(policy, random)
        self.is_regular = self.is_trusted and isinstance(self._choices, RoundRobin)
        """Whether it always makes the regular choice, so that its answers can be foreseen."""
        self._patient = patient(self._choices)
        self.clock = v.Clock(clock)
        self._is_real = self.clock is v.Clock.REAL
        self._monotonic, self._started = monotonic, monotonic()
        self._due = DueTimers()
        self.epoch = int(time.time() * v.MICROSECONDS)
        if self.clock is v.Clock.VIRTUAL:
            # Clients see milliseconds, so align the epoch: a virtual clock then shows whole ones.
            self.epoch -= self.epoch % v.MICROSECONDS
        punctual = profile.readings.get("SCHEDULE-DELAY") == "at-once"
        hostile = policy == "hostile"
        self._timers = WrongTimers(self._step, random, punctual=punctual) if hostile else None
        self.namespace = new_namespace(profile, **families)
        self.namespace.epoch = self.epoch
        self.namespace.choices = self._choices
        self.listeners: list[Heard] = []
        """Called with the changes of each step once no undo is possible."""
        self._names: dict[str, str] = {}
        self._is_kept = False
        self._moment = Moment(self.keep_time)
        self.decisions, self.traffic = Decisions(), Traffic()
        self.watcher: Watching | None = None
        """Follows all decisions; `None` if nobody does."""

    @property
    def slack(self) -> int:
        """The maximum error of a timer, in microseconds."""
        return 0 if self._timers is None else HOSTILE_SLACK

    def requested_settings(self, entity: Entity) -> EntitySettings:
        """Return the settings that an entity's creator requested, even if timers err on purpose."""
        if self._timers is None:
            return entity.settings
        wrong = self._timers.asked(entity.path, entity.settings)
        return attrs.evolve(entity.settings, **wrong)

    @property
    def now(self) -> int:
        """Time of the bus, in microseconds since its start."""
        self.keep_time()
        return self.namespace.now

    def epoch_ms(self, moment: int) -> int:
        """Convert a time of the bus to milliseconds since 1970, which clients use."""
        return (self.epoch + moment) // 1000

    def anew(self, profile: v.Profile) -> "Bus":
        """Return a bus with an empty namespace, the given profile, and the next seed."""
        replaced, seed = self.namespace.replaced, self._seed + 1
        return type(self)(profile, self._policy, seed, self.clock, self._monotonic, replaced)

    def answer_as_seen(self) -> None:
        """Read what the profile leaves open as the real service was seen to read it.

        Only a regular bus does, and it keeps what it has chosen before. A namespace that a test
        suite begins is held to its profile alone.
        """
        if self._policy == REGULAR:
            for name, reading in readings_seen(self.namespace.profile).items():
                self.namespace.readings.setdefault(name, reading)

    def resume(self, epoch: int) -> None:
        """Continue with a restored namespace, as if only time had passed since it was stored.

        Args:
            epoch: time 0 of the namespace, in microseconds since 1970.
        """
        self._names.update((name.lower(), name) for name in self.names())
        self.epoch = self.namespace.epoch = epoch
        # A wall clock that was set back must not move the namespace back in time.
        passed = max(int(time.time() * v.MICROSECONDS) - epoch, self.namespace.now)
        self._started = self._monotonic() - passed / v.MICROSECONDS

    def advance(self, duration: int, more: int = 1) -> None:
        """Advance the clock by microseconds and a moment, so that what ends by then has ended.

        Raises:
            UsageError: the clock is real.
        """
        if self.clock is v.Clock.REAL:
            raise UsageError("the clock is real and cannot be moved; start with --clock virtual")
        self.ask(v.AdvanceClock(duration=duration + more), "clock")

    def path(self, address: str) -> str:
        """Return the path of an entity in the case that it was created with."""
        low = address.lower()
        bare = v.owner_of(low)
        known = self._names.get(bare, address[: len(bare)])
        return known + low[len(bare) :]

    def entity(self, path: str) -> Entity | None:
        """Return the entity at a path, after due timers have run; `None` if there is none."""
        self.keep_time()
        return self.namespace.entities.get(path)

    def find_entity(self, path: str) -> Entity:
        """Return the entity at a path, which must exist."""
        return self.namespace.entities[path]

    def ask(self, command: v.Command, connection: str) -> Answer:
        """Decide a request that is answered at once."""
        self.keep_time()
        return self._decide(command, connection)

    def ask_all(self, commands: Sequence[v.Command], connection: str) -> list[Answer]:
        """Decide several requests atomically; if one is refused, its answer is the last."""
        if len(commands) == 1:
            return [self.ask(commands[0], connection)]
        self.keep_time()
        journal, decided_before = self.namespace.journal, self.decisions.count
        answers: list[Answer] = []
        forget(self.namespace)
        self._is_kept = True
        try:
            for command in commands:
                answers.append(self._decide(command, connection))
                if (refused := answers[-1].refused) is not None:
                    self._take_back(commands, answers, decided_before, refused)
                    break
        finally:
            self._is_kept = False
        # Listeners get no change that could still be undone.
        self._tell(journal.hand_over())
        # What was undone is not told either.
        first = 0 if answers[-1].refused is None else len(answers) - 1
        for command, answer in zip(commands[first:], answers[first:], strict=False):
            self._show(command, answer, connection)
        return answers

    def _take_back(
        self,
        commands: Sequence[v.Command],
        answers: Sequence[Answer],
        decided_before: int,
        refused: v.Refused,
    ) -> None:
        """Undo the requests that were answered before a refusal.

        A lone refused request is not undone: it may have fixed a choice, as of a key's partition.
        """
        if len(answers) > 1:
            self.namespace.journal.undo(0)
        for command, answer in zip(commands, answers[:-1], strict=False):
            self.traffic.count(command, answer.outcome, times=-1)
        self.decisions.refuse(decided_before, refused)

    def own_description(self, path: str) -> Description | None:  # noqa: ARG002 - for others
        """Return the bus's own description of an entity; `None` if the namespace's state serves."""
        return None

    def topics(self) -> list[str]:
        """Return the names of all topics."""
        return [name for name in self.names() if self.find_entity(name).kind is EntityKind.TOPIC]

    def subscriptions(self, topic: str) -> list[str]:
        """Return the paths of a topic's subscriptions."""
        return sorted(other.path for other in self.namespace.entities[topic].subscriptions or ())

    def ends(self, path: str, session_id: str) -> int:
        """Return when the lock of a session ends, in the time of the bus."""
        return self.namespace.entities[path].sessions[session_id].locked_until

    def oldest(
        self,
        path: str,
        count: int,
        is_old: Callable[[v.Message], bool],
        session_id: str | None = None,
    ) -> Generator[bool, None, list[QueuedMessage]]:
        """Find at most `count` messages that `deletable` yields; `yield` lets others have turns."""
        entity, messages = self.entity(path), dict[QueuedMessage, None]()
        for queued in () if entity is None else deletable(entity, session_id, is_old):
            if queued is None:
                yield False
                continue
            messages[queued] = None
            if len(messages) == count:
                break
        return list(messages)

    def delete(self, messages: Sequence[QueuedMessage]) -> int:
        """Delete those messages that are still there and not locked; return their number."""
        # Since they were found, other clients had turns and may have locked or settled some.
        left = [queued for queued in messages if queued.is_there and queued.state is ACTIVE]
        if self.watcher is not None and left:
            bodies = [queued.message.body for queued in left]
            self.watcher.note_deletion(left[0].entity.path, bodies)
        self.act(lambda namespace: delete(namespace, left))
        return len(left)

    def find_locked(self, path: str, token: str) -> str | None:
        """Return the name of the message with a lock token, or `None` if there is none."""
        queued = find_locked(self.namespace.entities.get(path), token)
        return None if queued is None else queued.message.body

    def wait_for(
        self, command: v.Receive | v.AcceptNextSession | v.CloseSession, connection: str
    ) -> Answer | None:
        """Decide a request that can wait; return `None` if it has to.

        A receive in a session whose partition is down waits, too (SESS-25), because a refusal would
        end its link.
        """
        self.keep_time()
        self._choosing = self._patient
        try:
            answer = (self._timers or self._step)(command, connection)
        finally:
            self._choosing = self._choices
        if isinstance(answer.outcome, v.Empty) or "SESS-25" in answer.rules:
            return None
        self.traffic.count(command, answer.outcome)
        self._show(command, answer, connection)
        return answer

    def holds(self, path: str, session_id: str, connection: str) -> bool:
        """Return whether a connection holds a session."""
        entity = self.entity(path)
        session = None if entity is None else entity.sessions.get(session_id)
        return session is not None and session.holder == connection

    def receive_messages(self, command: v.Receive, most: int, connection: str) -> Sequence[Answer]:  # noqa: ARG002 - this bus gives one at a time
        """Return the next answers for a receiver with credit for `most` messages."""
        answer = self.wait_for(command, connection)
        return () if answer is None else (answer,)

    def browse(self, queue: str, session_id: str | None, first: int, count: int) -> Answer:
        """Decide a peek from a sequence number on.

        It has a sequence number even at the start, so that the next peek can continue after it.
        """
        command = v.Peek(
            queue=queue, count=count, session_id=session_id, from_sequence_number=max(first, 1)
        )
        return self.ask(command, "peek")

    def release(self, queue: str, token: str) -> None:
        """Release a locked message as if it had never been delivered."""
        queued = find_locked(self.entity(queue), token)
        if queued is not None:
            if self.watcher is not None:
                self.watcher.note_release(queue, token)
            self.act(lambda namespace: give_back(namespace, queued))

    def record_name(self, path: str) -> None:
        """Record the case that an entity's name was created with."""
        self._names[path.lower()] = path

    def forget(self, path: str) -> None:
        """Remove the names of a deleted entity and of its subscriptions."""
        gone = {self._names.pop(low) for low in list(self._names) if belongs_to(low, path)}
        gone.update(*map(v.dead_letter_queues_of, gone))
        for kept in (self._choices, self._timers):
            if isinstance(kept, Regular | WrongTimers):
                kept.forget(gone)
        self.traffic.forget(path)

    def names(self) -> list[str]:
        """Return the paths of all queues, topics and subscriptions."""
        return sorted(p for p, entity in self.namespace.entities.items() if entity.kind in SERVED)

    def one_moment(self) -> "Moment":
        """Stop the clock for the requests in the block, which arrived at the same time."""
        return self._moment

    def keep_time(self) -> bool:
        """Advance a real clock, and run due timers; return whether some are left for later."""
        namespace = self.namespace
        now = before = namespace.now
        if self._is_real and not self._moment.depth:
            now = max(before, int((self._monotonic() - self._started) * v.MICROSECONDS))
        if namespace.timers.is_due(now):
            return self._due.run(namespace, now, self._step)
        if now > before:
            rest(namespace, now)
        return False

    def _step(self, command: v.Command, connection: str) -> Answer:
        answer = step(self.namespace, command, connection, self._choosing, keep=self._is_kept)
        if not self._is_kept:
            self._tell(answer.changes)
        return answer

    def act(self, do: Callable[[Namespace], None]) -> None:
        """Change records of the namespace directly; the model has no command for such changes."""
        self._tell(act(self.namespace, self._choices, do))

    def _tell(self, changes: Sequence[Change]) -> None:
        for heard in self.listeners:
            heard(changes)
        free(changes)

    def _decide(self, command: v.Command, connection: str) -> Answer:
        answer = (self._timers or self._step)(command, connection)
        self.traffic.count(command, answer.outcome)
        if isinstance(command, NOTED):
            refused, moment = answer.refused, self.namespace.now
            partition = None if refused else answer.partition
            self.decisions.keep(command, connection, moment, answer.rules, refused, partition)
        elif isinstance(command, ENDS):
            # Its name is never reused, so its sends need not be kept.
            self.namespace.transactions.pop(command.transaction, None)
        if not self._is_kept:
            self._show(command, answer, connection)
        return answer

    def _show(self, command: v.Command, answer: Answer, connection: str) -> None:
        """Let the watcher see a decision that stands."""
        if self.watcher is not None:
            self.watcher.saw(command, answer.outcome, connection)
