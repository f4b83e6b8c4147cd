"""Creation of queues: possible results and refusals."""

from collections.abc import Iterator
from itertools import product

from busproof import vocabulary as v
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
    created_rules,
    is_beyond_basic,
    objections,
    options_of,
    windows_of,
)
from busproof.oracle.messages.dead_letters import with_dead_letter_forwarding
from busproof.oracle.messages.duplicates import ASKED_BEYOND
from busproof.oracle.outages import Outages
from busproof.oracle.registry import NO_TROUBLE, as_created
from busproof.oracle.sizes.entity_quota import Wanted, over_quota, shown_by_creation, within_quota
from busproof.oracle.sizes.entity_size import granted_sizes
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
    found = list(objections(namespace, command))
    may_fail, must_fail = may_fail_in_outage(namespace, outages_of(namespace, command))
    if may_fail:
        left = _left_behind(namespace, command)
        yield refusal(left, v.Error.UNAVAILABLE, "MGMT-18", any_error=True)
    if not must_fail and not any(surely for _, _, surely in found):
        yield from _made(namespace, command, known, in_outage=may_fail)
    yield from refused_destination(namespace, command)
    for error, rules, _ in found:
        yield refusal(namespace, error, *rules, any_error=True)
    options = options_of(namespace, command)
    yield from over_quota(namespace, (_wanted(namespace, command, each) for each in options))


def _wanted(namespace: Namespace, command: v.CreateQueue, partitioned: bool) -> Wanted:
    """Return how the queue counts for the quota."""
    kind = Kind.QUEUE if partitioned else Kind.REGULAR
    return Wanted(kind, partition_count(namespace, evolve(command, partitioned=partitioned)))


def _made(
    namespace: Namespace, command: v.CreateQueue, known: Queue | None, *, in_outage: bool
) -> Iterator[Transition]:
    lawful, limits = with_lawful_locks(command)
    for source, why in sources(namespace, lawful):
        start = not_forwarding(namespace, command.forward_to or "") if why else namespace
        sizes = granted_sizes(start.profile, source)
        windows = windows_of(start, source)
        for partitioned, size, given in product(options_of(start, source), sizes, windows):
            window, windowed = given
            wanted = _wanted(start, source, partitioned)
            if not within_quota(start, wanted):
                continue
            shown = (
                *created_rules(start, source, partitioned=partitioned),
                *shown_by_creation(start, wanted),
            )
            rules = (*limits, *windowed, *why, *shown)
            if in_outage:
                rules = ("MGMT-18", *rules)
            asked = _asked(source, partitioned, size, window)
            for settings in _given(start.profile, asked):
                for made_so in _done(start, known, settings, rules):
                    yield noted(made_so, source)


def _asked(
    source: v.CreateQueue, partitioned: bool, size: int | None, window: int
) -> v.CreateQueue:
    """Return the requested settings as the queue usually gets them."""
    if (partitioned, size, window) == (
        source.partitioned,
        source.max_size,
        source.duplicate_window,
    ):
        return source
    return evolve(source, partitioned=partitioned, max_size=size, duplicate_window=window)


def noted(transition: Transition, asked: v.CreateQueue) -> Transition:
    """SIZE-02, PREM-01, DUP-03: record that a queue got other settings than requested."""
    queue = transition.next.queues[asked.queue]
    tried = queue.managed.tried
    if asked.max_size not in (None, queue.settings.max_size):
        tried |= {"max_size"}
    if asked.partitioned and not queue.settings.partitioned:
        tried |= {"partitions"}
    if asked.duplicate_window != queue.settings.duplicate_window:
        tried |= {ASKED_BEYOND}
    if tried == queue.managed.tried:
        return transition
    managed = evolve(queue.managed, tried=tried)
    left = with_queue(transition.next, evolve(queue, managed=managed))
    return evolve(transition, next=left)


def _given(profile: v.Profile, asked: v.CreateQueue) -> Iterator[v.CreateQueue]:
    """MGMT-24: return the requested settings, or those without what Basic may lack."""
    yield asked
    offered = profile.readings.get("BASIC-FEATURES") == "offered"
    if profile.tier is v.Tier.BASIC and not offered and is_beyond_basic(asked):
        yield evolve(asked, requires_session=False, duplicate_detection=False)


def _is_repeated(namespace: Namespace, known: Queue, command: v.CreateQueue) -> bool:
    """Return whether this repeats a creation that was refused in an outage, which is over."""
    again = (
        _whole(namespace, command) == known.settings and known.managed.partially_applied == "create"
    )
    return again and not known.outages.any


def _whole(namespace: Namespace, command: v.CreateQueue) -> v.CreateQueue:
    """Return the entity that may exist in part after a refusal in an outage."""
    partitioned = options_of(namespace, command)[0]
    size = granted_sizes(namespace.profile, command)[0]
    lawful, window = with_lawful_locks(command)[0], windows_of(namespace, command)[0][0]
    return evolve(lawful, partitioned=partitioned, max_size=size, duplicate_window=window)


