"""Comparison of a spec's graph with the reference model, state by state or as clients see it."""

from collections.abc import Callable

from busproof.tla.graphs.client_side import compare_observed
from busproof.tla.graphs.comparison import Comparison
from busproof.tla.graphs.graph import Graph
from busproof.tla.graphs.walk import compare_states
from busproof.tla.manifest import Configuration

__all__ = ["compare_graph"]


def compare_graph(
    graph: Graph,
    configuration: Configuration,
    progress: Callable[[int], None] | None = None,
    *,
    first: bool = False,
) -> Comparison:
    """Compare a graph with the counterpart that the setting names.

    Args:
        graph: the graph of the configuration.
        configuration: the configuration, with its setting.
        progress: called from time to time with the number of compared edges.
        first: whether to stop at the first disagreement.

    Raises:
        SpecificationError: there is no setting, or the vocabulary lacks a command of the graph.
    """
    setting = configuration.graph
    if setting is not None and setting.beside == "clients":
        return compare_observed(graph, setting, progress, first=first)
    return compare_states(graph, configuration, progress, first=first)
