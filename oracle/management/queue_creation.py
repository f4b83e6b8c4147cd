"""Creation of queues: possible results and refusals."""

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
    """Return how management may fail in an outage (MANAGEMENT-IN-OUTAGE)."""
    return namespace.profile.readings.get("MANAGEMENT-IN-OUTAGE", "either")


def may_fail_in_outage(namespace: Namespace, outages: Outages) -> tuple[bool, bool]:
    """MGMT-18: return whether a request for all partitions may fail now, and whether it must."""
    must = outage_reading(namespace) == "fails" and bool(outages.down)
    return outages.any, must


def create_queue(namespace: Namespace, command: v.CreateQueue) -> Iterator[Transition]:
    """Create a queue, once, unless a rule forbids it.

    A dead-letter queue is created with its entity and not separately (from outside the editions).
    """
    if v.is_dead_letter_queue(command.queue):
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        return
    known = namespace.queues.get(command.queue)
    if known is not None:
        yield _taken(namespace, known, command)
        if not is_unsure(known):
            return
    refusals, must_refuse = objections(namespace, command)
    fates = [
        may_fail_in_outage(namespace, outages) for outages in initial_outages(namespace, command)
    ]
    # Which partitions it gets may be open: a partition that only one option has may be down.
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
"""Whether a new queue or topic is partitioned, its size, and its window with the rules on it."""


def _grants(namespace: Namespace, creation: v.CreateQueue) -> list[Grant]:
    """Return the combinations of options that a request may get, the usual one first."""
    options, sizes = options_of(namespace, creation), granted_sizes(namespace.profile, creation)
    return list(product(options, sizes, windows_of(namespace, creation)))


def _granted(creation: v.CreateQueue, grant: Grant) -> v.CreateQueue:
    partitioned, size, (window, _) = grant
    return evolve(creation, partitioned=partitioned, max_size=size, duplicate_window=window)


def wanted(namespace: Namespace, creation: v.CreateQueue, kind: Kind) -> Iterator[Wanted]:
    """Return how a queue or topic may count for the quota, for each option that it may get."""
    return (
        _wanted(namespace, creation, kind, option) for option in options_of(namespace, creation)
    )


def _wanted(namespace: Namespace, creation: v.CreateQueue, kind: Kind, partitioned: bool) -> Wanted:
    counted = kind if partitioned else Kind.REGULAR
    return Wanted(counted, partition_count(namespace, evolve(creation, partitioned=partitioned)))


