"""Shared access signatures: tokens, and the claims that they prove."""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote_plus, urlsplit

import attrs

__all__ = [
    "MANAGEMENT",
    "RIGHTS",
    "AccessPolicies",
    "AccessPolicy",
    "Claim",
    "TokenError",
    "path_of",
    "sign",
]

RIGHTS: Final = ("Manage", "Send", "Listen")
PREFIX: Final = "SharedAccessSignature "
MANAGEMENT: Final = "/$management"
"""Suffix of an entity's path in the address of its management node."""
LONGEST: Final = 8_192
"""Maximum length of a token, in characters; official clients use about 300."""
LONGEST_EXPIRY: Final = 15
"""Maximum number of digits in a token's expiry, which is in seconds since 1970."""


class TokenError(Exception):
    """An invalid token, with the reason in one sentence."""


@attrs.frozen
class AccessPolicy:
    """A shared access policy of the namespace: its name, keys and rights.

    Its `repr` does not show the keys.
    """

    name: str
    key: str = attrs.field(repr=False)
    rights: frozenset[str] = frozenset(RIGHTS)
    secondary: str | None = attrs.field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Both keys; either is valid, so that they can be rotated in turn."""
        return (self.key,) if self.secondary is None else (self.key, self.secondary)


NOBODY: Final = AccessPolicy("", secrets.token_hex(32), frozenset())
"""A policy to check unknown names against, so that they take as long as known ones."""


@attrs.frozen
class Claim:
    """A proven claim: rights on a path and everything below it, until an expiry time.

    `rule` is the name of the policy that granted the claim, and `key` the key that proved it.
    """

    path: str
    rights: frozenset[str]
    until: float
    rule: str = ""
    key: str = attrs.field(default="", repr=False)

    def grants(self, right: str, path: str, now: float) -> bool:
        """Return whether the claim grants a right on a path at a time, in seconds since 1970."""
        beneath = not self.path or path == self.path or path.startswith(f"{self.path}/")
        return now < self.until and beneath and (right in self.rights or "Manage" in self.rights)


class AccessPolicies:
    """The policies of a namespace, which can be replaced at any time.

    Args:
        rules: the policies.
        audience: the hosts that a token may name; empty for any.
    """

    def __init__(self, rules: Iterable[AccessPolicy], audience: Iterable[str] = ()) -> None:
        self._by_name = {rule.name: rule for rule in rules}
        self._audience = frozenset(host.lower() for host in audience)

    def renew(self, rules: Iterable[AccessPolicy]) -> None:
        """Replace the policies; claims that rest on removed keys become invalid."""
        self._by_name = {rule.name: rule for rule in rules}

    def renewed(self, claim: Claim) -> Claim | None:
        """Return a claim with its policy's current rights; `None` if its key was removed."""
        rule = self._by_name.get(claim.rule)
        if rule is None or claim.key not in rule.secrets:
            return None
        return attrs.evolve(claim, rights=rule.rights)

    def claim(self, token: str, audience: str, now: float) -> Claim:
        """Return the claim that a token proves for an audience.

        Raises:
            TokenError: the token is malformed, has expired, is for another audience, or is not
                signed with a key of this namespace.
        """
        fields = _fields(token)
        resource, signature, expiry, name = (fields[field] for field in ("sr", "sig", "se", "skn"))
        rule = self._by_name.get(name, NOBODY)
        wanted = (sign(resource, expiry, secret) for secret in rule.secrets)
        key = _matching(signature, zip(wanted, rule.secrets, strict=True))
        if key is None or rule is NOBODY:
            raise TokenError(
                f"The token has an invalid signature: there is no rule {name!r} here, or it is "
                "not signed with one of its current keys."
            )
        if int(expiry) <= now:
            raise TokenError(f"The token has expired: its 'se' is {expiry}, it is {int(now)} now.")
        path = self._path_for(unquote_plus(resource), path_of(audience))
        return Claim(path=path, rights=rule.rights, until=int(expiry), rule=rule.name, key=key)

    def _path_for(self, resource: str, wanted: str) -> str:
        """Return the requested path if a token for the resource covers it."""
        path, host = path_of(resource), _host_of(resource)
        if self._audience and host not in self._audience:
            raise TokenError(
                f"The token has an invalid audience: it is for the host {host!r}, this is "
                f"{' or '.join(sorted(self._audience))}."
            )
        if path and wanted != path and not wanted.startswith(f"{path}/"):
            raise TokenError(
                f"The token has an invalid audience: it is for {path!r} and proves nothing for "
                f"{wanted!r}."
            )
        return wanted

    def login(self, name: str, password: str) -> Claim:
        """Return the claim that a policy's name and key prove.

        Raises:
            TokenError: there is no policy with this name and key.
        """
        rule = self._by_name.get(name, NOBODY)
        key = _matching(password, zip(rule.secrets, rule.secrets, strict=True))
        if key is None or rule is NOBODY:
            raise TokenError(f"There is no rule {name!r} with this key.")
        return Claim(path="", rights=rule.rights, until=float("inf"), rule=rule.name, key=key)


def _matching(signature: str, known: Iterable[tuple[str, str]]) -> str | None:
    """Return the key whose text equals the signature, comparing in constant time."""
    matching = None
    for text, key in known:
        if hmac.compare_digest(text.encode(), signature.encode("utf-8", "replace")):
            matching = key
    return matching


def path_of(address: str) -> str:
    """Return the path of an address in lower case, without the host.

    Raises:
        TokenError: the address is malformed.
    """
    path = _split(address).path if "://" in address else address
    return path.strip("/").lower()


def _host_of(address: str) -> str:
    return (_split(address).hostname or "") if "://" in address else ""


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError as error:
        raise TokenError(f"{address[:80]!r} is not an address: {error}.") from None


def sign(resource: str, expiry: str, key: str) -> str:
    """Return the signature of a token for a percent-encoded resource, until an expiry time."""
    text = f"{resource}\n{expiry}".encode("utf-8", "replace")
    return base64.b64encode(hmac.new(key.encode(), text, hashlib.sha256).digest()).decode()


def _fields(token: str) -> dict[str, str]:
    if not token.startswith(PREFIX):
        raise TokenError(
            "The token is not a shared access signature; others, such as those of Microsoft "
            "Entra ID, are not accepted here."
        )
    if len(token) > LONGEST:
        raise TokenError(f"The token has {len(token)} characters; at most {LONGEST} are taken.")
    pairs = token.removeprefix(PREFIX).split("&")
    fields = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    for name in ("sig", "skn", "se"):
        if name in fields:
            fields[name] = dict(parse_qsl(f"x={fields[name]}")).get("x", "")
    missing = [name for name in ("sr", "sig", "se", "skn") if not fields.get(name)]
    if missing:
        raise TokenError(f"The token lacks {', '.join(missing)}.")
    _check(fields)
    return fields


def _check(fields: dict[str, str]) -> None:
    """Check the format of a token's signature and expiry time."""
    try:
        base64.b64decode(fields["sig"], validate=True)
    except (binascii.Error, ValueError):
        raise TokenError("The token's signature is not base64.") from None
    expiry = fields["se"]
    if not (expiry.isascii() and expiry.isdecimal() and len(expiry) <= LONGEST_EXPIRY):
        raise TokenError("The token's 'se' is not a number of seconds since 1970.")
