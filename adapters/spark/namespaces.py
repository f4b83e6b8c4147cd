"""The commands of one namespace of the bus on Spark, in the schema of the fold.

The answer to a command depends only on the commands before it. So a digest of all commands up to
this one identifies the answer, whenever Spark computes it.

In digests, a lock token is a reference to the command that received the lock.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from busproof import vocabulary as v
from busproof.history.codec import read_outcome, unstructure
from busproof.pipeline.bus.tables import TABLES

__all__ = ["READINGS", "REHEARSED", "Commands", "digests", "fresh", "read_answer", "request"]

READINGS: Final = {
    "COUNTS-IN-OUTAGE": "left-out",
    "DEAD-LETTER-COUNT": "anew",
    "DEAD-LETTER-DELAY": "at-once",
    "DLQ-PARTITIONS": "same-partition",
    "DUPLICATE-PROLONGS": "first",
    "DUPLICATES-ACROSS-KEYS": "per-key",
    "FORWARD-FAILED": "dead-letter",
    "FULL-UNKEYED": "goes-round",
    "GET-LAG": "at-once",
    "NEXT-IN-OUTAGE": "found",
    "OUTAGE-CLOCK": "runs",
    "OUTAGE-ERROR": "unavailable",
    "PEEK-IN-OUTAGE": "served",
    "RECEIVE-IN-OUTAGE": "served",
    "REGULAR-KEYS": "accepted",
    "REGULAR-ORDER": "first-in-first-out",
    "ROUND-ROBIN": "strict",
    "SCHEDULE-DELAY": "at-once",
    "SCHEDULE-PLACE": "when-scheduled",
    "SCHEDULED-COUNT": "left-out",
    "SHORT-TIMEOUT": "must-fail",
    "SILENT-EDITION": "carried-over",
    "SUBSCRIPTION-PARTITIONS": "same",
}
"""The readings of ambiguities that the bus on Spark has."""

REHEARSED: Final = "BUSPROOF_REHEARSED"
"""Environment variable with the file that has the commands of a rehearsal."""


class Commands:
    """The commands of one namespace so far.

    Attributes:
        state: the state of the empty namespace.
        requests: the commands in order, with references in place of received lock tokens.
    """

    def __init__(self, profile: v.Profile) -> None:
        self.state = fresh(profile)
        self.requests: list[dict[str, Any]] = []
        self._locks: dict[str, str] = {}
        self._digest = _begin_hash(self.state)

    @property
    def digest(self) -> bytes:
        """The digest of all commands so far."""
        return self._digest.digest()

    def add(self, command: v.Command, connection: str) -> None:
        """Append a command."""
        encoded = self.referring(command, connection)
        self.requests.append(encoded)
        self._digest.update(_text(encoded))

    def referring(self, command: v.Command, connection: str) -> dict[str, Any]:
        """Return a command with a reference in place of its lock token."""
        encoded = request(command, connection)
        token = encoded["command"].get("lock_token")
        if token in self._locks:
            encoded["command"]["lock_token"] = self._locks[token]
        return encoded

    def saw(self, outcome: v.Outcome) -> None:
        """Record the locks in the answer to the last command."""
        views = outcome.messages if isinstance(outcome, v.ReceivedSeveral) else ()
        if isinstance(outcome, v.Received):
            views = (outcome.message,)
        for place, view in enumerate(views):
            if view.lock_token is not None:
                self._locks[view.lock_token] = f"@{len(self.requests)}/{place}"


def digests(state: Mapping[str, Any], requests: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield for each command the digest of the empty namespace and all commands up to it."""
    running = _begin_hash(state)
    for request in requests:
        running.update(_text(request))
        yield running.digest()


def _begin_hash(state: Mapping[str, Any]) -> "hashlib._Hash":
    return hashlib.sha256(_text(state))


def _text(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def fresh(profile: v.Profile) -> dict[str, Any]:
    """Return the state of an empty namespace in the schema of the fold."""
    return {
        "tier": profile.kind,
        "most_partitions": profile.partitions,
        **dict.fromkeys(("now", "arrivals", "given"), 0),
        **{name: [] for name in (*TABLES, "told")},
    }


def request(command: v.Command, connection: str) -> dict[str, Any]:
    """Return a command in the schema of the fold."""
    encoded = unstructure(command, full=True)
    for holder in (encoded, *({"message": message} for message in encoded.get("messages", ()))):
        _change_properties(holder, json.dumps)
    return {"connection": connection, "command": encoded}


def read_answer(answer: Mapping[str, Any]) -> v.Observed:
    """Return the outcome and the witness in the row of an answer."""
    outcome = {name: value for name, value in answer.items() if name != "partition"}
    for holder in (outcome, *({"message": message} for message in outcome.get("messages", ()))):
        _change_properties(holder, json.loads)
    partition = answer.get("partition")
    witness = None if partition is None else v.Witness(partition=partition)
    return v.Observed(read_outcome(outcome), witness)


def _change_properties(holder: dict[str, Any], change: Callable[[Any], Any]) -> None:
    """Convert application properties in place, to JSON text for the table, or back."""
    message = holder.get("message")
    if message and message.get("properties"):
        properties = message["properties"]
        message["properties"] = {name: change(value) for name, value in properties.items()}
