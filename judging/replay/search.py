"""Search for an execution of the reference model that gives the recorded answers.

Depth first, in place: each event is executed with the guide's choices, and if the answer agrees
with the record, the next one follows. At a dead end the journal undoes everything back to the last
choice that may matter to it, and its next candidate is tried. A step that changed nothing leaves no
choice behind. If overlapping requests leave their order open, the order is one more choice.

The search ends with an execution, with the proof that there is none, or without a result after a
number of steps, which is the same on every machine.
"""

from collections.abc import Hashable, Iterator, Sequence
from enum import Enum
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.coverage.notes import Coverage
from busproof.judging.coverage.shown import shown_by
from busproof.judging.replay.agreement import Agreement
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.choices_made import Choice, Script, next_script
from busproof.judging.replay.evidence import Evidence
from busproof.judging.replay.guide import Guide, NoWay
from busproof.judging.replay.lost_answers import LostAnswers
from busproof.judging.replay.orders import Order
from busproof.judging.replay.relevance import NOTHING, Relevance
from busproof.judging.replay.state_keys import state_key
from busproof.judging.replay.timers import Clock
from busproof.judging.replay.unseen import Unseen
from busproof.judging.replay.watching import watched
from busproof.model.answers import Answer
from busproof.model.rules import NO_FAULT, Families
from busproof.model.step import new_namespace, step

__all__ = ["Ended", "Executed", "Search"]

