"""Creation, description, listing, update and deletion of queues, topics and subscriptions."""

from typing import Final

from busproof import vocabulary as v
from busproof.pipeline.bus.entities import down, entity, run_on_queue
from busproof.pipeline.bus.limits import long_name, odd_window
from busproof.pipeline.bus.tables import ENTITY
from busproof.pipeline.bus.terms import (
    DEAD,
    Expression,
    add_outcome,
    change_struct,
    let,
    refuse,
    row,
    state,
    succeed,
    where,
)
from busproof.pipeline.schema import DESCRIPTION, SUBSCRIPTIONS

__all__ = [
    "create_queue",
    "create_subscription",
    "create_topic",
    "delete_queue",
    "get_queue",
    "list_queues",
    "restore_queue",
    "update_queue",
]

_MOST_PARTITIONED: Final = 100
_MOST: Final = 10_000
_LONGEST_LOCK: Final = 300 * v.MICROSECONDS
_OPTION_SINCE: Final = "2013-10"
_LOCK: Final = f"{60 * v.MICROSECONDS}L"
_IN_PREMIUM: Final = "s.tier = 'premium'"
_ALL_PARTITIONED: Final = "s.tier = 'partitioned-premium'"

_QUEUE: Final = {
    "name": "c.queue",
    "kind": "'queue'",
    "place": "c.queue",
    "partitioned": f"coalesce(c.partitioned, {_ALL_PARTITIONED})",
    "requires_session": "c.requires_session",
    "duplicate_detection": "c.duplicate_detection",
    "duplicate_window": "c.duplicate_window",
    "lock_duration": "c.lock_duration",
    "max_delivery_count": "c.max_delivery_count",
    "max_size": "coalesce(c.max_size, 1L)",
    "forward_to": "c.forward_to",
    "time_to_live": "c.time_to_live",
    "dead_letter_expired": "c.dead_letter_expired",
}


def create_queue() -> Expression:
    """MGMT-01, MGMT-03, PREM-15: create a queue, if the tier allows it and partitions are up."""
    return _create(_entity(_QUEUE), _too_many(), _has_no_size(), _forwards_badly())


def create_topic() -> Expression:
    """Create a topic, partitioned or not as requested."""
    topic = {
        **_QUEUE,
        "name": "c.topic",
        "kind": "'topic'",
        "place": "c.topic",
        "requires_session": "false",
        "lock_duration": _LOCK,
        "max_delivery_count": "10L",
        "forward_to": "CAST(NULL AS STRING)",
        "dead_letter_expired": "false",
    }
    return _create(_entity(topic), _too_many(), _has_no_size())


def create_subscription() -> Expression:
    """Create a subscription of an existing topic; it has the topic's partitions."""
    subscription = {
        **_QUEUE,
        "name": f"concat(c.topic, '{SUBSCRIPTIONS}', c.subscription)",
        "kind": "'subscription'",
        "place": "c.topic",
        "partitioned": "t.partitioned",
        "duplicate_detection": "false",
        "duplicate_window": f"{600 * v.MICROSECONDS}L",
        "max_size": "1L",
    }
    missing = "t IS NULL OR t.kind <> 'topic'"
    alike = "exists(s.entities, x -> x.kind = 'subscription' AND lower(x.name) = lower(e.name))"
    made = _create(
        _entity(subscription),
        f"WHEN {alike} THEN '{v.Error.ALREADY_EXISTS.value}'",
        _forwards_badly(),
    )
    return let("t", entity("c.topic"), f"IF({missing}, {refuse(v.Error.NOT_FOUND)}, {made})")


def restore_queue() -> Expression:
    """PREM-03: restore an old partitioned queue, even if the tier no longer creates such queues."""
    old = {
        **_QUEUE,
        "partitioned": "true",
        "duplicate_window": f"{600 * v.MICROSECONDS}L",
        "lock_duration": _LOCK,
        "max_delivery_count": "10L",
        "dead_letter_expired": "false",
    }
    added = succeed(entities="concat(s.entities, array(e))")
    body = f"IF({entity('e.name')} IS NULL, {added}, {refuse(v.Error.ALREADY_EXISTS)})"
    return let("e", _entity(old), body)


def _entity(settings: dict[str, Expression]) -> Expression:
    count = f"IF({settings['partitioned']}, s.most_partitions, 1L)"
    return row(ENTITY, **{**settings, "partitions": count, "turn": "0L"})


def _create(new: Expression, *objections: Expression) -> Expression:
    invalid = f"'{v.Error.INVALID_OPERATION.value}'"
    refused_tier = f"e.partitioned AND {_IN_PREMIUM} OR NOT e.partitioned AND {_ALL_PARTITIONED}"
    dated = "c.api_version RLIKE '^[0-9]{4}-(0[1-9]|1[0-2])$'"
    too_old = f"e.partitioned AND (NOT {dated} OR c.api_version < '{_OPTION_SINCE}')"
    error = " ".join(
        [
            f"CASE WHEN {entity('e.name')} IS NOT NULL THEN '{v.Error.ALREADY_EXISTS.value}'",
            *objections,
            f"WHEN endswith(e.name, {DEAD}) OR e.lock_duration > {_LONGEST_LOCK} THEN {invalid}",
            f"WHEN {long_name()} OR {odd_window()} THEN {invalid}",
            f"WHEN e.kind <> 'subscription' AND ({refused_tier}) THEN {invalid}",
            f"WHEN {too_old} THEN {invalid}",
            f"WHEN size({down()}) > 0 THEN '{v.Error.UNAVAILABLE.value}' END",
        ]
    )
    added = succeed(entities="concat(s.entities, array(e))")
    body = let("error", error, f"IF(error IS NULL, {added}, {refuse('error')})")
    return let("e", new, body)


