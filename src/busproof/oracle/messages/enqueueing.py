"""Storing of an accepted message: in a queue, in subscriptions, or where it is forwarded to."""

from typing import Any

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival, Passed
from busproof.oracle.evolve import evolve
from busproof.oracle.forwarding.forwarding import kept_by, passed_on, withheld_beyond
from busproof.oracle.management.subscription_filters import Verdict, copies, judged, reader_of
from busproof.oracle.management.topics import shares_homes
from busproof.oracle.messages.expiry import death, lesser, lifetime
from busproof.oracle.messages.message_store import replace, store
from busproof.oracle.messages.partitioning import homes_of
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import weight
from busproof.oracle.state import (
    NEVER,
    Namespace,
    Queue,
    Subscription,
    Topic,
    everywhere,
    is_unsure,
    with_queue,
)
from busproof.oracle.storage_used import filled
from busproof.oracle.transition import Rules
from busproof.oracle.unjudged import stop_judging
from busproof.oracle.window import Window


def arrive(
    namespace: Namespace, queue: Queue, arrival: Arrival, also: dict[str, Any] | None = None
) -> Namespace:
    """Return the namespace after an entity accepted a message, and stored or passed it on.

    Args:
        namespace: the state before.
        queue: the entity, possibly with changes that the namespace lacks.
        arrival: the accepted message.
        also: other changes of the entity's fields.
    """
    # A source stores nothing for receivers: every message goes on.
    if queue.settings.forward_to is not None:
        taken = evolve(_passed_by(queue, arrival), **(also or {}))
        return go_on(with_queue(namespace, taken), taken, arrival)
    if not isinstance(queue.role, Topic):
        ended = queue.managed.redirected and not arrival.hops
        shows: Rules = ("FWD-05",) if ended else ()
        return _taken(namespace, queue, arrival, (*shows, *arrival.shows), also)
    role = queue.role
    # The topic's time to live limits its copies, too.
    limited = evolve(arrival.message, time_to_live=lifetime(queue, arrival.message))
    arrival = evolve(arrival, message=limited)
    if not arrival.answered:
        # It may arrive later, and then also in subscriptions that are created until then.
        role = evolve(role, unanswered_sends=(*role.unanswered_sends, arrival.message))
    taken = evolve(_passed_by(queue, arrival), **{"role": role, **(also or {})})
    namespace = with_queue(namespace, taken)
    for path in queue.role.subscriptions:
        namespace = _published(namespace, path, arrival)
    return namespace


def _passed_by(queue: Queue, arrival: Arrival) -> Queue:
    """Return the entity after a message passed through; it may have used storage meanwhile."""
    room = filled(queue.room, arrival.where, weight(queue, arrival.message))
    return evolve(queue, arrivals=queue.arrivals + 1, room=room)


def _published(namespace: Namespace, path: str, arrival: Arrival) -> Namespace:
    """TOPIC-01, FILTER-22: return the namespace after a subscription took its copies, if any.

    If the result of an action is open, the subscription is no longer judged.
    """
    subscription = namespace.queues[path]
    role = subscription.role
    if not isinstance(role, Subscription):
        raise AssertionError("a topic's messages go to subscriptions")  # noqa: TRY004 - no input gets here
    # A late message, or one whose transaction ran for a while, may meet other rules than now.
    timely = arrival.answered and (arrival.revision is None or role.revision <= arrival.revision)
    how = reader_of(namespace)
    copied = copies(role, arrival.message, how)
    # It is open which rules with actions make copies, and what these contain.
    if role.acted and not timely:
        return stop_judging(namespace, path)
    if timely and all(candidate.verdict.taken is False for candidate in copied):
        verdict = judged(role, arrival.message, how)
        return with_queue(namespace, _kept_out(subscription, role, arrival.message, verdict))
    missed = namespace.reading("DISABLED-COPIES") == "missed"
    if timely and missed and not subscription.managed.status.takes:
        return namespace
    # A late message may match under rules that are added later, so every copy stays possible.
    made = [candidate for candidate in copied if candidate.verdict.taken is not False or not timely]
    for chosen in made:
        if chosen.message is None:
            return stop_judging(namespace, path)
        several = arrival.several or len(made) > 1
        copy = evolve(arrival, message=chosen.message, several=several)
        namespace = _copied(namespace, namespace.queues[path], copy, chosen.verdict, timely=timely)
    return namespace


def go_on(namespace: Namespace, source: Queue, arrival: Arrival) -> Namespace:
    """FWD-01 to FWD-26, FWD-35: forward the message; its key there selects a partition anew.

    The documents do not say when it arrives, so it stays uncertain until it is seen.
    """
    destination = namespace.queues.get(source.settings.forward_to or "")
    rule = kept_by(namespace, destination, arrival)
    if rule is not None or destination is None:
        return _undeliverable(namespace, source, arrival, rule or "FWD-20")
    # Whether messages can be forwarded to a subscription is open, so none is expected there.
    if isinstance(destination.role, Subscription):
        return with_queue(namespace, _passing(source, arrival, None))
    destination, going = passed_on(namespace, source, destination, arrival)
    full: v.RuleId | None = "FWD-21" if destination.room.refused.get(going.key) is False else None
    namespace = with_queue(namespace, _passing(source, arrival, full))
    # The documents do not say whether the message also keeps the times to live on its way
    # (FORWARD-LIFETIME).
    anew = namespace.reading("FORWARD-LIFETIME") == "anew"
    least = None if anew else lesser(arrival.least, source.settings.time_to_live)
    return arrive(namespace, destination, evolve(going, least=least))


