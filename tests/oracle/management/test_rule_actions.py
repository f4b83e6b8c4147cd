"""FILTER-21 to FILTER-27, TOPIC-17, TOPIC-18, TOPIC-21: actions of rules, and names."""

import pytest
from observing import (
    DONE,
    INVALID,
    LOST,
    MISSING,
    OTHER,
    Observer,
    is_allowed,
    knows,
    knows_nothing_of,
    observing,
    refuses,
    shows,
)

from busproof import vocabulary as v

THERE = v.Refused(error=v.Error.ALREADY_EXISTS)
PLACE = {"topic": "t", "subscription": "s"}
PATH = "t/subscriptions/s"
TAKE = v.Receive(queue=PATH, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
LISTED = v.ListRules(**PLACE)


def rule(
    action: str | None, name: str = "r", wanted: v.Filter | None = None, **more: object
) -> v.AddRule:
    return v.AddRule(rule=name, filter=wanted or v.TrueFilter(), action=action, **PLACE, **more)


def subscribed(
    observer: Observer, *actions: str, partitioned: bool = True, **settings: object
) -> Observer:
    observer.has(v.CreateTopic(topic="t", partitioned=partitioned))
    observer.has(v.CreateSubscription(**PLACE, **settings))
    for number, action in enumerate(actions):
        observer.has(rule(action, f"r{number}"))
    return observer


def send(body: str = "m", **properties: object) -> v.Send:
    return v.Send(queue="t", message=v.Message(body=body, **properties))


def came(body: str = "m", number: int = 1, **seen: object) -> v.Received:
    return v.Received(message=v.MessageView(body=body, sequence_number=(1 << 48) + number, **seen))


def own(name: str = "r0", **properties: object) -> dict[str, object]:
    return {"properties": {"RuleName": name, **properties}}


def test_a_rule_with_an_action_makes_a_copy_beside_that_of_the_others(observer: Observer) -> None:
    subscribed(observer, "SET size = 2").has(send(properties={"size": 1}))
    shows(observer, TAKE, came(**own(size=2)), "FILTER-21", "FILTER-22", "FILTER-23")
    assert not is_allowed(observer, TAKE, v.Empty())
    assert not is_allowed(observer, TAKE, came(number=2, **own(size=2)))
    shows(observer, TAKE, came(number=2, properties={"size": 1}), "FILTER-24")
    assert is_allowed(observer, TAKE, v.Empty())


def test_the_copies_come_in_any_order(observer: Observer) -> None:
    subscribed(observer, "SET a = 1", "SET a = 2").has(send(session_id="x"))
    for number, each in enumerate(({"properties": {"RuleName": "r1", "a": 2}}, {}, own(a=1))):
        observer.has(TAKE, came(number=number + 1, session_id="x", **each))
    assert is_allowed(observer, TAKE, v.Empty())


@pytest.mark.parametrize("wrong", [{"properties": {"size": 1}}, own("r", size=2), own(size=1)])
def test_unchanged_copy_breaks_the_rules_of_actions(
    observer: Observer, wrong: dict[str, object]
) -> None:
    subscribed(observer, "SET size = 2").has(v.RemoveRule(rule=v.DEFAULT_RULE, **PLACE))
    observer.has(send(properties={"size": 1}))
    found = observer.saw(TAKE, came(**wrong))
    assert not found.possible
    assert {"FILTER-21", "FILTER-22", "FILTER-23", "FILTER-24"} <= set(found.rules)


def test_other_subscriptions_have_what_was_sent(observer: Observer) -> None:
    subscribed(observer, "SET size = 2")
    observer.has(v.CreateSubscription(topic="t", subscription="two"))
    observer.has(send(properties={"size": 1}))
    other = v.Receive(queue="t/subscriptions/two")
    wrong = observer.saw(other, came(properties={"size": 2}, lock_token="l"))
    assert not wrong.possible
    assert "FILTER-24" in wrong.rules
    observer.has(other, came(properties={"size": 1}, lock_token="l"))


def test_a_rule_that_does_not_take_a_message_makes_no_copy(observer: Observer) -> None:
    subscribed(observer)
    observer.has(rule("SET a = 1", wanted=v.CorrelationFilter(subject="x")))
    observer.has(send(subject="y"))
    assert not is_allowed(observer, TAKE, came(subject="y", **own("r", a=1)))
    observer.has(TAKE, came(subject="y"))
    observer.has(v.RemoveRule(rule=v.DEFAULT_RULE, **PLACE))
    observer.has(send("n", subject="y"))
    assert "FILTER-03" in observer.saw(TAKE, v.Empty()).rules
    observer.has(v.RemoveRule(rule="r", **PLACE))
    observer.has(send("o", subject="x"))
    assert "FILTER-06" in observer.saw(TAKE, v.Empty()).rules


def test_a_rule_that_may_take_a_message_may_make_a_copy(observer: Observer) -> None:
    subscribed(observer).has(rule("SET b = 1", wanted=v.CorrelationFilter(properties={"a": "1"})))
    observer.has(send(properties={"a": 1}))
    assert is_allowed(observer, TAKE, came(properties={"RuleName": "r", "a": 1, "b": 1}))
    observer.has(TAKE, came(properties={"a": 1}))
    assert is_allowed(observer, TAKE, v.Empty())


def test_a_rule_that_may_be_removed_may_make_a_copy(observer: Observer) -> None:
    subscribed(observer, "SET a = 1").has(v.RemoveRule(rule="r0", **PLACE), LOST)
    observer.has(send())
    observer.has(TAKE, came())
    assert is_allowed(observer, TAKE, v.Empty())
    observer.has(TAKE, came(number=2, **own(a=1)))


def test_copy_with_an_open_result_is_not_judged(observer: Observer) -> None:
    subscribed(observer, "SET a = missing").has(send())
    knows_nothing_of(observer, PATH)
    named = subscribed(observing(), "SET a = 1")
    named.has(send(properties={"rulename": "x"}))
    knows_nothing_of(named, PATH)


@pytest.mark.parametrize(
    ("action", "judged"),
    [
        ("SET sys.MessageId = 'x'", False),
        ("SET sys.Size = 1", True),
        ("SET sys.Nothing = 1", True),
        ("SET a = .5", True),
        ("SET a = 1" + " + 1" * 300, False),
    ],
)
def test_an_action_of_which_it_is_not_said_what_it_does_may_be_refused(
    observer: Observer, action: str, *, judged: bool
) -> None:
    subscribed(observer)
    assert is_allowed(observer, rule(action), OTHER)
    observer.has(rule(action))
    (knows if judged else knows_nothing_of)(observer, PATH)


def test_action_that_changes_when_a_copy_is_there_is_not_judged(observer: Observer) -> None:
    subscribed(observer)
    assert not is_allowed(observer, rule("SET sys.TimeToLive = 5"), OTHER)
    observer.has(rule("SET sys.TimeToLive = 5"))
    knows_nothing_of(observer, PATH)


def test_copy_with_a_new_id_is_judged(observer: Observer) -> None:
    """Any id will do, and everything else has to be as the action says."""
    subscribed(observer, "SET a = newid(); SET size = 2; SET sys.CorrelationId = newid()")
    observer.has(v.RemoveRule(rule=v.DEFAULT_RULE, **PLACE))
    observer.has(send(properties={"size": 1, "a": "x"}))
    new, other = "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    assert not is_allowed(observer, TAKE, came(correlation_id=new, **own(a="x", size=2)))
    assert not is_allowed(observer, TAKE, came(correlation_id=new, **own(a=other, size=1)))
    assert not is_allowed(observer, TAKE, came(correlation_id=None, **own(a=other, size=2)))
    shows(observer, TAKE, came(correlation_id=new, **own(a=other, size=2)), "FILTER-21")


def test_reading_of_set_with_null_is_held() -> None:
    observer = subscribed(observing(readings={"ACTION-NULL": "removed"}), "SET a = NULL")
    observer.has(v.RemoveRule(rule=v.DEFAULT_RULE, **PLACE))
    observer.has(send(properties={"a": 1}))
    assert not is_allowed(observer, TAKE, came(**own(a=1)))
    observer.has(TAKE, came(**own()))


def test_unknown_property_in_an_action_is_refused_if_that_is_the_reading() -> None:
    observer = subscribed(observing(readings={"SQL-SYSTEM-PROPERTY": "refused"}))
    refuses(observer, rule("SET a = sys.Nothing"), DONE, "FILTER-25")


@pytest.mark.parametrize("name", ["MessageId", "sessionid", "PartitionKey"])
@pytest.mark.parametrize("action", ["SET sys.{} = 'x'", "SET a = 1; REMOVE sys.{}"])
def test_readings_decide_whether_an_action_may_change_a_key(name: str, action: str) -> None:
    setting = rule(action.format(name))
    either = subscribed(observing())
    assert is_allowed(either, setting, INVALID)
    assert is_allowed(either, setting, DONE)
    held = {"ACTION-KEYS": "refused"}
    refuses(subscribed(observing(readings=held)), setting, DONE, "FILTER-21")
    refused = subscribed(observing(readings=held))
    refused.has(setting, INVALID)
    knows(refused, PATH)
    own = action.replace("sys.", "").format(name)
    assert not is_allowed(refused, rule(own), INVALID)


def test_a_long_action_may_be_refused(observer: Observer) -> None:
    subscribed(observer)
    assert is_allowed(observer, rule("SET a = '" + "x" * 1024 + "'"), OTHER)


@pytest.mark.parametrize("action", ["SET a", "a = 1", "DELETE a", "REMOVE", "SET a = (1"])
def test_an_action_that_is_no_sql_is_refused(observer: Observer, action: str) -> None:
    subscribed(observer)
    refuses(observer, rule(action), DONE, "FILTER-25")
    shows(observer, rule(action), INVALID, "FILTER-25")
    observer.has(
        LISTED,
        v.RulesListed(rules=(v.SubscriptionRule(name=v.DEFAULT_RULE, filter=v.TrueFilter()),)),
    )


def test_rules_are_listed_with_their_actions_if_these_are_shown(observer: Observer) -> None:
    subscribed(observer, "SET a = 1")
    first = v.SubscriptionRule(name=v.DEFAULT_RULE, filter=v.TrueFilter())

    def listed(action: str | None, default: str | None = None) -> v.RulesListed:
        again = v.SubscriptionRule(name=v.DEFAULT_RULE, filter=v.TrueFilter(), action=default)
        acting = v.SubscriptionRule(name="r0", filter=v.TrueFilter(), action=action)
        return v.RulesListed(rules=(again if default else first, acting))

    for action in (None, "SET a = 1", "set a=1"):
        assert is_allowed(observer, LISTED, listed(action))
    assert not is_allowed(observer, LISTED, listed("SET a = 2"))
    assert not is_allowed(observer, LISTED, listed("SET a = 1", "SET a = 1"))


def test_copies_go_on_each_by_itself(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="end"))
    subscribed(observer, "SET a = 1", forward_to="end").has(send())
    end = v.Receive(queue="end", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(end, came(**own(a=1)))
    observer.has(end, came(number=2))
    assert not observer.saw(end, came(number=3)).possible


@pytest.mark.parametrize(
    "before",
    [
        (send(), LOST),
        (
            v.Schedule(queue="t", message=v.Message(body="m"), delay=9),
            v.Scheduled(sequence_number=1),
        ),
    ],
)
def test_late_message_under_a_rule_action_is_not_judged(
    observer: Observer, before: tuple[v.Command, v.Outcome]
) -> None:
    command, outcome = before
    subscribed(observer).has(command, outcome)
    observer.has(rule("SET a = 1"))
    knows_nothing_of(observer, PATH)
    later = subscribed(observing(), "SET a = 1")
    later.has(command, outcome)
    knows_nothing_of(later, PATH)


def test_actions_under_a_topic_that_is_forwarded_to_are_not_judged(observer: Observer) -> None:
    subscribed(observer)
    observer.queue(forward_to="t")
    observer.send()
    observer.has(rule("SET a = 1"))
    knows_nothing_of(observer, PATH)


def test_unanswered_rule_with_an_action_stops_the_judging(observer: Observer) -> None:
    subscribed(observer).has(rule("SET a = 1"), LOST)
    knows_nothing_of(observer, PATH)


def test_a_rule_with_an_action_may_be_added_with_a_transaction(observer: Observer) -> None:
    subscribed(observer, partitioned=False).has(v.BeginTransaction(transaction="x"))
    observer.has(rule("SET a = 1", transaction="x"))
    observer.has(v.CommitTransaction(transaction="x"))
    observer.has(send())
    observer.has(TAKE, came(number=1, **own("r", a=1)))


def test_names_of_rules_have_at_most_50_characters(observer: Observer) -> None:
    limited = subscribed(observing(limits=True))
    shows(limited, rule(None, "x" * 50), DONE, "FILTER-26")
    refuses(limited, rule(None, "x" * 51), DONE, "FILTER-27")
    shows(limited, rule(None, "x" * 51), INVALID, "FILTER-27")
    subscribed(observer)
    assert is_allowed(observer, rule(None, "x" * 51), OTHER)
    observer.has(rule(None, "x" * 51))
    observer.has(rule(None, "x" * 51), THERE)
    observer.has(rule(None, "x" * 51), OTHER)


def test_names_of_subscriptions_have_at_most_50_characters(observer: Observer) -> None:
    def named(number: int) -> v.CreateSubscription:
        return v.CreateSubscription(topic="t", subscription="x" * number)

    limited = subscribed(observing(limits=True))
    shows(limited, named(50), DONE, "TOPIC-17")
    refuses(limited, named(51), DONE, "TOPIC-18")
    shows(limited, named(51), INVALID, "TOPIC-18")
    limited.has(v.Receive(queue="t/subscriptions/" + "x" * 51), MISSING)
    subscribed(observer)
    assert is_allowed(observer, named(51), OTHER)
    observer.has(named(51))


def test_statements_of_an_action_run_one_after_the_other(observer: Observer) -> None:
    twice = "SET a = 1; SET a = a + 1 SET b = a, REMOVE c"
    assert not is_allowed(subscribed(observing()), rule(twice), INVALID)
    subscribed(observer, twice).has(v.RemoveRule(rule=v.DEFAULT_RULE, **PLACE))
    observer.has(send(properties={"a": 5, "c": 1}))
    assert not is_allowed(observer, TAKE, came(**own(a=1, b=5)))
    shows(observer, TAKE, came(**own(a=2, b=2)), "FILTER-29")


def test_the_case_of_a_name_does_not_count(observer: Observer) -> None:
    subscribed(observer)
    other = v.CreateSubscription(topic="t", subscription="S")
    refuses(observer, other, DONE, "TOPIC-21")
    shows(observer, other, THERE, "TOPIC-21")
    knows(observer, PATH)


def test_requests_may_use_a_name_in_other_case(observer: Observer) -> None:
    """Only of creations it is documented that the two names are one."""
    subscribed(observer)
    listed = v.ListRules(topic="t", subscription="S")
    assert is_allowed(observer, listed, MISSING)
    assert is_allowed(observer, listed, v.RulesListed(rules=()))
    observer.has(listed, LOST)
    knows(observer, PATH)
    observer.has(v.Receive(queue="t/subscriptions/S"), LOST)
    knows_nothing_of(observer, PATH)


def test_same_name_in_other_case_may_be_created_beside_a_doubtful_one(observer: Observer) -> None:
    observer.has(v.CreateTopic(topic="t"))
    observer.has(v.CreateSubscription(**PLACE), LOST)
    other = v.CreateSubscription(topic="t", subscription="S")
    assert is_allowed(observer, other, THERE)
    observer.has(other)
    knows_nothing_of(observer, PATH)
