"""Rules that the creation of an entity exercises, or any answer in Premium."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.entity_counts import MOST_PARTITIONED, Kind
from busproof.oracle.management.premium import is_from_before
from busproof.oracle.management.validation import is_beyond_basic, knows_partitions, version_shown
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.sizes.entity_size import granted_sizes
from busproof.oracle.sizes.message_limits import is_longest_name
from busproof.oracle.sizes.quotas import A_UNIT, MOST_ENTITIES, Wanted, weighing
from busproof.oracle.state import Namespace, Queue, Transaction
from busproof.oracle.transactions.limits import in_order
from busproof.oracle.window import Window

_ON_MESSAGES: Final = v.Send | v.Receive | v.Peek | v.Complete


def created_rules(
    namespace: Namespace, command: v.CreateQueue, *, partitioned: bool
) -> tuple[v.RuleId, ...]:
    """Return the rules that the creation of a queue or topic exercises."""
    profile, version = namespace.profile, command.api_version
    shown: v.RuleId | None = None
    if partitioned and version is not None:
        shown = version_shown(version)
    elif command.partitioned and not knows_partitions(profile, version):
        shown = "MGMT-08" if version_shown(version or "") else None
    granted = command.max_size is not None and command.max_size in granted_sizes(profile, command)
    premium, basic = profile.tier is v.Tier.PREMIUM, profile.tier is v.Tier.BASIC
    return rules_if(
        (is_longest_name(command.queue), "LIMIT-17"),
        (granted and not basic, "PREM-07" if premium else "SIZE-01"),
        (basic and is_beyond_basic(command), "MGMT-24"),
        (shown, shown or ""),
        (partitioned and not premium, "MGMT-02"),
    )


def shown_by_creation(namespace: Namespace, wanted: Wanted) -> tuple[v.RuleId, ...]:
    """Return the rules on quotas that the creation of one more queue or topic exercises."""
    counts = namespace.entity_counts
    entities, regular, there = counts.entities, counts.regular, counts.partitioned
    if namespace.profile.tier is v.Tier.PREMIUM:
        reading = namespace.reading("QUOTA-PREMIUM", "either")
        units = A_UNIT * namespace.profile.messaging_units
        last_regular = wanted.kind is Kind.REGULAR and regular.earliest + 1 == MOST_ENTITIES
        return rules_if(
            (entities.earliest + 1 == entities.latest + 1 == units, "QUOTA-14"),
            (reading == "quota" and entities.earliest >= MOST_ENTITIES, "QUOTA-13"),
            (reading == "counting" and last_regular, "QUOTA-12"),
            (reading == "either" and entities.earliest >= units, "QUOTA-11"),
        )
    partitioned = wanted.kind is not Kind.REGULAR
    # The last permitted one shows the quota only if the number of entities is known exactly.
    last = partitioned and there.earliest + 1 == there.latest + 1 == MOST_PARTITIONED
    alone = counts.queues if wanted.kind is Kind.QUEUE else counts.topics
    heavier = counts.stores.earliest + wanted.partitions > MOST_ENTITIES
    counted = entities.earliest + counts.subscriptions.earliest
    many_others = regular.earliest > MOST_PARTITIONED if partitioned else is_reached(there)
    return rules_if(
        (last and counts.quota_reached, "QUOTA-05"),
        (last and not counts.quota_reached and alone == there, own_rule(wanted)),
        (partitioned and is_reached(there), "QUOTA-04"),
        (many_others, "QUOTA-06"),
        (entities.earliest + 1 == MOST_ENTITIES, "QUOTA-07"),
        (heavier and not weighing(namespace)[1], "QUOTA-09"),
        (entities.latest < MOST_ENTITIES <= counted, "QUOTA-10"),
    )


def own_rule(wanted: Wanted) -> v.RuleId:
    """Return the rule that limits partitioned queues, or the one that limits topics."""
    return "QUOTA-01" if wanted.kind is Kind.QUEUE else "QUOTA-03"


def is_reached(partitioned: Window) -> bool:
    """Return whether there are surely as many partitioned entities as the quota allows."""
    return partitioned.earliest >= MOST_PARTITIONED


def shown_in_premium(
    namespace: Namespace, queue: Queue | None, command: v.Command, outcome: v.Outcome
) -> tuple[v.RuleId, ...]:
    """Return the rules on Premium that an answer exercises.

    Args:
        namespace: the state after the answer.
        queue: the entity that the request concerns, if there is one.
        command: the request.
        outcome: the answer.
    """
    if namespace.profile.tier is not v.Tier.PREMIUM or isinstance(outcome, v.Refused):
        return ()
    if queue is None:
        restored = namespace.entity_counts.restored.earliest
        return rules_if((isinstance(command, v.ListQueues) and restored, "PREM-04"))
    worked = isinstance(outcome, v.Received | v.Done | v.Peeked) and outcome != v.Peeked()
    before = is_from_before(namespace, queue) and isinstance(command, _ON_MESSAGES)
    regular = not queue.settings.partitioned
    view = outcome.message if regular and isinstance(outcome, v.Received) else None
    within = command.transaction if regular and isinstance(command, v.Send) else None
    keyless = within is not None and _need_no_key(namespace.transactions.get(within))
    return rules_if(
        (worked and before, "PREM-03"),
        (view is not None and queue.settings.requires_session, "PREM-11"),
        (view is not None and view.partition_key is not None, "PREM-12"),
        (keyless, "PREM-13"),
    )


def _need_no_key(transaction: Transaction | None) -> bool:
    """PREM-13: return whether the last two sends of a transaction have no key, or differ in it."""
    # Two sends suffice, because each send is compared with the one before it.
    staged = [] if transaction is None else in_order(transaction)[-2:]
    keys = {_key(send.message) for send in staged}
    return None in keys or len(keys) > 1


def _key(message: v.Message) -> str | None:
    return message.session_id if message.session_id is not None else message.partition_key
