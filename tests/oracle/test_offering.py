"""What a bus of the model's own offers first, as far as it is known where messages are."""

import pytest
from telling import Told, received, view

from busproof.vocabulary.commands import Peek, Receive
from busproof.vocabulary.outcomes import Peeked, Received

RECEIVE = Receive(queue="q")


def offered(told: Told) -> list[str]:
    """The bodies that a receive may be given, in the order in which they are offered."""
    return [
        each.outcome.message.body
        for each in told.step(RECEIVE)
        if isinstance(each.outcome, Received)
    ]


@pytest.mark.parametrize(("sent", "left"), [(2, ["m2"]), (3, ["m2", "m3"])])
def test_what_has_turned_out_to_be_elsewhere_is_offered_once(
    told: Told, sent: int, left: list[str]
) -> None:
    """It was among what may be anywhere, until its number told where it is."""
    told.queue()
    for _ in range(sent):
        told.send()
    told.has(Peek(queue="q"), Peeked(messages=(view("m2", partition=1, number=7),)))
    told.has(RECEIVE, received("m1", partition=0, number=3, lock_token="l"))
    assert left == offered(told)


def test_the_oldest_of_the_partitions_are_offered_by_age(told: Told) -> None:
    """Whatever the number of the partition."""
    told.queue()
    for partition in (3, 1, 3, 0, 1):
        told.send(partition=partition)
    assert ["m1", "m2", "m4"] == offered(told)
