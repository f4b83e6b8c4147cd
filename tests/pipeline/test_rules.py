"""Which rules have a query, and that the documents say so."""

import ast
import re
from pathlib import Path

from busproof.history.codec import union_of
from busproof.pipeline import coverage, rules, schema
from busproof.spec import load
from busproof.vocabulary.commands import (
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    UpdateQueue,
)
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Event, Outcome, QueueDescription, TopicDescription

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "how-to" / "check-on-spark.md"


def test_every_query_is_of_a_rule_that_can_be_shown() -> None:
    catalogue = load()
    for rule in rules.RULES:
        assert catalogue.rule(rule).shown_by == "always"


WITHOUT_QUERY = 289
"""How many rules have no query; but for rules that are new the number may only fall."""


def test_every_rule_has_a_query_or_a_reason_for_having_none() -> None:
    """The list of the latter may only shrink."""
    told = coverage.without_query()
    shown = {rule.id for rule in load().rules if rule.shown_by != "never"}
    assert shown - rules.RULES == set(told)
    assert WITHOUT_QUERY == len(told)
    allowed = {rule.id for rule in load().rules if rule.shown_by == "allowed"}
    assert allowed <= set(told)


def test_a_rule_tells_its_query() -> None:
    """As `busproof rules ID` prints it."""
    catalogue = load()
    name = coverage.told_of(catalogue.rule("DLQ-05"))["query"]
    assert name == f"{rules.__name__}.{rules.dlq_05_violations.__name__}"
    assert {"none"} == set(coverage.told_of(catalogue.rule("KEY-16")))
    assert {} == coverage.told_of(catalogue.rule("KEY-19"))


def test_the_document_lists_the_rules_that_have_a_query() -> None:
    """Each with its title, and how many there are of how many."""
    catalogue = load()
    text = DOCUMENT.read_text(encoding="utf-8")
    shown = [rule for rule in catalogue.rules if rule.shown_by != "never"]
    told = dict(re.findall(r"^\| ([A-Z]+-\d+) \| (.*) \|$", text, re.MULTILINE))
    assert {rule: catalogue.rule(rule).title for rule in rules.RULES} == told
    assert f"These {len(rules.RULES)} rules have queries, of {len(shown)} that can" in text


def test_each_query_says_which_columns_it_needs() -> None:
    """By their names in the published schema, which the document explains."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [] == [name for name in schema.EVENTS if f"`{name}`" not in text]
    for query in rules.QUERIES:
        assert query.needs
        assert query.needs <= set(schema.EVENTS)


def test_what_this_engine_knows_is_the_vocabulary() -> None:
    """All of it and no more: what is new there is to be thought of here, before it is judged."""
    commands, outcomes = union_of(Command), union_of(Outcome)
    assert commands is not None
    assert outcomes is not None
    assert set(commands.members) == set(schema.KNOWN_COMMANDS)
    assert set(outcomes.members) == set(schema.KNOWN_OUTCOMES)
    assert names(Message) == set(schema.MESSAGE)
    assert names(MessageView) == set(schema.VIEW)
    assert names(QueueDescription) | names(TopicDescription) == set(schema.DESCRIPTION)
    assert names(Event) == set(schema.EVENT) - {"record"}
    of_commands = set().union(*(names(kind) for kind in commands.members.values()))
    of_outcomes = set().union(*(names(kind) for kind in outcomes.members.values()))
    assert of_commands == set(schema.COMMAND) - {"type"}
    assert of_outcomes == set(schema.OUTCOME) - {"type"}
    creations = (CreateQueue, CreateTopic, CreateSubscription, UpdateQueue)
    of_creations = set().union(*(names(kind) for kind in creations))
    assert of_creations - {"queue", "topic", "subscription"} == set(schema.SETTINGS)


def names(kind: type) -> set[str]:
    return {field.name for field in kind.__attrs_attrs__}


def test_a_rule_without_a_query_has_no_function() -> None:
    assert not hasattr(rules, "key_14_violations")
    assert rules.key_03_violations.__name__ == "key_03_violations"


def test_nothing_reaches_below_the_published_interface_of_spark() -> None:
    """So that all of it runs over Spark Connect, and no row comes to Python."""
    forbidden = {"_jvm", "_jdf", "sparkContext", "rdd", "toPandas", "udf", "pandas_udf"}
    forbidden |= {"mapInPandas", "mapInArrow", "applyInPandas", "applyInArrow", "foreach"}
    found = []
    for path in sorted((ROOT / "pipeline").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        found += [f"{path.name}: {name}" for name in sorted(names & forbidden)]
    assert [] == found
