"""Entities: another one takes the part of each queue of a sequence.

Each transformation is a function that wraps the sending of commands: it gets a command of the
source, sends one or more commands in its place, and returns the event with the answer to it.
"""

from collections.abc import Callable, Mapping, Set
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.past import views_of

__all__ = [
    "RECEIVING",
    "Ask",
    "Wrapper",
    "forward_to_queue",
    "keep_as_is",
    "use_dead_letter_queue",
    "use_session",
    "use_session_of_subscription",
    "use_subscription",
    "use_two_subscriptions",
]

Ask = Callable[[v.Command, str], v.Event | None]
"""Sends a command over a connection; `None` if it was not sent."""
Wrapper = Callable[[Ask], Ask]

COPY: Final = "s"
"""Name of the subscription that takes the part of a queue."""
SECOND: Final = "t"
"""Name of another subscription, which gets the same requests."""
SESSION: Final = "elsewhere"
WAY: Final = "-way"
REASON: Final = "elsewhere"
MOST_MOVED: Final = 3
"""Receives for moving messages to a dead-letter queue at one time."""
SENDING: Final = (
    v.Send,
    v.SendBatch,
    v.Schedule,
    v.CancelScheduled,
    v.TakePartitionDown,
    v.BringPartitionUp,
)
"""Requests about a topic or a queue where messages are sent."""


def keep_as_is(ask: Ask) -> Ask:
    """Send each command as it is."""
    return ask


def use_subscription(ask: Ask) -> Ask:
    """Replace each queue by a topic of the same name, and a subscription that is received from."""
    queues: set[str] = set()

    def asks(command: v.Command, connection: str) -> v.Event | None:
        if isinstance(command, v.CreateQueue):
            queues.add(command.queue)
            topic, subscription = _make_topic(command)
            ask(topic, connection)
            return ask(subscription, connection)
        return ask(_redirect(command, queues), connection)

    return asks


def _redirect(command: Any, queues: Set[str], name: str = COPY) -> v.Command:
    """Return the command for the subscription, or its dead-letter queue, that replaces a queue."""
    path = getattr(command, "queue", "")
    owner = v.owner_of(path)
    if owner in queues and not isinstance(command, SENDING):
        copy = v.subscription_path(owner, name) + path.removeprefix(owner)
        command = attrs.evolve(command, queue=copy)
    changed: v.Command = command
    return changed


def _common_settings(queue: v.CreateQueue, kind: type[Any], *without: str) -> dict[str, Any]:
    """Return the queue's settings that a creation of this kind has, too."""
    names = {field.name for field in attrs.fields(kind)} - {*without}
    return {
        name: setting
        for name, setting in attrs.asdict(queue, recurse=False).items()
        if name in names
    }


def _make_topic(queue: v.CreateQueue) -> tuple[v.CreateTopic, v.CreateSubscription]:
    name = queue.queue
    topic = v.CreateTopic(topic=name, **_common_settings(queue, v.CreateTopic, "time_to_live"))
    of_copies = _common_settings(queue, v.CreateSubscription)
    subscription = v.CreateSubscription(topic=name, subscription=COPY, **of_copies)
    return topic, subscription


def use_two_subscriptions(ask: Ask) -> Ask:
    """Replace each queue by a topic with two subscriptions, and receive from both in turn."""
    queues: set[str] = set()
    tokens: dict[str, str] = {}
    numbers: dict[int, int] = {}

    def asks(command: v.Command, connection: str) -> v.Event | None:
        event = on_first(command, connection)
        if isinstance(command, v.CreateQueue):
            queues.add(command.queue)
            _, subscription = _make_topic(command)
            ask(attrs.evolve(subscription, subscription=SECOND), connection)
        elif v.owner_of(getattr(command, "queue", "")) in queues and isinstance(command, RECEIVING):
            other = _translate_for_second(command, tokens, numbers)
            answer = None if other is None else ask(_redirect(other, queues, SECOND), connection)
            if event is not None and answer is not None:
                pairs = zip(views_of(event.outcome), views_of(answer.outcome), strict=False)
                for view, same in pairs:
                    tokens[view.lock_token or ""] = same.lock_token or ""
                    numbers[view.sequence_number or 0] = same.sequence_number or 0
        return event

    on_first = use_subscription(ask)
    return asks


def _translate_for_second(
    command: Any, tokens: Mapping[str, str], numbers: Mapping[int, int]
) -> v.Command | None:
    """Return the command with locks and numbers of the second subscription, if it has them."""
    changed: dict[str, Any] = {}
    if getattr(command, "lock_token", None) is not None:
        changed["lock_token"] = tokens.get(command.lock_token)
    if getattr(command, "lock_tokens", None) is not None:
        changed["lock_tokens"] = tuple(map(tokens.get, command.lock_tokens))
    if None in (changed.get("lock_token", ""), *changed.get("lock_tokens", ())):
        return None
    if isinstance(command, v.ReceiveDeferred):
        own = tuple(numbers.get(number, number) for number in command.sequence_numbers)
        changed["sequence_numbers"] = own
    made: v.Command = attrs.evolve(command, **changed)
    return made


