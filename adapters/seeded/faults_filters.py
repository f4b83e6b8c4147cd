"""Faults of subscriptions' rules: FILTER-01 to FILTER-20, FEAT-01 to FEAT-03."""

import re
from abc import ABC, abstractmethod
from typing import Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Change, Queue
from busproof.vocabulary.commands import AddRule, RemoveRule
from busproof.vocabulary.messages import Message, PropertyValue
from busproof.vocabulary.outcomes import Done, Outcome, Refused, RulesListed
from busproof.vocabulary.subscription_rules import (
    CorrelationFilter,
    FalseFilter,
    Filter,
    SqlFilter,
    TrueFilter,
)
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("no-default-rule", "FILTER-01", "A second subscription of a topic begins without rules.")
class _NoDefaultRule(SeededBus):
    def subscribe(self, topic: Queue, subscription: Queue) -> None:
        super().subscribe(topic, subscription)
        if len(topic.subscriptions or ()) > 1:
            subscription.rules = {}


@faulty("false-takes-all", "FILTER-02", "A false filter takes everything.")
class _FalseTakesAll(SeededBus):
    def takes(self, wanted: Filter, message: Message) -> bool:
        return isinstance(wanted, FalseFilter) or super().takes(wanted, message)


@faulty("true-wants-a-label", "FILTER-02", "A true filter takes messages with a label only.")
class _TrueWantsALabel(SeededBus):
    def takes(self, wanted: Filter, message: Message) -> bool:
        labelled = message.subject is not None or message.message_id is not None
        return super().takes(wanted, message) and (labelled or not isinstance(wanted, TrueFilter))


class _Correlating(SeededBus, ABC):
    """Reads correlation filters in a way of its own."""

    @abstractmethod
    def otherwise(self, wanted: CorrelationFilter, message: Message) -> bool:
        """What this one makes of such a filter."""

    def takes(self, wanted: Filter, message: Message) -> bool:
        if isinstance(wanted, CorrelationFilter):
            return self.otherwise(wanted, message)
        return super().takes(wanted, message)


@faulty("correlation-without-case", "FILTER-03", "Correlation filters compare without case.")
class _CorrelationWithoutCase(_Correlating):
    def otherwise(self, wanted: CorrelationFilter, message: Message) -> bool:
        given = {name: value for name, value in _conditions(wanted).items() if value}
        system = all(_lower(getattr(message, name)) == _lower(v) for name, v in given.items())
        own = {name: _lower(value) for name, value in message.properties.items()}
        return system and all(own.get(n) == _lower(v) for n, v in wanted.properties.items())


def _conditions(wanted: CorrelationFilter) -> dict[str, str | None]:
    return attrs.asdict(wanted, recurse=False, filter=lambda field, _: field.name != "properties")


def _lower(value: PropertyValue | None) -> PropertyValue | None:
    return value.lower() if isinstance(value, str) else value


@faulty(
    "correlation-ignores-reply-session",
    "FILTER-03",
    "Correlation filters do not look at the ReplyToSessionId.",
    deep=True,
)
class _CorrelationIgnoresReplySession(_Correlating):
    def otherwise(self, wanted: CorrelationFilter, message: Message) -> bool:
        rest = attrs.evolve(wanted, reply_to_session_id=None)
        return SeededBus.takes(self, rest, message)


@faulty("any-condition-suffices", "FILTER-04", "One condition of a correlation filter suffices.")
class _AnyConditionSuffices(_Correlating):
    def otherwise(self, wanted: CorrelationFilter, message: Message) -> bool:
        given = {name: value for name, value in _conditions(wanted).items() if value}
        system = any(getattr(message, name) == value for name, value in given.items())
        own = wanted.properties.items()
        return system or any(message.properties.get(name) == value for name, value in own)


@faulty(
    "missing-property-matches",
    "FILTER-04",
    "A property of the application's own that a message lacks fails no condition.",
    deep=True,
)
class _MissingPropertyMatches(_Correlating):
    def otherwise(self, wanted: CorrelationFilter, message: Message) -> bool:
        there = {n: v for n, v in wanted.properties.items() if n in message.properties}
        return SeededBus.takes(self, attrs.evolve(wanted, properties=there), message)


@faulty("copy-for-each-rule", "FILTER-05", "A message is there once for each rule that takes it.")
class _CopyForEachRule(SeededBus):
    def copies(self, subscription: Queue, message: Message) -> int:
        return sum(self.takes(each, message) for each in subscription.rules.values())


@faulty("all-rules-must-match", "FILTER-05", "A message is taken only if every rule takes it.")
class _AllRulesMustMatch(SeededBus):
    def copies(self, subscription: Queue, message: Message) -> int:
        rules = subscription.rules.values()
        return int(bool(rules) and all(self.takes(each, message) for each in rules))


@faulty("without-rules-everything", "FILTER-06", "A subscription without rules takes everything.")
class _WithoutRulesEverything(SeededBus):
    def copies(self, subscription: Queue, message: Message) -> int:
        return super().copies(subscription, message) if subscription.rules else 1


