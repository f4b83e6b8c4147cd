"""The address and credentials of a service, from a connection string or an address."""

import base64
import hashlib
import hmac
import re
import time
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote_plus, unquote, urlsplit

import attrs

from busproof.errors import UsageError

__all__ = ["TOKEN_LIFE", "Target", "bare", "bracket_host", "is_connection_string", "target_of"]

AMQP, AMQPS, EMULATOR_HTTP = 5672, 5671, 5300
HTTP, HTTPS = 80, 443
LONGEST: Final = 3600
DIALECTS: Final = ("service-bus", "plain")
TOKEN_LIFE: Final = 3600
"""Validity of a token, in seconds."""

KEYS: Final = {
    "endpoint": "Endpoint",
    "sharedaccesskeyname": "SharedAccessKeyName",
    "sharedaccesskey": "SharedAccessKey",
    "sharedaccesssignature": "SharedAccessSignature",
    "usedevelopmentemulator": "UseDevelopmentEmulator",
    "adminendpoint": "AdminEndpoint",
    "entitypath": "EntityPath",
    "slack": "Slack",
    "receivewait": "ReceiveWait",
    "disposablenamespace": "DisposableNamespace",
    "protocol": "Protocol",
}
"""Keys of a connection string; `AdminEndpoint` and the last four are busproof's own."""
PROTOCOLS: Final = ("amqp", "http")
WITHOUT_EFFECT: Final = frozenset(
    {"managementport", "operationtimeout", "runtimeport", "stsendpoint", "transporttype"}
)
"""Further keys that official clients take; busproof always speaks AMQP over TCP."""
SCHEMES: Final = ("sb", "amqp", "amqps")
WEB: Final = {"http": ":80", "https": ":443"}
"""Schemes of the addresses that Azure Resource Manager prints, and the ports that it adds."""
QUOTES: Final = ('""', "''", "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}")
ASSIGNMENT: Final = re.compile(r"^(?:export\s+)?[\w.:-]+\s*=\s*(?=[\"'\s]*\w+\s*=[^=;])", re.ASCII)
"""The name of a variable before a connection string, as in files of variables."""
ENDPOINT: Final = re.compile(r"(?:^|;)\s*endpoint\s*=", re.IGNORECASE)


@attrs.frozen(kw_only=True)
class Target:
    """The address and credentials of a service.

    Attributes:
        host: host name or IP address.
        port: port for AMQP.
        tls: whether that port expects TLS.
        key_name: name of the access policy that the key belongs to, or of the user.
        key: key of the access policy, or password.
        admin: HTTP or HTTPS address of the administration.
        emulator: whether the service is an emulator or a busproof broker.
        slack: maximum error of its timers, in microseconds; `None` for the default.
        receive_wait: maximum wait for a message, in seconds; `None` for the default.
        disposable: whether a run may fill the namespace.
        plain: whether the service speaks plain AMQP 1.0, with a login and without administration.
        http: whether messages are sent and received over HTTP, at the address of the
            administration.
        signature: a token that is given in place of a key; empty if there is a key.
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
    http: bool = False
    signature: str = attrs.field(default="", repr=False)

    def audience(self, path: str = "") -> str:
        """Return the resource that a token for an entity names."""
        return f"sb://{bracket_host(self.host)}/{path}"

    def token(self, path: str = "", now: float | None = None) -> str:
        """Return a shared access signature for an entity, or for the whole namespace."""
        if self.signature:
            return self.signature
        resource = quote_plus(self.audience(path).lower())
        expiry = int((time.time() if now is None else now) + TOKEN_LIFE)
        signed = hmac.new(self.key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256)
        signature = quote_plus(base64.b64encode(signed.digest()))
        return (
            f"SharedAccessSignature sr={resource}&sig={signature}&se={expiry}"
            f"&skn={quote_plus(self.key_name)}"
        )


def target_of(text: str) -> Target:
    """Parse the connection string or address of a service.

    Raises:
        UsageError: the text is invalid; the error shows no key.
    """
    text = bare(text)
    if is_connection_string(text):
        return _read_connection_string(text)
    url = urlsplit(text)
    if url.scheme in WEB:
        return _read_web_address(url)
    if url.scheme not in ("amqp", "amqps"):
        raise UsageError(
            "a service is named by Endpoint=sb://…, amqp://…, amqps://…, http://… or https://…"
        )
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    dialect = options.pop("dialect", "service-bus")
    if options or dialect not in DIALECTS:
        raise UsageError(f"an address may say ?dialect={' or ?dialect='.join(DIALECTS)}")
    tls = url.scheme == "amqps"
    host, port = _place(url.netloc.rpartition("@")[2], AMQPS if tls else AMQP)
    named = bracket_host(host)
    return Target(
        host=host,
        port=port,
        tls=tls,
        key_name=unquote(url.username or ""),
        key=unquote(url.password or ""),
        admin=f"https://{named}" if tls else f"http://{named}:{EMULATOR_HTTP}",
        emulator=not tls,
        plain=dialect == "plain",
    )


def _read_web_address(url: SplitResult) -> Target:
    """Return the service at an address over HTTP."""
    tls = url.scheme == "https"
    host, port = _place(url.netloc.rpartition("@")[2], HTTPS if tls else HTTP)
    if url.query or url.fragment:
        raise UsageError("an address over HTTP has a name, a key, a host, a port and a path only")
    if not url.username or not url.password:
        example = f"{url.scheme}://RootManageSharedAccessKey:KEY@{bracket_host(host)}"
        raise UsageError(f"an address over HTTP has the name and the key of a rule: {example}")
    return Target(
        host=host,
        port=port,
        tls=tls,
        key_name=unquote(url.username),
        key=unquote(url.password),
        admin=f"{url.scheme}://{bracket_host(host)}:{port}{url.path.rstrip('/')}",
        emulator=not tls,
        http=True,
    )


def bare(text: str) -> str:
    """Return an address without what files have around it: blanks, quotes, a variable's name."""
    return unquote_text(ASSIGNMENT.sub("", unquote_text(text), count=1))


