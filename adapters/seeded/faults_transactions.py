"""Faults of transactions: the TXN rules."""

from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.placing import PARTITION_KEY
from busproof.adapters.seeded.queues import Key, Queue, Staged, Transaction
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("keyed-refused-in-transaction", "TXN-01", "No message is accepted in a transaction.")
class _KeyedRefused(SeededBus):
    def objection(self, queue: Queue, message: Message, transaction: Transaction) -> Error | None:
        error = super().objection(queue, message, transaction)
        return Error.INVALID_OPERATION if queue.settings.partitioned else error


@faulty(
    "second-refused-in-transaction",
    "TXN-02",
    "A transaction takes no second message, whatever its key.",
)
class _SecondRefused(SeededBus):
    def other_key(self, queue: Queue, earlier: list[Key], key: Key) -> bool:  # noqa: ARG002
        return bool(earlier)


@faulty("keyless-accepted", "TXN-03", "A message without key is accepted in a transaction.")
class _KeylessAccepted(SeededBus):
    def refusal_of_keyless(self) -> Error | None:
        return None


@faulty(
    "keyless-wrong-error",
    "TXN-03",
    "A message without key is refused in a transaction, with another error.",
)
class _KeylessWrongError(SeededBus):
    def refusal_of_keyless(self) -> Error | None:
        return Error.UNAVAILABLE


@faulty("other-key-accepted", "TXN-04", "A transaction takes messages with different keys.")
class _OtherKeyAccepted(SeededBus):
    def other_key(self, queue: Queue, earlier: list[Key], key: Key) -> bool:  # noqa: ARG002
        return False


@faulty(
    "other-key-accepted-third",
    "TXN-04",
    "Only the second message of a transaction is compared with the first.",
    deep=True,
)
class _OtherKeyAcceptedThird(SeededBus):
    def other_key(self, queue: Queue, earlier: list[Key], key: Key) -> bool:
        return len(earlier) == 1 and super().other_key(queue, earlier, key)


@faulty(
    "other-key-accepted-in-same-partition",
    "TXN-04",
    "A transaction takes another key if it selects the same partition.",
    deep=True,
)
class _OtherKeyAcceptedInSamePartition(SeededBus):
    def other_key(self, queue: Queue, earlier: list[Key], key: Key) -> bool:
        home = self.partition_of(queue, key)
        elsewhere = [each for each in earlier if self.partition_of(queue, each) != home]
        return super().other_key(queue, elsewhere, key)


@faulty(
    "unpinned-in-transaction",
    "TXN-05",
    "A transaction's messages go to a partition of the transaction, not to that of their key.",
)
class _UnpinnedInTransaction(SeededBus):
    def place_in_transaction(
        self, queue: Queue, key: Key | None, transaction: Transaction
    ) -> int | Error:
        placed = super().place_in_transaction(queue, key, transaction)
        return placed if isinstance(placed, Error) else (placed + 1) % queue.partitions


@faulty(
    "session-missing-accepted",
    "TXN-06",
    "A session-aware queue takes a message without SessionId in a transaction.",
)
class _SessionMissingAccepted(SeededBus):
    def session_missing(self, queue: Queue, message: Message) -> bool:  # noqa: ARG002 - never
        return False


@faulty(
    "mismatch-accepted-in-transaction",
    "TXN-07",
    "In a transaction SessionId and PartitionKey may differ.",
)
class _MismatchAcceptedInTransaction(SeededBus):
    def conflicts_in_transaction(self, queue: Queue, message: Message) -> bool:  # noqa: ARG002
        return False


@faulty("two-sessions-accepted", "TXN-08", "A transaction takes messages of several sessions.")
class _TwoSessionsAccepted(SeededBus):
    def other_session(self, queue: Queue, earlier: list[Key], key: Key) -> bool:  # noqa: ARG002
        return False


@faulty(
    "two-sessions-refused-on-regular",
    "TXN-09",
    "A transaction takes messages of one session only, even on a regular queue.",
)
class _TwoSessionsRefusedOnRegular(SeededBus):
    def objection(self, queue: Queue, message: Message, transaction: Transaction) -> Error | None:
        sessions = {staged.message.session_id for staged in transaction.staged} - {None}
        if not queue.settings.partitioned and sessions - {message.session_id}:
            return Error.INVALID_OPERATION
        return super().objection(queue, message, transaction)


@faulty(
    "transaction-split",
    "TXN-10",
    "The third message of a transaction goes to another partition.",
)
class _TransactionSplit(SeededBus):
    def place_in_transaction(
        self, queue: Queue, key: Key | None, transaction: Transaction
    ) -> int | Error:
        placed = super().place_in_transaction(queue, key, transaction)
        third = len(transaction.staged) == 2
        return placed if isinstance(placed, Error) else (placed + third) % queue.partitions


@faulty(
    "partition-key-refused-in-transaction",
    "TXN-11",
    "In a transaction a PartitionKey does not count as a key.",
)
class _PartitionKeyRefused(SeededBus):
    def key_in_transaction(self, queue: Queue, message: Message) -> Key | None:
        key = super().key_in_transaction(queue, message)
        return None if key is not None and key[0] == PARTITION_KEY else key


@faulty(
    "visible-before-commit",
    "TXN-12",
    "A message sent in a transaction is receivable before the commit.",
)
class _VisibleBeforeCommit(SeededBus):
    def add(self, transaction: Transaction, staged: Staged) -> None:
        super().add(transaction, staged)
        self.store(staged.queue, staged.message, staged.key, staged.partition)

    def committed(self, transaction: Transaction) -> list[Staged]:  # noqa: ARG002 - all are there
        return []


@faulty("lost-at-commit", "TXN-12", "The last message of a transaction is lost at its commit.")
class _LostAtCommit(SeededBus):
    def committed(self, transaction: Transaction) -> list[Staged]:
        return super().committed(transaction)[:-1]


@faulty("rollback-keeps", "TXN-13", "Rolling a transaction back commits it.")
class _RollbackKeeps(SeededBus):
    def roll_back(self, name: str) -> Outcome:
        return self.commit(name)


@faulty(
    "rollback-keeps-the-first",
    "TXN-13",
    "Rolling back a transaction of several messages leaves the first of them.",
    deep=True,
)
class _RollbackKeepsTheFirst(SeededBus):
    def roll_back(self, name: str) -> Outcome:
        transaction = self.transactions.get(name)
        staged = [] if transaction is None else transaction.staged
        for each in staged[: len(staged) > 1]:
            self.store(each.queue, each.message, each.key, each.partition)
        return super().roll_back(name)


FAULTS: Final = faulty.all()
