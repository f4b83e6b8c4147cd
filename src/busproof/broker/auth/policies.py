"""Shared access policies of a namespace, read from a file or the environment.

They are never read from the command line, which every user of the machine can see.
"""

import os
import stat
from pathlib import Path
from typing import Final

from busproof.broker.auth.tokens import RIGHTS, AccessPolicy
from busproof.broker.configuration.jsonc import Value, parse, read
from busproof.errors import UsageError

__all__ = [
    "DEFAULT_KEYS",
    "ENVIRONMENT",
    "is_exposed",
    "is_public",
    "read_rules",
    "read_secret",
    "rules_in",
]

DEFAULT_KEYS: Final = (AccessPolicy("RootManageSharedAccessKey", "SAS_KEY_VALUE"),)
"""The well-known key in the connection string of Microsoft's emulator."""

ENVIRONMENT: Final = "env:"
FIELDS: Final = ("KeyName", "PrimaryKey", "SecondaryKey", "Rights")
LONGEST_SECRET: Final = 256
"""Maximum length of a key, in characters; the service's keys have 44."""


def is_public(rules: tuple[AccessPolicy, ...]) -> bool:
    """Return whether one of the keys is the emulator's, which is publicly known."""
    known = {secret for rule in DEFAULT_KEYS for secret in rule.secrets}
    return any(secret in known for rule in rules for secret in rule.secrets)


def is_exposed(source: str) -> bool:
    """Return whether users other than the owner can read a file of keys."""
    if source.startswith(ENVIRONMENT) or os.name != "posix":
        return False
    return bool(Path(source).stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def read_rules(source: str) -> tuple[AccessPolicy, ...]:
    """Read the policies in a file, or in an environment variable, given as `env:NAME`.

    Raises:
        UsageError: the policies cannot be read; the message shows no key.
    """
    if source.startswith(ENVIRONMENT):
        value = parse(_variable(source), source)
    else:
        value = read(Path(source))
    return rules_in(value)


def read_secret(source: str) -> str:
    """Read the token in a file, or in an environment variable, given as `env:NAME`.

    Raises:
        UsageError: the token cannot be read, or is empty.
    """
    if source.startswith(ENVIRONMENT):
        word = _variable(source).strip()
    else:
        try:
            word = Path(source).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise UsageError(f"cannot read {source}: {reason}") from None
    if not word:
        raise UsageError(f"{source} is empty; it has to contain the token")
    return word


def rules_in(value: Value) -> tuple[AccessPolicy, ...]:
    """Return the policies in an array.

    Raises:
        UsageError: a value is not a policy, a name is repeated, or the array is empty.
    """
    value = value.kept_secret()
    rules = tuple(_rule(entry) for entry in value.items())
    if not rules:
        raise value.wrong("at least one rule")
    for place, rule in zip(value.items(), rules, strict=True):
        if sum(other.name == rule.name for other in rules) > 1:
            raise place.wrong(f"a KeyName that no other rule has; {rule.name!r} occurs twice")
    return rules


def _rule(value: Value) -> AccessPolicy:
    fields = value.fields(FIELDS)
    for name in ("KeyName", "PrimaryKey"):
        if name not in fields:
            raise value.wrong(f"a {name}")
    rights = frozenset(RIGHTS)
    if "Rights" in fields:
        rights = frozenset(right.one_of(RIGHTS) for right in fields["Rights"].items())
    second = fields.get("SecondaryKey")
    return AccessPolicy(
        fields["KeyName"].text(),
        _secret(fields["PrimaryKey"]),
        rights,
        None if second is None or second.is_null else _secret(second),
    )


def _secret(value: Value) -> str:
    secret = value.text()
    if not 0 < len(secret) <= LONGEST_SECRET:
        raise value.wrong(f"1 to {LONGEST_SECRET} characters")
    return secret


def _variable(source: str) -> str:
    name = source.removeprefix(ENVIRONMENT)
    if (value := os.environ.get(name)) is None:
        raise UsageError(f"the environment variable {name!r} is not set, which {source} names")
    return value
