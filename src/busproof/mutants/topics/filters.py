"""Mutants of FILTER: correlation and SQL filters that match the wrong messages."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.filters.facts import Arrival
from busproof.filters.matching import takes
from busproof.filters.readings import OURS
from busproof.model.subscription_rules import SubscriptionRules
from busproof.mutants.mutant import mutant, run
from busproof.mutants.runs import Run, receive, send
from busproof.mutants.wrappers import with_other

TOPIC: Final = v.CreateTopic(topic="q")
ONE: Final[Mapping[str, Any]] = {"topic": "q", "subscription": "one"}
SUBSCRIBED: Final[Run] = (TOPIC, v.CreateSubscription(**ONE))
TAKE: Final = receive(delete=True, queue=v.subscription_path("q", "one"))
LABEL: Final = v.CorrelationFilter(subject="x")
COLOR: Final = v.CorrelationFilter(subject="x", properties={"color": "red"})
BY_KEY: Final = v.SqlFilter(expression="sys.PartitionKey = 'a'")
BY_LABEL: Final = v.SqlFilter(expression="sys.Label = 'x'")


def add(wanted: v.Filter, rule: str = "second", within: str | None = None) -> v.AddRule:
    """Return a request that adds a rule with this filter."""
    return v.AddRule(rule=rule, filter=wanted, transaction=within, **ONE)


def remove(rule: str = v.DEFAULT_RULE, within: str | None = None) -> v.RemoveRule:
    """Return a request that removes a rule."""
    return v.RemoveRule(rule=rule, transaction=within, **ONE)


def taking(wanted: v.Filter) -> Run:
    """Return a run that creates a subscription with this filter only."""
    return (*SUBSCRIBED, remove(), add(wanted, "first"))


def try_filter(wanted: v.Filter, **properties: Any) -> Run:
    """Return a run with this filter, a message with these properties, and a receive."""
    return (*taking(wanted), send("m1", **properties), TAKE)


def try_sql(expression: str, **properties: Any) -> Run:
    """Return such a run with an SQL filter and application properties."""
    return try_filter(v.SqlFilter(expression=expression), properties=properties)


@mutant("FILTER-02", try_filter(v.FalseFilter()))
class FalseTakesAll(SubscriptionRules):
    """A false filter matches every message."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return isinstance(wanted, v.FalseFilter) or super().takes(wanted, message)


@mutant("FILTER-02", try_filter(v.TrueFilter()))
class TrueWantsALabel(SubscriptionRules):
    """A true filter matches only messages with a label."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        labelled = message.subject is not None or message.message_id is not None
        wrong = isinstance(wanted, v.TrueFilter) and not labelled
        return not wrong and super().takes(wanted, message)


def _conditions(wanted: v.CorrelationFilter, message: v.Message) -> list[tuple[Any, Any]]:
    """Return each value in a filter, with the message's own value."""
    system = attrs.asdict(wanted, recurse=False, filter=lambda field, _: field.name != "properties")
    pairs = [(value, getattr(message, name)) for name, value in system.items() if value is not None]
    return pairs + [(value, message.properties.get(n)) for n, value in wanted.properties.items()]


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


@mutant("FILTER-03", try_filter(LABEL, subject="X"))
class CorrelationWithoutCase(SubscriptionRules):
    """Correlation filters compare without case."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        if not isinstance(wanted, v.CorrelationFilter):
            return super().takes(wanted, message)
        return all(_lower(value) == _lower(own) for value, own in _conditions(wanted, message))


@mutant("FILTER-03", deep=True)
@run(*try_filter(v.CorrelationFilter(reply_to_session_id="a"), reply_to_session_id="b"))
class CorrelationIgnoresReplySession(SubscriptionRules):
    """Correlation filters ignore the ReplyToSessionId."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        if isinstance(wanted, v.CorrelationFilter) and wanted.reply_to_session_id is not None:
            message = attrs.evolve(message, reply_to_session_id=wanted.reply_to_session_id)
        return super().takes(wanted, message)


