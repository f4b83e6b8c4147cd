"""Where a service is and who asks it: connection strings and addresses."""

import base64
import hashlib
import hmac
import time
from typing import Final
from urllib.parse import parse_qsl, quote_plus, unquote, urlsplit

import attrs

from busproof.errors import UsageError

__all__ = ["TOKEN_LIFE", "Target", "target_of"]

AMQP, AMQPS, EMULATOR_HTTP = 5672, 5671, 5300
LONGEST: Final = 3600
DIALECTS: Final = ("service-bus", "plain")
TOKEN_LIFE: Final = 3600
"""For how long a token is good, in seconds."""

KEYS: Final = {
    "endpoint": "Endpoint",
    "sharedaccesskeyname": "SharedAccessKeyName",
    "sharedaccesskey": "SharedAccessKey",
    "usedevelopmentemulator": "UseDevelopmentEmulator",
    "adminendpoint": "AdminEndpoint",
    "entitypath": "EntityPath",
    "slack": "Slack",
    "receivewait": "ReceiveWait",
    "disposablenamespace": "DisposableNamespace",
}
"""What a connection string may say; `AdminEndpoint` and the last three are our own."""


@attrs.frozen(kw_only=True)
class Target:
    """A service.

    Attributes:
        host: its name or address.
        port: where it speaks AMQP.
        tls: whether it speaks TLS there.
        key_name: of the rule whose key proves what is claimed.
        key: that key.
        admin: where its entities are administrated, an address of HTTP or HTTPS.
        emulator: whether it is one, or our own broker.
        slack: how wrong its timers may be, in microseconds; `None` where that is not said.
        receive_wait: for how long a message may take to come, in seconds; the same.
        disposable: whether its namespace may be filled.
        plain: whether it speaks AMQP 1.0 alone: one logs in, and there is no administration.
    """

    host: str
    port: int
    tls: bool
    key_name: str
    key: str = attrs.field(repr=False)
    admin: str
    emulator: bool = False
    slack: int | None = None
    receive_wait: float | None = None
    disposable: bool = False
    plain: bool = False

    def audience(self, path: str = "") -> str:
        """What a token for an entity is about."""
        return f"sb://{self.host}/{path}"

    def token(self, path: str = "", now: float | None = None) -> str:
        """A shared access signature for an entity, or for everything."""
        resource = quote_plus(self.audience(path).lower())
        expiry = int((time.time() if now is None else now) + TOKEN_LIFE)
        signed = hmac.new(self.key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256)
        signature = quote_plus(base64.b64encode(signed.digest()))
        return (
            f"SharedAccessSignature sr={resource}&sig={signature}&se={expiry}"
            f"&skn={quote_plus(self.key_name)}"
        )


def target_of(text: str) -> Target:
    """The service that a connection string or an address names.

    Raises:
        UsageError: it is neither; the sentence shows no key.
    """
    if text.lower().startswith("endpoint="):
        return _of_connection_string(text)
    url = urlsplit(text)
    if url.scheme not in ("amqp", "amqps"):
        raise UsageError("a service is named by Endpoint=sb://…, amqp://… or amqps://…")
    said = dict(parse_qsl(url.query, keep_blank_values=True))
    dialect = said.pop("dialect", "service-bus")
    if said or dialect not in DIALECTS:
        raise UsageError(f"an address may say ?dialect={' or ?dialect='.join(DIALECTS)}")
    tls = url.scheme == "amqps"
    host, port = _place(url.netloc.rpartition("@")[2], AMQPS if tls else AMQP)
    return Target(
        host=host,
        port=port,
        tls=tls,
        key_name=unquote(url.username or ""),
        key=unquote(url.password or ""),
        admin=f"https://{host}" if tls else f"http://{host}:{EMULATOR_HTTP}",
        emulator=not tls,
        plain=dialect == "plain",
    )


def _of_connection_string(text: str) -> Target:
    said: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(";"))):
        name, equals, value = part.partition("=")
        known = KEYS.get(name.strip().lower())
        if not equals or known is None:
            raise UsageError(
                f"the connection string says {name.strip()!r}; "
                f"it may say {', '.join(KEYS.values())}"
            )
        said[known] = value.strip()
    lacking = [each for each in list(KEYS.values())[:3] if not said.get(each)]
    if lacking:
        raise UsageError(f"the connection string lacks {' and '.join(lacking)}")
    emulator = said.get("UseDevelopmentEmulator", "").lower() == "true"
    address = said["Endpoint"]
    scheme, slashes, rest = address.partition("://")
    if scheme.lower() != "sb" or not slashes:
        raise UsageError(f"the connection string's Endpoint is {address!r}; it begins with sb://")
    host, port = _place(rest.rstrip("/"), AMQP if emulator else AMQPS)
    admin = f"http://{host}:{EMULATOR_HTTP}" if emulator else f"https://{host}"
    slack = _seconds(said, "Slack")
    return Target(
        host=host,
        port=port,
        tls=not emulator,
        key_name=said["SharedAccessKeyName"],
        key=said["SharedAccessKey"],
        admin=said.get("AdminEndpoint", admin).rstrip("/"),
        emulator=emulator,
        slack=None if slack is None else int(slack * 1_000_000),
        receive_wait=_seconds(said, "ReceiveWait"),
        disposable=said.get("DisposableNamespace", "").lower() == "true",
    )


def _seconds(said: dict[str, str], name: str) -> float | None:
    text = said.get(name)
    try:
        seconds = 0.0 if text is None else float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST:
        raise UsageError(f"{name} is {text!r}; it is a number of seconds from 0 to {LONGEST}")
    return None if text is None else seconds


def _place(text: str, port: int) -> tuple[str, int]:
    """A host and a port; IPv6 stands in brackets."""
    url = urlsplit(f"//{text}")
    try:
        found = url.port
    except ValueError:
        raise UsageError(f"{text!r} names no port: one is a number from 1 to 65535") from None
    if not url.hostname:
        raise UsageError(f"{text!r} names no host")
    return url.hostname, found or port
