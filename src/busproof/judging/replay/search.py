"""Search for an execution of the reference model that gives the recorded answers.

Depth first, in place: each event is executed with the guide's choices, and if the answer agrees
with the record, the next one follows. At a dead end the journal undoes everything back to the last
choice that may matter to it, and its next candidate is tried. If overlapping requests leave their
order open, the order is one more choice.

Of a long history, only the last steps can be undone; the others are kept as what they show (see
`floor`). A dead end then proves nothing, because other choices before might have avoided it.

The search ends with an execution, with the proof that there is none, or without a result after a
number of steps, which is the same on every machine.
"""

import weakref
from collections.abc import Hashable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage
from busproof.judging.coverage.shown import shown_by
from busproof.judging.floor import Floor
from busproof.judging.liveness import Patience
from busproof.judging.replay.agreement import Agreement
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.caches import Caches
from busproof.judging.replay.causes import Causes
from busproof.judging.replay.choices_made import (
    Choice,
    Moves,
    Script,
    choices_that_matter,
    next_script,
    other_scripts,
    script_of,
)
from busproof.judging.replay.conflicts import concerned_records, is_changed
from busproof.judging.replay.evidence import Evidence
from busproof.judging.replay.guide import Guide, NoWay
from busproof.judging.replay.lost_answers import LostAnswers
from busproof.judging.replay.obstacles import Obstacles
from busproof.judging.replay.open_duplicates import OpenDuplicates
from busproof.judging.replay.open_transactions import OpenTransactions
from busproof.judging.replay.orders import Order
from busproof.judging.replay.outlook import Outlook
from busproof.judging.replay.partly_done import PartlyDone
from busproof.judging.replay.placements import Placements
from busproof.judging.replay.recollection import Before, Recollection
from busproof.judging.replay.relevance import NOTHING, Relevance
from busproof.judging.replay.state_keys import state_key
from busproof.judging.replay.timers import Clock
from busproof.judging.replay.trail import Trail
from busproof.judging.replay.unseen import Unseen
from busproof.judging.replay.watching import watched
from busproof.judging.replay.window import Window
from busproof.model.answers import Answer
from busproof.model.journal import Record
from busproof.model.rules import NO_FAULT, Families, Namespace
from busproof.model.step import dissolve, new_namespace, step

__all__ = ["Ended", "Executed", "Search"]

STEPS_AT_LEAST: Final = 5_000
STEPS_AN_EVENT: Final = 100
DETOURS: Final = 50
"""Number of steps beyond one an event after which dead ends are remembered."""
LARGE: Final = 250
"""Number of messages from which on a state is too large to be remembered at each step."""
MANY: Final = 300
"""Number of entities, dead-letter queues among them, from which on it is, too."""
USUAL: Final = 4
"""Number of messages that are forwarded or become due in an attempt that costs one step."""

GUESSES: Final = 8
"""Number of ways to answer that are tried to learn which readings an event asks for."""
PERSISTENT: Final = 2
"""How many times so many steps a search takes before another reading is tried."""

PARTLY_REFUSED: Final = (v.SettleBatch, v.RenewLocks, v.ReceiveDeferred)
"""Requests that may have an effect though they are refused."""

NO_RECORDS: Final[frozenset[Record]] = frozenset()
HASTY: Final = 2
"""The part of the budget that the search which proves nothing may spend is one of so many."""


class Ended(Enum):
    """End of a search."""

    EXPLAINED = "explained"
    IMPOSSIBLE = "impossible"
    GAVE_UP = "gave up"


@attrs.define
class Executed:
    """An event of an execution.

    Attributes:
        index: the event's index in the history.
        choices: what the bus chose at this event.
        rules: the rules that the event shows, the one that decided it first.
    """

    index: int
    choices: tuple[Choice, ...]
    rules: tuple[v.RuleId, ...] = ()


