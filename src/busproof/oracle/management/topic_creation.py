"""Creation of topics and subscriptions."""

from collections.abc import Iterator

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.entity_counts import Kind
from busproof.oracle.forwarding.forward_retries import destination_again
from busproof.oracle.forwarding.forwarding_setup import (
    not_forwarding,
    refused_destination,
    sources,
    with_lawful_locks,
)
from busproof.oracle.management.queue_creation import (
    added,
    begun,
    granted_settings,
    initial_outages,
    is_in_order,
    noted,
    outages_of,
    taken,
    wanted,
)
from busproof.oracle.management.topics import named_topic, of_like_name, shared_fields
from busproof.oracle.management.validation import objections
from busproof.oracle.messages.dead_letters import with_dead_letter_forwarding
from busproof.oracle.messages.enqueueing import with_unanswered_sends
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.message_limits import (
    is_long_name,
    is_long_short_name,
    is_longest_short_name,
    must_refuse_beyond,
)
from busproof.oracle.sizes.quotas import Wanted, over_quota, within_quota
from busproof.oracle.state import (
    Namespace,
    Queue,
    Subscription,
    Topic,
    everywhere,
    is_unsure,
    with_queue,
)
from busproof.oracle.storage_used import filled, most
from busproof.oracle.transition import Transition, done, refusal
from busproof.oracle.unjudged import made, stop_judging


def create_topic(namespace: Namespace, command: v.CreateTopic) -> Iterator[Transition]:
    """Yield the answers to a topic's creation; Premium may refuse partitions, Basic any topic."""
    name, creation = command.topic, _as_queue(command)
    if v.is_dead_letter_queue(name):
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        return
    known = namespace.queues.get(name)
    if known is not None:
        otherwise = namespace.profile.tier is not v.Tier.STANDARD or is_long_name(name)
        yield taken(namespace, known, any_error=otherwise)
        if not is_unsure(known):
            return
        if known.role is None or known.managed.touched or known.managed.partially_applied:
            # A queue of this name may exist, perhaps in part, or an unanswered send to it may still
            # arrive.
            namespace = stop_judging(namespace, name)
    # If partitioning is open, there are two possible sets of partitions, and one may be unaffected.
    outages = [initial.any for initial in initial_outages(namespace, creation)]
    if any(outages):
        # The topic may exist now in the partitions that are up (MANAGEMENT-IN-OUTAGE).
        left = stop_judging(namespace, name)
        yield refusal(left, v.Error.UNAVAILABLE, "MGMT-18", any_error=True)
    for made_so in _made_of_tier(namespace, creation):
        rules = ("MGMT-18", *made_so.rules) if all(outages) else made_so.rules
        yield attrs.evolve(made_so, rules=rules)


def _made_of_tier(namespace: Namespace, creation: v.CreateQueue) -> Iterator[Transition]:
    """Yield the answers that the tier allows to the creation of a topic with a free name."""
    if namespace.profile.tier is v.Tier.BASIC:
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
    refusals, must_refuse = objections(namespace, creation)
    yield from refusals
    if must_refuse:
        return
    for settings, rules in granted_settings(namespace, creation, Kind.TOPIC):
        yield noted(done(_with_topic(namespace, settings), *rules), creation)
    yield from over_quota(namespace, wanted(namespace, creation, Kind.TOPIC))


def _as_queue(command: v.CreateTopic) -> v.CreateQueue:
    """Return the creation of the queue that represents the topic."""
    return v.CreateQueue(queue=command.topic, **shared_fields(command))


def _with_topic(namespace: Namespace, settings: v.CreateQueue) -> Namespace:
    name = settings.queue
    known = namespace.queues.get(name)
    # Subscriptions may have been created already if the topic may have existed; they belong to it.
    role = known.role if known is not None and isinstance(known.role, Topic) else Topic()
    for path in role.subscriptions:
        subscription = namespace.queues[path]
        alike = attrs.evolve(
            subscription.settings, partitioned=settings.partitioned, max_size=settings.max_size
        )
        namespace = with_queue(namespace, attrs.evolve(subscription, settings=alike))
    outages, managed = outages_of(namespace, settings), begun(namespace, settings)
    topic = Queue(settings=settings, outages=outages, role=role, managed=managed)
    return made(namespace, destination_again(namespace, added(namespace, topic), name), name)


