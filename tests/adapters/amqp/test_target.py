"""Connection strings, addresses and tokens; what is none is refused without showing a key."""

import base64
import hashlib
import hmac
from urllib.parse import parse_qs

import pytest

from busproof.adapters.amqp.target import TOKEN_LIFE, Target, target_of
from busproof.errors import UsageError

SECRET = "c2VjcmV0IQ=="  # noqa: S105 - of nobody
REAL = f"Endpoint=sb://bus.example.net/;SharedAccessKeyName=root;SharedAccessKey={SECRET}"
EMULATOR = (
    "Endpoint=sb://localhost:5673;SharedAccessKeyName=root;"
    f"SharedAccessKey={SECRET};UseDevelopmentEmulator=true;"
)


def places(target: Target) -> tuple[str, int, bool, str]:
    return target.host, target.port, target.tls, target.admin


def test_a_service_is_reached_over_tls() -> None:
    """At the ports of AMQPS and HTTPS; the key is taken with its equals signs."""
    target = target_of(REAL)
    assert places(target) == ("bus.example.net", 5671, True, "https://bus.example.net")
    assert (target.key_name, target.key, target.emulator) == ("root", SECRET, False)


def test_an_emulator_is_reached_without() -> None:
    """At the port that is given, and its administration where Microsoft's has it."""
    target = target_of(EMULATOR)
    assert places(target) == ("localhost", 5673, False, "http://localhost:5300")
    assert target.emulator
    other = target_of(EMULATOR + "AdminEndpoint=http://localhost:9/")
    assert other.admin == "http://localhost:9"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amqp://u:p%40w@host:1234", ("host", 1234, False)),
        ("amqps://u:p@host", ("host", 5671, True)),
        ("amqp://host", ("host", 5672, False)),
        ("amqp://[::1]:7", ("::1", 7, False)),
    ],
)
def test_an_address_is_enough(text: str, expected: tuple[str, int, bool]) -> None:
    target = target_of(text)
    assert (target.host, target.port, target.tls) == expected


def test_an_address_may_be_of_a_broker_without_the_dialect() -> None:
    assert target_of("amqp://u:p@host?dialect=plain").plain
    assert not target_of("amqp://u:p@host").plain
    for text in ("amqp://u:p@host?dialect=odd", "amqp://u:p@host?colour=red"):
        with pytest.raises(UsageError, match="dialect=service-bus or \\?dialect=plain"):
            target_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"  {REAL}\n", ("bus.example.net", 5671, True)),
        (f'"{REAL}"', ("bus.example.net", 5671, True)),
        (f" '{EMULATOR}' ", ("localhost", 5673, False)),
        (REAL.replace("sb://", ""), ("bus.example.net", 5671, True)),
        (REAL.replace("sb://", "amqps://"), ("bus.example.net", 5671, True)),
        (
            REAL.replace("sb://", "https://").replace(".net/", ".net:443/"),
            ("bus.example.net", 5671, True),
        ),
        (f"\ufeff{REAL}", ("bus.example.net", 5671, True)),
        (f"\u201c{REAL}\u201d", ("bus.example.net", 5671, True)),
        (f"export SERVICEBUS='{REAL}'", ("bus.example.net", 5671, True)),
        (f"Values:SERVICEBUS={REAL}", ("bus.example.net", 5671, True)),
        (REAL.replace("=", " = ", 2).replace(";", " ; "), ("bus.example.net", 5671, True)),
        (EMULATOR.replace("localhost:5673", "::1"), ("::1", 5672, False)),
        (f"{REAL};TransportType=AmqpWebSockets", ("bus.example.net", 5671, True)),
        (f"{REAL};OperationTimeout=00:01:00;EntityPath=q", ("bus.example.net", 5671, True)),
        (EMULATOR.replace("localhost", "[::1]"), ("::1", 5673, False)),
        (f"SharedAccessKeyName=root;SharedAccessKey={SECRET};Endpoint=sb://h/", ("h", 5671, True)),
    ],
)
def test_connection_string_is_taken_as_clients_print_it(
    text: str, expected: tuple[str, int, bool]
) -> None:
    """With blanks, quotation marks, keys for other transports, or its parts in another order."""
    target = target_of(text)
    assert (target.host, target.port, target.tls) == expected
    assert target.key == SECRET


def test_signature_takes_the_place_of_a_key() -> None:
    signature = "SharedAccessSignature sr=sb%3A%2F%2Fh&sig=secret%3D&se=99&skn=root"
    target = target_of(f"Endpoint=sb://h/;SharedAccessSignature={signature}")
    assert signature == target.token("q")
    assert "secret" not in repr(target)


def test_host_that_is_an_ipv6_address_has_brackets_in_addresses() -> None:
    target = target_of(EMULATOR.replace("localhost", "[::1]"))
    assert ("sb://[::1]/q", "http://[::1]:5300") == (target.audience("q"), target.admin)


def test_a_password_is_unquoted() -> None:
    assert target_of("amqp://u:p%40w@host").key == "p@w"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Endpoint=sb://h;SharedAccessKeyName=n", "lacks SharedAccessKey"),
        (f"Endpoint=ftp://h;SharedAccessKeyName=n;SharedAccessKey={SECRET}", "sb://"),
        (f"{REAL};Colour=red", "has 'Colour'"),
        (f"{REAL};nonsense", "has 'nonsense'"),
        (REAL.replace(".net/", ".net:x"), "names no port"),
        (REAL.replace("bus.example.net/", ""), "lacks|names no host"),
        ("ftp://host", "named by"),
        ("http://host", "the name and the key of a rule"),
    ],
)
def test_invalid_connection_string_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        target_of(text)
    assert SECRET not in str(caught.value)


def test_no_key_is_shown() -> None:
    assert SECRET not in repr(target_of(REAL))


def test_a_token_is_signed_with_the_key() -> None:
    token = target_of(REAL).token("orders", now=1000)
    kind, _, fields = token.partition(" ")
    said = {name: values[0] for name, values in parse_qs(fields).items()}
    quoted = "sb%3A%2F%2Fbus.example.net%2Forders"
    expected = hmac.new(SECRET.encode(), f"{quoted}\n{1000 + TOKEN_LIFE}".encode(), hashlib.sha256)
    assert kind == "SharedAccessSignature"
    assert said == {
        "sr": "sb://bus.example.net/orders",
        "sig": base64.b64encode(expected.digest()).decode(),
        "se": str(1000 + TOKEN_LIFE),
        "skn": "root",
    }
