"""Faults of delivery counts and dead letters: the DLQ rules."""

from typing import Final

import attrs

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.commands import DeadLetter, Receive, Send
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Done, Outcome, Received, Refused
from busproof.vocabulary.paths import DEAD_LETTERS
from busproof.vocabulary.profile import Profile

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("delivery-count-stays", "DLQ-01", "Every delivery of a message bears the count 1.")
class _DeliveryCountStays(SeededBus):
    def give(self, queue: Queue, held: Held, command: Receive) -> Received:
        message = attrs.evolve(super().give(queue, held, command).message, delivery_count=1)
        return Received(message=message)


@faulty(
    "lost-lock-not-counted",
    "DLQ-01",
    "A delivery whose lock expired does not make the next count higher.",
    deep=True,
)
class _ExpiryNotCounted(SeededBus):
    def expire(self, queue: Queue, held: Held) -> None:
        held.deliveries -= 1
        super().expire(queue, held)


@faulty("delivered-once-too-often", "DLQ-02", "A message has one delivery more than permitted.")
class _DeliveredOnceTooOften(SeededBus):
    def is_spent(self, queue: Queue, held: Held) -> bool:
        return held.deliveries > queue.settings.max_delivery_count


@faulty(
    "expired-never-spent",
    "DLQ-02",
    "A message whose last permitted lock expires is delivered on and on.",
    deep=True,
)
class _ExpiredNeverSpent(SeededBus):
    def expire(self, queue: Queue, held: Held) -> None:  # noqa: ARG002
        held.lock = None


@faulty(
    "spent-is-lost",
    "DLQ-02",
    "A message that was delivered as often as permitted is gone.",
    literal=True,
)
class _SpentIsLost(SeededBus):
    def give_back(self, queue: Queue, held: Held) -> None:
        super().give_back(queue, held)
        if queue.dead is not None and held not in queue.messages:
            queue.dead.messages.pop()


@faulty("spent-for-another-reason", "DLQ-02", "It is dead-lettered for another reason.")
class _SpentForAnotherReason(SeededBus):
    def reason_of_spent(self) -> str:
        return "TTLExpiredException"


@faulty("dead-too-early", "DLQ-03", "A message is dead-lettered one delivery too early.")
class _DeadTooEarly(SeededBus):
    def is_spent(self, queue: Queue, held: Held) -> bool:
        return held.deliveries >= max(queue.settings.max_delivery_count - 1, 1)


@faulty("dead-letter-is-lost", "DLQ-05", "A message that is dead-lettered is gone.")
class _DeadLetterIsLost(SeededBus):
    def bury(self, queue: Queue, held: Held, reason: str) -> None:  # noqa: ARG002
        queue.messages.remove(held)


@faulty("dead-letter-stays", "DLQ-14", "A message that is dead-lettered can be received again.")
class _DeadLetterStays(SeededBus):
    def bury(self, queue: Queue, held: Held, reason: str) -> None:
        super().bury(queue, held, reason)
        held.lock = None
        queue.messages.append(held)


@faulty("reason-lost", "DLQ-05", "A dead letter tells another reason than its receiver gave.")
class _ReasonLost(SeededBus):
    def dead_letter_on_request(self, queue: Queue, command: DeadLetter) -> Outcome:
        return super().dead_letter_on_request(queue, attrs.evolve(command, reason="none"))


@faulty(
    "dead-lettered-after-expiry",
    "LOCK-06",
    "A lock that has expired still dead-letters its message.",
    deep=True,
)
class _DeadLetteredAfterExpiry(SeededBus):
    def locked_for_burial(self, queue: Queue, token: str) -> Held | None:
        number = token.partition("/")[0]
        there = (held for held in queue.messages if str(held.sequence_number) == number)
        return super().locked_for_burial(queue, token) or next(there, None)


