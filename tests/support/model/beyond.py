"""What the strict oracle allows on a fully observed run and no way of the model gives."""

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import attrs
from menu import Seen, conceivable
from model_driver import catalogue
from random_commands import Commands, profile_at_random

from busproof import vocabulary as v
from busproof.judging.replay.agreement import UNNAMED_REASONS
from busproof.model import Answer, RandomChoices, new_namespace, step, ways
from busproof.model.state import Entity
from busproof.model.values import EntityKind
from busproof.oracle.management.updates_and_deletions import is_managed_otherwise
from busproof.oracle.state import Namespace as Belief
from busproof.oracle.state import fresh_namespace, is_unsure
from busproof.oracle.step import accept
from busproof.oracle.unjudged import is_about_unjudged, named, topic_above

__all__ = ["Beyond", "Run"]

LENGTH = 60
MOST_WAYS = 300
MOST_BELIEFS = 8
ANY_ERROR = "refused with any error"
CHOSEN_EACH_TIME = frozenset(
    {
        "COUNTS-IN-OUTAGE",
        "ERROR-PRECEDENCE",
        "NEXT-IN-OUTAGE",
        "OUTAGE-ERROR",
        "PEEK-EMPTY",
        "RECEIVE-IN-OUTAGE",
        "SHORT-TIMEOUT",
    }
)
"""Ambiguities that may stay open: of others the model reads one way, and the oracle both."""

COUNTING = (v.ListQueues, v.ListTopics, v.ListSubscriptions, v.GetTopic)
"""Requests whose answers depend on entities that an oracle may have given up knowing."""

LATE = frozenset({"DEAD-LETTER-DELAY", "GET-LAG", "SCHEDULE-DELAY"})
"""Ambiguities of how late something may come about; with the model everything does at once."""


@attrs.frozen
class Beyond:
    """A kind of outcome that is no way of the model, what it came about in, and one example."""

    command: str
    outcome: str
    where: frozenset[str]
    event: v.Event | None = attrs.field(default=None, eq=False)
    ways: tuple[v.Outcome, ...] = attrs.field(default=(), eq=False)
    rules: tuple[v.RuleId, ...] = attrs.field(default=(), eq=False)


