"""What breaks between two namespaces, once for each kind, and never as a consequence of another."""

from collections.abc import Sequence

import pytest
from model_driver import catalogue

from busproof import vocabulary as v
from busproof.errors import UsageError
from busproof.history.moves import BREAKS, EASED, MAY_BREAK, Move
from busproof.history.records import Began, Header, History, Scenario
from busproof.judging.moving import records
from busproof.judging.moving.comparison import Comparison, Said
from busproof.judging.moving.histories import compare_history
from busproof.judging.moving.settings import compare_settings
from busproof.judging.moving.targets import target_profile
from busproof.model import RoundRobin, new_namespace, step

STANDARD = v.profile_for(catalogue())
REGULAR = v.CreateQueue(queue="q", partitioned=False)
KEYED = v.CreateQueue(queue="q", partitioned=True)
SECOND = v.MICROSECONDS


class Client:
    """A client of a Standard namespace, whose requests are compared with another namespace."""

    def __init__(self, target: str, first: v.Command = KEYED, source: v.Profile = STANDARD) -> None:
        self._namespace = new_namespace(source)
        self._choices = RoundRobin()
        self.comparison = Comparison(source, target_profile(catalogue(), source, target))
        self.events: list[v.Event] = []
        self.do(first)

    def do(self, command: v.Command, connection: str = "c1") -> v.Outcome:
        outcome = step(self._namespace, command, connection, self._choices).outcome
        self.comparison.saw(command, outcome, connection, Said(client=connection))
        self.events.append(v.Event(command=command, outcome=outcome, returned=0))
        return outcome

    def receive(self, queue: str = "q") -> v.MessageView:
        outcome = self.do(v.Receive(queue=queue))
        return outcome.message

    @property
    def move(self) -> Move:
        return self.comparison.move

    def rules(self, verdict: str = BREAKS) -> list[str]:
        """The rule that decides each kind, without the creation of the queue."""
        kinds = self.move.of(verdict)
        return sorted(each.rules[0] for each in kinds if not each.what.startswith("create"))


def send(body: str, queue: str = "q", transaction: str | None = None, **keys: str) -> v.Send:
    return v.Send(queue=queue, message=v.Message(body=body, **keys), transaction=transaction)


def test_a_transaction_without_keys_breaks_once_and_its_messages_arrive() -> None:
    client = Client("premium:4", REGULAR)
    client.do(v.BeginTransaction(transaction="t"))
    for number in range(3):
        client.do(send(f"m{number}", transaction="t"))
    client.do(v.CommitTransaction(transaction="t"))
    for _ in range(3):
        client.do(v.Complete(queue="q", lock_token=client.receive().lock_token or ""))
    client.do(v.Receive(queue="q"))

    assert client.rules() == ["TXN-03"]
    (kind,) = (each for each in client.move.of(BREAKS) if each.rules == ("TXN-03",))
    assert (kind.seen, kind.entities, kind.clients) == (3, {"q": 3}, {"c1": 3})
    assert isinstance(kind.first.there, v.Refused)
    assert not client.move.apart


def test_what_is_rolled_back_arrives_nowhere() -> None:
    client = Client("premium:4", REGULAR)
    client.do(v.BeginTransaction(transaction="t"))
    client.do(send("m0", transaction="t"))
    client.do(v.RollBackTransaction(transaction="t"))
    client.do(v.Receive(queue="q"))

    assert client.rules() == ["TXN-03"]


LATE = v.profile_for(catalogue(), readings={"TXN-REFUSAL": "at-commit"})
"""A bus that refuses what was wrong in a transaction by its commit."""


def test_a_commit_that_is_refused_is_one_break_and_all_of_it_arrives() -> None:
    client = Client("premium:4", REGULAR, LATE)
    client.do(send("old"))
    old = client.receive()
    client.do(v.BeginTransaction(transaction="t"))
    client.do(send("keyless", transaction="t"))
    client.do(send("keyed", transaction="t", partition_key="a"))
    client.do(v.Complete(queue="q", lock_token=old.lock_token or "", transaction="t"))
    client.do(v.CommitTransaction(transaction="t"))
    client.receive()
    client.receive()
    client.do(v.Receive(queue="q"))

    assert client.rules() == ["TXN-03"]
    assert not client.move.apart


