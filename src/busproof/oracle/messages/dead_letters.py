"""Dead-letter queues: which messages move there, and which requests they refuse.

The dead-letter queue of an entity is a queue of its own in the namespace, under the entity's path
with a suffix; the first request that concerns it creates it. Messages that the service moves there
may take any time to arrive (DEAD-LETTER-DELAY). Such a message stays in its entity, where no
receiver gets it, and is moved once it is seen among the dead letters.

The documents do not say when a forwarded dead letter arrives at its destination. Once it is seen
there, it is looked up among the dead letters; until then the destination does not know it. So a
destination is judged only if unknown messages affect nothing but receives and peeks.
"""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival, Passed
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.deliveries import may_be_spent, most_counted
from busproof.oracle.messages.enqueueing import go_on
from busproof.oracle.messages.expiry import EXPIRED, may_have_died
from busproof.oracle.messages.message_store import remove, replace, store
from busproof.oracle.queued_messages import Stored
from busproof.oracle.registry import as_created
from busproof.oracle.state import NEVER, Namespace, Queue, everywhere, with_queue
from busproof.oracle.unjudged import stop_judging
from busproof.oracle.window import Window

DELIVERED_TOO_OFTEN: Final = "MaxDeliveryCountExceeded"
"""DLQ-02: the reason of a message that reached its delivery limit."""


def dead_letters(namespace: Namespace, owner: Queue, suffix: str = v.DEAD_LETTERS) -> Queue:
    """Return the dead-letter queue of an entity; a new one if no request has concerned it yet.

    It requires no sessions, detects no duplicates and has no delivery limit (DLQ-09). It forwards
    if its entity says so (FWD-35); the transfer dead-letter queue never does.
    """
    name = owner.settings.queue + suffix
    known = namespace.queues.get(name)
    if known is not None:
        return known
    settings = evolve(
        owner.settings,
        queue=name,
        requires_session=False,
        duplicate_detection=False,
        # Messages that could not be forwarded once are not forwarded again.
        forward_to=None if suffix == v.TRANSFERS else owner.settings.forward_dead_letters_to,
        forward_dead_letters_to=None,
        max_delivery_count=NEVER,
        # Nothing is removed from a dead-letter queue for its age (DLQ-09).
        time_to_live=None,
        dead_letter_expired=False,
    )
    # It exists as long as its entity does, so a lock may have any duration that the entity ever
    # had.
    managed = evolve(
        as_created(settings),
        lock_durations=owner.managed.lock_durations_ever,
        lock_durations_ever=owner.managed.lock_durations_ever,
        disturbed=owner.managed.disturbed,
        trouble=owner.managed.trouble,
        before=owner.managed.before,
    )
    return Queue(settings=settings, outages=owner.outages, doubtful=owner.doubtful, managed=managed)


def with_dead_letters(
    namespace: Namespace, owner: Queue, suffix: str = v.DEAD_LETTERS
) -> Namespace:
    """Return the namespace with the entity's dead-letter queue."""
    return with_queue(namespace, dead_letters(namespace, owner, suffix))


def moved(
    namespace: Namespace,
    owner: Queue,
    stored: Stored,
    reason: str | None,
    rule: v.RuleId,
    *,
    certain: bool,
) -> Namespace:
    """Return the namespace with the message moved from its entity to the dead-letter queue.

    Args:
        namespace: the namespace.
        owner: the message's entity.
        stored: the message.
        reason: why it is moved; `None` if the documents name no reason.
        rule: the rule that moves it.
        certain: whether it has surely arrived.
    """
    left = with_queue(namespace, remove(owner, stored))
    letter = evolve(stored, certain=certain, reason=reason, returned=rule)
    return add_dead_letter(left, owner, letter)


def add_dead_letter(
    namespace: Namespace, owner: Queue, letter: Stored, suffix: str = v.DEAD_LETTERS
) -> Namespace:
    """Return the namespace with a dead letter added; the message has left its entity already."""
    # The documents do not say that a dead letter stays in its partition (DLQ-PARTITIONS).
    same = namespace.reading("DLQ-PARTITIONS") == "same-partition"
    where = letter.where if same else everywhere(namespace, owner.settings)
    dead = dead_letters(namespace, owner, suffix)
    # Whether earlier deliveries count is open (DEAD-LETTER-COUNT).
    kept = namespace.reading("DEAD-LETTER-COUNT") == "kept"
    most = most_counted(namespace, owner, letter)
    dead = store(
        dead,
        letter.message,
        None,
        where,
        namespace.now,
        certain=letter.certain,
        reason=letter.reason,
        returned=letter.returned,
        counted=letter.counted if kept else 0,
        uncounted=most - letter.counted + 1 if kept else 0,
    )
    return with_queue(namespace, dead)


