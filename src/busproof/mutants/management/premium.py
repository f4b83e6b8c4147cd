"""Mutants of PREM: Premium with and without partitions."""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.batches import Batches
from busproof.model.keys import SESSION_ID, Keys
from busproof.model.management import Management
from busproof.model.messages import Messages
from busproof.model.premium import Premium
from busproof.model.rules import Namespace
from busproof.model.sizes import Sizes
from busproof.model.state import Entity, Transaction
from busproof.model.transactions import Transactions
from busproof.model.values import EntityKind, EntitySettings, Key
from busproof.mutants.mutant import memory, mutant, run
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


@mutant("PREM-01", (create(), GET))
class PremiumPartitions(Premium):
    """Premium creates partitioned queues."""

    def in_premium(self, wanted: bool) -> bool:
        return wanted


def create_partitioned(namespace: Namespace, command: v.CreateQueue) -> Answer:
    """Create a queue that is partitioned as the request says."""
    rules = namespace.rules
    rules.management.check_name(command.queue)
    size = rules.sizes.granted_size(command.max_size)
    settings = EntitySettings.of(command, partitioned=True, max_size=size)
    rules.management.create(command.queue, EntityKind.QUEUE, settings)
    return Answer(DONE, rules=("MGMT-01",))


@mutant("PREM-01", deep=True)
@run(create(requires_session=True), GET)
class PremiumPartitionsSessions(Management):
    """Premium creates partitioned queues that require sessions."""

    @instead
    def create_queue(self, command: v.CreateQueue) -> Answer | None:
        partitioned = command.partitioned and command.requires_session
        return create_partitioned(self.rules.namespace, command) if partitioned else None


class Remember(Management):
    """Remember that a queue existed before Premium stopped creating partitioned ones."""

    @beforehand
    def restore_queue(self, command: v.RestoreQueue) -> None:
        memory(self.rules.namespace, set[str]).add(command.queue)


def is_old(namespace: Namespace, path: str) -> bool:
    """Return whether the queue of this name existed before Premium stopped creating such."""
    return path in memory(namespace, set[str])


@mutant("PREM-03", (OLD, send("m1")), also=(Remember,))
class OldTakesNothing(Messages):
    """An existing partitioned queue refuses messages in Premium."""

    @refuses("PREM-03")
    def send(self, command: v.Send) -> bool:
        return is_old(self.rules.namespace, command.queue)


@mutant("PREM-03", also=(Remember,))
@run(OLD, send("m1"), receive())
class OldGivesNothing(Messages):
    """An existing partitioned queue gives no messages in Premium."""

    @refuses("PREM-03")
    def receive(self, command: v.Receive) -> bool:
        return is_old(self.rules.namespace, command.queue)


@mutant("PREM-03", OLD_TWO, also=(Remember,), deep=True)
class OldForgetsKeys(Keys):
    """In an existing partitioned queue in Premium, keys select no partition."""

    @alters
    def effective_key(self, usual: Key | None, entity: Entity) -> Key | None:
        forgotten = (
            usual is not None
            and usual.source != SESSION_ID
            and is_old(self.rules.namespace, entity.path)
        )
        return None if forgotten else usual


@mutant("PREM-04", (OLD, GET), also=(Remember,))
class OldToldRegular(Management):
    """An existing partitioned queue is described as regular in Premium."""

    @tells("description")
    def get_queue(self, usual: v.QueueDescription, command: v.GetQueue) -> v.QueueDescription:
        return (
            attrs.evolve(usual, partitioned=False)
            if is_old(self.rules.namespace, command.queue)
            else usual
        )


@mutant("PREM-04", (OLD, v.ListQueues()), also=(Remember,))
class OldNotListed(Management):
    """An existing partitioned queue is not listed in Premium."""

    @tells("names")
    def list_queues(self, usual: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in usual if not is_old(self.rules.namespace, name))


@mutant("PREM-04", (OLD, DELETE), also=(Remember,))
class OldNeverDeleted(Management):
    """An existing partitioned queue cannot be deleted in Premium."""

    @refuses("PREM-04")
    def delete(self, entity: Entity) -> bool:
        return is_old(self.rules.namespace, entity.path)


@mutant("PREM-06", also=(Remember,), deep=True)
@run(OLD, DELETE, create(), GET)
class OldComesBack(Management):
    """In Premium a partitioned queue that was deleted can be created again."""

    @instead
    def create_queue(self, command: v.CreateQueue) -> Answer | None:
        again = command.partitioned and is_old(self.rules.namespace, command.queue)
        return create_partitioned(self.rules.namespace, command) if again else None


@mutant("PREM-07", (LARGE,))
class PremiumAsStandard(Sizes):
    """In Premium a queue cannot have more than 5 GB."""

    @refuses("PREM-07")
    def granted_size(self, wanted: int | None) -> bool:
        return wanted is not None and wanted > 5


@mutant("PREM-07", (LARGE, GET))
class PremiumSizeForgotten(Sizes):
    """In Premium every queue has 1 GB, whatever the request says."""

    def granted_size(self, wanted: int | None) -> int:
        super().granted_size(wanted)
        return 1


