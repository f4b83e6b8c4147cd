"""Execution of commands: one result for a policy, or every possible one.

A step first runs everything that is due, then executes the command. A refusal undoes the changes of
the command, wherever it is raised. Time passes only by `AdvanceClock`, and everything due by then
happens at its own moment, in order of time. `ways` replays a command with each script of choices,
with an undo in between.
"""

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop
from operator import attrgetter
from typing import Final

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.choices import Choices, Scripted
from busproof.model.indexes import TIDY_FROM, Timer
from busproof.model.journal import Change
from busproof.model.rules import RULES, Rules
from busproof.model.state import Namespace
from busproof.model.values import Refusal

__all__ = ["Way", "act", "forget", "new_namespace", "rest", "step", "ways"]

Way = tuple[tuple[str, int], ...]
"""The choices of a way: name and position of each chosen candidate."""

HANDLERS: Final[dict[type, str]] = {
    v.AcceptNextSession: "sessions.accept_next",
    v.AcceptSession: "sessions.accept",
    v.AddRule: "subscription_rules.ask_change",
    v.BeginTransaction: "transactions.begin",
    v.BringPartitionUp: "partitions.switch",
    v.CancelScheduled: "scheduling.cancel",
    v.CloseSession: "sessions.close",
    v.CommitTransaction: "transactions.commit",
    v.CreateQueue: "management.create_queue",
    v.CreateSubscription: "topics.create_subscription",
    v.CreateTopic: "topics.create_topic",
    v.DeleteBatch: "batches.delete_batch",
    v.DeleteQueue: "management.delete_queue",
    v.DeleteTopic: "topics.delete_topic",
    v.GetQueue: "management.get_queue",
    v.GetSessionState: "sessions.get_state",
    v.GetTopic: "topics.get_topic",
    v.ListQueues: "management.list_queues",
    v.ListRules: "subscription_rules.list_rules",
    v.ListSessions: "sessions.list_sessions",
    v.ListSubscriptions: "topics.list_subscriptions",
    v.ListTopics: "topics.list_topics",
    v.Peek: "partitions.peek",
    v.Receive: "messages.receive",
    v.ReceiveBatch: "batches.receive_batch",
    v.ReceiveDeferred: "deferral.receive_deferred",
    v.RemoveRule: "subscription_rules.ask_change",
    v.RenewLock: "locks.renew",
    v.RenewLocks: "locks.renew_several",
    v.RenewSessionLock: "sessions.renew",
    v.RestoreQueue: "management.restore_queue",
    v.RollBackTransaction: "transactions.roll_back",
    v.Schedule: "scheduling.schedule",
    v.Send: "messages.send",
    v.SendBatch: "batches.send_batch",
    v.SetSessionState: "sessions.set_state",
    v.SettleBatch: "locks.settle_batch",
    v.TakePartitionDown: "partitions.switch",
    v.UpdateQueue: "management.update_queue",
    v.UpdateTopic: "topics.update_topic",
    **dict.fromkeys((v.Abandon, v.Complete, v.DeadLetter, v.Defer), "locks.settle"),
}
"""Rule that handles each command; a test checks that every command has one."""

TIMERS: Final[dict[str, str]] = {
    "lock": "locks.end",
    "expiry": "expiry.end",
    "session": "sessions.end",
    "due": "scheduling.activate",
    "duplicate": "duplicates.forget",
}
"""Rule that processes each kind of record when its timer is due."""


def new_namespace(profile: v.Profile, rules: Rules = RULES) -> Namespace:
    """Return an empty namespace, at time 0."""
    namespace = Namespace(profile, rules)
    for kind, path in (*HANDLERS.items(), *TIMERS.items()):
        namespace.handlers[kind] = attrgetter(path)(rules)
    namespace.handlers[v.AdvanceClock] = advance
    return namespace


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
        namespace: is changed.
        command: the command.
        connection: the connection that sends it.
        choices: the policy that decides what the documents leave to the bus.
        keep: whether this step can be undone, with those before it that were kept.

    Returns:
        The answer to the command.
    """
    journal = namespace.journal
    start = mark = 0
    if keep:
        start = mark = journal.begin()
    else:
        forget(namespace)
    namespace.choices = choices
    if namespace.timers.is_due(namespace.now):
        run_timers(namespace, namespace.now)
        mark = journal.mark()
    try:
        answer: Answer = namespace.handlers[type(command)](namespace, command, connection)
    except Refusal as refusal:
        journal.refuse(mark)
        answer = Answer(v.Refused(error=refusal.error), rules=refusal.rules)
    answer.changes = journal.since(start) if keep else journal.hand_over()
    return answer


def act(
    namespace: Namespace, choices: Choices, do: Callable[[Namespace], None]
) -> Sequence[Change]:
    """Run an internal action as a step that is not kept; return its changes.

    A client library may need more than the vocabulary has, such as the release of a message.
    """
    forget(namespace)
    namespace.choices = choices
    do(namespace)
    return namespace.journal.hand_over()


def forget(namespace: Namespace) -> None:
    """Discard the undo history, and the timers that no record needs."""
    namespace.journal.forget()
    if namespace.timers.stale > TIDY_FROM:
        namespace.timers.tidy(is_live)


def advance(namespace: Namespace, command: v.AdvanceClock, connection: str) -> Answer:
    """Advance the clock, running everything that is due until then."""
    until = namespace.now + command.duration
    run_timers(namespace, until)
    namespace.journal.touch(namespace)
    namespace.now = until
    return Answer(DONE)


def rest(namespace: Namespace, until: int) -> None:
    """Advance the clock while nothing is due: no step, and no undo reaches behind it."""
    forget(namespace)
    namespace.now = until


def run_timers(namespace: Namespace, until: int) -> None:
    """Process each record whose timer is due, at its own moment."""
    heap, journal = namespace.timers.heap, namespace.journal
    while heap and heap[0][0] <= until:
        timer = heappop(heap)
        moment, _, _, _, kind, thing = timer
        journal.passed(namespace.timers.restore, timer)
        if moment > namespace.now:
            journal.touch(namespace)
            namespace.now = moment
        entity = thing.entity
        if namespace.entities.get(entity.path) is entity:
            namespace.handlers[kind](namespace, thing)


def is_live(timer: Timer) -> bool:
    """Return whether a timer may still have an effect."""
    moment, number, _, _, kind, thing = timer
    entity = thing.entity
    if entity.namespace.entities.get(entity.path) is not entity:
        return False
    if kind == "lock":
        return thing.token is not None and thing.locked_until == moment
    if kind == "expiry":
        return entity.messages.get(number) is thing
    if kind == "due":
        return entity.scheduled.get(number) is thing
    if kind == "session":
        return thing.holder is not None and thing.locked_until == moment
    return entity.duplicates.get(thing.name) is thing


def ways(namespace: Namespace, command: v.Command, connection: str) -> Iterator[tuple[Way, Answer]]:
    """Yield each way in which a command could go, with the choices that lead there.

    While a way is examined, the namespace is in the state after it; after the last one, in the
    state before.
    """
    journal = namespace.journal
    script: list[int] | None = []
    while script is not None:
        choices, mark = Scripted(script), journal.mark()
        answer = step(namespace, command, connection, choices, keep=True)
        yield tuple((name, place) for name, place, _ in choices.made), answer
        journal.undo(mark)
        script = choices.following()
