"""A bus of its own forgets the messages that are gone; whoever judges remembers them."""

from typing import Any

import pytest
from telling import Told, received, telling

from busproof.oracle.state import Queue
from busproof.vocabulary.commands import (
    Abandon,
    AddRule,
    Complete,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Receive,
    Send,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, Received
from busproof.vocabulary.subscription_rules import TrueFilter
from busproof.vocabulary.values import ReceiveMode

RECEIVE = Receive(queue="q")
DELETING = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)


def does(told: Told, command: Any) -> Outcome:
    """What the bus does, and is afterwards."""
    taken = told.step(command)[0]
    told.possible = (taken.next,)
    return taken.outcome


def sends(told: Told, **properties: Any) -> None:
    does(told, Send(queue="q", message=told.message(**properties)))


def token(outcome: Outcome) -> str:
    assert isinstance(outcome, Received)
    return outcome.message.lock_token or ""


def kept(queue: Queue) -> tuple[int, ...]:
    """How much is known of messages, whether they are there or not."""
    by_name = (queue.bodies, queue.numbers, queue.tokens, queue.locks, queue.namesakes)
    heaps = (*queue.fronts.values(), *queue.ready.values(), *queue.lines.values())
    return (*map(len, by_name), sum(each is not None for each in heaps))


@pytest.fixture
def bus() -> Told:
    """A bus of its own, with a queue."""
    found = telling(decides=True)
    found.queue()
    return found


@pytest.mark.parametrize("key", [None, "k"])
@pytest.mark.parametrize("deleting", [True, False])
def test_nothing_is_left_of_what_is_gone(bus: Told, key: str | None, *, deleting: bool) -> None:
    """However many there were; what is still there is known as before."""
    empty = kept(bus.possible[0].queues["q"])
    for number in range(20):
        sends(bus, message_id=str(number), partition_key=key)
    for _ in range(20):
        outcome = does(bus, DELETING if deleting else RECEIVE)
        if not deleting:
            does(bus, Complete(queue="q", lock_token=token(outcome)))
    assert empty == kept(bus.possible[0].queues["q"])


def test_what_was_given_back_is_there_until_it_is_settled(bus: Told) -> None:
    """Also in another order than it came in."""
    for _ in range(6):
        sends(bus)
    tokens = [token(does(bus, RECEIVE)) for _ in range(6)]
    does(bus, Abandon(queue="q", lock_token=tokens[0]))
    for each in reversed(tokens[2:]):
        does(bus, Complete(queue="q", lock_token=each))
    does(bus, DeadLetter(queue="q", lock_token=tokens[1], reason="r"))
    again = does(bus, RECEIVE)
    assert isinstance(again, Received)
    assert "m1" == again.message.body
    does(bus, Complete(queue="q", lock_token=token(again)))
    queue = bus.possible[0].queues["q"]
    assert 0 == len(queue.messages)
    assert 0 == len(queue.bodies)


def test_a_refused_send_leaves_nothing_either(bus: Told) -> None:
    """A message whose keys differ never was there."""
    sends(bus, session_id="s", partition_key="k")
    assert 0 == len(bus.possible[0].queues["q"].bodies)


def test_who_judges_remembers_what_is_gone(told: Told) -> None:
    """It may not come again."""
    told.queue()
    told.send()
    told.has(DELETING, received("m1"))
    assert not told.saw(DELETING, received("m1")).possible


def test_copies_of_one_message_are_known_until_the_last_is_gone() -> None:
    """Each rule with an action makes one of its own."""
    bus = telling(decides=True)
    there: dict[str, Any] = {"topic": "n", "subscription": "s"}
    does(bus, CreateTopic(topic="n"))
    does(bus, CreateSubscription(**there))
    for rule in "ab":
        does(bus, AddRule(rule=rule, filter=TrueFilter(), action="SET x = 1", **there))
    does(bus, Send(queue="n", message=Message(body="m")))
    known = []
    for _ in range(3):
        left = bus.possible[0].queues["n/subscriptions/s"]
        assert set(left.bodies.get("m", ())) == set(left.messages)
        known.append(len(left.messages))
        does(bus, Receive(queue="n/subscriptions/s", mode=ReceiveMode.RECEIVE_AND_DELETE))
    assert [3, 2, 1] == known
    assert "m" not in bus.possible[0].queues["n/subscriptions/s"].bodies
