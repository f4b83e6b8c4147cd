"""Rules of subscriptions where the documents leave something open.

Whether a rule is added that may be wrong, whether a condition takes a message for which SQL has no
definite value, and what an action writes then, a bus may decide as it likes. It decides alike for
messages that differ in their bodies only (FILTER-20).
"""

from typing import Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.filters.actions import RULE_NAME, changed, objection, sets_a_key
from busproof.filters.facts import Arrival
from busproof.filters.matching import takes
from busproof.filters.nodes import Property, walked
from busproof.filters.parser import (
    Outside,
    is_doubtful,
    is_doubtful_action,
    parsed,
    parsed_action,
    unknown_properties,
    unknown_properties_of_action,
)
from busproof.filters.readings import read
from busproof.judging.replay.guide import Guide
from busproof.model.ambiguities import TxnEntities
from busproof.model.answers import DONE, Answer
from busproof.model.family import Family
from busproof.model.state import Entity, Transaction
from busproof.model.subscription_rules import RuleChange, SubscriptionRules
from busproof.model.values import Refusal

__all__ = ["OpenRules", "is_same_rule", "with_values_of"]

CHANGEABLE: Final = frozenset(
    (
        *("content_type", "correlation_id", "message_id", "partition_key", "reply_to"),
        *("reply_to_session_id", "session_id", "subject", "to"),
    )
)
"""Properties of the system that an action may change."""
ANYTHING: Final = frozenset({"*"})
"""Stands for the names of all properties."""


def guide_of(family: Family) -> Guide:
    """Return the guide of a replay, which is the policy of the model."""
    guide = family.namespace.choices
    assert isinstance(guide, Guide)  # noqa: S101 - a replay has no other policy
    return guide


class OpenRules(SubscriptionRules):
    """Rules of subscriptions, with all answers that the documents permit."""

    def check(self, command: v.AddRule) -> None:
        """FILTER-19, FILTER-21, FILTER-25, FILTER-27: check a rule that may be wrong or not."""
        self.rules.limits.check_short_name(command.rule, "FILTER-27")
        self._object("FILTER-19", *self._of_filter(command.filter))
        if command.action is not None:
            self._object("FILTER-25", *self._of_action(command.action))

    def _object(self, rule: v.RuleId, must: bool, may: bool) -> None:
        if must or (may and self.namespace.prefers(rule, "refused", to="added")):
            raise Refusal(v.Error.INVALID_OPERATION, rule)

    def _of_filter(self, wanted: v.Filter) -> tuple[bool, bool]:
        """Return whether a filter must be refused, and whether it may be."""
        if not isinstance(wanted, v.SqlFilter):
            # One without conditions may be refused, or take everything.
            return False, wanted == v.CorrelationFilter()
        condition = parsed(wanted.expression)
        if isinstance(condition, Outside):
            # How long a filter may be, and how deeply nested, is the bus's own.
            return condition.name == "WRONG", True
        unknown = bool(unknown_properties(wanted.expression))
        return self._is_unknown_refused(unknown), unknown or is_doubtful(wanted.expression)

    def _of_action(self, action: str) -> tuple[bool, bool]:
        """Return whether an action must be refused, and whether it may be."""
        statements = parsed_action(action)
        if isinstance(statements, Outside):
            return statements.name == "WRONG", True
        unknown = bool(unknown_properties_of_action(action))
        must = self._is_unknown_refused(unknown)
        readings = self.namespace.profile.readings
        if sets_a_key(statements):
            return must or readings.get("ACTION-KEYS") == "refused", True
        doubtful = unknown or is_doubtful_action(action) or objection(statements) is not None
        return must, doubtful

    def _is_unknown_refused(self, unknown: bool) -> bool:
        readings = self.namespace.profile.readings
        return unknown and readings.get("SQL-SYSTEM-PROPERTY") == "refused"

    def buffer(self, subscription: Entity, command: RuleChange, transaction: Transaction) -> Answer:
        """FEAT-03, FEAT-18, FEAT-19: refuse a change in a transaction at once, or later.

        TXN-REFUSAL decides whether the commit refuses it; on a regular topic one that is impossible
        may have no effect.
        """
        journal = self.namespace.journal
        mark = journal.mark()
        others = {send.entity for send in transaction.sends}
        others |= {settled.entity for settled in transaction.settlements}
        is_open = self.namespace.known_reading(TxnEntities) is not TxnEntities.ACCEPTED
        if is_open and others - {subscription} and guide_of(self).refuses("TXN-OTHER-OPERATIONS"):
            raise Refusal(v.Error.INVALID_OPERATION, "TXN-15")
        try:
            return super().buffer(subscription, command, transaction)
        except Refusal as refusal:
            journal.undo(mark)
            is_partitioned = subscription.settings.partitioned
            at_once = self.namespace.profile.readings.get("TXN-REFUSAL") == "at-send"
            if (is_partitioned and at_once) or guide_of(self).choose_refusal(refusal.rules[0]):
                raise
            journal.touch(transaction)
            transaction.doomed = transaction.doomed or is_partitioned
            return Answer(DONE, rules=refusal.rules)

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        """FILTER-20: return whether a filter takes a message, as before for an equal one."""
        guide = guide_of(self)
        readings = read(self.namespace.profile.readings)
        verdict = takes(wanted, message, readings=readings)
        if guide.assigns_message_ids and message.message_id is None and reads_message_id(wanted):
            verdict = None  # the client's library assigns an id (KEY-13)
        if verdict is not None:
            return verdict
        alike = (wanted, attrs.evolve(message, body=""))
        known = guide.bindings.verdict(alike)
        if known is None:
            usual = takes(wanted, message, readings=read({}), arrival=arrival) is True
            known = guide.take("FILTER-20", (usual, not usual), guide.place)
            guide.bindings.note_verdict(alike, known)
        return known

    def act(
        self,
        rule: v.SubscriptionRule,
        message: v.Message,
        arrival: Arrival | None = None,  # noqa: ARG002 - a judge does not know it
    ) -> v.Message:
        """FILTER-21, FILTER-23: return the copy of a rule, and note which values are open."""
        statements = parsed_action(rule.action or "")
        guide = guide_of(self)
        if isinstance(statements, Outside):
            after = attrs.evolve(message)
            open_names = ANYTHING
        else:
            result = changed(statements, message, read(self.namespace.profile.readings))
            after = result.message
            open_names = result.open_properties | result.open_fields
            if any(name.lower() == RULE_NAME.lower() for name in after.properties):
                open_names |= {RULE_NAME.lower()}
        copy = attrs.evolve(after, properties=after.properties.set(RULE_NAME, rule.name))
        if open_names:
            guide.bindings.note_open(copy, open_names)
        return copy


