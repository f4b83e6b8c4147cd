"""State of a scenario: the service's parameters, locks and transactions."""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.amqp.client import Client
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.links import Lock
from busproof.adapters.amqp.messages import decoded

__all__ = ["DECLARE", "DECLARED", "DISCHARGE", "Scenario", "Setting", "Transaction"]

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
        entities: its administration.
        epoch: microseconds since 1970 of the recording's time 0.
        now: function that returns the recording's time.
        tells_time: whether lock ends can be converted to the recording's clock.
        receive_wait: longest wait for a message before a receive is empty, in seconds.
        session_wait: longest wait for the next free session, in seconds.
        prefix: prefix of entity names at the service, which the vocabulary does not have.
    """

    entities: Entities
    epoch: int
    now: Callable[[], int]
    tells_time: bool = True
    receive_wait: float = 0.0
    session_wait: float = 0.0
    prefix: str = ""


@attrs.frozen
class Transaction:
    """Transaction: the client that began it, and the service's id."""

    client: Client
    identity: bytes


class Scenario:
    """State of one scenario.

    Args:
        setting: parameters of the service.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.locks: dict[str, Lock] = {}
        self.transactions: dict[str, Transaction] = {}
        self.open: set[str] = set()
        """Names of the transactions that have not ended."""
        self.entities: dict[str, None] = {}
        """Entities that were requested, by their names at the service, oldest first."""

    def made(self, name: str) -> str:
        """Return the path of a queue or topic to create, and remember it for removal."""
        path = self.path(name)
        self.entities[path] = None
        return path

    def path(self, name: str) -> str:
        """Return the path of an entity at the service."""
        bare = v.owner_of(name)
        return self.setting.prefix + bare + ON_THE_WIRE[name[len(bare) :]]

    def seen(self, raw: bytes, token: str | None = None) -> v.MessageView:
        """Return a received message, with its lock token."""
        epoch = self.setting.epoch if self.setting.tells_time else None
        return decoded(raw, token=token, epoch=epoch)

    def part_of(self, name: str | None, client: Client) -> tuple[Client, bytes | None]:
        """Return the client for a part of a transaction, and the service's id of the transaction.

        A transaction belongs to the connection that began it. A name that was never begun becomes
        an id that the service did not issue.
        """
        if name is None:
            return client, None
        known = self.transactions.get(name)
        return (client, name.encode()) if known is None else (known.client, known.identity)
