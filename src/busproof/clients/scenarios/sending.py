"""Messages as the client writes them: keys, names and properties, with little credit."""

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from busproof.clients.scenario import Evidence, Finding, Scenario, break_rule, keep_rule, miss_rule
from busproof.clients.scenarios.requests import judge_requests, operation_of
from busproof.clients.wire import BATCH_FORMAT, Link, Record, Transfer, message_in

if TYPE_CHECKING:
    from proton import Message

    from busproof.broker.embedding import Embedded

__all__ = ["SCENARIOS", "judge_credit", "make_queue"]

QUEUE: Final = "orders"
KEY: Final = "x-opt-partition-key"
CREDIT: Final = 2
DUE: Final = "x-opt-scheduled-enqueue-time"
SCHEDULE: Final = "com.microsoft:schedule-message"
EXACT: Final = 120.0
"""How far a due time may be off, in seconds: the program begins when it begins."""


def make_queue(bus: "Embedded") -> None:
    """Create a partitioned queue."""
    bus.queue(QUEUE)


def messages_by_body(record: Record) -> dict[str, "Message"]:
    """Return the messages sent to the queue, by the texts of their bodies."""
    return {
        text_of(message): message
        for transfer in record.sent(QUEUE)
        for message in transfer.messages
    }


def text_of(message: "Message") -> str:
    """Return the text of a message's body, however it is encoded."""
    body: Any = message.body
    if isinstance(body, bytes | memoryview):
        return bytes(body).decode("utf-8", "replace").strip('"')
    return str(body).strip('"')


def key_of(message: "Message") -> Any:
    """Return the partition key that a message has on the wire; `None` if it has none."""
    return {str(name): value for name, value in (message.annotations or {}).items()}.get(KEY)


def _judge_keys(evidence: Evidence) -> Iterator[Finding]:
    sent = messages_by_body(evidence.record)
    cases = (
        ("in-session", "CLIENT-01", "group-id", lambda message: message.group_id, "s1"),
        ("with-key", "CLIENT-02", KEY, key_of, "k1"),
    )
    for body, rule, field, read, wanted in cases:
        if body not in sent:
            yield miss_rule(rule, f"the message {body!r} was not sent")
            continue
        found = read(sent[body])
        said = f"{field} of the message {body!r} is {found!r}"
        if found == wanted:
            yield keep_rule(rule, said)
        else:
            yield break_rule(rule, f"{said}; the task says {wanted!r}")
    yield _judge_plain(sent)


def _judge_plain(sent: "dict[str, Message]") -> Finding:
    rule = "CLIENT-03"
    if "plain" not in sent:
        return miss_rule(rule, "the message 'plain' was not sent")
    session, key = sent["plain"].group_id, key_of(sent["plain"])
    if session is None and key is None:
        return keep_rule(rule, "the message 'plain' was sent without group-id and without a key")
    return break_rule(
        rule, f"the message 'plain' was sent with group-id {session!r} and {KEY} {key!r}"
    )


def _judge_names(evidence: Evidence) -> Iterator[Finding]:
    names = [message.id for one in evidence.record.sent(QUEUE) for message in one.messages]
    wanted = len(evidence.parameters["messages"])
    if len(names) < wanted:
        yield miss_rule("CLIENT-04", f"{len(names)} of {wanted} messages were sent")
    elif None in names or "" in names:
        yield break_rule("CLIENT-04", f"the message-ids are {names!r}; one is missing")
    elif len({str(name) for name in names}) < len(names):
        yield break_rule("CLIENT-04", f"the message-ids are {names!r}; two are the same")
    else:
        yield keep_rule("CLIENT-04", f"the {len(names)} messages have {len(names)} message-ids")


