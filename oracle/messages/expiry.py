"""Time to live: when a message has outlived it, and what may become of it then.

A message that may have died is uncertain: it may be given, and need not be. One that surely has is
given to nobody, unless a front end may hold it in its cache (CACHE-EXPIRY). It stays where it was
until it is seen elsewhere, for nobody states when it is removed.
"""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.messages.message_store import replace
from busproof.oracle.queued_messages import Stored
from busproof.oracle.schedule import NEVER
from busproof.oracle.state import Namespace, Queue, Subscription, with_queue
from busproof.oracle.window import Window

__all__ = [
    "EXPIRED",
    "at_hand",
    "death",
    "ended",
    "has_died",
    "is_mortal",
    "is_surely_dead",
    "lesser",
    "lifetime",
    "lifetimes",
    "may_be_given",
    "may_have_died",
    "outlived",
    "why_given",
    "why_nothing",
]


def lesser(one: int | None, other: int | None) -> int | None:
    """The shorter of two times to live, `None` being for ever."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def lifetime(queue: Queue, message: v.Message) -> int | None:
    """TTL-03, TTL-04: how long a message lives in an entity as it is now, in microseconds."""
    return lesser(queue.settings.time_to_live, message.time_to_live)


def lifetimes(queue: Queue, message: v.Message, came: Window | None = None) -> Window:
    """The shortest and the longest that a message may live; `NEVER` is for ever.

    Args:
        queue: the entity.
        message: the message.
        came: when it may have come, if that is not now, under the settings of now.
    """
    managed, own = queue.managed, message.time_to_live or NEVER
    before = came is not None and came.earliest <= managed.lifetimes_changed_at
    most = managed.lifetimes_ever if before else managed.lifetimes
    return Window(min(own, most.earliest), min(own, most.latest))


EXPIRED: Final = "TTLExpiredException"
"""TTL-07: the reason of a dead letter that has outlived its time to live."""


def death(
    namespace: Namespace,
    queue: Queue,
    message: v.Message,
    came: Window | None = None,
    least: int | None = None,
) -> Window | None:
    """When a message dies that came now, or then; `None` if it never does.

    What may come at any later time may always die: its entity's time to live can change until then.

    Args:
        namespace: for its vantage.
        queue: the entity.
        message: the message.
        came: when it may have come, if that need not be now.
        least: a shorter time to live that it may have, from where it comes from.
    """
    slack, lives = namespace.vantage.slack, lifetimes(queue, message, came)
    came = came or namespace.now
    shortest = min(lives.earliest, least or NEVER)
    if shortest >= NEVER and came.latest < NEVER:
        return None
    return Window(
        min(NEVER, came.earliest + shortest - slack), min(NEVER, came.latest + lives.latest + slack)
    )


def is_mortal(stored: Stored) -> bool:
    """Whether the message may die, as far as is known by now."""
    return stored.dies is not None and stored.dies.earliest < NEVER


def may_have_died(namespace: Namespace, stored: Stored) -> bool:
    """Whether the message's time to live may have passed."""
    return stored.dies is not None and stored.dies.earliest <= namespace.now.latest


def has_died(namespace: Namespace, stored: Stored) -> bool:
    """Whether the message's time to live has passed for sure."""
    return stored.dies is not None and stored.dies.latest < namespace.now.earliest


