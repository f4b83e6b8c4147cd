"""Checks for adapters that declare more of sending, transactions among it."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.checking.findings import Wrong
from busproof.adapters.checking.talk import HOUR, LOCK, Talk, check

__all__ = ["SENDING"]


@check(
    v.Capability.DUPLICATE_DETECTION,
    title="takes a duplicate and drops it",
    protocol="A send whose MessageId was seen within the window succeeds with Done, and its "
    "message is not kept.",
    advice="Create the queue with detection on, and pass the MessageId on.",
)
def _detects_duplicates(talk: Talk) -> None:
    talk.begin(duplicate_detection=True)
    talk.send("m1", message_id="one id")
    talk.send("m2", message_id="one id")
    talk.expect(v.Received, talk.take())
    talk.expect(v.Empty, talk.take())


@check(
    v.Capability.BATCHES,
    title="sends several messages in one request",
    protocol="SendBatch takes all of its messages or none, and succeeds with Done.",
    advice="Send the messages in one request of your client, not one by one.",
)
def _sends_batches(talk: Talk) -> None:
    talk.begin()
    batch = tuple(v.Message(body=body, partition_key="k") for body in ("m1", "m2"))
    talk.expect(v.Done, v.SendBatch(queue="q", messages=batch))
    bodies = sorted(talk.expect(v.Received, talk.take()).message.body for _ in batch)
    talk.insist(bodies == ["m1", "m2"], f"of a batch of 'm1' and 'm2' came {bodies}")
    talk.expect(v.Empty, talk.take())


@check(
    v.Capability.SCHEDULING,
    title="schedules a message and cancels it",
    protocol="Schedule succeeds with Scheduled and the sequence_number that CancelScheduled takes; "
    "the message never comes before its time.",
    advice="Give the number that your client returns for the scheduled message.",
)
def _schedules(talk: Talk) -> None:
    talk.begin()
    later = v.Schedule(queue="q", message=v.Message(body="m1"), delay=HOUR)
    number = talk.expect(v.Scheduled, later).sequence_number
    talk.expect(v.Empty, talk.take())
    if number is None:
        raise Wrong("Schedule came back without the sequence_number that cancels the message")
    talk.expect(v.Done, v.CancelScheduled(queue="q", sequence_number=number))


@check(
    v.Capability.TIME_TO_LIVE,
    title="takes times to live",
    protocol="A message, a queue, a topic and a subscription may have a time_to_live in "
    "microseconds; a message that is still alive is received.",
    advice="Convert from microseconds to what your client takes; null means for ever.",
)
def _takes_times_to_live(talk: Talk) -> None:
    talk.begin(time_to_live=2 * HOUR, dead_letter_expired=True)
    sent = talk.send(time_to_live=HOUR)
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


@check(
    v.Capability.DISPOSABLE_NAMESPACE,
    title="takes messages of a certain size",
    protocol="A message with a size is sent with a body of so many bytes, and comes back without "
    "the padding.",
    advice="Pad the body when you send, and cut the padding off when you receive.",
)
def _pads_bodies(talk: Talk) -> None:
    talk.begin()
    sent = talk.send(size=20_000)
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


@check(
    v.Capability.TRANSACTIONS,
    title="commits and rolls back",
    protocol="Begin, Commit and RollBack succeed with Done; what was sent within is receivable "
    "after the commit and never before; a name that is not open is Refused.",
    advice="Keep open transactions under the names that the client chose.",
)
def _commits(talk: Talk) -> None:
    talk.begin()
    _send_in_transaction(talk, "t1", "m1")
    talk.expect(v.Empty, talk.take())
    talk.expect(v.Done, v.CommitTransaction(transaction="t1"))
    talk.expect(v.Received, talk.take())
    _send_in_transaction(talk, "t2", "m2")
    talk.expect(v.Done, v.RollBackTransaction(transaction="t2"))
    talk.expect(v.Empty, talk.take())
    talk.expect(v.Refused, v.CommitTransaction(transaction="no such transaction"))


def _send_in_transaction(talk: Talk, transaction: str, body: str) -> None:
    talk.expect(v.Done, v.BeginTransaction(transaction=transaction))
    message = v.Message(body=body, partition_key="k")
    talk.expect(v.Done, v.Send(queue="q", message=message, transaction=transaction))


@check(
    v.Capability.TRANSACTIONAL_SETTLEMENT,
    v.Capability.TRANSACTIONS,
    v.Capability.PEEK_LOCK,
    title="settles within transactions",
    protocol="Complete, Abandon, DeadLetter and Defer may name a transaction, and take effect "
    "when it commits. After a rollback the receiver can settle again.",
    advice="Enlist the settlement in the transaction; do not settle at the commit yourself.",
)
def _settle_in_transaction(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    talk.send(partition_key="k")
    _, token = talk.lock()
    for transaction, ending in (
        ("t1", v.RollBackTransaction(transaction="t1")),
        ("t2", v.CommitTransaction(transaction="t2")),
    ):
        talk.expect(v.Done, v.BeginTransaction(transaction=transaction))
        within = v.Complete(queue="q", lock_token=token, transaction=transaction)
        talk.expect(v.Done, within)
        talk.expect(v.Done, ending)
    talk.expect(v.Refused, v.Complete(queue="q", lock_token=token))


@check(
    v.Capability.CLIENT_LIBRARY,
    title="sets a MessageId where the sender sets none",
    protocol="With the capability client-library each message comes back with a MessageId.",
    advice="Do not declare it unless sends pass through such a library.",
)
def _assigns_message_ids(talk: Talk) -> None:
    talk.begin()
    talk.send()
    view = talk.expect(v.Received, talk.take()).message
    talk.insist(
        bool(view.message_id), "the message came back without message_id, which a library sets"
    )


SENDING: Final = (
    _detects_duplicates,
    _sends_batches,
    _schedules,
    _takes_times_to_live,
    _pads_bodies,
    _commits,
    _settle_in_transaction,
    _assigns_message_ids,
)
"""Checks of what senders need, and of transactions."""
