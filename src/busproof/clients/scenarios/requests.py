"""Requests to management nodes and to `$cbs`, wherever a scenario leads to some."""

from collections.abc import Iterator
from typing import Any, Final

from proton import Message

from busproof.clients.scenario import Finding, break_rule, keep_rule
from busproof.clients.wire import Link, Record, fields_of

__all__ = ["judge_requests", "operation_of", "properties_of", "settlements_asked"]

PREFIX: Final = "com.microsoft:"
DISPOSE: Final = "com.microsoft:update-disposition"


def properties_of(message: Message) -> dict[str, Any]:
    """Return a message's application properties, as text where they are bytes."""
    properties: Any = message.properties or {}
    return {
        str(name): bytes(value).decode("utf-8", "replace")
        if isinstance(value, bytes | memoryview)
        else value
        for name, value in properties.items()
    }


def operation_of(message: Message) -> str:
    """Return the operation of a request; empty if it names none."""
    return str(properties_of(message).get("operation", ""))


def settlements_asked(record: Record) -> dict[str, str]:
    """Return the settlements that were asked for by requests: status by lock token."""
    asked: dict[str, str] = {}
    for _, transfer in record.requests():
        body = transfer.body
        if operation_of(transfer.message) == DISPOSE and isinstance(body, dict):
            for token in body.get("lock-tokens") or ():
                asked[str(token)] = str(body.get("disposition-status"))
    return asked


def judge_requests(record: Record) -> Iterator[Finding]:
    """Find out whether all requests to management nodes are well formed."""
    wrong, seen = [], []
    for link, transfer in record.requests():
        message = transfer.message
        operation = operation_of(message)
        seen.append(operation)
        wrong += [f"{operation or 'a request'}: {one}" for one in _flaws(record, link, message)]
    if wrong:
        yield break_rule("CLIENT-23", "; ".join(dict.fromkeys(wrong)))
    elif seen:
        names = ", ".join(sorted(set(seen)))
        yield keep_rule("CLIENT-23", f"{len(seen)} requests are well formed: {names}")


def _flaws(record: Record, link: Link, message: Message) -> Iterator[str]:
    if not operation_of(message).startswith(PREFIX):
        yield f"its operation is {operation_of(message)!r}"
    if message.id is None:
        yield "it has no message-id, by which its answer would be known"
    # Some clients name the link in place of its target, which the service takes as well.
    addresses = {
        name
        for one in record.of("management", receives=True, entity=link.address)
        if one.connection == link.connection
        for name in (one.name, str(next(iter(fields_of(one.target)), None)))
    }
    if message.reply_to is None or message.reply_to not in addresses:
        yield f"its reply-to is {message.reply_to!r}, and a link receives at {sorted(addresses)}"
    if not isinstance(message.body, dict):
        yield f"its body is no map, but a {type(message.body).__name__}"
