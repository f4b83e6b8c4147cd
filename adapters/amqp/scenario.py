"""The state of a scenario: parameters of the service, locks and transactions."""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.links import Lock
from busproof.adapters.amqp.messages import decode

__all__ = ["DECLARE", "DECLARED", "DISCHARGE", "DeclaredTransaction", "Scenario", "Setting"]

DECLARE, DISCHARGE, DECLARED = 0x31, 0x32, 0x33
ON_THE_WIRE: Final = {
    "": "",
    v.DEAD_LETTERS: "/$DeadLetterQueue",
    v.TRANSFERS: "/$Transfer/$DeadLetterQueue",
}


@attrs.frozen(kw_only=True)
class Setting:
    """Parameters of a service.

    Attributes:
        entities: the client of its administration.
        epoch: time 0 of the recording, in microseconds since 1970.
        now: function that returns the current time of the recording.
        tells_time: whether lock ends can be converted to the recording's clock.
        receive_wait: maximum wait for a message before a receive is empty, in seconds.
        session_wait: maximum wait for the next free session, in seconds.
        prefix: prefix of entity names in the service, which scenarios do not use.
    """

    entities: Entities
    epoch: int
    now: Callable[[], int]
    tells_time: bool = True
    receive_wait: float = 0.0
    session_wait: float = 0.0
    prefix: str = ""


@attrs.frozen
class DeclaredTransaction:
    """A transaction: the client that began it, and the id that the service gave it."""

    client: AmqpClient
    identity: bytes


class Scenario:
    """The state of one scenario.

    Args:
        setting: the parameters of the service.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.locks: dict[str, Lock] = {}
        self.transactions: dict[str, DeclaredTransaction] = {}
        self.open: set[str] = set()
        """Names of the transactions that have not ended."""
        self.entities: dict[str, None] = {}
        """Entities whose creation was requested, by their names in the service, oldest first."""

    def made(self, name: str) -> str:
        """Return the path in the service of a queue or topic to create; mark it for removal."""
        path = self.path(name)
        self.entities[path] = None
        return path

    def path(self, name: str) -> str:
        """Return the path of an entity in the service."""
        bare = v.owner_of(name)
        return self.setting.prefix + bare + ON_THE_WIRE[name[len(bare) :]]

    def seen(self, raw: bytes, token: str | None = None) -> v.MessageView:
        """Decode a received message, with its lock token, if any."""
        epoch = self.setting.epoch if self.setting.tells_time else None
        return decode(raw, token=token, epoch=epoch)

    def part_of(self, name: str | None, client: AmqpClient) -> tuple[AmqpClient, bytes | None]:
        """Return the client to use in a transaction, and the id that the service gave it.

        A transaction belongs to the connection that began it. For a name that was never begun, the
        id is one that the service has not issued.
        """
        if name is None:
            return client, None
        known = self.transactions.get(name)
        return (client, name.encode()) if known is None else (known.client, known.identity)
