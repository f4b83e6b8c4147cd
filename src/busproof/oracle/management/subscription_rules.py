"""Subscription rules: adding, removing and listing them, in a transaction or outside of one."""

from collections.abc import Iterator

import attrs

from busproof import vocabulary as v
from busproof.filters.actions import moves_copies, objection, sets_a_key
from busproof.filters.parser import (
    Outside,
    is_doubtful,
    is_doubtful_action,
    parsed,
    parsed_action,
    unknown_properties,
    unknown_properties_of_action,
)
from busproof.oracle.changes import with_doubt, with_transaction
from busproof.oracle.management.subscription_filters import removable
from busproof.oracle.management.topics import topic_of
from busproof.oracle.sizes.message_limits import (
    is_long_short_name,
    is_longest_short_name,
    must_refuse_beyond,
)
from busproof.oracle.state import Namespace, Queue, Subscription, Transaction, with_queue
from busproof.oracle.transactions.limits import is_second_entity
from busproof.oracle.transactions.transactional_sends import after_refusal
from busproof.oracle.transition import Observation, Transition, done, refusal
from busproof.oracle.unjudged import stop_judging

Change = v.AddRule | v.RemoveRule


def change_rule(namespace: Namespace, command: Change) -> Iterator[Transition]:
    """Yield every allowed answer to a request that adds or removes a rule."""
    queue, role = _subscription(namespace, command)
    refused = _refusal(namespace, role, command)
    if command.transaction is not None:
        possible = refused is None
        yield from _change_in_transaction(namespace, queue, command, possible=possible)
        return
    if refused is not None:
        yield refused
    # A refusal with a rule is required; only an optional one leaves success possible.
    if refused is None or not refused.rules:
        rule = "FEAT-01" if isinstance(command, v.AddRule) else "FEAT-02"
        rules = (rule,) if queue.settings.partitioned else ()
        longest = ("FILTER-26",) if is_longest_short_name(command.rule) else ()
        sql = isinstance(command, v.AddRule) and isinstance(command.filter, v.SqlFilter)
        accepted = ("FILTER-32",) if sql and refused is None else ()
        yield done(_changed(namespace, command), *longest, *accepted, *rules)


def _subscription(
    namespace: Namespace, command: Change | v.ListRules
) -> tuple[Queue, Subscription]:
    queue = namespace.queues[v.subscription_path(command.topic, command.subscription)]
    if not isinstance(queue.role, Subscription):
        raise AssertionError("only subscriptions have rules")  # noqa: TRY004 - no input gets here
    return queue, queue.role


def _refusal(namespace: Namespace, role: Subscription, command: Change) -> Transition | None:
    """FILTER-08, -09, -19, -25, -27: return the allowed refusal, with a rule if it is required."""
    there = command.rule in role.rules
    # Whether the rule exists is open if a change of it was not answered.
    doubtful = any(change.rule == command.rule for change in role.pending)
    if isinstance(command, v.RemoveRule):
        missing: tuple[v.RuleId, ...] = () if there or doubtful else ("FILTER-09",)
        if there and not doubtful:
            return None
        return refusal(namespace, v.Error.NOT_FOUND, *missing, any_error=doubtful)
    return _refused_addition(namespace, command, there=there, doubtful=doubtful)


def _refused_addition(
    namespace: Namespace, command: v.AddRule, *, there: bool, doubtful: bool
) -> Transition | None:
    """FILTER-08, FILTER-19, FILTER-25, FILTER-27: return the allowed refusal of a new rule."""
    wrong, perhaps = _objection(namespace, command.filter)
    beside = list(_wrong_beside(namespace, command))
    if there and not doubtful:
        # Of several reasons the documents do not say which one is named.
        any_error = wrong or perhaps or bool(beside)
        return refusal(namespace, v.Error.ALREADY_EXISTS, "FILTER-08", any_error=any_error)
    broken = (*(("FILTER-19",) if wrong else ()), *(rule for rule in beside if rule is not None))
    if broken:
        return refusal(namespace, v.Error.INVALID_OPERATION, *broken, any_error=True)
    if perhaps or doubtful or beside:
        return refusal(namespace, v.Error.ALREADY_EXISTS, any_error=True)
    return None


def _wrong_beside(namespace: Namespace, command: v.AddRule) -> Iterator[v.RuleId | None]:
    """FILTER-21, FILTER-25, FILTER-27: yield the objections to a rule's name and action.

    An objection is the rule that requires a refusal, or `None` if the refusal is optional.
    """
    if is_long_short_name(command.rule):
        yield "FILTER-27" if must_refuse_beyond(namespace) else None
    if command.action is not None:
        statements = parsed_action(command.action)
        if isinstance(statements, Outside):
            # How long an action may be, and how deeply nested, is the bus's own.
            yield "FILTER-25" if statements.name == "WRONG" else None
            return
        if unknown_properties_of_action(command.action):
            yield _for_an_unknown_property(namespace, "FILTER-25")
        if sets_a_key(statements):
            must = namespace.reading("ACTION-KEYS") == "refused"
            # Whether an action may set a key, which selects a partition, is open (ACTION-KEYS).
            yield "FILTER-21" if must else None
        elif is_doubtful_action(command.action) or objection(statements) is not None:
            yield None


