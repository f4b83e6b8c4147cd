"""What a subscription's management answers about its rules."""

from busproof.broker.asking import Asking, Said
from busproof.broker.management_of_messages import NO_CONTENT
from busproof.broker.requests import Reply
from busproof.broker.subscription_rules import action_of, described, filter_of
from busproof.vocabulary.commands import AddRule, ListRules, RemoveRule
from busproof.vocabulary.outcomes import RulesListed

__all__ = ["add_rule", "list_rules", "remove_rule"]


def add_rule(asking: Asking, said: Said) -> Reply:
    """Add a rule."""
    topic, subscription = asking.subscription()
    given = {str(key): value for key, value in dict(said["rule-description"]).items()}
    asking.ask(
        AddRule(
            topic=topic,
            subscription=subscription,
            rule=str(said["rule-name"]),
            filter=filter_of(given),
            transaction=asking.transaction,
            action=action_of(given),
        )
    )
    return Reply({})


def remove_rule(asking: Asking, said: Said) -> Reply:
    """Remove a rule."""
    topic, subscription = asking.subscription()
    name = str(said["rule-name"])
    asking.ask(
        RemoveRule(
            topic=topic, subscription=subscription, rule=name, transaction=asking.transaction
        )
    )
    return Reply({})


def list_rules(asking: Asking, said: Said) -> Reply:
    """Tell the rules."""
    topic, subscription = asking.subscription()
    skip, top = int(said.get("skip") or 0), int(said.get("top") or 100)
    outcome = asking.ask(ListRules(topic=topic, subscription=subscription)).outcome
    rules = outcome.rules if isinstance(outcome, RulesListed) else ()
    page = sorted(rules, key=lambda each: each.name)[skip : skip + top]
    if not page:
        return Reply({}, NO_CONTENT, "No rules")
    return Reply({"rules": [{"rule-description": described(each)} for each in page]})
