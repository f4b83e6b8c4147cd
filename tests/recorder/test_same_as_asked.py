"""What the recording writes is what was asked and answered, by the AMQP adapter's account."""

import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from work import PATIENCE

from busproof import vocabulary as v
from busproof.adapters.amqp.clients import Clients
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.scenario import Scenario, Setting
from busproof.adapters.amqp.target import target_of
from busproof.broker.embedding import Embedded
from busproof.recorder.messages import Privacy

from .conftest import HOST, KEY, Recorded, admin_port_of, ports_to, recorded, violated

pytestmark = pytest.mark.slow
Asked = list[tuple[v.Command, v.Outcome]]
HOUR = 3600 * v.MICROSECONDS


@attrs.define
class Asker:
    """The AMQP adapter's clients, whose requests go through a recording."""

    recording: Recorded
    clients: Clients
    scenario: Scenario
    asked: Asked = attrs.field(factory=list)

    def ask(self, command: v.Command, connection: str = "c1") -> v.Outcome:
        """Execute a command, and remember its outcome."""
        outcome = self.clients.ask(self.scenario, command, connection)
        self.asked.append((command, outcome))
        return outcome

    def done(self, *commands: v.Command, connection: str = "c1") -> None:
        """Execute commands that have to succeed."""
        for command in commands:
            assert isinstance(self.ask(command, connection), v.Done | v.Scheduled | v.Renewed)

    def got(self, queue: str, **how: object) -> v.MessageView:
        """Receive a message that has to be there."""
        outcome = self.ask(v.Receive(queue=queue, **how))
        assert isinstance(outcome, v.Received)
        return outcome.message


@pytest.fixture
def privacy() -> Privacy:
    """Bodies are kept."""
    return Privacy(b"", keeps_bodies=True)


@pytest.fixture
def asker(broker: Embedded, tmp_path: Path, privacy: Privacy) -> Iterator[Asker]:
    """A receive is empty at once."""
    ports = ports_to(broker.port, admin_port_of(broker))
    with recorded(tmp_path / "out", ports, privacy=privacy, receive_wait=0) as recording:
        target = target_of(
            f"Endpoint=sb://{HOST}:{recording.port};{KEY}UseDevelopmentEmulator=true;"
            f"AdminEndpoint=http://{HOST}:{recording.admin_port}"
        )
        began = time.time()
        entities, clients = Entities(target, PATIENCE), Clients(target, PATIENCE)
        setting = Setting(
            entities=entities,
            epoch=int(began * v.MICROSECONDS),
            now=lambda: int((time.time() - began) * v.MICROSECONDS),
            tells_time=False,
        )
        yield Asker(recording, clients, Scenario(setting))
        clients.end()
        entities.close()


def as_recorded(asked: Asked, events: list[v.Event]) -> None:
    """Compare what was asked with what was recorded, which has its own names and measures."""
    names: dict[str, str] = {}
    assert [type(command) for command, _ in asked] == [type(event.command) for event in events]
    for (wanted, outcome), event in zip(asked, events, strict=True):
        command = wanted
        name = getattr(event.command, "transaction", None)
        if name is not None:
            assert names.setdefault(command.transaction, name) == name
            command = attrs.evolve(command, transaction=name)
        assert plain(command) == plain(event.command)
        if isinstance(outcome, v.Refused):
            assert isinstance(event.outcome, v.Refused)
            assert outcome.error is event.outcome.error
        else:
            assert plain(outcome) == plain(event.outcome)


def plain(value: object) -> object:
    """A command or an outcome without what only one side knows: sizes and moments."""
    if isinstance(value, v.Schedule):
        assert value.delay > HOUR // 2
        value = attrs.evolve(value, delay=0)
    if isinstance(value, v.Send | v.Schedule):
        return attrs.evolve(value, message=attrs.evolve(value.message, size=None))
    if isinstance(value, v.SendBatch):
        messages = tuple(attrs.evolve(message, size=None) for message in value.messages)
        return attrs.evolve(value, messages=messages)
    return value


