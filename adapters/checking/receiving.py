"""Checks for adapters that declare more of receiving: locks, settlements and peeks."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.checking.findings import NoAnswer, Wrong
from busproof.adapters.checking.talk import HOUR, LOCK, Talk, check
from busproof.history.render.outcomes import outcome_words

__all__ = ["RECEIVING"]

DEAD_LETTERS: Final = "q/$deadletterqueue"
PEEKS: Final = 20
"""Maximum number of peeks without messages, because an empty partition may answer a peek."""


@check(
    v.Capability.PEEK_LOCK,
    title="locks, completes and abandons a message",
    protocol="Receive in mode peek-lock gives a lock_token that Complete and Abandon accept.",
    advice="Assign a token to each delivery if your client has no text for it.",
)
def _settles(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    talk.send()
    _, first = talk.lock()
    talk.expect(v.Done, v.Abandon(queue="q", lock_token=first))
    _, again = talk.lock()
    talk.expect(v.Done, v.Complete(queue="q", lock_token=again))
    talk.expect(v.Empty, v.Receive(queue="q"))


@check(
    v.Capability.PEEK_LOCK,
    id="lock-token",
    title="names each lock, and refuses one that is lost",
    protocol="A lock_token names one lock; settling by one that has ended is Refused.",
    advice="Make a new token for each delivery, and answer lock-lost for an unknown one.",
)
def _names_locks(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    talk.send("m1")
    talk.send("m2")
    (_, one), (_, other) = talk.lock(), talk.lock()
    talk.insist(one != other, f"two messages are locked under the same lock_token, {one!r}")
    talk.expect(v.Done, v.Complete(queue="q", lock_token=one))
    talk.expect(v.Refused, v.Complete(queue="q", lock_token=one))


@check(
    v.Capability.PEEK_LOCK,
    id="locked-until",
    title="reports when a lock ends, on the right clock",
    protocol="locked_until is in microseconds since start under a virtual clock, and left out "
    "under a real one.",
    advice="Reset virtual time at start, and convert; leave the field out if in doubt.",
)
def _reports_lock_ends(talk: Talk) -> None:
    talk.start()
    if talk.virtual:
        talk.expect(v.Done, v.AdvanceClock(duration=HOUR))
    talk.begin(lock_duration=LOCK)
    talk.send()
    until = talk.lock()[0].locked_until
    if not talk.virtual:
        talk.insist(
            until is None,
            f"locked_until is {until} under a real clock, where nothing says what it counts from: "
            "leave it out",
        )
    elif until is not None:
        # Both the lock and the clock that measures its end may be off by the slack.
        latest = LOCK + 2 * talk.declaration.slack
        talk.insist(
            -2 * talk.declaration.slack <= until <= latest,
            f"locked_until is {until} right after start, with a lock of {LOCK} µs: it must be a "
            f"virtual time in microseconds since start, at most {latest}",
        )


@check(
    v.Capability.LOCK_RENEWAL,
    v.Capability.PEEK_LOCK,
    title="renews a lock",
    protocol="RenewLock succeeds with Renewed.",
    advice="Renew the lock that the lock_token names, for its full duration.",
)
def _renews_locks(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    talk.send()
    _, token = talk.lock()
    talk.expect(v.Renewed, v.RenewLock(queue="q", lock_token=token))
    talk.expect(v.Done, v.Complete(queue="q", lock_token=token))


@check(
    v.Capability.SETTLE_BATCHES,
    v.Capability.PEEK_LOCK,
    title="settles several messages in one request",
    protocol="SettleBatch settles all of the messages or refuses; messages of one key are in one "
    "partition, and are settled.",
    advice="Settle in one request of your client, not one by one.",
)
def _settles_several(talk: Talk) -> None:
    tokens = _two_locked(talk)
    settle = v.SettleBatch(queue="q", lock_tokens=tokens, disposition=v.Disposition.COMPLETE)
    talk.expect(v.Done, settle)
    talk.expect(v.Empty, talk.take())


@check(
    v.Capability.RENEW_LOCKS,
    v.Capability.PEEK_LOCK,
    title="renews several locks in one request",
    protocol="RenewLocks succeeds with RenewedSeveral: a time for each lock in the order of the "
    "request, or none at all.",
    advice="Renew in one request of your client; leave the times out if in doubt.",
)
def _renews_several(talk: Talk) -> None:
    tokens = _two_locked(talk)
    until = talk.expect(v.RenewedSeveral, v.RenewLocks(queue="q", lock_tokens=tokens)).locked_until
    talk.insist(
        len(until) in (0, len(tokens)),
        f"{len(tokens)} locks were renewed, and {len(until)} times came back",
    )


def _two_locked(talk: Talk) -> tuple[str, str]:
    """Start again with two locked messages of one key, and return their lock tokens."""
    _send_two(talk)
    return talk.lock()[1], talk.lock()[1]


def _send_two(talk: Talk) -> None:
    """Start again with two messages of one key."""
    talk.begin(lock_duration=LOCK)
    for body in ("m1", "m2"):
        talk.send(body, partition_key="k")


@check(
    v.Capability.DEAD_LETTER,
    v.Capability.PEEK_LOCK,
    title="counts deliveries and moves a message to the dead-letter queue",
    protocol="A message received under a lock has its delivery_count, 1 the first time. "
    "DeadLetter moves it to QUEUE/$deadletterqueue, which is received from like a queue.",
    advice="Turn that path into what your client takes; add 1 if your client counts earlier "
    "deliveries.",
)
def _dead_letters(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    sent = talk.send()
    view, token = talk.lock()
    count = view.delivery_count
    talk.insist(count == 1, f"delivery_count is {count} the first time, and must be 1")
    talk.expect(v.Done, v.DeadLetter(queue="q", lock_token=token, reason="a reason"))
    talk.insist_same(sent, talk.expect(v.Received, _take(DEAD_LETTERS)).message)


@check(
    v.Capability.DEAD_LETTER_REASONS,
    v.Capability.DEAD_LETTER,
    v.Capability.PEEK_LOCK,
    title="reports the reason of a dead letter",
    protocol="A dead letter has the reason that DeadLetter named as its dead_letter_reason.",
    advice="Read the property DeadLetterReason of the received message.",
)
def _reports_reasons(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    talk.send()
    _, token = talk.lock()
    talk.expect(v.Done, v.DeadLetter(queue="q", lock_token=token, reason="a reason"))
    reason = talk.expect(v.Received, _take(DEAD_LETTERS)).message.dead_letter_reason
    talk.insist(
        reason == "a reason", f"dead_letter_reason came back as {reason!r}, and was 'a reason'"
    )


@check(
    v.Capability.TRANSFER_DEAD_LETTER,
    title="receives from the transfer dead-letter queue",
    protocol="QUEUE/$transfer/$deadletterqueue is received from like a queue.",
    advice="Turn that path into what your client takes.",
)
def _has_transfer_dead_letters(talk: Talk) -> None:
    talk.begin()
    talk.expect(v.Empty, _take("q/$transfer/$deadletterqueue"))


@check(
    v.Capability.DEFERRAL,
    v.Capability.PEEK_LOCK,
    title="defers a message and receives it by its number",
    protocol="Defer sets a message aside; ReceiveDeferred returns it by the sequence_number that "
    "it was received with, as ReceivedSeveral.",
    advice="Give each received message its sequence_number.",
)
def _defers(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    sent = talk.send()
    view, token = talk.lock()
    talk.expect(v.Done, v.Defer(queue="q", lock_token=token))
    talk.expect(v.Empty, talk.take())
    numbers, mode = (_number(view),), v.ReceiveMode.RECEIVE_AND_DELETE
    take = v.ReceiveDeferred(queue="q", sequence_numbers=numbers, mode=mode)
    came = talk.expect(v.ReceivedSeveral, take).messages
    talk.insist(len(came) == 1, f"one deferred message was asked for, and {len(came)} came back")
    talk.insist_same(sent, came[0])


@check(
    v.Capability.RECEIVE_BATCHES,
    title="receives several messages in one request",
    protocol="ReceiveBatch succeeds with ReceivedSeveral, at least one message and at most count, "
    "or with Empty.",
    advice="Answer Empty instead of an empty list.",
)
def _receives_batches(talk: Talk) -> None:
    talk.begin()
    several = v.ReceiveBatch(queue="q", count=2, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    talk.expect(v.Empty, several)
    sent = {body: talk.send(body) for body in ("m1", "m2", "m3")}
    views = talk.expect(v.ReceivedSeveral, several).messages
    talk.insist(1 <= len(views) <= 2, f"a receive of up to 2 messages got {len(views)}")
    for view in views:
        talk.insist(view.body in sent, f"{view.body!r} was received, and never sent")
        talk.insist_same(sent[view.body], view)


@check(
    v.Capability.DELETE_BATCH,
    title="deletes several messages in one request",
    protocol="DeleteBatch succeeds with Deleted and the number of deleted messages, at most "
    "count; a partitioned queue may refuse.",
    advice="Pass the count on, and report what your client reports.",
)
def _deletes_batches(talk: Talk) -> None:
    talk.begin(partitioned=v.Capability.REGULAR_QUEUES not in talk.declaration.capabilities)
    talk.send("m1")
    talk.send("m2")
    outcome = talk.ask(v.DeleteBatch(queue="q", count=1))
    talk.insist(
        isinstance(outcome, v.Refused) or (isinstance(outcome, v.Deleted) and outcome.count <= 1),
        f"DeleteBatch of one message came back as {outcome_words(outcome)}",
    )


@check(
    v.Capability.PEEK,
    title="peeks",
    protocol="Peek shows up to count messages and takes none; an empty queue gives Peeked with "
    "none.",
    advice="Answer Peeked with an empty list, not Empty, where nothing is there.",
)
def _peeks(talk: Talk) -> None:
    talk.begin()
    nothing = talk.expect(v.Peeked, v.Peek(queue="q", count=3))
    talk.insist(not nothing.messages, "a peek into an empty queue shows a message")
    sent = [talk.send(body) for body in ("m1", "m2")]
    first = talk.expect(v.Peeked, v.Peek(queue="q", count=1)).messages
    talk.insist(len(first) <= 1, f"a peek for one message shows {len(first)}")
    bodies = {message.body: message for message in sent}
    for view in _peek_until_found(talk):
        talk.insist(view.body in bodies, f"a peek shows {view.body!r}, which was never sent")
        talk.insist_same(bodies[view.body], view)
    talk.expect(v.Received, talk.take())


@check(
    v.Capability.SEQUENCE_NUMBERS,
    title="reports sequence numbers",
    protocol="Received and peeked messages have their sequence_number, the same wherever they are "
    "seen.",
    advice="Give the number that your client reports; in JavaScript, use BigInt.",
)
def _reports_numbers(talk: Talk) -> None:
    _send_two(talk)
    one, other = (_number(talk.expect(v.Received, talk.take()).message) for _ in range(2))
    talk.insist(one != other, f"two messages of one partition have the same number, {one}")


@check(
    v.Capability.PEEK_FROM,
    v.Capability.PEEK,
    title="peeks from a sequence number on",
    protocol="Peek with a from_sequence_number shows messages with this number or behind it, each "
    "with its own.",
    advice="Pass the number on.",
)
def _peeks_from(talk: Talk) -> None:
    _send_two(talk)
    start = max(map(_number, _peek_until_found(talk)))
    later = talk.expect(v.Peeked, v.Peek(queue="q", count=5, from_sequence_number=start)).messages
    for number in map(_number, later):
        talk.insist(number >= start, f"a peek from {start} on shows the message {number}")


def _peek_until_found(talk: Talk) -> tuple[v.MessageView, ...]:
    """Peek until messages come; raise `NoAnswer` if none do."""
    tries = (talk.expect(v.Peeked, v.Peek(queue="q", count=5)).messages for _ in range(PEEKS))
    views = next(filter(None, tries), ())
    if not views:
        raise NoAnswer("a peek showed nothing although two messages are there, which is permitted")
    return views


def _number(view: v.MessageView) -> int:
    """Return the sequence number of a message; raise `Wrong` if it has none."""
    if view.sequence_number is None:
        raise Wrong("the message came without its sequence_number")
    return view.sequence_number


def _take(path: str) -> v.Receive:
    return v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


RECEIVING: Final = (
    _settles,
    _names_locks,
    _reports_lock_ends,
    _renews_locks,
    _settles_several,
    _renews_several,
    _dead_letters,
    _reports_reasons,
    _has_transfer_dead_letters,
    _defers,
    _receives_batches,
    _deletes_batches,
    _peeks,
    _reports_numbers,
    _peeks_from,
)
"""Checks of what receivers need."""
