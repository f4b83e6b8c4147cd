"""A bus that declares no dead-letter queues."""

import attrs
import pytest
from told import Told

from busproof import vocabulary as v
from busproof.judging.replay.explanation import explain


@pytest.mark.parametrize("dead_letters", [True, False])
def test_it_may_deliver_a_message_as_often_as_it_likes(*, dead_letters: bool) -> None:
    """DLQ-02 is for buses that have dead letters."""
    told = Told().of(v.CreateQueue(queue="q", max_delivery_count=1))
    told.of(v.Send(queue="q", message=v.Message(body="m")))
    for delivery in range(3):
        shown = v.MessageView(body="m", sequence_number=1, lock_token=str(delivery))
        told.of(v.Receive(queue="q"), v.Received(message=shown))
        told.of(v.Abandon(queue="q", lock_token=str(delivery)))
    seen = attrs.evolve(v.Observability(), dead_letters=dead_letters)
    assert explain(told.events, told.profile, seen).is_found is not dead_letters
    told.of(v.Receive(queue="q"), v.Empty())
    assert explain(told.events, told.profile, seen).is_found is not dead_letters
