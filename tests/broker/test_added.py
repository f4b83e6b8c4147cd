"""Who may only receive adds little to what the broker keeps: states, properties, reasons."""

from typing import Any, Final

import attrs
import pytest
from proton import Data

from busproof.broker.amqp.refusals import Refusal
from busproof.broker.payloads import OF_STATE, Contents
from busproof.vocabulary.commands import AcceptSession

from .test_requests import Asked, asking, several

MOST: Final = 100_000
LARGE: Final = 30_000
TOO_MUCH: Final = "Receivers have added as much as they may .* 100,000 bytes"


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
    """Each keeps its session; nothing was counted for it."""

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
    """Of any kind, and however many messages there are."""

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


def test_what_was_added_leaves_the_ledger_with_its_message() -> None:
    contents = Contents()
    name = contents.new_name()
    contents.add("q", name, {"k": b"12345"})
    contents.add("q", name, {"more": b"678"})
    assert contents.ledger.total == len("k12345more678")
    del name
    assert contents.ledger.total == 0
