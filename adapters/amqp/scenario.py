"""What a scenario goes by: how its service is asked, and where locks and transactions belong."""

from collections.abc import Callable
from typing import Final

import attrs

from busproof.adapters.amqp.client import Client
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.links import Lock
from busproof.adapters.amqp.messages import decoded
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.paths import DEAD_LETTERS, TRANSFERS, owner_of

__all__ = ["DECLARE", "DECLARED", "DISCHARGE", "Scenario", "Setting", "Transaction"]

DECLARE, DISCHARGE, DECLARED = 0x31, 0x32, 0x33
ON_THE_WIRE: Final = {
    "": "",
    DEAD_LETTERS: "/$DeadLetterQueue",
    TRANSFERS: "/$Transfer/$DeadLetterQueue",
}


@attrs.frozen(kw_only=True)
class Setting:
    """How a service is asked.

    Attributes:
        entities: its administration.
        epoch: microseconds since 1970 of the recording's time 0.
        now: tells the recording's time.
        tells_time: whether the ends of locks can be told on the recording's clock.
        receive_wait: for how long a message may come before a receive is empty, in seconds.
        session_wait: for how long the next session is looked for, in seconds.
        prefix: what the names of entities begin with there, and not here.
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
    """A transaction: who has begun it, and how the service calls it."""

    client: Client
    identity: bytes


class Scenario:
    """One scenario.

    Args:
        setting: how the service is asked.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.locks: dict[str, Lock] = {}
        self.transactions: dict[str, Transaction] = {}
        self.open: set[str] = set()
        """The names of those that have not ended."""
        self.entities: dict[str, None] = {}
        """What was asked to be created, under the names of the service, oldest first."""

    def made(self, name: str) -> str:
        """Where the service will know a queue or topic, which is removed in the end."""
        path = self.path(name)
        self.entities[path] = None
        return path

    def path(self, name: str) -> str:
        """Where the service knows an entity."""
        bare = owner_of(name)
        return self.setting.prefix + bare + ON_THE_WIRE[name[len(bare) :]]

    def seen(self, raw: bytes, token: str | None = None) -> MessageView:
        """A message that came, and the token of its lock."""
        epoch = self.setting.epoch if self.setting.tells_time else None
        return decoded(raw, token=token, epoch=epoch)

    def part_of(self, name: str | None, client: Client) -> tuple[Client, bytes | None]:
        """Who asks for a part of a transaction, and how the service calls that.

        A transaction belongs to the connection on which it was begun. What was never begun has a
        name that the service has not given.
        """
        if name is None:
            return client, None
        known = self.transactions.get(name)
        return (client, name.encode()) if known is None else (known.client, known.identity)
