"""What breaks between two namespaces, once for each kind, and never as a consequence of another."""

from collections.abc import Sequence
from typing import Any

import pytest
from model_driver import catalogue
from rows import rows_of

from busproof import vocabulary as v
from busproof.errors import UsageError
from busproof.history.codec import structure
from busproof.history.moves import BREAKS, EASED, MAY_BREAK, Move
from busproof.history.records import Began, Header, History, Scenario
from busproof.judging.moving import records
from busproof.judging.moving.comparison import Comparison, Said
from busproof.judging.moving.histories import compare_history
from busproof.judging.moving.settings import compare_settings
from busproof.judging.moving.targets import target_profile
from busproof.model import RoundRobin, new_namespace, step

STANDARD = v.profile_for(catalogue())
KEYED = v.CreateQueue(queue="q", partitioned=True)
SECOND = v.MICROSECONDS
ROWS = rows_of(__file__, "breaks")
"""Histories of a Standard namespace, and all that is found of them for another one."""


class Client:
    """A client of a Standard namespace, whose requests are compared with another namespace."""

    def __init__(self, target: str) -> None:
        self._namespace = new_namespace(STANDARD)
        self._choices = RoundRobin()
        self.comparison = Comparison(STANDARD, target_profile(catalogue(), STANDARD, target))
        self.do(KEYED)

    def do(self, command: v.Command) -> v.Outcome:
        outcome = step(self._namespace, command, "c1", self._choices).outcome
        self.saw(command, outcome)
        return outcome

    def saw(self, command: v.Command, outcome: v.Outcome) -> None:
        self.comparison.saw(command, outcome, "c1", Said(client="c1"))

    def receive(self) -> v.MessageView:
        return self.do(v.Receive(queue="q")).message


def send(body: str) -> v.Send:
    return v.Send(queue="q", message=v.Message(body=body))


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
        client.saw(v.Receive(queue="q"), v.Received(message=view))
    client.saw(v.Receive(queue="q"), v.Empty())

    assert (client.comparison.move.breaks, client.comparison.move.apart) == ({}, {})


def test_names_of_messages_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LEAST", 10)
    client = Client("premium:4")
    for number in range(100):
        client.do(send(f"m{number}"))
        client.do(v.Complete(queue="q", lock_token=client.receive().lock_token or ""))

    known = client.comparison._target._records
    assert len(known._numbers) < 30
    assert len(known._by_body) < 30
    assert not client.comparison.move.apart


def history_of(events: Sequence[v.Event], began: Began | None = None, **header: object) -> History:
    profile = header.pop("profile", STANDARD)
    head = Header(profile=profile, began=began, **header)  # type: ignore[arg-type]
    return History(header=head, scenarios=(Scenario(name="one", events=tuple(events)),))


def told_of(move: Move) -> dict[str, Any]:
    """Return what was found as a row tells it: each kind of break with its rules there and here."""
    told = {
        verdict: [[each.what, [*each.rules], [*each.before], each.seen] for each in kinds]
        for verdict in (BREAKS, MAY_BREAK, EASED)
        if (kinds := move.of(verdict))
    }
    apart = {"apart": [*move.apart.values()]} if move.apart else {}
    return {"compared": move.compared, "code": move.exit_code, **told, **apart}


@pytest.mark.parametrize("row", ROWS, ids=[row["about"] for row in ROWS])
def test_each_kind_breaks_once_by_its_rule(row: dict[str, Any]) -> None:
    events = [structure(event, v.Event) for event in row["events"]]
    source = v.profile_for(catalogue(), readings=row.get("readings", {}))
    move = compare_history(history_of(events, profile=source), catalogue(), row["target"])
    assert told_of(move) == row["move"]
    assert {each.first.where for each in move.of(BREAKS)} <= {"one"}


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
