"""The namespace as administration requests use it: entities by path, commands and addresses."""

from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from busproof import vocabulary as v
from busproof.broker.admin.atom import Unreadable
from busproof.broker.amqp.refusals import refusal_of
from busproof.broker.core import Hub
from busproof.model import Answer
from busproof.model.values import EntityKind

__all__ = ["ManagedNamespace"]

UNQUOTED: Final = "/$!'()*+,;:@&=~"
"""Characters that are not escaped in addresses, besides letters and digits."""


class ManagedNamespace:
    """The namespace for administration; refused commands raise `Unreadable`.

    Args:
        hub: the broker's core.
    """

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.base = ""
        """The broker's address, as the client of the current request knows it."""

    def known(self, path: str) -> str:
        """Return the path of an existing entity, in the case that it was created with.

        Raises:
            Unreadable: there is no such entity, or it is a dead-letter queue (status 404).
        """
        known = self.hub.bus.path(path)
        if self.hub.bus.entity(known) is None or known.endswith(v.DEAD_LETTERS):
            raise Unreadable(f"Entity '{path}' was not found.", 404)
        return known

    def subscription(self, path: str) -> tuple[str, str]:
        """Return the topic and the name of the subscription with this path.

        Raises:
            Unreadable: there is no such subscription (status 404).
        """
        known = self.known(path)
        if self.hub.bus.known(known).kind is not EntityKind.SUBSCRIPTION:
            raise Unreadable(f"Entity '{path}' is not a subscription.", 404)
        topic, _, subscription = known.partition(v.SUBSCRIPTIONS)
        return topic, subscription

    def ask(self, *commands: v.Command) -> Answer:
        """Execute all commands or none, and return the last answer.

        Raises:
            Unreadable: a command is refused.
        """
        answer = self.hub.bus.ask_all(commands, "administration")[-1]
        if (refusal := refusal_of(answer)) is not None:
            raise Unreadable(refusal.description, refusal.status)
        self.hub.changed()
        return answer

    def insist(self, answer: Answer, about: str) -> None:
        """Raise an error if a command about an entity has been refused.

        Raises:
            Unreadable: the command has been refused.
        """
        if (refusal := refusal_of(answer, about)) is not None:
            raise Unreadable(refusal.description, refusal.status)
        self.hub.changed()

    def url(self, path: str, rule: str | None = None) -> str:
        """Return the address of an entity or a rule; JavaScript clients read the name from it."""
        topic, _, subscription = self.hub.bus.path(path).partition(v.SUBSCRIPTIONS)
        parts = [topic, *(["Subscriptions", subscription] if subscription else [])]
        parts += [] if rule is None else ["Rules", rule]
        return f"{self.base}/{quote('/'.join(parts), safe=UNQUOTED)}"

    def moment(self) -> str:
        """Return the bus's current time, as spelled in descriptions."""
        now = self.hub.now_ms() / 1000
        return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
