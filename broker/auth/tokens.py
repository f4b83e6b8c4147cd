"""Shared access signatures: who may do what, and for how long."""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote_plus, urlsplit

import attrs

__all__ = ["MANAGEMENT", "RIGHTS", "Claim", "Key", "Keys", "TokenError", "path_of", "signed"]

RIGHTS: Final = ("Manage", "Send", "Listen")
PREFIX: Final = "SharedAccessSignature "
MANAGEMENT: Final = "/$management"
"""What follows an entity's path in the address of its management, which is beneath it."""
LONGEST: Final = 8_192
"""How many characters of a token are looked at; the official clients' have some 300."""
LONGEST_EXPIRY: Final = 15
"""How many digits the moment has at which a token expires, in seconds since 1970."""


class TokenError(Exception):
    """A token proves nothing; what is wrong with it is said in one sentence."""


@attrs.frozen
class Key:
    """A rule of the namespace: its name, its keys, and what who has one of them may do.

    The keys are left out of what is printed of a rule.
    """

    name: str
    key: str = attrs.field(repr=False)
    rights: frozenset[str] = frozenset(RIGHTS)
    secondary: str | None = attrs.field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Its keys: either is as good as the other, so that each can be changed in its turn."""
        return (self.key,) if self.secondary is None else (self.key, self.secondary)


NOBODY: Final = Key("", secrets.token_hex(32), frozenset())
"""The rule that an unknown name is held against, so that it takes as long as a known one."""


@attrs.frozen
class Claim:
    """What was proved: these rights on all that is beneath a path, until a moment.

    `rule` is the name of the rule by whose key, and `key` is that key.
    """

    path: str
    rights: frozenset[str]
    until: float
    rule: str = ""
    key: str = attrs.field(default="", repr=False)

    def grants(self, right: str, path: str, now: float) -> bool:
        """Whether it permits this; times are seconds since 1970."""
        beneath = not self.path or path == self.path or path.startswith(f"{self.path}/")
        return now < self.until and beneath and (right in self.rights or "Manage" in self.rights)


class Keys:
    """The rules of a namespace, which may be others from one moment to the next.

    Args:
        rules: the rules.
        audience: the hosts of which a token has to name one; any may be named if there are none.
    """

    def __init__(self, rules: Iterable[Key], audience: Iterable[str] = ()) -> None:
        self._by_name = {rule.name: rule for rule in rules}
        self._audience = frozenset(each.lower() for each in audience)

    def renew(self, rules: Iterable[Key]) -> None:
        """Have other rules from now on; what was proved by a key that is gone holds no more."""
        self._by_name = {rule.name: rule for rule in rules}

    def renewed(self, claim: Claim) -> Claim | None:
        """What of a claim still holds by the rules as they are now; `None` if nothing does."""
        rule = self._by_name.get(claim.rule)
        if rule is None or claim.key not in rule.secrets:
            return None
        return attrs.evolve(claim, rights=rule.rights)

    def claim(self, token: str, audience: str, now: float) -> Claim:
        """What a token proves for an audience.

        Raises:
            TokenError: it is no token, is not for this audience, has expired, or is not signed by
                a key of this namespace.
        """
        fields = _fields(token)
        resource, signature, expiry, name = (fields[each] for each in ("sr", "sig", "se", "skn"))
        rule = self._by_name.get(name, NOBODY)
        wanted = (signed(resource, expiry, each) for each in rule.secrets)
        key = _matching(signature, zip(wanted, rule.secrets, strict=True))
        if key is None or rule is NOBODY:
            raise TokenError(
                f"The token has an invalid signature: there is no rule {name!r} here, or it is "
                "signed with a key that is not the rule's, or not any more."
            )
        if int(expiry) <= now:
            raise TokenError(f"The token has expired: its 'se' is {expiry}, it is {int(now)} now.")
        path = self._path_for(unquote_plus(resource), path_of(audience))
        return Claim(path=path, rights=rule.rights, until=int(expiry), rule=rule.name, key=key)

    def _path_for(self, resource: str, asked: str) -> str:
        """The path that is asked for, if a token for this resource covers it."""
        path, host = path_of(resource), _host_of(resource)
        if self._audience and host not in self._audience:
            raise TokenError(
                f"The token has an invalid audience: it is for the host {host!r}, this is "
                f"{' or '.join(sorted(self._audience))}."
            )
        if path and asked != path and not asked.startswith(f"{path}/"):
            raise TokenError(
                f"The token has an invalid audience: it is for {path!r} and proves nothing for "
                f"{asked!r}."
            )
        return asked

    def login(self, name: str, password: str) -> Claim:
        """What the name and a key of a rule prove.

        Raises:
            TokenError: they do not belong together.
        """
        rule = self._by_name.get(name, NOBODY)
        key = _matching(password, zip(rule.secrets, rule.secrets, strict=True))
        if key is None or rule is NOBODY:
            raise TokenError(f"There is no rule {name!r} with this key.")
        return Claim(path="", rights=rule.rights, until=float("inf"), rule=rule.name, key=key)


def _matching(given: str, known: Iterable[tuple[str, str]]) -> str | None:
    """The key beside the text that is the given one; how long it takes does not tell which."""
    found = None
    for text, key in known:
        if hmac.compare_digest(text.encode(), given.encode("utf-8", "replace")):
            found = key
    return found


def path_of(address: str) -> str:
    """The path in an address, in small letters, without the host if it names one.

    Raises:
        TokenError: it is no address.
    """
    path = _split(address).path if "://" in address else address
    return path.strip("/").lower()


def _host_of(address: str) -> str:
    return (_split(address).hostname or "") if "://" in address else ""


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError as error:
        raise TokenError(f"{address[:80]!r} is no address: {error}.") from None


def signed(resource: str, expiry: str, key: str) -> str:
    """The signature of a token for a resource, which stands quoted in it."""
    said = f"{resource}\n{expiry}".encode("utf-8", "replace")
    return base64.b64encode(hmac.new(key.encode(), said, hashlib.sha256).digest()).decode()


def _fields(token: str) -> dict[str, str]:
    if not token.startswith(PREFIX):
        raise TokenError(
            "The token is no shared access signature; others, such as those of Microsoft Entra ID, "
            "are not taken here."
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
    """Insist that a signature and a moment are written as such."""
    try:
        base64.b64decode(fields["sig"], validate=True)
    except (binascii.Error, ValueError):
        raise TokenError("The token's signature is not base64.") from None
    expiry = fields["se"]
    if not (expiry.isascii() and expiry.isdecimal() and len(expiry) <= LONGEST_EXPIRY):
        raise TokenError("The token's 'se' is no number of seconds since 1970.")
