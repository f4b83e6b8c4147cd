"""The tables of states say what the model's own bus does, all of it and nothing else."""

import os
from itertools import chain, product

import pytest
from exploring import explored
from observing import Observing

from busproof.oracle.states import MESSAGES, SESSIONS, TRANSACTIONS, Change
from busproof.spec import load
from busproof.vocabulary.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    CancelScheduled,
    CloseSession,
    CommitTransaction,
    Complete,
    CreateQueue,
    DeadLetter,
    Defer,
    Receive,
    ReceiveBatch,
    ReceiveDeferred,
    RollBackTransaction,
    Schedule,
    Send,
    SendBatch,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, Received, ReceivedSeveral, Scheduled
from busproof.vocabulary.paths import DEAD_LETTERS
from busproof.vocabulary.profile import profile_for
from busproof.vocabulary.values import ReceiveMode

SEQUENCES = 1000 if os.environ.get("BUSPROOF_SIZE") == "full" else 60
LOCK, DAY = 60_000_000, 86_400_000_000
DELETE = ReceiveMode.RECEIVE_AND_DELETE


def pairs(*tables: tuple[Change, ...]) -> set[tuple[str, str, str]]:
    return {change[:3] for change in chain(*tables)}


class Client:
    """Asks a bus, and keeps what it was given."""

    def __init__(self) -> None:
        self.bus = Observing()
        self.bus.start(profile_for(load()))
        self.token = ""
        self.number = 0
        self.sent = 0

    def ask(self, *commands: object, by: str = "c") -> Outcome:
        for command in commands:
            outcome = self.bus.do(command, by).outcome
            views = ()
            if isinstance(outcome, Received):
                views = (outcome.message,)
            if isinstance(outcome, ReceivedSeveral):
                views = outcome.messages
            for view in views:
                self.token, self.number = view.lock_token or "", view.sequence_number or 0
            if isinstance(outcome, Scheduled):
                self.number = outcome.sequence_number or 0
        return outcome

    def message(self, **properties: object) -> Message:
        self.sent += 1
        return Message(body=f"m{self.sent}", **properties)

    def send(self, queue: str = "q", transaction: str | None = None, **properties: object) -> None:
        message = self.message(**properties)
        self.ask(Send(queue=queue, message=message, transaction=transaction))

    def schedule(
        self,
        delay: int,
        queue: str = "q",
        transaction: str | None = None,
        **properties: object,
    ) -> None:
        message = self.message(**properties)
        self.ask(Schedule(queue=queue, message=message, delay=delay, transaction=transaction))

    def locked(self, queue: str = "q") -> None:
        self.send(queue)
        self.ask(Receive(queue=queue))

    def deferred(self) -> None:
        self.locked()
        self.settle(Defer)

    def settle(self, kind: type, queue: str = "q", **within: object) -> None:
        self.ask(kind(queue=queue, lock_token=self.token, **within))

    def again(self, **options: object) -> None:
        self.ask(ReceiveDeferred(queue="q", sequence_numbers=(self.number,), **options))

    def passes(self, duration: int, queue: str = "q") -> None:
        self.ask(AdvanceClock(duration=duration), Receive(queue=queue, mode=DELETE))


@pytest.fixture
def client() -> Client:
    client = Client()
    client.ask(
        CreateQueue(queue="q"),
        CreateQueue(queue="once", max_delivery_count=1),
        CreateQueue(queue="last"),
        CreateQueue(queue="way", forward_to="last"),
        CreateQueue(queue="grave", forward_dead_letters_to="last"),
        CreateQueue(queue="s", requires_session=True),
    )
    return client


def goes_in_batches(client: Client) -> None:
    for mode in (DELETE, ReceiveMode.PEEK_LOCK):
        messages = (client.message(partition_key="k"), client.message(partition_key="k"))
        client.ask(SendBatch(queue="q", messages=messages))
        client.ask(ReceiveBatch(queue="q", count=2, mode=mode))
    client.ask(BeginTransaction(transaction="batch"))
    client.ask(
        SendBatch(queue="q", messages=(client.message(partition_key="k"),), transaction="batch"),
        CommitTransaction(transaction="batch"),
    )