@faulty(
    "without-rules-emptied",
    "FILTER-06",
    "A subscription loses what it holds with its last rule.",
    deep=True,
)
class _WithoutRulesEmptied(SeededBus):
    def change(self, subscription: Queue, command: Change) -> Outcome:
        changed = super().change(subscription, command)
        if not subscription.rules:
            subscription.messages.clear()
        return changed


@faulty(
    "rule-lives-on", "FILTER-07", "A rule that was removed still takes the next message.", deep=True
)
class _RuleLivesOn(SeededBus):
    def change(self, subscription: Queue, command: Change) -> Outcome:
        gone = subscription.rules.get(command.rule)
        changed = super().change(subscription, command)
        if isinstance(command, RemoveRule) and gone is not None and subscription.rules:
            subscription.rules[f"{command.rule} "] = gone
        return changed


@faulty(
    "rule-replaced", "FILTER-08", "A rule that is added under a name in use replaces the other."
)
class _RuleReplaced(SeededBus):
    def change(self, subscription: Queue, command: Change) -> Outcome:
        if isinstance(command, AddRule):
            subscription.rules.pop(command.rule, None)
        return super().change(subscription, command)


@faulty("missing-rule-removed", "FILTER-09", "Removing a rule that is not there succeeds.")
class _MissingRuleRemoved(SeededBus):
    def change(self, subscription: Queue, command: Change) -> Outcome:
        changed = super().change(subscription, command)
        return Done() if changed == Refused(error=Error.NOT_FOUND) else changed


@faulty("default-rule-not-listed", "FILTER-10", "The first rule of several is not listed.")
class _DefaultRuleNotListed(SeededBus):
    def listed(self, subscription: Queue) -> RulesListed:
        rules = super().listed(subscription).rules
        return RulesListed(rules=rules[1:] if len(rules) > 1 else rules)


class _Rewriting(SeededBus):
    """Reads SQL as if it had been written in another way."""

    pattern = ""
    replacement = ""

    def takes(self, wanted: Filter, message: Message) -> bool:
        if isinstance(wanted, SqlFilter):
            wanted = SqlFilter(expression=self.rewritten(wanted.expression, message))
        return super().takes(wanted, message)

    def rewritten(self, expression: str, message: Message) -> str:  # noqa: ARG002 - for faults
        return re.sub(self.pattern, self.replacement, expression, flags=re.IGNORECASE)


@faulty("less-or-equal-is-less", "FILTER-11", "SQL takes <= for <.")
class _LessOrEqualIsLess(_Rewriting):
    pattern = "<="
    replacement = "<"


@faulty("system-scope-ignored", "FILTER-11", "SQL takes sys. for user.", deep=True)
class _SystemScopeIgnored(_Rewriting):
    pattern = r"sys\."
    replacement = "user."


@faulty("and-or-in-writing-order", "FILTER-12", "SQL binds AND and OR alike, from the left.")
class _AndOrInWritingOrder(_Rewriting):
    pattern = r"^(\w+ = \d OR \w+ = \d) AND"
    replacement = r"(\1) AND"


@faulty("not-binds-all", "FILTER-12", "In SQL, NOT binds behind AND and OR.", deep=True)
class _NotBindsAll(_Rewriting):
    pattern = r"^NOT ([^(].* AND .*)$"
    replacement = r"NOT (\1)"


@faulty("exists-always", "FILTER-13", "In SQL, every property exists.")
class _ExistsAlways(_Rewriting):
    pattern = r"EXISTS\s*\([^)]*\)"
    replacement = "1 = 1"


@faulty("absent-is-not-null", "FILTER-13", "In SQL, a property that is absent is not null.")
class _AbsentIsNotNull(_Rewriting):
    pattern = r"[\w.]+ IS (NOT )?NULL"
    replacement = "1 = 0"


@faulty("in-looks-at-first", "FILTER-14", "In SQL, IN looks at the first of the values only.")
class _InLooksAtFirst(_Rewriting):
    pattern = r"IN \(([^,)]*),[^)]*\)"
    replacement = r"IN (\1)"


@faulty("underscore-stands-for-itself", "FILTER-15", "In SQL, _ in a pattern stands for itself.")
class _UnderscoreStandsForItself(_Rewriting):
    pattern = r"LIKE '(\w*)_(\w*)'(?! ESCAPE)"
    replacement = r"LIKE '\1~_\2' ESCAPE '~'"


@faulty("escape-ignored", "FILTER-15", "In SQL, ESCAPE has no effect.", deep=True)
class _EscapeIgnored(_Rewriting):
    pattern = r"!([%_]\w*' )ESCAPE '.'"
    replacement = r"\1"


@faulty("reckoned-from-the-left", "FILTER-16", "SQL reckons from the left, whatever binds first.")
class _ReckonedFromTheLeft(_Rewriting):
    pattern = r"(\w+ \+ \w+) \*"
    replacement = r"(\1) *"