def test_a_commit_that_is_refused_here_alone_changes_nothing_there() -> None:
    client = Client("premium", KEYED, LATE)
    client.do(send("old"))
    old = client.receive()
    client.do(v.BeginTransaction(transaction="t"))
    client.do(send("keyless", transaction="t"))
    client.do(v.Complete(queue="q", lock_token=old.lock_token or "", transaction="t"))
    refused = client.do(v.CommitTransaction(transaction="t"))
    client.do(v.Abandon(queue="q", lock_token=old.lock_token or ""))
    client.receive()
    client.do(v.Receive(queue="q"))

    assert isinstance(refused, v.Refused)
    (kind,) = client.move.of(EASED)
    assert kind.what.startswith("commit transaction: accepted")
    assert client.rules() == []


def test_messages_that_are_given_back_or_deleted_are_so_in_both() -> None:
    client = Client("premium:4")
    for number in range(3):
        client.do(send(f"m{number}"))
    given = client.receive()
    client.comparison.release("q", given.lock_token or "")
    client.comparison.release("q", "of nobody")
    deleted = ({"m0", "m1", "m2"} - {given.body}).pop()
    client.comparison.delete("q", [deleted, "of nobody"])
    left = sorted({"m0", "m1", "m2"} - {deleted})
    for number, body in enumerate(left):
        view = v.MessageView(body=body, sequence_number=100 + number, lock_token=f"again/{body}")
        got = v.Received(message=view)
        client.comparison.saw(v.Receive(queue="q"), got, "c1", Said(client="c1"))
    client.comparison.saw(v.Receive(queue="q"), v.Empty(), "c1", Said(client="c1"))

    assert (client.move.breaks, client.move.apart) == ({}, {})


def test_names_of_messages_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LEAST", 10)
    client = Client("premium:4")
    for number in range(100):
        client.do(send(f"m{number}"))
        client.do(v.Complete(queue="q", lock_token=client.receive().lock_token or ""))

    known = client.comparison._target._records
    assert len(known._numbers) < 30
    assert len(known._by_body) < 30
    assert not client.move.apart


@pytest.mark.parametrize(
    ("target", "commands", "rules"),
    [
        (
            "premium:4",
            [
                v.SendBatch(
                    queue="q",
                    messages=tuple(v.Message(body=key, partition_key=key) for key in "ab"),
                )
            ],
            ["PREM-17"],
        ),
        ("premium:4", [send("m", session_id="a", partition_key="a")], []),
        ("premium:4", [send("m", partition_key="a"), v.Peek(queue="q"), v.ListQueues()], []),
        ("basic", [v.BeginTransaction(transaction="t")], ["MGMT-24"]),
        ("fr-2016-09", [send("m", partition_key="a")], []),
    ],
)
def test_a_request_breaks_by_its_rule(target, commands, rules) -> None:
    client = Client(target, REGULAR)
    for command in commands:
        client.do(command)

    assert client.rules() == rules


def test_another_partition_or_order_is_no_break() -> None:
    client = Client("premium:4")
    for number in range(20):
        client.do(send(f"m{number}", **({"partition_key": str(number)} if number % 2 else {})))
    for _ in range(20):
        client.do(v.Complete(queue="q", lock_token=client.receive().lock_token or ""))
    client.do(v.Receive(queue="q"))

    assert not client.move.breaks
    assert not client.move.apart
    assert client.move.compared == 62


def test_a_copy_with_another_key_may_be_delivered() -> None:
    detecting = v.CreateQueue(queue="q", partitioned=False, duplicate_detection=True)
    client = Client("premium:4", detecting)
    for key in "ab":
        client.do(send(f"m{key}", message_id="1", partition_key=key))
    client.receive()
    client.do(v.Receive(queue="q"))

    (kind,) = client.move.of(MAY_BREAK)
    assert (kind.rules, kind.before, kind.seen) == (("DUP-06",), ("DUP-05",), 1)


