"""What was there before is recalled when an answer needs it, and is judged from then on."""

from collections.abc import Sequence

import pytest

from busproof import vocabulary as v
from busproof.history.records import Began
from busproof.judging.begun.judge import judged_begun
from busproof.spec import load

Exchange = tuple[v.Command, v.Outcome]
SETTINGS = (v.CreateQueue(queue="q", max_delivery_count=3),)
OF_SESSIONS = (v.CreateQueue(queue="q", requires_session=True),)
BY_COPIES = (v.CreateQueue(queue="q", duplicate_detection=True),)
DELETING = v.ReceiveMode.RECEIVE_AND_DELETE
DONE = v.Done()


def rules(
    exchanges: Sequence[Exchange | tuple[v.Command, v.Outcome, str]],
    settings: tuple[v.Command, ...] = (),
) -> tuple[v.RuleId, ...]:
    """Return the rules that these answers break, whatever was before; each may name its client."""
    events = []
    for command, outcome, *client in exchanges:
        name = client[0] if client else "one"
        events.append(v.Event(client=name, connection=name, command=command, outcome=outcome))
    profile = v.profile_for(load(), edition="cs-2020-12")
    judged, _ = judged_begun(events, profile, v.Observability(), Began(settings=settings))
    return () if judged.violation is None else judged.violation.rules


def given(body: str, number: int, token: str | None = None, **fields: object) -> v.Received:
    """Return an answer that gives a message, by default without a lock."""
    view = v.MessageView(body=body, sequence_number=number, lock_token=token, **fields)
    return v.Received(message=view)


def shown(*views: v.MessageView) -> v.Peeked:
    """Return an answer that shows messages."""
    return v.Peeked(messages=views)


def old(number: int, state: v.MessageState = v.MessageState.ACTIVE) -> v.MessageView:
    """Return how a peek shows a message from before."""
    return v.MessageView(body="old", sequence_number=number, state=state)


RECEIVE = v.Receive(queue="q")
PEEK = v.Peek(queue="q")
BY_NUMBER = v.ReceiveDeferred(queue="q", sequence_numbers=(7,))
DEFERRED = v.ReceivedSeveral(
    messages=(v.MessageView(body="old", sequence_number=7, lock_token="t"),)
)
IN_SESSION = v.Receive(queue="q", session_id="s")
OF_SESSION = {"session_id": "s"}


@pytest.mark.parametrize(
    ("exchanges", "settings"),
    [
        pytest.param(
            [(PEEK, shown(old(7))), (PEEK, shown(old(7, v.MessageState.DEFERRED)))],
            (),
            id="deferred by a receiver from before",
        ),
        pytest.param(
            [
                (PEEK, shown(old(7))),
                (RECEIVE, v.Empty()),
                (RECEIVE, given("old", 7, "t", delivery_count=2)),
            ],
            SETTINGS,
            id="held by a receiver from before",
        ),
        pytest.param([(PEEK, shown(old(7))), (RECEIVE, v.Empty())], SETTINGS, id="expired"),
        pytest.param(
            [
                (RECEIVE, given("first", 7, "t", partition_key="k")),
                (v.Abandon(queue="q", lock_token="t"), DONE),
                (RECEIVE, given("second", 8, "u", partition_key="k")),
                (RECEIVE, given("first", 7, "w", partition_key="k")),
            ],
            SETTINGS,
            id="in a cache from before",
        ),
        pytest.param(
            [
                (BY_NUMBER, DEFERRED),
                (v.Abandon(queue="q", lock_token="t"), DONE),
                (BY_NUMBER, DEFERRED),
            ],
            SETTINGS,
            id="deferred before",
        ),
        pytest.param(
            [
                (v.Send(queue="q", message=v.Message(body="new", message_id="m")), DONE),
                (RECEIVE, v.Empty()),
            ],
            BY_COPIES,
            id="a copy of one from before",
        ),
        pytest.param(
            [
                (IN_SESSION, given("old", 7, "t", **OF_SESSION), "one"),
                (v.AcceptSession(queue="q", session_id="s"), DONE, "other"),
            ],
            OF_SESSIONS,
            id="a session lock from before has ended",
        ),
    ],
)
def test_what_a_past_explains_is_allowed(
    exchanges: list[Exchange], settings: tuple[v.Command, ...]
) -> None:
    assert () == rules(exchanges, settings)


@pytest.mark.parametrize(
    ("exchanges", "settings", "rule"),
    [
        pytest.param(
            [
                (BY_NUMBER, DEFERRED),
                (v.Complete(queue="q", lock_token="t"), DONE),
                (BY_NUMBER, DEFERRED),
            ],
            (),
            "DEFER-07",
            id="deferred before, settled and given again",
        ),
        pytest.param(
            [
                (RECEIVE, given("old", 7, "t", delivery_count=1)),
                (v.Abandon(queue="q", lock_token="t"), DONE),
                (RECEIVE, given("old", 7, "u", delivery_count=1)),
            ],
            SETTINGS,
            "DLQ-01",
            id="a delivery that is not counted",
        ),
        pytest.param(
            [
                (RECEIVE, given("old", 7, "t", partition_key="k")),
                (RECEIVE, given("other", (1 << v.SEQUENCE_BITS) + 7, "u", partition_key="k")),
            ],
            (),
            "KEY-02",
            id="a key in two partitions",
        ),
        pytest.param(
            [
                (IN_SESSION, given("old", 7, "t", **OF_SESSION), "one"),
                (v.AcceptSession(queue="q", session_id="s"), DONE, "other"),
                (v.RenewSessionLock(queue="q", session_id="s"), v.Renewed(), "one"),
            ],
            (),
            "SESS-12",
            id="a session with two holders",
        ),
        pytest.param(
            [
                (v.Receive(queue="q", mode=DELETING), given("old", 7)),
                (PEEK, shown(old(7))),
            ],
            (),
            "LIFE-03",
            id="received and deleted, and shown again",
        ),
        pytest.param(
            [
                (RECEIVE, given("old", 7, "t")),
                (v.Complete(queue="q", lock_token="t"), DONE),
                (RECEIVE, given("other", 7, "u")),
            ],
            (),
            "SEQ-03",
            id="a number of two messages",
        ),
        pytest.param(
            [
                (v.Send(queue="q", message=v.Message(body="new")), DONE),
                (RECEIVE, v.Empty()),
            ],
            SETTINGS,
            "LIFE-09",
            id="withheld",
        ),
    ],
)
def test_what_no_past_explains_is_charged_to_its_rule(
    exchanges: list[Exchange], settings: tuple[v.Command, ...], rule: v.RuleId
) -> None:
    assert rule in rules(exchanges, settings)
