"""Mutants of PREM: Premium with and without partitions."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.keys import SESSION_ID
from busproof.model.rules import Namespace
from busproof.model.state import Entity, Transaction
from busproof.model.values import EntityKind, EntitySettings, Key
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import QUEUE, Run, create, receive, send
from busproof.mutants.wrappers import (
    alters,
    asks,
    beforehand,
    instead,
    only_where,
    refuses,
    tells,
    with_other,
)

OLD: Final = v.RestoreQueue(queue=QUEUE)
REGULAR: Final = create(partitioned=False)
WITH_SESSIONS: Final = create(partitioned=False, requires_session=True)
LARGE: Final = create(partitioned=False, max_size=80)
GET: Final = v.GetQueue(queue=QUEUE)
DELETE: Final = v.DeleteQueue(queue=QUEUE)
KEYED: Final = send("m1", partition_key="a")
IN_TRANSACTION: Final[Run] = (REGULAR, v.BeginTransaction(transaction="t"))
EIGHT: Final[Run] = tuple(send(f"m{number}") for number in range(8))
OLD_TWO: Final[Run] = (OLD, KEYED, send("m2", partition_key="a"))
IN_SESSION: Final[Run] = (
    *(WITH_SESSIONS, KEYED, v.AcceptSession(queue=QUEUE, session_id="a"), receive("a")),
)
TWO_KEYS: Final[Run] = (
    *(*IN_TRANSACTION, *(send(key, within="t", partition_key=key) for key in ("a", "b"))),
)


def together(*messages: v.Message) -> v.SendBatch:
    """Return a batch of these messages."""
    return v.SendBatch(queue=QUEUE, messages=messages)


TWO_KEYS_AT_ONCE: Final = together(
    v.Message(body="m1", partition_key="a"), v.Message(body="m2", partition_key="b")
)
TWO_SESSIONS_AT_ONCE: Final = together(
    v.Message(body="m1", session_id="a"), v.Message(body="m2", session_id="b")
)


@mutant("PREM-01", "premium.in_premium", (create(), GET))
def premium_partitions(wanted: bool) -> bool:
    """Premium creates partitioned queues."""
    return wanted


def create_partitioned(namespace: Namespace, command: v.CreateQueue) -> Answer:
    """Create a queue that is partitioned as the request says."""
    rules = namespace.rules
    rules.management.check_name(command.queue)
    size = rules.sizes.granted_size(command.max_size)
    settings = EntitySettings.of(command, partitioned=True, max_size=size)
    rules.management.create(command.queue, EntityKind.QUEUE, settings)
    return Answer(DONE, rules=("MGMT-01",))


@mutant("PREM-01", "management.create_queue", how=instead, deep=True)
@run(create(requires_session=True), GET)
def premium_partitions_sessions(namespace: Namespace, command: v.CreateQueue) -> Answer | None:
    """Premium creates partitioned queues that require sessions."""
    partitioned = command.partitioned and command.requires_session
    return create_partitioned(namespace, command) if partitioned else None


@beside("management.restore_queue", beforehand)
def remember(namespace: Namespace, command: v.RestoreQueue) -> None:
    """Remember that a queue existed before Premium stopped creating partitioned ones."""
    memory(namespace, set[str]).add(command.queue)


def is_old(namespace: Namespace, path: str) -> bool:
    """Return whether the queue of this name existed before Premium stopped creating such."""
    return path in memory(namespace, set[str])


@mutant("PREM-03", "messages.send", (OLD, send("m1")), refuses("PREM-03"), also=remember)
def old_takes_nothing(namespace: Namespace, command: v.Send) -> bool:
    """An existing partitioned queue refuses messages in Premium."""
    return is_old(namespace, command.queue)


@mutant("PREM-03", "messages.receive", how=refuses("PREM-03"), also=remember)
@run(OLD, send("m1"), receive())
def old_gives_nothing(namespace: Namespace, command: v.Receive) -> bool:
    """An existing partitioned queue gives no messages in Premium."""
    return is_old(namespace, command.queue)


@mutant("PREM-03", "keys.effective_key", OLD_TWO, alters, also=remember, deep=True)
def old_forgets_keys(usual: Key | None, namespace: Namespace, entity: Entity) -> Key | None:
    """In an existing partitioned queue in Premium, keys select no partition."""
    forgotten = usual is not None and usual.source != SESSION_ID and is_old(namespace, entity.path)
    return None if forgotten else usual


@mutant("PREM-04", "management.get_queue", (OLD, GET), tells("description"), also=remember)
def old_told_regular(
    usual: v.QueueDescription, namespace: Namespace, command: v.GetQueue
) -> v.QueueDescription:
    """An existing partitioned queue is described as regular in Premium."""
    return attrs.evolve(usual, partitioned=False) if is_old(namespace, command.queue) else usual


@mutant("PREM-04", "management.list_queues", (OLD, v.ListQueues()), tells("names"), also=remember)
def old_not_listed(usual: tuple[str, ...], namespace: Namespace) -> tuple[str, ...]:
    """An existing partitioned queue is not listed in Premium."""
    return tuple(name for name in usual if not is_old(namespace, name))


@mutant("PREM-04", "management.delete", (OLD, DELETE), refuses("PREM-04"), also=remember)
def old_never_deleted(namespace: Namespace, entity: Entity) -> bool:
    """An existing partitioned queue cannot be deleted in Premium."""
    return is_old(namespace, entity.path)


@mutant("PREM-06", "management.create_queue", how=instead, also=remember, deep=True)
@run(OLD, DELETE, create(), GET)
def old_comes_back(namespace: Namespace, command: v.CreateQueue) -> Answer | None:
    """In Premium a partitioned queue that was deleted can be created again."""
    again = command.partitioned and is_old(namespace, command.queue)
    return create_partitioned(namespace, command) if again else None


@mutant("PREM-07", "sizes.granted_size", (LARGE,), refuses("PREM-07"))
def premium_as_standard(wanted: int | None) -> bool:
    """In Premium a queue cannot have more than 5 GB."""
    return wanted is not None and wanted > 5


@mutant("PREM-07", "sizes.granted_size", (LARGE, GET))
def premium_size_forgotten(namespace: Namespace, wanted: int | None) -> int:
    """In Premium every queue has 1 GB, whatever the request says."""
    RULES.sizes.granted_size(namespace, wanted)
    return 1


@mutant("PREM-08", "sizes.granted_size", (create(partitioned=False, max_size=6), GET))
def any_size_in_premium(namespace: Namespace, wanted: int | None) -> int:
    """In Premium a queue can have any size."""
    return wanted or RULES.sizes.granted_size(namespace, wanted)


@mutant("PREM-09", "sizes.granted_size", (REGULAR, GET), with_other("wanted"))
def large_by_default_in_premium(wanted: int | None) -> int | None:
    """In Premium a queue without a size has 5 GB."""
    return wanted or 5


@mutant("PREM-10", "sizes.greatest_size", (create(partitioned=False, max_size=5), GET))
def premium_size_multiplied(namespace: Namespace, entity: Entity) -> int:
    """In Premium a queue is described as 16 times as large."""
    return RULES.sizes.greatest_size(namespace, entity) * namespace.profile.partitions


@mutant("PREM-11", "management.create_queue", (WITH_SESSIONS,), refuses("PREM-11"))
def no_sessions_in_premium(command: v.CreateQueue) -> bool:
    """In Premium no queue can require sessions."""
    return command.requires_session


@mutant("PREM-11", "messages.send", IN_SESSION, asks, deep=True)
def key_names_session(command: v.Send) -> v.Send:
    """In Premium a PartitionKey replaces a missing SessionId."""
    message = command.message
    if message.session_id is None and message.partition_key is not None:
        message = attrs.evolve(message, session_id=message.partition_key)
    return attrs.evolve(command, message=message)


@mutant("PREM-12", "messages.send", (REGULAR, KEYED), refuses("PREM-12"))
def key_refused_in_premium(command: v.Send) -> bool:
    """In Premium a message with a PartitionKey is refused."""
    return command.message.partition_key is not None


@mutant("PREM-12", "messages.arrive", (REGULAR, KEYED, receive()), with_other("message"))
def key_dropped_in_premium(message: v.Message) -> v.Message:
    """In Premium a message loses its PartitionKey."""
    return attrs.evolve(message, partition_key=None)


@mutant("PREM-13", "transactions.key_of", how=refuses("PREM-13"))
@run(*IN_TRANSACTION, send("m1", within="t"))
def premium_transaction_needs_key(message: v.Message) -> bool:
    """In Premium a transaction's messages need a key."""
    return message.session_id is None and message.partition_key is None


