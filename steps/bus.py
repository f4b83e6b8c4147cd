"""The bus in the words of the steps: what scenarios ask again and again, on top of a driver."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from busproof.adapters.base import Adapter, Hearing
from busproof.history.records import Oracle
from busproof.history.render.events import event_words
from busproof.history.render.outcomes import outcome_words
from busproof.judging.driver import Driver, Recording
from busproof.judging.liveness import BOUND
from busproof.judging.required_capabilities import needs
from busproof.judging.scenario_outcome import (
    Inconclusive,
    Missed,
    NotApplicable,
    NotConforming,
    Undeclared,
    blaming_the_adapter,
)
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    BringPartitionUp,
    Command,
    Complete,
    CreateQueue,
    ListQueues,
    Peek,
    Receive,
    Send,
    SendBatch,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import (
    Done,
    Event,
    Indeterminate,
    Listed,
    Outcome,
    Peeked,
    Received,
    Refused,
    Unsupported,
)
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import MICROSECONDS, Clock, Error, ReceiveMode

__all__ = ["Bus"]

ROUNDS = 1000
"""Receives in a row, beyond those that what was sent explains, after which a scenario gives up."""

PEEKS = 20
"""Peeks in a row after which a scenario takes it that there is nothing to be shown."""

PAUSES = (
    *(MICROSECONDS // 4,) * 8,
    *(MICROSECONDS,) * 18,
    *(BOUND // 12,) * 10,
)
"""Between tries for what has to come at some time: `BOUND` in all, and often to begin with."""

DELAYS = ("SCHEDULE-DELAY", "FORWARD-DELAY", "DEAD-LETTER-DELAY")
"""The ambiguities that say how late a message may come."""


class Bus(Driver):
    """A driver that refuses what is not declared, and remembers what a scenario has sent."""

    def __init__(
        self, adapter: Adapter, profile: Profile, oracle: Oracle, recording: Recording
    ) -> None:
        super().__init__(adapter, profile, oracle, recording)
        self._bodies = 0
        self._deadline: int | None = None
        self.sent: list[Message] = []
        self.settings: dict[str, CreateQueue] = {}

    def do(self, command: Command, connection: str = "c1") -> Outcome:
        """Ask one thing and judge the answer.

        Raises:
            NotConforming: no rule allows this answer.
            Missed: no answer came, or too late.
            NotApplicable: the adapter does not declare that it can ask it.
            Undeclared: the adapter cannot ask it although it said it could.
            AdapterError: the adapter broke.
        """
        for capability in needs(command):
            self.need(capability)
        event, violation = self.ask(command, connection)
        if violation is not None:
            raise self.complaint(event, violation)
        if isinstance(event.outcome, Indeterminate):
            raise self._missed("no answer came to", event)
        if isinstance(event.outcome, Unsupported):
            raise Undeclared(f"declared, yet unsupported: {event_words(event)}")
        if isinstance(command, CreateQueue) and isinstance(event.outcome, Done):
            self.settings[command.queue] = command
        self._keep_deadline(event)
        return event.outcome

    def do_all(self, commands: Sequence[Command]) -> Iterator[Outcome]:
        """Ask one thing after another, as `do` does, of whoever is told before what will come.

        Raises:
            NotConforming: as `do`, and so are the others.
        """
        if isinstance(self._adapter, Hearing):
            with blaming_the_adapter():
                self._adapter.hear(commands, "c1")
        return map(self.do, commands)

    def _keep_deadline(self, event: Event) -> None:
        deadline, self._deadline = self._deadline, None
        if deadline is not None and event.returned is not None and event.returned >= deadline:
            raise self._missed("the answer came too late for the scenario", event)

    def _missed(self, how: str, event: Event) -> Missed:
        return Missed(f"{how}: {event_words(event)}", len(self._events) - 1)

    def message(self, **properties: Any) -> Message:
        """A message with these properties and a body that no other message has."""
        self._bodies += 1
        return Message(body=f"m{self._bodies}", **properties)

    def send(self, command: Send) -> Outcome:
        """Send one message and remember that it was sent."""
        outcome = self.do(command)
        if isinstance(outcome, Done):
            self.sent.append(command.message)
        return outcome

    def send_batch(self, command: SendBatch) -> Outcome:
        """Send several messages at once and remember those that were sent."""
        outcome = self.do(command)
        if isinstance(outcome, Done):
            self.sent.extend(command.messages)
        return outcome

    def expect(self, outcome: Outcome, kind: type[Outcome]) -> None:
        """Insist on the kind of an answer that a scenario goes on from.

        Raises:
            NotConforming: it is another one.
        """
        if not isinstance(outcome, kind):
            raise NotConforming(
                f"the scenario expects {kind.__name__} and got {outcome_words(outcome)}"
            )

    def need(self, capability: Capability) -> None:
        """Insist on a capability, which only this scenario of its rule may need.

        Raises:
            NotApplicable: the adapter does not declare it.
        """
        if capability not in self.capabilities:
            raise NotApplicable(f"capability: {capability.value}")

    def located(self, queue: str, bodies: Iterable[str], session_id: str | None) -> list[int]:
        """The partitions that took the messages, as witnessed or named by a sequence number.

        Raises:
            NotApplicable: the adapter tells of no partitions.
            NotConforming: a message cannot be received.
        """
        self.need(Capability.WITNESS)
        wanted = list(bodies)
        if any(body not in self.partition_of for body in wanted):
            if session_id is not None:
                self.do(AcceptSession(queue=queue, session_id=session_id))
            self.received(queue, session_id=session_id)
        lost = [body for body in wanted if body not in self.partition_of]
        if lost:
            raise NotConforming(f"no witness and no receive tells where {lost[0]!r} went")
        return [self.partition_of[body] for body in wanted]

    def received(
        self, queue: str, connection: str = "c1", session_id: str | None = None
    ) -> list[MessageView]:
        """Receive and complete, one message after another, until the queue comes back empty.

        Raises:
            Inconclusive: it never does, and the judge could not tell whether it had to.
        """
        views: list[MessageView] = []
        for _ in range(len(self.sent) + ROUNDS):
            outcome = self.receive(queue, connection, session_id)
            if not isinstance(outcome, Received):
                return views
            views.append(outcome.message)
            self.complete(queue, outcome.message, connection)
        raise Inconclusive(f"the queue is still not empty after {len(views)} receives")

    def peeked(self, command: Peek) -> tuple[MessageView, ...]:
        """What a peek shows; one that shows nothing is repeated.

        A partition without messages may have answered it (PEEK-EMPTY).
        """
        for _ in range(PEEKS):
            outcome = self.do(command)
            self.expect(outcome, Peeked)
            if isinstance(outcome, Peeked) and outcome.messages:
                return outcome.messages
        return ()

    def awaited(
        self, queue: str, number: int, connection: str = "c1", session_id: str | None = None
    ) -> list[MessageView]:
        """Receive and complete until so many messages have come, or the patience is over.

        Raises:
            Inconclusive: as `tries`.
        """
        views: list[MessageView] = []
        for _ in self.tries():
            while len(views) < number:
                outcome = self._received_yet(queue, connection, session_id)
                if not isinstance(outcome, Received):
                    break
                views.append(outcome.message)
                self.complete(queue, outcome.message, connection)
            else:
                break
        return views

    def _received_yet(self, queue: str, connection: str, session_id: str | None) -> Outcome:
        """What a receive gets; a session whose lock has ended while it was waited is taken anew."""
        outcome = self.receive(queue, connection, session_id)
        lost = isinstance(outcome, Refused) and outcome.error is Error.SESSION_LOCK_LOST
        if session_id is None or not lost:
            return outcome
        self.do(AcceptSession(queue=queue, session_id=session_id), connection)
        return self.receive(queue, connection, session_id)

    def tries(self, *ambiguities: str) -> Iterator[None]:
        """One try after another, with pauses between, for what has to come at some time.

        Args:
            ambiguities: those that say how late it may be; by default those on messages.

        Raises:
            Inconclusive: the last try was in vain, and by a reading of one of them nothing is late.
        """
        yield
        for pause in PAUSES:
            self.pass_time(pause)
            yield
        for name in ambiguities or DELAYS:
            if self.profile.readings.get(name) == "unbounded":
                raise Inconclusive(f"it has not come, and by {name}=unbounded it is never too late")

    def receive(self, queue: str, connection: str = "c1", session_id: str | None = None) -> Outcome:
        """Receive one message: locked, or for good where the implementation has no locks."""
        return self.do(Receive(queue=queue, mode=self.mode, session_id=session_id), connection)

    @property
    def mode(self) -> ReceiveMode:
        """Locking, or for good where the implementation has no locks."""
        locks = Capability.PEEK_LOCK in self.capabilities
        return ReceiveMode.PEEK_LOCK if locks else ReceiveMode.RECEIVE_AND_DELETE

    def complete(self, queue: str, view: MessageView, connection: str = "c1") -> None:
        """Complete a message, if it is locked; it has to succeed."""
        if view.lock_token is not None:
            outcome = self.do(Complete(queue=queue, lock_token=view.lock_token), connection)
            self.expect(outcome, Done)

    def abandon(self, queue: str, view: MessageView, connection: str = "c1") -> Outcome:
        """Give a locked message back."""
        return self.do(Abandon(queue=queue, lock_token=view.lock_token or ""), connection)

    def kept(self, queue: str) -> MessageView:
        """Receive a message and leave it locked.

        Raises:
            NotConforming: there is none.
        """
        outcome = self.do(Receive(queue=queue))
        self.expect(outcome, Received)
        if not isinstance(outcome, Received):
            raise NotConforming("the scenario has gone on without a message")
        return outcome.message

    def all_kept(self, queue: str) -> list[MessageView]:
        """Receive one message after another, and leave them locked, until nothing comes."""
        views: list[MessageView] = []
        while len(views) <= len(self.sent) + ROUNDS:
            outcome = self.do(Receive(queue=queue))
            if not isinstance(outcome, Received):
                break
            views.append(outcome.message)
        return views

    def listed(self) -> tuple[str, ...]:
        """The names of all queues."""
        outcome = self.do(ListQueues())
        self.expect(outcome, Listed)
        return outcome.names if isinstance(outcome, Listed) else ()

    def take_down(self, queue: str, partition: int) -> None:
        """Make a partition unavailable.

        Raises:
            NotApplicable: there are not that many partitions.
        """
        if partition >= self.profile.partitions:
            raise NotApplicable(f"partitions: there are only {self.profile.partitions}")
        self.expect(self.do(TakePartitionDown(queue=queue, partition=partition)), Done)

    def bring_up(self, queue: str, partition: int) -> None:
        """Make a partition available again."""
        self.expect(self.do(BringPartitionUp(queue=queue, partition=partition)), Done)

    def with_each_partition_down(self, queue: str, send: Callable[[], Outcome]) -> list[Outcome]:
        """What a send answers while each partition in turn is down.

        Raises:
            NotApplicable: the adapter cannot take partitions down.
        """
        self.need(Capability.OUTAGES)
        outcomes = []
        for partition in range(self.profile.partitions):
            self.take_down(queue, partition)
            outcomes.append(send())
            self.bring_up(queue, partition)
        return outcomes

    def pass_time(self, duration: int) -> None:
        """Let `duration` microseconds pass, and so much more that no timer can be late for it.

        More than that would bring a scenario that stops short of a timer to its end.
        """
        self._pass(duration + self._adapter.declaration.slack + 1)

    def pass_only(self, duration: int, whole: int) -> None:
        """Let `duration` microseconds pass, and no timer of `whole` end before the next request.

        The timer is one that the latest request began.

        Raises:
            NotApplicable: a timer of this implementation may fire as early as that.
        """
        slack = self._adapter.declaration.slack
        if duration + slack >= whole:
            raise NotApplicable(
                f"slack: a timer of {whole} microseconds may fire {slack} microseconds early"
            )
        self._deadline = self._events[-1].called + whole - slack
        self._pass(duration)

    def wait(self, duration: int) -> None:
        """Let `duration` microseconds pass, whatever ends in them."""
        self._pass(duration)

    def _pass(self, duration: int) -> None:
        if self.clock is Clock.REAL:
            time.sleep(duration / MICROSECONDS)
            return
        deadline, self._deadline = self._deadline, None
        self.expect(self.do(AdvanceClock(duration=duration)), Done)
        self._deadline = deadline
