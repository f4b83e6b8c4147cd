"""Paths from a graph: every class of step is on one, and buses follow them."""

from pathlib import Path

import pytest

from busproof.adapters.faults import make
from busproof.adapters.model import ModelAdapter
from busproof.errors import SpecificationError
from busproof.history.records import Oracle
from busproof.judging.driver import Recording
from busproof.judging.scenario_outcome import NotApplicable, NotConforming
from busproof.spec import load as load_catalogue
from busproof.steps.bus import BusUnderTest
from busproof.steps.paths_of_specs import follow
from busproof.tla.graphs.graph import Graph
from busproof.tla.graphs.paths import Path_, Suite, covering, load_suites, write_suites
from busproof.tla.graphs.setup import creations
from busproof.tla.hashes import sources_hash
from busproof.tla.manifest import Manifest, Setting, load
from busproof.vocabulary.profile import profile_for

SEND = '[op |-> \\"Send\\", key |-> \\"none\\"]'
RECEIVE = '[op |-> \\"Receive\\", connection |-> 1, mode |-> \\"peek-lock\\"]'
DONE, GOT = '[type |-> \\"Done\\"]', '[type |-> \\"Received\\", message |-> 1]'
EMPTY = '[type |-> \\"Empty\\"]'
BEFORE = "[messages |-> <<>>]"
THERE = '[messages |-> <<<<\\"none\\", \\"available\\">>>>]'
LOCKED = '[messages |-> <<<<\\"none\\", \\"locked\\">>>>]'


@pytest.fixture
def suite() -> Suite:
    """One message: sent, received; nothing before, nothing after."""
    graph = Graph()
    for command, reply, state, target in (
        (RECEIVE, EMPTY, BEFORE, BEFORE),
        (SEND, DONE, BEFORE, THERE),
        (RECEIVE, GOT, THERE, LOCKED),
        (RECEIVE, EMPTY, LOCKED, LOCKED),
    ):
        graph.take(f'"E~{command}~{reply}~{state}~{target}"')
    return covering(graph, "tiny", "0", Setting(edges=4))


def bus(adapter: object, partitions: int = 4) -> BusUnderTest:
    profile = profile_for(load_catalogue(), partitions=partitions)
    adapter.start(profile)
    recording = Recording(record=lambda _: None, sentence=lambda rule: rule)
    return BusUnderTest(adapter, profile, Oracle.STRICT, recording)


def test_every_class_of_step_is_on_a_path(suite: Suite) -> None:
    on_paths = {
        (command["op"], reply["type"]) for path in suite.paths for command, reply in path.steps
    }
    assert 4 == suite.classes
    assert {("Receive", "Empty"), ("Send", "Done"), ("Receive", "Received")} == on_paths
    assert sum(len(path.steps) for path in suite.paths) <= 6


def test_paths_are_read_as_they_were_written(suite: Suite, tmp_path: Path) -> None:
    write_suites(tmp_path / "paths.jsonl", [suite])
    (read,) = load_suites(tmp_path / "paths.jsonl")
    assert [(path.name, path.steps) for path in read.paths] == [
        (path.name, path.steps) for path in suite.paths
    ]
    assert (read.configuration, read.sources, read.classes) == ("tiny", "0", 4)


def test_a_broken_file_of_paths_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "paths.jsonl"
    path.write_text('{"path": "x", "steps": [1]}\n')
    with pytest.raises(SpecificationError, match=r"paths.jsonl is broken"):
        load_suites(path)


@pytest.mark.parametrize("policy", ["round-robin", "random"])
def test_the_model_follows_every_path(suite: Suite, policy: str) -> None:
    for path in suite.paths:
        alike, steps = follow(bus(ModelAdapter(policy, 1)), path, suite.setting)
        assert alike == steps == len(path.steps)


def test_a_faulty_bus_is_found_on_a_path(suite: Suite) -> None:
    with pytest.raises(NotConforming):
        for path in suite.paths:
            follow(bus(make("locked-given-again")), path, suite.setting)


def test_a_path_with_more_partitions_than_the_bus_is_not_applicable(suite: Suite) -> None:
    with pytest.raises(NotApplicable, match="partitions"):
        follow(bus(ModelAdapter(), 2), suite.paths[0], Setting(edges=4, partitions=3))


def asks(op: str, **fields: object) -> dict[str, object]:
    return {"op": op, **fields}


DEAD = "dead-letter queue"
SETTLED = (
    (asks("Send", to="queue"), {"type": "Done"}),
    (asks("Receive", **{"from": "queue"}), {"type": "Received", "message": 1}),
    (asks("ReceiveByNumber", message=2), {"type": "Refused", "error": "any"}),
    (asks("Defer", message=1, lock="held"), {"type": "Done"}),
    (asks("ReceiveByNumber", message=1), {"type": "Received", "message": 1}),
    (asks("DeadLetter", message=1, lock="held"), {"type": "Done"}),
    (asks("Receive", **{"from": "queue"}), {"type": "Empty"}),
    (asks("Receive", **{"from": DEAD}), {"type": "Received", "message": 1}),
    (asks("RenewLock", message=1, lock="held"), {"type": "Renewed"}),
    (asks("Complete", message=1, lock="held"), {"type": "Done"}),
    (asks("Receive", **{"from": DEAD}), {"type": "Empty"}),
)


def test_a_message_is_followed_among_the_deferred_and_the_dead() -> None:
    path = Path_("settled", SETTLED)
    assert (len(SETTLED), len(SETTLED)) == follow(bus(ModelAdapter()), path, Setting(edges=0))


def test_internal_steps_of_a_bus_are_on_no_path() -> None:
    graph = Graph()
    forward = '[op |-> \\"Forward\\", message |-> 1]'
    for command, reply, state, target in (
        (SEND, DONE, BEFORE, THERE),
        (forward, DONE, THERE, LOCKED),
        (RECEIVE, EMPTY, LOCKED, LOCKED),
    ):
        graph.take(f'"E~{command}~{reply}~{state}~{target}"')
    setting = Setting(edges=3, silent=("Forward",))
    (path,) = covering(graph, "tiny", "0", setting).paths
    assert ["Send", "Receive"] == [command["op"] for command, _ in path.steps]


def test_destinations_are_created_before_what_forwards_to_them() -> None:
    setting = Setting(edges=0, queues={"a": {"forward_to": "b"}, "b": {"forward_to": "c"}, "c": {}})
    assert ["c", "b", "a"] == [each.queue for each in creations(setting, iter(()))]


def test_our_own_paths_rest_on_the_specs_as_they_are() -> None:
    """`busproof modelcheck --record` writes them anew."""
    manifest: Manifest = load()
    for suite in load_suites():
        each = manifest.configuration(suite.configuration)
        now = sources_hash(manifest.folder, each.module, manifest.text(each))
        assert (suite.configuration, suite.sources) == (suite.configuration, now)