def _undeliverable(
    namespace: Namespace, source: Queue, arrival: Arrival, rule: v.RuleId
) -> Namespace:
    """FWD-18 to FWD-21: record a message that cannot be forwarded and becomes a dead letter."""
    namespace = with_queue(namespace, _passing(source, arrival, rule))
    return withheld_beyond(namespace, source, arrival.message.body, rule)


def _passing(source: Queue, arrival: Arrival, rule: v.RuleId | None) -> Queue:
    """Return the source with a record of the message, which it may have dead-lettered unseen."""
    body = arrival.message.body
    passed = (*source.passed.get(body, ()), Passed(arrival, rule))
    return evolve(source, passed=source.passed.set(body, passed))


def _taken(
    namespace: Namespace,
    queue: Queue,
    arrival: Arrival,
    shows: Rules,
    also: dict[str, Any] | None = None,
) -> Namespace:
    """SESS-01, FWD-27: return the namespace with the message stored in the queue.

    A message without a required session is dead-lettered at some time. Nobody can receive it, and
    until then a peek may show it.
    """
    came = arrival.came
    if not arrival.answered:
        # It may arrive, and expire, at any time from now on.
        came = Window((came or namespace.now).earliest, NEVER)
    lost = queue.settings.requires_session and arrival.message.session_id is None
    certain = arrival.certain and not lost
    queue = store(
        queue,
        arrival.message,
        arrival.key,
        arrival.where,
        namespace.now,
        certain=certain and not arrival.several,
        shows=shows,
        dies=death(namespace, queue, arrival.message, came, arrival.least),
        also=also,
        reason=arrival.reason,
    )
    if arrival.several and certain:
        # The order of several copies of one message is open, so no copy gets a place in a line.
        copy = queue.messages[queue.arrivals - 1]
        queue = replace(queue, copy, evolve(copy, certain=True))
    return with_queue(namespace, queue)


def _copied(
    namespace: Namespace, subscription: Queue, arrival: Arrival, verdict: Verdict, *, timely: bool
) -> Namespace:
    """TOPIC-01: give a subscription its copy of a matching message, which it may forward."""
    role = subscription.role
    if subscription.settings.forward_to is not None or not isinstance(role, Subscription):
        return go_on(namespace, subscription, arrival)
    where = arrival.where
    if not shares_homes(namespace):
        # The documents leave open whether a subscription's partitions are its topic's
        # (SUBSCRIPTION-PARTITIONS).
        where = homes_of(namespace, subscription, arrival.key)
    certain = arrival.certain and timely and verdict.taken is True and not is_unsure(subscription)
    # Whether a disabled subscription collects messages is open (DISABLED-COPIES).
    collects = namespace.reading("DISABLED-COPIES") == "collected"
    certain = certain and (subscription.managed.status.takes or collects)
    disabled = subscription.managed.status is v.EntityStatus.RECEIVE_DISABLED
    shows: Rules = (*rules_if((disabled, "TOPIC-25")), *arrival.shows, "TOPIC-01")
    if timely and verdict.taken is True:
        shows = (*shows, *_shown(subscription, role, arrival.message, verdict))
    copy = evolve(arrival, where=where, certain=certain)
    remembered = _remembered(subscription, role, arrival, verdict)
    return _taken(namespace, remembered, copy, shows)


def _kept_out(
    subscription: Queue, role: Subscription, message: v.Message, verdict: Verdict
) -> Queue:
    """FILTER-02, FILTER-06: record that the subscription does not take a message."""
    rules = _shown(subscription, role, message, verdict)
    updated = evolve(
        role,
        kept_out=role.kept_out.set(message.body, rules),
        kept_by=tuple(dict.fromkeys((*role.kept_by, *rules))),
        taken=role.taken.set(evolve(message, body=""), False),
    )
    return evolve(subscription, role=updated)


def _remembered(
    subscription: Queue, role: Subscription, arrival: Arrival, verdict: Verdict
) -> Queue:
    # Only once rules have changed can equal messages be treated differently.
    if verdict.taken is None or not (role.added or role.removed):
        return subscription
    # The body is left out because no filter reads it, so equal messages become one entry.
    taken = role.taken.set(evolve(arrival.message, body=""), True)
    return evolve(subscription, role=evolve(role, taken=taken))


def _shown(subscription: Queue, role: Subscription, message: v.Message, verdict: Verdict) -> Rules:
    """FILTER-20, FEAT-01, FEAT-02: return the verdict's rules and others that it exercises."""
    again = role.taken.get(evolve(message, body="")) is verdict.taken
    partitioned = subscription.settings.partitioned
    return verdict.rules + rules_if(
        (again, "FILTER-20"),
        (partitioned and role.added, "FEAT-01"),
        (partitioned and role.removed, "FEAT-02"),
    )


def with_unanswered_sends(namespace: Namespace, path: str, topic: Topic) -> Namespace:
    """Return the namespace in which a new subscription may get late messages of its topic."""
    for message in topic.unanswered_sends:
        subscription = namespace.queues[path]
        where = everywhere(namespace, subscription.settings)
        lost = Arrival(message=message, key=None, where=where, certain=False, answered=False)
        namespace = arrive(namespace, subscription, lost)
    return namespace
