"""Clients add little to what the broker keeps besides messages: states, properties, rules."""

from typing import Any, Final

import attrs
import pytest
from proton import Data, Message

from busproof.broker.admin.endpoint import Administration
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.http_requests import Request
from busproof.broker.payloads import OF_STATE, Contents
from busproof.vocabulary.commands import AcceptSession, CreateSubscription, CreateTopic, Send

from . import raw
from .fuzz import fuzzing
from .test_requests import Asked, asking, several

MOST: Final = 100_000
LARGE: Final = 30_000
TOO_MUCH: Final = "States of sessions, .* and rules have 100,000 bytes"


def limit(client: Asked) -> None:
    client.hub.limits = attrs.evolve(client.hub.limits, added=MOST)


def test_states_of_sessions_are_limited_together() -> None:
    """A state that is replaced or cleared makes room, and so does a deleted entity."""

    def ask(client: Asked) -> None:
        limit(client)

        def set_state(session_id: str, state: bytes | None) -> None:
            said = {"session-id": session_id, "session-state": state}
            client.ask("set-session-state", said, "s")

        for session_id in "abcd":
            accepted = AcceptSession(queue="s", session_id=session_id)
            assert client.hub.bus.ask(accepted, client.connection.name).refused is None
        for session_id in "abc":
            set_state(session_id, b"s" * LARGE)
        with pytest.raises(Refusal, match=TOO_MUCH):
            set_state("d", b"s" * LARGE)
        set_state("a", b"small")
        set_state("d", b"s" * LARGE)
        assert client.hub.contents.ledger.total == 3 * LARGE + len("small") + 4 * OF_STATE
        for session_id in "abcd":
            set_state(session_id, None)
        assert client.hub.contents.ledger.total == 0

    asking(ask)


def test_empty_states_are_limited_too() -> None:
    def ask(client: Asked) -> None:
        limit(client)
        with pytest.raises(Refusal, match=TOO_MUCH):
            for number in range(MOST):
                accepted = AcceptSession(queue="s", session_id=f"{number}")
                assert client.hub.bus.ask(accepted, client.connection.name).refused is None
                said = {"session-id": f"{number}", "session-state": b""}
                client.ask("set-session-state", said, "s")
        assert number == MOST // OF_STATE

    asking(ask)


@pytest.mark.parametrize(
    "added",
    [
        {"disposition-status": "abandoned", "properties-to-modify": {"k": "x" * LARGE}},
        {"disposition-status": "defered", "properties-to-modify": {"k": "x" * LARGE}},
        {"disposition-status": "suspended", "deadletter-reason": "r" * LARGE},
        {"disposition-status": "suspended", "deadletter-description": "r" * LARGE},
    ],
    ids=["abandoned", "deferred", "reason", "description"],
)
def test_what_settlements_add_is_limited_together(added: dict[str, Any]) -> None:
    def ask(client: Asked) -> None:
        limit(client)
        client.hold("r", 5)
        tokens, _ = client.locked("r", 5)
        for number, token in enumerate(tokens):
            said = added | {"lock-tokens": several(Data.UUID, [token])}
            if number < 3:
                client.ask("update-disposition", said, "r")
            else:
                with pytest.raises(Refusal, match=TOO_MUCH):
                    client.ask("update-disposition", said, "r")
        assert client.hub.contents.ledger.total > 3 * LARGE

    asking(ask)


def test_tokens_of_one_request_are_limited_together() -> None:
    def ask(client: Asked) -> None:
        limit(client)
        client.hold("r", 4)
        tokens, _ = client.locked("r", 4)
        said = {"disposition-status": "abandoned", "properties-to-modify": {"k": "x" * LARGE}}
        with pytest.raises(Refusal, match=TOO_MUCH):
            client.ask(
                "update-disposition", said | {"lock-tokens": several(Data.UUID, tokens)}, "r"
            )
        assert client.hub.contents.ledger.total == 0

    asking(ask)


TOPIC: Final = (CreateTopic(topic="t"), CreateSubscription(topic="t", subscription="a"))
CORRELATED: Final = {"correlation-filter": {"properties": {"k": "x" * LARGE}}}


