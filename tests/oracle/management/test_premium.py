"""Premium: what is created there, what is there from before, and what its queues are like."""

import pytest
from managed_queues import GET
from observing import DONE, INVALID, OTHER, Observer, observing, received, view

from busproof import vocabulary as v

OLDEST = frozenset({"PREM-01", "PREM-05", "PREM-06", "PREM-07", "PREM-08", "PREM-09", "PREM-10"})
"""What the edition of 2016 does not say."""

OLD = v.RestoreQueue(queue="q")
QUEUE = v.CreateQueue(queue="q")
REGULAR = v.CreateQueue(queue="q", partitioned=False)
UPDATE = v.UpdateQueue(queue="q", lock_duration=5_000_000)


def premium(readings: dict[str, str] | None = None, *silent: str) -> Observer:
    return observing(readings, tier=v.Tier.PREMIUM, silent=frozenset(silent))


def described_as(**fields: object) -> v.Outcome:
    return v.Described(description=v.QueueDescription(queue="q", **fields))


def shows(observer: Observer, command: object, outcome: object, *rules: str) -> None:
    found = observer.saw(command, outcome)
    assert found.possible
    assert set(rules) == {rule for rule in found.rules if rule.startswith("PREM")}


def refuses(observer: Observer, command: object, outcome: object, *rules: str) -> None:
    found = observer.saw(command, outcome)
    assert not found.possible
    assert set(rules) <= set(found.rules), found.rules


def may_be(observer: Observer, command: object) -> set[object]:
    """What a queue that is asked for can become: `None` where it can be refused."""
    answers: set[object] = set()
    (namespace,) = observer.possible
    for outcome in (DONE, INVALID):
        observer.possible = (namespace,)
        if not observer.saw(command, outcome).possible:
            continue
        after = observer.possible
        if outcome is INVALID:
            answers.add(None)
            continue
        for partitioned in (True, False):
            observer.possible = after
            if observer.saw(GET, described_as(partitioned=partitioned)).possible:
                answers.add(partitioned)
    observer.possible = (namespace,)
    return answers


class TestCreating:
    @pytest.mark.parametrize(
        ("reading", "asked", "answers"),
        [
            ("either", True, {None, False}),
            ("refused", True, {None}),
            ("no-effect", True, {False}),
            ("always-on", True, {True}),
            ("either", False, {False}),
            ("refused", False, {False}),
            ("always-on", False, {True}),
            ("either", None, {False}),
        ],
    )
    def test_what_a_request_for_partitions_gets(
        self, reading: str, asked: bool | None, answers: set[object]
    ) -> None:
        observer = premium({"PREMIUM-CHECKBOX": reading})
        assert answers == may_be(observer, v.CreateQueue(queue="q", partitioned=asked))

    def test_an_old_version_may_ignore_what_is_refused_otherwise(self) -> None:
        observer = premium({"PREMIUM-CHECKBOX": "refused"})
        old = v.CreateQueue(queue="q", partitioned=True, api_version="2012-03")
        assert {None, False} == may_be(observer, old)

    @pytest.mark.parametrize(
        ("reading", "asked", "answers"),
        [
            ("either", True, {None, False, True}),
            ("supported", True, {True}),
            ("not-supported", True, {None, False}),
            ("either", False, {False}),
            ("supported", False, {False}),
        ],
    )
    def test_what_the_oldest_edition_leaves_open(
        self, reading: str, asked: bool, answers: set[object]
    ) -> None:
        observer = premium({"PREMIUM-OLDEST": reading}, *OLDEST)
        assert answers == may_be(observer, v.CreateQueue(queue="q", partitioned=asked))

    def test_an_old_version_may_ignore_what_the_oldest_edition_supports(self) -> None:
        observer = premium({"PREMIUM-OLDEST": "supported"}, *OLDEST)
        old = v.CreateQueue(queue="q", partitioned=True, api_version="2012-03")
        assert {None, False, True} == may_be(observer, old)

    @pytest.mark.parametrize(
        ("default", "answers"),
        [("partitioned", {None}), ("either", {None, False}), ("regular", {False})],
    )
    def test_what_is_left_out_may_be_asked_for(self, default: str, answers: set[object]) -> None:
        readings = {"PARTITIONING-DEFAULT": default, "PREMIUM-CHECKBOX": "refused"}
        assert answers == may_be(premium(readings), v.CreateQueue(queue="q", partitioned=None))

    @pytest.mark.parametrize(
        ("reading", "outcome", "allowed"),
        [
            ("either", DONE, True),
            ("either", INVALID, True),
            ("refused", DONE, False),
            ("no-effect", INVALID, False),
            ("no-effect", DONE, True),
        ],
    )
    def test_a_topic_is_created_alike(
        self, reading: str, outcome: v.Outcome, allowed: bool
    ) -> None:
        observer = premium({"PREMIUM-CHECKBOX": reading})
        assert allowed is bool(observer.saw(v.CreateTopic(topic="t"), outcome).possible)

    def test_a_topic_is_not_partitioned(self) -> None:
        observer = premium()
        observer.has(v.CreateTopic(topic="t"))
        assert not observer.saw(v.TakePartitionDown(queue="t", partition=1)).possible

    def test_a_refusal_shows_it(self) -> None:
        shows(premium(), QUEUE, OTHER, "PREM-01")

    def test_description_of_a_would_be_partitioned_queue_breaks_the_rule(self) -> None:
        observer = premium()
        observer.has(QUEUE)
        refuses(observer, GET, described_as(partitioned=True), "PREM-01")
        shows(observer, GET, described_as(partitioned=False), "PREM-01")

    def test_nothing_is_shown_where_nobody_asked_for_partitions(self) -> None:
        observer = premium()
        observer.has(REGULAR)
        refuses(observer, GET, described_as(partitioned=True), "PREM-01")
        shows(observer, GET, described_as(partitioned=False))


