"""Facts: what an event shows about a key, a message, a lock or a session, in 64-bit numbers.

Facts with the same kind and key are compared. Each has the line of its event and up to three
numbers: a `value`, which must be the same in all of them, a `cause`, which has to come first, and
an `effect`, which has to follow.
"""

from collections.abc import Iterator
from enum import IntEnum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.screening.events import RECORDS

__all__ = ["Kind", "facts_of", "groups_of"]


class Kind(IntEnum):
    """The subject of a fact, with the meaning of its numbers."""

    UNREADABLE = 0
    """A line that is not a record."""
    MISMATCH = 1
    """A sent message whose SessionId and PartitionKey differ."""
    KEY = 2
    """A key of a queue; value: the partition that stored a message with this key."""
    HOME = 3
    """A message in a queue; value: the partition that stored it."""
    NUMBER = 4
    """A message of an entity; value: its sequence number."""
    NAMED = 5
    """A sequence number of an entity; value: the message."""
    MESSAGE = 6
    """A message; value: its keys; cause: it was sent; effect: it was received."""
    LOCK = 7
    """A lock; value: its message; cause: it was completed; effect: it was received."""
    PLACE = 8
    """A message in a session; value: the session; cause: it was sent; effect: its first receive."""
    COPY = 9
    """A MessageId of an entity; value: a received message; cause: the entity."""
    DETECTS = 10
    """An entity that detects duplicates; cause: the entity; effect: 0, so that it comes first."""
    TRANSACTION = 11
    """A transaction; value: the key of a message that was sent in it."""
    COUNTED = 12
    """An entity; value: a delivery count; cause: the highest limit that it ever had."""
    NEEDS = 13
    """An entity; cause: it requires sessions; effect: it took a message without one; value: it
    answered a receive without one."""
    HELD = 14
    """A session and a connection; cause: it was accepted; effect: it was received from."""


_SENDS = ("Send", "SendBatch")
_CREATES = ("CreateQueue", "CreateSubscription", "CreateTopic", "RestoreQueue", "UpdateQueue")
_SETTLES = ("Complete", "Abandon", "DeadLetter", "Defer")


def facts_of(events: DataFrame) -> DataFrame:
    """Return a table of facts: history_id, line, kind, key, value, cause, effect."""
    # Each condition is computed once; inside of the facts Spark would repeat it for each of them.
    conditions = [column.alias(name) for name, column in _conditions().items()]
    known = events.select("*", *conditions)
    facts = known.select("history_id", "line", sf.explode(sf.array(*_facts())).alias("fact"))
    return facts.where(sf.col("fact.kind").isNotNull()).select("history_id", "line", "fact.*")


def groups_of(facts: DataFrame) -> DataFrame:
    """Return the least and greatest numbers of all facts of a kind and key, and the last line."""
    return facts.groupBy("history_id", "kind", "key").agg(
        sf.min("value").alias("low"),
        sf.max("value").alias("high"),
        sf.min("cause").alias("first_cause"),
        sf.max("cause").alias("last_cause"),
        sf.min("effect").alias("first_effect"),
        sf.max("effect").alias("last_effect"),
        sf.max("line").alias("line"),
    )


def _conditions() -> dict[str, Column]:
    """Return what an event does, by the names that `_facts` uses."""
    command, outcome = sf.col("command"), sf.col("outcome")
    done = outcome == "Done"
    sends = command.isin(*_SENDS)
    received = outcome.isin("Received", "ReceivedSeveral")
    created = command.isin(*_CREATES) & done
    accepts = command.isin("AcceptSession", "AcceptNextSession")
    living = received & ~sf.col("is_dead_letters")
    alone = sf.col("transaction").isNull()
    key = sf.coalesce("session", "partition_key")
    session = sf.col("session")
    first = sf.coalesce("delivery_count", sf.lit(1)) == 1
    return {
        "is_unreadable": ~sf.coalesce("record", sf.lit("")).isin(*RECORDS),
        "sent": sends & done,
        "may_be_sent": (sends | (command == "Schedule")) & (outcome != "Refused"),
        "received": received,
        "living": living,
        "given": living & (command == "Receive"),
        "without_session": ~sf.col("is_dead_letters")
        & ~sf.col("is_held")
        & (command == "Receive")
        & outcome.isin("Received", "Empty"),
        "settled": command.isin(*_SETTLES) & done,
        "gone": (received & sf.col("lock").isNull()) | ((command == "Complete") & alone),
        "created": created,
        "accepted": accepts & (outcome != "Refused"),
        "alone": alone,
        "placed": session.isNotNull()
        & ((sends & done & alone) | (living & first & (command == "Receive"))),
        "keys": key,
        "content": sf.xxhash64("session", "partition_key"),
    }


