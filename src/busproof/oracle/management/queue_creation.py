"""Creation of queues: the settings that they may get, and refusals."""

from collections.abc import Iterator
from itertools import product

from busproof import vocabulary as v
from busproof.oracle.changes import with_managed, with_registry
from busproof.oracle.coverage.management import created_rules, shown_by_creation
from busproof.oracle.entity_counts import Kind
from busproof.oracle.evolve import evolve
from busproof.oracle.forwarding.forward_retries import destination_again
from busproof.oracle.forwarding.forwarding_setup import (
    not_forwarding,
    refused_destination,
    sources,
    with_lawful_locks,
)
from busproof.oracle.management.validation import (
    is_beyond_basic,
    objections,
    options_of,
    windows_of,
)
from busproof.oracle.messages.dead_letters import with_dead_letter_forwarding
from busproof.oracle.messages.duplicates import ASKED_BEYOND
from busproof.oracle.outages import Outages
from busproof.oracle.registry import NO_TROUBLE, Managed, as_created
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import granted_sizes
from busproof.oracle.sizes.quotas import Wanted, over_quota, within_quota
from busproof.oracle.state import (
    Namespace,
    Queue,
    everywhere,
    is_unsure,
    partition_count,
    with_queue,
)
from busproof.oracle.transition import Transition, done, refusal
from busproof.oracle.unjudged import made, stop_judging


def outage_reading(namespace: Namespace) -> str:
    """Return the reading of how management requests fail in an outage (MANAGEMENT-IN-OUTAGE)."""
    return namespace.profile.readings.get("MANAGEMENT-IN-OUTAGE", "either")


def may_fail_in_outage(namespace: Namespace, outages: Outages) -> tuple[bool, bool]:
    """MGMT-18: return whether a request to all partitions may fail now, and whether it must."""
    must = outage_reading(namespace) == "fails" and bool(outages.down)
    return outages.any, must


def create_queue(namespace: Namespace, command: v.CreateQueue) -> Iterator[Transition]:
    """Yield the answers to the creation of a queue.

    A dead-letter queue is created together with its entity, never by itself. Microsoft says so only
    on pages that belong to no edition.
    """
    if v.is_dead_letter_queue(command.queue):
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        return
    known = namespace.queues.get(command.queue)
    if known is not None:
        yield _taken(namespace, known, command)
        # An entity that surely exists leaves no other answer; one that may exist leaves those for a
        # new name, too.
        if not is_unsure(known):
            return
    refusals, must_refuse = objections(namespace, command)
    fates = [
        may_fail_in_outage(namespace, outages) for outages in initial_outages(namespace, command)
    ]
    # Which partitions it gets may be open, and one that only one option has may be down.
    must_fail = all(must for _, must in fates)
    if any(may for may, _ in fates):
        left = _left_behind(namespace, command)
        yield refusal(left, v.Error.UNAVAILABLE, "MGMT-18", any_error=True)
    if not must_fail and not must_refuse:
        yield from _made(namespace, command, known, in_outage=all(may for may, _ in fates))
    yield from refused_destination(namespace, command)
    yield from refusals
    yield from over_quota(namespace, wanted(namespace, command, Kind.QUEUE))


Grant = tuple[bool, int | None, tuple[int, tuple[v.RuleId, ...]]]
"""Partitioned or not; maximum size in GB; duplicate window in microseconds, with its rules."""


def _grants(namespace: Namespace, creation: v.CreateQueue) -> list[Grant]:
    """Return the combinations of settings that the request may get, the usual one first."""
    options, sizes = options_of(namespace, creation), granted_sizes(namespace.profile, creation)
    return list(product(options, sizes, windows_of(namespace, creation)))


def _granted(creation: v.CreateQueue, grant: Grant) -> v.CreateQueue:
    partitioned, size, (window, _) = grant
    return evolve(creation, partitioned=partitioned, max_size=size, duplicate_window=window)


def wanted(namespace: Namespace, creation: v.CreateQueue, kind: Kind) -> Iterator[Wanted]:
    """Yield what the entity would count towards the quotas, for each partitioning it may get."""
    return (
        _wanted(namespace, creation, kind, option) for option in options_of(namespace, creation)
    )


def _wanted(namespace: Namespace, creation: v.CreateQueue, kind: Kind, partitioned: bool) -> Wanted:
    counted = kind if partitioned else Kind.REGULAR
    return Wanted(counted, partition_count(namespace, evolve(creation, partitioned=partitioned)))


