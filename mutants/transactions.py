"""Mutants of TXN: sends in a transaction, and how it ends."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.keys import PARTITION_KEY, SESSION_ID
from busproof.model.rules import Namespace
from busproof.model.state import BufferedSend, Entity, Transaction
from busproof.model.transactions import keys_of_sends
from busproof.model.values import Key, Refusal
from busproof.mutants.mutant import mutant, run
from busproof.mutants.own_rules import RULES
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


@mutant("TXN-01", "transactions.key_of", KEYED, refuses("TXN-01"))
def keyed_refused_in_transaction(entity: Entity) -> bool:
    """A transaction refuses every message."""
    return entity.settings.partitioned


@mutant("TXN-02", "transactions.check_same_key", TWO)
def second_refused_in_transaction() -> None:
    """A transaction refuses a second message, whatever its key."""
    raise Refusal(v.Error.INVALID_OPERATION, "TXN-02")


@mutant("TXN-03", "transactions.key_of", KEYLESS, instead_of("TXN-03"))
def keyless_accepted() -> None:
    """A transaction accepts a message without a key."""


@mutant("TXN-03", "transactions.key_of", KEYLESS, refuses_as(v.Error.UNAVAILABLE, "TXN-03"))
def keyless_wrong_error() -> None:
    """A transaction refuses a message without a key with another error."""


@mutant("TXN-04", "transactions.check_same_key", OTHER_KEY, only_where)
def other_key_accepted(earlier: Key, key: Key) -> bool:
    """A transaction accepts messages with different keys."""
    return earlier.source == key.source == SESSION_ID


@mutant("TXN-04", "transactions.check_other_sends", THIRD_KEY, only_where, deep=True)
def other_key_accepted_third(entity: Entity, transaction: Transaction, key: Key) -> bool:
    """A transaction compares only the key of its second message with the first."""
    alike = [earlier for other, earlier in keys_of_sends(transaction) if other is entity]
    return len(alike) < 2 or key.source == SESSION_ID


@mutant("TXN-04", "transactions.check_other_sends", SAME_HOME, with_other("transaction"), deep=True)
def other_key_accepted_in_same_partition(
    namespace: Namespace, entity: Entity, transaction: Transaction, key: Key
) -> Transaction:
    """A transaction accepts another key that selects the same partition."""
    home = namespace.rules.keys.home(entity, key)
    together = key.source != SESSION_ID
    others = (
        buffered
        for buffered in transaction.sends
        if not (together and buffered.entity is entity and buffered.partition == home)
    )
    return Transaction(sends=tuple(others))


@mutant("TXN-05", "transactions.place", PINNED, alters)
def unpinned_in_transaction(usual: int, entity: Entity) -> int:
    """The messages of a transaction go to the partition after the one that their key selects."""
    return (usual + 1) % len(entity.partitions)


@mutant("TXN-06", "transactions.key_of", (*SESSIONS, send("m1", within="t", partition_key="a")))
def session_missing_accepted(
    namespace: Namespace, entity: Entity, transaction: Transaction, message: v.Message
) -> Key | None:
    """In a transaction a queue with sessions accepts a message without a SessionId."""
    try:
        return RULES.transactions.key_of(namespace, entity, transaction, message)
    except Refusal as refusal:
        key = RULES.keys.effective_key(namespace, entity, message)
        if "TXN-06" not in refusal.rules or (key is None and entity.settings.partitioned):
            raise
        if key is not None:
            namespace.rules.transactions.check_other_sends(entity, transaction, key)
        return key


@mutant("TXN-07", "transactions.key_of", MISMATCH, with_other("message"))
def mismatch_accepted_in_transaction(message: v.Message) -> v.Message:
    """In a transaction a message whose SessionId and PartitionKey differ is accepted."""
    if message.session_id is not None:
        message = attrs.evolve(message, partition_key=None)
    return message


@mutant("TXN-08", "transactions.check_same_key", (*SESSIONS, *TWO_SESSIONS), only_where)
def two_sessions_accepted(earlier: Key, key: Key) -> bool:
    """A transaction accepts messages of several sessions."""
    return not earlier.source == key.source == SESSION_ID


@mutant("TXN-09", "transactions.key_of", REGULAR, refuses("TXN-08"))
def two_sessions_refused_on_regular(
    entity: Entity, transaction: Transaction, message: v.Message
) -> bool:
    """A transaction accepts messages of one session only, even on a regular queue."""
    sessions = {buffered.message.session_id for buffered in transaction.sends}
    return not entity.settings.partitioned and bool(sessions - {None, message.session_id})


@mutant("TXN-10", "transactions.place", (*TWO, send("m3", within="t", partition_key="a")), alters)
def transaction_split(usual: int, entity: Entity, transaction: Transaction) -> int:
    """The third message of a transaction goes to another partition."""
    return (usual + (len(transaction.sends) == 2)) % len(entity.partitions)


@mutant("TXN-11", "transactions.key_of", KEYED, alters)
def partition_key_refused_in_transaction(usual: Key | None) -> Key | None:
    """In a transaction a PartitionKey does not count as a key."""
    if usual is not None and usual.source == PARTITION_KEY:
        raise Refusal(v.Error.INVALID_OPERATION, "TXN-03")
    return usual


def _deliver_nothing(namespace: Namespace, buffered: BufferedSend) -> None:
    """Let a commit deliver nothing beyond what was delivered before it."""


@mutant("TXN-12", "transactions.send", RECEIVED, also={"transactions.deliver": _deliver_nothing})
def visible_before_commit(
    namespace: Namespace, entity: Entity, messages: tuple[v.Message, ...], name: str
) -> Answer:
    """A message sent in a transaction can be received before the commit."""
    transaction = namespace.rules.transactions.running(name)
    before = len(transaction.sends)
    answer = RULES.transactions.send(namespace, entity, messages, name)
    for buffered in transaction.sends[before:]:
        RULES.transactions.deliver(namespace, buffered)
    return answer


@mutant("TXN-12", "transactions.apply", (*TWO, COMMIT, receive(), receive()), beforehand)
def lost_at_commit(namespace: Namespace, transaction: Transaction) -> None:
    """A commit loses the last message of its transaction."""
    namespace.journal.touch(transaction)
    transaction.sends = transaction.sends[:-1]


@mutant("TXN-13", "transactions.roll_back", (*KEYED, ROLL_BACK, receive()))
def rollback_keeps(namespace: Namespace, command: v.RollBackTransaction, connection: str) -> Answer:
    """A rollback commits its transaction."""
    commit = v.CommitTransaction(transaction=command.transaction)
    return namespace.rules.transactions.commit(commit, connection)


@mutant("TXN-13", "transactions.roll_back", (*TWO, ROLL_BACK, receive()), beforehand, deep=True)
def rollback_keeps_the_first(namespace: Namespace, command: v.RollBackTransaction) -> None:
    """A rollback delivers the first of several messages."""
    sends = namespace.rules.transactions.running(command.transaction).sends
    if len(sends) > 1:
        namespace.rules.transactions.deliver(sends[0])


@mutant("TXN-13", "transactions.roll_back", SCHEDULED, beforehand)
def scheduled_outside_transaction(namespace: Namespace, command: v.RollBackTransaction) -> None:
    """A message scheduled in a transaction arrives after its rollback."""
    for buffered in namespace.rules.transactions.running(command.transaction).sends:
        if buffered.scheduled is not None:
            namespace.rules.scheduling.plan(buffered.scheduled)


@mutant("TXN-14", "transactions.key_of", KEYLESS_ON_REGULAR, refuses("TXN-03"))
def keyless_refused_on_regular(entity: Entity, message: v.Message) -> bool:
    """A transaction refuses a message without a key, even on a regular queue."""
    keyless = message.session_id is None and message.partition_key is None
    return keyless and not entity.settings.partitioned


@mutant("TXN-14", "transactions.key_of", how=refuses("TXN-04"))
@run(*KEYLESS_ON_REGULAR, send("m2", within="t", partition_key="a"))
def other_key_refused_on_regular(
    entity: Entity, transaction: Transaction, message: v.Message
) -> bool:
    """A transaction accepts one PartitionKey only, even on a regular queue."""
    keys = {buffered.message.partition_key for buffered in transaction.sends}
    return not entity.settings.partitioned and bool(keys - {message.partition_key})


@mutant("TXN-15", "transactions.check_other_entities", readings={"TXN-ENTITIES": "refused"})
@run(*TWO_QUEUES)
def second_entity_accepted() -> None:
    """A transaction accepts messages for any number of queues."""
