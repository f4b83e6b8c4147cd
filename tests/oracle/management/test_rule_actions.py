"""FILTER-21 to FILTER-27, TOPIC-17, TOPIC-18, TOPIC-21: actions of rules, and names."""

import pytest
from telling import (
    DONE,
    INVALID,
    LOST,
    MISSING,
    OTHER,
    Told,
    is_allowed,
    knows,
    knows_nothing_of,
    refuses,
    shows,
    telling,
)

from busproof.vocabulary.commands import (
    AddRule,
    BeginTransaction,
    Command,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    ListRules,
    Receive,
    RemoveRule,
    Schedule,
    Send,
)
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Empty, Outcome, Received, Refused, RulesListed, Scheduled
from busproof.vocabulary.subscription_rules import (
    DEFAULT_RULE,
    CorrelationFilter,
    Filter,
    SubscriptionRule,
    TrueFilter,
)
from busproof.vocabulary.values import Error, ReceiveMode

THERE = Refused(error=Error.ALREADY_EXISTS)
PLACE = {"topic": "t", "subscription": "s"}
PATH = "t/subscriptions/s"
TAKE = Receive(queue=PATH, mode=ReceiveMode.RECEIVE_AND_DELETE)
LISTED = ListRules(**PLACE)


def rule(
    action: str | None, name: str = "r", wanted: Filter | None = None, **more: object
) -> AddRule:
    return AddRule(rule=name, filter=wanted or TrueFilter(), action=action, **PLACE, **more)


def subscribed(told: Told, *actions: str, partitioned: bool = True, **settings: object) -> Told:
    told.has(CreateTopic(topic="t", partitioned=partitioned))
    told.has(CreateSubscription(**PLACE, **settings))
    for number, action in enumerate(actions):
        told.has(rule(action, f"r{number}"))
    return told


def send(body: str = "m", **properties: object) -> Send:
    return Send(queue="t", message=Message(body=body, **properties))


def came(body: str = "m", number: int = 1, **seen: object) -> Received:
    return Received(message=MessageView(body=body, sequence_number=(1 << 48) + number, **seen))


def own(name: str = "r0", **properties: object) -> dict[str, object]:
    return {"properties": {"RuleName": name, **properties}}


def test_a_rule_with_an_action_makes_a_copy_beside_that_of_the_others(told: Told) -> None:
    subscribed(told, "SET size = 2").has(send(properties={"size": 1}))
    shows(told, TAKE, came(**own(size=2)), "FILTER-21", "FILTER-22", "FILTER-23")
    assert not is_allowed(told, TAKE, Empty())
    assert not is_allowed(told, TAKE, came(number=2, **own(size=2)))
    shows(told, TAKE, came(number=2, properties={"size": 1}), "FILTER-24")
    assert is_allowed(told, TAKE, Empty())


def test_the_copies_come_in_any_order(told: Told) -> None:
    subscribed(told, "SET a = 1", "SET a = 2").has(send(session_id="x"))
    for number, each in enumerate(({"properties": {"RuleName": "r1", "a": 2}}, {}, own(a=1))):
        told.has(TAKE, came(number=number + 1, session_id="x", **each))
    assert is_allowed(told, TAKE, Empty())


@pytest.mark.parametrize("wrong", [{"properties": {"size": 1}}, own("r", size=2), own(size=1)])
def test_unchanged_copy_breaks_the_rules_of_actions(told: Told, wrong: dict[str, object]) -> None:
    subscribed(told, "SET size = 2").has(RemoveRule(rule=DEFAULT_RULE, **PLACE))
    told.has(send(properties={"size": 1}))
    found = told.saw(TAKE, came(**wrong))
    assert not found.possible
    assert {"FILTER-21", "FILTER-22", "FILTER-23", "FILTER-24"} <= set(found.rules)


def test_other_subscriptions_have_what_was_sent(told: Told) -> None:
    subscribed(told, "SET size = 2")
    told.has(CreateSubscription(topic="t", subscription="two"))
    told.has(send(properties={"size": 1}))
    other = Receive(queue="t/subscriptions/two")
    wrong = told.saw(other, came(properties={"size": 2}, lock_token="l"))
    assert not wrong.possible
    assert "FILTER-24" in wrong.rules
    told.has(other, came(properties={"size": 1}, lock_token="l"))


