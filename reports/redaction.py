"""Redaction of published reports: machine, user, secrets, addresses and paths are removed."""

import getpass
import re
import shlex
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.conformance import (
    Conformance,
    Counterexample,
    KnownFailure,
    RuleVerdict,
)

__all__ = ["redact", "redact_text"]

_GONE: Final = "…"

_ADDRESS: Final = re.compile(r"\b(amqps?|sb)://[^\s;,'\"<>()]+", re.IGNORECASE)
_USER_INFO: Final = re.compile(r"(?<=://)[^\s/@'\"]+@")
_SECRET: Final = re.compile(
    r"\b(SharedAccessKeyName|SharedAccessKey|SharedAccessSignature|AccountKey|sig"
    r"|api[-_]?key|access[-_]?token|token|secret|password|passwd|pwd)(\s*[=:]\s*['\"]?)[^\s;&,'\"]+",
    re.IGNORECASE,
)
_WEB: Final = re.compile(r"https?://", re.IGNORECASE)
_BEARER: Final = re.compile(r"\b(Bearer)\s+[\w.~+/-]{8,}=*", re.IGNORECASE)
_PATH: Final = re.compile(
    r"(?<![\w:/.~…])(?:~|\.\.(?:/\.\.)*)?(?:/[^\s/:;,'\"<>()]+)+/([^\s/:;,'\"<>()]+)"
)
_WINDOWS_PATH: Final = re.compile(r"\b[A-Za-z]:\\(?:[^\s\\:;,'\"<>()]+\\)*([^\s\\:;,'\"<>()]+)")

_ADAPTER_NAME: Final = re.compile(r"[\w.-]+(:\w+)?")
_COMMAND_OR_KEYS: Final = re.compile(r"(exec:|Endpoint=).*", re.IGNORECASE | re.DOTALL)
"""Pattern for adapter names that have a command line, or an address with keys."""

_NO_NAMES: Final = frozenset({"", "localhost"})


def redact_text(text: str) -> str:
    """Return a sentence or traceback without secrets, addresses, folders, host and user."""
    text = _ADDRESS.sub(rf"\1://{_GONE}", text)
    text = _USER_INFO.sub(f"{_GONE}@", text)
    text = _SECRET.sub(rf"\1\2{_GONE}", text)
    text = _BEARER.sub(rf"\1 {_GONE}", text)
    for folder in sorted(set(_folders()), key=len, reverse=True):
        text = re.sub(rf"{re.escape(folder)}(?![\w-])", _GONE, text)
    text = _WINDOWS_PATH.sub(rf"{_GONE}\\\1", text)
    text = _PATH.sub(rf"{_GONE}/\1", text)
    for name in sorted(set(_names()) - _NO_NAMES, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", _GONE, text, flags=re.IGNORECASE)
    return text


def redact(conformance: Conformance) -> Conformance:
    """Return the verdicts with every free text redacted.

    The data of a run, such as names of queues, bodies, keys and scenarios, is unchanged.
    """
    subject = conformance.subject
    public = cache(redact_text)  # hundreds of rules share a cause
    return attrs.evolve(
        conformance,
        subject=attrs.evolve(
            subject,
            adapter=_adapter(subject.adapter),
            commit=redact_text(subject.commit),
            url=_link(subject.url),
            contact=redact_text(subject.contact),
        ),
        again=_again(conformance.again),
        rules=tuple(_rule(rule, public) for rule in conformance.rules),
        problems=tuple(public(problem) for problem in conformance.problems),
        known_failures=tuple(_redact_known(known) for known in conformance.known_failures),
        unjudged=tuple(
            attrs.evolve(one, names=tuple(map(public, one.names))) for one in conformance.unjudged
        ),
    )


def _adapter(adapter: str) -> str:
    if _ADAPTER_NAME.fullmatch(adapter):
        return adapter
    return redact_text(_COMMAND_OR_KEYS.sub(rf"\1{_GONE}", adapter))


def _again(command: str) -> str:
    """Return a command for copying, in which the private command line of an adapter is replaced."""
    words = shlex.split(command)
    public = ["exec:COMMAND" if word.startswith("exec:") else word for word in words]
    return redact_text(command if public == words else shlex.join(public))


def _redact_known(known: KnownFailure) -> KnownFailure:
    """Return a known failure redacted; its link is kept, except for a key in the link."""
    return attrs.evolve(known, reason=redact_text(known.reason), link=_link(known.link))


def _link(link: str) -> str:
    link = _SECRET.sub(rf"\1\2{_GONE}", _USER_INFO.sub(f"{_GONE}@", link))
    return link if _WEB.match(link) else redact_text(link)


def _rule(rule: RuleVerdict, public: Callable[[str], str]) -> RuleVerdict:
    example = rule.counterexample
    return attrs.evolve(
        rule,
        cause=public(rule.cause),
        again=_again(rule.again),
        counterexample=None if example is None else _example(example),
    )


def _example(example: Counterexample) -> Counterexample:
    return attrs.evolve(
        example,
        seen=redact_text(example.seen),
        allowed=tuple(redact_text(outcome) for outcome in example.allowed),
        events=tuple(_event(event) for event in example.events),
    )


def _event(event: v.Event) -> v.Event:
    match event.outcome:
        case v.Refused() | v.Indeterminate() | v.Unsupported():
            detail = redact_text(event.outcome.detail)
            return attrs.evolve(event, outcome=attrs.evolve(event.outcome, detail=detail))
        case _:
            return event


def _folders() -> Iterator[str]:
    """Yield the home folder and the current folder, as written and as resolved."""
    for find in (Path.home, Path.cwd):
        with suppress(OSError, RuntimeError):
            for folder in (find(), find().resolve()):
                if len(folder.parts) > 1:
                    yield str(folder)


def _names() -> Iterator[str]:
    host = socket.gethostname()
    yield host
    yield host.partition(".")[0]
    with suppress(OSError, KeyError, ImportError):
        yield getpass.getuser()
