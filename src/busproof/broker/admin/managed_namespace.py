"""The namespace as administration requests use it: entities by path, commands and addresses."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

from busproof import vocabulary as v
from busproof.broker.admin.atom import Entry, Unreadable, feed
from busproof.broker.amqp.refusals import refusal_of
from busproof.broker.core import Hub
from busproof.model import Answer
from busproof.model.values import EntityKind

__all__ = ["NAMESPACE", "ManagedNamespace", "to_seconds"]

NAMESPACE: Final = "sbemulatorns"
"""The name of the namespace, as that of Microsoft's emulator."""

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
        self.query = ""
        """The query of the current request."""

    @property
    def version(self) -> str:
        """The part of the request's query that names its api-version; empty if there is none."""
        parts = self.query.split("&")
        return next((part for part in parts if part.startswith("api-version=")), "")

    def find_path(self, path: str) -> str:
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
        known = self.find_path(path)
        if self.hub.bus.find_entity(known).kind is not EntityKind.SUBSCRIPTION:
            raise Unreadable(f"Entity '{path}' is not a subscription.", 404)
        topic, _, subscription = known.partition(v.SUBSCRIPTIONS)
        return topic, subscription

    def ask(self, *commands: v.Command, given: str = "") -> Answer:
        """Execute all commands or none, and return the last answer.

        Args:
            commands: the commands.
            given: what a refusal says about the request besides.

        Raises:
            Unreadable: a command is refused.
        """
        answer = self.hub.bus.ask_all(commands, "administration")[-1]
        self.insist(answer, given=given)
        return answer

    def insist(self, answer: Answer, about: str = "", given: str = "") -> None:
        """Raise an error if a command about an entity has been refused.

        Raises:
            Unreadable: the command has been refused.
        """
        if (refusal := refusal_of(answer, about)) is not None:
            raise Unreadable(refusal.description + given, refusal.status)
        self.hub.schedule_serving()

    def url(self, path: str, query: str, rule: str | None = None) -> str:
        """Return the address of an entity or a rule; JavaScript clients read the name from it."""
        parts = self._parts(path, rule)
        return _add_query(f"{self.base}/{quote('/'.join(parts), safe=UNQUOTED)}", query)

    def link(self, path: str, query: str, rule: str | None = None) -> str:
        """Return the address of an entity or a rule relative to that of the list that has it."""
        parts = self._parts(path, rule)
        near = parts[-2:] if len(parts) > 1 else ["..", *parts]
        return _add_query(quote("/".join(near), safe=UNQUOTED), query)

    def _parts(self, path: str, rule: str | None) -> list[str]:
        topic, _, subscription = self.hub.bus.path(path).partition(v.SUBSCRIPTIONS)
        parts = [topic, *(["Subscriptions", subscription] if subscription else [])]
        return parts + ([] if rule is None else ["Rules", rule])

    def feed(
        self, heading: str, path: str, entries: Iterable[Entry], following: str | None
    ) -> bytes:
        """Return a page of a list.

        Args:
            heading: the title of the list.
            path: the path of the list.
            entries: the entries of the page.
            following: the query of the next page, if there is one.
        """
        address = f"{self.base}/{quote(path, safe=UNQUOTED)}"
        url = _add_query(address, self.query)
        more = None if following is None else _add_query(address, following)
        return feed(heading, url, self.second(), entries, more)

    def moment(self) -> str:
        """Return the bus's current time, as spelled in descriptions."""
        now = self.hub.now_ms() / 1000
        return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def second(self) -> str:
        """Return the bus's current time to the second, as Atom has it."""
        return to_seconds(self.moment())


def to_seconds(moment: str) -> str:
    """Return a time of a description to the second, as Atom has it."""
    return f"{moment.partition('.')[0]}Z"


def _add_query(address: str, query: str) -> str:
    return f"{address}?{query}" if query else address