def test_a_rule_that_does_not_take_a_message_makes_no_copy(told: Told) -> None:
    subscribed(told)
    told.has(rule("SET a = 1", wanted=CorrelationFilter(subject="x")))
    told.has(send(subject="y"))
    assert not is_allowed(told, TAKE, came(subject="y", **own("r", a=1)))
    told.has(TAKE, came(subject="y"))
    told.has(RemoveRule(rule=DEFAULT_RULE, **PLACE))
    told.has(send("n", subject="y"))
    assert "FILTER-03" in told.saw(TAKE, Empty()).rules
    told.has(RemoveRule(rule="r", **PLACE))
    told.has(send("o", subject="x"))
    assert "FILTER-06" in told.saw(TAKE, Empty()).rules


def test_a_rule_that_may_take_a_message_may_make_a_copy(told: Told) -> None:
    subscribed(told).has(rule("SET b = 1", wanted=CorrelationFilter(properties={"a": "1"})))
    told.has(send(properties={"a": 1}))
    assert is_allowed(told, TAKE, came(properties={"RuleName": "r", "a": 1, "b": 1}))
    told.has(TAKE, came(properties={"a": 1}))
    assert is_allowed(told, TAKE, Empty())


def test_a_rule_that_may_be_removed_may_make_a_copy(told: Told) -> None:
    subscribed(told, "SET a = 1").has(RemoveRule(rule="r0", **PLACE), LOST)
    told.has(send())
    told.has(TAKE, came())
    assert is_allowed(told, TAKE, Empty())
    told.has(TAKE, came(number=2, **own(a=1)))


def test_copy_with_an_open_result_is_not_judged(told: Told) -> None:
    subscribed(told, "SET a = missing").has(send())
    knows_nothing_of(told, PATH)
    named = subscribed(telling(), "SET a = 1")
    named.has(send(properties={"rulename": "x"}))
    knows_nothing_of(named, PATH)


@pytest.mark.parametrize("action", ["SET sys.MessageId = 'x'", "SET a = 1, SET b = 2", ""])
def test_an_action_of_which_it_is_not_said_what_it_does_may_be_refused(
    told: Told, action: str
) -> None:
    subscribed(told)
    assert is_allowed(told, rule(action), OTHER)
    told.has(rule(action))
    knows_nothing_of(told, PATH)


@pytest.mark.parametrize("name", ["MessageId", "sessionid", "PartitionKey"])
@pytest.mark.parametrize("action", ["SET sys.{} = 'x'", "SET a = 1; REMOVE sys.{}"])
def test_readings_decide_whether_an_action_may_change_a_key(name: str, action: str) -> None:
    setting = rule(action.format(name))
    either = subscribed(telling())
    assert is_allowed(either, setting, INVALID)
    assert is_allowed(either, setting, DONE)
    held = {"ACTION-KEYS": "refused"}
    refuses(subscribed(telling(readings=held)), setting, DONE, "FILTER-21")
    refused = subscribed(telling(readings=held))
    refused.has(setting, INVALID)
    knows(refused, PATH)
    own = action.replace("sys.", "").format(name)
    assert not is_allowed(refused, rule(own), INVALID)


def test_a_long_action_may_be_refused(told: Told) -> None:
    subscribed(told)
    assert is_allowed(told, rule("SET a = '" + "x" * 1024 + "'"), OTHER)


@pytest.mark.parametrize("action", ["SET a", "a = 1", "DELETE a", "REMOVE", "SET a = (1"])
def test_an_action_that_is_no_sql_is_refused(told: Told, action: str) -> None:
    subscribed(told)
    refuses(told, rule(action), DONE, "FILTER-25")
    shows(told, rule(action), INVALID, "FILTER-25")
    told.has(LISTED, RulesListed(rules=(SubscriptionRule(name=DEFAULT_RULE, filter=TrueFilter()),)))


def test_rules_are_listed_with_their_actions_if_these_are_told(told: Told) -> None:
    subscribed(told, "SET a = 1")
    first = SubscriptionRule(name=DEFAULT_RULE, filter=TrueFilter())

    def listed(action: str | None, default: str | None = None) -> RulesListed:
        again = SubscriptionRule(name=DEFAULT_RULE, filter=TrueFilter(), action=default)
        acting = SubscriptionRule(name="r0", filter=TrueFilter(), action=action)
        return RulesListed(rules=(again if default else first, acting))

    for action in (None, "SET a = 1", "set a=1"):
        assert is_allowed(told, LISTED, listed(action))
    assert not is_allowed(told, LISTED, listed("SET a = 2"))
    assert not is_allowed(told, LISTED, listed("SET a = 1", "SET a = 1"))