@mutant("PREM-08", (create(partitioned=False, max_size=6), GET))
class AnySizeInPremium(Sizes):
    """In Premium a queue can have any size."""

    def granted_size(self, wanted: int | None) -> int:
        return wanted or super().granted_size(wanted)


@mutant("PREM-09", (REGULAR, GET))
class LargeByDefaultInPremium(Sizes):
    """In Premium a queue without a size has 5 GB."""

    @with_other("wanted")
    def granted_size(self, wanted: int | None) -> int | None:
        return wanted or 5


@mutant("PREM-10", (create(partitioned=False, max_size=5), GET))
class PremiumSizeMultiplied(Sizes):
    """In Premium a queue is described as 16 times as large."""

    def greatest_size(self, entity: Entity) -> int:
        return super().greatest_size(entity) * self.namespace.profile.partitions


@mutant("PREM-11", (WITH_SESSIONS,))
class NoSessionsInPremium(Management):
    """In Premium no queue can require sessions."""

    @refuses("PREM-11")
    def create_queue(self, command: v.CreateQueue) -> bool:
        return command.requires_session


@mutant("PREM-11", IN_SESSION, deep=True)
class KeyNamesSession(Messages):
    """In Premium a PartitionKey replaces a missing SessionId."""

    @asks
    def send(self, command: v.Send) -> v.Send:
        message = command.message
        if message.session_id is None and message.partition_key is not None:
            message = attrs.evolve(message, session_id=message.partition_key)
        return attrs.evolve(command, message=message)


@mutant("PREM-12", (REGULAR, KEYED))
class KeyRefusedInPremium(Messages):
    """In Premium a message with a PartitionKey is refused."""

    @refuses("PREM-12")
    def send(self, command: v.Send) -> bool:
        return command.message.partition_key is not None


@mutant("PREM-12", (REGULAR, KEYED, receive()))
class KeyDroppedInPremium(Messages):
    """In Premium a message loses its PartitionKey."""

    @with_other("message")
    def arrive(self, message: v.Message) -> v.Message:
        return attrs.evolve(message, partition_key=None)


@mutant("PREM-13")
@run(*IN_TRANSACTION, send("m1", within="t"))
class PremiumTransactionNeedsKey(Transactions):
    """In Premium a transaction's messages need a key."""

    @refuses("PREM-13")
    def key_of(self, message: v.Message) -> bool:
        return message.session_id is None and message.partition_key is None


@mutant("PREM-13", TWO_KEYS, deep=True)
class PremiumTransactionOfOneKey(Transactions):
    """In Premium all messages of a transaction need the same key."""

    @refuses("PREM-13")
    def key_of(self, transaction: Transaction, message: v.Message) -> bool:
        sent = (*(buffered.message for buffered in transaction.sends), message)
        return len({(one.session_id, one.partition_key) for one in sent}) > 1


@mutant("PREM-14", (create(), GET))
class RegularInPartitioned(Premium):
    """A partitioned namespace creates queues that are not partitioned."""

    def in_partitioned(self, wanted: bool | None, version: str | None) -> bool:
        super().in_partitioned(wanted, version)
        return False


@mutant("PREM-14", (create(partitioned=None), GET), deep=True)
class UnaskedIsRegular(Premium):
    """A partitioned namespace creates a regular queue if the request leaves the option out."""

    def in_partitioned(self, wanted: bool | None, version: str | None) -> bool:
        return wanted is not None and super().in_partitioned(wanted, version)


@mutant("PREM-15", (REGULAR,))
class EitherKindInPartitioned(Premium):
    """A partitioned namespace creates partitioned and regular queues, as requested."""

    def in_partitioned(self, wanted: bool | None, version: str | None) -> bool:
        return bool(wanted)


@mutant("PREM-15", (REGULAR,))
class OptionIgnoredInPartitioned(Premium):
    """A partitioned namespace creates a partitioned queue if a regular one is requested."""

    def in_partitioned(self, wanted: bool | None, version: str | None) -> bool:
        return True


@mutant("PREM-16", (create(), *EIGHT))
class SixteenInPartitioned(Sizes):
    """In a partitioned namespace a queue has 16 partitions, as in Standard."""

    def partition_count(self, *, partitioned: bool, size: int) -> int:
        return 16 if partitioned else 1


@mutant("PREM-17", (create(), TWO_KEYS_AT_ONCE))
class BatchOfAnyKeys(Batches):
    """A partitioned namespace accepts a batch with several PartitionKeys or SessionIds."""

    def check_keys(self, entity: Entity, messages: tuple[v.Message, ...]) -> None:
        pass


@mutant("PREM-17", (create(), TWO_SESSIONS_AT_ONCE), deep=True)
class BatchOfAnySessions(Batches):
    """A partitioned namespace accepts a batch with several SessionIds."""

    @only_where
    def check_keys(self, messages: tuple[v.Message, ...]) -> bool:
        return len({message.session_id for message in messages}) == 1
