"""Requests to the management node of an entity, and the replies to them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import attrs
from proton import Message

from busproof import vocabulary as v
from busproof.adapters.amqp.rules import rule_of
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.amqp.subscription_rules import action_of, filter_of
from busproof.errors import AdapterError
from busproof.recorder.frames import Unreadable, plain
from busproof.recorder.messages import Content, Privacy, content_of
from busproof.recorder.names import subscription_of
from busproof.recorder.outcomes import classify_error
from busproof.recorder.requests import Call

__all__ = ["READS", "Reply", "Request", "body_of", "outcomes_of", "reply_of", "request_of"]

READS: Final = (v.Peek, v.GetSessionState, v.ListSessions, v.ListRules)
"""Requests that change nothing, so that one without an answer may be left out."""
PREFIX: Final = "com.microsoft:"
NO_CONTENT: Final = 204
NOTHING: Final = 404
"""A peek's and a list's status if there is nothing, besides `NO_CONTENT`."""
STATUSES: Final = ("statusCode", "status-code")
DESCRIPTIONS: Final = ("statusDescription", "status-description")
CONDITIONS: Final = ("errorCondition", "error-condition")
MILLISECOND: Final = 1000
PAGE: Final = 100
END_OF_TIME: Final = 253_402_300_799_000
"""A `last-updated-time` from here on requests the sessions that have messages."""

Fields = Mapping[str, Any]


class Scheduler(Protocol):
    """Whoever knows the time of the recording."""

    def schedule(self, path: str, content: Content, transaction: str | None) -> v.Schedule:
        """Return the command that schedules a message."""

    def age_of(self, moment: int) -> int | None:
        """Return how long ago a time in milliseconds since 1970 is, in microseconds."""


@attrs.define(eq=False)
class Request:
    """A request to a management node.

    Attributes:
        number: what identifies it among those of its connection.
        operation: its operation, without the common prefix.
        fields: its body.
        commands: the commands of the vocabulary that it is; none if no history can say it.
        calls: these commands as the recording has them, once they have begun.
    """

    number: Any
    operation: str
    fields: Fields
    commands: list[v.Command]
    calls: list[Call] = attrs.field(factory=list)


@attrs.frozen
class Reply:
    """A reply: the number of its request, its status, and its body."""

    number: Any
    status: int
    description: str
    condition: str
    fields: Fields


def request_of(
    raw: bytes, path: str, transaction: str | None, privacy: Privacy, scheduler: Scheduler
) -> Request | None:
    """Read a request; `None` if nobody could answer it.

    Raises:
        Unreadable: it cannot be read.
    """
    message = _message(raw)
    named = _properties(message)
    operation = _text(named.get("operation")).removeprefix(PREFIX)
    body = plain(message.body)
    fields = {str(key): value for key, value in body.items()} if isinstance(body, dict) else {}
    number = plain(message.id)
    if number is None:
        return None
    try:
        commands = list(_commands(operation, fields, path, transaction, privacy, scheduler))
    # What the service will refuse for its fields, no history can say either.
    except (AttributeError, LookupError, Refusal, TypeError, Unreadable, ValueError):
        commands = []
    return Request(number, operation, fields, commands)


def _commands(  # noqa: PLR0912, C901 - one case for each operation
    operation: str,
    fields: Fields,
    path: str,
    transaction: str | None,
    privacy: Privacy,
    scheduler: Scheduler,
) -> Iterator[v.Command]:
    session_id = privacy.text(_text_or_none(fields.get("session-id")))
    match operation:
        case "peek-message":
            first = int(fields["from-sequence-number"])
            yield v.Peek(
                queue=path,
                count=int(fields["message-count"]),
                session_id=session_id,
                from_sequence_number=first if first > 0 else None,
            )
        case "receive-by-sequence-number":
            locks = bool(int(fields.get("receiver-settle-mode") or 0))
            yield v.ReceiveDeferred(
                queue=path,
                sequence_numbers=tuple(int(number) for number in fields["sequence-numbers"]),
                mode=v.ReceiveMode.PEEK_LOCK if locks else v.ReceiveMode.RECEIVE_AND_DELETE,
                session_id=session_id,
            )
        case "renew-lock":
            tokens = tuple(str(token) for token in fields["lock-tokens"])
            if len(tokens) == 1:
                yield v.RenewLock(queue=path, lock_token=tokens[0])
            else:
                yield v.RenewLocks(queue=path, lock_tokens=tokens)
        case "update-disposition":
            yield from _settlements(fields, path, transaction)
        case "schedule-message":
            for entry in fields["messages"]:
                content = content_of(bytes(entry["message"]), privacy, is_sent=True)
                yield scheduler.schedule(path, content, transaction)
        case "cancel-scheduled-message":
            for number in fields["sequence-numbers"]:
                yield v.CancelScheduled(queue=path, sequence_number=int(number))
        case "batch-delete-messages":
            yield v.DeleteBatch(
                queue=path,
                count=int(fields["message-count"]),
                age=scheduler.age_of(int(fields["enqueued-time-utc"])),
            )
        case "renew-session-lock":
            yield v.RenewSessionLock(queue=path, session_id=session_id or "")
        case "set-session-state":
            state = fields.get("session-state")
            text = None if state is None else privacy.body(bytes(state))
            yield v.SetSessionState(queue=path, session_id=session_id or "", state=text)
        case "get-session-state":
            yield v.GetSessionState(queue=path, session_id=session_id or "")
        case "get-message-sessions":
            since = fields.get("last-updated-time")
            if (since is None or int(since) >= END_OF_TIME) and not fields.get("skip"):
                yield v.ListSessions(queue=path)
        case "add-rule" | "remove-rule" | "enumerate-rules":
            topic, subscription = subscription_of(path)
            of = {"topic": topic, "subscription": subscription}
            if operation == "add-rule":
                described = {str(key): value for key, value in fields["rule-description"].items()}
                chosen = filter_of(described)
                action = action_of(described)
                yield v.AddRule(
                    **of,
                    rule=str(fields["rule-name"]),
                    filter=chosen,
                    action=action,
                    transaction=transaction,
                )
            elif operation == "remove-rule":
                yield v.RemoveRule(**of, rule=str(fields["rule-name"]), transaction=transaction)
            elif not fields.get("skip"):
                yield v.ListRules(**of)


KINDS: Final[dict[str, v.Disposition]] = {
    "completed": v.Disposition.COMPLETE,
    "abandoned": v.Disposition.ABANDON,
    "defered": v.Disposition.DEFER,
    "deferred": v.Disposition.DEFER,
    "suspended": v.Disposition.DEAD_LETTER,
}
"""Settlements by their names in requests; `defered` is the protocol's spelling."""


