"""Creating queues: what a request can be given, and why it may be refused."""

from collections.abc import Iterator
from itertools import product
from typing import Final

import attrs

from busproof.model.commands import CreateQueue, RestoreQueue
from busproof.model.dead_letters import SUFFIX, is_dead_letter_queue
from busproof.model.outages import Outages
from busproof.model.registry import as_created
from busproof.model.sizes import granted_sizes, may_refuse_size
from busproof.model.sources import refused_source, sources, told_not_to_forward, with_lawful_locks
from busproof.model.state import Namespace, Queue, everywhere, is_unsure, with_queue
from busproof.model.transition import Transition, done, refusal
from busproof.model.unknowable import given_up, made
from busproof.model.values import Error, Profile, RuleId, Tier

__all__ = [
    "create_queue",
    "may_fail_in_outage",
    "outage_reading",
    "outages_of",
    "restore_queue",
    "with_basic",
]

PARTITIONS_KNOWN_SINCE: Final = "2013-10"
"""MGMT-06: the first api-version that knows partitioned entities."""


def outage_reading(namespace: Namespace) -> str:
    """How far management may fail in an outage (MANAGEMENT-IN-OUTAGE)."""
    return namespace.profile.readings.get("MANAGEMENT-IN-OUTAGE", "either")


def may_fail_in_outage(namespace: Namespace, outages: Outages) -> tuple[bool, bool]:
    """MGMT-18: whether what acts on all partitions may fail now, and whether it must."""
    must = outage_reading(namespace) == "fails" and bool(outages.down)
    return outages.any, must


def create_queue(namespace: Namespace, command: CreateQueue) -> Iterator[Transition]:
    """A queue is created, once, unless something speaks against it.

    A dead-letter queue comes with its entity and cannot be created (from outside the five).
    """
    if is_dead_letter_queue(command.queue):
        yield refusal(namespace, Error.INVALID_OPERATION, any_error=True)
        return
    known = namespace.queues.get(command.queue)
    if known is not None:
        yield _taken(namespace, known, command)
        if not is_unsure(known):
            return
    objections = list(_objections(namespace, command))
    may_fail, must_fail = may_fail_in_outage(namespace, outages_of(namespace, command))
    if may_fail:
        left = _left_behind(namespace, command)
        yield refusal(left, Error.UNAVAILABLE, "MGMT-18", any_error=True)
    if not must_fail and not any(surely for _, _, surely in objections):
        yield from _made(namespace, command, known, in_outage=may_fail)
    yield from refused_source(namespace, command)
    for error, rules, _ in objections:
        yield refusal(namespace, error, *rules, any_error=True)


def _made(
    namespace: Namespace, command: CreateQueue, known: Queue | None, *, in_outage: bool
) -> Iterator[Transition]:
    lawful, limits = with_lawful_locks(command)
    for source, why in sources(namespace, lawful):
        start = told_not_to_forward(namespace, command) if why else namespace
        sizes = granted_sizes(start.profile, source)
        for partitioned, size in product(_options(start, source), sizes):
            rules = (*limits, *why, *_created_rules(start, source, partitioned=partitioned))
            if in_outage:
                rules = ("MGMT-18", *rules)
            asked = attrs.evolve(source, partitioned=partitioned, max_size=size)
            for settings in _given(start.profile, asked):
                for made_so in _done(start, known, settings, rules):
                    yield made_so if size == source.max_size else _resized(made_so, source)


def _resized(transition: Transition, asked: CreateQueue) -> Transition:
    """SIZE-02: a queue that was asked for in a size that there is not has another one."""
    if asked.max_size is None:
        return transition
    queue = transition.next.queues[asked.queue]
    managed = attrs.evolve(queue.managed, tried=queue.managed.tried | {"max_size"})
    left = with_queue(transition.next, attrs.evolve(queue, managed=managed))
    return attrs.evolve(transition, next=left)


def _given(profile: Profile, asked: CreateQueue) -> Iterator[CreateQueue]:
    """MGMT-24: what is asked for, or without what Basic need not have."""
    yield asked
    offered = profile.readings.get("BASIC-FEATURES") == "offered"
    if profile.tier is Tier.BASIC and not offered and _is_beyond_basic(asked):
        yield attrs.evolve(asked, requires_session=False, duplicate_detection=False)


def _is_beyond_basic(command: CreateQueue) -> bool:
    """Whether public documentation denies Basic such a queue."""
    return command.requires_session or command.duplicate_detection


def _is_repeated(namespace: Namespace, known: Queue, command: CreateQueue) -> bool:
    """Whether a creation that was refused in an outage is asked for once more, with none left."""
    again = _whole(namespace, command) == known.settings and known.managed.frayed == "create"
    return again and not known.outages.any