def test_rules_are_limited_together() -> None:
    def ask(client: Asked) -> None:
        limit(client)
        for command in TOPIC:
            assert client.hub.bus.ask(command, "c").refused is None

        def add(name: str) -> None:
            said = {"rule-name": name, "rule-description": CORRELATED}
            client.ask("add-rule", said, "t/subscriptions/a")

        for name in "abc":
            add(name)
        with pytest.raises(Refusal, match=TOO_MUCH):
            add("d")
        client.ask("remove-rule", {"rule-name": "a"}, "t/subscriptions/a")
        add("d")

    asking(ask)


NAMESPACE: Final = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"


def entry(inside: str) -> bytes:
    content = f'<content type="application/xml">{inside}</content>'
    return f'<entry xmlns="http://www.w3.org/2005/Atom">{content}</entry>'.encode()


WRITTEN: Final = {
    "/n{}": f'<QueueDescription xmlns="{NAMESPACE}"><Odd>{"x" * LARGE}</Odd></QueueDescription>',
    "/t/subscriptions/a/rules/n{}": (
        f'<RuleDescription xmlns="{NAMESPACE}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">'
        f'<Filter i:type="CorrelationFilter"><Label>{"x" * LARGE}</Label></Filter>'
        "</RuleDescription>"
    ),
}


@pytest.mark.parametrize("path", WRITTEN)
def test_descriptions_over_http_are_limited_together(path: str) -> None:
    """2,000 rules of 50 KB took 200 MB; what is deleted makes room."""

    def ask(client: Asked) -> None:
        limit(client)
        for command in TOPIC:
            assert client.hub.bus.ask(command, "c").refused is None
        administration = Administration(client.hub, lambda _: None)
        token = raw.token("http://localhost/", fuzzing.NAME, fuzzing.KEY)

        def answer(method: str, number: int, body: bytes = b"") -> int:
            headers = {"authorization": token, "host": "localhost"}
            asked = Request(method, path.format(number), headers, body)
            return administration.answer(asked).status

        found = [answer("PUT", number, entry(WRITTEN[path])) for number in range(5)]
        assert (found[0], found[-1]) == (201, 403)
        assert answer("DELETE", 0) == 200
        assert client.hub.contents.ledger.total < MOST
        assert answer("PUT", 5, entry(WRITTEN[path])) == 201

    asking(ask)


def hold_large(client: Asked, path: str, count: int) -> None:
    for _ in range(count):
        parsed = client.hub.parse_message(Message(b"x" * 200_000, inferred=True).encode())
        client.hub.bus.ask(Send(queue=path, message=parsed.message), "c")
        client.hub.contents.keep(parsed.message.body, parsed.content)


def test_peek_ends_after_a_megabyte() -> None:
    """250 messages of 256 KB took 60 MB for each answer."""

    def ask(client: Asked) -> None:
        hold_large(client, "r", 20)
        said = {"from-sequence-number": 0, "message-count": 20}
        assert len(client.ask("peek-message", said, "r")["messages"]) == 6

    asking(ask)


def test_deferred_messages_of_one_request_are_limited() -> None:
    def ask(client: Asked) -> None:
        hold_large(client, "r", 50)
        tokens, numbers = client.locked("r", 50)
        deferred = {"disposition-status": "defered"}
        client.ask(
            "update-disposition", deferred | {"lock-tokens": several(Data.UUID, tokens)}, "r"
        )

        def receive(count: int) -> int:
            asked = several(Data.LONG, numbers[:count])
            said = {"sequence-numbers": asked, "receiver-settle-mode": 1}
            return len(client.ask("receive-by-sequence-number", said, "r")["messages"])

        with pytest.raises(Refusal, match="at most 8,388,608 are answered"):
            receive(50)
        assert receive(40) == 40

    asking(ask)


def test_what_was_added_leaves_the_ledger_with_its_message() -> None:
    contents = Contents()
    name = contents.new_name()
    contents.add("q", name, {"k": b"12345"})
    contents.add("q", name, {"more": b"678"})
    assert contents.ledger.total == len("k12345more678")
    del name
    assert contents.ledger.total == 0