def test_copies_go_on_each_by_itself(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    subscribed(told, "SET a = 1", forward_to="end").has(send())
    end = Receive(queue="end", mode=ReceiveMode.RECEIVE_AND_DELETE)
    told.has(end, came(**own(a=1)))
    told.has(end, came(number=2))
    assert not told.saw(end, came(number=3)).possible


@pytest.mark.parametrize(
    "before",
    [
        (send(), LOST),
        (Schedule(queue="t", message=Message(body="m"), delay=9), Scheduled(sequence_number=1)),
    ],
)
def test_late_message_under_a_rule_action_is_not_judged(
    told: Told, before: tuple[Command, Outcome]
) -> None:
    command, outcome = before
    subscribed(told).has(command, outcome)
    told.has(rule("SET a = 1"))
    knows_nothing_of(told, PATH)
    later = subscribed(telling(), "SET a = 1")
    later.has(command, outcome)
    knows_nothing_of(later, PATH)


def test_actions_under_a_topic_that_is_forwarded_to_are_not_judged(told: Told) -> None:
    subscribed(told)
    told.queue(forward_to="t")
    told.send()
    told.has(rule("SET a = 1"))
    knows_nothing_of(told, PATH)


def test_unanswered_rule_with_an_action_stops_the_judging(told: Told) -> None:
    subscribed(told).has(rule("SET a = 1"), LOST)
    knows_nothing_of(told, PATH)


def test_a_rule_with_an_action_may_be_added_with_a_transaction(told: Told) -> None:
    subscribed(told, partitioned=False).has(BeginTransaction(transaction="x"))
    told.has(rule("SET a = 1", transaction="x"))
    told.has(CommitTransaction(transaction="x"))
    told.has(send())
    told.has(TAKE, came(number=1, **own("r", a=1)))


def test_names_of_rules_have_at_most_50_characters(told: Told) -> None:
    limited = subscribed(telling(limits=True))
    shows(limited, rule(None, "x" * 50), DONE, "FILTER-26")
    refuses(limited, rule(None, "x" * 51), DONE, "FILTER-27")
    shows(limited, rule(None, "x" * 51), INVALID, "FILTER-27")
    subscribed(told)
    assert is_allowed(told, rule(None, "x" * 51), OTHER)
    told.has(rule(None, "x" * 51))
    told.has(rule(None, "x" * 51), THERE)
    told.has(rule(None, "x" * 51), OTHER)


def test_names_of_subscriptions_have_at_most_50_characters(told: Told) -> None:
    def named(number: int) -> CreateSubscription:
        return CreateSubscription(topic="t", subscription="x" * number)

    limited = subscribed(telling(limits=True))
    shows(limited, named(50), DONE, "TOPIC-17")
    refuses(limited, named(51), DONE, "TOPIC-18")
    shows(limited, named(51), INVALID, "TOPIC-18")
    limited.has(Receive(queue="t/subscriptions/" + "x" * 51), MISSING)
    subscribed(told)
    assert is_allowed(told, named(51), OTHER)
    told.has(named(51))


def test_property_set_twice_by_an_action_may_be_refused(told: Told) -> None:
    """Which of the two it is in the end is not said."""
    subscribed(told)
    twice = rule("SET a = 1; SET a = 2")
    assert is_allowed(told, twice, INVALID)
    told.has(twice)


def test_the_case_of_a_name_does_not_count(told: Told) -> None:
    subscribed(told)
    other = CreateSubscription(topic="t", subscription="S")
    refuses(told, other, DONE, "TOPIC-21")
    shows(told, other, THERE, "TOPIC-21")
    knows(told, PATH)


def test_same_name_in_other_case_may_be_created_beside_a_doubtful_one(told: Told) -> None:
    told.has(CreateTopic(topic="t"))
    told.has(CreateSubscription(**PLACE), LOST)
    other = CreateSubscription(topic="t", subscription="S")
    assert is_allowed(told, other, THERE)
    told.has(other)
    knows_nothing_of(told, PATH)