STEPS_AT_LEAST: Final = 5_000
STEPS_AN_EVENT: Final = 100
DETOURS: Final = 50
"""Number of steps beyond one an event after which dead ends are remembered."""
LARGE: Final = 100
"""Number of messages from which on a state is too large to be remembered at each step."""


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
        made: its choices; empty if it changed nothing.
        chosen: its choices, for the explanation.
        rules: the rules that it shows.
        others: events that may come here instead, best first.
        blame: what the dead ends after this step depended on.
        key: the state after it and what is done, if dead ends are remembered.
    """

    mark: int
    index: int
    made: tuple[Choice, ...]
    chosen: tuple[Choice, ...]
    rules: tuple[v.RuleId, ...]
    others: Sequence[int]
    blame: Relevance
    key: Hashable = None


class Search:
    """Search for one history, or one independent part of it.

    Args:
        events: the events.
        profile: the profile of the namespace.
        observability: what the observer sees.
        replaced: families of a mutant; none for the model.

    Attributes:
        steps: how many events were executed so far.
        furthest: the most events that any path explained.
        stuck_at: the index of the event that fitted nowhere after the longest path.
    """

    def __init__(
        self,
        events: Sequence[v.Event],
        profile: v.Profile,
        observability: v.Observability,
        replaced: Families = NO_FAULT,
    ) -> None:
        strict = observability.partitions
        numbered = strict and observability.witness and profile.numbers_name_partitions
        self._events = list(events)
        self.namespace = namespace = new_namespace(profile, **watched(replaced))
        self._evidence = Evidence(events, strict=strict, numbers_show_partitions=numbered)
        self._bindings = Bindings(
            namespace,
            strict=strict,
            numbers_show_partitions=numbered,
            hidden_numbers=self._evidence.has_hidden_numbers,
        )
        self._guide = Guide(namespace, self._bindings, self._evidence)
        self._coverage = self._guide.coverage = Coverage(
            namespace, self._bindings.shown, strict=strict, slack=observability.slack
        )
        self._guide.keeps_limits = observability.limits
        self._clock = Clock(namespace, self._guide, observability, self._evidence)
        self._agreement = Agreement(
            namespace, self._bindings, self._evidence, self._guide, observability
        )
        self._open = self._agreement.open
        self._unseen = Unseen(namespace, self._guide, self._bindings)
        self._lost = LostAnswers(
            namespace, self._guide, self._bindings, self._evidence, self._unseen
        )
        self._order = Order(
            self._events,
            is_recorded=observability.clock is v.Clock.VIRTUAL,
            numbers_show_partitions=numbered,
        )
        self._frames: list[Frame] = []
        self._dead: dict[Hashable, Relevance] = {}
        self._answer: Answer | None = None
        self.steps = 0
        self.furthest = 0
        self.stuck_at = 0

    @property
    def execution(self) -> tuple[Executed, ...]:
        """The steps of the path that the search is on."""
        return tuple(Executed(frame.index, frame.chosen, frame.rules) for frame in self._frames)

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
        log, marks = self.namespace.journal.log, [frame.mark for frame in self._frames]
        for frame, until in zip(self._frames, [*marks, len(log)][1:], strict=True):
            for thing, key, before in log[frame.mark : until]:
                yield frame.index, thing, key, before

    def foresee(self, event: v.Event) -> None:
        """Tell the guide an event that comes after all others and that need not be explained."""
        self._evidence.add(event)

    def add(self, event: v.Event) -> None:
        """Add an event that came after all others, once these are explained."""
        self._events.append(event)
        self._evidence.add(event)
        self._order.add(event)

    def run(self, steps: int | None = None) -> Ended:
        """Search until there is a result, for at most this many steps more."""
        budget = self.steps + (steps or STEPS_AT_LEAST + STEPS_AN_EVENT * len(self._events))
        journal, order, guide = self.namespace.journal, self._order, self._guide
        queue: Sequence[int] = order.candidates()
        script: Script = ()
        blame = NOTHING
        while not order.is_complete:
            failed: list[int] = []
            advanced = False
            while queue:
                if self.steps >= budget:
                    return Ended.GAVE_UP
                self.steps += 1
                mark = journal.mark()
                if self._attempt(queue[0], script):
                    advanced = True
                    break
                following = next_script(guide.made)
                if following is None:
                    failed.append(queue[0])
                    # What a failure depends on is asked while the state is still its own.
                    blame |= self._blame(queue[0])
                    queue = queue[1:]
                journal.undo(mark)
                script = following or ()
            if advanced:
                chosen = tuple(guide.made)
                changed = len(journal.log) > mark
                if changed and script:
                    guide.remember()
                made = chosen if changed else ()
                # What is noted for coverage is no change that another choice might have avoided.
                rules = () if self._answer is None else shown_by(self._coverage, self._answer)
                self._frames.append(Frame(mark, queue[0], made, chosen, rules, queue[1:], blame))
                order.take(queue[0])
                self.furthest = max(self.furthest, len(self._frames))
                queue, script, blame = order.candidates(), (), NOTHING
                known = self._known_dead_end()
                if known is None:
                    continue
                blame, failed = known, []
            if len(self._frames) >= self.furthest and failed:
                self.stuck_at = failed[0]
            resumed = self._go_back(blame)
            if resumed is None:
                return Ended.IMPOSSIBLE
            queue, script, blame = resumed
        return Ended.EXPLAINED

    def _go_back(self, blame: Relevance) -> tuple[Sequence[int], Script, Relevance] | None:
        """Undo back to the last step with another possibility that may matter."""
        frames, journal = self._frames, self.namespace.journal

        def may_matter(tag: object) -> bool:
            return blame.includes(tag, self._evidence)

        while frames:
            frame = frames.pop()
            if frame.key is not None:
                self._dead[frame.key] = blame
            self._order.give_back(frame.index)
            script = next_script(frame.made, may_matter)
            if script is not None or frame.others:
                journal.undo(frame.mark)
                # Whatever failed because of this step's choices counts when they are exhausted.
                blame |= frame.blame
                if script is not None:
                    return (frame.index, *frame.others), script, blame
                return frame.others, (), blame
            if any(may_matter(choice.tag) for choice in frame.made):
                blame |= frame.blame
        return None

    def _known_dead_end(self) -> Relevance | None:
        """Return what the dead end depended on if no path goes on from an equal state."""
        entities = self.namespace.entities.values()
        if self.steps < len(self._events) + DETOURS or (
            sum(len(entity.messages) for entity in entities) > LARGE
        ):
            return None
        state = state_key(self.namespace, self._bindings, self._lost.pending)
        key = (self._order.done, state)
        self._frames[-1].key = key
        return self._dead.get(key)

    def _blame(self, index: int) -> Relevance:
        """Return what the failure of an event may depend on."""
        event = self._events[index]
        parts = frozenset((self._evidence.part_of_event(index),))
        command = event.command
        if isinstance(command, v.Receive | v.ReceiveBatch) and self._guide.views:
            places = frozenset(
                (command.queue, queued.partition)
                for view in self._guide.views
                for queued in self._bindings.ever(command.queue, view.body)
            )
            return Relevance(parts, places)
        return Relevance(parts, None)

    def _attempt(self, index: int, script: Script) -> bool:
        """Execute an event with these choices; return whether the answer agrees."""
        event, guide, namespace = self._events[index], self._guide, self.namespace
        guide.begin(index, event, script)
        self._answer = None
        if isinstance(event.outcome, v.Unsupported):
            return True
        part = self._evidence.part_of_event(index)
        is_advance = isinstance(event.command, v.AdvanceClock)

        def may_matter(path: str) -> bool:
            return is_advance or self._evidence.part_of_path(path) == part

        self._clock.enter(event)
        try:
            self._clock.fire(event, may_matter)
            self._lost.take_effect(index, event)
            if is_advance and isinstance(event.command, v.AdvanceClock):
                namespace.journal.touch(namespace)
                namespace.now += event.command.duration
                return True
            if isinstance(event.outcome, v.Indeterminate):
                self._lost.ask(index, event)
                return True
            self._unseen.recognise(event)
            command = self._open.chosen(event, self._bindings.translated(event.command))
            if command is None:
                return True
            partition = self._evidence.place_of(event)
            self._coverage.begin(event, command, partition, guide.views)
            answer = step(namespace, command, event.connection, guide, keep=True)
            self._agreement.tolerance = self._clock.tolerance
            agrees = self._agreement.agrees(event, answer)
        except NoWay:
            return False
        self._answer = answer
        return agrees
