"""Judging of one long history in stretches of time, on several cores.

**Where a history is cut.** At a moment at which no message is there, as far as the answers tell,
and after which no message, number or lock from before it is named. Requests that are under way then
belong to the later stretch, as if they had been made at the cut: they may take effect after it.

**Why that is sound.** Each stretch is searched for an execution of the model that begins with the
empty queue. Put one after another, such executions are one of the whole history if each leaves the
queue empty, with nothing that a later answer depends on: no message, duplicate, session or
transaction. What lasts is compared: what the bus decides once (its readings), the partitions of
keys, the order of numbers, and how evenly messages without a key were spread. So an execution that
is put together explains the history. If there is none, that proves nothing: the cut may have been
unlucky, and the history is judged as a whole. Nothing is ever accused by its stretches.

Only histories of one queue are cut, with plain sends, receives and settlements: no copies are
detected, there are no sessions, transactions, schedules, updates or outages.
"""

import multiprocessing
import os
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.decided import Decided
from busproof.judging.liveness import Patience
from busproof.judging.replay.evenness import ROUNDS
from busproof.judging.replay.evidence import messages_of, numbers_of, tokens_of, views_of
from busproof.judging.replay.explanation import hasty_budget
from busproof.judging.replay.long_histories import LONG, search_piecewise
from busproof.judging.replay.search import Ended, Search
from busproof.model.rules import Namespace

__all__ = ["LEAST", "Executions", "cuts", "judged_in_stretches"]

LEAST: Final = 4_000
"""Minimum number of events in a stretch."""

COMMANDS: Final = (
    *(v.Send, v.SendBatch, v.Receive, v.ReceiveBatch, v.ReceiveDeferred, v.Peek),
    *(v.Complete, v.Abandon, v.DeadLetter, v.Defer, v.SettleBatch, v.RenewLock, v.RenewLocks),
)
OUTCOMES: Final = (
    *(v.Done, v.Received, v.ReceivedSeveral, v.Empty, v.Peeked),
    *(v.Renewed, v.RenewedSeveral, v.Indeterminate),
)
_FORKS: Final = hasattr(os, "fork")

Line = tuple[str, int | str]
"""Messages of an entity whose numbers rise: those of a partition, or those with one key."""


@attrs.frozen(kw_only=True)
class Executions:
    """An execution of a whole history, put together from its stretches.

    Attributes:
        order: the indices of the events in the order of the execution.
        decided: for each event of `order`, the rules that it shows.
        steps: how many events the searches tried.
    """

    order: Sequence[int]
    decided: Decided
    steps: int


@attrs.define(kw_only=True)
class Stretch:
    """An execution of a stretch, and what of it a later one may depend on.

    Attributes:
        order: the indices of its events in the order of the execution.
        decided: for each event of `order`, the rules that it shows.
        steps: how many events the search tried.
        readings: what the bus has decided once.
        homes: key to the partition of its messages.
        numbers: the least and the greatest number in each line.
        uneven: messages without a key: how many there were until every partition had one, if it
            had, and how many since the last time.
        sent: how many messages without a key there were.
    """

    order: "array[int]"
    decided: Decided
    steps: int
    readings: dict[str, str]
    homes: dict[str, int]
    numbers: dict[Line, tuple[int, int]]
    uneven: tuple[int, int] | None
    sent: int


def judged_in_stretches(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    cores: int,
    *,
    least: int = LEAST,
) -> Executions | None:
    """Look for an execution of a long history of one queue, on several cores.

    Args:
        events: the events of an independent part of a history on a real clock, in the order of
            their calls.
        profile: the profile of the namespace.
        observability: what the observer sees.
        cores: how many processes may search at once.
        least: the minimum number of events in a stretch.

    Returns:
        An execution; `None` if the history cannot be cut, or if no execution was found this way.
    """
    if not _FORKS or profile.readings.get("SEQUENCE-GAPS") == "gap-free":
        return None
    stretches = cuts(events, least)
    if len(stretches) < 2:
        return None
    _tasks.append(_Task(events, stretches, profile, observability))
    joint = _Joint(profile.partitions)
    try:
        with multiprocessing.get_context("fork").Pool(min(cores, len(stretches))) as pool:
            for stretch in pool.imap(_search, range(len(stretches))):
                if stretch is None or not joint.fits(stretch):
                    return None
                joint.add(stretch)
    finally:
        _tasks.pop()
    return joint.executions


# Where to cut -------------------------------------------------------------------------------------