def test_what_is_accepted_there_alone_is_no_break() -> None:
    client = Client("premium:4")
    client.do(v.Send(queue="q", message=v.Message(body="m", size=300_000)))
    client.do(v.Receive(queue="q"))

    assert client.rules() == []
    (kind,) = client.move.of(EASED)
    assert kind.before == ("LIMIT-02",)


def test_an_entity_that_the_target_lacks_is_one_break() -> None:
    client = Client("basic", v.CreateTopic(topic="t", partitioned=False))
    client.do(v.CreateSubscription(topic="t", subscription="s"))
    client.do(send("m", queue="t"))
    client.receive("t/subscriptions/s")

    assert [each.what for each in client.move.of(BREAKS)] == [
        "create topic: refused as invalid-operation"
    ]
    # Its subscription, the send and the receive are consequences.
    assert list(client.move.apart.values()) == [3]


def test_a_transaction_that_the_target_does_not_begin_is_one_break() -> None:
    client = Client("basic")
    client.do(v.BeginTransaction(transaction="t"))
    for number in range(3):
        client.do(send(f"m{number}", transaction="t", partition_key="a"))
    client.do(v.CommitTransaction(transaction="t"))
    client.do(v.BeginTransaction(transaction="u"))
    client.do(send("lost", transaction="u", partition_key="a"))
    client.do(v.RollBackTransaction(transaction="u"))
    for _ in range(3):
        client.receive()
    client.do(v.Receive(queue="q"))

    (kind,) = client.move.of(BREAKS)
    assert (kind.what, kind.seen) == ("begin transaction: refused as invalid-operation", 2)
    # The sends and the ends of the transactions.
    assert list(client.move.apart.values()) == [6]


def test_what_an_entity_forwards_that_the_target_lacks_is_not_missed() -> None:
    client = Client("basic")
    client.do(v.CreateQueue(queue="f", partitioned=True, forward_to="q"))
    client.do(send("m", queue="f"))
    client.receive()
    client.do(v.Receive(queue="q"))
    again = client.do(v.CreateQueue(queue="f", partitioned=True))

    assert isinstance(again, v.Refused)
    (kind,) = client.move.of(BREAKS)
    assert (kind.entities, kind.rules) == ({"f": 1}, ("MGMT-24",))


def test_another_error_may_break() -> None:
    client = Client("premium:4", REGULAR)
    message = v.Message(body="m", session_id="a", partition_key="b")
    client.do(v.Schedule(queue="q", message=message, delay=SECOND, transaction="none"))

    (kind,) = client.move.of(MAY_BREAK)
    assert kind.what == (
        "schedule in a transaction: refused as invalid-operation in place of not-found"
    )
    assert client.rules() == []


def test_a_message_that_the_target_refuses_is_sent_as_it_takes_it() -> None:
    client = Client("premium:4", REGULAR)
    client.comparison.saw(
        send("m", session_id="a", partition_key="b"), v.Done(), "c1", Said(client="c1")
    )
    received = v.Received(message=v.MessageView(body="m", sequence_number=1, lock_token="x"))
    client.comparison.saw(v.Receive(queue="q"), received, "c1", Said(client="c1"))
    completed = v.Complete(queue="q", lock_token="x")
    client.comparison.saw(completed, v.Done(), "c1", Said(client="c1"))

    # The source's own model, as the service was seen, refuses it too: one of its answers is free.
    assert client.rules() == ["KEY-08"]


def test_what_no_model_of_the_source_answers_is_set_apart() -> None:
    client = Client("premium:4")
    refused = v.Refused(error=v.Error.NOT_FOUND)
    client.comparison.saw(send("m"), refused, "c1", Said(client="c1"))
    client.comparison.saw(send("m", queue="x"), v.Done(), "c1", Said(client="c1"))
    client.comparison.saw(send("n"), v.Indeterminate(), "c1", Said(client="c1"))
    unavailable = v.Refused(error=v.Error.UNAVAILABLE)
    client.comparison.saw(send("o"), unavailable, "c1", Said(client="c1"))

    assert list(client.move.apart.values()) == [1, 1, 1, 1]
    assert client.move.exit_code == 3