def message(body: str, **properties: object) -> v.Message:
    """A message with an id, as the client libraries give one to each."""
    return v.Message(body=body, message_id=body, **properties)


def test_transactions(asker: Asker) -> None:
    asker.done(
        v.CreateQueue(queue="q"),
        v.Send(queue="q", message=message("m", partition_key="k")),
        v.BeginTransaction(transaction="a"),
        v.Send(queue="q", message=message("n", partition_key="k"), transaction="a"),
        v.RollBackTransaction(transaction="a"),
        v.BeginTransaction(transaction="b"),
        v.Send(queue="q", message=message("o", partition_key="k"), transaction="b"),
    )
    token = asker.got("q").lock_token
    assert token is not None
    asker.done(
        v.Complete(queue="q", lock_token=token, transaction="b"),
        v.CommitTransaction(transaction="b"),
    )
    asker.done(v.Complete(queue="q", lock_token=asker.got("q").lock_token or ""))
    assert isinstance(asker.ask(v.CommitTransaction(transaction="b")), v.Refused)
    assert v.Empty() == asker.ask(v.Receive(queue="q"))
    events = asker.recording.events()
    # The service does not know the id of a transaction that has ended, and nor do we.
    last = events[-2].command
    assert isinstance(last, v.CommitTransaction)
    asker.asked[-2] = (last, asker.asked[-2][1])
    as_recorded(asker.asked, events)
    assert [] == violated(asker.recording.verdict())