FIELDS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "message_id": ("message-id", lambda message: message.id),
    "subject": ("subject", lambda message: message.subject),
    "correlation_id": ("correlation-id", lambda message: message.correlation_id),
    "content_type": ("content-type", lambda message: message.content_type),
    "reply_to": ("reply-to", lambda message: message.reply_to),
    "to": ("to", lambda message: message.address),
    "reply_to_session_id": ("reply-to-group-id", lambda message: message.reply_to_group_id),
    "time_to_live_seconds": ("ttl in seconds", lambda message: message.ttl),
    "properties": ("application-properties", lambda message: _texts(message.properties)),
}
"""Field of a task's message to the field of AMQP, and how it is read."""


def _texts(properties: Any) -> dict[str, Any]:
    return {
        str(name): bytes(value).decode() if isinstance(value, bytes | memoryview) else value
        for name, value in (properties or {}).items()
    }


def _judge_properties(evidence: Evidence) -> Iterator[Finding]:
    rule, (asked,) = "CLIENT-05", evidence.parameters["messages"]
    sent = messages_by_body(evidence.record)
    if asked["body"] not in sent:
        yield miss_rule(rule, f"the message {asked['body']!r} was not sent")
        return
    message, wrong = sent[asked["body"]], []
    for name, (field, read) in FIELDS.items():
        found, wanted = read(message), asked[name]
        # Text and symbol are different types of AMQP with equal texts.
        same = str(found) == wanted if isinstance(wanted, str) else found == wanted
        if not same:
            wrong.append(f"{field} is {found!r} where the task says {wanted!r}")
    if wrong:
        yield break_rule(rule, "; ".join(wrong))
    else:
        yield keep_rule(rule, f"all of {len(FIELDS)} fields are as the task says")


def _judge_batch(evidence: Evidence) -> Iterator[Finding]:
    rule, wanted = "CLIENT-07", len(evidence.parameters["messages"])
    sent = evidence.record.sent(QUEUE)
    batches = [one for one in sent if one.format == BATCH_FORMAT]
    if not sent:
        yield miss_rule(rule, "nothing was sent")
    elif len(batches) != 1 or len(sent) != 1:
        yield break_rule(
            rule, f"a batch was sent as {len(sent)} transfers, {len(batches)} with the batch format"
        )
    elif (found := len(batches[0].messages)) != wanted:
        yield break_rule(rule, f"a batch of {wanted} messages was sent with {found}")
    else:
        yield keep_rule(rule, f"{wanted} messages were sent in one transfer of the batch format")


def _judge_schedule(evidence: Evidence) -> Iterator[Finding]:
    yield from judge_requests(evidence.record)
    rule, after = "CLIENT-08", evidence.parameters["after_seconds"]
    due = dict(_due_times(evidence.record))
    if not due:
        if evidence.record.sent(QUEUE):
            yield break_rule(rule, f"a message was sent without {DUE}")
        else:
            yield miss_rule(rule, "no message was scheduled")
        return
    ((moment, sent),) = list(due.items())[:1]
    # The record has the broker's clock; the message, the time of day.
    wait = moment / 1000 - (time.time() - (time.monotonic() - sent))
    if abs(wait - after) > EXACT:
        yield break_rule(rule, f"the message is due after {wait:.1f} s; the task says {after} s")
    else:
        yield keep_rule(rule, f"the message is due after {wait:.1f} s")


def _due_times(record: Record) -> Iterator[tuple[int, float]]:
    """Yield when messages are due, in milliseconds since 1970, and when that was said."""
    for transfer in record.sent(QUEUE):
        for message in transfer.messages:
            if (due := _due_of(message)) is not None:
                yield due, transfer.at
    for _, transfer in record.requests():
        body = transfer.body
        if operation_of(transfer.message) == SCHEDULE and isinstance(body, dict):
            for entry in body.get("messages") or ():
                if (due := _due_of(message_in(entry["message"]))) is not None:
                    yield due, transfer.at


def _due_of(message: "Message") -> int | None:
    annotations = {str(name): value for name, value in (message.annotations or {}).items()}
    due: Any = annotations.get(DUE)
    return None if due is None else int(due)


