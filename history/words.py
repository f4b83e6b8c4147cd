"""Requests, answers and events in the words of the domain, each on one line.

Whatever text came over the wire is quoted and escaped, so that a line stays a line.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, assert_never

import attrs

from busproof.model.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AddRule,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CancelScheduled,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
    DeleteQueue,
    GetQueue,
    GetSessionState,
    ListQueues,
    ListRules,
    ListSessions,
    Peek,
    Receive,
    ReceiveDeferred,
    RemoveRule,
    RenewLock,
    RenewSessionLock,
    RestoreQueue,
    RollBackTransaction,
    Schedule,
    Send,
    SetSessionState,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.model.filters import (
    CorrelationFilter,
    FalseFilter,
    Filter,
    SqlFilter,
    TrueFilter,
)
from busproof.model.outcomes import (
    Described,
    Done,
    Empty,
    Event,
    Indeterminate,
    Listed,
    Outcome,
    Peeked,
    QueueDescription,
    Received,
    ReceivedSeveral,
    Refused,
    Renewed,
    RulesListed,
    Scheduled,
    SessionAccepted,
    SessionsListed,
    SessionState,
    Unsupported,
)
from busproof.model.values import MICROSECONDS, SEQUENCE_BITS, Message, MessageView

__all__ = [
    "PROPERTIES",
    "Told",
    "command_words",
    "event_words",
    "one_line",
    "outcome_words",
    "seconds",
    "story",
]

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:/+$-]{1,64}")
"""A name that needs no quotes."""

PROPERTIES: Final = {
    "MessageId": "message_id",
    "SessionId": "session_id",
    "PartitionKey": "partition_key",
    "CorrelationId": "correlation_id",
    "To": "to",
    "ReplyTo": "reply_to",
    "Label": "subject",
    "ReplyToSessionId": "reply_to_session_id",
    "ContentType": "content_type",
}
"""The properties that a sender can set, as the documents call them."""
_PARTITIONED: Final = {True: "partitioned", False: "not partitioned", None: "partitioned or not"}

_LONGEST: Final = 80
_HEAD: Final = 48
_TAIL: Final = 16

_Management = RestoreQueue | GetQueue | ListQueues | UpdateQueue | DeleteQueue

_OfALock = Complete | Abandon | DeadLetter | Defer | RenewLock

_SessionCommands = (
    AcceptSession
    | AcceptNextSession
    | RenewSessionLock
    | CloseSession
    | SetSessionState
    | GetSessionState
    | ListSessions
)

_RestOfCommands = (
    CreateTopic
    | CreateSubscription
    | AddRule
    | RemoveRule
    | ListRules
    | _SessionCommands
    | Schedule
    | CancelScheduled
    | BeginTransaction
    | CommitTransaction
    | RollBackTransaction
    | TakePartitionDown
    | BringPartitionUp
)


@attrs.frozen(kw_only=True)
class Told:
    """One event of a story: who asked and when, where it matters; what was asked; what came."""

    who: str = ""
    asked: str
    came: str

    def __str__(self) -> str:
        asked = f"{self.who}: {self.asked}" if self.who else self.asked
        return f"{asked} -> {self.came}"


def seconds(duration: int) -> str:
    """A time or duration in microseconds as seconds, exactly."""
    whole, rest = divmod(abs(duration), MICROSECONDS)
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if duration < 0 else ''}{whole}{fraction} s"


def one_line(text: str) -> str:
    """The same text on one line, with every character that does not print escaped."""
    spaced = " ".join(text.split())
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in spaced)


def command_words(command: Command) -> str:  # noqa: PLR0911 - one return a case
    """What is asked, such as `Send to q: body 'm1', SessionId 'a'`; defaults are left out."""
    match command:
        case CreateQueue():
            return _create_words(command)
        case RestoreQueue() | GetQueue() | ListQueues() | UpdateQueue() | DeleteQueue():
            return _management_words(command)
        case Send():
            return _send_words(command)
        case Receive(queue=queue, mode=mode, session_id=session):
            source = _name(queue) if session is None else _session(queue, session)
            return f"Receive from {source} ({mode.value})"
        case Complete() | Abandon() | DeadLetter() | Defer() | RenewLock():
            return _of_a_lock_words(command)
        case Peek(queue=queue, count=count, session_id=session):
            source = _name(queue) if session is None else _session(queue, session)
            return f"Peek at up to {_counted(count, 'message')} of {source}"
        case ReceiveDeferred(queue=queue, mode=mode, session_id=session):
            source = _name(queue) if session is None else _session(queue, session)
            numbers = ", ".join(_plain_number(each) for each in command.sequence_numbers)
            return f"Receive deferred {numbers} from {source} ({mode.value})"
        case AdvanceClock(duration=duration):
            return f"Advance the clock by {seconds(duration)}"
        case _:
            return _rest_words(command)


def _of_a_lock_words(command: _OfALock) -> str:
    what = {DeadLetter: "Dead-letter", RenewLock: "Renew"}.get(
        type(command), type(command).__name__
    )
    told = f"{what} on {_name(command.queue)}: lock {_name(command.lock_token)}"
    why = command.reason if isinstance(command, DeadLetter) else None
    return f"{told}, reason {_quoted(why)}" if why else told


def outcome_words(  # noqa: PLR0911 - one return a case
    outcome: Outcome, *, partitioned: bool = True
) -> str:
    """What came, such as `Refused: invalid-operation`.

    Args:
        outcome: what came.
        partitioned: whether sequence numbers name a partition in their upper bits.
    """
    match outcome:
        case Done():
            return "Done"
        case Received(message=view):
            return f"Received {_view_words(view, partitioned)}"
        case ReceivedSeveral(messages=views):
            return _several_words([_view_words(view, partitioned) for view in views])
        case Empty():
            return "Empty"
        case Peeked(messages=views):
            return _peeked_words([_view_words(view, partitioned) for view in views])
        case Scheduled(sequence_number=number):
            return "Scheduled" if number is None else f"Scheduled as {_plain_number(number)}"
        case SessionAccepted() | SessionState() | SessionsListed() | Renewed():
            return _session_outcome_words(outcome)
        case Described() | Listed() | RulesListed():
            return _management_outcome_words(outcome)
        case Refused(error=error, detail=detail):
            return f"Refused: {error.value}{_detail(detail)}"
        case Indeterminate(detail=detail):
            return f"Indeterminate: no answer came{_detail(detail)}"
        case Unsupported(detail=detail):
            return f"Unsupported{_detail(detail)}"
        case _:
            assert_never(outcome)


def _session_outcome_words(
    outcome: SessionAccepted | SessionState | SessionsListed | Renewed,
) -> str:
    match outcome:
        case SessionAccepted(session_id=session):
            return f"Accepted session {_quoted(session)}"
        case SessionState(state=state):
            return "No state" if state is None else f"State {_quoted(state)}"
        case SessionsListed(session_ids=sessions):
            return f"Listed {', '.join(map(_quoted, sessions))}" if sessions else "Listed nothing"
        case Renewed(locked_until=until):
            return "Renewed" if until is None else f"Renewed: locked until {seconds(until)}"


def event_words(event: Event) -> str:
    """What was asked and what came; `story` also tells clients and times apart."""
    return str(_told(event, who="", partitioned=True))


def story(events: Iterable[Event]) -> tuple[Told, ...]:
    """What happened, in order; clients and times are named where they differ at all."""
    return tuple(_tell(list(events)))


def _tell(events: list[Event]) -> Iterator[Told]:
    several = len({(event.client, event.connection) for event in events}) > 1
    timed = any(event.called or event.returned for event in events)
    regular: set[str] = set()
    for event in events:
        if isinstance(event.command, CreateQueue) and not event.command.partitioned:
            regular.add(event.command.queue)
        if isinstance(event.command, CreateTopic) and not event.command.partitioned:
            regular.add(event.command.topic)
        parts = [_client(event)] * several + [_times(event)] * timed
        queue = str(getattr(event.command, "queue", "")).removesuffix("/$deadletterqueue")
        partitioned = queue.partition("/subscriptions/")[0] not in regular
        yield _told(event, who=" ".join(parts), partitioned=partitioned)


def _told(event: Event, *, who: str, partitioned: bool) -> Told:
    came = outcome_words(event.outcome, partitioned=partitioned)
    if event.witness is not None:
        came += f" (partition {event.witness.partition})"
    return Told(who=who, asked=command_words(event.command), came=came)


def _client(event: Event) -> str:
    client, connection = _name(event.client), _name(event.connection)
    return client if client == connection else f"{client} over {connection}"


def _times(event: Event) -> str:
    if event.returned is None or event.returned == event.called:
        return f"at {seconds(event.called)}"
    return f"at {seconds(event.called)} to {seconds(event.returned)}"


def _create_words(command: CreateQueue) -> str:
    return f"Create queue {_name(command.queue)}: {_settings_words(command)}"


def _settings_words(command: CreateQueue) -> str:
    parts = [_PARTITIONED[command.partitioned]]
    sessions, *others = _receiving_parts(command)
    parts.append(sessions)
    if command.duplicate_detection:
        parts.append(f"duplicate detection over {seconds(command.duplicate_window)}")
    parts += others
    if command.max_size is not None:
        parts.append(f"size {command.max_size} GB")
    if command.api_version is not None:
        parts.append(f"api-version {_name(command.api_version)}")
    return ", ".join(part for part in parts if part)


def _management_outcome_words(outcome: Described | Listed | RulesListed) -> str:
    match outcome:
        case Described(description=told):
            return f"Described {_description_words(told)}"
        case Listed(names=names):
            return f"Listed {', '.join(_name(each) for each in names) or 'nothing'}"
        case RulesListed(rules=rules):
            listed = (f"{_name(each.name)} ({_filter_words(each.filter)})" for each in rules)
            return f"Listed rules: {', '.join(listed) or 'none'}"
        case _:
            assert_never(outcome)


def _management_words(command: _Management) -> str:
    match command:
        case RestoreQueue(queue=queue):
            return f"Begin with queue {_name(queue)}: {_restored_words(command)}"
        case GetQueue(queue=queue):
            return f"Get queue {_name(queue)}"
        case ListQueues():
            return "List queues"
        case UpdateQueue(queue=queue):
            changes = _told_words(attrs.asdict(command, filter=_is_told))
            return f"Update queue {_name(queue)}: {changes or 'nothing'}"
        case DeleteQueue(queue=queue):
            return f"Delete queue {_name(queue)}"
        case _:
            assert_never(command)


def _restored_words(command: RestoreQueue) -> str:
    settings = CreateQueue(**attrs.asdict(command))
    return _settings_words(settings)


def _is_told(field: "attrs.Attribute[object]", value: object) -> bool:
    return field.name != "queue" and value is not None


def _description_words(told: QueueDescription) -> str:
    parts = _told_words(attrs.asdict(told, filter=_is_told))
    return f"{_name(told.queue)}: {parts}" if parts else _name(told.queue)


def _told_words(settings: dict[str, object]) -> str:
    return ", ".join(_SETTINGS[name](value) for name, value in settings.items())


def _topic_words(command: CreateTopic) -> str:
    parts = ["partitioned" if command.partitioned else "not partitioned"]
    if command.duplicate_detection:
        parts.append(f"duplicate detection over {seconds(command.duplicate_window)}")
    if command.time_to_live is not None:
        parts.append(f"messages live {seconds(command.time_to_live)}")
    return f"Create topic {_name(command.topic)}: {', '.join(parts)}"


def _subscription_words(command: CreateSubscription) -> str:
    parts = [part for part in _receiving_parts(command) if part]
    words = f"Create subscription {_name(command.subscription)} of topic {_name(command.topic)}"
    return f"{words}: {', '.join(parts)}" if parts else words


def _rule_words(command: AddRule | RemoveRule | ListRules) -> str:
    of = f"subscription {_name(command.subscription)} of topic {_name(command.topic)}"
    if isinstance(command, ListRules):
        return f"List the rules of {of}"
    within = "" if command.transaction is None else f", in transaction {_name(command.transaction)}"
    if isinstance(command, RemoveRule):
        return f"Remove rule {_name(command.rule)} from {of}{within}"
    return f"Add rule {_name(command.rule)} to {of}: {_filter_words(command.filter)}{within}"


def _filter_words(wanted: Filter) -> str:
    match wanted:
        case TrueFilter():
            return "everything"
        case FalseFilter():
            return "nothing"
        case SqlFilter(expression=expression):
            return f"SQL {_quoted(expression)}"
        case CorrelationFilter():
            return ", ".join(_properties(wanted)) or "no condition"


def _receiving_parts(command: CreateQueue | CreateSubscription) -> list[str]:
    """What differs from the defaults of all that can be received from; sessions come first."""
    defaults = attrs.fields_dict(type(command))
    parts = ["requires sessions" if command.requires_session else ""]
    if command.lock_duration != defaults["lock_duration"].default:
        parts.append(f"locks of {seconds(command.lock_duration)}")
    if command.max_delivery_count != defaults["max_delivery_count"].default:
        parts.append(f"max delivery count {command.max_delivery_count}")
    if command.forward_to is not None:
        parts.append(f"forwards to {_name(command.forward_to)}")
    if command.time_to_live is not None:
        parts.append(f"messages live {seconds(command.time_to_live)}")
    if command.dead_letter_expired:
        parts.append("dead-letters expired messages")
    return parts


def _send_words(command: Send) -> str:
    parts = [f"body {_quoted(command.message.body)}", *_properties(command.message)]
    if command.message.size is not None:
        parts.append(_counted(command.message.size, "byte"))
    if command.timeout != attrs.fields(Send).timeout.default:
        parts.append(f"timeout {seconds(command.timeout)}")
    if command.transaction is not None:
        parts.append(f"in transaction {_name(command.transaction)}")
    return f"Send to {_name(command.queue)}: {', '.join(parts)}"


def _schedule_words(command: Schedule) -> str:
    parts = [f"body {_quoted(command.message.body)}", *_properties(command.message)]
    parts.append(f"due in {seconds(command.delay)}")
    if command.transaction is not None:
        parts.append(f"in transaction {_name(command.transaction)}")
    return f"Schedule to {_name(command.queue)}: {', '.join(parts)}"


def _rest_words(command: _RestOfCommands) -> str:  # noqa: PLR0911 - one return a case
    match command:
        case CreateTopic():
            return _topic_words(command)
        case CreateSubscription():
            return _subscription_words(command)
        case AddRule() | RemoveRule() | ListRules():
            return _rule_words(command)
        case Schedule():
            return _schedule_words(command)
        case CancelScheduled(queue=queue, sequence_number=number):
            return f"Cancel the scheduled message {_plain_number(number)} of {_name(queue)}"
        case BeginTransaction(transaction=transaction):
            return f"Begin transaction {_name(transaction)}"
        case CommitTransaction(transaction=transaction):
            return f"Commit transaction {_name(transaction)}"
        case RollBackTransaction(transaction=transaction):
            return f"Roll back transaction {_name(transaction)}"
        case TakePartitionDown(queue=queue, partition=partition):
            return f"Take partition {partition} of {_name(queue)} down"
        case BringPartitionUp(queue=queue, partition=partition):
            return f"Bring partition {partition} of {_name(queue)} up"
        case _:
            return _session_words(command)


def _session_words(command: _SessionCommands) -> str:  # noqa: PLR0911 - one return a case
    match command:
        case AcceptSession(queue=queue, session_id=session):
            return f"Accept {_session(queue, session)}"
        case AcceptNextSession(queue=queue):
            return f"Accept the next session of {_name(queue)}"
        case RenewSessionLock(queue=queue, session_id=session):
            return f"Renew the lock of {_session(queue, session)}"
        case CloseSession(queue=queue, session_id=session):
            return f"Close {_session(queue, session)}"
        case SetSessionState(queue=queue, session_id=session, state=state):
            stored = "Remove the state" if state is None else f"Set the state {_quoted(state)}"
            return f"{stored} of {_session(queue, session)}"
        case GetSessionState(queue=queue, session_id=session):
            return f"Get the state of {_session(queue, session)}"
        case ListSessions(queue=queue):
            return f"List the sessions of {_name(queue)}"
        case _:
            assert_never(command)


def _plain_number(number: int) -> str:
    """A sequence number as it was asked for: whatever its upper bits name, if they name any."""
    partition, within = divmod(number, 1 << SEQUENCE_BITS)
    return f"{within} of partition {partition}" if partition > 0 else str(number)


def _several_words(views: list[str]) -> str:
    number = f"{len(views)} messages: " if len(views) > 1 else ""
    return f"Received {number}{'; '.join(views)}" if views else "Received nothing"


def _peeked_words(views: list[str]) -> str:
    if not views:
        return "Peeked nothing"
    number = f"{len(views)} messages: " if len(views) > 1 else ""
    return f"Peeked {number}{'; '.join(views)}"


def _view_words(view: MessageView, partitioned: bool) -> str:
    parts = ", ".join(_parts_of_view(view, partitioned))
    words = ", ".join([_quoted(view.body), *_properties(view)])
    return f"{words} ({parts})" if parts else words


def _parts_of_view(view: MessageView, partitioned: bool) -> Iterator[str]:
    if view.sequence_number is not None:
        yield _number_words(view.sequence_number, partitioned)
    if view.delivery_count is not None:
        yield f"delivery count {view.delivery_count}"
    if view.lock_token is not None:
        yield f"lock {_name(view.lock_token)}"
    if view.locked_until is not None:
        yield f"locked until {seconds(view.locked_until)}"
    if view.state is not None:
        yield view.state.value
    if view.dead_letter_reason is not None:
        yield f"dead-lettered for {_quoted(view.dead_letter_reason)}"


def _number_words(number: int, partitioned: bool) -> str:
    if not partitioned or number < 0:
        return f"sequence number {number}"
    partition, within = divmod(number, 1 << SEQUENCE_BITS)
    return f"partition {partition}, sequence number {within}"


def _properties(message: Message | MessageView | CorrelationFilter) -> Iterator[str]:
    for name, field in PROPERTIES.items():
        value = getattr(message, field, None)
        if value is not None:
            yield f"{name} {_quoted(value)}"
    for name, own in sorted(message.properties.items()):
        yield f"property {_name(name)} {_quoted(own) if isinstance(own, str) else repr(own)}"
    life = getattr(message, "time_to_live", None)
    if life is not None:
        yield f"time to live {seconds(life)}"


def _session(queue: str, session: str) -> str:
    return f"session {_quoted(session)} of {_name(queue)}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _detail(detail: str) -> str:
    return f" ({one_line(detail)})" if detail else ""


def _name(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    if len(text) <= _LONGEST:
        return repr(text)
    return f"{text[:_HEAD] + '…' + text[-_TAIL:]!r} of {len(text)} characters"


_SETTINGS: Final[dict[str, Callable[[Any], str]]] = {
    "partitioned": _PARTITIONED.__getitem__,
    "requires_session": lambda yes: "requires sessions" if yes else "no sessions required",
    "duplicate_detection": lambda yes: "duplicate detection" if yes else "no duplicate detection",
    "duplicate_window": lambda window: f"duplicate window {seconds(window)}",
    "lock_duration": lambda duration: f"locks of {seconds(duration)}",
    "max_delivery_count": lambda count: f"max delivery count {count}",
    "time_to_live": lambda life: f"messages live {seconds(life)}",
    "max_size": lambda size: f"size {size} GB",
    "message_count": lambda count: _counted(count, "message"),
    "size": lambda size: _counted(size, "byte"),
    "availability": str,
}
"""How each setting, and each thing that is told of a queue, is worded."""