def _whole(namespace: Namespace, command: CreateQueue) -> CreateQueue:
    """What there may be parts of once the creation was refused in an outage."""
    partitioned = _options(namespace, command)[0]
    size = granted_sizes(namespace.profile, command)[0]
    return attrs.evolve(with_lawful_locks(command)[0], partitioned=partitioned, max_size=size)


def _taken(namespace: Namespace, known: Queue, command: CreateQueue) -> Transition:
    """MGMT-09, MGMT-19: the name is taken, by a queue that is there or is whole from now on."""
    if _is_repeated(namespace, known, command):
        managed = attrs.evolve(known.managed, frayed="")
        whole = with_queue(namespace, attrs.evolve(known, doubtful=False, managed=managed))
        if known.managed.touched:
            whole = given_up(whole, known.settings.queue)
        return refusal(whole, Error.ALREADY_EXISTS, "MGMT-19")
    if is_unsure(known):
        return refusal(namespace, Error.ALREADY_EXISTS, any_error=True)
    managed = attrs.evolve(known.managed, tried=known.managed.tried | {"queue"})
    kept = with_queue(namespace, attrs.evolve(known, managed=managed))
    return refusal(kept, Error.ALREADY_EXISTS, "MGMT-09")


def _done(
    namespace: Namespace, known: Queue | None, settings: CreateQueue, rules: tuple[RuleId, ...]
) -> Iterator[Transition]:
    """The queue is there and empty; of one that was there in part nothing is told any more."""
    created = _created(namespace, settings)
    if known is not None and _is_mixed(known, settings):
        yield done(given_up(created, settings.queue), *rules)
        return
    repeated = settings.queue in namespace.registry.refused
    whole = repeated and not created.queues[settings.queue].outages.any
    yield done(created, *(("MGMT-19",) if whole else ()), *rules)


def _is_mixed(known: Queue, settings: CreateQueue) -> bool:
    """Whether the new queue may have something of what was there, in part or perhaps."""
    other = known.managed.frayed == "create" and known.settings != settings
    deleted = known.managed.frayed == "delete"
    return other or deleted or known.managed.touched or known.role is not None


def _objections(
    namespace: Namespace, command: CreateQueue
) -> Iterator[tuple[Error, tuple[RuleId, ...], bool]]:
    """Why the request may be refused: the error, the rules, and whether it must be."""
    profile, wanted = namespace.profile, command.partitioned
    limits = with_lawful_locks(command)[1]
    if limits:
        yield Error.INVALID_OPERATION, limits, False
    if wanted and profile.tier is Tier.PREMIUM:
        yield Error.INVALID_OPERATION, (), False
    if wanted and not _knows_partitions(profile, command.api_version):
        yield Error.INVALID_OPERATION, ("MGMT-08",), False
    if profile.tier is Tier.BASIC and _is_beyond_basic(command):
        reading = profile.readings.get("BASIC-FEATURES")
        if reading != "offered":
            yield Error.INVALID_OPERATION, ("MGMT-24",), reading == "refused"
    sized = granted_sizes(profile, command)
    if may_refuse_size(profile, command) and not (namespace.vantage.decides and len(sized) == 1):
        standard = profile.tier is Tier.STANDARD
        yield Error.INVALID_OPERATION, ("SIZE-02",) if standard else (), False


def _knows_partitions(profile: Profile, version: str | None) -> bool:
    """MGMT-06, MGMT-07: whether requests of this api-version must know partitioned entities.

    `None` is the version that the implementation's own requests name.
    """
    if version is None:
        return True
    rule = "MGMT-06" if version == PARTITIONS_KNOWN_SINCE else "MGMT-07"
    return version >= PARTITIONS_KNOWN_SINCE and rule not in profile.silent


def _options(namespace: Namespace, command: CreateQueue) -> tuple[bool, ...]:
    """Whether the queue may become partitioned, not partitioned, or either."""
    profile, wanted = namespace.profile, command.partitioned
    options: tuple[bool, ...] = (bool(wanted),)
    if wanted is None:
        reading = profile.readings.get("PARTITIONING-DEFAULT", "regular")
        options = {"partitioned": (True,), "either": (False, True)}.get(reading, (False,))
    known = profile.tier is not Tier.PREMIUM and _knows_partitions(profile, command.api_version)
    return with_basic(profile, options) if known or True not in options else (False, True)


def with_basic(profile: Profile, options: tuple[bool, ...]) -> tuple[bool, ...]:
    """The options, of which Basic may only have that an entity is partitioned (BASIC-REGULAR)."""
    if profile.tier is not Tier.BASIC or False not in options:
        return options
    reading = profile.readings.get("BASIC-REGULAR", "either")
    return {"never": (True,), "as-asked": options}.get(reading, (False, True))


