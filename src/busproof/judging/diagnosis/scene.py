"""The scene of a violation: the model's state before the event, and its possible answers."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.diagnosis.lives import Change, Lives
from busproof.judging.homes import key_of_home
from busproof.judging.replay.bindings import Numbered
from busproof.judging.replay.evidence import base_path, independent_parts, messages_of, views_of
from busproof.judging.replay.recollection import Before
from busproof.judging.replay.search import Ended, Search
from busproof.model.answers import Answer
from busproof.model.choices import RoundRobin
from busproof.model.keys import Keys
from busproof.model.life_cycle import State
from busproof.model.state import Entity, QueuedMessage
from busproof.model.step import run_timers, ways
from busproof.model.values import Key

__all__ = ["Scene", "scene_of"]

WAYS: Final = 200
"""Number of ways of the model that are looked at."""


GIVING: Final = (v.Receive, v.ReceiveBatch, v.ReceiveDeferred)
"""Requests that give messages."""

CAUSES: Final[dict[State, tuple[type[v.Command], ...]]] = {
    State.ACTIVE: (
        *(v.Abandon, v.SettleBatch, v.CloseSession, v.AcceptSession),
        *(v.CommitTransaction, v.RollBackTransaction),
    ),
    State.GONE: (
        *(v.Complete, v.DeadLetter, v.SettleBatch, v.DeleteBatch, v.CommitTransaction),
        *(v.CancelScheduled, v.DeleteQueue, v.DeleteTopic, v.Abandon),
    ),
}
"""State to the requests that may lead to it, besides those that give messages."""


class KeysByProperty(Keys):
    """Keys with the partitions that the replay has found, by the property that each is from."""

    def home(self, entity: Entity, key: Key) -> int:
        """KEY-02: return the partition that a key selects."""
        return super().home(entity, key_of_home(self.namespace, key))


class Scene:
    """A violation, with the model in the state before it.

    Attributes:
        before: the events before it that may matter to it.
        event: the event that fits nowhere.
        history: all events before it.
        namespace: the model, in the state of an execution that explains the events before.
        bindings: the bus's numbers and tokens.
        lives: what befell each message.
        answers: the answers that the model may give, each once.
        is_begun: whether the history begins in the middle, so that messages need not be sent in it.
    """

    def __init__(
        self,
        search: Search,
        before: Sequence[v.Event],
        event: v.Event,
        history: Sequence[v.Event],
        observability: v.Observability,
        *,
        is_begun: bool,
    ) -> None:
        self.before, self.event, self.history = before, event, history
        self.is_begun = is_begun
        self._observability = observability
        self._search = search  # it owns the namespace
        self.namespace = namespace = search.namespace
        self.bindings = search.bindings
        namespace.replace({"keys": KeysByProperty})
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

    def is_away_from_home(self, view: v.MessageView) -> bool:
        """KEY-02: return whether a number names another partition than that of the key."""
        entity = self.entity
        number = view.sequence_number
        names_partitions = self.namespace.profile.numbers_name_partitions
        if entity is None or number is None or not names_partitions:
            return False
        shown = v.Message(
            body=view.body,
            session_id=view.session_id,
            partition_key=view.partition_key,
            message_id=view.message_id,
        )
        key = self.namespace.rules.keys.effective_key(entity, shown)
        if key is None or not self._observability.partitions:
            return False
        home = entity.base.homes.get(key_of_home(self.namespace, key).value)
        return home not in (None, number >> v.SEQUENCE_BITS)

    def asked(self, *kinds: type[v.Command], path: str | None = None) -> list[v.Event]:
        """Return the earlier requests of these kinds, to one entity or to any."""
        return [
            event
            for event in self.history
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

    def passed_on(self, record: Numbered) -> bool:
        """Return whether a message waits here only to be forwarded, or did."""
        first = self.lives.of(record)[:2]
        return (
            len(first) == 2
            and first[0].before is None
            and first[1].after is State.SCHEDULED
            and isinstance(record, QueuedMessage)
        )

    def like(self, body: str, entity: Entity | None = None) -> Sequence[Numbered]:
        """Return all messages with this body, the latest first; of one entity or of any."""
        return [
            record
            for record in reversed(self.lives.everything())
            if record.message.body == body
            and entity in (None, record.entity)
            and not self.passed_on(record)
        ]

    @property
    def session_id(self) -> str | None:
        """The session that the request is about; `None` if it is about none."""
        return getattr(self.event.command, "session_id", None)

    @property
    def assigns_ids(self) -> bool:
        """Whether a client library sets the MessageIds that its user does not."""
        return self._observability.assigns_message_ids

    def holding(self, token: str) -> QueuedMessage | None:
        """Return the message that a lock token of the bus was shown for."""
        entity = self.entity
        if entity is None:
            return None
        number = self.bindings.model_token(entity.path, token).partition("/")[0]
        record = self.bindings.made(entity, int(number)) if number.isdecimal() else None
        return record if isinstance(record, QueuedMessage) else None

    def of_several_partitions(self, tokens: Sequence[str]) -> bool:
        """Return whether these locks are of messages in different partitions."""
        records = [self.holding(token) for token in tokens]
        return len({record.partition for record in records if record is not None}) > 1

    def cause(self, record: Numbered, change: Change) -> type[v.Command]:
        """Return the kind of request that changed a message; an advance if time did it.

        What is due happens before the next request, so that a change may be noted there.
        """
        event = self.before[change.index]
        if isinstance(event.command, GIVING) and change.after in (State.GONE, State.ACTIVE):
            shown = {view.body for view in views_of(event.outcome)}
            taken = record.message.body in shown and change.after is State.GONE
            return type(event.command) if taken else v.AdvanceClock
        can = CAUSES.get(change.after, ())
        return type(event.command) if isinstance(event.command, can) else v.AdvanceClock

    def sends_of(self, body: str) -> list[tuple[v.Event, v.Message]]:
        """Return the earlier sends of messages with this body, each with the message."""
        return [
            (event, message)
            for event in self.history
            for message in messages_of(event.command)
            if message.body == body
        ]

    def sends_under(self, message_id: str) -> list[tuple[v.Event, v.Message]]:
        """Return the earlier sends of messages with this MessageId, each with the message."""
        return [
            (event, message)
            for event in self.history
            for message in messages_of(event.command)
            if message.message_id == message_id
        ]

    def home(self, entity: Entity, key: Key) -> int | None:
        """Return the partition that a key was found to select; `None` if it was never used."""
        return entity.base.homes.get(key_of_home(self.namespace, key).value)

    def uses_of_key(self, path: str, key: str) -> list[v.Event]:
        """Return the earlier sends to an entity with a SessionId, PartitionKey or MessageId."""
        return [
            event
            for event in self.done(v.Send, v.SendBatch, v.Schedule, path=path)
            for message in messages_of(event.command)
            if key in (message.session_id, message.partition_key, message.message_id)
        ]

    def hops_to(self, path: str) -> list[str]:
        """Return the entities that forward to an entity, directly and over others."""
        found: list[str] = []
        entity = self.namespace.entities.get(path)
        # What is forwarded to a topic arrives at its subscriptions.
        wanted = path if entity is None else entity.owner.base.path
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

    def since(self, record: Numbered) -> Sequence[v.Event]:
        """Return the events since the last change of a message."""
        changes = self.lives.of(record)
        if not changes:
            return self.history
        last = self.before[changes[-1].index]
        return self.history[self.history.index(last) + 1 :]

    def asked_under(self, record: QueuedMessage, *kinds: type[v.Command]) -> list[v.Event]:
        """Return the earlier requests of these kinds with a lock token of this message."""
        return [
            event
            for event in self.asked(*kinds, path=record.entity.path)
            for token in tokens_of(event.command)
            if self.holding(token) is record
        ]

    def enlisted(self, record: QueuedMessage) -> set[str | None]:
        """Return the transactions in which this message was to be settled."""
        events = self.asked_under(record, v.Complete, v.Abandon, v.DeadLetter, v.Defer)
        names = (getattr(event.command, "transaction", None) for event in events)
        return {name for name in names if name is not None}

    def rolled_back(self, names: Collection[str | None]) -> bool:
        """Return whether one of these transactions was rolled back."""
        ended = self.asked(v.RollBackTransaction)
        return any(getattr(event.command, "transaction", None) in names for event in ended)

    def done(self, *kinds: type[v.Command], path: str | None = None) -> list[v.Event]:
        """Return the earlier requests of these kinds that were not refused."""
        asked = self.asked(*kinds, path=path)
        return [event for event in asked if not isinstance(event.outcome, v.Refused)]

    def refused(self, *kinds: type[v.Command], path: str | None = None) -> list[v.Event]:
        """Return the earlier requests of these kinds that were refused."""
        asked = self.asked(*kinds, path=path)
        return [event for event in asked if isinstance(event.outcome, v.Refused)]

    @property
    def was_full(self) -> bool:
        """Whether an earlier request was refused for want of room."""
        return any(
            getattr(event.outcome, "error", None) is v.Error.QUOTA_EXCEEDED
            for event in self.history
        )

    @property
    def is_full(self) -> bool:
        """Whether the last send to the entity that was asked was refused for want of room."""
        sends = self.asked(v.Send, v.SendBatch, v.Schedule, path=self.path)
        return bool(sends) and (getattr(sends[-1].outcome, "error", None) is v.Error.QUOTA_EXCEEDED)

    def was_peeked(self, record: Numbered) -> bool:
        """Return whether a peek has shown a message in the last request to its entity."""
        here = [e for e in self.since(record) if v.concerned(e.command) == self.path]
        if not here or not isinstance(here[-1].command, v.Peek):
            return False
        return record.message.body in {view.body for view in views_of(here[-1].outcome)}

    @property
    def own_outages(self) -> list[v.Event]:
        """Return the outages of the entity that was asked."""
        base = base_path(self.path)
        outages = self.asked(v.TakePartitionDown)
        return [event for event in outages if base_path(v.concerned(event.command) or "") == base]

    @property
    def other_outages(self) -> list[v.Event]:
        """Return the outages of other entities."""
        own = self.own_outages
        return [event for event in self.asked(v.TakePartitionDown) if event not in own]

    def outlasted(self, record: Numbered) -> bool:
        """Return whether a message was there before an outage of its entity."""
        changes = self.lives.of(record)
        if not changes or not self.own_outages:
            return False
        arrived = self.before[changes[0].index]
        return self.history.index(arrived) < self.history.index(self.own_outages[-1])

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
            for index, event in enumerate(self.history)
            if isinstance(event.command, v.CreateQueue | v.CreateTopic | v.CreateSubscription)
            and _path_created(event.command) == path
        )
        return max(indices, default=0)

    def told_at(
        self, event: v.Event, rules: Callable[["Scene"], Iterable[v.RuleId]]
    ) -> tuple[v.RuleId, ...]:
        """Return the rules of an earlier request, as a function finds them in its own scene."""
        before = self.history[: self.history.index(event) + 1]
        scene = scene_of(before, self.namespace.profile, self._observability)
        return () if scene is None else tuple(rules(scene))

    def created_twice(self, path: str) -> bool:
        """Return whether an entity was to be created again while it was there."""
        if self.done(v.DeleteQueue, v.DeleteTopic):
            return False
        asked = self.asked(v.CreateQueue, v.CreateTopic, v.CreateSubscription)
        return sum(_path_created(event.command) == path for event in asked) > 1


def tokens_of(command: v.Command) -> tuple[str, ...]:
    """Return the lock tokens in a request."""
    token = getattr(command, "lock_token", None)
    tokens: tuple[str, ...] = getattr(command, "lock_tokens", ())
    return tokens if token is None else (token,)


def _path_created(command: Any) -> str:
    path: str = v.created_path(command)
    return path


def scene_of(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    past: Before | None = None,
    *,
    is_overdue: bool = False,
) -> Scene | None:
    """Return the scene of the last of these events, which no execution explains.

    Args:
        events: the events up to the violation.
        profile: the profile of the namespace.
        observability: what the observer sees.
        past: what may have been there before, if the history begins in the middle.
        is_overdue: whether an execution does explain it, in which something is late.

    Returns:
        `None` if the events before it have no explanation either.
    """
    last = len(events) - 1
    part = next((part for part in independent_parts(events) if part[-1] == last), [last])
    *before, event = (events[index] for index in part)
    for foreseen in (True, False):
        search = Search(before, profile, observability, before=past)
        search.expects_delays = is_overdue
        if foreseen:
            search.foresee(event)
        if search.run() is Ended.EXPLAINED and search.settle(event):
            is_begun = past is not None
            return Scene(search, before, event, events[:-1], observability, is_begun=is_begun)
    return None