def test_messages_and_settlements(asker: Asker) -> None:
    """Each way of settling, by a link and by a request, and each property of a message."""
    every = {name: f"a {name}" for name in ("correlation_id", "to", "reply_to", "subject")}
    asker.done(
        v.CreateQueue(queue="q", lock_duration=20 * v.MICROSECONDS, max_delivery_count=3),
        v.Send(
            queue="q",
            message=message(
                "m", properties={"n": 1, "t": "x"}, content_type="a/b", time_to_live=HOUR, **every
            ),
        ),
        v.SendBatch(queue="q", messages=(message("b1"), message("b2"))),
        v.Schedule(queue="q", message=message("later"), delay=HOUR),
    )
    number = asker.asked[-1][1].sequence_number
    for kind in (v.Abandon, v.DeadLetter, v.Defer):
        asker.done(kind(queue="q", lock_token=asker.got("q").lock_token or ""))
    first = asker.got("q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert first.lock_token is None
    asker.done(v.CancelScheduled(queue="q", sequence_number=number))
    dead = asker.got("q/$deadletterqueue")
    asker.done(
        v.RenewLock(queue="q/$deadletterqueue", lock_token=dead.lock_token or ""),
        v.Complete(queue="q/$deadletterqueue", lock_token=dead.lock_token or ""),
    )
    gone = v.Complete(queue="q", lock_token=dead.lock_token or "")
    assert isinstance(asker.ask(gone), v.Refused)
    asker.ask(v.Peek(queue="q", count=5))
    assert v.Empty() == asker.ask(v.ReceiveBatch(queue="q", count=1))
    events = asker.recording.events()
    # A recording has single receives, which also come empty one by one.
    asker.asked[-1] = (v.Receive(queue="q"), v.Empty())
    as_recorded(asker.asked, events)
    assert [] == violated(asker.recording.verdict())


def test_sessions(asker: Asker) -> None:
    asker.done(
        v.CreateQueue(queue="q", requires_session=True),
        v.Send(queue="q", message=message("m", session_id="s")),
        v.AcceptSession(queue="q", session_id="s"),
        v.SetSessionState(queue="q", session_id="s", state="x"),
        v.RenewSessionLock(queue="q", session_id="s"),
    )
    assert isinstance(asker.ask(v.AcceptSession(queue="q", session_id="s"), "c2"), v.Refused)
    assert v.Empty() == asker.ask(v.AcceptNextSession(queue="q"), "c2")
    token = asker.got("q", session_id="s").lock_token or ""
    asker.done(v.Abandon(queue="q", lock_token=token), v.CloseSession(queue="q", session_id="s"))
    accepted = asker.ask(v.AcceptNextSession(queue="q"), "c2")
    assert v.SessionAccepted(session_id="s") == accepted
    assert v.SessionState(state="x") == asker.ask(
        v.GetSessionState(queue="q", session_id="s"), "c2"
    )
    asker.ask(v.ListSessions(queue="q"))
    as_recorded(asker.asked, [e for e in asker.recording.events() if not is_end(e)])
    assert [] == violated(asker.recording.verdict())


def is_end(event: v.Event) -> bool:
    """Whether a connection that broke may have released a session."""
    return isinstance(event.outcome, v.Indeterminate)


def test_administration(asker: Asker) -> None:
    rule = {"topic": "t", "subscription": "s"}
    asker.done(
        v.CreateQueue(queue="target", partitioned=False),
        v.CreateQueue(
            queue="q",
            partitioned=None,
            duplicate_detection=True,
            duplicate_window=30 * v.MICROSECONDS,
            max_size=2,
            time_to_live=HOUR,
            dead_letter_expired=True,
            forward_dead_letters_to="target",
        ),
        v.CreateTopic(topic="t", partitioned=False, duplicate_detection=True),
        v.CreateSubscription(topic="t", subscription="s", forward_to="target"),
        v.AddRule(
            **rule,
            rule="r",
            filter=v.CorrelationFilter(subject="x", properties={"n": 1}),
            action="SET a = 1",
        ),
        v.RemoveRule(**rule, rule="$Default"),
    )
    for command in (
        v.ListRules(**rule),
        v.ListQueues(),
        v.ListTopics(),
        v.ListSubscriptions(topic="t"),
        v.GetQueue(queue="q"),
        v.GetTopic(topic="t"),
        v.GetQueue(queue="nothing"),
        v.CreateQueue(queue="q"),
        v.DeleteQueue(queue="t/subscriptions/s"),
        v.DeleteTopic(topic="t"),
    ):
        asker.ask(command)
    asker.scenario.entities.clear()
    events = asker.recording.events()
    as_recorded(asker.asked, events)
    assert [] == violated(asker.recording.verdict())


@pytest.mark.parametrize("privacy", [Privacy(b"key", keeps_properties=False)])
def test_hashed_properties(asker: Asker) -> None:
    """Equal texts stay equal, so that correlation filters are judged; SQL is left out."""
    secret = message("m", subject="secret", properties={"name": "secret", "n": 1})
    asker.done(
        *(v.CreateTopic(topic=topic) for topic in ("t", "u")),
        v.CreateQueue(queue="target"),
        v.CreateSubscription(topic="t", subscription="s"),
        v.CreateSubscription(topic="u", subscription="s", forward_to="target"),
        v.AddRule(
            topic="t",
            subscription="s",
            rule="r",
            filter=v.CorrelationFilter(subject="secret", properties={"name": "secret"}),
        ),
        v.RemoveRule(topic="t", subscription="s", rule="$Default"),
        v.Send(queue="t", message=secret),
        v.Send(queue="t", message=message("other")),
        v.AddRule(
            topic="u", subscription="s", rule="r", filter=v.SqlFilter(expression="name = 'secret'")
        ),
        v.Send(queue="u", message=secret),
    )
    asker.ask(v.ListRules(topic="t", subscription="s"))
    asker.got("t/subscriptions/s")
    asker.got("target")
    assert v.Empty() == asker.ask(v.Receive(queue="t/subscriptions/s"))
    written = asker.recording.written()
    assert "secret" not in written
    events = asker.recording.events()
    assert 12 == len(events)
    assert "topics with SQL in rules" in asker.recording.said[0]
    assert [] == violated(asker.recording.verdict())
