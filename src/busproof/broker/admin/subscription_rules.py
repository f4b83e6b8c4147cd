"""Administration of subscription rules over HTTP: create, read, update, list and delete."""

from collections.abc import Mapping
from xml.etree import ElementTree as ET

from busproof import vocabulary as v
from busproof.broker.admin import atom
from busproof.broker.admin.entity_requests import page_of
from busproof.broker.admin.managed_namespace import ManagedNamespace, to_seconds
from busproof.broker.admin.rule_descriptions import action_of, filter_of, rule_element
from busproof.broker.amqp.subscription_rules import check_expressions, check_room, count_rule
from busproof.broker.http_requests import Request
from busproof.broker.names import objection_to

__all__ = ["SubscriptionRules", "first_rule_in", "replacing_default"]


class SubscriptionRules:
    """The rules of all subscriptions, as administration clients manage them.

    Args:
        namespace: the namespace, for administration.
    """

    def __init__(self, namespace: ManagedNamespace) -> None:
        self._namespace = namespace

    def listed(self, path: str, query: Mapping[str, str]) -> bytes:
        """Return a page of a subscription's rules, sorted by name.

        Raises:
            Unreadable: there is no such subscription, or the query has an invalid number.
        """
        rules = {rule.name: rule for rule in self._find_rules(path)}
        path = self._namespace.find_path(path)
        page, following = page_of(sorted(rules), query)
        version = self._namespace.version
        entries = [
            self._entry(
                path,
                rules[name],
                self._namespace.url(path, version, name),
                self._namespace.link(path, version, name),
            )
            for name in page
        ]
        return self._namespace.feed("Rules", f"{path}/Rules", entries, following)

    def answer(self, request: Request, path: str, name: str) -> tuple[int, bytes]:
        """Answer a request about one rule; return the status and the body.

        Raises:
            Unreadable: there is no such subscription or rule, or the description is wrong.
        """
        topic, subscription = self._namespace.subscription(path)
        path = self._namespace.find_path(path)
        known = {rule.name: rule for rule in self._find_rules(path)}
        if request.method == "PUT":
            element = atom.read_description(request.body).element
            rule = count_rule(self._namespace.hub, rule_in(element, name), len(request.body))
            changed = "if-match" in request.headers
            if changed and name not in known:
                raise atom.Unreadable(f"Rule '{name}' of '{path}' was not found.", 404)
            if not changed:
                check_room(self._namespace.hub, topic)
            removal = v.RemoveRule(topic=topic, subscription=subscription, rule=name)
            addition = _addition(topic, subscription, rule)
            self._namespace.ask(*([removal] if changed else []), addition)
            self.describe(path, rule, element)
            return 200 if changed else 201, self._body(path, rule)
        if name not in known:
            raise atom.Unreadable(f"Rule '{name}' of '{path}' was not found.", 404)
        if request.method == "DELETE":
            self._namespace.ask(v.RemoveRule(topic=topic, subscription=subscription, rule=name))
            self._namespace.hub.descriptions.forget_rule(path, name)
            return 200, b""
        if request.method != "GET":
            raise atom.Unreadable(f"{request.method} is not supported here.", 405)
        return 200, self._body(path, known[name])

    def describe(self, path: str, rule: v.SubscriptionRule, element: ET.Element) -> None:
        """Keep a client's own description of a rule, to return it unchanged."""
        self._namespace.hub.descriptions.write_rule(path, rule, ET.tostring(element, "unicode"))

    def _find_rules(self, path: str) -> tuple[v.SubscriptionRule, ...]:
        topic, subscription = self._namespace.subscription(path)
        outcome = self._namespace.ask(v.ListRules(topic=topic, subscription=subscription)).outcome
        return outcome.rules if isinstance(outcome, v.RulesListed) else ()

    def _body(self, path: str, rule: v.SubscriptionRule) -> bytes:
        url = self._namespace.url(path, self._namespace.query, rule.name)
        return self._entry(path, rule, url, url).body()

    def _entry(self, path: str, rule: v.SubscriptionRule, url: str, link: str) -> atom.Entry:
        moment = self._namespace.moment()
        return atom.Entry(
            title=rule.name,
            url=url,
            link=link,
            published=to_seconds(moment),
            updated=to_seconds(moment),
            description=self._element(path, rule, moment),
        )

    def _element(self, path: str, rule: v.SubscriptionRule, moment: str) -> ET.Element:
        """Return a rule's description: the client's own XML if that still describes the rule."""
        known, text = self._namespace.hub.descriptions.get(path).rules.get(rule.name, (None, ""))
        return rule_element(rule, moment, atom.element_of(text) if known == rule else None)


def rule_in(element: ET.Element, name: str) -> v.SubscriptionRule:
    """Return the rule in a description, under the given name.

    Raises:
        Unreadable: the name or the description is wrong.
        Refusal: the filter or the action is too large.
    """
    if (objection := objection_to(name, what="name of a rule", dollar=True)) is not None:
        raise atom.Unreadable(objection)
    chosen, action = filter_of(element), action_of(element)
    check_expressions(chosen, action)
    return v.SubscriptionRule(name=name, filter=chosen, action=action)


def first_rule_in(element: ET.Element) -> v.SubscriptionRule:
    """Return the first rule in a subscription's description; it may have the default name.

    Raises:
        Unreadable: the name or the description is wrong.
        Refusal: the filter or the action is too large.
    """
    return rule_in(element, element.findtext(f"{{{atom.SB}}}Name") or v.DEFAULT_RULE)


def replacing_default(
    command: v.CreateSubscription, rule: v.SubscriptionRule
) -> tuple[v.Command, ...]:
    """Return the commands that replace the default rule of a new subscription."""
    topic, subscription = command.topic, command.subscription
    removal = v.RemoveRule(topic=topic, subscription=subscription, rule=v.DEFAULT_RULE)
    return removal, _addition(topic, subscription, rule)


def _addition(topic: str, subscription: str, rule: v.SubscriptionRule) -> v.AddRule:
    return v.AddRule(
        topic=topic,
        subscription=subscription,
        rule=rule.name,
        filter=rule.filter,
        action=rule.action,
    )
