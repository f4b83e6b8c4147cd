"""Execution of commands: with one result, by a policy, or with every possible result.

A step first processes everything that is due, then executes the command. Time passes only by
`AdvanceClock`; everything that becomes due until then happens at its own moment, in order of time.
`ways` replays a command with every script of choices, and undoes it in between.

**Raising undoes, returning does not.** A rule that refuses a request raises `Refusal`, at any depth
and after any change: `step` undoes all changes of the command, except revealed choices. So rules
may change the state before they have checked everything, and no rule cleans up. Where a refused
request does have an effect, the refusal is *returned*, as an answer: one lost lock among several
that were settled (`locks.for_each`), a transaction that its refusal dooms (`transactions.within`),
a commit that fails but ends its transaction (`transactions.commit`). A rule that catches a
`Refusal` and goes on takes its changes back itself, if there are any, to a mark of the journal.
"""

from collections.abc import Iterator
from functools import partial
from heapq import heappop
from operator import attrgetter

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.choices import Choices, Scripted
from busproof.model.family import Family
from busproof.model.indexes import Line, Timer
from busproof.model.rules import Namespace
from busproof.model.values import Refusal

__all__ = ["Way", "dissolve", "forget", "new_namespace", "step", "ways"]

Way = tuple[tuple[str, int], ...]
"""The choices of a way: the name of each, and the position of the chosen candidate."""


def new_namespace(profile: v.Profile, **replaced: type[Family]) -> Namespace:
    """Return an empty namespace, at time 0.

    Args:
        profile: the edition, the tier and the readings that it follows.
        replaced: by the name of a family, a subclass that takes its place.
    """
    namespace = Namespace(profile, replaced=replaced)
    namespace.handlers[v.AdvanceClock] = partial(advance, namespace)
    return namespace


def dissolve(namespace: Namespace) -> None:
    """Take apart a namespace that nobody needs any more, so that its memory is free at once.

    Its records refer to each other in circles, and somebody who makes one namespace after another
    would leave them all to the garbage collector.
    """
    for entity in namespace.entities.values():
        for session in entity.sessions.values():
            session.locked.clear()
            session.line = Line()
        entity.partitions = ()
        entity.dead_letters = entity.transfers = entity.subscriptions = None
        del entity.base, entity.owner
        for table in (entity.messages, entity.scheduled, entity.duplicates, entity.sessions):
            table.clear()
        entity.caches.clear()
        entity.free_sessions.clear()
    namespace.entities.clear()
    namespace.transactions.clear()
    namespace.journal.forget()
    namespace.timers.heap.clear()
    namespace.handlers.clear()
    vars(namespace.rules).clear()


def step(
    namespace: Namespace,
    command: v.Command,
    connection: str,
    choices: Choices,
    *,
    keep: bool = False,
) -> Answer:
    """Execute a command.

    Args:
        namespace: the namespace, which is changed.
        command: the command.
        connection: the connection that sends it.
        choices: the policy that decides what the documents leave to the bus.
        keep: whether this step, and earlier ones with `keep`, can be undone afterwards.

    Returns:
        The answer to the command.
    """
    journal = namespace.journal
    start = mark = 0
    if keep:
        journal.revealed.clear()
        start = mark = journal.mark()
    else:
        forget(namespace)
    namespace.choices = choices
    if namespace.timers.is_due(namespace.now):
        run_timers(namespace, namespace.now)
        mark = journal.mark()
    try:
        answer: Answer = namespace.handlers[type(command)](command, connection)
    except Refusal as refusal:
        journal.refuse(mark)
        answer = Answer(v.Refused(error=refusal.error), rules=refusal.rules)
    answer.changes = journal.log[start:] if keep else journal.hand_over()
    return answer


def forget(namespace: Namespace) -> None:
    """Discard the undo history, and timers that no record needs."""
    namespace.journal.forget()
    timers = namespace.timers
    if len(timers.heap) > timers.most:
        timers.tidy(is_live)


def advance(namespace: Namespace, command: v.AdvanceClock, connection: str) -> Answer:  # noqa: ARG001 - as all handlers
    """Advance the clock, and process everything that becomes due until then."""
    until = namespace.now + command.duration
    run_timers(namespace, until)
    namespace.journal.touch(namespace)
    namespace.now = until
    return Answer(DONE)


def run_timers(namespace: Namespace, until: int) -> None:
    """Call the rule of each timer that is due until then, with the clock at the timer's moment."""
    heap, journal = namespace.timers.heap, namespace.journal
    while heap and heap[0][0] <= until:
        timer = heappop(heap)
        moment, _, _, _, rule, thing = timer
        journal.log.append((namespace.timers.restore, None, timer))  # an undo sets it again
        if moment > namespace.now:
            journal.touch(namespace)
            namespace.now = moment
        entity = thing.entity
        if namespace.entities.get(entity.path) is entity:  # it may be deleted by now
            attrgetter(rule)(namespace.rules)(thing)


def is_live(timer: Timer) -> bool:
    """Return whether a timer may still have an effect."""
    moment, number, _, _, rule, thing = timer
    entity = thing.entity
    if entity.namespace.entities.get(entity.path) is not entity:
        return False
    if rule == "locks.end":
        return thing.token is not None and bool(thing.locked_until == moment)
    match rule:
        case "sessions.end":
            return thing.holder is not None and thing.locked_until == moment
        case "duplicates.forget":
            return entity.duplicates.get(thing.name) is thing
    return thing in (entity.messages.get(number), entity.scheduled.get(number))


def ways(namespace: Namespace, command: v.Command, connection: str) -> Iterator[tuple[Way, Answer]]:
    """Yield each way in which a command may be executed: its choices, and the answer.

    While the caller looks at a way, the namespace is in the state after it; after the last way it
    is in the state before.
    """
    journal = namespace.journal
    script: list[int] | None = []
    while script is not None:
        choices, mark = Scripted(script), journal.mark()
        answer = step(namespace, command, connection, choices, keep=True)
        yield tuple((name, place) for name, place, _ in choices.made), answer
        journal.undo(mark)
        script = choices.following()
