"""The pairs of a rule and a context that a history of the model reaches."""

from busproof import vocabulary as v
from busproof.cli.mutation.pairs import pairs_of
from busproof.history.replay import RecordedCommand
from busproof.spec import load
from busproof.vocabulary.profile import profile_for


def asked(*commands: v.Command) -> list[RecordedCommand]:
    """Return commands over one connection."""
    return [
        RecordedCommand(number=number, command=command)
        for number, command in enumerate(commands, 1)
    ]


def test_a_rule_counts_once_for_each_context() -> None:
    commands = asked(
        v.CreateQueue(queue="q", partitioned=False),
        v.TakePartitionDown(queue="q", partition=0),
        v.Send(queue="q", message=v.Message(body="m")),
    )
    found = pairs_of(commands, profile_for(load()))
    contexts = {context for rule, context in found if rule == "PART-01"}
    assert contexts == {"no context", "outage", "regular"}
