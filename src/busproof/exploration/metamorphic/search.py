"""Search for failures in sequences of scenarios that are transformed and sent again."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final

from busproof import vocabulary as v
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.metamorphic.entities import Ask
from busproof.exploration.metamorphic.follow_ups import SourceSequence, send_follow_up
from busproof.exploration.metamorphic.transformations import (
    CIRCUMSTANCES,
    ENTITIES,
    RequestKinds,
    Variant,
    VariantChooser,
    request_kinds,
)
from busproof.exploration.search import Search
from busproof.exploration.sizes import Size
from busproof.history.records import METAMORPHIC, Record, Started
from busproof.judging.applicability import Terms
from busproof.judging.garbage import seldom_collected
from busproof.judging.past import is_eventful
from busproof.judging.required_capabilities import needs

__all__ = ["MetamorphicSearch", "draw_variants"]

LATER: Final = 86_400 * v.MICROSECONDS
"""Age of each namespace: scenarios begin in a new one."""


class MetamorphicSearch(Search):
    """Search in sequences of scenarios, each with other entities, in other circumstances, or both.

    On a real clock nothing is sent, because the sequences wait.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the limits.
        start: the seed of the random choices.
        sources: the sequences.
        write: receives the records.
    """

    def __init__(
        self,
        adapter: v.Adapter,
        terms: Terms,
        *,
        size: Size,
        start: int,
        sources: Sequence[SourceSequence],
        write: Callable[[Record], None],
    ) -> None:
        super().__init__(adapter, terms, size=size, write=write)
        self._start = start
        self._sources = sources

    @seldom_collected()
    def run(self) -> None:
        """Send follow-ups, as many as the size allows."""
        if self._real:
            return
        for source, variant in islice(self._draw_variants(), self._size.metamorphic):
            if not self._goes_on():
                return
            self.send(source, *variant)

    def _draw_variants(self) -> Iterator[tuple[SourceSequence, Variant]]:
        for number, variant in draw_variants(
            [request_kinds(source.events) for source in self._sources], self._start
        ):
            yield self._sources[number], variant

    def send(self, source: SourceSequence, entity: str, circumstance: str) -> None:
        """Send the follow-up of one sequence with these entities and circumstances."""
        name = f"{source.name}, {entity}, {circumstance}"
        run = self._begin(Started(scenario=name, feature=METAMORPHIC))
        try:
            ask = ENTITIES[entity].wrapped(
                CIRCUMSTANCES[circumstance].wrapped(self._filter_supported(run))
            )
            run.ask(v.AdvanceClock(duration=LATER), "c1")
            send_follow_up(source.events, ask)
            if CIRCUMSTANCES[circumstance].is_looked_at or any(map(_is_looked_at, source.events)):
                run.look_at_everything()
        finally:
            self.closed(run)

    def _filter_supported(self, run: Run) -> Ask:
        """Return a function that sends only commands that the implementation supports."""
        capabilities = self.adapter.declaration.capabilities

        def ask(command: v.Command, connection: str) -> v.Event | None:
            if any(needed not in capabilities for needed in needs(command)):
                return None
            return run.ask(command, connection)

        return ask


def draw_variants(sources: Sequence[RequestKinds], start: int) -> Iterator[tuple[int, Variant]]:
    """Yield sequences with their variants, until no variant is new for any of them.

    Args:
        sources: the kinds of requests of each sequence, which is yielded by its number.
        start: the seed of the random choices.
    """
    random = Random(start)  # noqa: S311 - repeatable choices, not secrets
    chooser = VariantChooser(random)
    left = list(range(len(sources)))
    while left:
        again = []
        for number in random.sample(left, len(left)):
            variant = chooser.choose_for(sources[number])
            if variant is not None:
                again.append(number)
                yield number, variant
        left = again


def _is_looked_at(event: v.Event) -> bool:
    """Return whether a sequence with this event ends with a last look."""
    return is_eventful(event) or isinstance(event.command, v.Schedule)
