"""The bus as scenarios use it: a driver with operations that many steps need."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from busproof import vocabulary as v
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

__all__ = ["BusUnderTest"]

ROUNDS = 1000
"""Maximum number of receives in one scenario, in addition to the messages sent."""

PEEKS = 20
"""Number of empty peeks in a row that a scenario accepts as "nothing to show"."""

PAUSES = (*(v.MICROSECONDS // 4,) * 8, *(v.MICROSECONDS,) * 18, *(BOUND // 12,) * 10)
"""Pauses between attempts to receive, in microseconds: short at first, `BOUND` in total."""

DELAYS = ("SCHEDULE-DELAY", "FORWARD-DELAY", "DEAD-LETTER-DELAY")
"""Ambiguities about how late a message may arrive."""


class BusUnderTest(Driver):
    """A driver that rejects undeclared commands and remembers the messages that a scenario sent."""

    def __init__(
        self, adapter: v.Adapter, profile: v.Profile, oracle: Oracle, recording: Recording
    ) -> None:
        super().__init__(adapter, profile, oracle, recording)
        self._bodies = 0
        self._deadline: int | None = None
        self.sent: list[v.Message] = []
        self.keys: dict[str, str] = {}
        """The PartitionKeys that were found for a scenario, by their names in it."""
        self.settings: dict[str, v.CreateQueue] = {}
        self.deliveries: dict[str, int] = {}
        """The maximum delivery count of each queue and subscription, by path."""

    def do(self, command: v.Command, connection: str = "c1") -> v.Outcome:
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
        if isinstance(event.outcome, v.Indeterminate):
            raise self._missed("no answer came to", event)
        if isinstance(event.outcome, v.Unsupported):
            raise Undeclared(f"declared, yet unsupported: {event_words(event)}")
        if isinstance(event.outcome, v.Done):
            self._note_settings(command)
        self._keep_deadline(event)
        return event.outcome

    def _note_settings(self, command: v.Command) -> None:
        """Remember the settings of an entity that was created or updated."""
        match command:
            case v.CreateQueue():
                self.settings[command.queue] = command
                self.deliveries[command.queue] = command.max_delivery_count
            case v.CreateSubscription():
                path = v.subscription_path(command.topic, command.subscription)
                self.deliveries[path] = command.max_delivery_count
            case v.UpdateQueue(max_delivery_count=int(most)):
                self.deliveries[command.queue] = most

    def do_all(self, commands: Sequence[v.Command]) -> Iterator[v.Outcome]:
        """Send each command by `do`; announce them first to an adapter that prefetches."""
        if isinstance(self._adapter, v.Hearing):
            with blaming_the_adapter():
                self._adapter.hear(commands, "c1")
        return map(self.do, commands)

    def _keep_deadline(self, event: v.Event) -> None:
        deadline, self._deadline = self._deadline, None
        if deadline is not None and event.returned is not None and event.returned >= deadline:
            raise self._missed("the answer came too late for the scenario", event)

    def _missed(self, how: str, event: v.Event) -> Missed:
        return Missed(f"{how}: {event_words(event)}", len(self._events) - 1)

    def message(self, **properties: Any) -> v.Message:
        """Return a message with these properties and a unique body."""
        self._bodies += 1
        return v.Message(body=f"m{self._bodies}", **properties)

    def send(self, command: v.Send) -> v.Outcome:
        """Send one message, and remember it if it was accepted."""
        outcome = self.do(command)
        if isinstance(outcome, v.Done):
            self.sent.append(command.message)
        return outcome

    def send_batch(self, command: v.SendBatch) -> v.Outcome:
        """Send a batch, and remember its messages if it was accepted."""
        outcome = self.do(command)
        if isinstance(outcome, v.Done):
            self.sent.extend(command.messages)
        return outcome

    def expect(self, outcome: v.Outcome, kind: type[v.Outcome]) -> None:
        """Check the type of an answer that the scenario depends on.

        Raises:
            NotConforming: the answer has another type.
            NotApplicable: a peek is refused, and a bus need not offer any (LIBRARIES=bus).
        """
        if not isinstance(outcome, kind):
            no_peeks = self.profile.readings.get("LIBRARIES") == "bus" and kind is v.Peeked
            if no_peeks and isinstance(outcome, v.Refused):
                raise NotApplicable("reading: LIBRARIES=bus, a bus need not offer peeks")
            raise NotConforming(
                f"the scenario expects {kind.__name__} and got {outcome_words(outcome)}"
            )

    def need(self, capability: v.Capability) -> None:
        """Require a capability that this scenario needs, even if its rule does not need it.

        Raises:
            NotApplicable: the adapter does not declare the capability.
        """
        if capability not in self.capabilities:
            raise NotApplicable(f"capability: {capability.value}")

    def located(self, queue: str, bodies: Iterable[str], session_id: str | None) -> list[int]:
        """Return the partitions that stored the messages, from witnesses or sequence numbers.

        Raises:
            NotApplicable: the adapter does not report partitions.
            NotConforming: a message cannot be received.
        """
        self.need(v.Capability.WITNESS)
        wanted = list(bodies)
        if any(body not in self.partition_of for body in wanted):
            if session_id is not None:
                self.do(v.AcceptSession(queue=queue, session_id=session_id))
            self.received(queue, session_id=session_id)
        lost = [body for body in wanted if body not in self.partition_of]
        if lost:
            raise NotConforming(f"no witness and no receive tells where {lost[0]!r} went")
        return [self.partition_of[body] for body in wanted]

    def received(
        self, queue: str, connection: str = "c1", session_id: str | None = None
    ) -> list[v.MessageView]:
        """Receive and complete messages one by one until the queue is empty.

        Raises:
            Inconclusive: the queue stays non-empty, and the judge cannot decide whether it may.
        """
        views: list[v.MessageView] = []
        for _ in range(len(self.sent) + ROUNDS):
            outcome = self.receive(queue, connection, session_id)
            if not isinstance(outcome, v.Received):
                return views
            views.append(outcome.message)
            self.complete(queue, outcome.message, connection)
        raise Inconclusive(f"the queue is still not empty after {len(views)} receives")

    def peeked(self, command: v.Peek) -> tuple[v.MessageView, ...]:
        """Return the messages that a peek shows; repeat the peek if it is empty.

        A partition without messages may have answered the first peek (PEEK-EMPTY).
        """
        for _ in range(PEEKS):
            outcome = self.do(command)
            self.expect(outcome, v.Peeked)
            if isinstance(outcome, v.Peeked) and outcome.messages:
                return outcome.messages
        return ()

    def awaited(
        self, queue: str, number: int, connection: str = "c1", session_id: str | None = None
    ) -> list[v.MessageView]:
        """Receive and complete until this many messages have arrived, or the time is up.

        Raises:
            Inconclusive: as `tries`.
        """
        views: list[v.MessageView] = []
        for _ in self.tries():
            while len(views) < number:
                outcome = self._received_yet(queue, connection, session_id)
                if not isinstance(outcome, v.Received):
                    break
                views.append(outcome.message)
                self.complete(queue, outcome.message, connection)
            else:
                break
        return views

    def _received_yet(self, queue: str, connection: str, session_id: str | None) -> v.Outcome:
        """Receive once; if the session's lock has expired, accept the session and receive again."""
        outcome = self.receive(queue, connection, session_id)
        lost = isinstance(outcome, v.Refused) and outcome.error is v.Error.SESSION_LOCK_LOST
        if session_id is None or not lost:
            return outcome
        self.do(v.AcceptSession(queue=queue, session_id=session_id), connection)
        return self.receive(queue, connection, session_id)

    def tries(self, *ambiguities: str) -> Iterator[None]:
        """Yield once per attempt, with pauses in between, to wait for an eventual effect.

        Args:
            ambiguities: those about how late the effect may be; by default those about messages.

        Raises:
            Inconclusive: the last attempt failed, but a reading permits any delay.
        """
        yield
        for pause in PAUSES:
            self.pass_time(pause)
            yield
        for name in ambiguities or DELAYS:
            if self.profile.readings.get(name) == "unbounded":
                raise Inconclusive(f"it has not come, and by {name}=unbounded it is never too late")

    def receive(
        self, queue: str, connection: str = "c1", session_id: str | None = None
    ) -> v.Outcome:
        """Receive one message in the receive mode `mode`."""
        return self.do(v.Receive(queue=queue, mode=self.mode, session_id=session_id), connection)

    @property
    def mode(self) -> v.ReceiveMode:
        """The receive mode: peek-lock, or receive-and-delete if there are no locks."""
        locks = v.Capability.PEEK_LOCK in self.capabilities
        return v.ReceiveMode.PEEK_LOCK if locks else v.ReceiveMode.RECEIVE_AND_DELETE

    def complete(self, queue: str, view: v.MessageView, connection: str = "c1") -> None:
        """Complete a message if it is locked, which must succeed."""
        if view.lock_token is not None:
            outcome = self.do(v.Complete(queue=queue, lock_token=view.lock_token), connection)
            self.expect(outcome, v.Done)

    def abandon(self, queue: str, view: v.MessageView, connection: str = "c1") -> v.Outcome:
        """Abandon a locked message."""
        return self.do(v.Abandon(queue=queue, lock_token=view.lock_token or ""), connection)

    def kept(self, queue: str) -> v.MessageView:
        """Receive a message and leave it locked.

        Raises:
            NotConforming: no message arrived.
        """
        outcome = self.do(v.Receive(queue=queue))
        self.expect(outcome, v.Received)
        if not isinstance(outcome, v.Received):
            raise NotConforming("the scenario has gone on without a message")
        return outcome.message

    def all_kept(self, queue: str) -> list[v.MessageView]:
        """Receive messages one by one, and leave them locked, until none arrives."""
        views: list[v.MessageView] = []
        while len(views) <= len(self.sent) + ROUNDS:
            outcome = self.do(v.Receive(queue=queue))
            if not isinstance(outcome, v.Received):
                break
            views.append(outcome.message)
        return views

    def listed(self) -> tuple[str, ...]:
        """Return the names of all queues."""
        outcome = self.do(v.ListQueues())
        self.expect(outcome, v.Listed)
        return outcome.names if isinstance(outcome, v.Listed) else ()

    def take_down(self, queue: str, partition: int) -> None:
        """Take a partition down.

        Raises:
            NotApplicable: the profile has fewer partitions.
        """
        if partition >= self.profile.partitions:
            raise NotApplicable(f"partitions: there are only {self.profile.partitions}")
        self.expect(self.do(v.TakePartitionDown(queue=queue, partition=partition)), v.Done)

    def bring_up(self, queue: str, partition: int) -> None:
        """Bring a partition up again."""
        self.expect(self.do(v.BringPartitionUp(queue=queue, partition=partition)), v.Done)

    def with_each_partition_down(
        self, queue: str, send: Callable[[], v.Outcome]
    ) -> list[v.Outcome]:
        """Send once for each partition while that partition is down; return the outcomes.

        Raises:
            NotApplicable: the adapter cannot take partitions down.
        """
        self.need(v.Capability.OUTAGES)
        outcomes = []
        for partition in range(self.profile.partitions):
            self.take_down(queue, partition)
            outcomes.append(send())
            self.bring_up(queue, partition)
        return outcomes

    def pass_time(self, duration: int) -> None:
        """Let `duration` microseconds pass, plus the slack, so that all timers of it have fired.

        A longer pause might fire a timer that the scenario must not reach.
        """
        self._pass(duration + self._adapter.declaration.slack + 1)

    def pass_only(self, duration: int, whole: int) -> None:
        """Let `duration` microseconds pass without firing a timer of `whole` microseconds.

        The timer started with the latest request, and must not fire before the next answer.

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
        """Let `duration` microseconds pass, even if timers fire."""
        self._pass(duration)

    def _pass(self, duration: int) -> None:
        if self.clock is v.Clock.REAL:
            time.sleep(duration / v.MICROSECONDS)
            return
        # The deadline is for the scenario's next command, not for advancing the clock.
        deadline, self._deadline = self._deadline, None
        self.expect(self.do(v.AdvanceClock(duration=duration)), v.Done)
        self._deadline = deadline