def _for_an_unknown_property(namespace: Namespace, rule: v.RuleId) -> v.RuleId | None:
    """Return the rule by which a property that no message has is refused; SQL-SYSTEM-PROPERTY."""
    return rule if namespace.profile.readings.get("SQL-SYSTEM-PROPERTY") == "refused" else None


def _objection(namespace: Namespace, wanted: v.Filter) -> tuple[bool, bool]:
    """Return whether a filter must be refused, and whether it may be."""
    if isinstance(wanted, v.CorrelationFilter):
        # A correlation filter without conditions may be refused, or take everything.
        return False, wanted == v.CorrelationFilter()
    if not isinstance(wanted, v.SqlFilter):
        return False, False
    condition = parsed(wanted.expression)
    if isinstance(condition, Outside):
        # How long a filter may be, and how deeply nested, is the bus's own.
        return condition.name == "WRONG", True
    unknown = bool(unknown_properties(wanted.expression))
    must = unknown and _for_an_unknown_property(namespace, "FILTER-19") is not None
    return must, unknown or is_doubtful(wanted.expression)


def _changed(namespace: Namespace, command: Change) -> Namespace:
    """FILTER-07: return the namespace after the change, which applies to later messages."""
    queue, role = _subscription(namespace, command)
    if isinstance(command, v.AddRule):
        rules = role.rules.set(command.rule, command.filter)
        changed = attrs.evolve(role, rules=rules, added=True)
        namespace = _revised(namespace, queue, changed)
        action = command.action
        return namespace if action is None else _with_action(namespace, command, action)
    rules = role.rules.delete(command.rule) if command.rule in role.rules else role.rules
    actions = role.actions
    actions = actions.delete(command.rule) if command.rule in actions else actions
    without = attrs.evolve(role, rules=rules, actions=actions, removed=True)
    return _revised(namespace, queue, without)


def _with_action(namespace: Namespace, command: v.AddRule, action: str) -> Namespace:
    """FILTER-21: return the namespace in which the action changes the rule's copies.

    The subscription is no longer judged if earlier messages are in transit, or if the effect of the
    action is open.
    """
    queue, role = _subscription(namespace, command)
    topic, of_topic = topic_of(namespace, role)
    actions = role.actions.set(command.rule, action)
    acting = attrs.evolve(queue, role=attrs.evolve(role, actions=actions, acted=True))
    # Each rule with an action may add a copy, so the topic may use more storage (SIZE-13).
    counted = attrs.evolve(of_topic, copiers=of_topic.copiers + 1)
    namespace = with_queue(with_queue(namespace, acting), attrs.evolve(topic, role=counted))
    late = of_topic.unanswered_sends or len(topic.calendar.entries) or topic.fed
    statements = parsed_action(action)
    if late or isinstance(statements, Outside) or moves_copies(statements):
        return stop_judging(namespace, queue.settings.queue)
    return namespace


def _pending(namespace: Namespace, command: Change) -> Namespace:
    """Record a change of a rule that may take effect now, later or never."""
    path = v.subscription_path(command.topic, command.subscription)
    queue = namespace.queues.get(path)
    if queue is None or not isinstance(queue.role, Subscription):
        return namespace
    role = attrs.evolve(queue.role, pending=(*queue.role.pending, command))
    # It is open which copies such an action changes, so the subscription is no longer judged.
    if isinstance(command, v.AddRule) and command.action is not None:
        return stop_judging(_revised(namespace, queue, role), path)
    return _revised(namespace, queue, role)


def _revised(namespace: Namespace, queue: Queue, role: Subscription) -> Namespace:
    topic, of_topic = topic_of(namespace, role)
    revision = of_topic.revision + 1
    # FILTER-20 compares equal messages under the same rules, so earlier verdicts say nothing now.
    changed = attrs.evolve(role, revision=revision, taken=role.taken.__class__())
    namespace = with_queue(namespace, attrs.evolve(queue, role=changed))
    revised = attrs.evolve(of_topic, revision=revision)
    return with_queue(namespace, attrs.evolve(topic, role=revised))


def _change_in_transaction(
    namespace: Namespace, queue: Queue, command: Change, *, possible: bool
) -> Iterator[Transition]:
    """FEAT-03, FEAT-04, FEAT-18: refuse on a partitioned topic, wait for the commit otherwise."""
    name = command.transaction or ""
    transaction = namespace.transactions.get(name)
    if transaction is None:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
        return
    left = after_refusal(namespace, name, transaction)
    if not queue.settings.partitioned:
        yield from _buffered(namespace, command, transaction, left, possible=possible)
        return
    silent = "FEAT-03" in namespace.profile.silent
    rules = () if silent else ("FEAT-03",)
    # Whatever is refused in a transaction may have ended it.
    yield refusal(left, v.Error.INVALID_OPERATION, *rules, any_error=True)
    # A bus that ignores the transaction may change the rule at once.
    if silent or namespace.reading("RULE-IN-TRANSACTION") in ("ignored", "either"):
        yield done(_pending(namespace, command))
    if namespace.reading("TXN-REFUSAL") in ("at-commit", "either"):
        doomed = attrs.evolve(transaction, doomed=True)
        yield done(with_transaction(namespace, name, doomed), *rules)