def granted_settings(
    namespace: Namespace, creation: v.CreateQueue, kind: Kind, *why: v.RuleId
) -> Iterator[tuple[v.CreateQueue, tuple[v.RuleId, ...]]]:
    """Yield the settings that the entity may get within the quota, and the rules behind each.

    Args:
        namespace: the state.
        creation: the request.
        kind: how the entity counts if it is partitioned.
        why: rules that changed other parts of the request.
    """
    for grant in _grants(namespace, creation):
        partitioned, _, (_, windowed) = grant
        one_more = _wanted(namespace, creation, kind, partitioned)
        if within_quota(namespace, one_more):
            shown = created_rules(namespace, creation, partitioned=partitioned)
            quota = shown_by_creation(namespace, one_more)
            yield _granted(creation, grant), (*windowed, *why, *shown, *quota)


def _made(
    namespace: Namespace, command: v.CreateQueue, known: Queue | None, *, in_outage: bool
) -> Iterator[Transition]:
    lawful, limits = with_lawful_locks(command)
    outage = rules_if((in_outage, "MGMT-18"))
    for source, why in sources(namespace, lawful):
        start = not_forwarding(namespace, command.forward_to or "") if why else namespace
        for granted, rules in granted_settings(start, source, Kind.QUEUE, *why):
            for settings in _given(start.profile, granted):
                made_so = _done(start, known, settings, (*outage, *limits, *rules))
                yield noted(made_so, source)


def noted(transition: Transition, creation: v.CreateQueue) -> Transition:
    """SIZE-02, PREM-01, DUP-03: record that a queue got other settings than were requested."""
    queue = transition.next.queues[creation.queue]
    # Whatever was requested and not given may show later, in a description or by a limit.
    tried = queue.managed.tried
    if creation.max_size not in (None, queue.settings.max_size):
        tried |= {"max_size"}
    if creation.partitioned and not queue.settings.partitioned:
        tried |= {"partitions"}
    if creation.duplicate_window != queue.settings.duplicate_window:
        tried |= {ASKED_BEYOND}
    if tried == queue.managed.tried:
        return transition
    return evolve(transition, next=with_managed(transition.next, queue, tried=tried))


def _given(profile: v.Profile, creation: v.CreateQueue) -> Iterator[v.CreateQueue]:
    """MGMT-24: yield the requested settings, and those without features that Basic may lack."""
    yield creation
    offered = profile.readings.get("BASIC-FEATURES") == "offered"
    if profile.tier is v.Tier.BASIC and not offered and is_beyond_basic(creation):
        yield evolve(creation, requires_session=False, duplicate_detection=False)


def _whole(namespace: Namespace, command: v.CreateQueue) -> v.CreateQueue:
    """Return the settings of the queue that a refused creation may have left in some partitions."""
    return _granted(with_lawful_locks(command)[0], _grants(namespace, command)[0])


def _taken(namespace: Namespace, known: Queue, command: v.CreateQueue) -> Transition:
    """MGMT-09, MGMT-19: return the refusal of a creation because its name is taken."""
    again = known.managed.partially_applied == "create" and not known.outages.any
    # Only a creation with the same settings completes one that was made in part.
    if again and _whole(namespace, command) == known.settings:
        # It repeats a creation that an outage refused, and the outage is over.
        whole = with_managed(namespace, evolve(known, doubtful=False), partially_applied="")
        # Requests in between may have reached the partitions that the queue had then.
        if known.managed.touched:
            whole = stop_judging(whole, known.settings.queue)
        return refusal(whole, v.Error.ALREADY_EXISTS, "MGMT-19")
    return taken(namespace, known)


def taken(namespace: Namespace, known: Queue, *, any_error: bool = False) -> Transition:
    """MGMT-09: return the refusal of a creation; the entity of this name stays as it is."""
    if is_unsure(known):
        # Whether an unanswered creation made the entity is unknown, so no rule is credited.
        return refusal(namespace, v.Error.ALREADY_EXISTS, any_error=True)
    kept = with_managed(namespace, known, tried=known.managed.tried | {"queue"})
    return refusal(kept, v.Error.ALREADY_EXISTS, "MGMT-09", any_error=any_error)


def _done(
    namespace: Namespace, known: Queue | None, settings: v.CreateQueue, rules: tuple[v.RuleId, ...]
) -> Transition:
    """Return the creation of an empty queue; it is not judged if one existed in part before."""
    created = _created(namespace, settings)
    if known is not None and _is_mixed(known, settings):
        return done(stop_judging(created, settings.queue), *rules)
    repeated = settings.queue in namespace.registry.refused
    whole = repeated and not created.queues[settings.queue].outages.any
    return done(created, *rules_if((whole, "MGMT-19")), *rules)


def _is_mixed(known: Queue, settings: v.CreateQueue) -> bool:
    """Return whether the new queue may contain remains of an earlier queue of its name."""
    other = known.managed.partially_applied == "create" and known.settings != settings
    deleted = known.managed.partially_applied == "delete"
    # Requests in between may have reached the earlier one, or may yet reach the new queue.
    return other or deleted or known.managed.touched or known.role is not None


