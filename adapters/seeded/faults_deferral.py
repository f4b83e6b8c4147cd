"""Faults of deferral: the DEFER rules."""

from typing import Final

import attrs

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.commands import Command, ReceiveDeferred
from busproof.vocabulary.messages import MessageState, MessageView
from busproof.vocabulary.outcomes import Outcome, Peeked, ReceivedSeveral

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("deferred-given", "DEFER-01", "A deferred message is given to the next receive.")
class _DeferredGiven(SeededBus):
    def is_free(self, held: Held) -> bool:
        return held.lock is None


@faulty(
    "deferred-given-elsewhere",
    "DEFER-01",
    "A deferred message is given to a receive over another connection.",
    deep=True,
)
class _DeferredGivenElsewhere(SeededBus):
    def do(self, command: Command, connection: str) -> Observed:
        self.connection = connection
        return super().do(command, connection)

    def is_free(self, held: Held) -> bool:
        return super().is_free(held) or (held.lock is None and self.connection != "c1")


@faulty("deferred-is-lost", "DEFER-02", "A deferred message cannot be had by its number.")
class _DeferredIsLost(SeededBus):
    def is_set_aside(self, held: Held) -> bool:  # noqa: ARG002
        return False


@faulty(
    "unknown-number-empty",
    "DEFER-03",
    "Receiving by a number that no message has gives an empty list.",
)
class _UnknownNumberEmpty(SeededBus):
    def gives_some(self, there: list[Held]) -> bool:
        return not there


@faulty("active-given-by-number", "DEFER-04", "An active message is given by its number.")
class _ActiveGivenByNumber(SeededBus):
    def is_set_aside(self, held: Held) -> bool:
        return held.lock is None


@faulty("locked-given-by-number", "DEFER-05", "A deferred message is given while it is locked.")
class _LockedGivenByNumber(SeededBus):
    def is_set_aside(self, held: Held) -> bool:
        return held.deferred


@faulty(
    "abandoned-is-active",
    "DEFER-06",
    "A deferred message whose lock is given back is active again.",
)
class _AbandonedIsActive(SeededBus):
    def abandon(self, queue: Queue, held: Held) -> None:
        held.deferred = False
        super().abandon(queue, held)


@faulty(
    "expired-is-active",
    "DEFER-06",
    "A deferred message whose lock expires is active again.",
    deep=True,
)
class _ExpiredIsActive(SeededBus):
    def expire(self, queue: Queue, held: Held) -> None:
        held.deferred = False
        super().expire(queue, held)


@faulty("deferred-completed-comes-back", "DEFER-07", "A completed deferred message stays.")
class _DeferredCompletedComesBack(SeededBus):
    def complete(self, queue: Queue, held: Held) -> None:
        if held.deferred:
            held.lock = None
        else:
            super().complete(queue, held)


@faulty(
    "deferred-dead-lettered-stays",
    "DEFER-07",
    "A deferred message that is dead-lettered can still be had by its number.",
    deep=True,
)
class _DeferredDeadLetteredStays(SeededBus):
    def bury(self, queue: Queue, held: Held, reason: str) -> None:
        super().bury(queue, held, reason)
        if held.deferred:
            held.lock = None
            queue.messages.append(held)


@faulty("number-changes-when-deferred", "DEFER-08", "A deferred message comes with a new number.")
class _NumberChanges(SeededBus):
    def give_several(
        self, queue: Queue, there: list[Held], command: ReceiveDeferred
    ) -> ReceivedSeveral:
        given = super().give_several(queue, there, command).messages
        return ReceivedSeveral(messages=tuple(_renumbered(view) for view in given))


def _renumbered(view: MessageView) -> MessageView:
    return attrs.evolve(view, sequence_number=(view.sequence_number or 0) + 1000)


@faulty("deferred-shown-as-active", "DEFER-09", "A peek tells that a deferred message is active.")
class _DeferredShownAsActive(SeededBus):
    def browsed(self, queue: Queue, held: Held) -> MessageView:
        return attrs.evolve(super().browsed(queue, held), state=MessageState.ACTIVE)


@faulty("deferred-not-shown", "DEFER-09", "A peek leaves deferred messages out.", literal=True)
class _DeferredNotShown(SeededBus):
    def peek(self, queue: Queue, count: int) -> Peeked:
        shown = super().peek(queue, count).messages
        there = tuple(view for view in shown if view.state is not MessageState.DEFERRED)
        return Peeked(messages=there)


@faulty("one-number-at-a-time", "DEFER-11", "Of several numbers only the first is given.")
class _OneNumberAtATime(SeededBus):
    def give_several(
        self, queue: Queue, there: list[Held], command: ReceiveDeferred
    ) -> ReceivedSeveral:
        return super().give_several(queue, there[:1], command)


@faulty(
    "deferred-given-outside-session",
    "DEFER-12",
    "A deferred message of a session is given to who does not hold the session.",
)
class _DeferredGivenOutsideSession(SeededBus):
    def outside_session(self, queue: Queue, command: ReceiveDeferred) -> Outcome:
        found = [self.by_number(queue, number) for number in command.sequence_numbers]
        there = [held for held in found if held is not None]
        return self.give_several(queue, there, command)


@faulty(
    "deferred-given-in-other-session",
    "DEFER-12",
    "A deferred message is given to the holder of another session.",
    deep=True,
)
class _DeferredGivenInOtherSession(SeededBus):
    def may_give(self, held: Held, session_id: str | None) -> bool:  # noqa: ARG002
        return True


@faulty(
    "deferred-forgotten-in-outage",
    "DEFER-13",
    "A message whose partition has been down is deferred no more, nor to be had in any other way.",
    deep=True,
)
class _DeferredForgottenInOutage(SeededBus):
    def do(self, command: Command, connection: str) -> Observed:
        found = super().do(command, connection)
        for queue in self.queues.values():
            queue.messages = [
                each
                for each in queue.messages
                if not (each.deferred and each.partition in queue.down)
            ]
        return found


FAULTS: Final = faulty.all()