def unquote_text(text: str) -> str:
    """Return a text without the blanks and quotation marks around it."""
    text = text.strip("\N{ZERO WIDTH NO-BREAK SPACE}").strip()
    if len(text) > 1 and text[0] + text[-1] in QUOTES:
        return text[1:-1].strip()
    return text


def is_connection_string(text: str) -> bool:
    """Return whether a text has the form of a connection string, whatever is its first key."""
    return ENDPOINT.search(text) is not None


def bracket_host(host: str) -> str:
    """Return a host as addresses have it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _read_connection_string(text: str) -> Target:
    settings: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, equals, value = part.partition("=")
        if equals and name.strip().lower() in WITHOUT_EFFECT:
            continue
        known = KEYS.get(name.strip().lower())
        if not equals or known is None:
            raise UsageError(
                f"the connection string has {name.strip()!r}; it may say {', '.join(KEYS.values())}"
            )
        settings[known] = unquote_text(value)
    signature = settings.get("SharedAccessSignature", "")
    keys = () if signature else ("SharedAccessKeyName", "SharedAccessKey")
    lacking = [key for key in ("Endpoint", *keys) if not settings.get(key)]
    if lacking:
        raise UsageError(f"the connection string lacks {' and '.join(lacking)}")
    emulator = settings.get("UseDevelopmentEmulator", "").lower() == "true"
    address = settings["Endpoint"]
    scheme, slashes, rest = address.rpartition("://")
    if scheme.lower() in WEB:
        rest = rest.rstrip("/").removesuffix(WEB[scheme.lower()])
    elif slashes and scheme.lower() not in SCHEMES:
        raise UsageError(f"the connection string's Endpoint is {address!r}; it begins with sb://")
    host, port = _place(rest.rstrip("/"), AMQP if emulator else AMQPS)
    named = bracket_host(host)
    admin = f"http://{named}:{EMULATOR_HTTP}" if emulator else f"https://{named}"
    slack = _seconds(settings, "Slack")
    protocol = settings.get("Protocol", PROTOCOLS[0]).lower()
    if protocol not in PROTOCOLS:
        raise UsageError(f"Protocol is {protocol!r}; it is {' or '.join(PROTOCOLS)}")
    return Target(
        host=host,
        port=port,
        tls=not emulator,
        key_name=settings.get("SharedAccessKeyName", ""),
        key=settings.get("SharedAccessKey", ""),
        signature=signature,
        admin=settings.get("AdminEndpoint", admin).rstrip("/"),
        emulator=emulator,
        slack=None if slack is None else int(slack * 1_000_000),
        receive_wait=_seconds(settings, "ReceiveWait"),
        disposable=settings.get("DisposableNamespace", "").lower() == "true",
        http=protocol == "http",
    )


def _seconds(settings: dict[str, str], name: str) -> float | None:
    text = settings.get(name)
    try:
        seconds = 0.0 if text is None else float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST:
        raise UsageError(f"{name} is {text!r}; it is a number of seconds from 0 to {LONGEST}")
    return None if text is None else seconds


def _place(text: str, port: int) -> tuple[str, int]:
    """Parse a host and an optional port; an IPv6 address with a port is in brackets."""
    if text.count(":") > 1 and not text.startswith("["):
        text = bracket_host(text.partition("/")[0])
    url = urlsplit(f"//{text}")
    try:
        named = url.port
    except ValueError:
        raise UsageError(f"{text!r} names no port: one is a number from 1 to 65535") from None
    if not url.hostname:
        raise UsageError(f"{text!r} names no host")
    return url.hostname, named or port