def create_subscription(
    namespace: Namespace, command: v.CreateSubscription
) -> Iterator[Transition]:
    """Yield the answers to the creation of a subscription, which has its topic's partitions."""
    path = v.subscription_path(command.topic, command.subscription)
    if v.is_dead_letter_queue(path):
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        return
    known = namespace.queues.get(path)
    if known is not None:
        unlawful = bool(with_lawful_locks(command)[1]) or is_long_short_name(command.subscription)
        otherwise = unlawful or bool(v.destinations(command))
        yield taken(namespace, known, any_error=otherwise)
        if known.role is None:
            # A queue was created with the path of a subscription before the topic existed.
            yield done(stop_judging(namespace, command.topic))
        if not is_unsure(known):
            return
    namespace = _in_doubt(namespace, command.topic, path)
    alike = of_like_name(namespace, path)
    if alike is not None:
        broken = () if alike.doubtful else ("TOPIC-21",)
        yield refusal(namespace, v.Error.ALREADY_EXISTS, *broken, any_error=True)
        if not alike.doubtful:
            return
        namespace = stop_judging(namespace, command.topic)
    if is_long_short_name(command.subscription):
        yield refusal(namespace, v.Error.INVALID_OPERATION, "TOPIC-18", any_error=True)
        if must_refuse_beyond(namespace):
            return
    yield from _subscribed(namespace, path, command)


def _subscribed(
    namespace: Namespace, path: str, command: v.CreateSubscription
) -> Iterator[Transition]:
    """Yield the answers to a subscription's creation if no subscription surely has its name."""
    yield from refused_destination(namespace, command)
    command, limits = with_lawful_locks(command)
    if limits:
        yield refusal(namespace, v.Error.INVALID_OPERATION, *limits, any_error=True)
    one_more = Wanted(Kind.SUBSCRIPTION)
    longest = rules_if((is_longest_short_name(command.subscription), "TOPIC-17"))
    if within_quota(namespace, one_more):
        for source, rules in sources(namespace, command):
            created = _with_subscription(namespace, path, source)
            after = not_forwarding(created, command.forward_to or "") if rules else created
            yield done(after, *longest, *limits, *rules)
    yield from over_quota(namespace, (one_more,), namespace.queues[command.topic])


def _in_doubt(namespace: Namespace, topic: str, path: str) -> Namespace:
    """Stop judging a subscription or its topic if either may contain parts of an earlier one."""
    known = namespace.queues.get(path)
    if known is not None and (known.managed.touched or known.managed.partially_applied):
        namespace = stop_judging(namespace, path)
    partly = namespace.queues[topic].managed.partially_applied
    return stop_judging(namespace, topic) if partly else namespace


def _with_subscription(namespace: Namespace, path: str, command: v.CreateSubscription) -> Namespace:
    topic, of_topic = named_topic(namespace, command.topic)
    settings = v.CreateQueue(
        queue=path,
        partitioned=topic.settings.partitioned,
        max_size=topic.settings.max_size,
        **shared_fields(command, "subscription"),
    )
    revision = of_topic.revision + 1
    role = Subscription(
        topic=command.topic,
        late=topic.arrivals > 0,
        rules=Map({v.DEFAULT_RULE: v.TrueFilter()}),
        revision=revision,
    )
    managed = begun(namespace, settings)
    subscription = Queue(
        settings=settings,
        outages=topic.outages,
        in_order=is_in_order(namespace, settings),
        role=role,
        managed=managed,
    )
    created = added(namespace, subscription)
    others = tuple(other for other in of_topic.subscriptions if other != path)
    listed = attrs.evolve(of_topic, subscriptions=(*others, path), revision=revision)
    # Unanswered sends may now leave one more copy each, which may use the topic's storage.
    unanswered_sends = sum(most(message) for message in of_topic.unanswered_sends)
    room = filled(topic.room, everywhere(namespace, settings), unanswered_sends)
    created = with_queue(created, attrs.evolve(topic, role=listed, room=room))
    created = with_dead_letter_forwarding(with_unanswered_sends(created, path, of_topic), path)
    return made(namespace, created, path)
