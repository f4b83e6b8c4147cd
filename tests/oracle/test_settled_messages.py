"""What a queue remembers of messages that it no longer holds is compressed."""

import pytest

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.oracle import settled_messages
from busproof.oracle.entity import Queue
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.oracle.step import accept
from busproof.spec import load

HELD = 3
LIFE = 3600 * v.MICROSECONDS


@pytest.fixture
def namespace(monkeypatch: pytest.MonkeyPatch) -> Namespace:
    monkeypatch.setattr(settled_messages, "AT_LEAST", 40)
    observability = v.observability_from(v.Clock.VIRTUAL, 0, ())
    return fresh_namespace(v.profile_for(load()), observability)


def settled(namespace: Namespace, messages: int, body: str | None = None) -> Queue:
    """A queue that has held a few messages at all times, each abandoned and then completed."""
    model = ModelAdapter()
    model.start(namespace.profile)
    possible: tuple[Namespace, ...] = (namespace,)

    def ask(command: v.Command) -> v.Outcome:
        nonlocal possible
        outcome = model.do(command, "c1").outcome
        possible = accept(possible, v.Event(command=command, outcome=outcome)).possible
        return outcome

    ask(v.CreateQueue(queue="q"))
    for number in range(messages + HELD):
        name = f"m{number}"
        message = v.Message(
            body=body or name, message_id=name, partition_key="k", time_to_live=LIFE
        )
        ask(v.Send(queue="q", message=message))
        for settle in (v.Abandon, v.Complete) if number >= HELD else ():
            received = ask(v.Receive(queue="q"))
            assert isinstance(received, v.Received)
            ask(settle(queue="q", lock_token=str(received.message.lock_token)))
    (state,) = possible
    return state.queues["q"]


def entries(heap: object) -> int:
    match heap:
        case (_, _, left, right):
            return 1 + entries(left) + entries(right)
        case _:
            return 0


def test_equal_bodies_keep_no_numbers_of_messages_that_have_gone(namespace: Namespace) -> None:
    """But for the first one: the body does not identify a message any more."""
    numbers = settled(namespace, 200, "same").bodies.get("same")
    assert isinstance(numbers, tuple)
    assert 0 == numbers[0]
    assert HELD < len(numbers) < 4 * HELD


def test_what_is_not_compressed_does_not_grow_with_the_messages(namespace: Namespace) -> None:
    queue = settled(namespace, 200)
    assert len(queue.messages) == HELD
    for known in (queue.bodies, queue.tokens, queue.numbers):
        assert len(known.recent) < 40
    assert entries(queue.timers) < 40
    assert sum(map(entries, queue.fronts.values())) < 40
    assert entries(queue.deaths.ahead) < 40


def test_all_is_still_known(namespace: Namespace, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = settled(namespace, 200)
    monkeypatch.undo()
    whole = settled(namespace, 200)
    assert [len(whole.bodies.recent), len(whole.tokens.recent)] == [203, 400]
    assert packed.bodies == whole.bodies
    assert packed.tokens == whole.tokens
    assert packed.numbers == whole.numbers