def settles(client: Client) -> None:
    for kind in (Complete, DeadLetter, Abandon):
        client.locked()
        client.settle(kind)
    client.passes(0)
    client.locked("once")
    client.settle(Abandon, "once")
    client.locked("once")
    client.passes(LOCK + 1, "once")
    client.locked()
    client.passes(LOCK + 1)
    client.locked("grave")
    client.settle(DeadLetter, "grave")
    client.passes(0, f"grave{DEAD_LETTERS}")


def defers(client: Client) -> None:
    for kind in (Complete, DeadLetter, Abandon, Defer):
        client.deferred()
        client.again()
        client.settle(kind)
    client.deferred()
    client.again(mode=DELETE)
    client.deferred()
    client.again()
    client.passes(LOCK + 1)


def schedules(client: Client) -> None:
    client.schedule(DAY)
    client.ask(CancelScheduled(queue="q", sequence_number=client.number))
    for queue in ("q", "way"):
        client.schedule(DAY, queue)
        client.passes(DAY, queue)


def transacts(client: Client) -> None:
    for end in (CommitTransaction, RollBackTransaction):
        client.ask(BeginTransaction(transaction=f"empty {end}"), end(transaction=f"empty {end}"))
        client.ask(BeginTransaction(transaction=f"sending {end}"))
        client.send(transaction=f"sending {end}", partition_key="k")
        client.schedule(DAY, transaction=f"sending {end}", partition_key="k")
        client.ask(end(transaction=f"sending {end}"))
    client.ask(BeginTransaction(transaction="later"))
    client.schedule(DAY, transaction="later", partition_key="k")


def settles_in_transactions(client: Client) -> None:
    for kind, aside in product((Complete, DeadLetter, Abandon, Defer), (False, True)):
        if aside:
            client.deferred()
            client.again()
        else:
            client.locked()
        within = {"transaction": f"settling {kind} {aside}"}
        client.ask(BeginTransaction(**within))
        client.settle(kind, **within)
        client.ask(CommitTransaction(**within))


def holds_sessions(client: Client) -> None:
    client.send("s", session_id="a")
    for accept in (AcceptSession(queue="s", session_id="a"), AcceptNextSession(queue="s")):
        client.ask(accept, Receive(queue="s", session_id="a"))
        client.ask(CloseSession(queue="s", session_id="a"))
    client.ask(AcceptSession(queue="s", session_id="a"), AdvanceClock(duration=LOCK + 1))


def loses_sessions(client: Client) -> None:
    """By closing them, and to whoever accepts them at the very end of their locks."""
    endings = (CloseSession, AcceptSession, AcceptNextSession)
    for number, (ending, aside) in enumerate(product(endings, (False, True))):
        queue = f"s{number}"
        of_session = {"queue": queue, "session_id": "a"}
        client.ask(CreateQueue(queue=queue, requires_session=True))
        client.send(queue, session_id="a")
        client.ask(AcceptSession(**of_session), Receive(**of_session))
        if aside:
            client.settle(Defer, queue)
            client.ask(ReceiveDeferred(**of_session, sequence_numbers=(client.number,)))
        if ending is CloseSession:
            client.ask(CloseSession(**of_session))
        else:
            named = of_session if ending is AcceptSession else {"queue": queue}
            client.ask(AdvanceClock(duration=LOCK))
            client.ask(ending(**named), by="another")


def test_a_client_can_come_to_every_change(client: Client) -> None:
    for does in (
        goes_in_batches,
        settles,
        defers,
        schedules,
        transacts,
        settles_in_transactions,
        holds_sessions,
        loses_sessions,
    ):
        does(client)
    bus = client.bus
    assert pairs(MESSAGES) - bus.messages == set()
    assert pairs(SESSIONS) - bus.sessions == set()
    assert pairs(TRANSACTIONS) - bus.transactions == set()


@pytest.mark.slow
def test_an_exploration_comes_to_no_other_change() -> None:
    bus = Observing(policy="random")
    explored(bus, profile=profile_for(load(), partitions=4), sequences=SEQUENCES, rules=99)
    assert bus.messages - pairs(MESSAGES) == set()
    assert bus.sessions - pairs(SESSIONS) == set()
    assert bus.transactions - pairs(TRANSACTIONS) == set()
    assert bus.messages
    assert bus.sessions
    assert bus.transactions


def test_each_change_names_a_rule_of_the_catalogue() -> None:
    known = {rule.id for rule in load().rules}
    assert {change.rule for change in chain(MESSAGES, SESSIONS, TRANSACTIONS)} <= known