def judge_credit(record: Record) -> Iterator[Finding]:
    """Find out whether the client kept to the credit of its links."""
    for link in record.of("messages", receives=False):
        granted = [flow for flow in link.flows if not flow.by_client]
        for transfer in link.transfers:
            limit = max(
                (
                    (flow.count or link.first) + flow.credit - link.first
                    for flow in granted
                    if flow.at <= transfer.at
                ),
                default=0,
            )
            if transfer.place >= limit:
                yield break_rule(
                    "CLIENT-09",
                    f"message {transfer.place + 1} was sent on a link to {link.address!r} with "
                    f"credit for {limit}",
                )
                return
        if len(link.transfers) > CREDIT and _is_used_up(link):
            yield keep_rule(
                "CLIENT-09",
                f"{len(link.transfers)} messages were sent on a link to {link.address!r}, each "
                "with credit; at times, none was left",
            )


def _is_used_up(link: Link) -> bool:
    """Return whether a link had no credit left before it got more."""
    granted = [flow for flow in link.flows if not flow.by_client]
    return any(before.sent + before.credit <= after.sent for before, after in pairwise(granted))


def _prepare_little_credit(bus: "Embedded") -> None:
    make_queue(bus)
    bus.limit_credit(CREDIT)


def _judge_little_credit(evidence: Evidence) -> Iterator[Finding]:
    return judge_credit(evidence.record)


def accepted(transfers: list[Transfer]) -> list[Transfer]:
    """Return the deliveries that the service accepted."""
    return [transfer for transfer in transfers if transfer.is_accepted]


SCENARIOS: Final = (
    Scenario(
        name="batch",
        about="Three messages are sent together.",
        rules=("CLIENT-07",),
        prepare=make_queue,
        task="send",
        parameters={
            "entity": QUEUE,
            "messages": [{"body": body} for body in ("a", "b", "c")],
            "batch": True,
        },
        judge=_judge_batch,
    ),
    Scenario(
        name="schedule",
        about="A message is scheduled.",
        rules=("CLIENT-08",),
        prepare=make_queue,
        task="schedule",
        parameters={"entity": QUEUE, "messages": [{"body": "later"}], "after_seconds": 3600},
        judge=_judge_schedule,
    ),
    Scenario(
        name="keys",
        about="Three messages are sent: with a session, with a partition key, and with neither.",
        rules=("CLIENT-01", "CLIENT-02", "CLIENT-03"),
        prepare=make_queue,
        task="send",
        parameters={
            "entity": QUEUE,
            "messages": [
                {"body": "in-session", "session_id": "s1"},
                {"body": "with-key", "partition_key": "k1"},
                {"body": "plain"},
            ],
        },
        judge=_judge_keys,
    ),
    Scenario(
        name="names",
        about="Three messages without a MessageId are sent.",
        rules=("CLIENT-04",),
        prepare=make_queue,
        task="send",
        parameters={"entity": QUEUE, "messages": [{"body": body} for body in ("a", "b", "c")]},
        judge=_judge_names,
    ),
    Scenario(
        name="properties",
        about="A message with every property that an application can set is sent.",
        rules=("CLIENT-05",),
        prepare=make_queue,
        task="send",
        parameters={
            "entity": QUEUE,
            "messages": [
                {
                    "body": "all",
                    "message_id": "m1",
                    "subject": "a subject",
                    "correlation_id": "c1",
                    "content_type": "text/plain",
                    "reply_to": "answers",
                    "to": "somebody",
                    "reply_to_session_id": "s2",
                    "time_to_live_seconds": 300,
                    "properties": {"colour": "red", "count": 7, "is_new": True},
                }
            ],
        },
        judge=_judge_properties,
    ),
    Scenario(
        name="little-credit",
        about=f"Ten messages are sent at once; the service gives credit for {CREDIT} at a time.",
        rules=("CLIENT-09",),
        prepare=_prepare_little_credit,
        task="send",
        parameters={
            "entity": QUEUE,
            "messages": [{"body": str(number)} for number in range(10)],
            "at_once": True,
        },
        judge=_judge_little_credit,
    ),
)
