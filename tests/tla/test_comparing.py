"""The graph beside the client oracle: they agree, and each kind of difference shows."""

from collections.abc import Callable

import pytest

from busproof.cli import main
from busproof.errors import SpecificationError
from busproof.tla.comparing import compared
from busproof.tla.comparison import Comparison
from busproof.tla.graph import Graph, explored
from busproof.tla.manifest import Configuration, Kind, Manifest, Setting, Size

Changed = Callable[..., Manifest]


def compare(manifest: Manifest) -> tuple[Graph, Comparison]:
    configuration = manifest.configuration("shelf-graph")
    graph, _ = explored(manifest, configuration)
    return graph, compared(graph, configuration)


@pytest.mark.slow
def test_spec_and_model_agree_in_every_state(manifest: Manifest) -> None:
    graph, found = compare(manifest)
    assert (6, 9, 0) == (len(graph.states), graph.edges, found.disagreeing)
    assert found.edges >= graph.edges
    assert found.rules["LIFE-01", "Receive"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ELSE Tail(here)", "ELSE here", "Received 1"),
        ('[type |-> "Empty"]', '[type |-> "Refused", error |-> "any"]', "Refused any"),
        ("Append(here, sent + 1)", "here", "Empty"),
        ("message |-> Head(here)", "message |-> here[Len(here)]", "Received 2"),
        (" here # << >>\n", " Len(here) = 1\n", ""),
    ],
)
def test_a_spec_with_another_rule_disagrees(
    changed: Changed, old: str, new: str, said: str
) -> None:
    manifest = changed("Shelf.tla", old, new)
    _, found = compare(manifest)
    replies = {
        " ".join(map(str, edge.reply)) for each in found.disagreements for edge in each.spec_only
    }
    assert found.disagreeing
    assert said in replies or not said


@pytest.mark.slow
def test_a_disagreement_is_told_with_the_way_there_and_both_answers(
    changed: Changed, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = changed("Shelf.tla", "ELSE Tail(here)", "ELSE here")
    assert 1 == main(["modelcheck", "--specs", str(manifest.folder), "shelf-graph"])
    text = capsys.readouterr().out
    assert "1. Send to q: body 'm1' -> Done" in text
    assert "state: [here |-> <<1>>, sent |-> 1]" in text
    assert "only the spec answers:  Received 1" in text
    assert "only the model answers: Empty" in text
    assert "the model goes by: LIFE-03" in text


@pytest.mark.slow
def test_a_graph_that_lost_edges_deviates(changed: Changed) -> None:
    """What is printed must be all that was generated."""
    manifest = changed("Shelf.tla", "Printed ==\n", 'Printed == said\'.reply.type = "Empty" \\/\n')
    _, found = explored(manifest, manifest.configuration("shelf-graph"))
    assert any("edges were printed" in each for each in found.deviations)


FORWARDED = [
    ("before", "Send", "Done", "at the source"),
    ("before", "Receive", "Empty", "before"),
    ("at the source", "Forward", "Done", "at the end"),
    ("at the source", "Receive", "Empty", "at the source"),
    ("at the end", "Receive", "Received", "gone"),
    ("gone", "Receive", "Empty", "gone"),
]
"""One message from q to r: when it goes on, nobody is told."""

SPOKEN = {
    "Send": '[op |-> \\"Send\\", queue |-> \\"q\\"]',
    "Receive": '[op |-> \\"Receive\\", queue |-> \\"r\\"]',
    "Forward": '[op |-> \\"Forward\\", message |-> 1]',
}


def forwarded(edges: list[tuple[str, str, str, str]], **setting: object) -> Comparison:
    graph = Graph()
    for state, command, reply, target in edges:
        answer = f'[type |-> \\"{reply}\\"{", message |-> 1" if reply == "Received" else ""}]'
        graph.take(f'"E~{SPOKEN[command]}~{answer}~<<{state}>>~<<{target}>>"')
    configuration = Configuration(
        name="forwarded",
        module="",
        config="",
        size=Size.GATE,
        kind=Kind.GRAPH,
        title="",
        graph=Setting(
            edges=len(edges),
            queue={"partitioned": False},
            queues={"q": {"forward_to": "r"}},
            **{"silent": ("Forward",), "beside": "oracle", **setting},
        ),
    )
    return compared(graph, configuration)


def test_what_nobody_asks_for_may_have_happened_or_not() -> None:
    found = forwarded(FORWARDED)
    assert 0 == found.disagreeing
    assert found.rules["FWD-06", "Receive"] > 0


def test_what_has_happened_unasked_is_not_undone() -> None:
    """Received once, the message is at neither of the places where it may have been."""
    twice = [*FORWARDED, ("gone", "Receive", "Received", "gone")]
    found = forwarded(twice)
    assert {("Received", 1)} == {
        edge.reply for each in found.disagreements for edge in each.spec_only
    }


def test_a_step_is_asked_for_unless_it_is_said_to_be_silent() -> None:
    with pytest.raises(SpecificationError, match="Forward"):
        forwarded(FORWARDED, silent=())
