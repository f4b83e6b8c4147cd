"""Requests that overlap may have happened in either order; those that do not, may not."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from recorded import DONE, received

from busproof import vocabulary as v
from busproof.judging.decompose import parts
from busproof.judging.linearization import overlap
from busproof.judging.linearization.overlap import Judged, judged
from busproof.judging.witnesses import with_late_witnesses

PROFILE = v.Profile(edition="de-2021-04", partitions=4)
REAL = v.Observability(clock=v.Clock.REAL)
CREATE = v.CreateQueue(queue="q")
SEND = v.Send(queue="q", message=v.Message(body="m"))
RECEIVE = v.Receive(queue="q")


def event(client: str, command: object, outcome: v.Outcome, called: int, returned: int) -> v.Event:
    return v.Event(
        client=client,
        connection=client,
        called=called,
        returned=returned,
        command=command,
        outcome=outcome,
    )


def history(sent: tuple[int, int], empty: tuple[int, int]) -> list[v.Event]:
    return [
        event("c1", CREATE, DONE, 0, 1),
        event("c1", SEND, DONE, *sent),
        event("c2", RECEIVE, v.Empty(), *empty),
    ]


def test_an_empty_receive_beside_a_send_may_have_come_first() -> None:
    found = judged(history(sent=(10, 30), empty=(20, 40)), PROFILE, REAL)
    assert found.violation is None
    assert found.order == (0, 2, 1)


def test_an_empty_receive_after_a_send_did_not_come_first() -> None:
    found = judged(history(sent=(10, 30), empty=(31, 40)), PROFILE, REAL)
    assert "LIFE-09" in found.violation.rules
    assert found.order == (0, 1, 2)


def test_management_of_a_queue_is_no_matter_of_others() -> None:
    """But a list of all queues is one of everything."""
    other = v.CreateQueue(queue="other")
    events = [
        event("c1", CREATE, DONE, 0, 1),
        event("c1", other, DONE, 0, 1),
        *(event("c1", kind(queue="q"), DONE, 2, 3) for kind in (v.GetQueue, v.UpdateQueue)),
        event("c1", v.DeleteQueue(queue="q"), DONE, 4, 5),
    ]
    assert [[0, 2, 3, 4], [1]] == parts(events)
    everything = event("c2", v.ListQueues(), v.Listed(names=("other",)), 6, 7)
    assert [[0, 1, 2, 3, 4, 5]] == parts([*events, everything])


def test_requests_of_one_client_keep_their_order() -> None:
    events = [attrs.evolve(each, client="c1") for each in history((10, 30), (20, 40))]
    assert judged(events, PROFILE, REAL).violation is not None


@pytest.mark.parametrize(
    ("times", "why"),
    [
        ({"sent": (10, 30), "empty": (20, 40)}, "too many possible orders"),
        ({"sent": (10, 20), "empty": (30, 40)}, "too many executions"),
    ],
    ids=["overlapping", "one after another"],
)
def test_a_search_that_runs_out_of_its_budget_gives_no_verdict(monkeypatch, times, why) -> None:
    monkeypatch.setattr(overlap, "STEPS_AT_LEAST", 2)
    monkeypatch.setattr(overlap, "STEPS_AN_EVENT", 0)
    monkeypatch.setattr(overlap, "hasty_budget", lambda _: 2)
    monkeypatch.setattr(overlap, "impossible_subhistory", lambda *_: None)
    found = judged(history(**times), PROFILE, REAL)
    assert found.violation is None
    assert why in found.exhausted


def test_a_received_number_shows_where_the_send_before_went() -> None:
    events = [
        event("c1", CREATE, DONE, 0, 0),
        event("c1", SEND, DONE, 0, 0),
        event("c1", RECEIVE, received("m", 3), 0, 0),
    ]
    witness = with_late_witnesses(events)[1].witness
    assert witness.partition == 3


def test_negative_number_reveals_no_partition() -> None:
    """Found with a history that had one: the witness could not be built."""
    events = [
        event("c1", CREATE, DONE, 0, 0),
        event("c1", SEND, DONE, 0, 0),
        event("c1", RECEIVE, received("m", -3), 0, 0),
    ]
    assert with_late_witnesses(events)[1].witness is None
    assert judged(events, PROFILE, REAL).violation is not None


def test_the_replay_reads_events_by_their_calls() -> None:
    """A recorder writes them as they are answered: the empty receive was called early."""
    events = [
        event("c1", CREATE, DONE, 0, 1),
        event("c1", SEND, DONE, 10, 20),
        event("c1", RECEIVE, received("m"), 50, 60),
        event("c2", RECEIVE, v.Empty(), 15, 70),
        event("c1", RECEIVE, v.Empty(), 55, 75),
    ]
    found = judged(
        [*events[:3], event("c2", RECEIVE, v.Empty(), 5, 19), *events[3:]], PROFILE, REAL
    )
    assert (None, "") == (found.violation, found.exhausted)
    assert [0, 3, 4, 1, 2, 5] == list(found.order)


def test_a_list_of_all_entities_hides_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """With it the events are one part, which may be too much to judge."""
    whole = overlap.judged_part

    def tired(events: Sequence[v.Event], *terms: Any) -> Judged:
        if any(isinstance(one.command, v.ListQueues) for one in events):
            return Judged(evidence=Counter(), exhausted="too many orders")
        return whole(events, *terms)

    monkeypatch.setattr(overlap, "judged_part", tired)
    listed = event("c3", v.ListQueues(), v.Listed(names=("q",)), 2, 3)
    events = history(sent=(10, 30), empty=(31, 40))
    events.insert(1, listed)
    found = judged(events, PROFILE, REAL)
    assert "LIFE-09" in found.violation.rules
    assert [0, 2, 3] == list(found.order)
    allowed = judged([*events[:3]], PROFILE, REAL)
    assert (None, "too many orders") == (allowed.violation, allowed.exhausted)
