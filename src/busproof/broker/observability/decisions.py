"""A record of the bus's decisions on sends, which supplies witnesses."""

from collections import deque
from itertools import islice
from typing import Any, Final, NamedTuple

from busproof import vocabulary as v

__all__ = ["GIVEN", "Decisions"]

KEPT: Final = 10_000
"""Number of decisions to keep; clients that need more have to ask more often."""
GIVEN: Final = 1_000
"""Maximum number of decisions in an answer, so that other clients do not wait for long."""


class _Decision(NamedTuple):
    """A decision on a send; a tuple, because every message needs one."""

    number: int
    at: int
    command: str
    entity: str
    message_id: str | None
    session_id: str | None
    partition_key: str | None
    connection: str
    refused: str | None
    partition: int | None
    rules: tuple[str, ...]


class Decisions:
    """The latest decisions, each with its number."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: deque[_Decision] = deque(maxlen=KEPT)

    def since(self, number: int = 0) -> list[dict[str, Any]]:
        """Return the first decisions after `number`, oldest first; at most `GIVEN`."""
        first = self.count - len(self._kept) + 1
        begin = min(max(number + 1 - first, 0), len(self._kept))
        return [decision._asdict() for decision in islice(self._kept, begin, begin + GIVEN)]

    def refuse(self, number: int, refused: v.Refused) -> None:
        """Mark the decisions after `number` as refused, because they were undone."""
        kept, undone = self._kept, min(self.count - number, len(self._kept))
        for place in range(len(kept) - undone, len(kept)):
            kept[place] = kept[place]._replace(refused=refused.error.value, partition=None)

    def keep(
        self,
        command: v.Send | v.SendBatch | v.Schedule,
        connection: str,
        moment: int,
        rules: tuple[str, ...],
        refused: v.Refused | None,
        partition: int | None,
    ) -> None:
        """Record a decision; a batch is one decision, with the ids of its first message."""
        self.count += 1
        message = command.messages[0] if isinstance(command, v.SendBatch) else command.message
        self._kept.append(
            _Decision(
                self.count,
                moment,
                type(command).__name__,
                command.queue,
                message.message_id,
                message.session_id,
                message.partition_key,
                connection,
                None if refused is None else refused.error.value,
                partition,
                rules,
            )
        )
