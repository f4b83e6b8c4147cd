"""Judging of one long history in stretches of time, on several cores.

**Where a history is cut.** At a moment before or after which all that concerns a message may have
happened, for each message; so none need be there. Requests that were under way at the cut belong to
the stretch of their messages, and end or begin at the cut, as if it had been known: their effect
was somewhere between their calls and their answers.

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
import signal
from array import array
from bisect import bisect_left, bisect_right
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

NEVER: Final = (1 << 63) - 1
"""A moment after all others."""

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


@attrs.frozen
class Span:
    """A stretch of a history.

    Attributes:
        indices: the indices of its events, in the order of their calls.
        begin: the moment at which it begins.
        end: the moment at which it ends; `None` for the last one.
    """

    indices: "array[int]"
    begin: int
    end: int | None

    def limited(self, event: v.Event) -> v.Event:
        """Return an event of this stretch, which took effect between its beginning and its end."""
        returned = event.returned
        if returned is not None and self.end is not None:
            returned = min(returned, self.end)
        return attrs.evolve(event, called=max(event.called, self.begin), returned=returned)


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
        partitions: how many partitions the queue has.
    """

    order: "array[int]"
    decided: Decided
    steps: int
    readings: dict[str, str]
    homes: dict[str, int]
    numbers: dict[Line, tuple[int, int]]
    uneven: tuple[int, int] | None
    sent: int
    partitions: int


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
    spans = cuts(events, least)
    if len(spans) < 2:
        return None
    _tasks.append(_Task(events, spans, profile, observability))
    joint = _Joint()
    count = min(cores, len(spans))
    fork = multiprocessing.get_context("fork")
    try:
        # Ctrl-C ends this process, and with it the others.
        with fork.Pool(count, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
            for stretch in pool.imap(_search, range(len(spans))):
                if stretch is None or not joint.fits(stretch):
                    return None
                joint.add(stretch)
    finally:
        _tasks.pop()
    return joint.executions


# Where to cut -------------------------------------------------------------------------------------


def cuts(events: Sequence[v.Event], least: int) -> list[Span]:
    """Return the stretches of a history; a single one if it cannot be cut.

    Args:
        events: the events, in the order of their calls.
        least: the minimum number of events in a stretch.
    """
    if not _is_plain(events):
        return []
    called = array("q", (event.called for event in events))
    lives = _Lives(events)
    is_covered = lives.covered(called)
    spans = []
    begin = 0
    since = 0
    looked = 0
    before: list[int] = []
    under_way: list[int] = []
    for place in range(least, len(called) - least):
        moment = called[place]
        if is_covered[place] or place < since + least or called[place + 1] == moment:
            continue
        # What is over once stays over.
        sides = {
            index: lives.is_over(events[index], moment)
            for index in (*under_way, *range(looked, place + 1))
        }
        looked = place + 1
        under_way = [index for index, side in sides.items() if not side]
        if None in sides.values():
            continue
        later = {*under_way}
        coming = (*before, *range(since, looked))
        spans.append(Span(array("L", (one for one in coming if one not in later)), begin, moment))
        begin = moment
        since = looked
        before = under_way
    spans.append(Span(array("L", (*before, *range(since, len(called)))), begin, None))
    return spans


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


class _Lives:
    """From when to when something is known of each message, number and lock.

    It may all have happened before a moment if the last request about it was made before, and after
    a moment if the first answer came after it.
    """

    def __init__(self, events: Sequence[v.Event]) -> None:
        self._places: dict[int, int] = {}
        self._first = array("q")
        self._last = array("q")
        self._of_token = {
            view.lock_token: _name("body", view.body)
            for event in events
            for view in views_of(event.outcome)
            if view.lock_token is not None
        }
        there: Counter[int] = Counter()
        for event in events:
            for name in self._names(event):
                self._note(name, event)
            command = event.command
            if isinstance(event.outcome, v.Done):
                there.update(_name("body", message.body) for message in messages_of(command))
                if isinstance(command, v.Complete) or (
                    isinstance(command, v.SettleBatch)
                    and command.disposition is v.Disposition.COMPLETE
                ):
                    there.subtract(self._of_token.get(token, 0) for token in tokens_of(command))
            if not isinstance(command, v.Peek):
                there.subtract(
                    _name("body", view.body)
                    for view in views_of(event.outcome)
                    if view.lock_token is None
                )
        for name, count in there.items():
            if count > 0 and name in self._places:
                self._last[self._places[name]] = NEVER

    def _names(self, event: v.Event) -> Iterator[int]:
        """Yield a number for each message, number and lock that an event names."""
        for message in messages_of(event.command):
            yield _name("body", message.body)
        for token in tokens_of(event.command):
            yield _name("token", token)
            if token in self._of_token:
                yield self._of_token[token]
        for number in numbers_of(event.command):
            yield _name("number", number)
        for view in views_of(event.outcome):
            yield _name("body", view.body)
            if view.lock_token is not None:
                yield _name("token", view.lock_token)
            if view.sequence_number is not None:
                yield _name("number", view.sequence_number)

    def _note(self, name: int, event: v.Event) -> None:
        place = self._places.setdefault(name, len(self._first))
        answered = NEVER if event.returned is None else event.returned
        if place == len(self._first):
            self._first.append(answered)
            self._last.append(event.called)
        else:
            self._first[place] = min(self._first[place], answered)
            self._last[place] = max(self._last[place], event.called)

    def covered(self, called: Sequence[int]) -> bytearray:
        """Return for each call whether something happened both before it and after it."""
        changes = array("q", bytes(8 * (len(called) + 1)))
        for first, last in zip(self._first, self._last, strict=True):
            begin = bisect_right(called, first)
            end = bisect_left(called, last)
            if begin < end:
                changes[begin] += 1
                changes[end] -= 1
        covered = bytearray(len(called))
        count = 0
        for place in range(len(called)):
            count += changes[place]
            covered[place] = count > 0
        return covered

    def is_over(self, event: v.Event, moment: int) -> bool | None:
        """Return whether an event happened before a moment; `None` if it can be on neither side."""
        if event.called > moment:
            return False
        if event.returned is not None and event.returned < moment:
            return True
        places = [self._places[name] for name in self._names(event)]
        if all(self._last[place] <= moment for place in places):
            # Somebody who waits for a message in vain may wait longer.
            return bool(places) or event.returned is None
        return False if all(self._first[place] >= moment for place in places) else None


def _name(kind: str, name: object) -> int:
    return hash((kind, name))


# A stretch ----------------------------------------------------------------------------------------


@attrs.frozen
class _Task:
    events: Sequence[v.Event]
    spans: Sequence[Span]
    profile: v.Profile
    observability: v.Observability


_tasks: Final[list[_Task]] = []
"""What is searched now: a forked process has it without a copy."""


def _search(number: int) -> Stretch | None:
    """Look for an execution of a stretch; after all but the last, nothing may be left."""
    task = _tasks[-1]
    span = task.spans[number]
    indices = span.indices
    some = [span.limited(task.events[index]) for index in indices]
    if number:
        indices = array("L", [0, *indices])
        some.insert(0, task.events[0])
    search, ended = _search_stretch(some, task.profile, task.observability)
    if ended is not Ended.EXPLAINED or not (span.end is None or _is_empty(search.namespace)):
        return None
    trail = search.trail
    # The creation is told once.
    order = [place for place in trail.order if place or not number]
    base = search.namespace.entities[_queue(task.events[0])]
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
        partitions=len(base.partitions),
    )


def _queue(creation: v.Event) -> str:
    assert isinstance(creation.command, v.CreateQueue)  # noqa: S101 - nothing else is cut
    return creation.command.queue


def _search_stretch(
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

    def __init__(self) -> None:
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
            self._uneven + first < (ROUNDS - 1) * stretch.partitions
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