def initial_outages(namespace: Namespace, creation: v.CreateQueue) -> tuple[Outages, ...]:
    """Return the outages that the entity may begin with: they depend on its partitioning."""
    return tuple(
        outages_of(namespace, evolve(creation, partitioned=option))
        for option in options_of(namespace, creation)
    )


def outages_of(namespace: Namespace, settings: v.CreateQueue) -> Outages:
    """Return the outages that an entity begins with: those of the partitions that it has."""
    identified, known = namespace.observability.partitions, namespace.queues.get(settings.queue)
    outages = namespace.registry.outages.get(settings.queue, Outages(identified))
    down, doubt = outages.down, outages.doubt
    if known is not None:
        # An entity that may exist says nothing about partitions that it lacks.
        others = ~everywhere(namespace, known.settings)
        down, doubt = known.outages.down | down & others, known.outages.doubt | doubt & others
    its_own = everywhere(namespace, settings)
    return Outages(identified, down & its_own, doubt & its_own)


def _left_behind(namespace: Namespace, command: v.CreateQueue) -> Namespace:
    """Return the namespace after a creation that an outage refused (MANAGEMENT-IN-OUTAGE).

    The queue may exist in some partitions now. If it existed before, these have the new settings.
    """
    refused = namespace.registry.refused.set(command.queue, None)
    namespace = with_registry(namespace, refused=refused)
    # Under the other readings a refused creation changes nothing.
    if outage_reading(namespace) != "either":
        return namespace
    settings = _whole(namespace, command)
    known = namespace.queues.get(command.queue)
    if known is None:
        left = _created(namespace, settings, partially_applied="create")
        # It is open what a part of a queue forwards, and which of several options it has.
        open_ended = v.destinations(command) or len(_grants(namespace, command)) > 1
        return stop_judging(left, command.queue) if open_ended else left
    mixed = known.doubtful and not (known.managed.partially_applied and known.settings == settings)
    return stop_judging(namespace, command.queue) if mixed else namespace


def _created(
    namespace: Namespace, settings: v.CreateQueue, *, partially_applied: str = ""
) -> Namespace:
    name, queues = settings.queue, namespace.queues
    # An entity that is created again must not have the messages of the earlier one (MGMT-15).
    tombstone = namespace.registry.tombstones.get(name)
    outages = outages_of(namespace, settings)
    managed = evolve(
        begun(namespace, settings),
        partially_applied=partially_applied,
        disturbed=outages.any,
        trouble=namespace.now if outages.any else NO_TROUBLE,
        restored_before=tombstone is not None and tombstone.restored,
    )
    queue = Queue(
        settings=settings,
        outages=outages,
        in_order=is_in_order(namespace, settings),
        doubtful=bool(partially_applied),
        managed=managed,
    )
    # Dead letters of an earlier queue, which only may have existed, are not this queue's.
    for path in v.dead_letter_queues_of(name):
        queues = queues.delete(path) if path in queues else queues
    created = with_dead_letter_forwarding(added(evolve(namespace, queues=queues), queue), name)
    return made(namespace, destination_again(namespace, created, name), name)


def is_in_order(namespace: Namespace, settings: v.CreateQueue) -> bool:
    """REGULAR-ORDER, KEY-26: return whether an entity gives its oldest message first.

    Only this reading promises an order of a regular entity's messages; sessions have their own.
    """
    promised = namespace.reading("REGULAR-ORDER") == "first-in-first-out"
    return promised and settings.partitioned is False and not settings.requires_session


def begun(namespace: Namespace, settings: v.CreateQueue) -> Managed:
    """Return the management history of a new entity, with what is known of an earlier one."""
    managed = evolve(as_created(settings), born=namespace.registry.creations)
    tombstone = namespace.registry.tombstones.get(settings.queue)
    if tombstone is None:
        return managed
    other = tombstone.partitioned is not settings.partitioned
    return evolve(managed, before=tombstone.bodies, other_before=other)


def added(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace with this new entity."""
    return with_queue(with_registry(namespace, creations=namespace.registry.creations + 1), queue)


def restore_queue(namespace: Namespace, command: v.RestoreQueue) -> Iterator[Transition]:
    """PREM-03: add a partitioned queue from the time when the tier still allowed to create one."""
    known = namespace.queues.get(command.queue)
    if known is not None:
        yield refusal(namespace, v.Error.ALREADY_EXISTS, any_error=True)
        if not is_unsure(known):
            return
    settings = v.CreateQueue(
        queue=command.queue,
        requires_session=command.requires_session,
        duplicate_detection=command.duplicate_detection,
        max_size=command.max_size,
    )
    created = _created(namespace, settings)
    restored = with_managed(created, created.queues[command.queue], restored=True)
    yield done(restored if known is None else stop_judging(restored, command.queue))
