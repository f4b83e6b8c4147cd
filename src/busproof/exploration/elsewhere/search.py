"""Search for failures in sequences of scenarios that are sent again elsewhere."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Final

from busproof import vocabulary as v
from busproof.exploration.elsewhere.places import Ask
from busproof.exploration.elsewhere.playing import Played, play
from busproof.exploration.elsewhere.ways import MANNERS, PLACES, Kinds, Way, Ways, kinds_of
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.search import Search
from busproof.exploration.sizes import Size
from busproof.history.records import ELSEWHERE, Record, Started
from busproof.judging.applicability import Terms
from busproof.judging.garbage import seldom_collected
from busproof.judging.past import is_eventful
from busproof.judging.required_capabilities import needs

__all__ = ["Elsewhere", "drawn"]

LATER: Final = 86_400 * v.MICROSECONDS
"""Age of each namespace: scenarios begin in a new one."""


class Elsewhere(Search):
    """Search in sequences of scenarios, each sent in another place, in another manner, or both.

    On a real clock nothing is sent, because the sequences wait.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the limits.
        start: the seed of the random choices.
        played: the sequences.
        write: receives the records.
    """

    def __init__(
        self,
        adapter: v.Adapter,
        terms: Terms,
        *,
        size: Size,
        start: int,
        played: Sequence[Played],
        write: Callable[[Record], None],
    ) -> None:
        super().__init__(adapter, terms, size=size, write=write)
        self._start = start
        self._played = played

    @seldom_collected()
    def run(self) -> None:
        """Send sequences elsewhere, as many as the size allows."""
        if self._real:
            return
        for played, way in islice(self._drawn(), self._size.elsewhere):
            if not self._goes_on():
                return
            self.send(played, *way)

    def _drawn(self) -> Iterator[tuple[Played, Way]]:
        for number, way in drawn([kinds_of(played.events) for played in self._played], self._start):
            yield self._played[number], way

    def send(self, played: Played, place: str, manner: str) -> None:
        """Send one sequence in a place and a manner."""
        name = f"{played.name}, {place}, {manner}"
        run = self._begun(Started(scenario=name, feature=ELSEWHERE))
        try:
            ask = PLACES[place].wrapped(MANNERS[manner].wrapped(self._declared(run)))
            run.ask(v.AdvanceClock(duration=LATER), "c1")
            play(played.events, ask)
            if MANNERS[manner].is_looked_at or any(map(_is_looked_at, played.events)):
                run.look_at_everything()
        finally:
            self.closed(run)

    def _declared(self, run: Run) -> Ask:
        """Return a function that sends only commands that the implementation supports."""
        capabilities = self.adapter.declaration.capabilities

        def ask(command: v.Command, connection: str) -> v.Event | None:
            if any(needed not in capabilities for needed in needs(command)):
                return None
            return run.ask(command, connection)

        return ask


def drawn(played: Sequence[Kinds], start: int) -> Iterator[tuple[int, Way]]:
    """Yield sequences with the ways to send them, until no way is new for any of them.

    Args:
        played: the kinds of requests of each sequence; they are yielded by their places.
        start: the seed of the random choices.
    """
    random = Random(start)  # noqa: S311 - repeatable choices, not secrets
    ways = Ways(random)
    left = list(range(len(played)))
    while left:
        again = []
        for number in random.sample(left, len(left)):
            way = ways.chosen_for(played[number])
            if way is not None:
                again.append(number)
                yield number, way
        left = again


def _is_looked_at(event: v.Event) -> bool:
    """Return whether a sequence with this event ends with a last look."""
    return is_eventful(event) or isinstance(event.command, v.Schedule)
