"""The seeded faults: buses that break one rule each, for the suite to be tested by."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.base import Adapter
from busproof.adapters.model import ModelAdapter
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Seeded
from busproof.adapters.seeded.shown import READINGS, SHOWN
from busproof.errors import UsageError
from busproof.model.rules import Rules
from busproof.mutants import MUTANTS, Mutant
from busproof.mutants.runs import Run

__all__ = ["FAULTS", "Fault", "SeededBus", "fault", "make"]


@attrs.frozen(kw_only=True)
class Fault:
    """A mutant, or a seeded bus that is to become one, as an adapter.

    Attributes:
        rules: of a mutant, the model's with its fault.
    """

    id: str
    rule: str
    summary: str
    family: str
    bus: Callable[[], Adapter]
    counterpart: Callable[[], Adapter]
    conforming: str
    rules: Rules | None
    run: Run
    readings: Mapping[str, str]
    needs: frozenset[v.Capability]
    deep: bool = False
    equivalent: str = ""
    literal: bool = False


class Careless(ModelAdapter):
    """The model behind a client library that leaves everything as it is."""

    def _prepared(self, command: v.Command) -> v.Command:
        return command


def _of_mutant(mutant: Mutant) -> Fault:
    library = v.Capability.CLIENT_LIBRARY in mutant.needs
    kind = Careless if library else ModelAdapter
    return Fault(
        id=mutant.id,
        rule=mutant.rule,
        summary=mutant.summary,
        family=mutant.family,
        bus=partial(kind, library=library, rules=mutant.rules),
        counterpart=partial(ModelAdapter, library=library),
        conforming="model?library=true" if library else "model",
        rules=mutant.rules,
        run=mutant.run,
        readings=mutant.readings,
        needs=mutant.needs,
        deep=mutant.deep,
        equivalent=mutant.equivalent,
        literal=mutant.literal,
    )


def _of_seeded(seeded: Seeded) -> Fault:
    return Fault(
        id=seeded.id,
        rule=seeded.rule,
        summary=seeded.summary,
        family=seeded.bus.__module__.rpartition("faults_")[2],
        bus=seeded.bus,
        counterpart=seeded.counterpart,
        conforming=f"{SeededBus.__module__}:{SeededBus.__qualname__}",
        rules=None,
        run=SHOWN[seeded.id],
        readings=READINGS.get(seeded.id, {}),
        needs=seeded.needs,
        deep=seeded.deep,
        equivalent=seeded.equivalent,
        literal=seeded.literal,
    )


FAULTS: Final[tuple[Fault, ...]] = (*map(_of_mutant, MUTANTS),)
"""Every fault, by the family of its rule."""

_BY_ID: Final = {each.id: each for each in FAULTS}


def fault(fault_id: str) -> Fault:
    """The fault with this id.

    Raises:
        UsageError: there is none.
    """
    if fault_id in _BY_ID:
        return _BY_ID[fault_id]
    close = get_close_matches(fault_id.lower(), _BY_ID, cutoff=0.5)
    hint = f"nearest: {', '.join(close)}" if close else "busproof rules ID names those of a rule"
    raise UsageError(f"there is no fault {fault_id!r}; {hint}")


def make(fault_id: str) -> Adapter:
    """A new adapter with this fault.

    Raises:
        UsageError: there is no such fault.
    """
    return fault(fault_id).bus()
