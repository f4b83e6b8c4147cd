"""`tools/pairs.py`: the pairs of a rule and a context that a history of the model reaches."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from busproof import vocabulary as v
from busproof.history.records import Scenario
from busproof.spec import load
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import profile_for

TOOL = Path(__file__).parent.parent / "tools" / "pairs.py"


@pytest.fixture
def pairs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pairs", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scenario(*commands: v.Command) -> Scenario:
    """Return a recording of commands, whose answers do not matter."""
    events = (
        Event(client="c", connection="c", command=command, outcome=v.Done()) for command in commands
    )
    return Scenario(events=tuple(events))


def test_a_rule_counts_once_for_each_context(pairs: ModuleType) -> None:
    asked = scenario(
        v.CreateQueue(queue="q", partitioned=False),
        v.TakePartitionDown(queue="q", partition=0),
        v.Send(queue="q", message=v.Message(body="m")),
    )
    found = set(pairs.pairs_of(asked, profile_for(load())))
    refusal = {context for rule, context in found if rule == "PART-01"}
    assert refusal == {"no context", "outage", "regular"}