@mutant("FILTER-04", try_filter(COLOR, subject="x"))
class AnyConditionSuffices(SubscriptionRules):
    """A correlation filter matches if one of its conditions holds."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        if not isinstance(wanted, v.CorrelationFilter):
            return super().takes(wanted, message)
        return any(value == own for value, own in _conditions(wanted, message))


@mutant("FILTER-04", try_filter(COLOR, subject="x"), deep=True)
class MissingPropertyMatches(SubscriptionRules):
    """A correlation filter matches a message that lacks an application property."""

    @with_other("message")
    def takes(self, wanted: v.Filter, message: v.Message) -> v.Message:
        if isinstance(wanted, v.CorrelationFilter):
            properties = {**wanted.properties, **message.properties}
            message = attrs.evolve(message, properties=properties)
        return message


def _read_as(
    wanted: v.Filter,
    message: v.Message,
    pattern: str,
    replacement: str | Callable[[re.Match[str]], str],
) -> bool:
    """Return whether a filter matches a message after its SQL was rewritten in this way."""
    if isinstance(wanted, v.SqlFilter):
        written = re.sub(pattern, replacement, wanted.expression, flags=re.IGNORECASE)
        wanted = v.SqlFilter(expression=written)
    return takes(wanted, message, readings=OURS) is True


@mutant("FILTER-11", try_sql("size <= 5", size=5))
class LessOrEqualIsLess(SubscriptionRules):
    """SQL treats <= as <."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, "<=", "<")


@mutant("FILTER-11", try_filter(BY_LABEL, subject="x"), deep=True)
class SystemScopeIgnored(SubscriptionRules):
    """SQL treats sys. as user."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"\bsys\s*\.", "user.")


@mutant("FILTER-12", try_sql("a = 1 OR b = 1 AND c = 1", a=1, b=2, c=2))
class AndOrInWritingOrder(SubscriptionRules):
    """SQL gives AND and OR the same precedence, from the left."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        comparison = r"[\w.]+ [<>=!]+ [^\s()]+"
        return _read_as(wanted, message, rf"({comparison} OR {comparison}) AND", r"(\1) AND")


@mutant("FILTER-12", try_sql("NOT a = 1 AND b = 1", a=2, b=2), deep=True)
class NotBindsAll(SubscriptionRules):
    """In SQL, NOT has a lower precedence than AND and OR."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"^NOT ([^(].* (?:AND|OR) .*)$", r"NOT (\1)")


@mutant("FILTER-13", try_sql("EXISTS (color)", size=5))
class ExistsAlways(SubscriptionRules):
    """In SQL, every property exists."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"EXISTS\s*\([^)]*\)", "1 = 1")


@mutant("FILTER-13", try_sql("color IS NULL", size=5))
class AbsentIsNotNull(SubscriptionRules):
    """In SQL, a property that is absent is not null."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"[\w.]+ IS NULL", "1 = 0")


@mutant("FILTER-14", try_sql("color IN ('red', 'blue')", color="blue"))
class InLooksAtFirst(SubscriptionRules):
    """In SQL, IN compares with the first value only."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"IN \(([^,)]*),[^)]*\)", r"IN (\1)")


def _literally(like: re.Match[str]) -> str:
    """Return a pattern in which each _ is a literal."""
    return like[0].replace("_", "~_") + " ESCAPE '~'"


@mutant("FILTER-15", try_sql("code LIKE 'a_c'", code="abc"))
class UnderscoreStandsForItself(SubscriptionRules):
    """In SQL, _ in a pattern is a literal."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"LIKE '[^']*_[^']*'(?! ESCAPE)", _literally)


@mutant("FILTER-15", try_sql("code LIKE 'a!_c' ESCAPE '!'", code="a_c"), deep=True)
class EscapeIgnored(SubscriptionRules):
    """In SQL, ESCAPE has no effect."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"\s+ESCAPE '.'", "")


@mutant("FILTER-16", try_sql("size + 2 * 3 = 10", size=4))
class ReckonedFromTheLeft(SubscriptionRules):
    """SQL evaluates arithmetic from the left, without precedence."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"([\w.]+ [-+] [\w.]+) ([*/%])", r"(\1) \2")


@mutant("FILTER-17", try_sql("NOT color = 'red'", size=5))
class UnknownIsFalse(SubscriptionRules):
    """In SQL, an unknown condition counts as false, so its negation is true."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        if isinstance(wanted, v.SqlFilter) and wanted.expression.startswith("NOT "):
            inner = wanted.expression.removeprefix("NOT ")
            if inner.startswith("(") or not re.search(" AND | OR ", inner):
                return not super().takes(v.SqlFilter(expression=inner), message)
        return super().takes(wanted, message)