def _settlements(fields: Fields, path: str, transaction: str | None) -> Iterator[v.Command]:
    together = v.SettleBatch(
        queue=path,
        lock_tokens=tuple(str(token) for token in fields["lock-tokens"]),
        disposition=KINDS[str(fields["disposition-status"]).lower()],
        reason=str(fields.get("deadletter-reason") or ""),
    )
    settlements = together.settlements()
    if len(settlements) > 1 and transaction is None:
        yield together
    else:
        yield from (attrs.evolve(one, transaction=transaction) for one in settlements)


def reply_of(raw: bytes) -> Reply:
    """Read a reply.

    Raises:
        Unreadable: it cannot be read.
    """
    message = _message(raw)
    named = _properties(message)
    body = plain(message.body)
    return Reply(
        plain(message.correlation_id),
        int(_first(named, STATUSES) or 0),
        _text(_first(named, DESCRIPTIONS)),
        _text(_first(named, CONDITIONS)),
        {str(key): value for key, value in body.items()} if isinstance(body, dict) else {},
    )


def outcomes_of(
    request: Request, reply: Reply, privacy: Privacy, released: Mapping[str, set[int]]
) -> Sequence[v.Outcome]:
    """Return the outcome of each command of a request.

    `Unsupported` means that no history can say what was answered; its detail says what that is.
    """
    commands = request.commands
    nothing = reply.status == NO_CONTENT or (
        reply.status == NOTHING and isinstance(commands[0], v.Peek | v.ListSessions | v.ListRules)
    )
    if nothing or 200 <= reply.status < 300:
        try:
            return [
                _answer(request, index, command, reply, privacy, released, nothing=nothing)
                for index, command in enumerate(commands)
            ]
        except (AdapterError, LookupError, TypeError, Unreadable, ValueError):
            said = v.Indeterminate(detail=f"the reply to {request.operation} cannot be read")
            return [said] * len(commands)
    condition = reply.condition or f"http:{reply.status}"
    return [classify_error(condition, reply.description)] * len(commands)


