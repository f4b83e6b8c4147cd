"""An empty MessageId, which may count as one or as none (EMPTY-KEY)."""

import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.replay.explanation import explain
from busproof.mutants.runs import create, play, receive, send
from busproof.spec import load
from busproof.vocabulary.profile import profile_for

TAKE = receive(delete=True)
RUN = (
    create(duplicate_detection=True),
    send("m1", message_id=""),
    send("m2", message_id=""),
    *(TAKE, TAKE),
)


@pytest.mark.parametrize(("reading", "copies"), [("set", 1), ("unset", 2)])
def test_copies_with_an_empty_message_id_are_dropped_where_it_counts(reading, copies) -> None:
    profile = profile_for(load(), readings={"EMPTY-KEY": reading}, partitions=3)
    bus = ModelAdapter()
    bus.start(profile)
    events = list(play(bus, RUN))
    assert explain(events, profile, bus.declaration.observability).is_found
    assert copies == sum(isinstance(event.outcome, v.Received) for event in events)
