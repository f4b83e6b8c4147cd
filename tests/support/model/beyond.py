"""What the judge allows after a fully observed run although no way of the model gives it."""

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
from busproof.judging.replay.explanation import Ended, explain
from busproof.model import Answer, RandomChoices, new_namespace, step, ways

__all__ = ["Beyond", "Tried", "tried"]

SHORTEST = 10
LONGEST = 40
MOST_WAYS = 300
STEPS = 600
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
"""Ambiguities that may stay open: the model chooses a reading of them each time."""

LATE = frozenset({"DEAD-LETTER-DELAY", "GET-LAG", "SCHEDULE-DELAY"})
"""Ambiguities of how late something may come about; with the model everything does at once."""

SEEN = v.Observability(limits=True)


@attrs.frozen
class Beyond:
    """A kind of outcome that is no way of the model, and one example."""

    command: str
    outcome: str
    event: v.Event | None = attrs.field(default=None, eq=False)


@attrs.define
class Tried:
    """What became of the outcomes that are no ways of a run's last command.

    Attributes:
        outcomes: how many there were.
        undecided: how many of them the replay gave up.
        beyond: those that it explains.
    """

    outcomes: int = 0
    undecided: int = 0
    beyond: list[Beyond] = attrs.field(factory=list)


def tried(seed: str) -> Tried:
    """Let a run end with each outcome that is conceivable and no way of the model.

    Where the model refuses, the error may be another one: the documents name few of them.
    """
    random = Random(seed)
    profile = closed_profile(random)
    namespace = new_namespace(profile)
    commands = Commands(random, namespace)
    plan = [(command, "c1") for command in commands.setup()]
    events: list[v.Event] = []
    for number in range(random.randrange(SHORTEST, LONGEST)):
        command, connection = plan[number] if number < len(plan) else commands.any()
        answer = step(namespace, command, connection, RandomChoices(random))
        events.append(event_of(command, connection, seen_of(answer)))
    command, connection = commands.any()
    mark = namespace.journal.mark()
    answers = islice(ways(namespace, command, connection), MOST_WAYS)
    given = frozenset(seen_of(answer) for _, answer in answers)
    namespace.journal.undo(mark)
    in_session = getattr(command, "session_id", None) is not None
    known = {without_own_affairs(way, in_session=in_session) for way in given}
    refuses = any(isinstance(way, v.Refused) for way, _ in given)
    found = Tried()
    for seen in dict.fromkeys(conceivable(namespace, command, given)):
        bare = without_own_affairs(seen, in_session=in_session)
        if bare in known or (refuses and isinstance(seen[0], v.Refused)):
            continue
        event = event_of(command, connection, seen)
        ended = explain((*events, event), profile, SEEN, steps=STEPS).ended
        found.outcomes += 1
        found.undecided += ended is Ended.GAVE_UP
        if ended is Ended.EXPLAINED:
            found.beyond += (
                Beyond(type(command).__name__, kind, event) for kind in kinds_of(bare, known)
            )
    return found


def closed_profile(random: Random) -> v.Profile:
    """Any edition and namespace, with most readings fixed."""
    readings = {}
    for each in catalogue().ambiguities:
        choices = [choice for choice in each.choices if choice != "either"]
        open_too = each.id in CHOSEN_EACH_TIME or not choices
        choice = random.choice(list(each.choices) if open_too else choices)
        readings[each.id] = "at-once" if "at-once" in choices and each.id in LATE else choice
    readings["SILENT-EDITION"] = "carried-over"
    return profile_at_random(random, readings)


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
        yield "refused"
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
