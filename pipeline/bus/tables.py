"""What the bus on Spark remembers: one struct whose fields are tables, arrays of flat rows.

Times are in microseconds on the bus's own clock; a partition of a regular entity is 0.
"""

from collections.abc import Mapping
from typing import Final

from busproof.pipeline.schema import COMMAND, MESSAGE, OUTCOME, ddl

__all__ = ["ACCEPTED", "ARRIVAL", "ENTITY", "HELD", "KEY", "REQUEST", "STATE", "TABLES", "TOLD"]

Fields = Mapping[str, str]

_MESSAGE: Final = f"STRUCT<{ddl(MESSAGE)}>"

_KEY_FIELDS: Final[Fields] = {"property": "STRING", "value": "STRING"}
KEY: Final = f"STRUCT<{ddl(_KEY_FIELDS)}>"
"""The property that a partition key was taken from, and its value."""

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
"""A queue, topic or subscription; `place` is whose partitions it lies in, `turn` the next one."""

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
"""A message in an entity or in its dead-letter queue (`queue`), which is the `owner`'s.

`session` is that under whose lock it is locked.
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
"""A message on its way: sent to this entity itself or not, known to be no copy or not."""

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
"""An outcome, and the partition that was chosen as the witness has it."""

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
"""A command as it is asked; `choice` is the partition that a message without key takes first."""