@mutant("PREM-13", "transactions.key_of", TWO_KEYS, refuses("PREM-13"), deep=True)
def premium_transaction_of_one_key(transaction: Transaction, message: v.Message) -> bool:
    """In Premium all messages of a transaction need the same key."""
    sent = (*(buffered.message for buffered in transaction.sends), message)
    return len({(one.session_id, one.partition_key) for one in sent}) > 1


@mutant("PREM-14", "premium.in_partitioned", (create(), GET))
def regular_in_partitioned(namespace: Namespace, wanted: bool | None, version: str | None) -> bool:
    """A partitioned namespace creates queues that are not partitioned."""
    RULES.premium.in_partitioned(namespace, wanted, version)
    return False


@mutant("PREM-14", "premium.in_partitioned", (create(partitioned=None), GET), deep=True)
def unasked_is_regular(namespace: Namespace, wanted: bool | None, version: str | None) -> bool:
    """A partitioned namespace creates a regular queue if the request leaves the option out."""
    return wanted is not None and RULES.premium.in_partitioned(namespace, wanted, version)


@mutant("PREM-15", "premium.in_partitioned", (REGULAR,))
def either_kind_in_partitioned(wanted: bool | None) -> bool:
    """A partitioned namespace creates partitioned and regular queues, as requested."""
    return bool(wanted)


@mutant("PREM-15", "premium.in_partitioned", (REGULAR,))
def option_ignored_in_partitioned() -> bool:
    """A partitioned namespace creates a partitioned queue if a regular one is requested."""
    return True


@mutant("PREM-16", "sizes.partition_count", (create(), *EIGHT))
def sixteen_in_partitioned(partitioned: bool) -> int:
    """In a partitioned namespace a queue has 16 partitions, as in Standard."""
    return 16 if partitioned else 1


@mutant("PREM-17", "batches.check_keys", (create(), TWO_KEYS_AT_ONCE))
def batch_of_any_keys() -> None:
    """A partitioned namespace accepts a batch with several PartitionKeys or SessionIds."""


@mutant("PREM-17", "batches.check_keys", (create(), TWO_SESSIONS_AT_ONCE), only_where, deep=True)
def batch_of_any_sessions(messages: tuple[v.Message, ...]) -> bool:
    """A partitioned namespace accepts a batch with several SessionIds."""
    return len({message.session_id for message in messages}) == 1