class TestFromBefore:
    def test_old_partitioned_queue_keeps_working(self) -> None:
        observer = premium()
        observer.has(OLD)
        message = v.Message(body="m", partition_key="a")
        send = v.Send(queue="q", message=message)
        refuses(observer, send, OTHER, "PREM-03")
        found = observer.saw(send, DONE, partition=2)
        assert "PREM-03" in found.rules
        shown = view("m", 2, partition_key="a")
        shows(observer, v.Peek(queue="q"), v.Peeked(messages=(shown,)), "PREM-03")
        receive = v.Receive(queue="q")
        refuses(observer, receive, OTHER, "PREM-03")
        shows(observer, receive, received("m", 2, partition_key="a", lock_token="l"), "PREM-03")
        shows(observer, v.Complete(queue="q", lock_token="l"), DONE, "PREM-03")
        shows(observer, v.Peek(queue="q"), v.Peeked())
        shows(observer, receive, v.Empty())

    def test_old_partitioned_queue_keeps_the_order_of_its_keys(self) -> None:
        observer = premium({}, "KEY-17")
        observer.has(OLD)
        for body in ("m", "n"):
            message = v.Message(body=body, partition_key="a")
            observer.has(v.Send(queue="q", message=message), DONE, partition=2)
        receive = v.Receive(queue="q")
        refuses(observer, receive, received("n", 2, 2, partition_key="a"))
        assert observer.saw(receive, received("m", 2, partition_key="a")).possible

    def test_old_partitioned_queue_is_described_listed_and_deleted(self) -> None:
        observer = premium()
        observer.has(OLD)
        refuses(observer, GET, described_as(partitioned=False), "PREM-04")
        shows(observer, GET, described_as(partitioned=True, max_size=7), "PREM-04")
        refuses(observer, v.ListQueues(), v.Listed(), "PREM-04")
        shows(observer, v.ListQueues(), v.Listed(names=("q",)), "PREM-04")
        refuses(observer, v.DeleteQueue(queue="q"), OTHER, "PREM-04")
        shows(observer, v.DeleteQueue(queue="q"), DONE, "PREM-04")
        shows(observer, v.ListQueues(), v.Listed())

    @pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("everything", False)])
    def test_old_partitioned_queue_may_refuse_an_update(self, reading: str, allowed: bool) -> None:
        observer = premium({"PREMIUM-EXISTING": reading})
        observer.has(OLD)
        assert allowed is bool(observer.saw(UPDATE, OTHER).possible)
        found = observer.saw(UPDATE)
        assert found.possible
        assert allowed is ("PREM-05" in found.rules)

    def test_a_queue_of_today_is_changed(self) -> None:
        observer = premium()
        observer.has(REGULAR)
        refuses(observer, UPDATE, OTHER)

    def test_one_in_its_place_is_not_partitioned(self) -> None:
        for answer in (DONE, INVALID):
            observer = premium()
            observer.has(OLD)
            observer.has(v.DeleteQueue(queue="q"))
            found = observer.saw(QUEUE, answer)
            assert (answer is INVALID) is ({"PREM-06", "PREM-01"} <= set(found.rules))
        observer.possible = observer.saw(QUEUE).possible
        refuses(observer, GET, described_as(partitioned=True), "PREM-06", "PREM-01")
        shows(observer, GET, described_as(partitioned=False), "PREM-06", "PREM-01")

    def test_standard_has_nothing_from_before(self) -> None:
        observer = observing()
        observer.has(OLD)
        refuses(observer, UPDATE, OTHER)
        shows(observer, GET, described_as(partitioned=True))