class Run:
    """Random commands on the model, of which an oracle sees everything.

    Attributes:
        commands: how many there were.
        unjudged: for how many of them the oracle has given up knowing their entity.
        uncounted: how many had too many ways to be looked at.
    """

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)
        self._profile = closed_profile(self._random)
        self._namespace = new_namespace(self._profile)
        seen = v.Observability(partitions=True, limits=True)
        self._believed: tuple[Belief, ...] = (fresh_namespace(self._profile, seen),)
        self._received: set[str] = set()
        self._scheduled: set[str] = set()
        self.commands = self.unjudged = self.uncounted = 0

    def play(self) -> Iterator[Beyond]:
        """Compare both before each command, then let the model answer it at random."""
        commands = Commands(self._random, self._namespace)
        plan = [(command, "c1") for command in commands.setup()]
        for number in range(LENGTH):
            command, connection = plan[number] if number < len(plan) else commands.any()
            self.commands += 1
            yield from self._compared(command, connection)
            choices = RandomChoices(self._random)
            answer = step(self._namespace, command, connection, choices)
            event = event_of(command, connection, seen_of(answer))
            self._believed = accept(self._believed, event).possible
            assert self._believed, event
            if isinstance(command, v.Receive | v.ReceiveBatch):
                self._received.add(command.queue)
            if isinstance(command, v.Schedule):
                self._scheduled.add(command.queue)
            if len(self._believed) > MOST_BELIEFS:
                return

    def _compared(self, command: v.Command, connection: str) -> Iterator[Beyond]:
        if any(is_unjudged(belief, command) for belief in self._believed):
            self.unjudged += 1
            return
        given = self._ways(command, connection)
        if given is None:
            self.uncounted += 1
            return
        where = self._where(command)
        for outcome, event, rules in self._allowed(command, connection, given):
            found = tuple(way for way, _ in given)
            yield Beyond(type(command).__name__, outcome, where, event, found, rules)

    def _ways(self, command: v.Command, connection: str) -> frozenset[Seen] | None:
        """What the model may answer; `None` if it has too many ways."""
        journal = self._namespace.journal
        mark = journal.mark()
        answers = islice(ways(self._namespace, command, connection), MOST_WAYS + 1)
        given = [seen_of(answer) for _, answer in answers]
        journal.undo(mark)
        return frozenset(given) if len(given) <= MOST_WAYS else None

    def _allowed(
        self, command: v.Command, connection: str, given: frozenset[Seen]
    ) -> Iterator[tuple[str, v.Event, tuple[v.RuleId, ...]]]:
        """What the oracle would accept of all that is conceivable and no way, in words.

        If a refusal may have any error, it matters only whether the model refuses at all.
        """
        refusals: list[Seen] = [(v.Refused(error=error), None) for error in v.Error]
        any_error = None not in [self._accepted(command, connection, each) for each in refusals]
        in_session = getattr(command, "session_id", None) is not None
        known = {without_own_affairs(way, in_session=in_session) for way in given}
        if any_error and not any(isinstance(way, v.Refused) for way, _ in given):
            event = event_of(command, connection, refusals[0])
            yield ANY_ERROR, event, self._accepted(command, connection, refusals[0]) or ()
        for seen in dict.fromkeys(conceivable(self._namespace, command, given)):
            if any_error and isinstance(seen[0], v.Refused):
                continue
            bare = without_own_affairs(seen, in_session=in_session)
            if bare in known:
                continue
            rules = self._accepted(command, connection, seen)
            if rules is not None:
                for kind in kinds_of(bare, known):
                    yield kind, event_of(command, connection, seen), rules

    def _accepted(
        self, command: v.Command, connection: str, seen: Seen
    ) -> tuple[v.RuleId, ...] | None:
        """The rules by which the oracle accepts this; `None` if it does not."""
        event = event_of(command, connection, seen)
        acceptance = accept(self._believed, event, explain=False)
        return acceptance.rules if acceptance.possible else None

    def _where(self, command: v.Command) -> frozenset[str]:
        """What may explain a difference."""
        path = v.concerned(command) or ""
        if isinstance(command, v.CreateQueue | v.CreateTopic):
            path = v.created_path(command)
        entity = self._namespace.entities.get(path)
        found = {
            str(self._profile.tier): True,
            "partitioned namespace": self._profile.is_partitioned,
            "transaction": getattr(command, "transaction", None) is not None,
            "outage": any(self._namespace.down.values()),
            "doubt": len(self._believed) > 1,
            "given up": any(len(each.registry.unjudged) for each in self._believed),
            "no entity": entity is None,
            "received": path in self._received,
        }
        if entity is not None:
            found |= self._situation(command, entity)
        return frozenset(name for name, is_so in found.items() if is_so)

    def _situation(self, command: v.Command, entity: Entity) -> dict[str, bool]:
        """What may be of importance of the entity that a command concerns."""
        settings, others = entity.settings, self._namespace.entities.values()
        feeding = (each.settings for each in others)
        other_kind = isinstance(command, v.Receive | v.ReceiveBatch | v.ReceiveDeferred) and (
            (command.session_id is not None) is not settings.requires_session
        )
        dead = entity.kind in (EntityKind.DEAD_LETTERS, EntityKind.TRANSFERS)
        return {
            "dead letters" if dead else entity.kind.value: True,
            "regular": not settings.partitioned,
            "sessions": settings.requires_session,
            "detection": entity.base.settings.duplicate_detection,
            "forwards": settings.forward_to is not None,
            "fed": any(
                entity.path in (each.forward_to, each.forward_dead_letters_to) for each in feeding
            ),
            "disabled": entity.status is not v.EntityStatus.ACTIVE,
            "scheduled": entity.base.path in self._scheduled,
            "other kind": other_kind,
            "turns": self._profile.readings["ROUND-ROBIN"] == "strict",
        }


def closed_profile(random: Random) -> v.Profile:
    """Any edition and namespace, in which the model's readings are those of the oracle."""
    readings = {}
    for each in catalogue().ambiguities:
        choices = [choice for choice in each.choices if choice != "either"]
        open_too = each.id in CHOSEN_EACH_TIME or not choices
        choice = random.choice(list(each.choices) if open_too else choices)
        readings[each.id] = "at-once" if "at-once" in choices and each.id in LATE else choice
    readings["SILENT-EDITION"] = "carried-over"
    return profile_at_random(random, readings)