def use_dead_letter_queue(ask: Ask) -> Ask:
    """Dead-letter each message that is sent; receive from the dead-letter queue."""
    queues: set[str] = set()
    scheduled_for: set[str] = set()

    def move(queue: str, connection: str) -> None:
        for _ in range(MOST_MOVED):
            event = ask(v.Receive(queue=queue), connection)
            views = () if event is None else views_of(event.outcome)
            if not views:
                return
            for view in views:
                token = view.lock_token or ""
                ask(v.DeadLetter(queue=queue, lock_token=token, reason=REASON), connection)

    def asks(command: v.Command, connection: str) -> v.Event | None:
        queue = getattr(command, "queue", "")
        if isinstance(command, v.CreateQueue) and not command.requires_session:
            queues.add(queue)
        elif queue in queues and isinstance(command, RECEIVING):
            command = attrs.evolve(command, queue=queue + v.DEAD_LETTERS)
        event = ask(command, connection)
        if event is None or isinstance(event.outcome, v.Refused):
            return event
        if isinstance(command, v.Schedule):
            scheduled_for.add(queue)
        elif isinstance(command, v.Send | v.SendBatch) and queue in queues:
            move(queue, connection)
        elif isinstance(command, v.AdvanceClock):
            for later in scheduled_for & queues:
                move(later, connection)
        return event

    return asks


RECEIVING: Final = (
    v.Receive,
    v.ReceiveBatch,
    v.ReceiveDeferred,
    v.Complete,
    v.Abandon,
    v.DeadLetter,
    v.Defer,
    v.SettleBatch,
    v.RenewLock,
    v.RenewLocks,
    v.Peek,
)


def use_session(ask: Ask) -> Ask:
    """Require sessions of each queue; send everything in one session, and receive from that."""
    sessions: dict[str, str] = {}

    def asks(command: v.Command, connection: str) -> v.Event | None:
        queue = getattr(command, "queue", "")
        if isinstance(command, v.CreateQueue) and not command.requires_session:
            sessions[queue] = SESSION
            command = attrs.evolve(command, requires_session=True)
        session = sessions.get(queue)
        if session is None:
            return ask(command, connection)
        match command:
            case v.Send(message=message) | v.Schedule(message=message):
                command = attrs.evolve(command, message=_add_session(message))
            case v.SendBatch(messages=messages):
                command = attrs.evolve(command, messages=tuple(map(_add_session, messages)))
            case v.RenewLock():
                command = v.RenewSessionLock(queue=queue, session_id=session)
            case v.Receive() | v.ReceiveBatch() | v.ReceiveDeferred():
                command = attrs.evolve(command, session_id=session)
        event = ask(command, connection)
        lost = v.Refused(error=v.Error.SESSION_LOCK_LOST)
        if event is None or not _is_alike(event.outcome, lost):
            return event
        accepted = ask(v.AcceptSession(queue=queue, session_id=session), connection)
        if accepted is None or isinstance(accepted.outcome, v.Refused):
            return accepted
        return ask(command, connection)

    return asks


def _add_session(message: v.Message) -> v.Message:
    return attrs.evolve(message, session_id=SESSION, partition_key=None)


def _is_alike(outcome: v.Outcome, refused: v.Refused) -> bool:
    return isinstance(outcome, v.Refused) and outcome.error is refused.error


def use_session_of_subscription(ask: Ask) -> Ask:
    """Replace each queue by a subscription that requires sessions."""
    return use_session(use_subscription(ask))


def forward_to_queue(ask: Ask) -> Ask:
    """Send everything to another queue, which forwards it."""
    queues: set[str] = set()

    def asks(command: v.Command, connection: str) -> v.Event | None:
        if isinstance(command, v.CreateQueue) and len(command.queue) + len(WAY) <= SHORT:
            queues.add(command.queue)
            event = ask(command, connection)
            way = v.CreateQueue(
                queue=command.queue + WAY,
                partitioned=command.partitioned,
                forward_to=command.queue,
            )
            ask(way, connection)
            return event
        if isinstance(command, FORWARDED) and command.queue in queues:
            command = attrs.evolve(command, queue=command.queue + WAY)
        return ask(command, connection)

    return asks


SHORT: Final = 100
"""Length of a name that can be extended."""
FORWARDED: Final = v.Send | v.SendBatch | v.Schedule | v.CancelScheduled