def reads_message_id(wanted: v.Filter) -> bool:
    """KEY-13: return whether a filter looks at the MessageId."""
    if isinstance(wanted, v.CorrelationFilter):
        return wanted.message_id is not None
    condition = parsed(wanted.expression) if isinstance(wanted, v.SqlFilter) else None
    if condition is None or isinstance(condition, Outside):
        return False
    return any(
        isinstance(node, Property) and node.scope == "sys" and node.name.lower() == "messageid"
        for node in walked(condition)
    )


def with_values_of(view: v.MessageView, copy: v.Message, open_names: frozenset[str]) -> v.Message:
    """Return the copy that an action made, with the open values as a view shows them.

    Args:
        view: the view.
        copy: the copy as far as it is known.
        open_names: lower-case names of properties whose values are open; `*` is all.
    """
    fields = set(CHANGEABLE if open_names == ANYTHING else CHANGEABLE & open_names)
    shown = {name: getattr(view, name) for name in fields}
    if open_names == ANYTHING:
        return attrs.evolve(copy, **shown, properties=view.properties)
    known = {
        name: value for name, value in copy.properties.items() if name.lower() not in open_names
    }
    others = {name: value for name, value in view.properties.items() if name.lower() in open_names}
    return attrs.evolve(copy, **shown, properties=Map(known | others))


def is_same_rule(listed: v.SubscriptionRule, own: v.SubscriptionRule) -> bool:
    """FILTER-10: return whether a list shows a rule; it may write SQL differently."""
    if listed.name != own.name or not _is_same_filter(own.filter, listed.filter):
        return False
    if listed.action is None or own.action == listed.action:
        return True  # a list may leave out actions
    return own.action is not None and parsed_action(own.action) == parsed_action(listed.action)


def _is_same_filter(added: v.Filter, listed: v.Filter) -> bool:
    # The documents count true and false as SQL filters, so a bus may list 1=1 as TrueFilter.
    if isinstance(added, v.SqlFilter) and isinstance(listed, v.TrueFilter | v.FalseFilter):
        constant = "1=1" if isinstance(listed, v.TrueFilter) else "1=0"
        return bool(parsed(added.expression) == parsed(constant))
    if isinstance(listed, v.SqlFilter) and isinstance(added, v.TrueFilter | v.FalseFilter):
        return True
    if isinstance(added, v.SqlFilter) and isinstance(listed, v.SqlFilter):
        return bool(parsed(added.expression) == parsed(listed.expression))
    return added == listed
