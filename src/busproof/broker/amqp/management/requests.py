"""The context of a management request: who sent it, and about which entity."""

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import attrs
from proton import Array

from busproof import vocabulary as v
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.refusals import Refusal, insist, too_many_at_once
from busproof.broker.amqp.request_links import Reply
from busproof.model import Answer

__all__ = ["Asking", "Operation", "Said"]

Said = Mapping[str, Any]
"""The fields of a request."""


@attrs.frozen
class Asking:
    """The context of a request: its connection, its entity and its transaction, if any."""

    connection: Connection
    path: str
    transaction: str | None = None

    def ask(self, command: v.Command, session_id: str | None = None) -> Answer:
        """Send a command to the bus, as the holder of the session if one is named.

        Raises:
            Refusal: the command was refused.
        """
        answer = self.connection.hub.bus.ask(command, self.holder(session_id))
        insist(answer, self.path)
        return answer

    def ask_all(self, commands: Sequence[v.Command], session_id: str | None = None) -> list[Answer]:
        """Send commands to the bus, which executes all or none.

        Raises:
            Refusal: a command was refused.
        """
        answers = self.connection.hub.bus.ask_all(commands, self.holder(session_id))
        # The bus stops at the first refusal, so only the last answer can be one.
        if answers:
            insist(answers[-1], self.path)
        return answers

    def several(self, value: Any) -> list[Any]:
        """Return the elements of a list or an array.

        Raises:
            Refusal: there are more elements than a request may have.
        """
        # Proton returns arrays as a type of its own, and clients write lists as well.
        elements = list(value.elements) if isinstance(value, Array) else list(value)
        if len(elements) > (most := self.connection.hub.limits.at_once):
            raise too_many_at_once(len(elements), most)
        return elements

    def holder(self, session_id: str | None) -> str:
        """Return the model's name for the link of this connection that holds a session."""
        own = self.connection.name
        if session_id is None:
            return own
        # A request names only the session, but the model knows its holder by the link's name.
        return self.connection.sessions.get((self.path, session_id), own)

    def subscription(self) -> tuple[str, str]:
        """Return the names of the topic and of the subscription that the request is about.

        Raises:
            Refusal: the entity is not a subscription.
        """
        topic, separator, subscription = self.path.partition(v.SUBSCRIPTIONS)
        if not separator:
            raise Refusal(
                "amqp:not-allowed", f"'{self.path}' is not a subscription; it has no rules."
            )
        return topic, subscription


Operation = Callable[[Asking, Said], Reply | Generator[bool, None, Reply]]
"""Answers a request; raises `Refusal`, or `KeyError` if a required field is missing."""
