"""Forwarding of messages from a queue or subscription to a queue or topic (FWD)."""

from collections.abc import Iterator

import attrs

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.messages.duplicates import Fate, fate, noted
from busproof.oracle.messages.keys import MESSAGE_ID, effective_key, keys_conflict
from busproof.oracle.messages.message_store import never_arrives
from busproof.oracle.messages.partitioning import home_of, spread_beside
from busproof.oracle.queued_messages import Key
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import (
    Namespace,
    Queue,
    Subscription,
    Topic,
    everywhere,
    with_queue,
)

# The documents name a limit of three hops in one place and of four in another.
MOST_EVER = 4
MOST_HOPS = {"three": 3}
"""FORWARD-HOPS: maximum number of hops; four unless a reading says otherwise."""


def kept_by(namespace: Namespace, destination: Queue | None, arrival: Arrival) -> v.RuleId | None:
    """FWD-18 to FWD-20: return the rule that prevents forwarding to this destination, if any."""
    reading = namespace.profile.readings.get("FORWARD-HOPS", "either")
    # Under the reading `either` the higher limit counts, because a bus may forward as often.
    if arrival.hops >= MOST_HOPS.get(reading, MOST_EVER):
        return "FWD-18"
    if destination is None:
        return "FWD-20"
    return None if destination.managed.status.takes else "FWD-19"


def passed_on(
    namespace: Namespace, source: Queue, destination: Queue, arrival: Arrival
) -> tuple[Queue, Arrival]:
    """Return the destination, prepared for the message, and the message in transit to it."""
    key = _key(namespace, source, destination, arrival)
    becomes = fate(namespace, destination, arrival.message, key)
    # Nobody sees which partition takes a forwarded message without a key, so every one may have it.
    where = everywhere(namespace, destination.settings)
    if key is not None:
        where = home_of(namespace, destination, key)
    copies = noted(
        namespace,
        destination,
        arrival.message,
        key,
        becomes=becomes,
        certain=False,
        answered=False,
    )
    # Each of these is a reason why the message may be missing at the destination without a
    # violation.
    no_session = destination.settings.requires_session and arrival.message.session_id is None
    kept_away = rules_if(
        (becomes is Fate.DROPPED, "FWD-13"),
        (arrival.hops == MOST_HOPS["three"], "FWD-17"),
        (no_session, "FWD-27"),
    )
    going = attrs.evolve(
        arrival,
        key=key,
        where=where,
        # Nothing but an observation shows that the message has arrived, because the documents set
        # no time for it.
        certain=False,
        answered=False,
        # A revision counts changes of the topic that the message was sent to; the next topic has
        # its own counter.
        revision=None,
        hops=arrival.hops + 1,
        shows=_shown(source, destination, arrival, key),
    )
    spread = spread_beside(namespace, destination, arrival.message)
    destination = attrs.evolve(destination, copies=copies, spread=spread)
    return _keeping(destination, kept_away), going


def why_late(namespace: Namespace, queue: Queue, body: str) -> Iterator[v.RuleId]:
    """FWD-23: return the rules exercised by a message that was due while its source was down.

    This concerns messages scheduled at an entity that forwards directly to this one.
    """
    name = queue.settings.queue
    for source in (
        candidate for candidate, onward in namespace.forwarding.items() if onward == name
    ):
        calendar, outage = namespace.queues[source].calendar, namespace.queues[source].outage
        waiting = (calendar.entries.get(place) for place in calendar.bodies.get(body, ()))
        due = (entry.due.earliest for entry in waiting if entry is not None)
        if any(outage.earliest <= moment <= outage.latest for moment in due):
            yield "FWD-23"


def withheld_beyond(namespace: Namespace, source: Queue, body: str, rule: v.RuleId) -> Namespace:
    """FWD-18, FWD-19, FWD-33: record that a message cannot arrive at any later destination.

    `rule` is the reason: it was forwarded too often, its destination is disabled, or its
    transaction has not been committed.
    """
    # The hop limit also ends this loop where entities forward in a circle.
    for _ in range(MOST_EVER):
        destination = namespace.queues.get(source.settings.forward_to or "")
        if destination is None or destination.role is not None:
            break
        source = _keeping(never_arrives(destination, body, rule), (rule,))
        namespace = with_queue(namespace, source)
    return namespace


def _keeping(destination: Queue, rules: tuple[v.RuleId, ...]) -> Queue:
    return attrs.evolve(kept_away_by(destination, *rules), fed=True)


def kept_away_by(destination: Queue, *rules: v.RuleId) -> Queue:
    """Return a destination with more rules that keep forwarded messages away from it."""
    kept_away = tuple(dict.fromkeys((*destination.kept_away, *rules)))
    return attrs.evolve(destination, kept_away=kept_away)


def _key(namespace: Namespace, source: Queue, destination: Queue, arrival: Arrival) -> Key | None:
    """FWD-07 to FWD-12: return the key that the message has at the destination, if any."""
    message = arrival.message
    if keys_conflict(message):
        # Which of the two keys counts is open (FORWARD-CONFLICT). `None` lets the message take any
        # partition.
        return None
    key = effective_key(namespace, destination.settings, message)
    # A MessageId that was the key at the source may stay one (FORWARD-MESSAGE-ID).
    pinned = _was_id_a_key(source, arrival) and destination.settings.partitioned
    if key is None and pinned and namespace.reading("FORWARD-MESSAGE-ID") == "key":
        return arrival.key
    return key


def _was_id_a_key(source: Queue, arrival: Arrival) -> bool:
    key = arrival.key
    return bool(source.settings.partitioned) and key is not None and key.taken_from == MESSAGE_ID


def _shown(
    source: Queue, destination: Queue, arrival: Arrival, key: Key | None
) -> tuple[v.RuleId, ...]:
    """Return the rules exercised when the message is received after this hop."""
    if v.is_dead_letter_queue(source.settings.queue):
        return ("FWD-35",)
    message, settings = arrival.message, destination.settings
    partitioned = bool(settings.partitioned)
    pair = (bool(source.settings.partitioned), partitioned)
    by_id = _was_id_a_key(source, arrival) and not settings.duplicate_detection
    of_session = settings.requires_session and not isinstance(destination.role, Topic)
    keyed = message.session_id or message.partition_key or message.message_id
    return rules_if(
        (of_session, "FWD-26"),
        (any(pair) and destination.arrivals, "FWD-31"),
        (isinstance(source.role, Subscription), "FWD-30"),
        (arrival.revision is not None, "FWD-33"),
        (arrival.hops == MOST_HOPS["three"], "FWD-17"),
        (arrival.hops == 2, "FWD-16"),
        (by_id and partitioned, "FWD-12"),
        (keys_conflict(message) and partitioned, "FWD-28"),
        (key is None and partitioned, "FWD-09", "FWD-10"),
        (keyed, "FWD-07"),
        (True, _OF_KINDS[pair], "FWD-05" if source.managed.redirected else "FWD-04", "FWD-14"),
    )


_OF_KINDS = {
    (True, False): "FWD-01",
    (False, True): "FWD-02",
    (True, True): "FWD-03",
    (False, False): "FWD-06",
}
"""Whether source and destination are partitioned, to the rule that permits this."""