@faulty("unknown-is-false", "FILTER-17", "In SQL, what is unknown is false, and its NOT true.")
class _UnknownIsFalse(SeededBus):
    def takes(self, wanted: Filter, message: Message) -> bool:
        if isinstance(wanted, SqlFilter) and wanted.expression.startswith("NOT "):
            inner = SqlFilter(expression=wanted.expression.removeprefix("NOT "))
            if " AND " not in wanted.expression or "(" in wanted.expression:
                return not super().takes(inner, message)
        return super().takes(wanted, message)


@faulty("unknown-infects-or", "FILTER-17", "In SQL, OR is unknown if one side is.", deep=True)
class _UnknownInfectsOr(SeededBus):
    def takes(self, wanted: Filter, message: Message) -> bool:
        if isinstance(wanted, SqlFilter) and " OR " in wanted.expression:
            named = re.findall(r"[a-z]\w*(?= =)", wanted.expression)
            if not set(named) <= set(message.properties):
                return False
        return super().takes(wanted, message)


@faulty("names-with-case", "FILTER-18", "In SQL, the case of a property's name counts.")
class _NamesWithCase(SeededBus):
    def takes(self, wanted: Filter, message: Message) -> bool:
        if isinstance(wanted, SqlFilter):
            named = set(re.findall(r"\w+", wanted.expression))
            known = {name for name in message.properties if name in named}
            message = attrs.evolve(
                message, properties={name: message.properties[name] for name in known}
            )
        return super().takes(wanted, message)


@faulty("values-without-case", "FILTER-18", "In SQL, the case of values does not count.", deep=True)
class _ValuesWithoutCase(_Rewriting):
    def rewritten(self, expression: str, message: Message) -> str:
        texts = [*message.properties.values(), message.subject]
        for text in texts:
            if isinstance(text, str):
                expression = re.sub(
                    f"'{re.escape(text)}'", f"'{text}'", expression, flags=re.IGNORECASE
                )
        return expression


@faulty("broken-sql-added", "FILTER-19", "What is no SQL is accepted, and takes nothing.")
class _BrokenSqlAdded(SeededBus):
    def is_valid(self, wanted: Filter) -> bool:  # noqa: ARG002 - whatever it is
        return True

    def takes(self, wanted: Filter, message: Message) -> bool:
        return super().is_valid(wanted) and super().takes(wanted, message)


@faulty(
    "broken-sql-empties-rules",
    "FILTER-19",
    "What is no SQL is refused, and the other rules are gone.",
    deep=True,
)
class _BrokenSqlEmptiesRules(SeededBus):
    def change(self, subscription: Queue, command: Change) -> Outcome:
        changed = super().change(subscription, command)
        if changed == Refused(error=Error.INVALID_OPERATION):
            subscription.rules.clear()
        return changed


@faulty("filter-sees-body", "FILTER-20", "A message whose body ends in 7 is taken by no filter.")
class _FilterSeesBody(SeededBus):
    def takes(self, wanted: Filter, message: Message) -> bool:
        seen = isinstance(wanted, CorrelationFilter) and message.body.endswith("7")
        return not seen and super().takes(wanted, message)


@faulty(
    "added-rule-misses-partition",
    "FEAT-01",
    "On a partitioned topic a rule that was added does not concern the last partition.",
)
class _AddedRuleMissesPartition(SeededBus):
    def copy(self, subscription: Queue, message: Message, partition: int) -> None:
        missed = "second" in subscription.rules and 0 < partition == subscription.partitions - 1
        if not missed:
            super().copy(subscription, message, partition)


@faulty("rule-refused-when-partitioned", "FEAT-01", "On partitioned topics no rule is added.")
class _RuleRefusedWhenPartitioned(SeededBus):
    def change(self, subscription: Queue, command: Change) -> Outcome:
        if isinstance(command, AddRule) and subscription.settings.partitioned:
            return Refused(error=Error.INVALID_OPERATION)
        return super().change(subscription, command)


@faulty(
    "removed-rule-stays-in-partition",
    "FEAT-02",
    "On a partitioned topic a rule that was removed still concerns the last partition.",
)
class _RemovedRuleStays(SeededBus):
    def append(self, queue: Queue, message: Message, partition: int) -> None:
        super().append(queue, message, partition)
        if 0 < partition == queue.partitions - 1:
            for subscription in queue.subscriptions or ():
                if not subscription.rules:
                    self.copy(subscription, message, partition)


@faulty(
    "rule-in-transaction",
    "FEAT-03",
    "On partitioned topics too, a rule changes in a transaction.",
)
class _RuleInTransaction(SeededBus):
    def change_in_transaction(self, subscription: Queue, command: Change) -> Outcome:
        return self.change(subscription, command)


@faulty(
    "rule-refused-yet-changed",
    "FEAT-03",
    "On partitioned topics a rule in a transaction is refused, and changes all the same.",
    deep=True,
)
class _RuleRefusedYetChanged(SeededBus):
    def change_in_transaction(self, subscription: Queue, command: Change) -> Outcome:
        if subscription.settings.partitioned:
            self.change(subscription, command)
        return super().change_in_transaction(subscription, command)


FAULTS: Final = faulty.all()
