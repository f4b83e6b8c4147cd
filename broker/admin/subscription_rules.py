"""Administration of subscription rules over HTTP: create, read, update, list and delete."""

from collections.abc import Mapping
from xml.etree import ElementTree as ET

from busproof import vocabulary as v
from busproof.broker.admin import atom
from busproof.broker.admin.entity_requests import page_of
from busproof.broker.admin.http import Request
from busproof.broker.admin.managed_namespace import ManagedNamespace
from busproof.broker.admin.rule_descriptions import action_of, filter_of, rule_element
from busproof.broker.amqp.subscription_rules import check_expressions, check_room
from busproof.broker.names import objection_to

__all__ = ["SubscriptionRules"]


class SubscriptionRules:
    """The rules of all subscriptions, as administration clients manage them.

    Args:
        namespace: the namespace.
    """

    def __init__(self, namespace: ManagedNamespace) -> None:
        self._namespace = namespace

    def listed(self, path: str, query: Mapping[str, str]) -> bytes:
        """Return a page of the rules of a subscription, by name.

        Raises:
            Unreadable: there is no such subscription, or the page has no such number.
        """
        rules = {rule.name: rule for rule in self._found_rules(path)}
        path = self._namespace.known(path)
        page, following = page_of(sorted(rules), query)
        moment, url = self._namespace.moment(), f"{self._namespace.url(path)}/Rules"
        entries = [
            (name, self._namespace.url(path, name), self._element(path, rules[name], moment))
            for name in page
        ]
        return atom.feed("rules", url, moment, entries, following and f"{url}?{following}")

    def answer(self, request: Request, path: str, name: str) -> tuple[int, bytes]:
        """Answer a request about the rule with this name: the status and the body.

        Raises:
            Unreadable: there is no such subscription or rule, or the description is wrong.
        """
        topic, subscription = self._namespace.subscription(path)
        path = self._namespace.known(path)
        known = {rule.name: rule for rule in self._found_rules(path)}
        if request.method == "PUT":
            if (objection := objection_to(name, what="name of a rule", dollar=True)) is not None:
                raise atom.Unreadable(objection)
            element = atom.read_description(request.body).element
            chosen, action = filter_of(element), action_of(element)
            check_expressions(chosen, action)
            changed = "if-match" in request.headers
            if changed and name not in known:
                raise atom.Unreadable(f"Rule '{name}' of '{path}' was not found.", 404)
            if not changed:
                check_room(self._namespace.hub, topic)
            removal = v.RemoveRule(topic=topic, subscription=subscription, rule=name)
            addition = v.AddRule(
                topic=topic, subscription=subscription, rule=name, filter=chosen, action=action
            )
            self._namespace.ask(*([removal] if changed else []), addition)
            made = v.SubscriptionRule(name=name, filter=chosen, action=action)
            self._namespace.hub.descriptions.write_rule(path, made, ET.tostring(element, "unicode"))
            return 200 if changed else 201, self._entry(path, made)
        if name not in known:
            raise atom.Unreadable(f"Rule '{name}' of '{path}' was not found.", 404)
        if request.method == "DELETE":
            self._namespace.ask(v.RemoveRule(topic=topic, subscription=subscription, rule=name))
            self._namespace.hub.descriptions.forget_rule(path, name)
            return 200, b""
        return 200, self._entry(path, known[name])

    def replace_default(self, command: v.CreateSubscription, rule: ET.Element) -> None:
        """Replace the default rule of a new subscription by the described one.

        Raises:
            Unreadable: the description is wrong.
        """
        name = rule.findtext(f"{{{atom.SB}}}Name") or v.DEFAULT_RULE
        topic, subscription = command.topic, command.subscription
        chosen, action = filter_of(rule), action_of(rule)
        check_expressions(chosen, action)
        self._namespace.ask(
            v.RemoveRule(topic=topic, subscription=subscription, rule=v.DEFAULT_RULE),
            v.AddRule(
                topic=topic,
                subscription=subscription,
                rule=name,
                filter=chosen,
                action=action,
            ),
        )
        made = v.SubscriptionRule(name=name, filter=chosen, action=action)
        path = f"{topic}{v.SUBSCRIPTIONS}{subscription}"
        self._namespace.hub.descriptions.write_rule(path, made, ET.tostring(rule, "unicode"))

    def _found_rules(self, path: str) -> tuple[v.SubscriptionRule, ...]:
        topic, subscription = self._namespace.subscription(path)
        outcome = self._namespace.ask(v.ListRules(topic=topic, subscription=subscription)).outcome
        return outcome.rules if isinstance(outcome, v.RulesListed) else ()

    def _entry(self, path: str, rule: v.SubscriptionRule) -> bytes:
        moment = self._namespace.moment()
        element = self._element(path, rule, moment)
        return atom.entry(rule.name, self._namespace.url(path, rule.name), moment, element)

    def _element(self, path: str, rule: v.SubscriptionRule, moment: str) -> ET.Element:
        """Return a rule's description, with the client's own XML if it still describes the rule."""
        known, text = self._namespace.hub.descriptions.get(path).rules.get(rule.name, (None, ""))
        return rule_element(rule, moment, atom.element_of(text) if known == rule else None)
