"""Bus for scenarios: a driver with the operations that many steps use."""

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
"""Maximum number of receives in a row, in addition to the messages sent, in one scenario."""

PEEKS = 20
"""Number of empty peeks in a row that a scenario accepts as "nothing to show"."""

PAUSES = (
    *(MICROSECONDS // 4,) * 8,
    *(MICROSECONDS,) * 18,
    *(BOUND // 12,) * 10,
)
"""Pauses between attempts to receive, in microseconds: short at first, `BOUND` in all."""

DELAYS = ("SCHEDULE-DELAY", "FORWARD-DELAY", "DEAD-LETTER-DELAY")
"""Ambiguities about how late a message may arrive."""


class Bus(Driver):
    """Driver that rejects undeclared requests, and remembers the messages that a scenario sent."""

    def __init__(
        self, adapter: Adapter, profile: Profile, oracle: Oracle, recording: Recording
    ) -> None:
        super().__init__(adapter, profile, oracle, recording)
        self._bodies = 0
        self._deadline: int | None = None
        self.sent: list[Message] = []
        self.settings: dict[str, CreateQueue] = {}

    def do(self, command: Command, connection: str = "c1") -> Outcome:
        """Send one command and judge the answer.

        Raises:
            NotConforming: no rule allows this answer.
            Missed: no answer arrived, or it arrived too late.
            NotApplicable: the adapter does not declare a capability that the command needs.
            Undeclared: the adapter declared the capability, but does not support the command.
            AdapterError: the adapter failed.
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
        """Send commands in order, as `do` does; announce them to an adapter that prefetches.

        Raises:
            NotConforming: as `do`, which may also raise its other errors.
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
        """Return a message with these properties and a unique body."""
        self._bodies += 1
        return Message(body=f"m{self._bodies}", **properties)

    def send(self, command: Send) -> Outcome:
        """Send one message, and remember it if it was accepted."""
        outcome = self.do(command)
        if isinstance(outcome, Done):
            self.sent.append(command.message)
        return outcome

    def send_batch(self, command: SendBatch) -> Outcome:
        """Send a batch, and remember its messages if it was accepted."""
        outcome = self.do(command)
        if isinstance(outcome, Done):
            self.sent.extend(command.messages)
        return outcome

    def expect(self, outcome: Outcome, kind: type[Outcome]) -> None:
        """Check the type of an answer that the scenario depends on.

        Raises:
            NotConforming: the answer has another type.
        """
        if not isinstance(outcome, kind):
            raise NotConforming(
                f"the scenario expects {kind.__name__} and got {outcome_words(outcome)}"
            )

    def need(self, capability: Capability) -> None:
        """Check a capability that this scenario needs, even if its rule does not.

        Raises:
            NotApplicable: the adapter does not declare it.
        """
        if capability not in self.capabilities:
            raise NotApplicable(f"capability: {capability.value}")

    def located(self, queue: str, bodies: Iterable[str], session_id: str | None) -> list[int]:
        """Return the partitions that stored the messages, as witnessed or from sequence numbers.

        Raises:
            NotApplicable: the adapter does not report partitions.
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
        """Receive and complete messages one by one until the queue is empty.

        Raises:
            Inconclusive: the queue stays non-empty, and the judge cannot decide whether it may.
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
        """Return the messages that a peek shows; repeat an empty peek.

        A partition without messages may have answered the first one (PEEK-EMPTY).
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
        """Receive and complete until this number of messages has arrived, or the time is up.

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
        """Receive once; if the session's lock has expired, accept the session again and retry."""
        outcome = self.receive(queue, connection, session_id)
        lost = isinstance(outcome, Refused) and outcome.error is Error.SESSION_LOCK_LOST
        if session_id is None or not lost:
            return outcome
        self.do(AcceptSession(queue=queue, session_id=session_id), connection)
        return self.receive(queue, connection, session_id)

    def tries(self, *ambiguities: str) -> Iterator[None]:
        """Yield once per attempt, with pauses between, to wait for an eventual effect.

        Args:
            ambiguities: those about how late the effect may be; by default those of messages.

        Raises:
            Inconclusive: the last attempt failed, but under a reading no delay is too long.
        """
        yield
        for pause in PAUSES:
            self.pass_time(pause)
            yield
        for name in ambiguities or DELAYS:
            if self.profile.readings.get(name) == "unbounded":
                raise Inconclusive(f"it has not come, and by {name}=unbounded it is never too late")

    def receive(self, queue: str, connection: str = "c1", session_id: str | None = None) -> Outcome:
        """Receive one message, in the mode of `mode`."""
        return self.do(Receive(queue=queue, mode=self.mode, session_id=session_id), connection)

    @property
    def mode(self) -> ReceiveMode:
        """Peek-lock; receive-and-delete for an implementation without locks."""
        locks = Capability.PEEK_LOCK in self.capabilities
        return ReceiveMode.PEEK_LOCK if locks else ReceiveMode.RECEIVE_AND_DELETE

    def complete(self, queue: str, view: MessageView, connection: str = "c1") -> None:
        """Complete a message if it is locked; this must succeed."""
        if view.lock_token is not None:
            outcome = self.do(Complete(queue=queue, lock_token=view.lock_token), connection)
            self.expect(outcome, Done)

    def abandon(self, queue: str, view: MessageView, connection: str = "c1") -> Outcome:
        """Abandon a locked message."""
        return self.do(Abandon(queue=queue, lock_token=view.lock_token or ""), connection)

    def kept(self, queue: str) -> MessageView:
        """Receive a message and leave it locked.

        Raises:
            NotConforming: no message arrived.
        """
        outcome = self.do(Receive(queue=queue))
        self.expect(outcome, Received)
        if not isinstance(outcome, Received):
            raise NotConforming("the scenario has gone on without a message")
        return outcome.message

    def all_kept(self, queue: str) -> list[MessageView]:
        """Receive messages one by one, and leave them locked, until none arrives."""
        views: list[MessageView] = []
        while len(views) <= len(self.sent) + ROUNDS:
            outcome = self.do(Receive(queue=queue))
            if not isinstance(outcome, Received):
                break
            views.append(outcome.message)
        return views

    def listed(self) -> tuple[str, ...]:
        """Return the names of all queues."""
        outcome = self.do(ListQueues())
        self.expect(outcome, Listed)
        return outcome.names if isinstance(outcome, Listed) else ()

    def take_down(self, queue: str, partition: int) -> None:
        """Take a partition down.

        Raises:
            NotApplicable: the profile has fewer partitions.
        """
        if partition >= self.profile.partitions:
            raise NotApplicable(f"partitions: there are only {self.profile.partitions}")
        self.expect(self.do(TakePartitionDown(queue=queue, partition=partition)), Done)

    def bring_up(self, queue: str, partition: int) -> None:
        """Bring a partition up again."""
        self.expect(self.do(BringPartitionUp(queue=queue, partition=partition)), Done)

    def with_each_partition_down(self, queue: str, send: Callable[[], Outcome]) -> list[Outcome]:
        """Send once while each partition in turn is down; return the outcomes.

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
        """Let `duration` microseconds pass, and the adapter's slack, so that all timers have fired.

        Not more: a longer pause might fire a timer that the scenario must not reach.
        """
        self._pass(duration + self._adapter.declaration.slack + 1)

    def pass_only(self, duration: int, whole: int) -> None:
        """Let `duration` microseconds pass; let no timer of `whole` fire before the next answer.

        The timer starts with the latest request.

        Raises:
            NotApplicable: a timer of this implementation may fire that early.
        """
        slack = self._adapter.declaration.slack
        if duration + slack >= whole:
            raise NotApplicable(
                f"slack: a timer of {whole} microseconds may fire {slack} microseconds early"
            )
        self._deadline = self._events[-1].called + whole - slack
        self._pass(duration)

    def wait(self, duration: int) -> None:
        """Let `duration` microseconds pass, regardless of timers."""
        self._pass(duration)

    def _pass(self, duration: int) -> None:
        if self.clock is Clock.REAL:
            time.sleep(duration / MICROSECONDS)
            return
        # The deadline applies to the scenario's next command, not to advancing the clock.
        deadline, self._deadline = self._deadline, None
        self.expect(self.do(AdvanceClock(duration=duration)), Done)
        self._deadline = deadline