def _facts() -> Iterator[Column]:
    column, line = sf.col, sf.col("line")
    path, owner, body, key = column("path"), column("owner"), column("body"), column("keys")
    sent, received, living = column("sent"), column("received"), column("living")
    delivered, created, accepted = column("given"), column("created"), column("accepted")
    session, is_held = column("session"), column("is_held")
    keyed = sent & key.isNotNull()
    cause_if_sent = sf.when(sent, line)
    effect_if_received = sf.when(received, line)

    yield _fact(Kind.UNREADABLE, column("is_unreadable"), line)
    yield _fact(Kind.MISMATCH, sent & (session != column("partition_key")), line, body)
    partition, numbered = column("partition"), living & column("number").isNotNull()
    located = partition.isNotNull()
    yield _fact(Kind.KEY, keyed & (path == owner) & located, path, key, value=partition)
    yield _fact(Kind.HOME, (sent | living) & located, owner, body, value=partition)
    yield _fact(Kind.NUMBER, numbered, path, body, value=column("number"))
    yield _fact(Kind.NAMED, numbered, path, column("number"), value=body)
    yield _fact(
        Kind.MESSAGE,
        column("may_be_sent") | received,
        body,
        value=column("content"),
        cause=sf.when(column("may_be_sent"), line),
        effect=effect_if_received,
    )
    yield _fact(
        Kind.LOCK,
        received | column("settled"),
        path,
        sf.coalesce("lock", line),
        value=sf.when(received, sf.xxhash64(path, body)),
        cause=sf.when(column("gone"), line),
        effect=effect_if_received,
    )
    yield _fact(
        Kind.PLACE,
        column("placed"),
        path,
        body,
        value=sf.xxhash64(path, session),
        cause=cause_if_sent,
        effect=effect_if_received,
    )
    copied = living & column("message_id").isNotNull()
    yield _fact(Kind.COPY, copied, path, column("message_id"), value=body, cause=owner, effect=line)
    detects = created & column("duplicate_detection")
    yield _fact(Kind.DETECTS, detects, owner, cause=owner, effect=sf.lit(0))
    enlisted = keyed & ~column("alone")
    yield _fact(Kind.TRANSACTION, enlisted, column("transaction"), value=column("content"))
    limit, deliveries = column("max_delivery_count"), column("delivery_count")
    # No limit is below one, so that first deliveries need not be counted.
    counted = (living & (deliveries > 1)) | (created & limit.isNotNull())
    yield _fact(Kind.COUNTED, counted, path, value=deliveries, cause=limit)
    needs = created & column("requires_session")
    yield _fact(
        Kind.NEEDS,
        needs | (sent & session.isNull()) | column("without_session"),
        path,
        value=sf.when(column("without_session"), line),
        cause=sf.when(created, line),
        effect=cause_if_sent,
    )
    yield _fact(
        Kind.HELD,
        is_held & (delivered | accepted),
        path,
        column("holder"),
        cause=sf.when(accepted, line),
        effect=effect_if_received,
    )


def _fact(
    kind: Kind,
    when: Column,
    *key: Column,
    value: Column | None = None,
    cause: Column | None = None,
    effect: Column | None = None,
) -> Column:
    fact = sf.struct(
        sf.lit(int(kind)).alias("kind"),
        sf.xxhash64(*key).alias("key"),
        _number(value).alias("value"),
        _number(cause).alias("cause"),
        _number(effect).alias("effect"),
    )
    return sf.when(when, fact)


def _number(number: Column | None) -> Column:
    return (sf.lit(None) if number is None else number).cast("long")