def _is_unknown(condition: str, message: v.Message) -> bool:
    """Return whether neither a condition nor its negation is true."""
    both = (v.SqlFilter(expression=f"{sign}({condition})") for sign in ("", "NOT "))
    return not any(takes(side, message, readings=OURS) is True for side in both)


@mutant("FILTER-17", try_sql("color = 'red' OR size = 4", size=4), deep=True)
class UnknownInfectsOr(SubscriptionRules):
    """In SQL, OR is unknown if one side is unknown."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        sides = wanted.expression.split(" OR ") if isinstance(wanted, v.SqlFilter) else []
        unknown = any(_is_unknown(condition, message) for condition in sides)
        return not unknown and super().takes(wanted, message)


@mutant("FILTER-18", try_sql("COLOR = 'red'", color="red"))
class NamesWithCase(SubscriptionRules):
    """In SQL, names of properties are case-sensitive."""

    @with_other("message")
    def takes(self, wanted: v.Filter, message: v.Message) -> v.Message:
        if isinstance(wanted, v.SqlFilter):
            named = set(re.findall(r"\w+", wanted.expression))
            known = {name: value for name, value in message.properties.items() if name in named}
            message = attrs.evolve(message, properties=known)
        return message


@mutant("FILTER-13", try_sql("size IS NOT NULL", size=0), deep=True)
class ZeroIsNull(SubscriptionRules):
    """In SQL, a property that is 0 counts as null."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        if isinstance(wanted, v.SqlFilter):
            left = {name: own for name, own in message.properties.items() if own != 0}
            message = attrs.evolve(message, properties=left)
        return super().takes(wanted, message)


@mutant("FILTER-13", try_sql("size IS NULL", size=None))
class NullIsEmpty(SubscriptionRules):
    """In SQL, a property that is null counts as an empty text."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        if isinstance(wanted, v.SqlFilter):
            texts = {n: "" if own is None else own for n, own in message.properties.items()}
            message = attrs.evolve(message, properties=texts)
        return super().takes(wanted, message)


@mutant("FILTER-16", try_sql("size / 2 = 2.5", size=5), deep=True)
class DivisionKeepsTheRest(SubscriptionRules):
    """In SQL, whole numbers are divided with a remainder."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"/ (\d+)(?![\d.])", r"/ \1.0")


@mutant("FILTER-18", try_sql("COLOR = 'red'", color="RED"), deep=True)
class ValuesWithoutCase(SubscriptionRules):
    """In SQL, texts are compared without case."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        values = (*message.properties.values(), message.subject)
        texts = {f"'{value}'".lower(): f"'{value}'" for value in values if isinstance(value, str)}
        return _read_as(
            wanted, message, "'[^']*'", lambda text: texts.get(text[0].lower(), text[0])
        )


def _as_text(message: v.Message) -> v.Message:
    """Return a message whose numbers are texts."""
    texts = {name: str(value) for name, value in message.properties.items()}
    return attrs.evolve(message, properties=texts)


@mutant("FILTER-28", try_sql("size = '5'", size=5))
class NumbersEqualTexts(SubscriptionRules):
    """In SQL, a number equals the text that is written like it."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return super().takes(wanted, message) or (
            isinstance(wanted, v.SqlFilter) and super().takes(wanted, _as_text(message))
        )


@mutant("FILTER-28", try_sql("urgent = TRUE", urgent=1), deep=True)
class TruthIsOne(SubscriptionRules):
    """In SQL, TRUE equals 1 and FALSE equals 0."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        truths = {n: bool(own) for n, own in message.properties.items() if own in (0, 1)}
        alike = attrs.evolve(message, properties=message.properties.update(truths))
        return super().takes(wanted, message) or (
            isinstance(wanted, v.SqlFilter) and super().takes(wanted, alike)
        )


@mutant("FILTER-28", try_sql("newid() = size OR size = 5", size="5"), deep=True)
class NewIdsEqualAll(SubscriptionRules):
    """In SQL, newid() equals whatever it is compared with."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"newid\(\) = \w+", "1 = 1")


