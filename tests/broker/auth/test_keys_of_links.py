"""Keys while the broker runs: links end with their tokens, and keys are changed."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.exceptions import ServiceBusAuthenticationError, ServiceBusAuthorizationError
from proton import ConnectionException, Delivery, Message
from proton.utils import LinkDetached
from work import PATIENCE, until

from busproof.broker.auth import cbs
from busproof.broker.auth.tokens import AccessPolicy
from busproof.vocabulary.commands import CreateQueue

from .. import raw
from ..conftest import FREE, SETTINGS, Served, Start, launched, serving
from ..inside import inside
from .test_keys import LISTEN, RULES, SEND


@pytest.mark.slow
def test_a_link_ends_with_the_token_that_it_needs() -> None:
    """One that another token permits goes on; a new token lets the first one come again."""
    with (
        inside(CreateQueue(queue="q"), CreateQueue(queue="r")) as served,
        raw.anonymous(served.broker.port) as connection,
    ):
        root = "RootManageSharedAccessKey", "SAS_KEY_VALUE"
        raw.claimed(connection, "q", *root, seconds=2)
        raw.claimed(connection, "r", *root)
        short, long = connection.create_sender("q"), connection.create_sender("r")
        assert Delivery.ACCEPTED == short.send(Message("in time")).remote_state
        with pytest.raises(LinkDetached, match="'Send' claim is required"):
            connection.wait(lambda: False, timeout=PATIENCE)
        assert Delivery.ACCEPTED == long.send(Message("goes on")).remote_state
        with pytest.raises(LinkDetached, match="unauthorized-access"):
            connection.create_receiver("q")
        raw.claimed(connection, "q", *root)
        assert Delivery.ACCEPTED == connection.create_sender("q").send(Message("x")).remote_state


@pytest.mark.slow
def test_links_for_management_end_with_their_token_too() -> None:
    with inside(CreateQueue(queue="q")) as served, raw.anonymous(served.broker.port) as connection:
        for attach in (connection.create_sender, connection.create_receiver):
            with pytest.raises(LinkDetached, match="unauthorized-access"):
                attach("q/$management")
        root = "RootManageSharedAccessKey", "SAS_KEY_VALUE"
        raw.claimed(connection, "q/$management", *root, seconds=2)
        connection.create_receiver("q/$management")
        connection.create_sender("q/$management")
        with pytest.raises(LinkDetached, match="unauthorized-access"):
            connection.create_sender("q")
        for _ in range(2):
            with pytest.raises(LinkDetached, match="claim is required"):
                connection.wait(lambda: False, timeout=PATIENCE)


@pytest.mark.slow
def test_a_token_for_an_entity_that_is_not_there_is_refused() -> None:
    """With 404, but only if it permits something: a client without rights learns nothing."""
    with inside(CreateQueue(queue="q")) as served, raw.anonymous(served.broker.port) as connection:
        for path, status in (
            *(("", 202), ("q", 202), ("Q/$management", 202), ("q/$DeadLetterQueue", 202)),
            *(("nowhere", 404), ("nowhere/$management", 404), ("q/subscriptions/s", 404)),
        ):
            resource = f"sb://h/{path}"
            text = raw.token(resource, "RootManageSharedAccessKey", "SAS_KEY_VALUE")
            code, said = raw.put_token(connection, resource, text)
            assert status == code, said
            forged = raw.token(resource, "RootManageSharedAccessKey", "forged")
            assert 401 == raw.put_token(connection, resource, forged)[0]
        assert "'q/subscriptions/s' could not be found" in said


@pytest.mark.slow
def test_a_token_permits_what_its_rule_does_where_it_is_for() -> None:
    """What is forged, for another entity, expired or no signature is refused with 401."""
    rules = (
        AccessPolicy("root", "r"),
        AccessPolicy("ears", "e", LISTEN),
        AccessPolicy("mouth", "m", SEND),
    )
    with inside(CreateQueue(queue="q"), CreateQueue(queue="r")) as served:
        served.hub.loop.call_soon_threadsafe(served.hub.renew_keys, rules)
        with raw.anonymous(served.broker.port) as connection:
            for name, key, resource, audience, seconds in (
                ("ears", "forged", "sb://h/q", "sb://h/q", 60),
                ("nobody", "r", "sb://h/q", "sb://h/q", 60),
                ("root", "r", "sb://h/q", "sb://h/r", 60),
                ("root", "r", "sb://h/q", "sb://h/", 60),
                ("root", "r", "sb://h/q", "sb://h/q2", 60),
                ("root", "r", "sb://h/q", "sb://h/q", -1),
            ):
                text = raw.token(resource, name, key, seconds)
                status, said = raw.put_token(connection, audience, text)
                assert 401 == status, said
                assert raw.signature(resource, 0, key) not in said
            status, said = raw.put_token(connection, "sb://h/q", "a.b.c", "jwt")
            assert 401 == status
            assert "Microsoft Entra ID" in said
            for attach in (connection.create_sender, connection.create_receiver):
                with pytest.raises(LinkDetached, match="unauthorized-access"):
                    attach("q")
            raw.claimed(connection, "q", "mouth", "m")
            sender = connection.create_sender("q")
            assert Delivery.ACCEPTED == sender.send(Message("sent")).remote_state
            for attach, path in (
                (connection.create_receiver, "q"),
                (connection.create_sender, "r"),
            ):
                with pytest.raises(LinkDetached, match="unauthorized-access"):
                    attach(path)
            raw.claimed(connection, "", "ears", "e")
            assert "sent" == connection.create_receiver("q").receive(timeout=PATIENCE).body
            connection.create_receiver("r")
            with pytest.raises(LinkDetached, match="'Send' claim is required"):
                connection.create_sender("r")


@pytest.mark.slow
@pytest.mark.parametrize("opens", [True, False], ids=["opened", "silent"])
def test_client_that_never_authenticates_is_disconnected(monkeypatch, *, opens: bool) -> None:
    """Also one who never answers, nor reads; who has proved something stays."""
    monkeypatch.setattr(cbs, "TIME_TO_CLAIM", 0.5)
    with inside(CreateQueue(queue="q")) as served, raw.logged_in(served.broker.port) as other:
        connect = raw.greeted if opens else raw.silent
        with connect(served.broker.port) as client:
            assert until(lambda: 2 == len(served.hub.connections))
            assert until(lambda: 1 == len(served.hub.connections))
            said = b""
            while came := client.recv(1_000):
                said += came
            assert opens is (b"No token was put" in said)
            assert opens is (b"amqp:unauthorized-access" in said)
        assert Delivery.ACCEPTED == other.create_sender("q").send(Message("x")).remote_state


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    path.write_text(RULES, encoding="utf-8")
    path.chmod(0o600)
    return path


def said_by(served: Served, *, until: str) -> str:
    """What a broker says on its error output, up to a line with this in it."""
    said = ""
    assert served.process.stderr is not None
    while until not in said:
        line = served.process.stderr.readline()
        assert line, said
        said += line
    return said


def send(served: Served, name: str, key: str) -> None:
    text = served.connection_string.replace(
        "SharedAccessKeyName=root", f"SharedAccessKeyName={name}"
    )
    text = text.replace("<key>", key)
    client = type(served.client()).from_connection_string(text, **SETTINGS)
    with client, client.get_queue_sender("plain") as sender:
        sender.send_messages(ServiceBusMessage("x"))


REFUSED: Any = (ServiceBusAuthenticationError, ServiceBusAuthorizationError)


@pytest.mark.slow
def test_keys_are_changed_while_it_runs_and_never_shown(start: Start, keys: Path) -> None:
    """The official client is refused with an old key, and its link by an old key ends."""
    served = start("--keys", str(keys))
    assert "SharedAccessKeyName=root;SharedAccessKey=<key>;" in served.connection_string
    send(served, "mouth", "mouth-first")
    for name, key in (("ears", "ears-first"), ("mouth", "guessed"), ("root", "SAS_KEY_VALUE")):
        with pytest.raises(REFUSED):
            send(served, name, key)
    login: Any = {"user": "root", "allowed_mechs": "PLAIN"}
    with (
        raw.connected(served.port, password="root-first", **login) as first,
        raw.connected(served.port, password="root-second", **login) as second,
    ):
        ending, staying = first.create_sender("plain"), second.create_sender("plain")
        keys.write_text("[]", encoding="utf-8")
        os.kill(served.process.pid, signal.SIGHUP)
        said = said_by(served, until="stay as they were")
        assert "expected at least one rule" in said
        assert Delivery.ACCEPTED == ending.send(Message("old")).remote_state
        keys.write_text(RULES.replace("root-first", "root-third"), encoding="utf-8")
        os.kill(served.process.pid, signal.SIGHUP)
        said += said_by(served, until="read again")
        with pytest.raises((LinkDetached, ConnectionException), match="unauthorized-access"):
            ending.send(Message("too old"))
        assert Delivery.ACCEPTED == staying.send(Message("still good")).remote_state
        with pytest.raises(REFUSED):
            send(served, "root", "root-first")
        with (
            pytest.raises(ConnectionException),
            raw.connected(served.port, password="root-first", **login),
        ):
            pass
        send(served, "root", "root-third")
        keys.write_text(RULES.replace("mouth-first", "mouth-new"), encoding="utf-8")
        assert {} == served.ask("/busproof/keys/renew", really=True)
        send(served, "mouth", "mouth-new")
    served.process.terminate()
    said += served.process.communicate(timeout=PATIENCE)[1]
    secrets = ("first", "second", "third", "mouth-new", "SAS_KEY_VALUE", "sig=", "SharedAccessSig")
    assert [] == [secret for secret in secrets if secret in said]


@pytest.mark.slow
def test_without_keys_of_ones_own_only_this_machine_is_served(keys: Path) -> None:
    """And it says so; with keys, or on one's word, others are served too."""
    everywhere = ("--host", "0.0.0.0")  # noqa: S104 - what the test is about
    refused = launched(*FREE, *everywhere)
    said = refused.communicate(timeout=PATIENCE)[1]
    assert 2 == refused.returncode
    assert "everybody knows; give keys of your own by --keys" in said
    assert 1 == said.count("\n")
    for options, expected in (
        (("--host", "127.0.0.1"), "only this machine can connect: the key is the emulator's"),
        ((*everywhere, "--allow-public-key"), "everybody can connect: the key is the emulator's"),
        (
            (*everywhere, "--keys", str(keys)),
            "is not encrypted; --tls, or --tls-cert and --tls-key",
        ),
    ):
        with serving(*options) as served:
            assert expected in served.said
            assert ("emulator's" in served.said) == ("--keys" not in options)
    keys.chmod(0o644)
    with serving("--keys", str(keys)) as served:
        assert "can be read by others; chmod 600" in served.said