def _why_dead(
    namespace: Namespace, owner: Queue, stored: Stored
) -> Iterator[tuple[str | None, v.RuleId]]:
    """Yield each reason, with its rule, for which a message may be dead-lettered by now."""
    # Several reasons may hold at once, and a bus reports one of them.
    # Each unanswered dead-lettering may have happened, with its own reason.
    for reason in stored.leaving:
        yield reason, "TTL-07" if reason == EXPIRED else "DLQ-05"
    free = stored.lock is None or stored.lock.expiry.earliest <= namespace.now.latest
    if stored.spent or (free and may_be_spent(namespace, owner, stored)):
        yield DELIVERED_TOO_OFTEN, "DLQ-02"
    # TTL-10: a deferred message is not dead-lettered when it expires, before it is asked for.
    expires = owner.settings.dead_letter_expired and stored.deferred is not True
    if expires and free and may_have_died(namespace, stored):
        yield EXPIRED, "TTL-07"
    # It was accepted although it has no session, and nobody can receive it.
    if owner.settings.requires_session and stored.message.session_id is None:
        yield None, "SESS-01"


def arrivals(namespace: Namespace, dead: Queue, body: str) -> Iterator[tuple[Namespace, Stored]]:
    """Yield the messages that may have moved to a dead-letter queue, if one is seen there now."""
    name = dead.settings.queue
    owner = namespace.queues.get(v.owner_of(name))
    if owner is None or not v.is_dead_letter_queue(name):
        return
    for stored in () if name.endswith(v.TRANSFERS) else owner.with_body(body):
        for reason, rule in _why_dead(namespace, owner, stored):
            after = moved(namespace, owner, stored, reason, rule, certain=True)
            yield _newest(after, dead, stored.available_at)
    yield from _undeliverable(namespace, owner, dead, body)


def _newest(namespace: Namespace, dead: Queue, earliest: int) -> tuple[Namespace, Stored]:
    """Return the latest dead letter, which may have been there unseen since `earliest`."""
    dead = namespace.queues[dead.settings.queue]
    late = dead.messages[dead.arrivals - 1]
    # A front end may have cached it meanwhile, under a lock that began then.
    newest = evolve(late, since=0, available_at=earliest)
    return with_queue(namespace, replace(dead, late, newest)), newest


def _undeliverable(
    namespace: Namespace, owner: Queue, dead: Queue, body: str
) -> Iterator[tuple[Namespace, Stored]]:
    """FWD-18 to FWD-21, FWD-27: yield the message with this body that could not be forwarded."""
    suffix = v.TRANSFERS if dead.settings.queue.endswith(v.TRANSFERS) else v.DEAD_LETTERS
    passed = owner.passed.get(body, ())
    record = next(
        (candidate for candidate in passed if suffix in _transfer_queues(namespace, candidate)),
        None,
    )
    if record is None:
        return
    # It becomes a dead letter only once, here or in the other dead-letter queue.
    rest = list(passed)
    rest.remove(record)
    left = evolve(owner, passed=owner.passed.set(body, tuple(rest)))
    letter = Stored(
        number=0,
        message=record.arrival.message,
        where=everywhere(namespace, owner.settings),
        certain=True,
        returned=record.kept_by,
    )
    yield _newest(add_dead_letter(with_queue(namespace, left), left, letter, suffix), dead, 0)


def _transfer_queues(namespace: Namespace, passed: Passed) -> tuple[str, ...]:
    """FORWARD-FAILED: return the dead-letter queues where a message that failed may be."""
    reading = namespace.reading("FORWARD-FAILED", "either")
    # Where the message did not surely fail, it may be in either of the two.
    if passed.kept_by is None or reading == "either":
        return v.DEAD_LETTER_SUFFIXES
    return (v.TRANSFERS,) if reading == "transfer" else (v.DEAD_LETTERS,)


def with_dead_letter_forwarding(namespace: Namespace, name: str) -> Namespace:
    """FWD-35: return the namespace after the creation of an entity that forwards dead letters."""
    owner = namespace.queues[name]
    destination = owner.settings.forward_dead_letters_to
    if destination is None:
        return namespace
    namespace = with_dead_letters(namespace, owner)
    return namespace if _is_plain(namespace, destination) else stop_judging(namespace, name)


def _is_plain(namespace: Namespace, name: str) -> bool:
    """Return whether messages arrive here at once, and unseen affect only receives and peeks."""
    queue = namespace.queues.get(name)
    if queue is None:
        # A request refused in an outage may have named an entity that does not exist.
        return False
    settings = queue.settings
    special = settings.requires_session or settings.duplicate_detection
    onward = settings.forward_to is not None or settings.forward_dead_letters_to is not None
    # Where a dead letter is that a disabled destination does not take is open.
    takes = queue.managed.status.takes
    return takes and queue.role is None and not (special or onward)


def seen_beyond(
    namespace: Namespace, dead: Queue, letter: Stored, name: str
) -> tuple[Namespace, Stored]:
    """Return a dead letter that was seen at the destination of its forwarding.

    It may have been there for any time, so no order relates it to messages of its key.
    """
    going = Arrival(
        message=letter.message,
        key=None,
        where=letter.where,
        certain=False,
        answered=False,
        came=Window(letter.available_at, namespace.now.latest),
        reason=letter.reason,
    )
    left = remove(dead, letter)
    after = go_on(with_queue(namespace, left), left, going)
    queue = after.queues[name]
    late = queue.messages[queue.arrivals - 1]
    newest = evolve(late, line=None, since=0, available_at=letter.available_at)
    return with_queue(after, replace(queue, late, newest)), newest