def _too_many() -> Expression:
    """QUOTA-02, QUOTA-08: refuse an entity beyond the quotas.

    Standard and Basic allow 100 partitioned entities and 10,000 in all; Premium has no quota.
    """
    counted = where("s.entities", "x", "x.kind <> 'subscription'")
    partitioned = where("s.entities", "x", "x.kind <> 'subscription' AND x.partitioned")
    # Cheap conditions come first, because AND and OR skip those that cannot matter.
    full = (
        f"e.partitioned AND size({partitioned}) >= {_MOST_PARTITIONED} "
        f"OR size(s.entities) >= {_MOST} AND size({counted}) >= {_MOST}"
    )
    limited = f"NOT ({_IN_PREMIUM} OR {_ALL_PARTITIONED})"
    return f"WHEN {limited} AND ({full}) THEN '{v.Error.QUOTA_EXCEEDED.value}'"


def _has_no_size() -> Expression:
    """SIZE-02, PREM-08: refuse sizes that Standard or Premium does not offer."""
    known = (
        "CASE s.tier WHEN 'standard' THEN array(1, 2, 3, 4, 5) "
        "WHEN 'premium' THEN array(1, 2, 3, 4, 5, 10, 20, 40, 80) ELSE array(c.max_size) END"
    )
    return (
        f"WHEN c.max_size IS NOT NULL AND NOT array_contains({known}, c.max_size) "
        f"THEN '{v.Error.INVALID_OPERATION.value}'"
    )


def _forwards_badly() -> Expression:
    """FWD-25, FWD-29: refuse invalid forwarding.

    The source must not require sessions, and the destination must be an existing queue or topic.
    """
    there = "exists(s.entities, x -> x.name = c.forward_to AND x.kind <> 'subscription')"
    return (
        f"WHEN c.forward_to IS NOT NULL AND (e.requires_session OR NOT {there}) "
        f"THEN '{v.Error.INVALID_OPERATION.value}'"
    )


def _manage(body: Expression) -> Expression:
    of_none = "is_dlq OR e.kind = 'subscription'"
    return run_on_queue(f"IF({of_none}, {refuse(v.Error.INVALID_OPERATION)}, {body})")


def get_queue() -> Expression:
    """MGMT-11, MGMT-20, SIZE-04: describe a queue's settings and the totals of its partitions."""
    there = where("s.messages", "h", "h.queue = q AND NOT array_contains(unavailable, h.partition)")
    sizes = "0L, (n, h) -> n + coalesce(h.message.size, 0L)"
    stored = f"aggregate(filter(s.messages, h -> h.owner = e.name), {sizes})"
    late = f"aggregate(filter(s.planned, h -> h.queue = e.name), {sizes})"
    shown = {name: f"e.{name}" for name in DESCRIPTION if name in ENTITY}
    shown |= {
        "queue": "e.name",
        "max_size": "e.max_size * e.partitions",
        "message_count": f"CAST(size({there}) AS BIGINT)",
        "size": f"{stored} + {late}",
        "availability": "IF(size(unavailable) > 0, 'limited', 'available')",
    }
    return _manage(state(told=add_outcome("Described", description=row(DESCRIPTION, **shown))))


def list_queues() -> Expression:
    """MGMT-16: return the name of every queue once."""
    names = "transform(filter(s.entities, x -> x.kind = 'queue'), x -> x.name)"
    return state(told=add_outcome("Listed", names=names))


def update_queue() -> Expression:
    """MGMT-04, MGMT-12 to MGMT-14, MGMT-18: update every partition of a queue, or none."""
    fixed = " OR ".join(
        f"coalesce(c.{name} <> e.{name}, false)"
        for name in ("partitioned", "requires_session", "duplicate_detection")
    )
    new = {
        name: f"coalesce(c.{name}, x.{name})"
        for name in ("lock_duration", "max_delivery_count", "time_to_live")
    }
    changed_one = change_struct(ENTITY, "x", **new)
    put = succeed(entities=f"transform(s.entities, x -> IF(x.name = q, {changed_one}, x))")
    return _manage(
        f"CASE WHEN {fixed} OR coalesce(c.lock_duration > {_LONGEST_LOCK}, false) "
        f"THEN {refuse(v.Error.INVALID_OPERATION)} "
        f"WHEN size(unavailable) > 0 THEN {refuse(v.Error.UNAVAILABLE)} ELSE {put} END"
    )


def delete_queue() -> Expression:
    """MGMT-15, MGMT-18: delete a queue with all its contents, or refuse without effect."""
    gone = {
        name: where(f"s.{name}", "x", "x.queue <> q")
        for name in ("planned", "accepted", "sessions", "states", "staged")
    }
    removed = succeed(
        entities=where("s.entities", "x", "x.name <> q"),
        messages=where("s.messages", "x", "x.owner <> q"),
        **gone,
    )
    return _manage(f"IF(size(unavailable) > 0, {refuse(v.Error.UNAVAILABLE)}, {removed})")
