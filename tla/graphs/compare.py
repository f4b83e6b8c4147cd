"""A spec's graph beside the reference model, or beside the client oracle, as its setting says."""

from collections.abc import Callable

from busproof.tla.graphs.comparison import Comparison
from busproof.tla.graphs.graph import Graph
from busproof.tla.graphs.oracle_side import observed
from busproof.tla.graphs.walk import walked
from busproof.tla.manifest import Configuration

__all__ = ["compared"]


def compared(
    graph: Graph,
    configuration: Configuration,
    progress: Callable[[int], None] | None = None,
    *,
    first: bool = False,
) -> Comparison:
    """Compare a graph with the model or the oracle.

    Args:
        graph: of the configuration.
        configuration: with its setting.
        progress: is called now and then with the edges compared.
        first: whether to stop at the first disagreement.

    Raises:
        SpecificationError: there is no setting, or the graph asks what the model has no words for.
    """
    setting = configuration.graph
    if setting is not None and setting.beside == "oracle":
        return observed(graph, setting, progress, first=first)
    return walked(graph, configuration, progress, first=first)
