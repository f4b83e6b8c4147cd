"""Where a message of a transaction stands: as of its send, or as of the commit (SEQ-07)."""

import pytest
from told import Told

from busproof import vocabulary as v

TAKE = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
PEEK = v.Peek(queue="q", count=3)


def view(body: str, number: int) -> v.MessageView:
    return v.MessageView(body=body, sequence_number=number, partition_key="k")


class Sent(Told):
    """A queue whose messages have one key."""

    def __init__(self, *, partitioned: bool = True) -> None:
        super().__init__()
        self.of(v.CreateQueue(queue="q", partitioned=partitioned))

    def send(self, *bodies: str, transaction: str | None = None) -> "Sent":
        for body in bodies:
            message = v.Message(body=body, partition_key="k")
            self.of(v.Send(queue="q", message=message, transaction=transaction))
        return self

    def comes(self, *bodies: str) -> bool:
        """Return whether messages may be received, and peeked, in this order."""
        views = [view(body, number) for number, body in enumerate(bodies, 1)]
        before = list(self.events)
        for one in views:
            self.of(TAKE, v.Received(message=one))
        is_received = self.is_explained
        self.events = before
        assert self.may_be(PEEK, v.Peeked(messages=tuple(views))) is is_received
        return is_received


@pytest.mark.parametrize("order", ["12", "21"])
def test_it_may_come_before_or_after_what_was_sent_meanwhile(order: str) -> None:
    sent = Sent().of(v.BeginTransaction(transaction="t"))
    assert isinstance(sent, Sent)
    sent.send("1", transaction="t").send("2").of(v.CommitTransaction(transaction="t"))
    assert sent.comes(*order)


@pytest.mark.parametrize("order", ["12", "21"])
@pytest.mark.parametrize("first", ["t", "u"])
def test_of_two_transactions_side_by_side_either_may_come_first(first: str, order: str) -> None:
    sent = Sent()
    for name, body in (("t", "1"), ("u", "2")):
        sent.of(v.BeginTransaction(transaction=name))
        sent.send(body, transaction=name)
    for name in sorted("tu", key=lambda name: name != first):
        sent.of(v.CommitTransaction(transaction=name))
    assert sent.comes(*order)


def test_it_comes_after_what_was_sent_before_and_in_the_order_of_its_sends() -> None:
    sent = Sent().send("0").of(v.BeginTransaction(transaction="t"))
    assert isinstance(sent, Sent)
    sent.send("1", "2", transaction="t").of(v.CommitTransaction(transaction="t"))
    assert sent.comes(*"012")
    assert not sent.comes(*"102")
    assert not sent.comes(*"021")
