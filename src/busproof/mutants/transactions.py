"""Mutants of TXN: sends in a transaction, and how it ends."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.keys import PARTITION_KEY, SESSION_ID
from busproof.model.state import BufferedSend, Entity, Transaction
from busproof.model.transactions import Transactions, keys_of_sends
from busproof.model.values import Key, Refusal
from busproof.mutants.mutant import mutant, run
from busproof.mutants.runs import Run, create, receive, schedule, send, wait
from busproof.mutants.wrappers import (
    alters,
    beforehand,
    instead_of,
    only_where,
    refuses,
    refuses_as,
    with_other,
)

BEGIN: Final = v.BeginTransaction(transaction="t")
COMMIT: Final = v.CommitTransaction(transaction="t")
ROLL_BACK: Final = v.RollBackTransaction(transaction="t")
PLAIN: Final[Run] = (create(), BEGIN)
KEYLESS: Final[Run] = (*PLAIN, send("m1", within="t"))
KEYED: Final[Run] = (*PLAIN, send("m1", within="t", partition_key="a"))
TWO: Final[Run] = (*KEYED, send("m2", within="t", partition_key="a"))
SESSIONS: Final[Run] = (create(requires_session=True), BEGIN)
TWO_SESSIONS: Final[Run] = (
    send("m1", within="t", session_id="a"),
    send("m2", within="t", session_id="b"),
)
OTHER_KEY: Final[Run] = (*KEYED, send("m2", within="t", partition_key="b"))
THIRD_KEY: Final[Run] = (*TWO, send("m3", within="t", partition_key="b"))
SAME_HOME: Final[Run] = (*KEYED, send("m2", within="t", partition_key="c"))
PINNED: Final[Run] = (
    *(create(), send("m0", partition_key="a"), BEGIN, send("m1", within="t", partition_key="a")),
)
MISMATCH: Final[Run] = (*SESSIONS, send("m1", within="t", session_id="a", partition_key="b"))
REGULAR: Final[Run] = (create(partitioned=False, requires_session=True), BEGIN, *TWO_SESSIONS)
KEYLESS_ON_REGULAR: Final[Run] = (create(partitioned=False), BEGIN, send("m1", within="t"))
TWO_QUEUES: Final[Run] = (
    *(create(), v.CreateQueue(queue="r", partitioned=False), BEGIN),
    *(
        send("m1", within="t", partition_key="a"),
        send("m2", queue="r", within="t", partition_key="a"),
    ),
)
RECEIVED: Final[Run] = (*KEYED, receive())
SCHEDULED: Final[Run] = (
    *(*PLAIN, schedule("m1", 5, partition_key="a", within="t"), ROLL_BACK, wait(6), receive()),
)


@mutant("TXN-01", KEYED)
class KeyedRefusedInTransaction(Transactions):
    """A transaction refuses every message."""

    @refuses("TXN-01")
    def key_of(self, entity: Entity) -> bool:
        return entity.settings.partitioned


@mutant("TXN-02", TWO)
class SecondRefusedInTransaction(Transactions):
    """A transaction refuses a second message, whatever its key."""

    def check_same_key(self, earlier: Key, key: Key) -> None:
        raise Refusal(v.Error.INVALID_OPERATION, "TXN-02")


@mutant("TXN-03", KEYLESS)
class KeylessAccepted(Transactions):
    """A transaction accepts a message without a key."""

    @instead_of("TXN-03")
    def key_of(self) -> None:
        pass


@mutant("TXN-03", KEYLESS)
class KeylessWrongError(Transactions):
    """A transaction refuses a message without a key with another error."""

    @refuses_as(v.Error.UNAVAILABLE, "TXN-03")
    def key_of(self) -> None:
        pass


@mutant("TXN-04", OTHER_KEY)
class OtherKeyAccepted(Transactions):
    """A transaction accepts messages with different keys."""

    @only_where
    def check_same_key(self, earlier: Key, key: Key) -> bool:
        return earlier.source == key.source == SESSION_ID


@mutant("TXN-04", THIRD_KEY, deep=True)
class OtherKeyAcceptedThird(Transactions):
    """A transaction compares only the key of its second message with the first."""

    @only_where
    def check_other_sends(self, entity: Entity, transaction: Transaction, key: Key) -> bool:
        alike = [earlier for other, earlier in keys_of_sends(transaction) if other is entity]
        return len(alike) < 2 or key.source == SESSION_ID


@mutant("TXN-04", SAME_HOME, deep=True)
class OtherKeyAcceptedInSamePartition(Transactions):
    """A transaction accepts another key that selects the same partition."""

    @with_other("transaction")
    def check_other_sends(self, entity: Entity, transaction: Transaction, key: Key) -> Transaction:
        home = self.rules.keys.home(entity, key)
        together = key.source != SESSION_ID
        others = (
            buffered
            for buffered in transaction.sends
            if not (together and buffered.entity is entity and buffered.partition == home)
        )
        return Transaction(sends=tuple(others))


@mutant("TXN-05", PINNED)
class UnpinnedInTransaction(Transactions):
    """The messages of a transaction go to the partition after the one that their key selects."""

    @alters
    def place(self, usual: int, entity: Entity) -> int:
        return (usual + 1) % len(entity.partitions)


@mutant("TXN-06", (*SESSIONS, send("m1", within="t", partition_key="a")))
class SessionMissingAccepted(Transactions):
    """In a transaction a queue with sessions accepts a message without a SessionId."""

    def key_of(self, entity: Entity, transaction: Transaction, message: v.Message) -> Key | None:
        try:
            return super().key_of(entity, transaction, message)
        except Refusal as refusal:
            key = self.rules.keys.effective_key(entity, message)
            if "TXN-06" not in refusal.rules or (key is None and entity.settings.partitioned):
                raise
            if key is not None:
                self.check_other_sends(entity, transaction, key)
            return key


@mutant("TXN-07", MISMATCH)
class MismatchAcceptedInTransaction(Transactions):
    """In a transaction a message whose SessionId and PartitionKey differ is accepted."""

    @with_other("message")
    def key_of(self, message: v.Message) -> v.Message:
        if message.session_id is not None:
            message = attrs.evolve(message, partition_key=None)
        return message


@mutant("TXN-08", (*SESSIONS, *TWO_SESSIONS))
class TwoSessionsAccepted(Transactions):
    """A transaction accepts messages of several sessions."""

    @only_where
    def check_same_key(self, earlier: Key, key: Key) -> bool:
        return not earlier.source == key.source == SESSION_ID


@mutant("TXN-09", REGULAR)
class TwoSessionsRefusedOnRegular(Transactions):
    """A transaction accepts messages of one session only, even on a regular queue."""

    @refuses("TXN-08")
    def key_of(self, entity: Entity, transaction: Transaction, message: v.Message) -> bool:
        sessions = {buffered.message.session_id for buffered in transaction.sends}
        return not entity.settings.partitioned and bool(sessions - {None, message.session_id})


@mutant("TXN-10", (*TWO, send("m3", within="t", partition_key="a")))
class TransactionSplit(Transactions):
    """The third message of a transaction goes to another partition."""

    @alters
    def place(self, usual: int, entity: Entity, transaction: Transaction) -> int:
        return (usual + (len(transaction.sends) == 2)) % len(entity.partitions)


@mutant("TXN-11", KEYED)
class PartitionKeyRefusedInTransaction(Transactions):
    """In a transaction a PartitionKey does not count as a key."""

    @alters
    def key_of(self, usual: Key | None) -> Key | None:
        if usual is not None and usual.source == PARTITION_KEY:
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-03")
        return usual


class _DeliverNothing(Transactions):
    """Let a commit deliver nothing beyond what was delivered before it."""

    def deliver(self, buffered: BufferedSend) -> None:
        pass


@mutant("TXN-12", RECEIVED, also=(_DeliverNothing,))
class VisibleBeforeCommit(Transactions):
    """A message sent in a transaction can be received before the commit."""

    def send(self, entity: Entity, messages: tuple[v.Message, ...], name: str) -> Answer:
        transaction = self.running(name)
        before = len(transaction.sends)
        answer = super().send(entity, messages, name)
        for buffered in transaction.sends[before:]:
            Transactions.deliver(self, buffered)
        return answer


@mutant("TXN-12", (*TWO, COMMIT, receive(), receive()))
class LostAtCommit(Transactions):
    """A commit loses the last message of its transaction."""

    @beforehand
    def apply(self, transaction: Transaction) -> None:
        self.namespace.journal.touch(transaction)
        transaction.sends = transaction.sends[:-1]


@mutant("TXN-13", (*KEYED, ROLL_BACK, receive()))
class RollbackKeeps(Transactions):
    """A rollback commits its transaction."""

    def roll_back(self, command: v.RollBackTransaction, connection: str) -> Answer:
        commit = v.CommitTransaction(transaction=command.transaction)
        return self.commit(commit, connection)


@mutant("TXN-13", (*TWO, ROLL_BACK, receive()), deep=True)
class RollbackKeepsTheFirst(Transactions):
    """A rollback delivers the first of several messages."""

    @beforehand
    def roll_back(self, command: v.RollBackTransaction) -> None:
        sends = self.running(command.transaction).sends
        if len(sends) > 1:
            self.deliver(sends[0])


@mutant("TXN-13", SCHEDULED)
class ScheduledOutsideTransaction(Transactions):
    """A message scheduled in a transaction arrives after its rollback."""

    @beforehand
    def roll_back(self, command: v.RollBackTransaction) -> None:
        for buffered in self.running(command.transaction).sends:
            if buffered.scheduled is not None:
                self.rules.scheduling.plan(buffered.scheduled)


@mutant("TXN-14", KEYLESS_ON_REGULAR)
class KeylessRefusedOnRegular(Transactions):
    """A transaction refuses a message without a key, even on a regular queue."""

    @refuses("TXN-03")
    def key_of(self, entity: Entity, message: v.Message) -> bool:
        keyless = message.session_id is None and message.partition_key is None
        return keyless and not entity.settings.partitioned


@mutant("TXN-14")
@run(*KEYLESS_ON_REGULAR, send("m2", within="t", partition_key="a"))
class OtherKeyRefusedOnRegular(Transactions):
    """A transaction accepts one PartitionKey only, even on a regular queue."""

    @refuses("TXN-04")
    def key_of(self, entity: Entity, transaction: Transaction, message: v.Message) -> bool:
        keys = {buffered.message.partition_key for buffered in transaction.sends}
        return not entity.settings.partitioned and bool(keys - {message.partition_key})


@mutant("TXN-15", readings={"TXN-ENTITIES": "refused"})
@run(*TWO_QUEUES)
class SecondEntityAccepted(Transactions):
    """A transaction accepts messages for any number of queues."""

    def check_other_entities(self, entity: Entity, transaction: Transaction) -> None:
        pass
