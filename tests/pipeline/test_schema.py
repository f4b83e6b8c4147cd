"""What the pipeline knows of the vocabulary."""

from busproof import vocabulary as v
from busproof.history.codec import union_of
from busproof.pipeline import schema


def test_schema_of_the_pipeline_is_the_vocabulary() -> None:
    """All of it and no more: a field that is new there would be lost on its way through Spark."""
    commands, outcomes = union_of(v.Command), union_of(v.Outcome)
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
