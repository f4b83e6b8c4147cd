"""Each message of a batch comes over AMQP with its own values, however they differ."""

import pytest

pytest.importorskip("proton")

from busproof import vocabulary as v

QUEUE = "orders"
MESSAGES = (
    v.Message(body="m1", partition_key="a", subject="x", properties={"n": True, "only": 1}),
    v.Message(body="m2", partition_key="b", properties={"n": 1}, correlation_id="c", size=70_000),
    v.Message(body="m3", message_id="i", properties={"n": 2.5, "none": ""}, to="t", size=300),
    v.Message(
        body="m4 ñ日本", subject="", properties={"n": "1"}, reply_to="r", content_type="text"
    ),
    v.Message(body="m5", partition_key="a", properties={"n": 2**53}, size=90_000),
    v.Message(body="m6", reply_to_session_id="s", properties={"n": None, "far": "ñ" * 200}),
)
"""No two have the same properties; in all they take several frames."""

KEPT = (
    *("partition_key", "correlation_id", "to", "reply_to", "subject", "reply_to_session_id"),
    *("content_type", "size"),
)


def kinds(message):
    """Return the application's own properties with their types, for which 1 is not true."""
    return {name: (type(value), value) for name, value in message.properties.items()}


@pytest.mark.slow
@pytest.mark.parametrize("transaction", [None, "t1"])
def test_each_message_of_a_batch_has_its_own_values(ask, transaction):
    ask(v.CreateQueue(queue=QUEUE, partitioned=False))
    if transaction is not None:
        ask(v.BeginTransaction(transaction=transaction))
    batch = v.SendBatch(queue=QUEUE, messages=MESSAGES, transaction=transaction)
    assert isinstance(ask(batch), v.Done)
    if transaction is not None:
        ask(v.CommitTransaction(transaction=transaction))
    for message in MESSAGES:
        came = ask(v.Receive(queue=QUEUE, mode=v.ReceiveMode.RECEIVE_AND_DELETE))
        assert isinstance(came, v.Received)
        assert (message.body, kinds(message)) == (came.message.body, kinds(came.message))
        for name in KEPT:
            assert (getattr(message, name) or None) == (getattr(came.message, name) or None)
