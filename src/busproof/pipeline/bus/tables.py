"""The state of the bus on Spark: a struct of tables, each an array of flat rows.

Times are in microseconds on the bus's clock. A regular entity has only partition 0.
"""

from collections.abc import Mapping
from typing import Final

from busproof.pipeline.schema import COMMAND, MESSAGE, OUTCOME, ddl

__all__ = ["ACCEPTED", "ARRIVAL", "ENTITY", "HELD", "KEY", "REQUEST", "STATE", "TABLES", "TOLD"]

Fields = Mapping[str, str]

_MESSAGE: Final = f"STRUCT<{ddl(MESSAGE)}>"

_KEY_FIELDS: Final[Fields] = {"property": "STRING", "value": "STRING"}
KEY: Final = f"STRUCT<{ddl(_KEY_FIELDS)}>"
"""A partition key: the property that it comes from, and its value."""

ENTITY: Final[Fields] = {
    "name": "STRING",
    "kind": "STRING",
    "place": "STRING",
    "partitions": "BIGINT",
    "turn": "BIGINT",
    "partitioned": "BOOLEAN",
    "requires_session": "BOOLEAN",
    "duplicate_detection": "BOOLEAN",
    "duplicate_window": "BIGINT",
    "lock_duration": "BIGINT",
    "max_delivery_count": "BIGINT",
    "max_size": "BIGINT",
    "forward_to": "STRING",
    "time_to_live": "BIGINT",
    "dead_letter_expired": "BOOLEAN",
}
"""A queue, topic or subscription.

`place` names the entity whose partitions it uses, and `turn` is the partition for the next message
without a key.
"""

HELD: Final[Fields] = {
    "queue": "STRING",
    "owner": "STRING",
    "sequence_number": "BIGINT",
    "order": "BIGINT",
    "partition": "BIGINT",
    "message": _MESSAGE,
    "deliveries": "BIGINT",
    "token": "STRING",
    "until": "BIGINT",
    "session": "STRING",
    "deferred": "BOOLEAN",
    "dies": "BIGINT",
    "reason": "STRING",
}
"""A message of the entity `owner`; `queue` says whether it is there or in a dead-letter queue.

`session` is the session that it was locked in, if any.
"""

PLANNED: Final[Fields] = {
    "queue": "STRING",
    "sequence_number": "BIGINT",
    "partition": "BIGINT",
    "message": _MESSAGE,
    "due": "BIGINT",
}

ACCEPTED: Final[Fields] = {
    "queue": "STRING",
    "key": KEY,
    "message_id": "STRING",
    "at": "BIGINT",
}

STAGED: Final[Fields] = {
    "transaction": "STRING",
    "queue": "STRING",
    "key": KEY,
    "partition": "BIGINT",
    "message": _MESSAGE,
    "sequence_number": "BIGINT",
    "due": "BIGINT",
}

ARRIVAL: Final[Fields] = {
    "queue": "STRING",
    "key": KEY,
    "partition": "BIGINT",
    "message": _MESSAGE,
    "at": "BIGINT",
    "hops": "BIGINT",
    "direct": "BOOLEAN",
    "checked": "BOOLEAN",
}
"""A message in transit.

`direct` says whether it was sent to this entity itself, and `checked` whether it has passed
duplicate detection.
"""

TABLES: Final[Mapping[str, Fields]] = {
    "entities": ENTITY,
    "dark": {"queue": "STRING", "partition": "BIGINT"},
    "messages": HELD,
    "planned": PLANNED,
    "accepted": ACCEPTED,
    "sessions": {
        "queue": "STRING",
        "session_id": "STRING",
        "connection": "STRING",
        "until": "BIGINT",
    },
    "states": {"queue": "STRING", "session_id": "STRING", "state": "STRING"},
    "transactions": {"name": "STRING", "open": "BOOLEAN"},
    "staged": STAGED,
    "coming": ARRIVAL,
}

TOLD: Final[Fields] = {**OUTCOME, "partition": "BIGINT"}
"""An outcome, with the chosen partition as its witness."""

STATE: Final[Fields] = {
    "tier": "STRING",
    "most_partitions": "BIGINT",
    "now": "BIGINT",
    "arrivals": "BIGINT",
    "given": "BIGINT",
    **{name: f"ARRAY<STRUCT<{ddl(fields)}>>" for name, fields in TABLES.items()},
    "told": f"ARRAY<STRUCT<{ddl(TOLD)}>>",
}

REQUEST: Final[Fields] = {
    "connection": "STRING",
    "choice": "BIGINT",
    "command": f"STRUCT<{ddl(COMMAND)}>",
}
"""A command; `choice` is the first partition to try for a message without a key."""