def _buffered(
    namespace: Namespace,
    command: Change,
    transaction: Transaction,
    left: Namespace,
    *,
    possible: bool,
) -> Iterator[Transition]:
    """FEAT-04, FEAT-18: let a change of a regular topic's rules wait for the commit, or refuse it.

    A change that would fail outside of a transaction may be refused before the commit.
    """
    readings = namespace.profile.readings
    second, _ = is_second_entity(transaction, command.topic)
    alone = not second or readings.get("TXN-ENTITIES") == "accepted"
    sure = possible and alone and not (transaction.doubtful or transaction.doomed)
    supported = sure and readings.get("REGULAR-RULES") == "supported"
    if not supported:
        yield refusal(left, v.Error.INVALID_OPERATION, "FEAT-04", any_error=True)
    staged = attrs.evolve(transaction, changes=(*transaction.changes, command))
    # An unanswered commit may take effect only now, and then it includes this change.
    at_once = _pending(namespace, command) if transaction.ending else namespace
    after = with_transaction(at_once, command.transaction or "", staged)
    yield done(_asked_in_transaction(after, command), "FEAT-18" if supported else "FEAT-04")


def _asked_in_transaction(namespace: Namespace, command: Change) -> Namespace:
    """FEAT-19: record that a transaction contained a change of the subscription's rules."""
    queue, role = _subscription(namespace, command)
    changed = attrs.evolve(role, asked_in_transaction=True)
    return with_queue(namespace, attrs.evolve(queue, role=changed))


def with_changes(namespace: Namespace, transaction: Transaction, *, certain: bool) -> Namespace:
    """FEAT-19: return the namespace after a commit changed rules, as far as that is possible."""
    for command in transaction.changes:
        queue = namespace.queues.get(v.subscription_path(command.topic, command.subscription))
        role = None if queue is None else queue.role
        possible = isinstance(role, Subscription) and _refusal(namespace, role, command) is None
        change = _changed if certain and possible else _pending
        namespace = change(namespace, command)
    return namespace


def lost_change(namespace: Namespace, command: Change) -> Namespace:
    """Return the namespace in which a change may be made, and may have ended its transaction."""
    return _pending(with_doubt(namespace, command), command)


def list_rules(
    namespace: Namespace, command: v.ListRules, observed: Observation
) -> Iterator[Transition]:
    """FILTER-10: list each rule exactly once."""
    _, role = _subscription(namespace, command)
    rules = sorted(role.rules.items())
    known = tuple(
        v.SubscriptionRule(name=name, filter=condition, action=role.actions.get(name))
        for name, condition in rules
    )
    if observed.outcome is None:
        yield Transition(outcome=v.RulesListed(rules=known), next=namespace, rules=("FILTER-10",))
    elif isinstance(observed.outcome, v.RulesListed) and _agrees(role, observed.outcome.rules):
        yield Transition(outcome=observed.outcome, next=namespace, rules=("FILTER-10",))


def _agrees(role: Subscription, listed: tuple[v.SubscriptionRule, ...]) -> bool:
    """Return whether a list has exactly the rules that exist, apart from unanswered changes."""
    names = [rule.name for rule in listed]
    addable = [change for change in role.pending if isinstance(change, v.AddRule)]
    missing = set(role.rules) - set(names) - removable(role)
    # A rule's name is taken once (FILTER-08).
    if missing or len(set(names)) < len(names):
        return False
    return all(
        (
            rule.name in role.rules
            and _is_same(role.rules[rule.name], rule.filter)
            and _acts_alike(role.actions.get(rule.name), rule.action)
        )
        or any(new.rule == rule.name and _is_same(new.filter, rule.filter) for new in addable)
        for rule in listed
    )


def _acts_alike(added: str | None, listed: str | None) -> bool:
    """Return whether an action agrees; a list may reformat it, or leave it out."""
    if listed is None or added == listed:
        return True
    return added is not None and parsed_action(added) == parsed_action(listed)


def _is_same(added: v.Filter, listed: v.Filter) -> bool:
    """Return whether a filter agrees; a list may reformat SQL, and write true and false in it."""
    # The documents count true and false as SQL filters, so a bus may list 1=1 as TrueFilter.
    if isinstance(added, v.SqlFilter) and isinstance(listed, v.TrueFilter | v.FalseFilter):
        constant = "1=1" if isinstance(listed, v.TrueFilter) else "1=0"
        return parsed(added.expression) == parsed(constant)
    if isinstance(listed, v.SqlFilter) and isinstance(added, v.TrueFilter | v.FalseFilter):
        return True
    if isinstance(listed, v.SqlFilter) and isinstance(added, v.SqlFilter):
        return parsed(added.expression) == parsed(listed.expression)
    return added == listed
