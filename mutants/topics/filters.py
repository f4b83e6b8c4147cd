"""Mutants of FILTER: correlation and SQL filters that match the wrong messages."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.mutants.mutant import mutant, run
from busproof.mutants.own_rules import RULES
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
TAKES: Final = "subscription_rules.takes"
takes: Final = RULES.subscription_rules.takes


def add(wanted: v.Filter, rule: str = "second", within: str | None = None) -> v.AddRule:
    """Return a request that adds a rule with this filter."""
    return v.AddRule(rule=rule, filter=wanted, transaction=within, **ONE)


def remove(rule: str = v.DEFAULT_RULE, within: str | None = None) -> v.RemoveRule:
    """Return a request that removes a rule."""
    return v.RemoveRule(rule=rule, transaction=within, **ONE)


def taking(wanted: v.Filter) -> Run:
    """Return a run that creates a subscription with this filter only."""
    return (*SUBSCRIBED, remove(), add(wanted, "first"))


def asked(wanted: v.Filter, **properties: Any) -> Run:
    """Return a run with this filter, a message with these properties, and a receive."""
    return (*taking(wanted), send("m1", **properties), TAKE)


def by(expression: str, **properties: Any) -> Run:
    """Return such a run with an SQL filter and application properties."""
    return asked(v.SqlFilter(expression=expression), properties=properties)


@mutant("FILTER-02", TAKES, asked(v.FalseFilter()))
def false_takes_all(wanted: v.Filter, message: v.Message) -> bool:
    """A false filter matches every message."""
    return isinstance(wanted, v.FalseFilter) or takes(wanted, message)


@mutant("FILTER-02", TAKES, asked(v.TrueFilter()))
def true_wants_a_label(wanted: v.Filter, message: v.Message) -> bool:
    """A true filter matches only messages with a label."""
    labelled = message.subject is not None or message.message_id is not None
    wrong = isinstance(wanted, v.TrueFilter) and not labelled
    return not wrong and takes(wanted, message)


def _conditions(wanted: v.CorrelationFilter, message: v.Message) -> list[tuple[Any, Any]]:
    """Return each value in a filter, with the message's own value."""
    system = attrs.asdict(wanted, recurse=False, filter=lambda field, _: field.name != "properties")
    pairs = [(value, getattr(message, name)) for name, value in system.items() if value is not None]
    return pairs + [(value, message.properties.get(n)) for n, value in wanted.properties.items()]


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


@mutant("FILTER-03", TAKES, asked(LABEL, subject="X"))
def correlation_without_case(wanted: v.Filter, message: v.Message) -> bool:
    """Correlation filters compare without case."""
    if not isinstance(wanted, v.CorrelationFilter):
        return takes(wanted, message)
    return all(_lower(value) == _lower(own) for value, own in _conditions(wanted, message))


@mutant("FILTER-03", TAKES, deep=True)
@run(*asked(v.CorrelationFilter(reply_to_session_id="a"), reply_to_session_id="b"))
def correlation_ignores_reply_session(wanted: v.Filter, message: v.Message) -> bool:
    """Correlation filters ignore the ReplyToSessionId."""
    if isinstance(wanted, v.CorrelationFilter) and wanted.reply_to_session_id is not None:
        message = attrs.evolve(message, reply_to_session_id=wanted.reply_to_session_id)
    return takes(wanted, message)


@mutant("FILTER-04", TAKES, asked(COLOR, subject="x"))
def any_condition_suffices(wanted: v.Filter, message: v.Message) -> bool:
    """A correlation filter matches if one of its conditions holds."""
    if not isinstance(wanted, v.CorrelationFilter):
        return takes(wanted, message)
    return any(value == own for value, own in _conditions(wanted, message))


@mutant("FILTER-04", TAKES, asked(COLOR, subject="x"), with_other("message"), deep=True)
def missing_property_matches(wanted: v.Filter, message: v.Message) -> v.Message:
    """A correlation filter matches a message that lacks an application property."""
    if isinstance(wanted, v.CorrelationFilter):
        properties = wanted.properties.update(message.properties)
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
    return takes(wanted, message)


@mutant("FILTER-11", TAKES, by("size <= 5", size=5))
def less_or_equal_is_less(wanted: v.Filter, message: v.Message) -> bool:
    """SQL treats <= as <."""
    return _read_as(wanted, message, "<=", "<")


