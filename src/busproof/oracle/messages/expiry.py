"""Time to live: when a message expires, and the possible consequences.

A message that may have expired is uncertain: a receive may give it or not. One that has surely
expired is not given, unless a front end may have it in its cache (CACHE-EXPIRY). It stays where it
was until it is seen elsewhere, because the documents do not say when it is removed.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.message_store import replace
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.schedule import NEVER
from busproof.oracle.state import Namespace, Queue, Subscription, with_queue
from busproof.oracle.transition import Rules
from busproof.oracle.window import Window


def lesser(one: int | None, other: int | None) -> int | None:
    """Return the shorter of two times to live; `None` is unlimited."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def lifetime(queue: Queue, message: v.Message) -> int | None:
    """TTL-03, TTL-04: return a message's time to live in this entity; `None` is unlimited."""
    # The shorter of the two applies (TTL-04).
    return lesser(queue.settings.time_to_live, message.time_to_live)


def lifetimes(queue: Queue, message: v.Message, came: Window | None = None) -> Window:
    """Return the bounds of a message's time to live in microseconds; `NEVER` is unlimited.

    Args:
        queue: the entity.
        message: the message.
        came: when the message may have arrived; `None` if it arrives now, under the current
            settings.
    """
    managed, own = queue.managed, message.time_to_live or NEVER
    # It may have arrived before an update, under any earlier setting.
    before = came is not None and came.earliest <= managed.lifetimes_changed_at
    most = managed.lifetimes_ever if before else managed.lifetimes
    return Window(min(own, most.earliest), min(own, most.latest))


EXPIRED: Final = "TTLExpiredException"
"""TTL-07: the dead-letter reason of a message that expired."""


def death(
    namespace: Namespace,
    queue: Queue,
    message: v.Message,
    came: Window | None = None,
    least: int | None = None,
) -> Window | None:
    """Return when a message expires that arrived now, or at `came`; `None` if it never does.

    A message that may arrive at any later time may expire even if nothing limits its life now,
    because the entity's time to live may be changed until then.

    Args:
        namespace: the state, for the clock's slack.
        queue: the entity.
        message: the message.
        came: when it may have arrived; `None` if now.
        least: a shorter time to live that it may have brought from the entity that forwarded it.
    """
    unlimited = message.time_to_live is None and queue.managed.lifetimes.earliest >= NEVER
    if unlimited and came is None and least is None and namespace.now.latest < NEVER:
        return None
    slack, lives = namespace.observability.slack, lifetimes(queue, message, came)
    came = came or namespace.now
    # `least` only makes the earliest end earlier: whether a forwarded message keeps the time to
    # live of its source is open (FORWARD-LIFETIME).
    shortest = min(lives.earliest, least or NEVER)
    if shortest >= NEVER and came.latest < NEVER:
        return None
    return Window(
        min(NEVER, came.earliest + shortest - slack), min(NEVER, came.latest + lives.latest + slack)
    )


def is_mortal(stored: Stored) -> bool:
    """Return whether the message may ever expire, as far as is known now."""
    return stored.dies is not None and stored.dies.earliest < NEVER


def may_have_died(namespace: Namespace, stored: Stored) -> bool:
    """Return whether the message may have expired by now."""
    return stored.dies is not None and stored.dies.earliest <= namespace.now.latest


def has_died(namespace: Namespace, stored: Stored) -> bool:
    """Return whether the message has surely expired, on a clock that never stands still."""
    return stored.dies is not None and stored.dies.latest < namespace.now.earliest