def _answer(  # noqa: PLR0911 - one case for each kind of command
    request: Request,
    index: int,
    command: v.Command,
    reply: Reply,
    privacy: Privacy,
    released: Mapping[str, set[int]],
    *,
    nothing: bool,
) -> v.Outcome:
    fields = {} if nothing else reply.fields
    match command:
        case v.Peek():
            return v.Peeked(messages=tuple(_views(fields, privacy, locks=False)))
        case v.ReceiveDeferred(mode=mode, queue=path):
            locks = mode is v.ReceiveMode.PEEK_LOCK
            views = _views(fields, privacy, locks=locks)
            given_back = released.get(path, ())
            return v.ReceivedSeveral(
                messages=tuple(
                    attrs.evolve(view, delivery_count=None)
                    if view.sequence_number in given_back
                    else view
                    for view in views
                )
            )
        case v.DeleteBatch():
            return v.Deleted(count=int(fields.get("message-count") or 0))
        case v.RenewLock() | v.RenewSessionLock():
            return v.Renewed()
        case v.RenewLocks():
            return v.RenewedSeveral()
        case v.Schedule():
            return v.Scheduled(sequence_number=int(fields["sequence-numbers"][index]))
        case v.GetSessionState():
            state = fields.get("session-state")
            return v.SessionState(state=None if state is None else privacy.body(bytes(state)))
        case v.ListSessions():
            found = list(fields.get("sessions-ids") or [])
            # A full page has others behind it, and only all of them together are an answer.
            if len(found) >= int(request.fields.get("top") or PAGE):
                return v.Unsupported(detail="lists of sessions of several pages")
            names = (privacy.text(str(name)) or "" for name in found)
            return v.SessionsListed(session_ids=tuple(names))
        case v.ListRules():
            rules = list(fields.get("rules") or [])
            if len(rules) >= int(request.fields.get("top") or PAGE):
                return v.Unsupported(detail="lists of rules of several pages")
            return v.RulesListed(rules=tuple(rule_of(one["rule-description"]) for one in rules))
    return v.Done()


def _views(fields: Fields, privacy: Privacy, *, locks: bool) -> Iterator[v.MessageView]:
    for entry in fields.get("messages") or ():
        content = content_of(bytes(entry["message"]), privacy)
        token = str(entry["lock-token"]) if locks else None
        view = content.view(token)
        yield view if not locks else attrs.evolve(view, state=None)


def body_of(raw: bytes) -> Any:
    """Return the body of a message that is an AMQP value.

    Raises:
        Unreadable: it cannot be read.
    """
    # The binaries within are those of the message, and are lost with it.
    message = _message(raw)
    return plain(message.body)


def _message(raw: bytes) -> Message:
    message = Message()
    try:
        message.decode(raw)
    except Exception as error:  # noqa: BLE001 - Proton raises many errors for malformed bytes
        raise Unreadable(f"a request or reply cannot be read: {error}") from None
    return message


def _properties(message: Message) -> Fields:
    properties: Any = message.properties or {}
    return {_text(plain(key)): plain(value) for key, value in properties.items()}


def _first(named: Fields, names: Sequence[str]) -> Any:
    return next((named[name] for name in names if named.get(name) is not None), None)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)
