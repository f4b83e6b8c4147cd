"""An empty MessageId, which may count as one or as none (EMPTY-KEY)."""

import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.mutants.runs import create, play, receive, send
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept
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
def test_copies_with_an_empty_message_id_are_dropped_where_it_counts(
    reading: str, copies: int
) -> None:
    profile = profile_for(load(), readings={"EMPTY-KEY": reading}, partitions=3)
    bus = ModelAdapter()
    bus.start(profile)
    possible: tuple[Namespace, ...] = (fresh_namespace(profile, bus.declaration.observability),)
    received = 0
    for event in play(bus, RUN):
        possible = accept(possible, event).possible
        assert possible, event
        received += isinstance(event.outcome, v.Received)
    assert copies == received
