"""The model walks along a graph: equality of states and edges, and each kind of difference."""

from typing import Any

import pytest

from busproof.errors import SpecificationError
from busproof.model import NO_FAULT, Families
from busproof.model.messages import Messages
from busproof.tla.graphs.comparison import Comparison
from busproof.tla.graphs.graph import Graph
from busproof.tla.graphs.walk import compare_states
from busproof.tla.manifest import Configuration, Kind, Setting, Size
from busproof.tla.running import Ran
from busproof.tla.terminal import print_ran

SEND = '[op |-> \\"Send\\", key |-> \\"none\\"]'
RECEIVE = '[op |-> \\"Receive\\", connection |-> 1, mode |-> \\"receive-and-delete\\"]'
DONE, EMPTY = '[type |-> \\"Done\\"]', '[type |-> \\"Empty\\"]'
GOT = '[type |-> \\"Received\\", message |-> 1]'
BEFORE = "[messages |-> <<>>, up |-> TRUE]"
THERE = '[messages |-> <<<<\\"none\\", \\"available\\", 0, 0, FALSE>>>>, up |-> TRUE]'
GONE = '[messages |-> <<<<\\"none\\", \\"completed\\", 0, 0, FALSE>>>>, up |-> TRUE]'
EDGES = [
    (RECEIVE, EMPTY, BEFORE, BEFORE),
    (SEND, DONE, BEFORE, THERE),
    (RECEIVE, GOT, THERE, GONE),
    (RECEIVE, EMPTY, GONE, GONE),
]
"""One message on a regular queue: sent, received and deleted."""

NEVER = (RECEIVE, EMPTY, THERE, THERE)


def configuration(module: str = "RegularEntity", **setting: Any) -> Configuration:
    return Configuration(
        name="tiny",
        module=module,
        config="",
        size=Size.GATE,
        kind=Kind.GRAPH,
        title="",
        graph=Setting(edges=4, queue={"partitioned": False}, **setting),
    )


def walk(
    edges: list[tuple[str, str, str, str]],
    families: Families = NO_FAULT,
    **setting: Any,
) -> Comparison:
    graph = Graph()
    for command, reply, state, target in edges:
        graph.take(f'"E~{command}~{reply}~{state}~{target}"')
    return compare_states(graph, configuration(**setting), families=families)


class KeepsNothing(Messages):
    """A message that is received and deleted stays."""

    def consume(self, *_: object) -> None:
        pass


def test_spec_and_model_agree_in_every_state_and_edge() -> None:
    found = walk(EDGES)
    assert (3, 4, 0, []) == (found.states, found.edges, found.disagreeing, found.deviations)
    assert 1 == found.rules["LIFE-01", "Receive"]


def test_model_with_one_replaced_rule_is_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    found = walk(EDGES, {"messages": KeepsNothing})
    print_ran(Ran(configuration=configuration(), comparison=found), trace=False)
    text = capsys.readouterr().out
    assert 1 == found.disagreeing
    assert "1. Send to q: body 'm1' -> Done" in text
    assert 'state: [messages |-> <<<<"none", "available", 0, 0, FALSE>>>>, up |-> TRUE]' in text
    assert "only the spec answers:  Received 1, and goes to [messages |-> <<<<" in text
    assert '"completed"' in text
    assert "only the model answers: Received 1, and goes to the same state" in text
    assert "the model goes by: LIFE-01" in text


def test_edge_that_only_the_spec_has_is_a_disagreement() -> None:
    found = walk([*EDGES, NEVER])
    (each,) = found.disagreements
    assert [("Empty",)] == [edge.reply for edge in each.spec_only]
    assert () == each.model_only


def test_edge_that_only_the_model_has_is_a_disagreement() -> None:
    """Where the spec does not ask for what would have an effect, too."""
    found = walk([edge for edge in EDGES if edge[1] != GOT], bounded=("Send",))
    (each,) = found.disagreements
    assert [("Received", 1)] == [edge.reply for edge in each.model_only]


@pytest.mark.parametrize(("edges", "said"), [(1, []), (2, ["only the spec has 1 edges Receive"])])
def test_differences_that_the_manifest_names_are_counted(edges: int, said: list[str]) -> None:
    named = {"only": "spec", "op": "Receive", "reply": "Empty", "edges": edges, "why": "open"}
    found = walk([*EDGES, NEVER], differences=(named,))
    assert (0, 1) == (found.disagreeing, found.open)
    assert said == [each[: len(said[0])] for each in found.deviations]


def test_states_to_which_the_model_does_not_come_are_counted() -> None:
    lost = '[messages |-> <<<<\\"none\\", \\"dead\\", 0, 0, FALSE>>>>, up |-> TRUE]'
    edges = [*EDGES, (RECEIVE, EMPTY, THERE, lost), (RECEIVE, EMPTY, lost, lost)]
    named = {"only": "spec", "op": "Receive", "reply": "Empty", "edges": 1, "why": "open"}
    found = walk(edges, differences=(named,))
    assert ["the model does not come to 1 states, and the manifest has 0"] == found.deviations
    assert [] == walk(edges, differences=(named,), unreached=1).deviations


FORWARD = '[op |-> \\"Forward\\", message |-> 1]'
ON_ITS_WAY = '[messages |-> <<<<\\"none\\", \\"locked\\", 0, 0, FALSE>>>>, up |-> TRUE]'
UNASKED = [
    EDGES[0],
    (SEND, DONE, BEFORE, ON_ITS_WAY),
    (FORWARD, DONE, ON_ITS_WAY, THERE),
    *EDGES[2:],
]
"""The same, but the message is there a while after it was sent."""


def test_silent_steps_are_taken_at_once() -> None:
    found = walk(UNASKED, silent=("Forward",))
    assert (3, 4, 0, []) == (found.states, found.edges, found.disagreeing, found.deviations)


def test_step_is_asked_for_unless_it_is_said_to_be_silent() -> None:
    with pytest.raises(SpecificationError, match="Forward"):
        walk(UNASKED)


def test_spec_without_a_projection_is_refused() -> None:
    with pytest.raises(SpecificationError, match=r"no projection of the model to .* Shelf"):
        walk(EDGES, module="Shelf")


def test_graph_that_begins_elsewhere_is_refused() -> None:
    with pytest.raises(SpecificationError, match="does not begin in the initial state"):
        walk(EDGES[1:][::-1])