@mutant("FILTER-11", try_sql("size = 5.0", size=5), deep=True)
class DecimalsEqualDecimalsOnly(SubscriptionRules):
    """In SQL, a decimal number never equals a whole one."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"= (\d+\.\d+)", r"= '\1'")


@mutant("FILTER-30", try_sql("[size-of] = 5", **{"size-of": 5}))
class BracketsNameNothing(SubscriptionRules):
    """In SQL, a name in brackets is that of no property."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"\[[^]]*\]", "nothing")


@mutant("FILTER-30", try_sql('"size-of" = 5', **{"size-of": 5}), deep=True)
class QuotesMakeTexts(SubscriptionRules):
    """In SQL, double quotes make a text, as single ones do."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r'"([^"]*)"', r"'\1'")


@mutant("FILTER-30", try_sql("p(which) = 5", which="a", a=5), deep=True)
class FunctionTakesItsArgumentAsName(SubscriptionRules):
    """In SQL, p(x) is the property x, and not the one that x names."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"\b(?:p|property)\((\w+)\)", r"\1")


@mutant("FILTER-31", try_filter(BY_KEY, partition_key="a"))
class PartitionKeyIsNull(SubscriptionRules):
    """In SQL, sys.PartitionKey is null, whatever the sender has set."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        hidden = attrs.evolve(message, partition_key=None)
        return super().takes(wanted, hidden if isinstance(wanted, v.SqlFilter) else message)


@mutant("FILTER-11", try_sql("size > 0.5E2", size=5), deep=True)
class ExponentsIgnored(SubscriptionRules):
    """In SQL, the exponent of a number has no effect."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"(\d)E[-+]?\d+", r"\1")


@mutant("FILTER-13", try_sql("sys.EnqueuedTimeUtc IS NOT NULL"), deep=True)
class GivenValuesAreNull(SubscriptionRules):
    """In SQL, the properties that the service gives a message are null."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"sys\.(Enqueued\w+|SequenceNumber)", "sys.LockToken")


@mutant("FILTER-14", try_sql("color IN ('red', 'blue')", color="redder"), deep=True)
class InMatchesBeginnings(SubscriptionRules):
    """In SQL, IN takes a text that begins with one of those listed."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        if super().takes(wanted, message) or not isinstance(wanted, v.SqlFilter):
            return super().takes(wanted, message)
        listed = re.findall(r"'([^']*)'", wanted.expression) if " IN (" in wanted.expression else []
        texts = {
            name: next((text for text in listed if str(own).startswith(text)), own)
            for name, own in message.properties.items()
        }
        return super().takes(wanted, attrs.evolve(message, properties=texts))


@mutant("FILTER-15", try_sql("code LIKE 'ab%'", code="cab"), deep=True)
class PatternsFitAnywhere(SubscriptionRules):
    """In SQL, a pattern matches wherever it stands in the text."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"(?<!NOT )LIKE '([^']*)'(?! ESCAPE)", r"LIKE '%\1%'")


@mutant("FILTER-16", try_sql("size - 1 > -1", size=2), deep=True)
class SignsIgnored(SubscriptionRules):
    """In SQL, a minus sign before a number has no effect."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        return _read_as(wanted, message, r"([=<>]) -(\d)", r"\1 \2")


@mutant("FILTER-18", try_sql("user.[SIZE-of] = 5", **{"size-of": 5}), deep=True)
class NamesInBracketsHaveCase(SubscriptionRules):
    """In SQL, a name in brackets is that of a property in the same case only."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        named = re.findall(r"\[([^]]*)\]", getattr(wanted, "expression", ""))
        other = any(
            name not in message.properties
            and name.lower() in {own.lower() for own in message.properties}
            for name in named
        )
        return not other and super().takes(wanted, message)


@mutant("FILTER-20", (*try_filter(LABEL, subject="x"), send("m7", subject="x"), TAKE))
class FilterSeesBody(SubscriptionRules):
    """No filter matches a message whose body ends in 7."""

    def takes(self, wanted: v.Filter, message: v.Message, arrival: Arrival | None = None) -> bool:
        is_hidden = isinstance(wanted, v.CorrelationFilter) and message.body.endswith("7")
        return not is_hidden and super().takes(wanted, message)
