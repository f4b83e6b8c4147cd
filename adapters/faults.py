"""Adapters with seeded faults: mutants of the model, to test the suite with."""

from difflib import get_close_matches
from typing import Final

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.errors import UsageError
from busproof.mutants import MUTANTS, Mutant

__all__ = ["adapter_of", "conforming", "fault", "make"]

OPTIONS: Final = {
    v.Capability.CLIENT_LIBRARY: "library",
    v.Capability.AMQP: "amqp",
    v.Capability.HTTP: "http",
}
"""The options of the model by the capability that each declares."""
_BY_ID: Final = {mutant.id: mutant for mutant in MUTANTS}


class Careless(ModelAdapter):
    """The model with a client library that changes no message."""

    def _prepare(self, command: v.Command) -> v.Command:
        return command


def fault(fault_id: str) -> Mutant:
    """Return the fault with this id.

    Raises:
        UsageError: there is no fault with this id.
    """
    if fault_id in _BY_ID:
        return _BY_ID[fault_id]
    close = get_close_matches(fault_id.lower(), _BY_ID, cutoff=0.5)
    hint = f"nearest: {', '.join(close)}" if close else "busproof rules ID names those of a rule"
    raise UsageError(f"there is no fault {fault_id!r}; {hint}")


def make(fault_id: str) -> v.Adapter:
    """Return a new adapter with this fault.

    Raises:
        UsageError: there is no such fault.
    """
    return adapter_of(fault(fault_id))


def adapter_of(mutant: Mutant) -> v.Adapter:
    """Return a new adapter with the rules of a mutant."""
    library, amqp, http = (need in mutant.needs for need in OPTIONS)
    kind = Careless if library else ModelAdapter
    return kind(library=library, amqp=amqp, http=http, families=mutant.families)


def conforming(mutant: Mutant) -> str:
    """Return the name of an adapter without the fault, but otherwise equal to the mutant's."""
    return "?".join(["model", *(f"{OPTIONS[need]}=true" for need in mutant.needs)])