@attrs.define
class Frame:
    """A step of the path that the search is on.

    Attributes:
        mark: the journal's mark before it.
        index: the event that it executed.
        made: its choices; empty if neither they nor others would change anything.
        chosen: its choices, for the explanation.
        rules: the rules that it shows.
        others: events that may come here instead, best first.
        blame: what the dead ends after this step depended on.
        key: the state after it and what is done, if dead ends are remembered.
        failed: the events that did not fit before it, with the records that were the reason.
    """

    mark: int
    index: int
    made: tuple[Choice, ...]
    chosen: tuple[Choice, ...]
    rules: tuple[v.RuleId, ...]
    others: Sequence[int]
    blame: Relevance
    key: Hashable = None
    failed: dict[int, set[Record]] = attrs.field(factory=dict)


@attrs.define
class Node:
    """A point of the path, and what is left to try there.

    Attributes:
        queue: events that may come next, best first.
        script: choices to take again for the first of them.
        blame: what the dead ends after this point depended on.
        failed: the events that did not fit, with the records that were the reason.
    """

    queue: Sequence[int]
    script: Script = ()
    blame: Relevance = NOTHING
    failed: dict[int, set[Record]] = attrs.field(factory=dict)


class Search:
    """Search for one history, or one independent part of it.

    Args:
        events: the events.
        profile: the profile of the namespace.
        observability: what the observer sees.
        replaced: families of a mutant; none for the model.
        patience: how long somebody waited; by default as these events have it.
        before: what may have been there before, if the history begins in the middle.
        keeps: how many steps at least can be undone; by default all.

    Attributes:
        steps: how many events were executed so far.
        furthest: the most events that any path explained.
        stuck_at: the index of the event that fitted nowhere after the longest path.
        waiting: the events that could have come next there.
        expects_delays: whether what is missing is most likely still under way, as somebody has
            told it or as it has found.
    """

    def __init__(
        self,
        events: Sequence[v.Event],
        profile: v.Profile,
        observability: v.Observability,
        replaced: Families = NO_FAULT,
        patience: Patience | None = None,
        before: Before | None = None,
        *,
        keeps: int | None = None,
    ) -> None:
        strict = observability.partitions
        numbered = strict and observability.witness and profile.numbers_name_partitions
        self._events = Window(events)
        self.namespace = namespace = new_namespace(profile, **watched(replaced))
        self._evidence = Evidence(events, strict=strict, numbers_show_partitions=numbered)
        self._bindings = Bindings(
            namespace,
            strict=strict,
            numbers_show_partitions=numbered,
            hidden_numbers=self._evidence.has_hidden_numbers
            or observability.partial
            or before is not None,
            only_number=self._evidence.only_number,
        )
        self._patience = Patience(events) if patience is None else patience
        self._guide = guide = Guide(namespace, self._bindings, self._evidence, self._patience)
        self._coverage = self._guide.coverage = Coverage(
            namespace, self._bindings.shown, strict=strict, slack=observability.slack
        )
        guide.observe(observability)
        self._clock = Clock(namespace, self._guide, observability, self._evidence, self._patience)
        self._agreement = Agreement(
            namespace, self._bindings, self._evidence, self._guide, observability
        )
        self._open = self._agreement.open
        self._partly = PartlyDone(namespace, guide, self._evidence, self._open)
        self._unseen = Unseen(namespace, self._guide, self._bindings)
        self._order = Order(
            self._events,
            is_recorded=observability.clock is v.Clock.VIRTUAL,
            numbers_show_partitions=numbered,
        )
        outlook = Outlook(self._evidence, self._order, observability.slack)
        self._caches = guide.caches = Caches(
            namespace, guide, self._bindings, outlook, observability.left_out
        )
        self._places = guide.places = Placements(namespace, guide, self._bindings, self._evidence)
        self._obstacles = Obstacles(namespace, self._bindings, self._caches, outlook)
        self._causes = Causes(
            namespace,
            guide,
            self._evidence,
            self._agreement,
            self._caches,
            self._order,
            self._places,
        )
        self._lost = LostAnswers(
            namespace,
            self._guide,
            self._evidence,
            self._unseen,
            self._clock,
            self._open,
            self._obstacles,
        )
        self._recollection: Recollection | None = None
        if before is not None:
            self._recollection = guide.memory = Recollection(
                before,
                namespace,
                guide,
                self._bindings,
                self._evidence,
                self._order,
                self._events.kept,
            )
            guide.is_part = not before.is_whole
            guide.caches_late = before.caches_late
        parts = (
            self._evidence,
            self._bindings,
            guide,
            self._coverage,
            self._clock,
            self._agreement,
            self._open,
            self._partly,
            self._unseen,
            outlook,
            self._caches,
            self._places,
        )
        # They refer to each other in circles, and a judge makes a search for each scenario.
        last = (self._obstacles, self._causes, self._lost, *filter(None, (self._recollection,)))
        weakref.finalize(self, take_apart, namespace, (*parts, *last)).atexit = False
        self._keeps = keeps
        self.expects_delays = False
        self._most = 2 * (keeps or 0)
        self._in_pieces = False
        self._trail = Trail()
        self._frames: list[Frame] = []
        self._dead: dict[Hashable, Relevance] = {}
        # Whether a choice that may have mattered had more candidates than were tried.
        self._left_out = False
        self._shared: dict[Hashable, Hashable] = {}
        self._answer: Answer | None = None
        # Whether all that moves before the answer of the event has moved.
        self._has_fired = False
        # For events that fitted nowhere: how far the search has gone back, and what came sooner.
        self._climbed: dict[int, int] = {}
        self._lessons: dict[int, tuple[int, int]] = {}
        # The readings before the event that fitted nowhere after the longest path, best first.
        self._doubted: dict[str, str] = {}
        self._last = -1
        # The steps of the longest path, and how many steps of the path are not to be undone.
        self._longest: list[tuple[int, Script]] = []
        self._bottom = 0
        self.steps = self.furthest = self.stuck_at = 0
        self.waiting: tuple[int, ...] = ()

    @property
    def trail(self) -> Trail:
        """The order of the events of the path that the search is on, and what they show."""
        trail = self._trail.copy()
        for frame in self._frames:
            trail.add(frame.index, frame.rules, self._events[frame.index])
        return trail

    @property
    def longest_path(self) -> tuple[int, ...]:
        """The indices of the events of the longest path, which ended at `stuck_at`."""
        return tuple(index for index, _ in self._longest)

    @property
    def has_forgotten(self) -> bool:
        """Whether some of the steps cannot be undone any more."""
        return self._trail.length > 0

    @property
    def kept(self) -> Sequence[v.Event]:
        """The events that are not forgotten."""
        return self._events.kept

    @property
    def first_kept(self) -> int:
        """The index of the first event that is not forgotten."""
        return self._events.first

    @property
    def execution(self) -> tuple[Executed, ...]:
        """The steps of the path that the search is on, as far as they can be undone."""
        return tuple(Executed(frame.index, frame.chosen, frame.rules) for frame in self._frames)

    @property
    def shown(self) -> tuple[v.RuleId, ...]:
        """The rules that the last event of the path shows."""
        return self._frames[-1].rules if self._frames else ()

    @property
    def bindings(self) -> Bindings:
        """The bus's numbers and tokens, as the path that the search is on has bound them."""
        return self._bindings

    def settle(self, event: v.Event) -> bool:
        """Let everything that is under way arrive before an event; return whether it can."""
        self._guide.begin(len(self._events), event, ())
        self._clock.enter(event)
        try:
            self._clock.hurry()
        except NoWay:
            return False
        return True

    def changes(self) -> Iterator[tuple[int, Any, Any, Any]]:
        """Yield each change of the state on the path that the search is on, with its event."""
        log = self.namespace.journal.log
        marks = [frame.mark for frame in self._frames]
        for frame, until in zip(self._frames, [*marks, len(log)][1:], strict=True):
            for thing, key, before in log[frame.mark : until]:
                yield frame.index, thing, key, before

    def foresee(self, event: v.Event) -> None:
        """Tell the guide an event that comes after all others and that need not be explained."""
        self._evidence.add(event)
        self._order.foresee(event)

    def add(self, event: v.Event) -> None:
        """Add an event that came after all others, once these are explained."""
        self._events.append(event)
        self._evidence.add(event)
        if self._evidence.has_hidden_numbers:
            self._bindings.expect_gaps()
        self._patience.add(event)
        self._order.add(event)

    def extend(self, events: Iterable[v.Event], ahead: int) -> None:
        """Add events that came after all others; the last of them need not be explained yet.

        Args:
            events: the events.
            ahead: how many of the last ones only show what is to come.
        """
        for event in events:
            self.add(event)
        self._in_pieces = True
        self._order.expect()
        self._order.until = len(self._events) - ahead if ahead else None

    def run(self, steps: int | None = None) -> Ended:
        """Search until there is a result, for at most this many steps more.

        At last another straight way is tried, which takes a step for each event.
        A hasty search goes back to the likely cause of each dead end. It leaves ways out, so only
        the other one proves anything. Where the order of requests is open it comes first, elsewhere
        if the other one has spent its part of the budget.
        """
        ended = self._run(steps)
        if self._keeps is not None and ended is Ended.EXPLAINED:
            self._forget(self._keeps)
        return ended

    def run_again(self, steps: int | None = None) -> Ended:
        """Search anew, from the first step on that can be undone."""
        self._begin_again()
        return self.run(steps)

    def _run(self, steps: int | None) -> Ended:
        count = len(self._events.kept)
        budget = self.steps + (steps or STEPS_AT_LEAST + STEPS_AN_EVENT * count)
        half = (budget - self.steps) // HASTY
        is_new = not self._frames
        # Who goes on may have to take back what the event before has left out.
        self._last = len(self._events) - 1 if is_new and self._order.is_recorded else -1
        if not self._order.is_recorded and (is_new or self._in_pieces):
            if self._search(self.steps + half, is_hasty=True) is Ended.EXPLAINED:
                return Ended.EXPLAINED
            self._begin_again()
            return self._search(budget, is_hasty=False)
        if not is_new or half < count:
            return self._search(budget, is_hasty=False)
        if self.expects_delays and self._is_found_with_delays():
            return Ended.EXPLAINED
        until = self.steps + half
        ended = self._read_in_turn(until)
        if ended is Ended.GAVE_UP:
            self._begin_again()
            ended = self._search(until, is_hasty=False)
        if ended is Ended.GAVE_UP and (
            self._is_found_hastily(budget) or self._is_found_otherwise(budget + half)
        ):
            return Ended.EXPLAINED
        return ended

    def _read_in_turn(self, until: int) -> Ended:
        """Search for a while, and again with another reading as long as that leads further.

        A bus reads an ambiguity at the first answer that depends on it, often long before another
        one shows the reading.
        """
        steps = PERSISTENT * (len(self._events.kept) + DETOURS)
        ended = self._search(min(until, self.steps + steps), is_hasty=False)
        unlikely: dict[str, str] = {}
        tried: set[tuple[str, str]] = set()
        while ended is Ended.GAVE_UP and self.steps < until:
            doubted = [one for one in self._doubted.items() if one not in tried]
            if not doubted:
                break
            name, reading = min(doubted, key=lambda one: one[0] in unlikely)
            tried.add((name, reading))
            furthest = self.furthest
            self._begin_again()
            self._guide.unlikely = {**unlikely, name: reading}
            ended = self._search(min(until, self.steps + steps), is_hasty=False)
            if self.furthest > furthest:
                unlikely = {**unlikely, name: reading}
        self._guide.unlikely = {}
        return ended

    def _is_found_hastily(self, budget: int) -> bool:
        """Search hastily, at last with delays unless they were expected at first."""
        self._begin_again()
        if self._search(budget, is_hasty=True) is Ended.EXPLAINED:
            return True
        self._begin_again()
        if self.expects_delays:
            return False
        self.expects_delays = self._is_found_with_delays()
        return self.expects_delays

    def _is_found_with_delays(self) -> bool:
        """Search hastily, as if what is missing somewhere were still on its way there."""
        self._guide.expects_delays = True
        # The choices that have led furthest before are those of a bus that delays nothing.
        self._guide.forget(len(self._events))
        # It leads on at once or never, so it needs little beside the budget.
        more = len(self._events.kept) + DETOURS
        ended = self._search(self.steps + more, is_hasty=True)
        self._guide.expects_delays = False
        if ended is Ended.EXPLAINED:
            return True
        self._begin_again()
        return False

    def _is_found_otherwise(self, budget: int) -> bool:
        """Search along the longest path with one choice made otherwise, the latest ones first.

        Going back step by step tries all that may follow a wrong guess before it comes to the
        guess. Here each choice has only so many steps to show that it leads further; what does is
        the longest path from then on.
        """
        while self.steps < budget:
            path = self._longest
            self._begin_again()
            for index, script in path:
                self.steps += 1
                if not self._is_taken(index, script):
                    return False
            while self._frames:
                frame = self._frames.pop()
                self.namespace.journal.undo(frame.mark)
                self._order.give_back(frame.index)
                if self._leads_further(frame, budget):
                    if self._order.is_complete:
                        return True
                    break
                if self.steps >= budget:
                    return False
            else:
                return False
        return False

    def _leads_further(self, before: Frame, budget: int) -> bool:
        """Make each choice of a step otherwise; return whether the search then leads further."""
        mark = self.namespace.journal.mark()
        bottom = self._bottom = len(self._frames)
        length = len(self._longest)
        try:
            for script in other_scripts(before.chosen):
                if self.steps >= budget:
                    return False
                self.steps += 1
                if self._is_taken(before.index, script):
                    left = len(self._events.kept) - len(self._frames)
                    until = min(budget, self.steps + left + DETOURS)
                    ended = self._search(until, is_hasty=True)
                    if ended is Ended.EXPLAINED or len(self._longest) > length:
                        return True
                    while len(self._frames) > bottom:
                        self._order.give_back(self._frames.pop().index)
                self.namespace.journal.undo(mark)
        finally:
            self._bottom = 0
        return False

    def _is_taken(self, index: int, script: Script) -> bool:
        """Take a step with these choices; return whether its answer agrees."""
        mark = self.namespace.journal.mark()
        if not self._attempt(index, script):
            self._count_work()
            self.namespace.journal.undo(mark)
            return False
        self._add_frame(mark, Node((index,)))
        return True

    def _begin_again(self) -> None:
        self.namespace.journal.undo(0)
        for frame in reversed(self._frames):
            self._order.give_back(frame.index)
        self._frames.clear()
        self._climbed.clear()
        self._lessons.clear()

    def leave_out_last(self) -> None:
        """Explain all events but the last one, which fits nowhere."""
        self._order.until = len(self._events) - 1
        self.run_again()

    # Long histories ---------------------------------------------------------------------------

    def _forget(self, keeps: int) -> None:
        """Forget the first steps, and all that no step after them needs, once there are enough."""
        if len(self._frames) <= self._most:
            return
        frames = self._frames
        cut = len(frames) - keeps
        for frame in frames[:cut]:
            self._trail.commit(frame.index, frame.rules, self._events[frame.index])
        del frames[:cut]
        mark = frames[0].mark
        self.namespace.journal.forget_before(mark)
        for frame in frames:
            frame.mark -= mark
        self.furthest = 0
        self._longest = []
        self.waiting = ()
        self._dead.clear()
        self._shared.clear()
        self._climbed.clear()
        self._lessons.clear()
        index = min(self._order.first, *(frame.index for frame in frames))
        self._forget_behind(Floor.of(self.namespace, index, self._lost.waiting))
        held = sum(len(entity.messages) for entity in self.namespace.entities.values())
        # A look at all that is there must not come too often.
        self._most = keeps + max(keeps, held)

    def _forget_behind(self, floor: Floor) -> None:
        entities = self.namespace.entities

        def is_spent(path: str, number: int) -> bool:
            entity = entities.get(path)
            return entity is None or self._bindings.is_spent(entity, number)

        def is_settled(path: str, key: str) -> bool:
            base = entities.get(path)
            return base is None or (
                floor.is_final(base.homes, key) and not self._places.is_guessed(base, key)
            )

        self._events.forget(floor.index)
        self._order.forget(floor.index)
        self._guide.forget(floor.index)
        self._bindings.forget(floor)
        self._places.forget(floor)
        self._caches.forget(floor)
        self._clock.forget(floor)
        self._coverage.forget(floor)
        rules = self.namespace.rules
        for family in (rules.duplicates, rules.transactions):
            if isinstance(family, OpenDuplicates | OpenTransactions):
                family.forget_behind(floor)
        self._evidence.forget(floor, self._events.numbered(), is_spent, is_settled)

    # The search -------------------------------------------------------------------------------

    def _search(self, budget: int, *, is_hasty: bool) -> Ended:
        self._guide.is_hasty = is_hasty
        journal, order, guide = self.namespace.journal, self._order, self._guide
        node: Node | None = Node(order.candidates())
        while node is not None and not order.is_complete:
            mark = journal.mark()
            if self._descend(node, budget, is_hasty=is_hasty):
                if len(journal.log) > mark and node.script:
                    guide.remember()
                self._add_frame(mark, node)
                if is_hasty:
                    self._learn(node.queue[0])
                self.furthest = max(self.furthest, len(self._frames))
                node = Node(order.candidates())
                known = None if is_hasty else self._find_dead_end()
                if known is None:
                    continue
                node.blame = known
            elif node.queue:
                return Ended.GAVE_UP
            if len(self._frames) >= self.furthest:
                # If no event may come next, the numbers contradict the order of the sends.
                self.stuck_at = next(iter(node.failed), order.first)
                self._note_dead_end(node)
            node = self._repair(node.failed) if is_hasty else self._resume(node.blame)
        if node is not None:
            return Ended.EXPLAINED
        # What was guessed before, when less was shown, might have been otherwise.
        is_proof = not self.has_forgotten and not self._left_out
        return Ended.IMPOSSIBLE if is_proof else Ended.GAVE_UP

    def _add_frame(self, mark: int, node: Node) -> None:
        """Add the step that has just been taken from a node to the path."""
        made = chosen = tuple(self._guide.made)
        index, *others = node.queue
        if len(self.namespace.journal.log) == mark:
            is_idle = has_no_effect(self._events[index])
            made = () if is_idle else choices_that_matter(chosen)
        # What is noted for coverage is no change that another choice might have avoided.
        rules = () if self._answer is None else shown_by(self._coverage, self._answer)
        frame = Frame(mark, index, made, chosen, rules, others, node.blame, failed=node.failed)
        self._frames.append(frame)
        self._order.take(index)

    def _note_dead_end(self, node: Node) -> None:
        """Note the path to a dead end after which no path has gone further yet."""
        if not self.waiting or len(self._frames) > len(self._longest):
            self._doubt(self.stuck_at)
            self._longest = [(frame.index, script_of(frame.chosen)) for frame in self._frames]
            self.waiting = tuple(node.failed) or (self.stuck_at,)

    def _descend(self, node: Node, budget: int, *, is_hasty: bool) -> bool:
        """Execute the first event of a node that fits; return whether there is one.

        If the budget is spent before, some events of the node are left.
        """
        journal = self.namespace.journal
        mark = journal.mark()
        postponed: set[int] = set()
        while node.queue and self.steps < budget:
            first = node.queue[0]
            if is_hasty and not node.script and first not in postponed and self._is_blocked(first):
                postponed.add(first)
                node.queue = (*node.queue[1:], first)
                continue
            self.steps += 1
            if self._attempt(node.queue[0], node.script):
                return True
            self._count_work()
            index = node.queue[0]
            bodies = None
            if not is_hasty:
                # What a failure depends on is asked while the state is still its own.
                event = self._events[index]
                node.blame |= self._causes.find(index, event, has_fired=self._has_fired)
                bodies = node.blame.bodies
            following = next_script(self._guide.made, bodies=bodies)
            journal.undo(mark)
            if following is None:
                made = () if is_hasty else self._guide.made
                self._left_out |= any(choice.leaves_out(bodies) for choice in made)
                node.failed[index] = self._find_concerned(index) if is_hasty else set()
                node.queue = node.queue[1:]
            node.script = following or ()
        return False

    def _count_work(self) -> None:
        """Count a failed attempt as more steps if many messages were forwarded or became due."""
        self.steps += max(0, self._clock.fired - USUAL)

    def _is_blocked(self, index: int) -> bool:
        return self._obstacles.block(self._events[index])

    def _find_concerned(self, index: int) -> set[Record]:
        return set(concerned_records(self._events[index], self.namespace, self._bindings))

    def _repair(self, failed: dict[int, set[Record]]) -> Node | None:
        """Undo back to the likely cause of a dead end: see `conflicts`."""
        frames, journal, events = self._frames, self.namespace.journal, self._events
        concerned = set[Record]().union(*failed.values())
        due = min(failed, key=self._order.end, default=-1)
        top = self._climbed.get(due, len(frames))
        latest = {events[index].client: index for index in failed}
        until = len(journal.log)
        while len(frames) > self._bottom:
            frame = frames.pop()
            self._order.give_back(frame.index)
            for index in failed:
                concerned |= frame.failed.get(index, NO_RECORDS)
            matters = is_changed(concerned, journal.log[frame.mark : until])
            until = frame.mark
            if matters:
                client = events[frame.index].client
                latest[client] = max(latest.get(client, -1), frame.index)
            if len(frames) > top:
                continue
            script = next_script(frame.made, _is_anything if matters else _is_global)
            sooner = [one for one in frame.others if latest.get(events[one].client, -1) >= one]
            if script is not None or sooner:
                self._climbed[due] = len(frames)
                journal.undo(frame.mark)
                if script is not None:
                    self._lessons.pop(due, None)
                    return Node((frame.index, *frame.others), script)
                self._lessons[due] = (frame.index, sooner[0])
                others = (one for one in frame.others if one not in sooner)
                return Node((*sooner, *others))
        return None

    def _doubt(self, index: int) -> None:
        """Note the readings that were chosen before an event, first those that it asks for."""
        chosen = dict(self.namespace.readings)
        journal = self.namespace.journal
        mark = journal.mark()
        asked: set[str] = set()
        script: Script | None = () if chosen else None
        tries = 0
        while script is not None and tries < GUESSES:
            for name in chosen:
                journal.drop(self.namespace.readings, name)
            tries += 1
            self._attempt(index, script)
            asked.update(choice.name for choice in self._guide.made)
            script = next_script(self._guide.made)
            journal.undo(mark)
        self.steps += tries
        self._doubted = dict(sorted(chosen.items(), key=lambda one: one[0] not in asked))

    def _learn(self, index: int) -> None:
        """Note that an event which had fitted nowhere is explained, and which order made it so."""
        if self._climbed.pop(index, None) is not None and index in self._lessons:
            self._order.prefer(*self._lessons.pop(index))

    def _resume(self, blame: Relevance) -> Node | None:
        """Undo back to the last step with another possibility that may matter."""
        frames = self._frames
        journal = self.namespace.journal

        def may_matter(tag: object) -> bool:
            return blame.includes(tag, self._evidence)

        while len(frames) > self._bottom:
            frame = frames.pop()
            if frame.key is not None:
                self._dead[frame.key] = blame
            self._order.give_back(frame.index)
            bodies = (blame | frame.blame).bodies
            script = next_script(frame.made, may_matter, bodies)
            if script is not None or frame.others:
                journal.undo(frame.mark)
                # Whatever failed because of this step's choices counts when they are exhausted.
                blame |= frame.blame
                if script is not None:
                    return Node((frame.index, *frame.others), script, blame)
                return Node(frame.others, (), blame)
            if any(may_matter(choice.tag) for choice in frame.made):
                blame |= frame.blame
            self._left_out |= any(
                choice.leaves_out(bodies) and may_matter(choice.tag) for choice in frame.made
            )
        return None

    def _find_dead_end(self) -> Relevance | None:
        """Return what the dead end depended on if no path goes on from an equal state."""
        entities = self.namespace.entities
        if self.steps < len(self._events) + DETOURS or (
            len(entities) > MANY
            or sum(len(entity.messages) for entity in entities.values()) > LARGE
        ):
            return None
        duplicates = self.namespace.rules.duplicates
        copies = duplicates.value if isinstance(duplicates, OpenDuplicates) else None
        pending = self._lost.pending, self._partly.value, copies
        state = state_key(self.namespace, self._bindings, self._caches, pending, self._share)
        recalled = None if self._recollection is None else self._recollection.value
        key = (self._order.done, state, recalled)
        self._frames[-1].key = key
        return self._dead.get(key)

    def _share(self, value: Hashable) -> Hashable:
        return self._shared.setdefault(value, value)

    def _attempt(self, index: int, script: Script) -> bool:
        """Execute an event with these choices; return whether the answer agrees."""
        event, guide = self._events[index], self._guide
        guide.begin(index, event, script)
        guide.is_last = index == self._last
        self._answer = None
        self._has_fired = False
        self._caches.reason = ()
        self._coverage.restart()
        if isinstance(event.outcome, v.Unsupported):
            return True
        try:
            return self._execute(index, event)
        except NoWay:
            return False

    def _execute(self, index: int, event: v.Event) -> bool:
        """Execute an event; return whether the answer agrees.

        Raises:
            NoWay: no candidate agrees.
        """
        guide, namespace = self._guide, self.namespace
        part = self._evidence.part_of_event(index)
        is_advance = isinstance(event.command, v.AdvanceClock)

        def may_matter(path: str) -> bool:
            return is_advance or self._evidence.part_of_path(path) == part

        self._clock.enter(event)
        self._clock.fire(event, may_matter)
        if self._lost.take_effect(index, event):
            self._clock.fire(event, may_matter)
        self._has_fired = True
        if is_advance and isinstance(event.command, v.AdvanceClock):
            is_lost = isinstance(event.outcome, v.Indeterminate)
            if is_lost and not guide.take("ANSWER-LOST", (True, False), None):
                return True
            namespace.journal.touch(namespace)
            namespace.now += event.command.duration
            return True
        if self._partly.covers(index, event) or self._partly.begins(event):
            return True
        if isinstance(event.outcome, v.Indeterminate):
            self._lost.ask(index, event)
            return True
        event = self._open.as_named(event)
        if self._recollection is not None:
            self._recollection.recall(event)
        self._places.explain(event)
        self._unseen.recognise(event)
        command = self._open.chosen(event, self._bindings.translated(event.command))
        if command is None:
            return True
        partition = self._evidence.place_of(event)
        self._coverage.begin(event, command, partition, guide.views)
        answer = step(namespace, command, event.connection, guide, keep=True)
        self._agreement.tolerance = self._clock.tolerance
        since = self._patience.described_since(index)
        is_settled = since is not None and self._clock.is_steady(since)
        self._agreement.descriptions.is_settled = is_settled
        agrees = self._agreement.agrees(event, answer)
        self._answer = answer
        return agrees


def take_apart(namespace: Namespace, parts: Iterable[object]) -> None:
    """Break the circles of references between the parts of a search that nobody needs any more."""
    for part in parts:
        vars(part).clear()
    dissolve(namespace)


def has_no_effect(event: v.Event) -> bool:
    """Return whether a request was refused, and surely changed nothing.

    Some are refused and have an effect: some locks of several are settled (LOCK-17), an expired
    message becomes a dead letter (TTL-11), a transaction ends (TXN-AFTER-REFUSAL).
    """
    command = event.command
    if getattr(command, "transaction", None) or isinstance(command, PARTLY_REFUSED):
        return False
    return isinstance(event.outcome, v.Refused)


def _is_anything(tag: object) -> bool:  # noqa: ARG001 - as `Relevance.includes`
    return True


def _is_global(tag: object) -> bool:
    return tag is None or (isinstance(tag, Moves) and tag.path is None)
