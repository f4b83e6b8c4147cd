"""A mutant of the model as a bus, whose answers reach clients whether right or wrong.

For a trusted bus, the broker looks into its state and refuses some requests itself. Here it sends a
command instead, and leaves every decision to the mutant.
"""

from collections.abc import Sequence
from typing import Any, Final

from busproof import vocabulary as v
from busproof.broker.amqp.refusals import refusal_of
from busproof.broker.bus import SERVED, Bus, Description
from busproof.model import Answer
from busproof.model.state import Entity
from busproof.model.values import EntityKind, EntitySettings

__all__ = ["FaultyBus"]

BY: Final = "administration"


class FaultyBus(Bus):
    """A bus that serves a mutant of the model."""

    is_trusted = False

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._met: dict[str, Entity] = {}

    def entity(self, path: str) -> Entity | None:
        """Return an entity, even a deleted one, so that the bus decides about it."""
        # A mutant may continue to serve a deleted entity, and the suite has to notice that.
        entity = super().entity(path) or self._met.get(path)
        if entity is not None:
            self._met[path] = entity
        return entity

    def find_entity(self, path: str) -> Entity:
        """Return an entity that exists or existed."""
        return self.namespace.entities.get(path) or self._met[path]

    def receive_messages(self, command: v.Receive, most: int, connection: str) -> Sequence[Answer]:
        """Receive messages; if there is credit for several, receive them by one command."""
        if most == 1:
            return super().receive_messages(command, most, connection)
        several = v.ReceiveBatch(
            queue=command.queue, count=most, mode=command.mode, session_id=command.session_id
        )
        outcome = self.ask(several, connection).outcome
        if isinstance(outcome, v.ReceivedSeveral):
            return [Answer(v.Received(message=message)) for message in outcome.messages]
        return () if isinstance(outcome, v.Empty) else (Answer(outcome),)

    def browse(self, queue: str, session_id: str | None, first: int, count: int) -> Answer:
        """Decide a peek; it has a sequence number only if it does not begin at the first."""
        command = v.Peek(
            queue=queue, count=count, session_id=session_id, from_sequence_number=first or None
        )
        return self.ask(command, "peek")

    def own_description(self, path: str) -> Description | None:
        """Return the description that the mutant gives of an entity.

        Raises:
            Refusal: the mutant refuses.
        """
        entity = self.entity(path)
        if entity is None:
            return None
        of_topic = entity.kind is EntityKind.TOPIC
        command = v.GetTopic(topic=path) if of_topic else v.GetQueue(queue=path)
        outcome = self._look_up(command, path)
        return outcome.description if isinstance(outcome, v.Described | v.TopicDescribed) else None

    def topics(self) -> list[str]:
        """Return the topics that the mutant lists.

        Raises:
            Refusal: the mutant refuses.
        """
        return self._list(v.ListTopics(), "")

    def subscriptions(self, topic: str) -> list[str]:
        """Return the paths of the subscriptions that the mutant lists.

        Raises:
            Refusal: the mutant refuses.
        """
        names = self._list(v.ListSubscriptions(topic=topic), topic)
        return [v.subscription_path(topic, name) for name in names]

    def names(self) -> list[str]:
        """Return the queues that the mutant lists, and the existing topics and subscriptions."""
        outcome = self.ask(v.ListQueues(), BY).outcome
        listed = outcome.names if isinstance(outcome, v.Listed) else ()
        entities = self.namespace.entities.items()
        others = (path for path, entity in entities if entity.kind in SERVED[1:])
        return sorted({*listed, *others})

    def ends(self, path: str, session_id: str) -> int:
        """Return when the lock of a session ends, even if the mutant has no such session."""
        entity = self.entity(path)
        if entity is not None and session_id in entity.sessions:
            return super().ends(path, session_id)
        settings = EntitySettings() if entity is None else entity.settings
        # Clients need a time even then.
        return self.now + settings.lock_duration

    def forget(self, path: str) -> None:
        """Keep all names, because the mutant may serve an entity for longer than it should."""

    def _list(self, command: v.ListTopics | v.ListSubscriptions, path: str) -> list[str]:
        outcome = self._look_up(command, path)
        return sorted(outcome.names) if isinstance(outcome, v.Listed) else []

    def _look_up(self, command: v.Command, path: str) -> v.Outcome:
        answer = self.ask(command, BY)
        if (refusal := refusal_of(answer, path)) is not None:
            raise refusal
        return answer.outcome