def is_unjudged(belief: Belief, command: v.Command) -> bool:
    """Whether the oracle knows too little of an entity to judge, or the documents say nothing."""
    if is_about_unjudged(belief, command) or topic_above(belief, command) is not None:
        return True
    if isinstance(command, COUNTING) and len(belief.registry.unjudged):
        return True
    names = named(command)
    known = belief.queues.get(names[0]) if names else None
    in_part = known is not None and (bool(known.managed.partially_applied) or is_unsure(known))
    return in_part or is_managed_otherwise(belief, command)


def seen_of(answer: Answer) -> Seen:
    """What the observer sees of an answer."""
    outcome = answer.outcome
    if isinstance(outcome, v.Done):
        return outcome, answer.partition
    return (v.Refused(error=outcome.error) if isinstance(outcome, v.Refused) else outcome), None


def event_of(command: v.Command, connection: str, seen: Seen) -> v.Event:
    outcome, partition = seen
    witness = None
    if isinstance(command, v.Send | v.SendBatch) and partition is not None:
        witness = v.Witness(partition=partition)
    return v.Event(
        connection=connection, client=connection, command=command, outcome=outcome, witness=witness
    )


def without_own_affairs(seen: Seen, *, in_session: bool) -> Seen:
    """The same without what is the bus's own affair: names of locks, and of its own reasons.

    Nor do the documents say what end a lock shows that is the session's.
    """
    outcome, partition = seen
    match outcome:
        case v.Received(message=view):
            bare = view_without_own_affairs(view, in_session=in_session)
            return v.Received(message=bare), partition
        case v.ReceivedSeveral(messages=views) | v.Peeked(messages=views):
            several = tuple(view_without_own_affairs(one, in_session=in_session) for one in views)
            return type(outcome)(messages=several), partition
    return seen


def view_without_own_affairs(view: v.MessageView, *, in_session: bool) -> v.MessageView:
    reason = view.dead_letter_reason
    if reason is not None and reason.rstrip("?") in UNNAMED_REASONS:
        reason = None
    until = None if in_session else view.locked_until
    return attrs.evolve(view, lock_token=None, dead_letter_reason=reason, locked_until=until)


def kinds_of(seen: Seen, given: frozenset[Seen]) -> Iterator[str]:
    """An outcome in words, by what sets it apart from the way that is most like it."""
    outcome, _ = seen
    name = type(outcome).__name__
    alike = [way for way, _ in given if type(way) is type(outcome)]
    if isinstance(outcome, v.Refused):
        yield f"refused: {outcome.error}"
    elif not alike:
        yield f"{name}, never given"
    else:
        _, apart = min(
            (apart_from(outcome, way) for way in alike), key=lambda each: (each[0], len(each[1]))
        )
        yield from (f"{name}: {each}" for each in apart)


def apart_from(outcome: Any, way: Any) -> tuple[bool, tuple[str, ...]]:
    """How an outcome differs from another of its class; whether in more than details."""
    match outcome:
        case v.Done():
            return False, ("another partition",)
        case v.Received():
            return views_apart((outcome.message,), (way.message,))
        case v.ReceivedSeveral() | v.Peeked():
            return views_apart(outcome.messages, way.messages)
        case v.Listed() | v.SessionsListed():
            return False, counts_apart(*map(attrs.astuple, (outcome, way)))
    described = isinstance(outcome, v.Described | v.TopicDescribed)
    pair = (outcome.description, way.description) if described else (outcome, way)
    return False, fields_apart(*pair)


def views_apart(
    views: tuple[v.MessageView, ...], others: tuple[v.MessageView, ...]
) -> tuple[bool, tuple[str, ...]]:
    bodies, given = [view.body for view in views], [view.body for view in others]
    if bodies == given:
        pairs = zip(views, others, strict=True)
        return False, tuple(sorted({name for pair in pairs for name in fields_apart(*pair)}))
    if sorted(bodies) == sorted(given):
        return True, ("another order",)
    return True, (count_apart(len(views), len(others)) or "other messages",)


def counts_apart(listed: tuple[tuple[str, ...]], given: tuple[tuple[str, ...]]) -> tuple[str, ...]:
    return (count_apart(len(listed[0]), len(given[0])) or "others",)


def count_apart(count: int, other: int) -> str:
    """Which of two counts is greater, if one is."""
    if count == other:
        return ""
    return "fewer" if count < other else "more"


def fields_apart(value: object, other: object) -> tuple[str, ...]:
    names = (field.name for field in attrs.fields(type(value)))
    return tuple(
        name
        for name in names
        if name != "lock_token" and getattr(value, name) != getattr(other, name)
    )
