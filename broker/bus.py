"""The model as a bus that decides: its state, its clock, and a record of what it decided."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from random import Random

from busproof.broker.answers import Answer
from busproof.broker.choosing import Chooser
from busproof.broker.decisions import Decisions
from busproof.broker.traffic import Traffic
from busproof.errors import UsageError
from busproof.oracle.choosing import at_liberty, decided
from busproof.oracle.evolving import evolve
from busproof.oracle.ledger import remove
from busproof.oracle.returning import give_back, prepared
from busproof.oracle.settling import has_ended, locked
from busproof.oracle.skewing import HOSTILE_SLACK, Skew
from busproof.oracle.state import Namespace, Queue, Topic, fresh_namespace, with_queue
from busproof.oracle.sweeping import swept
from busproof.oracle.transition import Transition
from busproof.oracle.window import Window
from busproof.vocabulary.commands import (
    AcceptNextSession,
    AdvanceClock,
    Command,
    CreateQueue,
    DeleteQueue,
    DeleteTopic,
    Peek,
    Receive,
    Schedule,
    Send,
    SendBatch,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Outcome, QueueDescription, TopicDescription
from busproof.vocabulary.paths import DEAD_LETTERS, is_dead_letter_queue, owner_of
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import MICROSECONDS, Clock

__all__ = ["Bus", "Description"]

Description = QueueDescription | TopicDescription


class Bus:
    """A namespace that the model decides, one request after another.

    Args:
        profile: what it is held to.
        policy: how it chooses where it may.
        seed: of its choices.
        clock: whether time passes by itself or by request.
        monotonic: tells the time of a real clock, in seconds.
    """

    is_model = True
    """Whether its namespace tells all that there is to know."""

    def __init__(
        self,
        profile: Profile,
        policy: str = "round-robin",
        seed: int = 0,
        clock: str = Clock.REAL,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._policy, self._seed = policy, seed
        self._chooser = Chooser(policy, seed)
        self.clock = Clock(clock)
        self._monotonic = monotonic
        self._started = monotonic()
        self.epoch = int(time.time() * MICROSECONDS)
        if self.clock is Clock.VIRTUAL:
            # Clients are told milliseconds; whole ones of a virtual clock they are told as such.
            self.epoch -= self.epoch % MICROSECONDS
        random = Random(seed)  # noqa: S311 - repeatable choices, not secrets
        punctual = profile.readings.get("SCHEDULE-DELAY") == "at-once"
        self._skew = Skew(random, punctual=punctual) if policy == "hostile" else None
        if policy != "round-robin":
            profile = at_liberty(profile, random)
        self.namespace = fresh_namespace(decided(profile), Observability(decides=True))
        self._names: dict[str, str] = {}
        self._is_held = False
        self.decisions = Decisions()
        self.traffic = Traffic()

    @property
    def slack(self) -> int:
        """By how much any timer may be wrong, in microseconds."""
        return 0 if self._skew is None else HOSTILE_SLACK

    def announced(self, settings: CreateQueue) -> CreateQueue:
        """What an entity was asked to be like, whatever its timers make of it."""
        return settings if self._skew is None else self._skew.announced(settings)

    @property
    def now(self) -> int:
        """Microseconds since the start."""
        self._keep_time()
        return self.namespace.now.latest

    def epoch_ms(self, moment: int) -> int:
        """A moment of the bus as clients are told it: milliseconds since 1970."""
        return (self.epoch + moment) // 1000

    def anew(self, profile: Profile) -> "Bus":
        """An empty namespace that is held to this profile; its choices are others than here."""
        return Bus(profile, self._policy, self._seed + 1, self.clock, self._monotonic)

    def resume(self, namespace: Namespace, epoch: int) -> None:
        """Go on with a namespace that was kept, as though time had passed since and nothing else.

        Args:
            namespace: as it was, its transactions rolled back.
            epoch: its time 0, in microseconds since 1970.
        """
        ours = self.namespace
        self.namespace = evolve(namespace, profile=ours.profile, vantage=ours.vantage)
        for name in self.names():
            self.known_as(name)
        self.epoch = epoch
        passed = max(int(time.time() * MICROSECONDS) - epoch, namespace.now.latest)
        self._started = self._monotonic() - passed / MICROSECONDS

    def advance(self, duration: int, more: int = 1) -> None:
        """Let time pass, in microseconds, and a moment more: what ends then has ended.

        Raises:
            UsageError: the clock is a real one.
        """
        if self.clock is Clock.REAL:
            raise UsageError("the clock is real and cannot be moved; start with --clock virtual")
        self.ask(AdvanceClock(duration=duration + more), "clock")

    def path(self, address: str) -> str:
        """The path of an entity as it was created; letters may differ in case."""
        low = address.lower()
        bare = owner_of(low)
        known = self._names.get(bare, address[: len(bare)])
        return known + low[len(bare) :]

    def entity(self, path: str) -> Queue | None:
        """The entity with this path, brought up to the present."""
        self._keep_time()
        ready = prepared(self.namespace, path)
        if ready is None:
            return None
        self.namespace = ready
        return ready.queues.get(path)

    def ask(self, command: Command, connection: str) -> Answer:
        """Decide a request that is answered at once."""
        self._keep_time()
        if self._skew is not None:
            command = self._skew.taken(command)
        return self._taken(
            self._chooser.chosen(self.namespace, command, connection), command, connection
        )

    def ask_all(self, commands: Iterable[Command], connection: str) -> list[Answer]:
        """Decide several requests, which all take effect or none; then the refusal comes last."""
        before, decided_before, answers = self.namespace, self.decisions.count, []
        taken: list[tuple[Command, Outcome]] = []
        for command in commands:
            answers.append(self.ask(command, connection))
            if (refused := answers[-1].refused) is not None:
                if len(answers) > 1:
                    self.namespace = before
                for each in taken:
                    self.traffic.count(*each, times=-1)
                # A refusal by itself has said something, such as where a key leads.
                self.decisions.refuse(decided_before, refused)
                break
            taken.append((command, answers[-1].outcome))
        return answers

    def managed(self, command: UpdateQueue | DeleteQueue) -> Answer:
        """Change or delete an entity of any kind, of which the vocabulary names topics apart."""
        queue = self.entity(command.queue)
        if queue is None or not isinstance(queue.role, Topic):
            return self.ask(command, "administration")
        if isinstance(command, DeleteQueue):
            return self.ask(DeleteTopic(topic=command.queue), "administration")
        changed = UpdateTopic(
            topic=command.queue,
            partitioned=command.partitioned,
            duplicate_detection=command.duplicate_detection,
            time_to_live=command.time_to_live,
            status=command.status,
        )
        return self.ask(changed, "administration")

    def described(self, path: str) -> Description | None:  # noqa: ARG002 - for others
        """What the bus itself tells of an entity; `None` where its state tells it."""
        return None

    def topics(self) -> list[str]:
        """The names of all topics."""
        queues = self.namespace.queues
        return [name for name in self.names() if isinstance(queues[name].role, Topic)]

    def subscriptions(self, topic: str) -> list[str]:
        """The paths of a topic's subscriptions."""
        role = self.namespace.queues[topic].role
        return sorted(role.subscriptions) if isinstance(role, Topic) else []

    def ends(self, path: str, session_id: str) -> int:
        """When the lock of a session ends."""
        return self.namespace.queues[path].sessions[session_id].expiry.earliest

    def sweep(self, path: str) -> None:
        """Let what has died in an entity be gone, or be among its dead letters."""
        if self.entity(path) is not None:
            self.namespace = swept(self.namespace, path)

    def delete(self, path: str, count: int, before: int, session_id: str | None = None) -> int:
        """Delete messages that nobody holds, the oldest first; returns how many.

        Args:
            path: of the entity.
            count: how many at most.
            before: those that came at this moment or earlier.
            session_id: of the session that they have to be of.
        """
        queue = self.entity(path)
        if queue is None:
            return 0
        found = (each for _, each in sorted(queue.messages.items()) if each.available)
        chosen = [
            each
            for each in found
            if each.arrived.earliest <= before and session_id in (None, each.message.session_id)
        ][:count]
        for each in chosen:
            queue = remove(queue, each)
        self.namespace = with_queue(self.namespace, queue)
        return len(chosen)

    def held(self, path: str, token: str) -> str | None:
        """The name of the message that this lock is of."""
        queue = self.namespace.queues.get(path)
        stored = None if queue is None else locked(queue, token)
        return None if stored is None else stored.message.body

    def wait_for(self, command: Receive | AcceptNextSession, connection: str) -> Answer | None:
        """Decide a request that may wait; `None` while there is nothing to answer."""
        self._keep_time()
        if is_dead_letter_queue(command.queue):
            self.sweep(owner_of(command.queue))
        found = self._chooser.waited_for(self.namespace, command, connection)
        return None if found is None else self._taken(found, command, connection)

    def given(self, command: Receive, most: int, connection: str) -> Sequence[Answer]:  # noqa: ARG002 - one is not too many
        """What a receiver that has room for so many messages is given next; it asks again."""
        answer = self.wait_for(command, connection)
        return () if answer is None else (answer,)

    def browse(self, queue: str, session_id: str | None, first: int, count: int) -> Answer:
        """Decide a peek that begins at a sequence number."""
        self._keep_time()
        entity = self.entity(queue)
        held = 0 if entity is None else len(entity.messages) + len(entity.calendar.entries)
        wanted = count if not first else max(count, held)
        command = Peek(queue=queue, count=max(1, wanted), session_id=session_id)
        found = self._chooser.browsed(self.namespace, command, "peek", first, count)
        return self._taken(found, command, "peek")

    def release(self, queue: str, token: str) -> None:
        """Give a locked message back as though it had never been delivered."""
        entity = self.entity(queue)
        stored = None if entity is None else locked(entity, token)
        if entity is None or stored is None or has_ended(self.namespace, entity, stored):
            return
        now = self.namespace.now
        self.namespace = give_back(self.namespace, entity, stored, now, "LIFE-04", counts=False)

    def known_as(self, path: str) -> None:
        """Remember an entity's name as it was given."""
        self._names[path.lower()] = path

    def forget(self, path: str) -> None:
        """Forget the name of an entity that is gone, and of all beneath it."""
        low = path.lower()
        for name in [each for each in self._names if each == low or each.startswith(f"{low}/")]:
            del self._names[name]
        self.traffic.forget(path)

    def names(self) -> list[str]:
        """The paths of all queues, topics and subscriptions."""
        return sorted(name for name in self.namespace.queues if not name.endswith(DEAD_LETTERS))

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """What is asked for within it came at once, and is decided at the moment when it came."""
        self._keep_time()
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False

    def _keep_time(self) -> None:
        if self.clock is Clock.REAL and not self._is_held:
            now = int((self._monotonic() - self._started) * MICROSECONDS)
            if now > self.namespace.now.latest:
                self.namespace = evolve(self.namespace, now=Window(now, now))

    def _taken(self, chosen: Transition, command: Command, connection: str) -> Answer:
        self.namespace = chosen.next
        partition = None if chosen.choice is None else chosen.choice.partition
        outcome = chosen.outcome if self._skew is None else self._skew.seen(chosen.outcome)
        answer = Answer(outcome, chosen.rules, partition)
        self.traffic.count(command, outcome)
        if isinstance(command, Send | SendBatch | Schedule):
            moment, refused = self.namespace.now.latest, answer.refused
            self.decisions.keep(command, connection, moment, answer.rules, refused, partition)
        return answer