def granted_settings(
    namespace: Namespace, creation: v.CreateQueue, kind: Kind, *why: v.RuleId
) -> Iterator[tuple[v.CreateQueue, tuple[v.RuleId, ...]]]:
    """Return the settings that a new queue or topic may get within the quota, with their rules.

    Args:
        namespace: the state.
        creation: the request.
        kind: the kind of a partitioned entity.
        why: rules by which something else of the request was not granted.
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
    """SIZE-02, PREM-01, DUP-03: record that a queue got other settings than requested."""
    queue = transition.next.queues[creation.queue]
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
    """MGMT-24: return the requested settings, or those without what Basic may lack."""
    yield creation
    offered = profile.readings.get("BASIC-FEATURES") == "offered"
    if profile.tier is v.Tier.BASIC and not offered and is_beyond_basic(creation):
        yield evolve(creation, requires_session=False, duplicate_detection=False)


def _whole(namespace: Namespace, command: v.CreateQueue) -> v.CreateQueue:
    """Return the entity that may exist in part after a refusal in an outage."""
    return _granted(with_lawful_locks(command)[0], _grants(namespace, command)[0])


def _taken(namespace: Namespace, known: Queue, command: v.CreateQueue) -> Transition:
    """MGMT-09, MGMT-19: the name is taken by a queue that exists, or is complete from now on."""
    again = known.managed.partially_applied == "create" and not known.outages.any
    # A creation with other settings does not complete it.
    if again and _whole(namespace, command) == known.settings:
        # It repeats a creation that was refused in an outage, which is over.
        whole = with_managed(namespace, evolve(known, doubtful=False), partially_applied="")
        # What used it meanwhile may have reached the partitions that were there.
        if known.managed.touched:
            whole = stop_judging(whole, known.settings.queue)
        return refusal(whole, v.Error.ALREADY_EXISTS, "MGMT-19")
    return taken(namespace, known)


def taken(namespace: Namespace, known: Queue, *, any_error: bool = False) -> Transition:
    """MGMT-09: the name is taken, by an entity that stays as it is."""
    if is_unsure(known):
        return refusal(namespace, v.Error.ALREADY_EXISTS, any_error=True)
    kept = with_managed(namespace, known, tried=known.managed.tried | {"queue"})
    return refusal(kept, v.Error.ALREADY_EXISTS, "MGMT-09", any_error=any_error)


def _done(
    namespace: Namespace, known: Queue | None, settings: v.CreateQueue, rules: tuple[v.RuleId, ...]
) -> Transition:
    """The queue exists and is empty; one that existed in part is no longer judged."""
    created = _created(namespace, settings)
    if known is not None and _is_mixed(known, settings):
        return done(stop_judging(created, settings.queue), *rules)
    repeated = settings.queue in namespace.registry.refused
    whole = repeated and not created.queues[settings.queue].outages.any
    return done(created, *rules_if((whole, "MGMT-19")), *rules)


def _is_mixed(known: Queue, settings: v.CreateQueue) -> bool:
    """Return whether the new queue may have remains of an earlier one, in part or perhaps."""
    other = known.managed.partially_applied == "create" and known.settings != settings
    deleted = known.managed.partially_applied == "delete"
    # What used the name meanwhile may have reached a part, or may yet reach the new queue.
    return other or deleted or known.managed.touched or known.role is not None


def initial_outages(namespace: Namespace, creation: v.CreateQueue) -> tuple[Outages, ...]:
    """Return the outages of a queue or topic, for each option that it may get."""
    return tuple(
        outages_of(namespace, evolve(creation, partitioned=option))
        for option in options_of(namespace, creation)
    )


def outages_of(namespace: Namespace, settings: v.CreateQueue) -> Outages:
    """Return the initial outages of a queue: those of the partitions that it has."""
    identified, known = namespace.observability.partitions, namespace.queues.get(settings.queue)
    outages = namespace.registry.outages.get(settings.queue, Outages(identified))
    down, doubt = outages.down, outages.doubt
    if known is not None:
        # An entity that may exist does not know partitions that it lacks.
        others = ~everywhere(namespace, known.settings)
        down, doubt = known.outages.down | down & others, known.outages.doubt | doubt & others
    its_own = everywhere(namespace, settings)
    return Outages(identified, down & its_own, doubt & its_own)


def _left_behind(namespace: Namespace, command: v.CreateQueue) -> Namespace:
    """Return the state after a creation refused in an outage (MANAGEMENT-IN-OUTAGE).

    If the queue may already exist, it may now have the new settings in some partitions.
    """
    refused = namespace.registry.refused.set(command.queue, None)
    namespace = with_registry(namespace, refused=refused)
    if outage_reading(namespace) != "either":
        return namespace
    settings = _whole(namespace, command)
    known = namespace.queues.get(command.queue)
    if known is None:
        left = _created(namespace, settings, partially_applied="create")
        # What a part of it forwards is open, and so is which of several options the part has.
        open_ended = v.destinations(command) or len(_grants(namespace, command)) > 1
        return stop_judging(left, command.queue) if open_ended else left
    mixed = known.doubtful and not (known.managed.partially_applied and known.settings == settings)
    return stop_judging(namespace, command.queue) if mixed else namespace


def _created(
    namespace: Namespace, settings: v.CreateQueue, *, partially_applied: str = ""
) -> Namespace:
    name, queues = settings.queue, namespace.queues
    tombstone = namespace.registry.tombstones.get(name)
    outages = outages_of(namespace, settings)
    managed = evolve(
        begun(namespace, settings),
        partially_applied=partially_applied,
        disturbed=outages.any,
        trouble=namespace.now if outages.any else NO_TROUBLE,
        restored_before=tombstone is not None and tombstone.restored,
    )
    in_order = namespace.reading("REGULAR-ORDER") == "first-in-first-out"
    queue = Queue(
        settings=settings,
        outages=outages,
        in_order=in_order and settings.partitioned is False and not settings.requires_session,
        doubtful=bool(partially_applied),
        managed=managed,
    )
    # Dead letters of a queue that only may have been there are not those of this one.
    for path in v.dead_letter_queues_of(name):
        queues = queues.delete(path) if path in queues else queues
    created = with_dead_letter_forwarding(added(evolve(namespace, queues=queues), queue), name)
    return made(namespace, destination_again(namespace, created, name), name)


def begun(namespace: Namespace, settings: v.CreateQueue) -> Managed:
    """Return the management history of a new entity, and what is known of its predecessor."""
    managed = evolve(as_created(settings), born=namespace.registry.creations)
    tombstone = namespace.registry.tombstones.get(settings.queue)
    if tombstone is None:
        return managed
    other = tombstone.partitioned is not settings.partitioned
    return evolve(managed, before=tombstone.bodies, other_before=other)


def added(namespace: Namespace, queue: Queue) -> Namespace:
    """Return the namespace with one more entity."""
    return with_queue(with_registry(namespace, creations=namespace.registry.creations + 1), queue)


def restore_queue(namespace: Namespace, command: v.RestoreQueue) -> Iterator[Transition]:
    """PREM-03: add a partitioned queue of the time when the tier still allowed creating one."""
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
