"""FILTER-01 to FILTER-20 and FEAT-01 to FEAT-04: what subscriptions take, and how that changes."""

import pytest
from telling import DONE, INVALID, LOST, OTHER, Told, received, telling

from busproof.vocabulary.commands import (
    AddRule,
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    ListRules,
    Receive,
    RemoveRule,
    RollBackTransaction,
    Send,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Outcome, Refused, RulesListed
from busproof.vocabulary.subscription_rules import (
    DEFAULT_RULE,
    CorrelationFilter,
    FalseFilter,
    Filter,
    SqlFilter,
    SubscriptionRule,
    TrueFilter,
)
from busproof.vocabulary.values import Error, ReceiveMode

EXISTS = Refused(error=Error.ALREADY_EXISTS)
NOT_FOUND = Refused(error=Error.NOT_FOUND)
LABEL = CorrelationFilter(subject="x")
NONE = FalseFilter()
ONE = {"topic": "t", "subscription": "s"}
TAKE = Receive(queue="t/subscriptions/s", mode=ReceiveMode.RECEIVE_AND_DELETE)


def add(wanted: Filter, rule: str = "r", transaction: str | None = None) -> AddRule:
    return AddRule(rule=rule, filter=wanted, transaction=transaction, **ONE)


def remove(rule: str = DEFAULT_RULE, transaction: str | None = None) -> RemoveRule:
    return RemoveRule(rule=rule, transaction=transaction, **ONE)


def publish(body: str, transaction: str | None = None, **properties: object) -> Send:
    return Send(queue="t", message=Message(body=body, **properties), transaction=transaction)


def sql(expression: str) -> SqlFilter:
    return SqlFilter(expression=expression)


def listed(*rules: tuple[str, Filter]) -> RulesListed:
    return RulesListed(rules=tuple(SubscriptionRule(name=n, filter=each) for n, each in rules))


def subscribed(told: Told, *, partitioned: bool = True) -> Told:
    told.has(CreateTopic(topic="t", partitioned=partitioned))
    told.has(CreateSubscription(**ONE))
    return told


def taking(told: Told, wanted: Filter, *, partitioned: bool = True) -> Told:
    subscribed(told, partitioned=partitioned)
    told.has(remove())
    told.has(add(wanted))
    return told


@pytest.mark.parametrize(
    "wanted",
    [
        sql("sys.MessageId IS NOT NULL"),
        sql("NOT (SYS.messageid LIKE 'a%') OR a = 1"),
        CorrelationFilter(message_id="x"),
        sql("newid() = sys.MessageId"),
    ],
    ids=["there", "like", "correlation", "outside"],
)
def test_filter_may_match_a_message_id_that_is_assigned_on_the_way(wanted: Filter) -> None:
    """What a client library, or a service, puts into it is not known (KEY-13)."""
    told = taking(telling(assigns_message_ids=True), wanted)
    told.has(publish("m"))
    assert told.saw(TAKE, Empty()).possible
    assert told.saw(TAKE, received("m", message_id="x")).possible


def test_filter_is_decided_where_the_sender_sets_a_message_id() -> None:
    """And where it reads something else."""
    told = taking(telling(assigns_message_ids=True), sql("sys.MessageId = 'x' OR a = 1"))
    told.has(publish("y", message_id="y"))
    assert not told.saw(TAKE, received("y", message_id="y")).possible
    other = taking(telling(assigns_message_ids=True), sql("sys.Label = 'x'"))
    other.has(publish("m", subject="y"))
    assert not other.saw(TAKE, received("m", subject="y", message_id="z")).possible
    other.has(add(TrueFilter(), "all"))
    other.has(publish("m2", subject="y"))
    assert not other.saw(TAKE, Empty()).possible
    assert other.saw(TAKE, received("m2", subject="y", message_id="z")).possible


def test_message_that_no_filter_matches_is_not_delivered(told: Told) -> None:
    taking(told, LABEL)
    told.has(publish("m", subject="y"))
    wrong = told.saw(TAKE, received("m", subject="y"))
    assert wrong.possible == ()
    assert {"FILTER-03", "FILTER-04", "FILTER-07"} <= set(wrong.rules)
    assert {"FILTER-04", "FEAT-01", "FEAT-02"} <= set(told.saw(TAKE, Empty()).rules)


@pytest.mark.parametrize(
    ("expression", "rules"),
    [
        ("NOT a = 1 AND b = 1", {"FILTER-12", "FILTER-11"}),
        ("A IN (2) OR c = 1", {"FILTER-14", "FILTER-17", "FILTER-18"}),
        ("sys.To NOT IN ('x')", {"FILTER-14"}),
    ],
)
def test_message_that_a_filter_matches_must_be_delivered(
    told: Told, expression: str, rules: set[str]
) -> None:
    taking(told, sql(expression))
    told.has(publish("m", to="there", properties={"a": 2, "b": 1}))
    wrong = told.saw(TAKE, Empty())
    assert wrong.possible == ()
    assert rules <= set(wrong.rules)
    seen = told.saw(TAKE, received("m", to="there", properties={"a": 2, "b": 1}))
    assert rules <= set(seen.rules)


def test_undecided_filter_may_match_or_not(told: Told) -> None:
    taking(told, sql("a < 'b'"))
    told.has(publish("m", properties={"a": "a"}))
    told.has(TAKE, Empty())
    told.has(TAKE, received("m", properties={"a": "a"}))


@pytest.mark.parametrize(
    "beyond", ["newid() = 1", "a", "sys.Nothing = 1", "a = 1 OR " * 200 + "a = 1"]
)
def test_filter_beyond_the_subset_may_be_refused(beyond: str) -> None:
    for outcome in (DONE, OTHER):
        subscribed(telling()).has(add(sql(beyond)), outcome)


def test_rules_beyond_the_subset_may_take_anything(told: Told) -> None:
    taking(told, sql("newid() = 1"))
    told.has(publish("m"))
    told.has(TAKE, Empty())
    told.has(TAKE, received("m"))
    told.has(remove("r"))
    told.has(add(sql("newid() = 1"), "q"))
    told.has(add(NONE))
    told.has(publish("n"))
    told.has(TAKE, received("n", number=2))


def test_a_condition_that_is_none_is_refused(told: Told) -> None:
    subscribed(told)
    wrong = told.saw(add(sql("a =")))
    assert wrong.possible == ()
    assert "FILTER-19" in wrong.rules
    for outcome in (INVALID, OTHER):
        assert "FILTER-19" in told.saw(add(sql("a =")), outcome).rules


def test_several_rules_give_one_copy(told: Told) -> None:
    subscribed(told)
    told.has(add(LABEL))
    told.has(publish("m", subject="x"))
    assert "FILTER-05" in told.saw(TAKE, received("m", subject="x")).rules
    assert "FILTER-05" in told.saw(TAKE, received("m", subject="x")).rules
    told.has(publish("n"))
    assert "FILTER-05" in told.saw(TAKE, received("n", number=2)).rules


def test_names_of_rules_are_taken_once_and_free_again(told: Told) -> None:
    subscribed(told)
    assert told.saw(add(LABEL, DEFAULT_RULE)).possible == ()
    assert "FILTER-08" in told.saw(add(LABEL, DEFAULT_RULE), EXISTS).rules
    assert told.saw(add(LABEL, DEFAULT_RULE), OTHER).possible == ()
    told.has(add(sql("a ="), DEFAULT_RULE), OTHER)
    assert "FEAT-02" in told.saw(remove()).rules
    assert "FILTER-09" in told.saw(remove(), NOT_FOUND).rules
    assert told.saw(remove()).possible == ()
    assert "FEAT-01" in told.saw(add(LABEL, DEFAULT_RULE)).rules


def test_a_subscription_without_rules_takes_nothing(told: Told) -> None:
    subscribed(told)
    told.has(publish("m"))
    told.has(remove())
    told.has(publish("n"))
    assert told.saw(TAKE, received("n", number=2)).possible == ()
    told.has(TAKE, received("m"))
    assert "FILTER-06" in told.saw(TAKE, Empty()).rules


def test_bodies_make_no_difference(told: Told) -> None:
    taking(told, LABEL)
    for body in ("m", "n"):
        told.has(publish(body, subject="x"))
    told.has(TAKE, received("m", subject="x"))
    assert "FILTER-20" in told.saw(TAKE, received("n", number=2, subject="x")).rules


def test_a_list_names_every_rule_once(told: Told) -> None:
    taking(told, sql("a  =  1"))
    told.has(add(NONE, "s"))
    rules = (("r", sql("a = 1")), ("s", sql("1 = 0")))
    assert "FILTER-10" in told.saw(ListRules(**ONE), listed(*rules)).rules
    for wrong in (rules[:1], (*rules, rules[0]), (("r", LABEL), rules[1]), (*rules, ("q", NONE))):
        seen = told.saw(ListRules(**ONE), listed(*wrong))
        assert seen.possible == ()
        assert "FILTER-10" in seen.rules
    (step,) = told.step(ListRules(**ONE))
    assert step.outcome == listed(("r", sql("a  =  1")), ("s", NONE))
    told.has(ListRules(**ONE), LOST)


def test_a_change_that_was_lost_may_happen_at_any_time(told: Told) -> None:
    taking(told, LABEL)
    told.has(remove("r"), LOST)
    told.has(add(NONE, "s"), LOST)
    told.has(add(TrueFilter(), "q"), LOST)
    told.has(publish("m", subject="x"))
    told.has(TAKE, Empty())
    told.has(TAKE, received("m", subject="x"))
    told.has(publish("n"))
    told.has(TAKE, received("n", number=2))
    told.has(ListRules(**ONE), listed(("q", TrueFilter())))
    told.has(ListRules(**ONE), listed(("r", LABEL), ("s", NONE)))
    told.has(add(NONE, "q"), EXISTS)
    told.has(remove("q"), NOT_FOUND)
    told.has(remove("q"))
    told.has(add(NONE, "r"))
    told.has(add(NONE, "t"))


def test_a_change_of_what_does_not_exist_is_refused(told: Told) -> None:
    told.has(add(NONE), NOT_FOUND)
    told.has(add(NONE), LOST)
    told.has(CreateQueue(queue="t/subscriptions/s"))
    told.has(add(NONE), INVALID)
    told.has(ListRules(**ONE), INVALID)
    told.has(add(NONE), LOST)


def test_a_message_that_was_lost_may_reach_whoever_subscribes_or_wants_it_later(
    told: Told,
) -> None:
    taking(told, NONE)
    told.has(publish("m"), LOST)
    told.has(add(TrueFilter(), "late"))
    told.has(TAKE, Empty())
    told.has(TAKE, received("m"))
    told.has(CreateSubscription(topic="t", subscription="late"))
    late = Receive(queue="t/subscriptions/late", mode=ReceiveMode.RECEIVE_AND_DELETE)
    told.has(late, Empty())
    told.has(late, received("m"))


@pytest.mark.parametrize("change", [add(TrueFilter()), CreateSubscription(**ONE)])
def test_buffered_send_may_match_the_old_or_the_new_rules(told: Told, change: object) -> None:
    told.has(CreateTopic(topic="t"))
    if isinstance(change, AddRule):
        told.has(CreateSubscription(**ONE))
        told.has(remove())
    told.has(BeginTransaction(transaction="x"))
    told.has(publish("m", "x", partition_key="a"))
    told.has(change)
    told.has(CommitTransaction(transaction="x"))
    told.has(TAKE, Empty())
    told.has(TAKE, received("m", partition_key="a"))


def test_a_rule_in_a_transaction_is_refused_on_a_partitioned_topic(told: Told) -> None:
    subscribed(told)
    told.has(add(NONE, transaction="x"), NOT_FOUND)
    told.has(BeginTransaction(transaction="x"))
    wrong = told.saw(add(NONE, transaction="x"))
    assert wrong.possible == ()
    assert "FEAT-03" in wrong.rules
    assert "FEAT-03" in told.saw(add(NONE, transaction="x"), OTHER).rules
    told.has(publish("m"))
    wrong = told.saw(TAKE, Empty())
    assert wrong.possible == ()
    assert "FEAT-03" in wrong.rules


@pytest.mark.parametrize("reading", ["ignored", "either"])
def test_a_rule_in_a_transaction_may_be_changed_outside_of_it(reading: str) -> None:
    told = subscribed(telling({"RULE-IN-TRANSACTION": reading}))
    told.has(BeginTransaction(transaction="x"))
    told.has(remove(transaction="x"))
    told.has(publish("m"))
    told.has(TAKE, Empty())
    told.has(TAKE, received("m"))


def test_a_rule_in_a_transaction_may_be_refused_at_the_commit() -> None:
    told = subscribed(telling({"TXN-REFUSAL": "at-commit"}))
    told.has(BeginTransaction(transaction="x"))
    told.has(remove(transaction="x"))
    assert told.saw(CommitTransaction(transaction="x")).possible == ()
    told.has(CommitTransaction(transaction="x"), INVALID)


def test_an_edition_that_is_silent_permits_rules_in_transactions() -> None:
    told = subscribed(telling(silent=frozenset({"FEAT-03"})))
    told.has(BeginTransaction(transaction="x"))
    assert told.saw(remove(transaction="x")).rules == ()
    told.has(publish("m"))
    told.has(TAKE, Empty())


def regular(told: Told) -> Told:
    subscribed(told, partitioned=False)
    told.has(BeginTransaction(transaction="x"))
    return told


def test_rule_of_a_regular_topic_must_change_in_a_transaction_where_it_is_read_so() -> None:
    told = regular(telling({"REGULAR-RULES": "supported"}))
    assert told.saw(remove(transaction="x"), OTHER).possible == ()
    assert "FEAT-18" in told.saw(remove(transaction="x"), OTHER).rules
    assert told.saw(remove(transaction="x")).rules[0] == "FEAT-18"


def test_change_that_is_impossible_may_be_refused_in_the_transaction_or_with_it() -> None:
    """However it is read: nobody says when such a change is found out."""
    told = regular(telling({"REGULAR-RULES": "supported"}))
    for impossible in (remove("missing", "x"), add(sql("= 1 a"), "new", "x")):
        assert told.saw(impossible, OTHER).possible
        assert told.saw(impossible).possible


def test_on_a_regular_topic_a_rule_changes_with_the_commit(told: Told) -> None:
    regular(told)
    assert "FEAT-04" in told.saw(remove(transaction="x"), OTHER).rules
    told.has(remove(transaction="x"))
    told.has(publish("m"))
    told.has(TAKE, received("m"))
    assert "FEAT-19" in told.saw(CommitTransaction(transaction="x")).rules
    told.has(publish("n"))
    assert told.saw(TAKE, received("n", number=2)).possible == ()


def test_on_a_regular_topic_a_rule_is_as_before_after_a_roll_back(told: Told) -> None:
    regular(told)
    told.has(remove(transaction="x"))
    assert "FEAT-19" in told.saw(RollBackTransaction(transaction="x")).rules
    told.has(publish("n"))
    assert told.saw(TAKE, Empty()).possible == ()


@pytest.mark.parametrize("lost", ["change", "commit", "nothing"])
def test_a_change_is_doubtful_where_its_transaction_is(told: Told, lost: str) -> None:
    regular(told)
    told.has(remove("missing", "x"))
    told.has(remove(transaction="x"), LOST if lost == "change" else DONE)
    if lost != "nothing":
        told.has(CommitTransaction(transaction="x"), LOST if lost == "commit" else DONE)
    told.has(publish("m"))
    outcomes: list[Outcome] = [received("m")]
    if lost != "nothing":
        outcomes.insert(0, Empty())
    for outcome in outcomes:
        told.has(TAKE, outcome)


def test_subscriptions_that_require_sessions_filter_too(told: Told) -> None:
    told.has(CreateTopic(topic="t"))
    told.has(CreateSubscription(requires_session=True, **ONE))
    told.has(remove())
    told.has(publish("m"))
    told.has(add(TrueFilter()))
    told.has(publish("n"))
