"""What the pipeline knows of the vocabulary, and what of Spark it uses."""

import ast
from pathlib import Path

from busproof import vocabulary as v
from busproof.history.codec import union_of
from busproof.pipeline import schema

ROOT = Path(__file__).parents[2]


def test_schema_of_the_pipeline_is_the_vocabulary() -> None:
    """All of it and no more: a field that is new there would be lost on its way through Spark."""
    commands, outcomes = union_of(v.Command), union_of(v.Outcome)
    assert commands is not None
    assert outcomes is not None
    assert names(v.Message) == set(schema.MESSAGE)
    assert names(v.MessageView) == set(schema.VIEW)
    assert names(v.QueueDescription) | names(v.TopicDescription) == set(schema.DESCRIPTION)
    of_commands = set().union(*(names(kind) for kind in commands.members.values()))
    of_outcomes = set().union(*(names(kind) for kind in outcomes.members.values()))
    assert of_commands == set(schema.COMMAND) - {"type"}
    assert of_outcomes == set(schema.OUTCOME) - {"type"}
    creations = (v.CreateQueue, v.CreateTopic, v.CreateSubscription, v.UpdateQueue)
    of_creations = set().union(*(names(kind) for kind in creations))
    assert of_creations - {"queue", "topic", "subscription"} == set(schema.SETTINGS)


def names(kind: type) -> set[str]:
    return {field.name for field in kind.__attrs_attrs__}


def test_nothing_reaches_below_the_published_interface_of_spark() -> None:
    """So that all of it runs over Spark Connect, and no history comes to one Python as a whole.

    Progress does without where there is no context, and only a cluster's own session waits for
    executors.
    """
    forbidden = {"_jvm", "_jdf", "sparkContext", "rdd", "toPandas", "udf", "pandas_udf"}
    forbidden |= {"mapInPandas", "applyInPandas", "applyInArrow", "foreach"}
    found = []
    for path in sorted((ROOT / "src" / "busproof" / "pipeline").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        own = {"sparkContext"} if path.name in ("progress.py", "session.py") else set[str]()
        found += [f"{path.name}: {name}" for name in sorted(names & forbidden - own)]
    assert [] == found