def history_of(events: Sequence[v.Event], began: Began | None = None, **header: object) -> History:
    profile = header.pop("profile", STANDARD)
    head = Header(profile=profile, began=began, **header)  # type: ignore[arg-type]
    return History(header=head, scenarios=(Scenario(name="one", events=tuple(events)),))


def test_a_history_is_compared_with_its_scenario_and_its_client() -> None:
    client = Client("premium:4", REGULAR)
    client.do(v.BeginTransaction(transaction="t"))
    client.do(send("m", transaction="t"))

    move = compare_history(history_of(client.events), catalogue(), "premium:4")

    assert move.target == "en-2026-02/premium:4"
    assert {each.rules[0] for each in move.of(BREAKS)} == {"PREM-15", "TXN-03"}
    assert {each.first.where for each in move.of(BREAKS)} == {"one"}
    assert move.exit_code == 1


def test_a_message_may_be_delivered_before_its_send_is_answered() -> None:
    lock = v.MessageView(body="m", sequence_number=7, lock_token="x")
    late = v.Event(command=send("m"), outcome=v.Done(), called=2 * SECOND, returned=9 * SECOND)
    soon = v.Event(
        client="c2",
        connection="c2",
        command=v.Receive(queue="q"),
        outcome=v.Received(message=lock),
        called=1 * SECOND,
        returned=3 * SECOND,
    )
    made = v.Event(command=KEYED, outcome=v.Done(), returned=0)
    move = compare_history(
        history_of([made, soon, late], clock=v.Clock.REAL), catalogue(), "premium:4"
    )

    assert (move.compared, move.apart, move.exit_code) == (3, {}, 0)


def test_entities_from_before_a_history_have_their_settings_from_began() -> None:
    sent = v.Event(command=send("m"), outcome=v.Done(), returned=0)
    unknown = compare_history(history_of([sent]), catalogue(), "premium:4")
    began = Began(settings=(KEYED,))
    known = compare_history(history_of([sent], began), catalogue(), "premium:4")

    assert (unknown.compared, unknown.exit_code) == (0, 3)
    assert (known.compared, known.exit_code) == (2, 0)


def test_settings_are_compared_without_a_message() -> None:
    onward = v.CreateQueue(queue="first", partitioned=True, forward_to="q")
    created = [onward, KEYED, v.CreateTopic(topic="t", partitioned=False)]
    move = compare_settings(created, {created[2]: "file:3"}, catalogue(), STANDARD, "premium:4")

    (kind,) = move.of(BREAKS)
    assert (kind.rules, kind.first.where, kind.seen) == (("PREM-15",), "file:3", 1)
    assert (move.compared, move.apart) == (3, {})


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("gold", "there is no namespace 'gold'"),
        ("premium:3", "there is no namespace 'premium:3'"),
        ("standard", "is the namespace that the clients use already"),
        ("en-2026-02", "is the namespace that the clients use already"),
        ("de-2021-04/premium:4", "knows no partitioned namespaces"),
        ("TXN-ENTITIES=gold", "has no reading 'gold'"),
        ("GOLD=either", "There is no ambiguity 'GOLD'"),
    ],
)
def test_a_target_that_does_not_exist_or_fit_is_refused(target: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        target_profile(catalogue(), STANDARD, target)


def test_an_edition_alone_keeps_the_tier_and_a_tier_alone_the_edition() -> None:
    source = v.profile_for(catalogue(), edition="de-2021-04", tier="premium")

    assert target_profile(catalogue(), source, "en-2026-02").tier is v.Tier.PREMIUM
    assert target_profile(catalogue(), source, "standard").edition == "de-2021-04"
    with pytest.raises(UsageError, match="knows no partitioned namespaces"):
        target_profile(catalogue(), source, "premium:4")