@mutant("FILTER-11", TAKES, asked(BY_LABEL, subject="x"), deep=True)
def system_scope_ignored(wanted: v.Filter, message: v.Message) -> bool:
    """SQL treats sys. as user."""
    return _read_as(wanted, message, r"\bsys\s*\.", "user.")


@mutant("FILTER-12", TAKES, by("a = 1 OR b = 1 AND c = 1", a=1, b=2, c=2))
def and_or_in_writing_order(wanted: v.Filter, message: v.Message) -> bool:
    """SQL gives AND and OR the same precedence, from the left."""
    comparison = r"[\w.]+ [<>=!]+ [^\s()]+"
    return _read_as(wanted, message, rf"({comparison} OR {comparison}) AND", r"(\1) AND")


@mutant("FILTER-12", TAKES, by("NOT a = 1 AND b = 1", a=2, b=2), deep=True)
def not_binds_all(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, NOT has a lower precedence than AND and OR."""
    return _read_as(wanted, message, r"^NOT ([^(].* (?:AND|OR) .*)$", r"NOT (\1)")


@mutant("FILTER-13", TAKES, by("EXISTS (color)", size=5))
def exists_always(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, every property exists."""
    return _read_as(wanted, message, r"EXISTS\s*\([^)]*\)", "1 = 1")


@mutant("FILTER-13", TAKES, by("color IS NULL", size=5))
def absent_is_not_null(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, a property that is absent is not null."""
    return _read_as(wanted, message, r"[\w.]+ IS NULL", "1 = 0")


@mutant("FILTER-14", TAKES, by("color IN ('red', 'blue')", color="blue"))
def in_looks_at_first(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, IN compares with the first value only."""
    return _read_as(wanted, message, r"IN \(([^,)]*),[^)]*\)", r"IN (\1)")


def _literally(like: re.Match[str]) -> str:
    """Return a pattern in which each _ is a literal."""
    return like[0].replace("_", "~_") + " ESCAPE '~'"


@mutant("FILTER-15", TAKES, by("code LIKE 'a_c'", code="abc"))
def underscore_stands_for_itself(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, _ in a pattern is a literal."""
    return _read_as(wanted, message, r"LIKE '[^']*_[^']*'(?! ESCAPE)", _literally)


@mutant("FILTER-15", TAKES, by("code LIKE 'a!_c' ESCAPE '!'", code="a_c"), deep=True)
def escape_ignored(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, ESCAPE has no effect."""
    return _read_as(wanted, message, r"\s+ESCAPE '.'", "")


@mutant("FILTER-16", TAKES, by("size + 2 * 3 = 10", size=4))
def reckoned_from_the_left(wanted: v.Filter, message: v.Message) -> bool:
    """SQL evaluates arithmetic from the left, without precedence."""
    return _read_as(wanted, message, r"([\w.]+ [-+] [\w.]+) ([*/%])", r"(\1) \2")


@mutant("FILTER-17", TAKES, by("NOT color = 'red'", size=5))
def unknown_is_false(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, an unknown condition counts as false, so its negation is true."""
    if isinstance(wanted, v.SqlFilter) and wanted.expression.startswith("NOT "):
        inner = wanted.expression.removeprefix("NOT ")
        if inner.startswith("(") or not re.search(" AND | OR ", inner):
            return not takes(v.SqlFilter(expression=inner), message)
    return takes(wanted, message)


def _is_unknown(condition: str, message: v.Message) -> bool:
    """Return whether neither a condition nor its negation is true."""
    both = (v.SqlFilter(expression=f"{sign}({condition})") for sign in ("", "NOT "))
    return not any(takes(side, message) for side in both)


@mutant("FILTER-17", TAKES, by("color = 'red' OR size = 4", size=4), deep=True)
def unknown_infects_or(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, OR is unknown if one side is unknown."""
    sides = wanted.expression.split(" OR ") if isinstance(wanted, v.SqlFilter) else []
    unknown = any(_is_unknown(condition, message) for condition in sides)
    return not unknown and takes(wanted, message)


@mutant("FILTER-18", TAKES, by("COLOR = 'red'", color="red"), with_other("message"))
def names_with_case(wanted: v.Filter, message: v.Message) -> v.Message:
    """In SQL, names of properties are case-sensitive."""
    if isinstance(wanted, v.SqlFilter):
        named = set(re.findall(r"\w+", wanted.expression))
        known = {name: value for name, value in message.properties.items() if name in named}
        message = attrs.evolve(message, properties=known)
    return message


@mutant("FILTER-13", TAKES, by("size IS NOT NULL", size=0), deep=True)
def zero_is_null(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, a property that is 0 counts as null."""
    if isinstance(wanted, v.SqlFilter):
        left = {name: own for name, own in message.properties.items() if own != 0}
        message = attrs.evolve(message, properties=left)
    return takes(wanted, message)


@mutant("FILTER-16", TAKES, by("size / 2 = 2.5", size=5), deep=True)
def division_keeps_the_rest(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, whole numbers are divided with a remainder."""
    return _read_as(wanted, message, r"/ (\d+)(?![\d.])", r"/ \1.0")


@mutant("FILTER-18", TAKES, by("COLOR = 'red'", color="RED"), deep=True)
def values_without_case(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, texts are compared without case."""
    values = (*message.properties.values(), message.subject)
    texts = {f"'{value}'".lower(): f"'{value}'" for value in values if isinstance(value, str)}
    return _read_as(wanted, message, "'[^']*'", lambda text: texts.get(text[0].lower(), text[0]))


def _as_text(message: v.Message) -> v.Message:
    """Return a message whose numbers are texts."""
    texts = {name: str(value) for name, value in message.properties.items()}
    return attrs.evolve(message, properties=texts)


@mutant("FILTER-28", TAKES, by("size = '5'", size=5))
def numbers_equal_texts(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, a number equals the text that is written like it."""
    return takes(wanted, message) or (
        isinstance(wanted, v.SqlFilter) and takes(wanted, _as_text(message))
    )


@mutant("FILTER-28", TAKES, by("urgent = TRUE", urgent=1), deep=True)
def truth_is_one(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, TRUE equals 1 and FALSE equals 0."""
    truths = {n: bool(own) for n, own in message.properties.items() if own in (0, 1)}
    alike = attrs.evolve(message, properties=message.properties.update(truths))
    return takes(wanted, message) or (isinstance(wanted, v.SqlFilter) and takes(wanted, alike))


@mutant("FILTER-28", TAKES, by("newid() = size OR size = 5", size="5"), deep=True)
def new_ids_equal_all(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, newid() equals whatever it is compared with."""
    return _read_as(wanted, message, r"newid\(\) = \w+", "1 = 1")


@mutant("FILTER-11", TAKES, by("size = 5.0", size=5), deep=True)
def decimals_equal_decimals_only(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, a decimal number never equals a whole one."""
    return _read_as(wanted, message, r"= (\d+\.\d+)", r"= '\1'")


@mutant("FILTER-30", TAKES, by("[size-of] = 5", **{"size-of": 5}))
def brackets_name_nothing(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, a name in brackets is that of no property."""
    return _read_as(wanted, message, r"\[[^]]*\]", "nothing")


@mutant("FILTER-30", TAKES, by('"size-of" = 5', **{"size-of": 5}), deep=True)
def quotes_make_texts(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, double quotes make a text, as single ones do."""
    return _read_as(wanted, message, r'"([^"]*)"', r"'\1'")


@mutant("FILTER-30", TAKES, by("p(which) = 5", which="a", a=5), deep=True)
def function_takes_its_argument_as_name(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, p(x) is the property x, and not the one that x names."""
    return _read_as(wanted, message, r"\b(?:p|property)\((\w+)\)", r"\1")


@mutant("FILTER-31", TAKES, asked(BY_KEY, partition_key="a"))
def partition_key_is_null(wanted: v.Filter, message: v.Message) -> bool:
    """In SQL, sys.PartitionKey is null, whatever the sender has set."""
    hidden = attrs.evolve(message, partition_key=None)
    return takes(wanted, hidden if isinstance(wanted, v.SqlFilter) else message)


@mutant("FILTER-20", TAKES, (*asked(LABEL, subject="x"), send("m7", subject="x"), TAKE))
def filter_sees_body(wanted: v.Filter, message: v.Message) -> bool:
    """No filter matches a message whose body ends in 7."""
    is_hidden = isinstance(wanted, v.CorrelationFilter) and message.body.endswith("7")
    return not is_hidden and takes(wanted, message)