def cuts(events: Sequence[v.Event], least: int) -> list[Sequence[int]]:
    """Return the indices of the events of each stretch; empty if the history cannot be cut.

    Args:
        events: the events, in the order of their calls.
        least: the minimum number of events in a stretch.
    """
    if not _is_plain(events):
        return []
    ended = array("q", (_moment(event) for event in events))
    order = array("L", sorted(range(len(ended)), key=ended.__getitem__))
    covered = array("q", bytes(8 * (len(order) + 1)))
    is_empty = bytearray(len(order))
    last: dict[int, int] = {}
    lives = _Lives()
    for place, index in enumerate(order):
        event = events[index]
        for name in _names(event):
            known = last.get(name, place)
            covered[known] += 1
            covered[place] -= 1
            last[name] = place
        lives.note(event)
        is_empty[place] = not lives.there
    stretches: list[Sequence[int]] = []
    begin = 0
    open_names = 0
    for place in range(len(order) - least):
        open_names += covered[place]
        if is_empty[place] and not open_names and place + 1 - begin >= least:
            stretches.append(order[begin : place + 1])
            begin = place + 1
    stretches.append(order[begin:])
    return stretches


def _is_plain(events: Sequence[v.Event]) -> bool:
    """Return whether nothing but messages of one queue can be there between two events."""
    creation, *_ = events[:1]
    created = creation.command
    if (
        not isinstance(created, v.CreateQueue)
        or not isinstance(creation.outcome, v.Done)
        or created.requires_session
        or created.duplicate_detection
        or created.forward_to is not None
        or created.forward_dead_letters_to is not None
    ):
        return False
    made = creation.returned
    paths = (created.queue, created.queue + v.DEAD_LETTERS)
    return made is not None and all(
        event is creation
        or (
            isinstance(event.command, COMMANDS)
            and event.called >= made
            and event.command.queue in paths
            and getattr(event.command, "transaction", None) is None
            and (
                isinstance(event.outcome, OUTCOMES)
                or getattr(event.outcome, "error", None) is v.Error.LOCK_LOST
            )
        )
        for event in events
    )


def _moment(event: v.Event) -> int:
    """Return when an event has taken effect for sure, or when it may have, without an answer."""
    return event.called if event.returned is None else event.returned


def _names(event: v.Event) -> Iterator[int]:
    """Yield a number for each message, number and lock that an event names."""
    for message in messages_of(event.command):
        yield hash(("body", message.body))
    for token in tokens_of(event.command):
        yield hash(("token", token))
    for number in numbers_of(event.command):
        yield hash(("number", number))
    for view in views_of(event.outcome):
        yield hash(("body", view.body))
        if view.lock_token is not None:
            yield hash(("token", view.lock_token))
        if view.sequence_number is not None:
            yield hash(("number", view.sequence_number))


class _Lives:
    """The messages that are there, as far as the answers tell.

    Attributes:
        there: the bodies of which more have come than gone. The answer to a send may come after the
            message has gone, so until then there are fewer than none of it.
    """

    def __init__(self) -> None:
        self.there: Counter[str] = Counter()
        self._may_have_come: set[str] = set()
        self._of_token: dict[str, str] = {}

    def note(self, event: v.Event) -> None:
        """Note what came and what went with an event."""
        command = event.command
        if isinstance(event.outcome, v.Indeterminate):
            self._may_have_come.update(message.body for message in messages_of(command))
        if isinstance(event.outcome, v.Done):
            for message in messages_of(command):
                self._count(message.body, 1)
            if isinstance(command, v.Complete) or (
                isinstance(command, v.SettleBatch) and command.disposition is v.Disposition.COMPLETE
            ):
                for token in tokens_of(command):
                    if token in self._of_token:
                        self._count(self._of_token.pop(token), -1)
        for view in views_of(event.outcome):
            if view.lock_token is not None:
                self._of_token[view.lock_token] = view.body
            elif not isinstance(command, v.Peek):
                self._count(view.body, -1)

    def _count(self, body: str, change: int) -> None:
        count = self.there[body] + change
        self.there[body] = count
        if count == 0 or (count < 0 and body in self._may_have_come):
            del self.there[body]


# A stretch ----------------------------------------------------------------------------------------


@attrs.frozen
class _Task:
    events: Sequence[v.Event]
    stretches: Sequence[Sequence[int]]
    profile: v.Profile
    observability: v.Observability


_tasks: Final[list[_Task]] = []
"""What is searched now: a forked process has it without a copy."""


