"""A run accuses no bus that conforms in a way that the reference model does not choose."""

import os

import pytest

pytestmark = pytest.mark.slow

UNCOUNTING = """
import attrs
from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter

class Uncounting(ModelAdapter):
    def do(self, command, connection="c1"):
        observed = super().do(command, connection)
        outcome = observed.outcome
        queue = getattr(command, "queue", "")
        if isinstance(outcome, v.Received) and v.is_dead_letter_queue(queue):
            message = attrs.evolve(outcome.message, delivery_count=1)
            observed = attrs.evolve(observed, outcome=attrs.evolve(outcome, message=message))
        return observed
"""
"""Every delivery of a dead letter is told as its first, as DEAD-LETTER-COUNT permits."""


def test_a_bus_that_does_not_count_deliveries_of_dead_letters_is_not_accused(busproof) -> None:
    (busproof.folder / "mine.py").write_text(UNCOUNTING)
    path = os.pathsep.join(filter(None, [".", busproof.environment.get("PYTHONPATH")]))
    busproof.environment["PYTHONPATH"] = path
    about = ("run", "--adapter", "mine:Uncounting", "--rule", "DLQ", "--only", "features")
    assert busproof(*about).code == 0
    counts = busproof(*about, "--reading", "DEAD-LETTER-COUNT=anew")
    assert counts.code == 1
    assert "DLQ-01" in counts.out
