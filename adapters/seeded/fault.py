"""What a seeded fault is, and how a module of faults collects its own."""

from collections.abc import Callable
from typing import TypeVar

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.vocabulary.capabilities import Capability

__all__ = ["Faults", "Seeded"]

Bus = type[SeededBus]
_Bus = TypeVar("_Bus", bound=SeededBus)


@attrs.frozen(kw_only=True)
class Seeded:
    """One way to break one rule.

    Attributes:
        id: a slug.
        rule: id of the rule that is broken; a test of that very rule must catch it.
        summary: what the bus does wrong, in a sentence.
        bus: the adapter that does it.
        counterpart: the same adapter without the fault.
        deep: whether it shows only in a longer or a rarer run of requests.
        equivalent: why no test can tell it from a conforming bus; empty if one can.
        literal: whether no single answer breaks a rule, and only a scenario's own words tell it
            apart: something that has to come at a time that nobody states never comes.
    """

    id: str
    rule: str
    summary: str
    bus: Bus
    counterpart: Bus = SeededBus
    deep: bool = False
    equivalent: str = ""
    literal: bool = False

    @property
    def needs(self) -> frozenset[Capability]:
        """The capabilities that it declares beyond those of the plain bus."""
        return self.bus.capabilities - SeededBus.capabilities


class Faults:
    """Collects the faults of one module, in their order.

    A bus is decorated with its id, its rule and the sentence that tells what it does wrong.
    """

    def __init__(self) -> None:
        self._found: list[Seeded] = []

    def __call__(
        self,
        identity: str,
        rule: str,
        summary: str,
        *,
        deep: bool = False,
        counterpart: Bus = SeededBus,
        equivalent: str = "",
        literal: bool = False,
    ) -> Callable[[type[_Bus]], type[_Bus]]:
        """The decorator of one faulty bus."""

        def collect(bus: type[_Bus]) -> type[_Bus]:
            fault = Seeded(
                id=identity,
                rule=rule,
                summary=summary,
                bus=bus,
                deep=deep,
                counterpart=counterpart,
                equivalent=equivalent,
                literal=literal,
            )
            self._found.append(fault)
            return bus

        return collect

    def all(self) -> tuple[Seeded, ...]:
        """What was collected."""
        return tuple(self._found)