def _taken(namespace: Namespace, known: Queue, command: v.CreateQueue) -> Transition:
    """MGMT-09, MGMT-19: the name is taken by a queue that exists, or is complete from now on."""
    if _is_repeated(namespace, known, command):
        managed = evolve(known.managed, partially_applied="")
        whole = with_queue(namespace, evolve(known, doubtful=False, managed=managed))
        if known.managed.touched:
            whole = stop_judging(whole, known.settings.queue)
        return refusal(whole, v.Error.ALREADY_EXISTS, "MGMT-19")
    if is_unsure(known):
        return refusal(namespace, v.Error.ALREADY_EXISTS, any_error=True)
    managed = evolve(known.managed, tried=known.managed.tried | {"queue"})
    kept = with_queue(namespace, evolve(known, managed=managed))
    return refusal(kept, v.Error.ALREADY_EXISTS, "MGMT-09")


def _done(
    namespace: Namespace, known: Queue | None, settings: v.CreateQueue, rules: tuple[v.RuleId, ...]
) -> Iterator[Transition]:
    """The queue exists and is empty; one that existed in part is no longer judged."""
    created = _created(namespace, settings)
    if known is not None and _is_mixed(known, settings):
        yield done(stop_judging(created, settings.queue), *rules)
        return
    repeated = settings.queue in namespace.registry.refused
    whole = repeated and not created.queues[settings.queue].outages.any
    yield done(created, *(("MGMT-19",) if whole else ()), *rules)


def _is_mixed(known: Queue, settings: v.CreateQueue) -> bool:
    """Return whether the new queue may have remains of an earlier one, in part or perhaps."""
    other = known.managed.partially_applied == "create" and known.settings != settings
    deleted = known.managed.partially_applied == "delete"
    return other or deleted or known.managed.touched or known.role is not None


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
    registry = namespace.registry
    refused = evolve(registry, refused=registry.refused.set(command.queue, None))
    namespace = evolve(namespace, registry=refused)
    if outage_reading(namespace) != "either":
        return namespace
    settings = _whole(namespace, command)
    known = namespace.queues.get(command.queue)
    if known is None:
        left = _created(namespace, settings, partially_applied="create")
        several = (
            len(options_of(namespace, command))
            * len(granted_sizes(namespace.profile, command))
            * len(windows_of(namespace, command))
        )
        open_ended = bool(v.destinations(command)) or several > 1
        return stop_judging(left, command.queue) if open_ended else left
    mixed = known.doubtful and not (known.managed.partially_applied and known.settings == settings)
    return stop_judging(namespace, command.queue) if mixed else namespace


def _created(
    namespace: Namespace, settings: v.CreateQueue, *, partially_applied: str = ""
) -> Namespace:
    name, registry, queues = settings.queue, namespace.registry, namespace.queues
    tombstone = registry.tombstones.get(name)
    outages = outages_of(namespace, settings)
    managed = evolve(
        as_created(settings),
        partially_applied=partially_applied,
        disturbed=outages.any,
        trouble=namespace.now if outages.any else NO_TROUBLE,
        born=registry.creations,
    )
    if tombstone is not None:
        other = tombstone.partitioned is not settings.partitioned
        managed = evolve(
            managed,
            before=tombstone.bodies,
            other_before=other,
            restored_before=tombstone.restored,
        )
    in_order = namespace.profile.readings.get("REGULAR-ORDER") == "first-in-first-out"
    queue = Queue(
        settings=settings,
        outages=outages,
        in_order=in_order and settings.partitioned is False and not settings.requires_session,
        doubtful=bool(partially_applied),
        managed=managed,
    )
    registry = evolve(registry, creations=registry.creations + 1)
    for path in v.dead_letter_queues_of(name):
        queues = queues.delete(path) if path in queues else queues
    created = with_queue(evolve(namespace, queues=queues, registry=registry), queue)
    whole = with_dead_letter_forwarding(created, name)
    return made(namespace, destination_again(namespace, whole, name), name)


def restore_queue(namespace: Namespace, command: v.RestoreQueue) -> Iterator[Transition]:
    """PREM-03: add a partitioned queue from when the tier still permitted it."""
    known = namespace.queues.get(command.queue)
    if known is not None:
        yield refusal(namespace, v.Error.ALREADY_EXISTS, any_error=True)
        if not is_unsure(known):
            return
    restored = _restored(namespace, command)
    yield done(restored if known is None else stop_judging(restored, command.queue))


def _restored(namespace: Namespace, command: v.RestoreQueue) -> Namespace:
    settings = v.CreateQueue(
        queue=command.queue,
        requires_session=command.requires_session,
        duplicate_detection=command.duplicate_detection,
        max_size=command.max_size,
    )
    created = _created(namespace, settings)
    queue = created.queues[command.queue]
    managed = evolve(queue.managed, restored=True)
    return with_queue(created, evolve(queue, managed=managed))