def _created_rules(
    namespace: Namespace, command: CreateQueue, *, partitioned: bool
) -> tuple[RuleId, ...]:
    """What it shows that the queue was created."""
    rules: tuple[RuleId, ...] = ()
    profile = namespace.profile
    if partitioned and profile.tier is not Tier.PREMIUM:
        rules = ("MGMT-02",)
    if partitioned and command.api_version is not None:
        old = command.api_version < PARTITIONS_KNOWN_SINCE
        same = command.api_version == PARTITIONS_KNOWN_SINCE
        rules = ("MGMT-08" if old else "MGMT-06" if same else "MGMT-07", *rules)
    elif command.partitioned and not _knows_partitions(profile, command.api_version):
        rules = ("MGMT-08", *rules)
    if profile.tier is Tier.BASIC and _is_beyond_basic(command):
        rules = ("MGMT-24", *rules)
    if profile.tier is Tier.STANDARD and command.max_size in granted_sizes(profile, command):
        rules = rules if command.max_size is None else ("SIZE-01", *rules)
    return rules


def outages_of(namespace: Namespace, settings: CreateQueue) -> Outages:
    """The outages that the queue begins with: those of the partitions that it has."""
    told, known = namespace.vantage.partitions, namespace.queues.get(settings.queue)
    outages = namespace.registry.outages.get(settings.queue, Outages(told))
    down, doubt = outages.down, outages.doubt
    if known is not None:
        # Of partitions that what may be there has not, it knows nothing.
        others = ~everywhere(namespace, known.settings)
        down, doubt = known.outages.down | down & others, known.outages.doubt | doubt & others
    its_own = everywhere(namespace, settings)
    return Outages(told, down & its_own, doubt & its_own)


def _left_behind(namespace: Namespace, command: CreateQueue) -> Namespace:
    """What a creation leaves that was refused in an outage (MANAGEMENT-IN-OUTAGE).

    Where the queue may be there already, it may now be so in part, or as it was asked for now.
    """
    registry = namespace.registry
    refused = attrs.evolve(registry, refused=registry.refused.set(command.queue, None))
    namespace = attrs.evolve(namespace, registry=refused)
    if outage_reading(namespace) != "either":
        return namespace
    settings = _whole(namespace, command)
    known = namespace.queues.get(command.queue)
    if known is None:
        left = _created(namespace, settings, frayed="create")
        several = len(_options(namespace, command)) * len(granted_sizes(namespace.profile, command))
        open_ended = command.forward_to is not None or several > 1
        return given_up(left, command.queue) if open_ended else left
    mixed = known.doubtful and not (known.managed.frayed and known.settings == settings)
    return given_up(namespace, command.queue) if mixed else namespace


def _created(namespace: Namespace, settings: CreateQueue, *, frayed: str = "") -> Namespace:
    name, registry, queues = settings.queue, namespace.registry, namespace.queues
    buried = registry.buried.get(name)
    outages = outages_of(namespace, settings)
    managed = attrs.evolve(
        as_created(settings),
        frayed=frayed,
        disturbed=outages.any,
        born=registry.creations,
    )
    if buried is not None:
        other = buried.partitioned is not settings.partitioned
        managed = attrs.evolve(managed, before=buried.bodies, other_before=other)
    queue = Queue(settings=settings, outages=outages, doubtful=bool(frayed), managed=managed)
    registry = attrs.evolve(registry, creations=registry.creations + 1)
    if name + SUFFIX in queues:
        queues = queues.delete(name + SUFFIX)
    created = with_queue(attrs.evolve(namespace, queues=queues, registry=registry), queue)
    return made(namespace, created, name)


def restore_queue(namespace: Namespace, command: RestoreQueue) -> Iterator[Transition]:
    """PREM-03: a partitioned queue is there from when the tier still permitted it."""
    known = namespace.queues.get(command.queue)
    if known is not None:
        yield refusal(namespace, Error.ALREADY_EXISTS, any_error=True)
        if not is_unsure(known):
            return
    restored = _restored(namespace, command)
    yield done(restored if known is None else given_up(restored, command.queue))


def _restored(namespace: Namespace, command: RestoreQueue) -> Namespace:
    settings = CreateQueue(
        queue=command.queue,
        requires_session=command.requires_session,
        duplicate_detection=command.duplicate_detection,
        max_size=command.max_size,
    )
    created = _created(namespace, settings)
    queue = created.queues[command.queue]
    managed = attrs.evolve(queue.managed, restored=True)
    return with_queue(created, attrs.evolve(queue, managed=managed))