def is_surely_dead(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """TTL-13: return whether the message has expired even if the clock stood still (OUTAGE-CLOCK).

    How long a clock stands still in an outage is unknown, so after one nothing has surely expired.
    """
    if not has_died(namespace, stored):
        return False
    # A subscription is in its topic's partitions.
    topic = queue.role.topic if isinstance(queue.role, Subscription) else None
    # An outage of a topic also stops the clocks of its subscriptions.
    owner = namespace.queues.get(topic or "", queue)
    disturbed = queue.managed.disturbed or owner.managed.disturbed
    return not disturbed or namespace.reading("OUTAGE-CLOCK") == "runs"


def may_be_given(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """TTL-01, TTL-06, TTL-14: return whether the message's age permits a delivery."""
    if stored.gone:
        return False
    if stored.dies is None or not is_surely_dead(namespace, queue, stored):
        return True
    if not _may_be_cached(namespace, queue, stored, stored.dies):
        return False
    return namespace.now.earliest <= _leaves_cache(namespace, queue, stored.dies)


def _may_be_cached(namespace: Namespace, queue: Queue, stored: Stored, dies: Window) -> bool:
    """Return whether a receive may have cached the message while it was alive and available.

    An unanswered receive may fill a cache at any time.
    """
    reading = namespace.reading("CACHE-EXPIRY")
    if queue.settings.requires_session or reading == "not-handed-out":
        return False
    # A cache can have taken it only while no receiver held it.
    free = stored.available_at if stored.lock is None else stored.lock.expiry.earliest
    untold = queue.receivers.lost or namespace.observability.left_out
    received = stored.since < queue.receivers.count or bool(untold)
    return received and free <= dies.latest


def _leaves_cache(namespace: Namespace, queue: Queue, dies: Window) -> int:
    """Return the latest moment at which a cache may have the message, one lock after its expiry.

    One that was cached for a receive which deletes is not locked: nothing ends its stay there
    (CACHE-DELETE).
    """
    if queue.receivers.deleters and namespace.reading("CACHE-DELETE") != "kept":
        return NEVER
    return dies.latest + queue.managed.lock_durations_ever.latest + namespace.observability.slack


def at_hand(namespace: Namespace, queue: Queue, stored: Stored) -> Stored:
    """Return the message, which was seen now, with the latest expiry of one that has arrived."""
    if stored.dies is None:
        return stored
    came = Window(stored.arrived.earliest, namespace.now.latest)
    life = lifetimes(queue, stored.message, came).latest
    if life >= NEVER:
        # Once it has arrived unlimited, an update of the entity cannot limit it any more.
        return stored if is_mortal(stored) else evolve(stored, dies=None)
    # Being seen now, it has arrived by now, so it expires at most one life from now.
    latest = min(stored.dies.latest, namespace.now.latest + life + namespace.observability.slack)
    return evolve(stored, dies=Window(stored.dies.earliest, latest))


def ended(namespace: Namespace, name: str) -> Namespace:
    """Return the namespace after a queue's messages were examined for expiry."""
    before = queue = namespace.queues[name]
    while (due := queue.deaths.first_ahead(namespace.now)) is not None:
        number, deaths = due
        queue = _perhaps(evolve(queue, deaths=deaths), number)
    while (due := queue.deaths.first_due(namespace.now)) is not None:
        number, deaths = due
        queue = _surely(namespace, evolve(queue, deaths=deaths), number)
    return namespace if queue is before else with_queue(namespace, queue)


def _perhaps(queue: Queue, number: int) -> Queue:
    """Return the queue with this message uncertain, because it may have expired."""
    stored = queue.messages.get(number)
    if stored is None or stored.dies is None:
        return queue
    if stored.available:
        queue = replace(queue, stored, evolve(stored, certain=False, aged=True))
    deaths = queue.deaths.looked_at_after(stored.dies.latest, number)
    return evolve(queue, deaths=deaths)


def _surely(namespace: Namespace, queue: Queue, number: int) -> Queue:
    """Return the queue with this message expired for good, unless a lock or a cache keeps it."""
    stored = queue.messages.get(number)
    if stored is None or stored.dies is None or stored.gone:
        return queue
    # The clock may have stood still in an outage (OUTAGE-CLOCK); then it is not sure yet.
    if not is_surely_dead(namespace, queue, stored):
        return queue
    # TTL-11: whether a deferred message can be received after its expiry is open, so it may stay.
    if stored.deferred:
        return evolve(queue, deaths=evolve(queue.deaths, aside=True))
    if stored.lock is not None:
        # An expired message that is locked can still be settled; it is examined again when its lock
        # ends.
        return queue
    if may_be_given(namespace, queue, stored):
        until = _leaves_cache(namespace, queue, stored.dies)
        deaths = evolve(queue.deaths, cached=max(queue.deaths.cached, until))
        return evolve(queue, deaths=deaths.looked_at_after(until, number))
    return _gone(queue, stored, stored.dies)


def _gone(queue: Queue, stored: Stored, dies: Window) -> Queue:
    """Return the queue in which this message cannot be received any more."""
    deaths = queue.deaths
    # Only a message that had to be given until it aged shows an expiry by being absent.
    if stored.aged:
        session_id = stored.message.session_id if queue.settings.requires_session else None
        deaths = deaths.showing(session_id, _rules_of_absence(queue, stored, dies))
    queue = replace(queue, stored, evolve(stored, certain=False, gone=True))
    return evolve(queue, deaths=deaths)


def _rules_of_absence(queue: Queue, stored: Stored, dies: Window) -> Rules:
    """TTL-01, TTL-03, TTL-04, TTL-06, TTL-13, MGMT-12: return rules that its absence exercises."""
    own, most, managed = stored.message.time_to_live, queue.settings.time_to_live, queue.managed
    # Only a message that arrived after the update surely has the new time to live.
    newer = stored.came is None and stored.number >= managed.lifetimes_apply_from
    updated = newer and managed.lifetimes_changed_at >= 0
    return rules_if(
        (True, "TTL-01"),
        (updated and most is not None and (own is None or own > most), "MGMT-12"),
        (own is None, "TTL-03"),
        (own is not None and most not in (None, own), "TTL-04"),
        (stored.deliveries and stored.available_at > dies.latest, "TTL-06"),
        (queue.outages.down and queue.outages.must_hit(stored.where), "TTL-13"),
    )
