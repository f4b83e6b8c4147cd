"""Checks for adapters that declare a certain capability."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.checking.findings import Lesson, NoAnswer
from busproof.adapters.checking.talk import Check, Talk

__all__ = ["CAPABILITIES"]

LOCK: Final = 60_000_000
HOUR: Final = 3_600_000_000


def _locked(talk: Talk, connection: str = "c1", session: str | None = None) -> v.MessageView:
    """Receive a message with a lock and return it; raise `Wrong` if it has no lock token."""
    view = talk.expect(v.Received, v.Receive(queue="q", session_id=session), connection).message
    talk.insist(
        bool(view.lock_token),
        "the message came without the lock_token that completes or abandons it",
    )
    return view


def _token(view: v.MessageView) -> str:
    return view.lock_token or ""


def _settles(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    talk.send()
    first = _locked(talk)
    talk.expect(v.Done, v.Abandon(queue="q", lock_token=_token(first)))
    again = _locked(talk)
    talk.expect(v.Done, v.Complete(queue="q", lock_token=_token(again)))
    talk.expect(v.Empty, v.Receive(queue="q"))


def _names_locks(talk: Talk) -> None:
    talk.begin(lock_duration=LOCK)
    talk.send("m1")
    talk.send("m2")
    one, other = _locked(talk), _locked(talk)
    talk.insist(
        one.lock_token != other.lock_token,
        f"two messages are locked under the same lock_token, {one.lock_token!r}",
    )
    talk.expect(v.Done, v.Complete(queue="q", lock_token=_token(one)))
    talk.expect(v.Refused, v.Complete(queue="q", lock_token=_token(one)))


def _tells_lock_ends(talk: Talk) -> None:
    talk.start()
    if talk.virtual:
        talk.expect(v.Done, v.AdvanceClock(duration=HOUR))
    talk.begin(lock_duration=LOCK)
    talk.send()
    until = _locked(talk).locked_until
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


PEEKS: Final = 20
"""Maximum number of peeks without messages, because an empty partition may answer a peek."""


def _peeks(talk: Talk) -> None:
    talk.begin()
    nothing = talk.expect(v.Peeked, v.Peek(queue="q", count=3))
    talk.insist(not nothing.messages, "a peek into an empty queue shows a message")
    sent = [talk.send(body) for body in ("m1", "m2")]
    first = talk.expect(v.Peeked, v.Peek(queue="q", count=1)).messages
    talk.insist(len(first) <= 1, f"a peek for one message shows {len(first)}")
    bodies = {message.body: message for message in sent}
    tries = (talk.expect(v.Peeked, v.Peek(queue="q", count=5)).messages for _ in range(PEEKS))
    views = next(filter(None, tries), ())
    if not views:
        raise NoAnswer("a peek showed nothing although two messages are there, which is permitted")
    for view in views:
        talk.insist(view.body in bodies, f"a peek shows {view.body!r}, which was never sent")
        talk.insist_same(bodies[view.body], view)
    talk.expect(v.Received, talk.take())


def _holds_sessions(talk: Talk) -> None:
    talk.begin(requires_session=True)
    sent = talk.send("m1", session_id="s")
    talk.expect(v.Done, v.AcceptSession(queue="q", session_id="s"))
    take = v.Receive(queue="q", mode=talk.take().mode, session_id="s")
    talk.insist_same(sent, talk.expect(v.Received, take).message)
    talk.expect(v.Empty, take)
    talk.expect(v.Done, v.CloseSession(queue="q", session_id="s"))
    talk.expect(v.Done, v.AcceptSession(queue="q", session_id="s"), "c2")
    talk.expect(v.Refused, v.AcceptSession(queue="q", session_id="s"), "c3")


def _detects_duplicates(talk: Talk) -> None:
    talk.begin(duplicate_detection=True)
    talk.send("m1", message_id="one id")
    talk.send("m2", message_id="one id")
    talk.expect(v.Received, talk.take())
    talk.expect(v.Empty, talk.take())


def _commits(talk: Talk) -> None:
    talk.begin()
    _send_within(talk, "t1", "m1")
    talk.expect(v.Empty, talk.take())
    talk.expect(v.Done, v.CommitTransaction(transaction="t1"))
    talk.expect(v.Received, talk.take())
    _send_within(talk, "t2", "m2")
    talk.expect(v.Done, v.RollBackTransaction(transaction="t2"))
    talk.expect(v.Empty, talk.take())
    talk.expect(v.Refused, v.CommitTransaction(transaction="no such transaction"))


def _send_within(talk: Talk, transaction: str, body: str) -> None:
    talk.expect(v.Done, v.BeginTransaction(transaction=transaction))
    message = v.Message(body=body, partition_key="k")
    talk.expect(v.Done, v.Send(queue="q", message=message, transaction=transaction))


def _suffers_outages(talk: Talk) -> None:
    talk.begin()
    for partition in range(talk.profile.partitions):
        talk.expect(v.Done, v.TakePartitionDown(queue="q", partition=partition))
        talk.expect(v.Done, v.BringPartitionUp(queue="q", partition=partition))
    talk.expect(v.Refused, v.TakePartitionDown(queue="q", partition=talk.profile.partitions))
    talk.send(partition_key="k")
    talk.expect(v.Received, talk.take())


def _tells_partitions(talk: Talk) -> None:
    talk.begin()
    partitions = talk.profile.partitions
    for body in ("m1", "m2", "m3"):
        sent = talk.observe(v.Send(queue="q", message=v.Message(body=body)))
        talk.insist(isinstance(sent.outcome, v.Done), "a send to a queue that is up is to be Done")
        number = talk.expect(v.Received, talk.take()).message.sequence_number
        witnessed = None if sent.witness is None else sent.witness.partition
        named = None if number is None else number >> v.SEQUENCE_BITS
        talk.insist(
            witnessed is not None or named is not None,
            "neither a witness of the send nor a sequence number tells the partition",
        )
        talk.insist(
            None in (witnessed, named) or witnessed == named,
            f"the witness says partition {witnessed}, and sequence number {number} says {named}",
        )
        one = witnessed if witnessed is not None else named
        talk.insist(
            one is not None and 0 <= one < partitions,
            f"partition {one} does not exist: there are {partitions}, numbered from 0",
        )


def _has_regular_queues(talk: Talk) -> None:
    talk.begin(partitioned=False)
    sent = talk.send()
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


def _assigns_message_ids(talk: Talk) -> None:
    talk.begin()
    talk.send()
    view = talk.expect(v.Received, talk.take()).message
    talk.insist(
        bool(view.message_id), "the message came back without message_id, which a library sets"
    )


def _lesson(capability: v.Capability, title: str, protocol: str, advice: str) -> Lesson:
    return Lesson(id=capability.value, title=title, protocol=protocol, advice=advice)


CAPABILITIES: Final = (
    Check(
        needs=v.Capability.PEEK_LOCK,
        lesson=_lesson(
            v.Capability.PEEK_LOCK,
            "locks, completes and abandons a message",
            "Receive in mode peek-lock gives a lock_token that Complete and Abandon accept.",
            "Assign a token to each delivery if your client has no text for it.",
        ),
        run=_settles,
    ),
    Check(
        needs=v.Capability.PEEK_LOCK,
        lesson=Lesson(
            id="lock-token",
            title="names each lock, and refuses one that is lost",
            protocol="A lock_token names one lock; settling by one that has ended is Refused.",
            advice="Make a new token for each delivery, and answer lock-lost for an unknown one.",
        ),
        run=_names_locks,
    ),
    Check(
        needs=v.Capability.PEEK_LOCK,
        lesson=Lesson(
            id="locked-until",
            title="reports when a lock ends, on the right clock",
            protocol="locked_until is in microseconds since start under a virtual clock, and left "
            "out under a real one.",
            advice="Reset virtual time at start, and convert; leave the field out if in doubt.",
        ),
        run=_tells_lock_ends,
    ),
    Check(
        needs=v.Capability.PEEK,
        lesson=_lesson(
            v.Capability.PEEK,
            "peeks",
            "Peek shows up to count messages and takes none; an empty queue gives Peeked with "
            "none.",
            "Answer Peeked with an empty list, not Empty, where nothing is there.",
        ),
        run=_peeks,
    ),
    Check(
        needs=v.Capability.SESSIONS,
        lesson=_lesson(
            v.Capability.SESSIONS,
            "accepts, receives from and closes a session",
            "AcceptSession locks a session for its connection until CloseSession; Receive names "
            "the session.",
            "Keep the session's receiver with its connection, and answer "
            "session-cannot-be-locked to another one.",
        ),
        run=_holds_sessions,
    ),
    Check(
        needs=v.Capability.DUPLICATE_DETECTION,
        lesson=_lesson(
            v.Capability.DUPLICATE_DETECTION,
            "takes a duplicate and drops it",
            "A send whose MessageId was seen within the window succeeds with Done, and its message "
            "is not kept.",
            "Create the queue with detection on, and pass the MessageId on.",
        ),
        run=_detects_duplicates,
    ),
    Check(
        needs=v.Capability.TRANSACTIONS,
        lesson=_lesson(
            v.Capability.TRANSACTIONS,
            "commits and rolls back",
            "Begin, Commit and RollBack succeed with Done; what was sent within is receivable "
            "after the commit and never before; a name that is not open is Refused.",
            "Keep open transactions under the names that the client chose.",
        ),
        run=_commits,
    ),
    Check(
        needs=v.Capability.OUTAGES,
        lesson=_lesson(
            v.Capability.OUTAGES,
            "takes every partition down and up",
            "Partitions are numbered from 0 to one less than the profile has; others are Refused.",
            "Make as many partitions as start says, or do not declare outages.",
        ),
        run=_suffers_outages,
    ),
    Check(
        needs=v.Capability.WITNESS,
        lesson=_lesson(
            v.Capability.WITNESS,
            "reports the partition of a message",
            "The witness of a send, or the top 16 of the 64 bits of a sequence number, or both, "
            "name the partition, from 0.",
            "In JavaScript, use BigInt: numbers above 2^53 lose their last bits.",
        ),
        run=_tells_partitions,
    ),
    Check(
        needs=v.Capability.REGULAR_QUEUES,
        lesson=_lesson(
            v.Capability.REGULAR_QUEUES,
            "creates queues that are not partitioned",
            "CreateQueue with partitioned false makes a queue that is not partitioned.",
            "Read the field; its default is true.",
        ),
        run=_has_regular_queues,
    ),
    Check(
        needs=v.Capability.CLIENT_LIBRARY,
        lesson=_lesson(
            v.Capability.CLIENT_LIBRARY,
            "sets a MessageId where the sender sets none",
            "With the capability client-library each message comes back with a MessageId.",
            "Do not declare it unless sends pass through such a library.",
        ),
        run=_assigns_message_ids,
    ),
)
"""The checks of each capability."""
