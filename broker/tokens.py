"""Shared access signatures: who may do what, and for how long."""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import attrs

__all__ = ["Claim", "Claims", "Key", "Keys", "TokenError", "path_of", "signed"]

RIGHTS = ("Manage", "Send", "Listen")
PREFIX = "SharedAccessSignature "
LONG = 86_400.0
"""A day, after which claims are looked at in any case."""


class TokenError(Exception):
    """A token proves nothing; what is wrong with it is said in one sentence."""


@attrs.frozen
class Key:
    """A rule of the namespace: its name, its key, and what who has the key may do."""

    name: str
    key: str
    rights: frozenset[str] = frozenset(RIGHTS)


@attrs.frozen
class Claim:
    """What a token proves: these rights on all that is beneath a path, until a moment."""

    path: str
    rights: frozenset[str]
    until: float

    def grants(self, right: str, path: str, now: float) -> bool:
        """Whether it permits this; times are seconds since 1970."""
        beneath = not self.path or path == self.path or path.startswith(f"{self.path}/")
        return now < self.until and beneath and (right in self.rights or "Manage" in self.rights)


class Claims:
    """What a client has proved, as far as it still holds."""

    def __init__(self) -> None:
        self._held: list[Claim] = []

    def add(self, claim: Claim) -> None:
        """Remember a claim, and forget those that have expired."""
        self._forget()
        self._held.append(claim)

    def permit(self, right: str, path: str) -> bool:
        """Whether one of them permits this."""
        now, low = time.time(), path.lower()
        return any(claim.grants(right, low, now) for claim in self._held)

    @property
    def any(self) -> bool:
        """Whether one of them still holds."""
        self._forget()
        return bool(self._held)

    def time_left(self) -> float:
        """In how many seconds the next of them expires; a long time if none does."""
        first = min((claim.until for claim in self._held), default=float("inf"))
        return min(LONG, max(0.0, first - time.time()) + 0.01)

    def _forget(self) -> None:
        now = time.time()
        self._held = [each for each in self._held if each.until > now]


@attrs.frozen
class Keys:
    """The rules of a namespace by name."""

    by_name: Mapping[str, Key]

    def claim(self, token: str, audience: str, now: float) -> Claim:
        """What a token proves for an audience.

        Raises:
            TokenError: it is no token, is not for this audience, has expired, or is not signed by
                a key of this namespace.
        """
        fields = _fields(token)
        resource, signature, expiry, name = (fields[each] for each in ("sr", "sig", "se", "skn"))
        key = self.by_name.get(name)
        if key is None:
            raise TokenError(f"There is no key named {name!r} here.")
        if not hmac.compare_digest(signed(resource, expiry, key.key), signature):
            raise TokenError(f"The token's signature is not made with the key {name!r}.")
        if not expiry.isdecimal() or int(expiry) <= now:
            raise TokenError(f"The token has expired: its 'se' is {expiry}, it is {int(now)} now.")
        path, asked = path_of(unquote_plus(resource)), path_of(audience)
        if path and asked != path and not asked.startswith(f"{path}/"):
            raise TokenError(f"The token is for {path!r} and proves nothing for {asked!r}.")
        proved = (asked if audience else path).removesuffix("/$management")
        return Claim(path=proved, rights=key.rights, until=int(expiry))

    def login(self, name: str, password: str) -> Claim:
        """What the name and key of a rule prove.

        Raises:
            TokenError: they do not belong together.
        """
        key = self.by_name.get(name)
        if key is None or not hmac.compare_digest(key.key.encode(), password.encode()):
            raise TokenError(f"There is no rule {name!r} with this key.")
        return Claim(path="", rights=key.rights, until=float("inf"))


def path_of(address: str) -> str:
    """The path in an address, in small letters, without the host if it names one."""
    path = urlsplit(address).path if "://" in address else address
    return path.strip("/").lower()


def signed(resource: str, expiry: str, key: str) -> str:
    """The signature of a token for a resource, which stands quoted in it."""
    digest = hmac.new(key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def _fields(token: str) -> dict[str, str]:
    if not token.startswith(PREFIX):
        raise TokenError("The token is no shared access signature.")
    pairs = token.removeprefix(PREFIX).split("&")
    fields = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    for name in ("sig", "skn", "se"):
        if name in fields:
            fields[name] = dict(parse_qsl(f"x={fields[name]}")).get("x", "")
    missing = [name for name in ("sr", "sig", "se", "skn") if not fields.get(name)]
    if missing:
        raise TokenError(f"The token lacks {', '.join(missing)}.")
    try:
        base64.b64decode(fields["sig"], validate=True)
    except (binascii.Error, ValueError):
        raise TokenError("The token's signature is not base64.") from None
    return fields