class TestSizes:
    @pytest.mark.parametrize("size", [1, 5, 10, 20, 40, 80])
    def test_a_queue_has_the_size_it_was_given(self, size: int) -> None:
        observer = premium()
        sized = v.CreateQueue(queue="q", partitioned=False, max_size=size)
        refuses(observer, sized, OTHER, "PREM-07")
        shows(observer, sized, DONE, "PREM-07")
        refuses(observer, GET, described_as(max_size=16 * size), "PREM-10", "PREM-07")
        default = ("PREM-09",) if size == 1 else ()
        shows(observer, GET, described_as(max_size=size), "PREM-07", "PREM-10", *default)

    def test_queue_has_one_gigabyte_by_default(self) -> None:
        observer = premium()
        observer.has(REGULAR)
        refuses(observer, GET, described_as(max_size=5), "PREM-09")
        shows(observer, GET, described_as(max_size=1), "PREM-07", "PREM-09", "PREM-10")

    def test_another_size_than_its_own_is_wrong(self) -> None:
        observer = premium()
        observer.has(v.CreateQueue(queue="q", partitioned=False, max_size=40))
        refuses(observer, GET, described_as(max_size=20), "PREM-07")

    def test_there_are_no_other_sizes(self) -> None:
        observer = premium()
        other = v.CreateQueue(queue="q", partitioned=False, max_size=6)
        shows(observer, other, OTHER, "PREM-08")
        observer.has(other)
        refuses(observer, GET, described_as(max_size=6), "PREM-08")
        shows(observer, GET, described_as(max_size=10), "PREM-08")

    def test_an_edition_may_not_state_them(self) -> None:
        observer = premium(None, *OLDEST)
        observer.has(v.CreateQueue(queue="q", partitioned=False, max_size=6), OTHER)
        observer.has(v.CreateQueue(queue="q", partitioned=False, max_size=6))
        shows(observer, GET, described_as(max_size=96))


class TestSessionsAndKeys:
    def test_messages_belong_to_sessions(self) -> None:
        observer = premium()
        sessions = v.CreateQueue(queue="q", partitioned=False, requires_session=True)
        refuses(observer, sessions, OTHER, "PREM-11")
        observer.has(sessions)
        send = v.Send(queue="q", message=v.Message(body="m", session_id="a"))
        refuses(observer, send, OTHER, "PREM-11")
        observer.has(send, DONE, partition=0)
        observer.has(v.AcceptSession(queue="q", session_id="a"))
        got = received("m", session_id="a", lock_token="l")
        shows(observer, v.Receive(queue="q", session_id="a"), got, "PREM-11")

    def test_a_key_pins_nothing_and_comes_along(self) -> None:
        observer = premium()
        observer.has(REGULAR)
        send = v.Send(queue="q", message=v.Message(body="m", partition_key="a"))
        refuses(observer, send, OTHER, "PREM-12")
        shows(observer, send, DONE)
        refuses(observer, v.Receive(queue="q"), received("m", lock_token="l"), "PREM-12")
        got = received("m", partition_key="a", lock_token="l")
        shows(observer, v.Receive(queue="q"), got, "PREM-12")

    def test_a_transaction_needs_no_key(self) -> None:
        observer = premium()
        observer.has(REGULAR)
        observer.has(v.BeginTransaction(transaction="t"))
        keys = ("a", "a", "b", None)
        for number, key in enumerate(keys):
            message = v.Message(body=f"m{number}", partition_key=key)
            send = v.Send(queue="q", message=message, transaction="t")
            refuses(observer, send, INVALID, "PREM-13")
            shows(observer, send, DONE, *(() if number < 2 else ("PREM-13",)))
        observer.has(v.CommitTransaction(transaction="t"))

    def test_what_is_sent_in_no_transaction_that_is_known_shows_nothing(self) -> None:
        observer = premium()
        observer.has(REGULAR)
        send = v.Send(queue="q", message=v.Message(body="m"), transaction="t")
        shows(observer, send, v.Refused(error=v.Error.NOT_FOUND))
