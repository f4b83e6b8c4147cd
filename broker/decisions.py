"""What a bus has decided on each send: the witness of it."""

from collections import deque
from typing import Any, Final

import attrs

from busproof.vocabulary.commands import Schedule, Send, SendBatch
from busproof.vocabulary.outcomes import Refused

__all__ = ["Decisions"]

KEPT: Final = 100_000
"""How many decisions are remembered; whoever needs more asks more often."""


@attrs.define
class _Decision:
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
    """The latest decisions, by their numbers."""

    def __init__(self) -> None:
        self.count = 0
        self._kept: deque[_Decision] = deque(maxlen=KEPT)

    def since(self, number: int = 0) -> list[dict[str, Any]]:
        """Those after decision `number`, oldest first."""
        return [attrs.asdict(each) for each in self._kept if each.number > number]

    def refuse(self, number: int, refused: Refused) -> None:
        """Take those after decision `number` back, which had no effect in the end."""
        for each in self._kept:
            if each.number > number:
                each.refused, each.partition = refused.error.value, None

    def keep(
        self,
        command: Send | SendBatch | Schedule,
        connection: str,
        moment: int,
        rules: tuple[str, ...],
        refused: Refused | None,
        partition: int | None,
    ) -> None:
        """Remember one; a batch is one, told by its first message."""
        self.count += 1
        message = command.messages[0] if isinstance(command, SendBatch) else command.message
        self._kept.append(
            _Decision(
                number=self.count,
                at=moment,
                command=type(command).__name__,
                entity=command.queue,
                message_id=message.message_id,
                session_id=message.session_id,
                partition_key=message.partition_key,
                connection=connection,
                refused=None if refused is None else refused.error.value,
                partition=partition,
                rules=rules,
            )
        )