def is_surely_dead(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """TTL-13: whether it has died even if its clock stood still in each outage (OUTAGE-CLOCK).

    Nobody knows how long a clock stood still, so after an outage nothing has died for sure.
    """
    if not has_died(namespace, stored):
        return False
    topic = queue.role.topic if isinstance(queue.role, Subscription) else None
    owner = namespace.queues.get(topic or "", queue)
    disturbed = queue.managed.disturbed or owner.managed.disturbed
    return not disturbed or namespace.profile.readings.get("OUTAGE-CLOCK") == "runs"


def may_be_given(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """TTL-01, TTL-06, TTL-14: whether its age leaves it possible that a receive is given it."""
    if stored.gone:
        return False
    if stored.dies is None or not is_surely_dead(namespace, queue, stored):
        return True
    if not _may_be_cached(namespace, queue, stored, stored.dies):
        return False
    return namespace.now.earliest <= _leaves_cache(namespace, queue, stored.dies)


def _may_be_cached(namespace: Namespace, queue: Queue, stored: Stored, dies: Window) -> bool:
    """Whether a receive may have put it into a cache while it was alive and free.

    One that was never answered may do that at any time.
    """
    reading = namespace.profile.readings.get("CACHE-EXPIRY")
    if queue.settings.requires_session or reading == "not-handed-out":
        return False
    free = stored.available_at if stored.lock is None else stored.lock.expiry.earliest
    untold = queue.receivers.lost or namespace.vantage.left_out
    received = stored.since < queue.receivers.count or bool(untold)
    return received and free <= dies.latest


def _leaves_cache(namespace: Namespace, queue: Queue, dies: Window) -> int:
    """Until when a cache may hold what it took while it was alive: as long as locks last."""
    return dies.latest + queue.managed.lock_durations_ever.latest + namespace.vantage.slack


def at_hand(namespace: Namespace, queue: Queue, stored: Stored) -> Stored:
    """The message, of which it is known that it has come by now: it lives no longer than that."""
    if stored.dies is None:
        return stored
    came = Window(stored.arrived.earliest, namespace.now.latest)
    life = lifetimes(queue, stored.message, came).latest
    if life >= NEVER:
        return stored if is_mortal(stored) else attrs.evolve(stored, dies=None)
    latest = min(stored.dies.latest, namespace.now.latest + life + namespace.vantage.slack)
    return attrs.evolve(stored, dies=Window(stored.dies.earliest, latest))


def ended(namespace: Namespace, name: str) -> Namespace:
    """The namespace, in which an entity's messages are as uncertain as their age makes them."""
    before = queue = namespace.queues[name]
    while (found := queue.deaths.first_ahead(namespace.now)) is not None:
        number, deaths = found
        queue = _perhaps(attrs.evolve(queue, deaths=deaths), number)
    while (found := queue.deaths.first_due(namespace.now)) is not None:
        number, deaths = found
        queue = _surely(namespace, attrs.evolve(queue, deaths=deaths), number)
    return namespace if queue is before else with_queue(namespace, queue)


def _perhaps(queue: Queue, number: int) -> Queue:
    """The queue, in which this message may have died and is not relied on any more."""
    stored = queue.messages.get(number)
    if stored is None or stored.dies is None:
        return queue
    if stored.available:
        queue = replace(queue, stored, attrs.evolve(stored, certain=False, aged=True))
    deaths = queue.deaths.looked_at_after(stored.dies.latest, number)
    return attrs.evolve(queue, deaths=deaths)


def _surely(namespace: Namespace, queue: Queue, number: int) -> Queue:
    """The queue, in which this message has died, unless it is locked or in a cache."""
    stored = queue.messages.get(number)
    if stored is None or stored.dies is None or stored.gone:
        return queue
    if not is_surely_dead(namespace, queue, stored):
        return queue
    if stored.deferred:
        return attrs.evolve(queue, deaths=attrs.evolve(queue.deaths, aside=True))
    if stored.lock is not None:
        # It outlives its time as long as it is locked, and is looked at again after that.
        return queue
    if may_be_given(namespace, queue, stored):
        until = _leaves_cache(namespace, queue, stored.dies)
        deaths = attrs.evolve(queue.deaths, cached=max(queue.deaths.cached, until))
        return attrs.evolve(queue, deaths=deaths.looked_at_after(until, number))
    return _gone(queue, stored, stored.dies)


def _gone(queue: Queue, stored: Stored, dies: Window) -> Queue:
    """The queue, in which this message is given to nobody any more."""
    deaths = queue.deaths
    if stored.aged:
        session_id = stored.message.session_id if queue.settings.requires_session else None
        deaths = deaths.showing(session_id, tuple(_why_gone(queue, stored, dies)))
    queue = replace(queue, stored, attrs.evolve(stored, certain=False, gone=True))
    return attrs.evolve(queue, deaths=deaths)


def _why_gone(queue: Queue, stored: Stored, dies: Window) -> Iterator[v.RuleId]:
    """TTL-01, TTL-03, TTL-04, TTL-06, TTL-13, MGMT-12: what it shows that it is not given."""
    yield "TTL-01"
    own, most = stored.message.time_to_live, queue.settings.time_to_live
    if _is_newer(queue, stored) and most is not None and (own is None or own > most):
        yield "MGMT-12"
    if own is None:
        yield "TTL-03"
    elif most not in (None, own):
        yield "TTL-04"
    if stored.deliveries and stored.available_at > dies.latest:
        yield "TTL-06"
    if queue.outages.down and queue.outages.must_hit(stored.where):
        yield "TTL-13"


def outlived(namespace: Namespace, stored: Stored) -> tuple[v.RuleId, ...]:
    """TTL-05: what it shows that a locked message is settled."""
    return ("TTL-05",) if has_died(namespace, stored) else ()


def why_given(namespace: Namespace, queue: Queue, stored: Stored) -> Iterator[v.RuleId]:
    """TTL-02, TTL-14, MGMT-12: what it shows of its age that a message is given."""
    if stored.dies is None:
        return
    left = stored.dies.earliest - namespace.now.latest
    if 0 < left <= stored.dies.earliest - stored.arrived.earliest - left:
        yield "TTL-02"
        if _would_have_died(namespace, queue, stored):
            yield "MGMT-12"
    if is_surely_dead(namespace, queue, stored):
        yield "TTL-14"


def _is_newer(queue: Queue, stored: Stored) -> bool:
    """Whether a message came after its entity's time to live had been changed."""
    managed = queue.managed
    applies = stored.came is None and stored.number >= managed.lifetimes_apply_from
    return applies and managed.lifetimes_changed_at >= 0


def _would_have_died(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """Whether a message would not live any more if an update were in force for it too."""
    life, slack = queue.settings.time_to_live, namespace.vantage.slack
    updated = stored.number < queue.managed.lifetimes_apply_from
    return (
        updated
        and life is not None
        and stored.arrived.latest + life + slack < namespace.now.earliest
    )


def why_nothing(namespace: Namespace, queue: Queue, session_id: str | None) -> Iterator[v.RuleId]:
    """TTL-01, TTL-03, TTL-04, TTL-06, TTL-13, TTL-14: what an empty answer shows."""
    dark = queue.outages.any
    for rule in queue.deaths.shown.get(session_id, ()):
        if rule != "TTL-13" or not dark:
            yield rule
    if namespace.now.earliest <= queue.deaths.cached:
        yield "TTL-14"
