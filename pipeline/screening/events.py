"""The fields of events that screening looks at: one narrow row per message of a request or answer.

Texts become 64-bit hashes, so that what is shuffled later has a fixed width. Two texts of one hash
can only make something look suspicious that is not.
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.schema import ddl
from busproof.vocabulary.messages import SEQUENCE_BITS
from busproof.vocabulary.paths import DEAD_LETTERS, SUBSCRIPTIONS

__all__ = ["RECORDS", "events_of"]

RECORDS: Final = ("header", "started", "event", "ended")
"""Kinds of records; a line with another one cannot be used."""

_MESSAGE: Final = ddl(
    {
        "body": "STRING",
        "message_id": "STRING",
        "session_id": "STRING",
        "partition_key": "STRING",
        "sequence_number": "BIGINT",
        "delivery_count": "BIGINT",
        "lock_token": "STRING",
    }
)
_MESSAGES: Final = {"message": f"STRUCT<{_MESSAGE}>", "messages": f"ARRAY<STRUCT<{_MESSAGE}>>"}
_COMMAND: Final = {
    "type": "STRING",
    "queue": "STRING",
    "topic": "STRING",
    "subscription": "STRING",
    **_MESSAGES,
    "transaction": "STRING",
    "session_id": "STRING",
    "lock_token": "STRING",
    "requires_session": "BOOLEAN",
    "duplicate_detection": "BOOLEAN",
    "max_delivery_count": "BIGINT",
}
_OUTCOME: Final = {"type": "STRING", **_MESSAGES, "session_id": "STRING"}
_RECORD: Final = {
    "record": "STRING",
    "connection": "STRING",
    "command": f"STRUCT<{ddl(_COMMAND)}>",
    "outcome": f"STRUCT<{ddl(_OUTCOME)}>",
    "witness": "STRUCT<partition BIGINT>",
}


def events_of(rows: DataFrame) -> DataFrame:
    """Return the messages of all events, and a row for each line without a message.

    Args:
        rows: rows from `reading.read`.

    Returns:
        Rows of history_id, line and the columns below; a hash is null where its field is not set.
    """
    command, outcome = sf.col("e.command"), sf.col("e.outcome")
    lists = [
        messages
        for side in (outcome, command)
        for messages in (side["messages"], _alone(side["message"]))
    ]
    parsed = rows.select("history_id", "line", sf.from_json("text", ddl(_RECORD)).alias("e"))
    each = parsed.select(
        "history_id", "line", "e", sf.explode_outer(sf.coalesce(*lists)).alias("m")
    )
    path = sf.coalesce(
        sf.concat(command["topic"], sf.lit(SUBSCRIPTIONS), command["subscription"]),
        command["queue"],
        command["topic"],
    )
    session = sf.coalesce(command["session_id"], outcome["session_id"])
    token = sf.coalesce(sf.col("m.lock_token"), command["lock_token"])
    number = sf.col("m.sequence_number")
    witness = sf.col("e.witness.partition")
    return each.select(
        "history_id",
        "line",
        sf.col("e.record").alias("record"),
        command["type"].alias("command"),
        outcome["type"].alias("outcome"),
        path.endswith(DEAD_LETTERS).alias("is_dead_letters"),
        _hash(path).alias("path"),
        _hash(sf.substring_index(path, SUBSCRIPTIONS, 1)).alias("owner"),
        _hash(command["transaction"]).alias("transaction"),
        sf.xxhash64(session, sf.coalesce(sf.col("e.connection"), sf.lit("c1"))).alias("holder"),
        session.isNotNull().alias("is_held"),
        _hash(token).alias("lock"),
        command["requires_session"].alias("requires_session"),
        command["duplicate_detection"].alias("duplicate_detection"),
        command["max_delivery_count"].alias("max_delivery_count"),
        _hash(sf.col("m.body")).alias("body"),
        _hash(sf.col("m.message_id")).alias("message_id"),
        _hash(sf.col("m.session_id")).alias("session"),
        _hash(sf.col("m.partition_key")).alias("partition_key"),
        number.alias("number"),
        sf.coalesce(sf.shiftright(number, SEQUENCE_BITS), witness).alias("partition"),
        sf.col("m.delivery_count").alias("delivery_count"),
    )


def _alone(message: Column) -> Column:
    return sf.when(message.isNotNull(), sf.array(message))


def _hash(text: Column) -> Column:
    return sf.when(text.isNotNull(), sf.xxhash64(text))
