"""The graph beside the model as clients see it: they agree, and each kind of difference shows."""

from collections.abc import Callable

import pytest

from busproof.cli.main import main
from busproof.tla.graphs.compare import compare_graph
from busproof.tla.graphs.comparison import Comparison
from busproof.tla.graphs.graph import Graph, explore_graph
from busproof.tla.manifest import Manifest

Changed = Callable[..., Manifest]


def compare(manifest: Manifest) -> tuple[Graph, Comparison]:
    configuration = manifest.configuration("shelf-graph")
    graph, _ = explore_graph(manifest, configuration)
    return graph, compare_graph(graph, configuration)


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
        ("ELSE Tail(here)", "ELSE here", "Empty"),
        ('[type |-> "Empty"]', '[type |-> "Refused", error |-> "any"]', "Refused any"),
        ("Append(here, sent + 1)", "here", "Empty"),
        ("message |-> Head(here)", "message |-> here[Len(here)]", "Received 2"),
        (" here # << >>\n", " Len(here) = 1\n", ""),
    ],
)
def test_a_spec_with_another_rule_disagrees(changed, old, new, said) -> None:
    manifest = changed("Shelf.tla", old, new)
    _, found = compare(manifest)
    replies = {
        " ".join(map(str, edge.reply))
        for each in found.disagreements
        for edge in (*each.spec_only, *each.model_only)
    }
    assert found.disagreeing
    assert said in replies or not said


@pytest.mark.slow
def test_a_disagreement_is_reported_with_the_way_there_and_both_answers(changed, capsys) -> None:
    manifest = changed("Shelf.tla", "ELSE Tail(here)", "ELSE here")
    assert 1 == main(["modelcheck", "--specs", str(manifest.folder), "shelf-graph"])
    text = capsys.readouterr().out
    assert "1. Send to q: body 'm1' -> Done" in text
    assert "state: [here |-> <<1>>, sent |-> 1]" in text
    assert "only the spec answers:  -" in text
    assert "only the model answers: Received 2" in text
    assert "the model goes by: LIFE-01" in text


@pytest.mark.slow
def test_a_graph_that_lost_edges_deviates(changed: Changed) -> None:
    """What is printed must be all that was generated."""
    manifest = changed("Shelf.tla", "Printed ==\n", 'Printed == said\'.reply.type = "Empty" \\/\n')
    _, found = explore_graph(manifest, manifest.configuration("shelf-graph"))
    assert any("edges were printed" in each for each in found.deviations)
