"""A run accuses no bus that conforms in a way that the reference model does not choose."""

import os

import pytest

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"

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


RENEWING = """
from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter

class Renewing(ModelAdapter):
    def do(self, command, connection="c1"):
        observed = super().do(command, connection)
        if isinstance(command, v.BringPartitionUp):
            entity = self._namespace.entities[command.queue]
            for queued in list(entity.messages.values()):
                if queued.locked_until is not None:
                    queued.locked_until = self._namespace.now + entity.settings.lock_duration
                    entity.look_at("locks.end", queued.locked_until, queued, queued.number)
        return observed
"""
"""A lock lasts for its whole duration once more after an outage, as OUTAGE-CLOCK permits."""


@pytest.mark.parametrize(
    ("adapter", "source", "reading", "rule"),
    [
        ("Uncounting", UNCOUNTING, "DEAD-LETTER-COUNT=anew", "DLQ-01"),
        ("Renewing", RENEWING, "OUTAGE-CLOCK=runs", "LOCK-01"),
    ],
)
def test_a_bus_that_does_what_a_reading_leaves_open_is_not_accused(
    busproof, adapter: str, source: str, reading: str, rule: str
) -> None:
    """Under a reading that says more it is."""
    (busproof.folder / "mine.py").write_text(source)
    path = os.pathsep.join(filter(None, [".", busproof.environment.get("PYTHONPATH")]))
    busproof.environment["PYTHONPATH"] = path
    about = ("run", "--adapter", f"mine:{adapter}", "--only", "features", "--rule")
    family = rule.partition("-")[0]
    usual = busproof(*about, family if FULL else rule)
    assert usual.code == 0, usual.out
    strict = busproof(*about, rule, "--reading", reading)
    assert strict.code == 1
    assert rule in strict.out
