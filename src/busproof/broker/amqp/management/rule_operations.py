"""Management operations on the rules of a subscription: add, remove and list."""

from busproof import vocabulary as v
from busproof.broker.amqp.management.message_operations import NO_CONTENT
from busproof.broker.amqp.management.requests import Asking, Said
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.amqp.request_links import Reply
from busproof.broker.amqp.subscription_rules import (
    action_of,
    check_expressions,
    check_room,
    count_rule,
    describe_rule,
    filter_of,
)
from busproof.broker.bounds import check_bound
from busproof.broker.names import objection_to

__all__ = ["add_rule", "list_rules", "remove_rule"]


def add_rule(asking: Asking, fields: Said) -> Reply:
    """Add a rule to the subscription."""
    topic, subscription = asking.subscription()
    description = {str(key): value for key, value in dict(fields["rule-description"]).items()}
    chosen, action = filter_of(description), action_of(description)
    # Check the room first, because parsing an expression is the expensive part.
    check_room(asking.connection.hub, topic)
    check_expressions(chosen, action)
    name = str(fields["rule-name"])
    # The default rule is named `$Default`, so names of rules may begin with a dollar sign.
    if (objection := objection_to(name, what="name of a rule", dollar=True)) is not None:
        raise Refusal("com.microsoft:argument-error", objection)
    rule = v.SubscriptionRule(name=name, filter=chosen, action=action)
    asking.ask(
        v.AddRule(
            topic=topic,
            subscription=subscription,
            rule=count_rule(asking.connection.hub, rule).name,
            filter=chosen,
            transaction=asking.transaction,
            action=action,
        )
    )
    return Reply({})


def remove_rule(asking: Asking, fields: Said) -> Reply:
    """Remove a rule from the subscription."""
    topic, subscription = asking.subscription()
    name = str(fields["rule-name"])
    asking.ask(
        v.RemoveRule(
            topic=topic, subscription=subscription, rule=name, transaction=asking.transaction
        )
    )
    return Reply({})


def list_rules(asking: Asking, fields: Said) -> Reply:
    """Return a page of the subscription's rules."""
    topic, subscription = asking.subscription()
    skip, top = (
        check_bound("skip", fields.get("skip") or 0),
        check_bound("top", fields.get("top") or 100),
    )
    outcome = asking.ask(v.ListRules(topic=topic, subscription=subscription)).outcome
    rules = outcome.rules if isinstance(outcome, v.RulesListed) else ()
    # Sorted, because a client requests one page after another and must not miss a rule.
    page = sorted(rules, key=lambda rule: rule.name)[skip : skip + top]
    if not page:
        return Reply({}, NO_CONTENT, "No rules")
    return Reply({"rules": [{"rule-description": describe_rule(rule)} for rule in page]})
