"""Timers of a replay: each fires somewhere in a window, and a choice says when.

A bus may be wrong by the declared slack, a scheduled message may come late (SCHEDULE-DELAY), and on
a real clock a request takes effect at some moment between its call and its return, so a timer that
it sets is as uncertain. The model's timers never fire by themselves here: before each event, those
that must have fired do, and of those that may have, a choice says which.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop
from itertools import islice
from operator import attrgetter
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.floor import Floor
from busproof.judging.liveness import Patience
from busproof.judging.replay.choices_made import Moves, Subsets
from busproof.judging.replay.evidence import Evidence, base_path, key_that_orders, views_of
from busproof.judging.replay.guide import Guide
from busproof.model.choices import CONSIDERED
from busproof.model.expiry import REASON as EXPIRED
from busproof.model.indexes import Timer, Timers
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage
from busproof.model.step import is_live

__all__ = ["Clock", "LooseTimers"]

HOP: Final = "forwarding.go_on"
TOO: Final = "forwarding.go_too"
AGAIN: Final = "forwarding.try_again"
DEAD: Final = "dead_letters.move"
UNDER_WAY: Final = (HOP, DEAD)
LATE: Final = {
    "scheduling.activate": "SCHEDULE-DELAY",
    HOP: "FORWARD-DELAY",
    TOO: "",
    AGAIN: "",
    DEAD: "DEAD-LETTER-DELAY",
    "transactions.lapse": "",
}
"""Rule of a timer to the ambiguity that says how late it may fire; empty for any time or never."""
MOVING: Final = frozenset((*LATE, "expiry.end"))
"""Rules of the timers that change what a description counts."""
PATIENT: Final = ("locks.end", "sessions.end", "expiry.end", "transactions.lapse")
"""Rules of timers that fire when an answer calls for it: until then nobody can tell."""
EVER: Final = 1 << 62
MOST_SUBSETS: Final = 5
"""Up to this many timers, every subset is tried; of more, only the likely ones."""

Window = tuple[int, int]
"""How much earlier and how much later than its moment a timer may fire."""
EXACT: Final[Window] = (0, 0)
ACTIVATION: Final = "scheduling.activate"
ARRIVING: Final = (ACTIVATION, HOP, DEAD, "expiry.end", "locks.end")
"""Rules of timers after which a message may arrive somewhere, and get a number."""
TO_DEAD_LETTERS: Final = (DEAD, "expiry.end", "locks.end")
"""Rules of timers after which a message may become a dead letter."""
LEAVING: Final = (HOP, TOO, AGAIN, DEAD)
"""Rules of timers after which a message is not where it was."""
MANY_UNDONE: Final = 100
"""How many timers whose step was undone may stay among the others."""
TimerKey = tuple[int, str, Any]


def key_of(timer: Timer) -> TimerKey:
    """Return what identifies a timer: its moment, its rule and its record."""
    return timer[0], timer[4], timer[5]


def life_of(timer: Timer) -> int:
    """Return the whole duration of what a timer ends."""
    settings = timer[5].entity.settings
    thing = timer[5]
    match timer[4]:
        case "locks.end" | "sessions.end":
            return int(settings.lock_duration)
        case "duplicates.forget":
            return int(settings.duplicate_window)
        case "expiry.end":
            return int(thing.expires_at - thing.enqueued_at)
    return 0


def reading_of(profile: v.Profile, ambiguity: str) -> str:
    """Return how late a bus may do what this ambiguity is about."""
    return profile.readings.get(ambiguity, "bounded") if ambiguity else "unbounded"


def body_of(timer: Timer) -> str:
    """Return the body of the message that a timer is about; empty if it is about something else."""
    return getattr(getattr(timer[5], "message", None), "body", "")


def target_of(timer: Timer) -> str:
    """Return the path of the entity to which a timer brings a message; empty if there is none."""
    entity: Entity = timer[5].entity
    if timer[4] in (HOP, TOO, AGAIN):
        return entity.settings.forward_to or ""
    return entity.path + v.DEAD_LETTERS if timer[4] in TO_DEAD_LETTERS else entity.path


def way_from(path: str, namespace: Namespace) -> Iterator[str]:
    """Yield the path of an entity, and those of all to which it forwards or that it has."""
    waiting = [path]
    passed: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one in passed:
            continue
        passed.add(one)
        yield one
        entity = namespace.entities.get(one)
        if entity is not None:
            waiting += (subscription.path for subscription in entity.subscriptions or ())
            waiting += filter(None, (entity.settings.forward_to,))


def is_on_the_way_to(path: str, timer: Timer, namespace: Namespace) -> bool:
    """Return whether what a timer moves may arrive at an entity."""
    return path in way_from(target_of(timer), namespace)


class LooseTimers(Timers):
    """Timers that know how uncertain the moment was at which each was set.

    An undo lets records enter their indexes again, so a timer that is set already is not set twice;
    and it drops the timers of the steps that it undoes, or each step would leave some behind.
    """

    __slots__ = ("present", "since", "uncertain", "undone", "windows")

    def __init__(self) -> None:
        super().__init__()
        self.windows: dict[TimerKey, Window] = {}
        self.present: set[TimerKey] = set()
        self.undone: set[int] = set()
        self.uncertain = self.since = EXACT

    def set(self, moment: int, number: int, name: str, rule: str, thing: Any) -> None:
        """Set a timer, unless the same one is set already."""
        key = (moment, rule, thing)
        # The bound of FORWARD-DELAY is one for all hops.
        uncertain = self.since if rule == HOP else self.uncertain
        if uncertain != EXACT:
            early, late = self.windows.get(key, EXACT)
            self.windows[key] = (max(early, uncertain[0]), max(late, uncertain[1]))
        if key in self.present:
            return
        super().set(moment, number, name, rule, thing)
        self.present.add(key)
        thing.entity.namespace.journal.log.append((self.unset, None, (key, self.serial)))

    def unset(self, timer: tuple[TimerKey, int]) -> None:
        """Drop a timer whose step was undone, once it is met or there are many of them."""
        key, serial = timer
        self.present.discard(key)
        self.undone.add(serial)
        # A search that goes back and forth would leave thousands, which every look at all timers
        # passes. What could set one of them again was undone before.
        if len(self.undone) > MANY_UNDONE and 2 * len(self.undone) > len(self.heap):
            self.heap = [one for one in self.heap if one[3] not in self.undone]
            heapify(self.heap)
            self.undone.clear()

    def restore(self, timer: Timer) -> None:
        """Set a timer again after its effect was undone."""
        self.present.add(key_of(timer))
        super().restore(timer)

    def window(self, moment: int, rule: str, thing: Any) -> Window:
        """Return how uncertain the moment is at which a timer fires."""
        return self.windows.get((moment, rule, thing), EXACT)

    def pop(self) -> Timer:
        """Remove and return the first timer."""
        timer = heappop(self.heap)
        self.present.discard(key_of(timer))
        return timer

    def forget(self, floor: Floor) -> None:
        """Forget the timers of what is gone."""
        self.heap = [timer for timer in self.heap if not floor.is_gone(timer[5])]
        heapify(self.heap)
        self.windows = {
            key: window for key, window in self.windows.items() if not floor.is_gone(key[2])
        }
        self.present = set(map(key_of, self.heap))
        self.undone &= {timer[3] for timer in self.heap}

    def is_due(self, now: int) -> bool:  # noqa: ARG002 - as `Timers` has it
        """Return false: only the replay decides what fires."""
        return False


class Clock:
    """Clock of a replay.

    Args:
        namespace: the model's namespace, whose timers become loose.
        guide: the policy that chooses what fires.
        observability: the clock and its slack.
        evidence: facts about the whole history.
        patience: how long receivers waited.

    Attributes:
        fired: how many timers have fired since the current event began.
    """

    def __init__(
        self,
        namespace: Namespace,
        guide: Guide,
        observability: v.Observability,
        evidence: Evidence,
        patience: Patience,
    ) -> None:
        self._namespace = namespace
        self._guide = guide
        self._patience = patience
        self._evidence = evidence
        self._is_real = observability.clock is v.Clock.REAL
        self._slack = observability.slack
        readings = {rule: reading_of(namespace.profile, name) for rule, name in LATE.items()}
        self._late = frozenset(rule for rule, one in readings.items() if one != "at-once")
        self._bounded = frozenset(rule for rule, one in readings.items() if one == "bounded")
        self._earliest = observability.slack
        guide.slack = observability.slack
        guide.ways = self
        self._timers = LooseTimers()
        namespace.timers = self._timers
        self._until = 0
        self.fired = 0

    @property
    def tolerance(self) -> int:
        """How uncertain the present moment is, in microseconds."""
        return self._timers.uncertain[1]

    def enter(self, event: v.Event) -> None:
        """Set the clock to an event; on a real clock it happened between its call and return."""
        self.fired = 0
        namespace = self._namespace
        self._until = namespace.now
        if not self._is_real:
            self._guide.window = (namespace.now, namespace.now)
            return
        if event.called > namespace.now:
            namespace.journal.touch(namespace)
            namespace.now = event.called
        returned = event.called if event.returned is None else event.returned
        self._until = max(returned, namespace.now)
        self._timers.uncertain = self._timers.since = (0, self._until - namespace.now)
        self._guide.window = (namespace.now, self._until)

    def forget(self, floor: Floor) -> None:
        """Forget the timers of what is gone."""
        self._timers.forget(floor)

    def stretch(self, called: int, ahead: int = 0) -> Callable[[], None]:
        """Let what comes next have happened at any time since a request.

        Args:
            called: when the request was made, in microseconds.
            ahead: how much later than now it may happen, too.

        Returns:
            What ends this.
        """
        timers, before, serial = self._timers, self._timers.uncertain, self._timers.serial
        early = max(self._namespace.now - called, before[0])
        timers.uncertain = timers.since = (early, before[1] + ahead)

        def back() -> None:
            timers.uncertain = timers.since = before
            if timers.serial > serial:
                self._earliest = max(self._earliest, early + self._slack)

        return back

    def fire(self, event: v.Event, may_matter: Callable[[str], bool]) -> None:
        """Fire the timers that must have fired, and those that are chosen to have fired.

        Args:
            event: the event that comes next.
            may_matter: whether a change of this entity may matter to the event.

        Raises:
            NoWay: the script asks for a choice that there is not.
        """
        known = -1
        # What fires may set more timers, such as those of the next hop.
        while self._timers.serial > known:
            newer_than = known
            known = self._timers.serial
            self._fire_some(event, may_matter, newer_than)

    def _fire_some(
        self, event: v.Event, may_matter: Callable[[str], bool], newer_than: int
    ) -> None:
        """Fire timers that were set after this one."""
        heap = self._timers.heap
        now = self._namespace.now
        if not heap or heap[0][0] - self._earliest > self._until:
            return
        popped = self._pop()
        old = [timer for timer in popped if timer[3] <= newer_than]
        new = [timer for timer in popped if timer[3] > newer_than]
        due, optional, rest = self._divide(new, may_matter, event, is_new=newer_than >= 0)
        rest += old
        if optional:
            try:
                chosen = self._choose(event, optional)
            except BaseException:
                # An undo sets the others again.
                for timer in (*due, *optional, *rest):
                    self._timers.restore(timer)
                raise
            due += chosen
            rest += [timer for timer in optional if timer not in chosen]
        for timer in rest:
            self._timers.restore(timer)
        self._fire_all(sorted(due), now)

    def hurry(self) -> None:
        """Let everything that is under way arrive at once.

        Raises:
            NoWay: it cannot arrive.
        """
        timers = self._timers
        while under_way := [timer for timer in timers.heap if timer[4] in UNDER_WAY]:
            timers.heap = [timer for timer in timers.heap if timer[4] not in UNDER_WAY]
            heapify(timers.heap)
            due = [timer for timer in under_way if timer[3] not in timers.undone and is_live(timer)]
            timers.present.difference_update(map(key_of, under_way))
            self._fire_all(sorted(due), self._namespace.now)
        timers.heap = [timer for timer in timers.heap if timer[4] not in (TOO, AGAIN)]
        heapify(timers.heap)

    def _pop(self) -> list[Timer]:
        heap = self._timers.heap
        popped = []
        while heap and heap[0][0] - self._earliest <= self._until:
            popped.append(self._timers.pop())
        return popped

    def _divide(
        self,
        timers: Sequence[Timer],
        may_matter: Callable[[str], bool],
        event: v.Event,
        *,
        is_new: bool,
    ) -> tuple[list[Timer], list[Timer], list[Timer]]:
        """Return the timers that must have fired, those that may have, and the others.

        Args:
            timers: timers that are set.
            may_matter: whether a change of this entity may matter to the event.
            event: the event that comes next.
            is_new: whether what has fired for this event has set them.
        """
        due: list[Timer] = []
        optional: list[Timer] = []
        rest: list[Timer] = []
        journal = self._namespace.journal
        now = self._namespace.now
        for timer in timers:
            if timer[3] in self._timers.undone:
                self._timers.undone.discard(timer[3])
                continue
            if not is_live(timer):
                journal.log.append((self._timers.restore, None, timer))  # an undo may need it
                continue
            early, late = self._window(timer)
            if timer[0] - early > self._until:
                rest.append(timer)
            elif timer[0] + late < now or self._is_awaited(timer, event):
                due.append(timer)
            elif timer[4] in self._late and isinstance(event.command, v.AdvanceClock):
                rest.append(timer)  # what may be late is as well chosen before the next answer
            elif self._is_elsewhere(event.command, timer):
                rest.append(timer)  # nobody can see whether it has gone on
            elif not may_matter(base_path(timer[5].entity.path)):
                rest.append(timer)
            elif is_new and self._goes_on(event.command, timer):
                due.append(timer)
            else:
                optional.append(timer)
        return due, optional, rest

    def _is_awaited(self, timer: Timer, event: v.Event) -> bool:
        """Return whether a receiver has waited for what a timer moves as long as it may take."""
        waited = self._patience.received_until(self._guide.index)
        command = event.command
        if waited is None or timer[4] not in self._bounded or not isinstance(command, v.Receive):
            return False
        latest = timer[0] + self._uncertain(timer)[1]
        is_expected = is_on_the_way_to(command.queue, timer, self._namespace)
        is_expected = is_expected or command.queue in self._targets_of(timer)
        if latest > waited.since or not is_expected:
            return False
        return timer[4] != DEAD or self._is_dead_for_sure(timer)

    def _is_elsewhere(self, command: v.Command, timer: Timer) -> bool:
        """Return whether a command is about messages of an entity where a hop changes nothing.

        Nothing of what is forwarded can be seen at its source, except in the dead-letter queues.
        Where nobody has waited in vain, or a message is shown later, it is as well chosen at once.
        """
        path = v.concerned(command)
        is_about_messages = command.extent is v.Extent.MESSAGES
        if timer[4] != HOP or not is_about_messages or path is None:
            return False
        may_be_shown = self._evidence.may_be_shown_after(self._guide.index, body_of(timer))
        if may_be_shown or not self._patience.ended:
            return False
        source = timer[5].entity.path
        if base_path(path) == base_path(source):
            return isinstance(command, v.Send | v.SendBatch)
        way = way_from(target_of(timer), self._namespace)
        return base_path(path) not in map(base_path, way)

    def _goes_on(self, command: v.Command, timer: Timer) -> bool:
        """Return whether a message that just came to a source goes on to where a command looks.

        What stays on its way need not have begun it, unless it expires there.
        """
        if timer[4] != HOP or not isinstance(command, v.Receive):
            return False
        source: Entity = timer[5].entity
        lives = source.settings.time_to_live is None and timer[5].message.time_to_live is None
        is_seen_behind = command.queue != source.path and not source.base.down
        is_expected = is_on_the_way_to(command.queue, timer, self._namespace)
        return lives and is_seen_behind and is_expected

    def _is_dead_for_sure(self, timer: Timer) -> bool:
        """DEAD-LETTER-DELAY: return whether nothing may have let a message be or dropped it."""
        message: QueuedMessage = timer[5]
        # An update may have raised the limit in time. Whether a message whose last delivery has
        # failed becomes a dead letter although it has expired is not said.
        is_updated = self._patience.was_updated(message.entity.path, self._guide.index)
        is_spent = self._guide.bindings.transit_of(message).reason != EXPIRED
        has_expired = message.expires_at is not None and message.expires_at <= timer[0]
        return self._guide.has_dead_letters and not is_updated and not (is_spent and has_expired)

    def is_steady(self, since: int) -> bool:
        """Return whether no passing of time has changed what descriptions count."""
        return self._guide.bindings.last_passing < since and not any(
            timer[4] in MOVING
            and timer[0] - self._window(timer)[0] <= self._until
            and timer[3] not in self._timers.undone
            and is_live(timer)
            for timer in self._timers.heap
        )

    def _uncertain(self, timer: Timer) -> Window:
        """Return how much earlier and later a timer may fire if nothing delays it."""
        early, late = self._timers.windows.get(key_of(timer), EXACT)
        # However late it was set, after the outage its whole duration is all that is left.
        stopped = self._guide.clocks.lateness(timer[5].entity.path, timer[0], life_of(timer))
        late = max(late, stopped)
        return early + self._slack, late + self._slack

    def _window(self, timer: Timer) -> Window:
        early, late = self._uncertain(timer)
        return early, EVER if timer[4] in self._late else late

    def _fire_all(self, due: Sequence[Timer], now: int) -> None:
        namespace = self._namespace
        timers = self._timers
        if not due:
            return
        uncertain = timers.uncertain
        namespace.journal.log += [(timers.restore, None, timer) for timer in due]
        was_exact = self._guide.is_exact
        self._guide.is_exact = True
        ordered = self._with_copies_first(self._in_likely_order(due))
        try:
            for at, timer in enumerate(ordered):
                since = timers.serial
                self._fire_one(timer)
                if timer[4] in MOVING:
                    self._guide.bindings.note_passing(now)
                self.hop_ahead(since, [(target_of(one), body_of(one)) for one in ordered[at + 1 :]])
        finally:
            self._guide.is_exact = was_exact
            timers.uncertain = timers.since = uncertain
        namespace.journal.touch(namespace)
        namespace.now = now

    def hop_ahead(self, since: int, behind: Sequence[tuple[str, str]]) -> None:
        """Forward at once, or not, what later answers show in front of what is about to arrive.

        Args:
            since: the serial number of the last timer that is none of theirs.
            behind: the path and body of each message that is about to arrive.
        """
        timers = self._timers
        while behind and timers.serial > since:
            ahead = [
                timer
                for timer in timers.heap
                if timer[3] > since and timer[4] == HOP and self._is_ahead(timer, behind)
            ]
            since = timers.serial
            if not ahead or not self._guide.take(
                "SCHEDULE-DELAY", (tuple(ahead), ()), base_path(behind[0][0])
            ):
                return
            timers.heap = [timer for timer in timers.heap if timer not in ahead]
            heapify(timers.heap)
            timers.present.difference_update(map(key_of, ahead))
            self._fire_all(sorted(ahead), self._namespace.now)

    def _is_ahead(self, timer: Timer, behind: Sequence[tuple[str, str]]) -> bool:
        """Return whether a message may have come to a destination before one of the others."""
        arrived = self._evidence.numbers_on_arrival
        for path in way_from(target_of(timer), self._namespace):
            own = min(arrived(path, body_of(timer)), default=None)
            others = (number for at, body in behind if at == path for number in arrived(path, body))
            if own is not None and any(other > own for other in others):
                return True
        return False

    def _fire_one(self, timer: Timer) -> None:
        namespace, timers, moment = self._namespace, self._timers, timer[0]
        self.fired += 1
        early, late = self._window(timer)
        namespace.journal.touch(namespace)
        namespace.now = moment
        namespace.choices = self._guide
        timers.uncertain = timers.since = (early, min(late, max(self._until - moment, 0)))
        if timer[4] == HOP:
            timers.since = timers.windows.get(key_of(timer), EXACT)
        self._earliest = max(self._earliest, early)
        entity = timer[5].entity
        self._guide.firing = timer[5]
        if namespace.entities.get(entity.path) is entity:  # it may be deleted by now
            attrgetter(timer[4])(namespace.rules)(timer[5])

    def _in_likely_order(self, due: Sequence[Timer]) -> Sequence[Timer]:
        """Return timers by their moments, but what arrives somewhere in the order of its numbers.

        What may be late is enqueued in any order (SCHEDULE-DELAY, DEAD-LETTER-DELAY), which later
        answers show.
        """
        places = [at for at, timer in enumerate(due) if timer[4] in ARRIVING]
        if len(places) < 2:
            return due
        numbers = [self._number_on_arrival(due[at]) for at in places]

        def likelihood(at: int) -> tuple[bool, int]:
            number = numbers[at]
            return number is None, number or 0

        ranked = sorted(range(len(places)), key=likelihood)
        ordered, earliest = list(due), 0
        for at, chosen in zip(places, ranked, strict=True):
            timer = due[places[chosen]]
            early, late = self._window(timer)
            earliest = max(earliest, timer[0] - early)
            if timer[0] + late < earliest:
                return due
            ordered[at] = timer
        return ordered

    def _with_copies_first(self, due: Sequence[Timer]) -> Sequence[Timer]:
        """SCHEDULED-COPIES: choose which of several scheduled copies comes first, and is kept."""
        if ACTIVATION not in self._late:
            return due
        copies = defaultdict[tuple[str, str], list[Timer]](list)
        for timer in due:
            thing = timer[5]
            message_id = thing.message.message_id if timer[4] == ACTIVATION else None
            if message_id is not None and thing.entity.settings.duplicate_detection:
                copies[thing.entity.path, message_id].append(timer)
        ordered = list(due)
        for (path, _), alike in copies.items():
            if len(alike) > 1:
                first = self._guide.take("SCHEDULE-DELAY", alike, base_path(path))
                ordered.remove(first)
                ordered.insert(ordered.index(next(one for one in alike if one != first)), first)
        return ordered

    def _number_on_arrival(self, timer: Timer) -> int | None:
        """Return the first number that a message is shown with on the way that its timer opens."""
        place = self._place_on_arrival(timer)
        return None if place is None else place[1]

    def _place_on_arrival(self, timer: Timer) -> tuple[str, int] | None:
        """Return where a message is shown first on the way that its timer opens, if it is."""
        if timer[4] not in ARRIVING:
            return None
        message = getattr(timer[5], "message", None)
        if message is None:
            return None
        for place in way_from(target_of(timer), self._namespace):
            number = self._evidence.number_on_arrival(place, message)
            if number is not None:
                return place, number
        return None

    def _is_called_for(self, timer: Timer, event: v.Event) -> bool:
        """Return whether a timer most likely has fired before an event.

        What no answer can tell from what was before fires as late as possible, when an answer calls
        for it. When a scheduled message came, its number tells, and whether a MessageId was
        forgotten, what became of its next message.
        """
        rule, thing = timer[4], timer[5]
        path, now = thing.entity.path, self._namespace.now
        body = getattr(getattr(thing, "message", None), "body", None)
        is_shown = any(
            view.body == body and view.state is not v.MessageState.SCHEDULED
            for view in views_of(event.outcome)
        )
        if rule in PATIENT:
            is_elsewhere = path != getattr(event.command, "queue", "")
            is_given = is_shown and not isinstance(event.outcome, v.Peeked)
            if isinstance(event.command, v.DeleteBatch) and body is not None:
                # What is never shown again has most likely been deleted.
                index = self._guide.index
                is_given = not self._evidence.is_shown_after(index, path, body)
            return timer[0] <= now and is_given and (rule == "locks.end" or is_elsewhere)
        evidence, index = self._evidence, self._guide.index
        if rule == ACTIVATION and body is not None:
            number = self._guide.bindings.number_of(thing)
            if evidence.waits_after(index - 1, path, body) or evidence.is_cancelled_after(
                index - 1, path, number
            ):
                return False
            is_seen = evidence.first_active(path, body) is not None
            if not is_seen and (
                evidence.is_hidden_after(index - 1, path, body)
                or evidence.is_passed_over(path, thing.message, timer[0])
            ):
                return False
            if is_seen:
                # What the update changes, it most likely changes for later messages alone.
                is_updated = isinstance(event.command, v.UpdateQueue) and timer[0] <= now
                is_before = is_updated or evidence.came_before(path, body, event)
                return is_shown or is_before
        if rule == "duplicates.forget":
            fate = evidence.fate_of_copy(index, path, thing.name[1], event)
            return timer[0] <= now if fate is None else fate
        is_late = body is not None and (
            evidence.is_late(index, path, body)
            or (rule in LEAVING and evidence.is_shown_after(index - 1, path, body))
            or (self._guide.expects_delays and self._is_missing(timer, body))
        )
        is_late = is_late or (rule == ACTIVATION and self._is_behind_others(thing))
        return timer[0] <= now and not is_late

    def _targets_of(self, timer: Timer) -> tuple[str, ...]:
        """Return where a timer brings a message: to dead letters if its destination takes none."""
        path = target_of(timer)
        target = self._namespace.entities.get(path)
        if timer[4] != HOP or (target is not None and target.status.takes):
            return (path,)
        return v.dead_letter_queues_of(timer[5].entity.path)

    def _is_missing(self, timer: Timer, body: str) -> bool:
        """Return whether nothing is found later where a timer brings a message."""
        index = self._guide.index
        return timer[4] in LEAVING and any(
            self._evidence.is_late(index, target, body)
            or self._evidence.is_hidden_after(index - 1, target, body)
            for target in self._targets_of(timer)
        )

    def _is_behind_others(self, thing: Any) -> bool:
        """Return whether a scheduled message most likely comes after others of its key.

        Those that a receiver is given first came before it, whenever they were due.
        """
        entity = thing.entity
        key = key_that_orders(thing.message)
        return key is not None and any(
            key_that_orders(other.message) == key
            and self._evidence.first_active(entity.path, other.message.body) is not None
            for other in islice(entity.scheduled.values(), CONSIDERED)
            if other is not thing
        )

    def _earlier(self, ordered: Sequence[Timer], chosen: int, nominal: int) -> int:
        """Return which timers move messages that later answers show in front of those chosen."""
        if chosen.bit_count() == nominal.bit_count() or not chosen:
            return 0
        arrivals = [self._place_on_arrival(timer) for timer in Subsets(ordered, [chosen])[0]]

        def is_earlier(timer: Timer) -> bool:
            own = self._place_on_arrival(timer)
            return own is not None and any(
                other is not None
                and own[0] == other[0]
                and self._evidence.is_before(own[1], other[1])
                for other in arrivals
            )

        others = nominal & ~chosen
        return sum(
            1 << at for at, timer in enumerate(ordered) if others >> at & 1 and is_earlier(timer)
        )

    def _choose(self, event: v.Event, optional: Sequence[Timer]) -> tuple[Timer, ...]:
        """Return the optional timers that have fired."""
        now = self._namespace.now
        ordered = tuple(sorted(optional, key=lambda timer: (timer[0], timer[3])))
        shown = {view.body for view in views_of(event.outcome)}

        def is_shown(timer: Timer) -> bool:
            return getattr(getattr(timer[5], "message", None), "body", None) in shown

        def is_late(timer: Timer) -> bool:
            body = getattr(getattr(timer[5], "message", None), "body", None)
            path = timer[5].entity.path
            return body is not None and self._evidence.is_late(self._guide.index, path, body)

        def those(fire: Callable[[Timer], bool]) -> int:
            return sum(1 << at for at, timer in enumerate(ordered) if fire(timer))

        def is_missing(timer: Timer) -> bool:
            queue = getattr(event.command, "queue", "")
            is_late = timer[4] in self._late
            return is_late and is_on_the_way_to(queue, timer, self._namespace)

        def is_called_for(timer: Timer) -> bool:
            return self._is_called_for(timer, event)

        queue = getattr(event.command, "queue", "")
        nominal = those(lambda timer: timer[0] <= now)
        called_for = those(is_called_for)
        sets = [
            called_for | self._earlier(ordered, called_for, nominal),
            called_for,
            those(lambda timer: timer[0] <= now and not is_late(timer)),
            *((nominal & ~those(is_missing),) if self._guide.finds_nothing else ()),
            nominal,
            those(lambda timer: (timer[0] <= now) is not is_shown(timer)),
            those(lambda timer: timer[0] <= now or is_shown(timer)),
            (1 << len(ordered)) - 1,
            0,
        ]
        sets += [(1 << count) - 1 for count in range(1, len(ordered))]
        if len(ordered) <= MOST_SUBSETS:
            sets += range(1 << len(ordered))
        else:
            for other in range(len(ordered)):
                sets.append(nominal & ~(1 << other))
                sets.append(nominal | 1 << other)
        distinct = list(dict.fromkeys(sets))
        bodies = {
            timer[3]: getattr(getattr(timer[5], "message", None), "body", None) for timer in ordered
        }
        serials = Subsets([timer[3] for timer in ordered], distinct)
        tag = Moves(base_path(queue) if queue else None, serials, bodies)
        is_partial = len(ordered) > MOST_SUBSETS
        options = Subsets(ordered, distinct)
        return self._guide.take("SCHEDULE-DELAY", options, tag, is_partial=is_partial)