@faulty("dead-lettered-twice", "LOCK-06", "A message can be dead-lettered twice, to no effect.")
class _DeadLetteredTwice(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.used: set[str] = set()

    def dead_letter_on_request(self, queue: Queue, command: DeadLetter) -> Outcome:
        if command.lock_token in self.used:
            return Done()
        if self.locked(queue, command.lock_token) is not None:
            self.used.add(command.lock_token)
        return super().dead_letter_on_request(queue, command)


@faulty("dead-letter-changed", "DLQ-06", "A dead letter has lost its MessageId.")
class _DeadLetterChanged(SeededBus):
    def view(self, queue: Queue, held: Held) -> MessageView:
        view = super().view(queue, held)
        return view if queue.dead is not None else attrs.evolve(view, message_id=None)


@faulty(
    "dead-letter-given-up",
    "DLQ-09",
    "A dead letter that was given back as often as its entity permits is gone.",
    deep=True,
)
class _DeadLetterGivenUp(SeededBus):
    def give_back(self, queue: Queue, held: Held) -> None:
        super().give_back(queue, held)
        if queue.dead is None and held.deliveries >= queue.settings.max_delivery_count:
            queue.messages.remove(held)


@faulty("dead-letter-not-given-back", "DLQ-07", "A dead letter that is abandoned is gone.")
class _DeadLetterNotGivenBack(SeededBus):
    def abandon(self, queue: Queue, held: Held) -> None:
        super().abandon(queue, held)
        if queue.dead is None:
            queue.messages.remove(held)


@faulty(
    "dead-letters-of-one-partition",
    "DLQ-12",
    "Only the dead letters of the first partition are ever given.",
)
class _DeadLettersOfOnePartition(SeededBus):
    def is_reachable(self, queue: Queue, held: Held, connection: str) -> bool:
        reachable = super().is_reachable(queue, held, connection)
        return reachable and (queue.dead is not None or held.partition == 0)


@faulty(
    "dead-letters-lost-in-outage",
    "DLQ-12",
    "What a partition holds of dead letters is gone when it has been unavailable.",
    deep=True,
)
class _DeadLettersLostInOutage(SeededBus):
    def do(self, command: object, connection: str) -> Observed:
        found = super().do(command, connection)  # type: ignore[arg-type]  # passed on as it came
        for queue in self.queues.values():
            if queue.dead is not None:
                letters = queue.dead.messages
                queue.dead.messages = [each for each in letters if each.partition not in queue.down]
        return found


@faulty("dead-lettered-again", "DLQ-10", "A dead letter can be dead-lettered, and is gone then.")
class _DeadLetteredAgain(SeededBus):
    def dead_letter_again(self, queue: Queue, command: DeadLetter) -> Outcome:
        held = self.locked(queue, command.lock_token)
        if held is not None:
            queue.messages.remove(held)
        return Done()


@faulty("sent-to-dead-letters", "DLQ-11", "A message can be sent to a dead-letter queue.")
class _SentToDeadLetters(SeededBus):
    def takes_sends(self, queue: Queue) -> bool:  # noqa: ARG002
        return True


@faulty(
    "sent-to-dead-letters-in-transaction",
    "DLQ-11",
    "In a transaction a message can be sent to a dead-letter queue.",
    deep=True,
)
class _SentToDeadLettersInTransaction(SeededBus):
    def send(self, queue: Queue, command: Send) -> Observed:
        self.within = command.transaction
        return super().send(queue, command)

    def takes_sends(self, queue: Queue) -> bool:  # noqa: ARG002
        return self.within is not None


@faulty("eleven-deliveries", "DLQ-04", "Where a queue does not say, a message has 11 deliveries.")
class _ElevenDeliveries(SeededBus):
    def is_spent(self, queue: Queue, held: Held) -> bool:
        more = 1 if queue.settings.max_delivery_count == 10 else 0
        return held.deliveries >= queue.settings.max_delivery_count + more


@faulty(
    "no-dead-letters-at-first",
    "DLQ-08",
    "A dead-letter queue does not exist before its first message.",
)
class _NoDeadLettersAtFirst(SeededBus):
    def found(self, name: str) -> Queue | None:
        queue = super().found(name)
        return None if queue is not None and queue.dead is None and not queue.arrivals else queue


@faulty("one-grave-for-all", "DLQ-08", "All queues share one dead-letter queue.", deep=True)
class _OneGraveForAll(SeededBus):
    def dead_letter_queue(self, owner: Queue) -> Queue:
        known = next((queue.dead for queue in self.queues.values()), None)
        return super().dead_letter_queue(owner) if known is None else known


@faulty(
    "refused-and-buried",
    "DLQ-14",
    "Dead-lettering with a lost lock is refused, and yet puts a copy among the dead letters.",
    deep=True,
)
class _RefusedAndBuried(SeededBus):
    def dead_letter_on_request(self, queue: Queue, command: DeadLetter) -> Outcome:
        outcome = super().dead_letter_on_request(queue, command)
        if not isinstance(outcome, Refused) or queue.name.endswith(DEAD_LETTERS):
            return outcome
        number = command.lock_token.partition("/")[0]
        for held in [each for each in queue.messages if str(each.sequence_number) == number]:
            self.bury(queue, held, command.reason)
            queue.messages.append(held)
        return outcome


FAULTS: Final = faulty.all()