def _search(number: int) -> Stretch | None:
    """Look for an execution of a stretch; after all but the last, nothing may be left."""
    task = _tasks[-1]
    events = task.events
    indices = sorted(task.stretches[number])
    some = [events[index] for index in indices]
    if number:
        cut = _moment(events[task.stretches[number - 1][-1]])
        some = [events[0], *(attrs.evolve(one, called=max(one.called, cut)) for one in some)]
        indices.insert(0, 0)
    search, ended = _searched(some, task.profile, task.observability)
    is_last = number == len(task.stretches) - 1
    if ended is not Ended.EXPLAINED or not (is_last or _is_empty(search.namespace)):
        return None
    trail = search.trail
    # The creation is told once.
    order = [place for place in trail.order if place or not number]
    base = search.namespace.entities[_queue(events[0])]
    sent, uneven = _spread([some[place] for place in order], len(base.partitions))
    return Stretch(
        order=array("L", (indices[place] for place in order)),
        decided=trail.decided.reordered(order),
        steps=search.steps,
        readings=dict(search.namespace.readings),
        homes=dict(base.homes),
        numbers=_numbers(some),
        uneven=uneven,
        sent=sent,
    )


def _queue(creation: v.Event) -> str:
    assert isinstance(creation.command, v.CreateQueue)  # noqa: S101 - nothing else is cut
    return creation.command.queue


def _searched(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> tuple[Search, Ended]:
    if len(events) > LONG:
        return search_piecewise(events, profile, observability, forgiven=0)
    search = Search(events, profile, observability, patience=Patience(events, forgiven=0))
    return search, search.run(hasty_budget(len(events)))


def _is_empty(namespace: Namespace) -> bool:
    """Return whether a namespace has nothing but entities, as on the day of their creation."""
    return not (namespace.transactions or namespace.down) and not any(
        entity.messages
        or entity.scheduled
        or entity.duplicates
        or entity.sessions
        or entity.down
        or entity.last >= 0
        for entity in namespace.entities.values()
    )


def _numbers(events: Sequence[v.Event]) -> dict[Line, tuple[int, int]]:
    """Return the least and the greatest number in each line of messages."""
    numbers: dict[Line, tuple[int, int]] = {}
    for event in events:
        for view in views_of(event.outcome):
            number = view.sequence_number
            if number is None:
                continue
            path: Any = getattr(event.command, "queue", "")
            lines: list[Line] = [(path, number >> v.SEQUENCE_BITS)]
            if (key := view.session_id or view.partition_key) is not None:
                lines.append((path, key))
            for line in lines:
                least, most = numbers.get(line, (number, number))
                numbers[line] = min(least, number), max(most, number)
    return numbers


def _spread(events: Sequence[v.Event], count: int) -> tuple[int, tuple[int, int] | None]:
    """Return how many messages had no key, and how they were spread over partitions (KEY-14)."""
    sent = 0
    since = 0
    first: int | None = None
    used: set[int] = set()
    for event in events:
        command = event.command
        if not isinstance(command, v.Send) or event.witness is None:
            continue
        message = command.message
        if message.session_id or message.partition_key:
            continue
        sent += 1
        since += 1
        used.add(event.witness.partition)
        if len(used) == count:
            first = first or sent
            since = 0
            used = set()
    return sent, None if first is None else (first, since)


# Stretches together -------------------------------------------------------------------------------


class _Joint:
    """What lasts from one stretch to the next."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._readings: dict[str, str] = {}
        self._homes: dict[str, int] = {}
        self._ends: dict[Line, int] = {}
        self._uneven = 0
        self._order = array("L")
        self._decided = Decided()
        self._steps = 0

    def fits(self, stretch: Stretch) -> bool:
        """Return whether a stretch may follow those before it."""
        first = stretch.sent if stretch.uneven is None else stretch.uneven[0]
        return (
            self._uneven + first < (ROUNDS - 1) * self._partitions
            and all(self._readings.get(name, one) == one for name, one in stretch.readings.items())
            and all(self._homes.get(key, one) == one for key, one in stretch.homes.items())
            and all(
                self._ends.get(line, -1) < least for line, (least, _) in stretch.numbers.items()
            )
        )

    def add(self, stretch: Stretch) -> None:
        """Let a stretch follow those before it."""
        self._readings |= stretch.readings
        self._homes |= stretch.homes
        for line, (_, most) in stretch.numbers.items():
            self._ends[line] = most
        self._uneven = self._uneven + stretch.sent if stretch.uneven is None else stretch.uneven[1]
        self._order.extend(stretch.order)
        for rules in stretch.decided:
            self._decided.append(rules)
        self._steps += stretch.steps

    @property
    def executions(self) -> Executions:
        """The executions of all stretches as one."""
        return Executions(order=self._order, decided=self._decided, steps=self._steps)
