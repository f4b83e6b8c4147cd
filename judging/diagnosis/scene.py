"""The scene of a violation: the model's state before the event, and its possible answers."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.lives import Change, Lives
from busproof.judging.replay.bindings import Numbered
from busproof.judging.replay.evidence import independent_parts, messages_of, views_of
from busproof.judging.replay.search import Ended, Search
from busproof.model.answers import Answer
from busproof.model.choices import RoundRobin
from busproof.model.rules import NO_FAULT
from busproof.model.state import Entity, QueuedMessage
from busproof.model.step import run_timers, ways

__all__ = ["Scene", "scene_of"]

WAYS: Final = 200
"""Number of ways of the model that are looked at."""


class Scene:
    """A violation, with the model in the state before it.

    Attributes:
        before: the events before it that may matter to it.
        event: the event that fits nowhere.
        namespace: the model, in the state of an execution that explains the events before.
        bindings: the bus's numbers and tokens.
        lives: what befell each message.
        answers: the answers that the model may give, each once.
    """

    def __init__(
        self,
        search: Search,
        before: Sequence[v.Event],
        event: v.Event,
        observability: v.Observability,
    ) -> None:
        self.before, self.event = before, event
        self._observability = observability
        self.namespace = namespace = search.namespace
        self.bindings = search.bindings
        namespace.replace(NO_FAULT)
        namespace.choices = RoundRobin()
        namespace.now = max(namespace.now, event.called)
        run_timers(namespace, namespace.now)
        self.lives = Lives(search)
        command = self.bindings.translated(event.command)
        self.answers: list[Answer] = []
        for _, answer in islice(ways(namespace, command, event.connection), WAYS):
            if answer not in self.answers:
                self.answers.append(answer)

    @property
    def path(self) -> str:
        """The path of the entity that was asked; empty if none was."""
        return v.concerned(self.event.command) or ""

    @property
    def entity(self) -> Entity | None:
        """The entity that was asked."""
        return self.namespace.entities.get(self.path)

    @property
    def is_refused_anyway(self) -> bool:
        """Whether the model refuses the request whatever it chooses."""
        return all(answer.refused for answer in self.answers)

    @property
    def rules_of_refusals(self) -> tuple[v.RuleId, ...]:
        """The rules of the model's refusals."""
        refusals = (answer for answer in self.answers if answer.refused)
        return tuple(dict.fromkeys(rule for answer in refusals for rule in answer.rules))

    @property
    def rules_of_answers(self) -> tuple[v.RuleId, ...]:
        """The rules of all answers of the model."""
        return tuple(dict.fromkeys(rule for answer in self.answers for rule in answer.rules))

    def asked(self, *kinds: type[v.Command], path: str | None = None) -> list[v.Event]:
        """Return the earlier requests of these kinds, to one entity or to any."""
        return [
            event
            for event in self.before
            if isinstance(event.command, kinds) and path in (None, v.concerned(event.command))
        ]

    def given(self) -> Sequence[QueuedMessage]:
        """Return the messages that the model's answers give."""
        entity = self.entity
        if entity is None:
            return ()
        found: dict[QueuedMessage, None] = {}
        for answer in self.answers:
            for view in views_of(answer.outcome):
                record = self.bindings.made(entity, view.sequence_number or 0)
                if isinstance(record, QueuedMessage):
                    found[record] = None
        return tuple(found)

    def like(self, body: str, path: str | None = None) -> Sequence[Numbered]:
        """Return all messages with this body that an entity has or had, the latest first."""
        return [
            record
            for record in reversed(self.lives.everything())
            if record.message.body == body and path in (None, record.entity.path)
        ]

    def changed_by(self, change: Change) -> v.Command:
        """Return the request at which a message changed; an advance if time did it."""
        return self.before[change.index].command

    def sends_of(self, body: str) -> list[tuple[v.Event, v.Message]]:
        """Return the earlier sends of messages with this body, each with the message."""
        return [
            (event, message)
            for event in self.before
            for message in messages_of(event.command)
            if message.body == body
        ]

    def sends_under(self, message_id: str) -> list[tuple[v.Event, v.Message]]:
        """Return the earlier sends of messages with this MessageId, each with the message."""
        return [
            (event, message)
            for event in self.before
            for message in messages_of(event.command)
            if message.message_id == message_id
        ]

    def hops_to(self, path: str) -> list[str]:
        """Return the entities that forward to an entity, directly and over others."""
        found: list[str] = []
        wanted = path
        while True:
            source = next(
                (
                    one.path
                    for one in self.namespace.entities.values()
                    if one.settings.forward_to == wanted and one.path not in found
                ),
                None,
            )
            if source is None:
                return found
            found.append(source)
            wanted = source

    def lifetimes_changed(self) -> bool:
        """Return whether an update has changed a time to live."""
        updates = self.asked(v.UpdateQueue, v.UpdateTopic)
        return any(getattr(event.command, "time_to_live", None) is not None for event in updates)

    def statuses_of(self, path: str) -> list[v.Event]:
        """Return the updates that have changed the status of an entity."""
        return [
            event
            for event in self.asked(v.UpdateQueue, v.UpdateTopic, path=path)
            if getattr(event.command, "status", None) is not None
        ]

    def rule_changes(self, path: str) -> list[v.Event]:
        """Return the changes of a subscription's rules that were asked for."""
        return self.asked(v.AddRule, v.RemoveRule, path=path)

    def deleted_subscriptions(self, topic: str) -> list[v.Event]:
        """Return the deletions of a topic's subscriptions."""
        return [
            event
            for event in self.asked(v.DeleteQueue)
            if (v.concerned(event.command) or "").startswith(topic + v.SUBSCRIPTIONS)
        ]

    def created_at(self, path: str) -> int:
        """Return the index of the request that has created an entity."""
        indices = (
            index
            for index, event in enumerate(self.before)
            if isinstance(event.command, v.CreateQueue | v.CreateTopic | v.CreateSubscription)
            and _created_path(event.command) == path
        )
        return max(indices, default=0)

    def rules_of_refusal_at(self, event: v.Event) -> tuple[v.RuleId, ...]:
        """Return the rules by which the model refuses an earlier request."""
        before = self.before[: self.before.index(event) + 1]
        scene = scene_of(before, self.namespace.profile, self._observability)
        return () if scene is None else scene.rules_of_refusals

    def created_twice(self, path: str) -> bool:
        """Return whether an entity was created, or was to be, more than once."""
        asked = self.asked(v.CreateQueue, v.CreateTopic, v.CreateSubscription)
        return sum(_created_path(event.command) == path for event in asked) > 1


def _created_path(command: Any) -> str:
    path: str = v.created_path(command)
    return path


def scene_of(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Scene | None:
    """Return the scene of the last of these events, which no execution explains.

    Args:
        events: the events up to the violation.
        profile: the profile of the namespace.
        observability: what the observer sees.

    Returns:
        `None` if the events before it have no explanation either.
    """
    last = len(events) - 1
    part = next((part for part in independent_parts(events) if part[-1] == last), [last])
    *before, event = (events[index] for index in part)
    for foreseen in (True, False):
        search = Search(before, profile, observability)
        if foreseen:
            search.foresee(event)
        if search.run() is Ended.EXPLAINED:
            return Scene(search, before, event, observability)
    return None
