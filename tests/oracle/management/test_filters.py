"""FILTER-01 to FILTER-20 and FEAT-01 to FEAT-04: what subscriptions take, and how that changes."""

import pytest
from observing import DONE, INVALID, LOST, OTHER, Observer, observing, received

from busproof import vocabulary as v

EXISTS = v.Refused(error=v.Error.ALREADY_EXISTS)
NOT_FOUND = v.Refused(error=v.Error.NOT_FOUND)
LABEL = v.CorrelationFilter(subject="x")
NONE = v.FalseFilter()
ONE = {"topic": "t", "subscription": "s"}
TAKE = v.Receive(queue="t/subscriptions/s", mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def add(wanted: v.Filter, rule: str = "r", transaction: str | None = None) -> v.AddRule:
    return v.AddRule(rule=rule, filter=wanted, transaction=transaction, **ONE)


def remove(rule: str = v.DEFAULT_RULE, transaction: str | None = None) -> v.RemoveRule:
    return v.RemoveRule(rule=rule, transaction=transaction, **ONE)


def publish(body: str, transaction: str | None = None, **properties: object) -> v.Send:
    return v.Send(queue="t", message=v.Message(body=body, **properties), transaction=transaction)


def sql(expression: str) -> v.SqlFilter:
    return v.SqlFilter(expression=expression)


def listed(*rules: tuple[str, v.Filter]) -> v.RulesListed:
    return v.RulesListed(rules=tuple(v.SubscriptionRule(name=n, filter=each) for n, each in rules))


def subscribed(observer: Observer, *, partitioned: bool = True) -> Observer:
    observer.has(v.CreateTopic(topic="t", partitioned=partitioned))
    observer.has(v.CreateSubscription(**ONE))
    return observer


def taking(observer: Observer, wanted: v.Filter, *, partitioned: bool = True) -> Observer:
    subscribed(observer, partitioned=partitioned)
    observer.has(remove())
    observer.has(add(wanted))
    return observer


@pytest.mark.parametrize(
    "wanted",
    [
        sql("sys.MessageId IS NOT NULL"),
        sql("NOT (SYS.messageid LIKE 'a%') OR a = 1"),
        v.CorrelationFilter(message_id="x"),
        sql("newid() = sys.MessageId"),
    ],
    ids=["there", "like", "correlation", "outside"],
)
def test_filter_may_match_a_message_id_that_is_assigned_on_the_way(wanted: v.Filter) -> None:
    """What a client library, or a service, puts into it is not known (KEY-13)."""
    observer = taking(observing(assigns_message_ids=True), wanted)
    observer.has(publish("m"))
    assert observer.saw(TAKE, v.Empty()).possible
    assert observer.saw(TAKE, received("m", message_id="x")).possible


def test_filter_is_decided_where_the_sender_sets_a_message_id() -> None:
    """And where it reads something else."""
    observer = taking(observing(assigns_message_ids=True), sql("sys.MessageId = 'x' OR a = 1"))
    observer.has(publish("y", message_id="y"))
    assert not observer.saw(TAKE, received("y", message_id="y")).possible
    other = taking(observing(assigns_message_ids=True), sql("sys.Label = 'x'"))
    other.has(publish("m", subject="y"))
    assert not other.saw(TAKE, received("m", subject="y", message_id="z")).possible
    other.has(add(v.TrueFilter(), "all"))
    other.has(publish("m2", subject="y"))
    assert not other.saw(TAKE, v.Empty()).possible
    assert other.saw(TAKE, received("m2", subject="y", message_id="z")).possible


def test_message_that_no_filter_matches_is_not_delivered(observer: Observer) -> None:
    taking(observer, LABEL)
    observer.has(publish("m", subject="y"))
    wrong = observer.saw(TAKE, received("m", subject="y"))
    assert wrong.possible == ()
    assert {"FILTER-03", "FILTER-04", "FILTER-07"} <= set(wrong.rules)
    assert {"FILTER-04", "FEAT-01", "FEAT-02"} <= set(observer.saw(TAKE, v.Empty()).rules)


@pytest.mark.parametrize(
    ("expression", "rules"),
    [
        ("NOT a = 1 AND b = 1", {"FILTER-12", "FILTER-11"}),
        ("A IN (2) OR c = 1", {"FILTER-14", "FILTER-17", "FILTER-18"}),
        ("sys.To NOT IN ('x')", {"FILTER-14"}),
    ],
)
def test_message_that_a_filter_matches_must_be_delivered(
    observer: Observer, expression: str, rules: set[str]
) -> None:
    taking(observer, sql(expression))
    observer.has(publish("m", to="there", properties={"a": 2, "b": 1}))
    wrong = observer.saw(TAKE, v.Empty())
    assert wrong.possible == ()
    assert rules <= set(wrong.rules)
    seen = observer.saw(TAKE, received("m", to="there", properties={"a": 2, "b": 1}))
    assert rules <= set(seen.rules)


def test_undecided_filter_may_match_or_not(observer: Observer) -> None:
    taking(observer, sql("a < 'b'"))
    observer.has(publish("m", properties={"a": "a"}))
    observer.has(TAKE, v.Empty())
    observer.has(TAKE, received("m", properties={"a": "a"}))


@pytest.mark.parametrize(
    "doubtful", ["a = .5", "a = @p", "sys.Nothing = 1", "a = 1 OR " * 200 + "a = 1"]
)
def test_filter_of_which_the_documents_are_in_doubt_may_be_refused(doubtful: str) -> None:
    for outcome in (DONE, OTHER):
        subscribed(observing()).has(add(sql(doubtful)), outcome)


@pytest.mark.parametrize(
    "documented",
    [
        "newid() <> a",
        "[data-topic] IS NOT NULL",
        "p('a') = 1",
        "a > 0.5E-2",
        "sys.SequenceNumber > 5",
        "\"a b\" LIKE '%x%'",
    ],
)
def test_documented_filter_must_not_be_refused(documented: str) -> None:
    for outcome in (INVALID, OTHER):
        found = subscribed(observing()).saw(add(sql(documented)), outcome)
        assert not found.possible
        assert found.rules


def test_unknown_property_of_the_system_is_refused_if_that_is_the_reading() -> None:
    """SQL-SYSTEM-PROPERTY: the documents call it an error, and do not say when."""
    observer = subscribed(observing(readings={"SQL-SYSTEM-PROPERTY": "refused"}))
    assert "FILTER-19" in observer.saw(add(sql("sys.Nothing = 1")), INVALID).rules
    assert not observer.saw(add(sql("sys.Nothing = 1")), DONE).possible


def test_rules_with_parameters_may_take_anything(observer: Observer) -> None:
    """Nobody knows what a bus has put in their places."""
    taking(observer, sql("a = @p"))
    observer.has(publish("m", properties={"a": 1}))
    observer.has(TAKE, v.Empty())
    observer.has(TAKE, received("m", properties={"a": 1}))
    observer.has(remove("r"))
    observer.has(add(sql("a = @p"), "q"))
    observer.has(add(NONE))
    observer.has(publish("n", properties={"a": 1}))
    observer.has(TAKE, received("n", number=2, properties={"a": 1}))


def test_a_condition_that_is_none_is_refused(observer: Observer) -> None:
    subscribed(observer)
    wrong = observer.saw(add(sql("a =")))
    assert wrong.possible == ()
    assert "FILTER-19" in wrong.rules
    for outcome in (INVALID, OTHER):
        assert "FILTER-19" in observer.saw(add(sql("a =")), outcome).rules


def test_several_rules_give_one_copy(observer: Observer) -> None:
    subscribed(observer)
    observer.has(add(LABEL))
    observer.has(publish("m", subject="x"))
    assert "FILTER-05" in observer.saw(TAKE, received("m", subject="x")).rules
    assert "FILTER-05" in observer.saw(TAKE, received("m", subject="x")).rules
    observer.has(publish("n"))
    assert "FILTER-05" in observer.saw(TAKE, received("n", number=2)).rules


def test_names_of_rules_are_taken_once_and_free_again(observer: Observer) -> None:
    subscribed(observer)
    assert observer.saw(add(LABEL, v.DEFAULT_RULE)).possible == ()
    assert "FILTER-08" in observer.saw(add(LABEL, v.DEFAULT_RULE), EXISTS).rules
    assert observer.saw(add(LABEL, v.DEFAULT_RULE), OTHER).possible == ()
    observer.has(add(sql("a ="), v.DEFAULT_RULE), OTHER)
    assert "FEAT-02" in observer.saw(remove()).rules
    assert "FILTER-09" in observer.saw(remove(), NOT_FOUND).rules
    assert observer.saw(remove()).possible == ()
    assert "FEAT-01" in observer.saw(add(LABEL, v.DEFAULT_RULE)).rules


def test_a_subscription_without_rules_takes_nothing(observer: Observer) -> None:
    subscribed(observer)
    observer.has(publish("m"))
    observer.has(remove())
    observer.has(publish("n"))
    assert observer.saw(TAKE, received("n", number=2)).possible == ()
    observer.has(TAKE, received("m"))
    assert "FILTER-06" in observer.saw(TAKE, v.Empty()).rules


def test_bodies_make_no_difference(observer: Observer) -> None:
    taking(observer, LABEL)
    for body in ("m", "n"):
        observer.has(publish(body, subject="x"))
    observer.has(TAKE, received("m", subject="x"))
    assert "FILTER-20" in observer.saw(TAKE, received("n", number=2, subject="x")).rules


def test_a_list_names_every_rule_once(observer: Observer) -> None:
    taking(observer, sql("a  =  1"))
    observer.has(add(NONE, "s"))
    rules = (("r", sql("a = 1")), ("s", sql("1 = 0")))
    assert "FILTER-10" in observer.saw(v.ListRules(**ONE), listed(*rules)).rules
    for wrong in (rules[:1], (*rules, rules[0]), (("r", LABEL), rules[1]), (*rules, ("q", NONE))):
        seen = observer.saw(v.ListRules(**ONE), listed(*wrong))
        assert seen.possible == ()
        assert "FILTER-10" in seen.rules
    (step,) = observer.step(v.ListRules(**ONE))
    assert step.outcome == listed(("r", sql("a  =  1")), ("s", NONE))
    observer.has(v.ListRules(**ONE), LOST)


def test_a_list_may_have_either_form_of_a_constant_filter(observer: Observer) -> None:
    """True and false are the expressions 1=1 and 1=0, so a bus may list one as the other."""
    taking(observer, sql("1 = 1"))
    observer.has(v.ListRules(**ONE), listed(("r", v.TrueFilter())))
    for wrong in (NONE, LABEL, sql("1 = 0")):
        assert observer.saw(v.ListRules(**ONE), listed(("r", wrong))).possible == ()
    observer.has(remove("r"))
    observer.has(add(sql("a = 1"), "r"))
    assert observer.saw(v.ListRules(**ONE), listed(("r", v.TrueFilter()))).possible == ()


def test_a_change_that_was_lost_may_happen_at_any_time(observer: Observer) -> None:
    taking(observer, LABEL)
    observer.has(remove("r"), LOST)
    observer.has(add(NONE, "s"), LOST)
    observer.has(add(v.TrueFilter(), "q"), LOST)
    observer.has(publish("m", subject="x"))
    observer.has(TAKE, v.Empty())
    observer.has(TAKE, received("m", subject="x"))
    observer.has(publish("n"))
    observer.has(TAKE, received("n", number=2))
    observer.has(v.ListRules(**ONE), listed(("q", v.TrueFilter())))
    observer.has(v.ListRules(**ONE), listed(("r", LABEL), ("s", NONE)))
    observer.has(add(NONE, "q"), EXISTS)
    observer.has(remove("q"), NOT_FOUND)
    observer.has(remove("q"))
    observer.has(add(NONE, "r"))
    observer.has(add(NONE, "t"))


def test_a_change_of_what_does_not_exist_is_refused(observer: Observer) -> None:
    observer.has(add(NONE), NOT_FOUND)
    observer.has(add(NONE), LOST)
    observer.has(v.CreateQueue(queue="t/subscriptions/s"))
    observer.has(add(NONE), INVALID)
    observer.has(v.ListRules(**ONE), INVALID)
    observer.has(add(NONE), LOST)


def test_a_message_that_was_lost_may_reach_whoever_subscribes_or_wants_it_later(
    observer: Observer,
) -> None:
    taking(observer, NONE)
    observer.has(publish("m"), LOST)
    observer.has(add(v.TrueFilter(), "late"))
    observer.has(TAKE, v.Empty())
    observer.has(TAKE, received("m"))
    observer.has(v.CreateSubscription(topic="t", subscription="late"))
    late = v.Receive(queue="t/subscriptions/late", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(late, v.Empty())
    observer.has(late, received("m"))


@pytest.mark.parametrize("change", [add(v.TrueFilter()), v.CreateSubscription(**ONE)])
def test_buffered_send_may_match_the_old_or_the_new_rules(
    observer: Observer, change: object
) -> None:
    observer.has(v.CreateTopic(topic="t"))
    if isinstance(change, v.AddRule):
        observer.has(v.CreateSubscription(**ONE))
        observer.has(remove())
    observer.has(v.BeginTransaction(transaction="x"))
    observer.has(publish("m", "x", partition_key="a"))
    observer.has(change)
    observer.has(v.CommitTransaction(transaction="x"))
    observer.has(TAKE, v.Empty())
    observer.has(TAKE, received("m", partition_key="a"))


def test_a_rule_in_a_transaction_is_refused_on_a_partitioned_topic(observer: Observer) -> None:
    subscribed(observer)
    observer.has(add(NONE, transaction="x"), NOT_FOUND)
    observer.has(v.BeginTransaction(transaction="x"))
    wrong = observer.saw(add(NONE, transaction="x"))
    assert wrong.possible == ()
    assert "FEAT-03" in wrong.rules
    assert "FEAT-03" in observer.saw(add(NONE, transaction="x"), OTHER).rules
    observer.has(publish("m"))
    wrong = observer.saw(TAKE, v.Empty())
    assert wrong.possible == ()
    assert "FEAT-03" in wrong.rules


@pytest.mark.parametrize("reading", ["ignored", "either"])
def test_a_rule_in_a_transaction_may_be_changed_outside_of_it(reading: str) -> None:
    observer = subscribed(observing({"RULE-IN-TRANSACTION": reading}))
    observer.has(v.BeginTransaction(transaction="x"))
    observer.has(remove(transaction="x"))
    observer.has(publish("m"))
    observer.has(TAKE, v.Empty())
    observer.has(TAKE, received("m"))


def test_a_rule_in_a_transaction_may_be_refused_at_the_commit() -> None:
    observer = subscribed(observing({"TXN-REFUSAL": "at-commit"}))
    observer.has(v.BeginTransaction(transaction="x"))
    observer.has(remove(transaction="x"))
    assert observer.saw(v.CommitTransaction(transaction="x")).possible == ()
    observer.has(v.CommitTransaction(transaction="x"), INVALID)


def test_an_edition_that_is_silent_permits_rules_in_transactions() -> None:
    observer = subscribed(observing(silent=frozenset({"FEAT-03"})))
    observer.has(v.BeginTransaction(transaction="x"))
    assert observer.saw(remove(transaction="x")).rules == ()
    observer.has(publish("m"))
    observer.has(TAKE, v.Empty())


def regular(observer: Observer) -> Observer:
    subscribed(observer, partitioned=False)
    observer.has(v.BeginTransaction(transaction="x"))
    return observer


def test_rule_of_a_regular_topic_must_change_in_a_transaction_where_it_is_read_so() -> None:
    observer = regular(observing({"REGULAR-RULES": "supported"}))
    assert observer.saw(remove(transaction="x"), OTHER).possible == ()
    assert "FEAT-18" in observer.saw(remove(transaction="x"), OTHER).rules
    assert observer.saw(remove(transaction="x")).rules[0] == "FEAT-18"


def test_change_that_is_impossible_may_be_refused_in_the_transaction_or_with_it() -> None:
    """However it is read: nobody says when such a change is found out."""
    observer = regular(observing({"REGULAR-RULES": "supported"}))
    for impossible in (remove("missing", "x"), add(sql("= 1 a"), "new", "x")):
        assert observer.saw(impossible, OTHER).possible
        assert observer.saw(impossible).possible


def test_on_a_regular_topic_a_rule_changes_with_the_commit(observer: Observer) -> None:
    regular(observer)
    assert "FEAT-04" in observer.saw(remove(transaction="x"), OTHER).rules
    observer.has(remove(transaction="x"))
    observer.has(publish("m"))
    observer.has(TAKE, received("m"))
    assert "FEAT-19" in observer.saw(v.CommitTransaction(transaction="x")).rules
    observer.has(publish("n"))
    assert observer.saw(TAKE, received("n", number=2)).possible == ()


def test_on_a_regular_topic_a_rule_is_as_before_after_a_roll_back(observer: Observer) -> None:
    regular(observer)
    observer.has(remove(transaction="x"))
    assert "FEAT-19" in observer.saw(v.RollBackTransaction(transaction="x")).rules
    observer.has(publish("n"))
    assert observer.saw(TAKE, v.Empty()).possible == ()


@pytest.mark.parametrize("lost", ["change", "commit", "nothing"])
def test_a_change_is_doubtful_where_its_transaction_is(observer: Observer, lost: str) -> None:
    regular(observer)
    observer.has(remove("missing", "x"))
    observer.has(remove(transaction="x"), LOST if lost == "change" else DONE)
    if lost != "nothing":
        observer.has(v.CommitTransaction(transaction="x"), LOST if lost == "commit" else DONE)
    observer.has(publish("m"))
    outcomes: list[v.Outcome] = [received("m")]
    if lost != "nothing":
        outcomes.insert(0, v.Empty())
    for outcome in outcomes:
        observer.has(TAKE, outcome)


def test_subscriptions_that_require_sessions_filter_too(observer: Observer) -> None:
    observer.has(v.CreateTopic(topic="t"))
    observer.has(v.CreateSubscription(requires_session=True, **ONE))
    observer.has(remove())
    observer.has(publish("m"))
    observer.has(add(v.TrueFilter()))
    observer.has(publish("n"))


@pytest.mark.parametrize(
    ("expression", "properties", "rule"),
    [
        ("size = 5", {"size": "5"}, "FILTER-28"),
        ("NULL = size OR [size] = 5", {"size": "5"}, "FILTER-28"),
        ("newid() = size", {"size": "5"}, "FILTER-28"),
        ("[a b] = 5", {"a b": 6}, "FILTER-30"),
        ("p('size') = 5", {"size": 6}, "FILTER-30"),
        ("sys.PartitionKey = 'x'", {}, "FILTER-31"),
    ],
)
def test_message_that_is_not_taken_shows_the_rules_of_the_filter(
    observer: Observer, expression: str, properties: dict[str, object], rule: str
) -> None:
    taking(observer, sql(expression))
    observer.has(publish("m", properties=properties, partition_key="a"))
    observer.has(remove("r"))
    observer.has(add(v.TrueFilter(), "all"))
    observer.has(publish("n", properties=properties, partition_key="a"))
    given = received("m", properties=properties, partition_key="a")
    assert rule in observer.saw(TAKE, given).rules


def test_message_that_never_comes_breaks_the_rules_of_the_filter(observer: Observer) -> None:
    """Rather than those of topics, which say less."""
    taking(observer, sql("[a b] LIKE 'x%'"))
    observer.has(publish("m", properties={"a b": "xy"}))
    broken = observer.saw(TAKE, v.Empty()).rules
    assert {"FILTER-15", "FILTER-30"} <= set(broken[: broken.index("TOPIC-01")])


@pytest.mark.parametrize(
    ("expression", "reading"),
    [
        ("a NOT LIKE 'X'", {"LIKE-CASE": "insensitive"}),
        ("a LIKE 'X'", {"LIKE-CASE": "sensitive"}),
        ("a < 'y'", {"SQL-TYPES": "unknown"}),
        ("a <> NULL", {"SQL-NULL": "unknown"}),
        ("b / 0 = 1", {"SQL-OVERFLOW": "unknown"}),
    ],
)
def test_reading_of_an_open_question_is_held(expression: str, reading: dict[str, str]) -> None:
    """A message that may be taken otherwise is not."""
    for readings in ({}, reading):
        observer = taking(observing(readings=readings), sql(expression))
        observer.has(publish("m", properties={"a": "x", "b": 1}))
        assert observer.saw(TAKE, v.Empty()).possible
        given = observer.saw(TAKE, received("m", properties={"a": "x", "b": 1})).possible
        assert bool(given) is not bool(readings)


def test_filter_in_sql_that_is_accepted_shows_that(observer: Observer) -> None:
    subscribed(observer)
    assert "FILTER-32" in observer.saw(add(sql("[a b] = 1"))).rules
    assert "FILTER-32" not in observer.saw(add(sql("a = .5"))).rules
