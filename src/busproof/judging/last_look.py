"""A last look at the entities and messages that a sequence of commands leaves behind.

Many faults show only later: a setting that an update forgot, a message that is lost or comes twice,
a lock that an old token still renews. So a sequence ends with requests about its entities. The
judge knows which answers are allowed after the sequence.
"""

from collections.abc import Callable, Generator, Sequence, Set
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.liveness import BOUND, PAUSE, TRIES
from busproof.judging.past import LONGEST, MARGIN, Past, views_of
from busproof.judging.required_capabilities import needs

__all__ = ["look_at_everything"]

Look = Generator[tuple[v.Command, str], v.Event, None]
"""A generator of requests with their connections, which is sent the event of each answer."""
Peeks = Generator[tuple[v.Command, str], v.Event, list[v.MessageView]]
"""A look that returns the messages that its peeks showed."""

Ask = Callable[[v.Command, str], v.Event | None]
"""Sends a request over a connection and judges the answer; `None` ends the look."""

CONNECTION: Final = "c1"
MOST_ENTITIES: Final = 6
"""Maximum number of entities for a last look; a sequence with more tests their number."""
MOST_USED: Final = 4
"""Maximum number of entities that are used once more."""
MOST_MESSAGES: Final = 40
"""Maximum number of messages that are peeked or received from one entity."""
MOST_SESSIONS: Final = 6
MOST_TOKENS: Final = 4
"""Maximum number of old lock tokens that are tried on one entity."""
LONG: Final = 10 * BOUND
"""Time to live in microseconds that outlasts the wait for a message."""
MOST_ROLLED_BACK: Final = 2
"""Maximum number of settlements of one entity in a transaction that is rolled back."""
SETTLEMENTS: Final = (v.Complete, v.Defer, v.Abandon, v.DeadLetter, v.RenewLock)
"""Requests by a lock."""


_NOT_ASKED: Final = v.Event(command=v.ListQueues(), outcome=v.Unsupported())
"""Stands for the answer to a request that the adapter does not support."""


def look_at_everything(
    events: Sequence[v.Event],
    capabilities: Set[v.Capability],
    ask: Ask,
) -> None:
    """Send requests about everything that the events may have changed, then remove it.

    Args:
        events: the events of a sequence so far, on a virtual clock.
        capabilities: the declared capabilities; requests that need others are not sent.
        ask: sends a request over a connection and judges the answer; `None` ends the look.
    """
    past = Past.of(events)
    look = _last_look(past)
    request = next(look, None)
    while request is not None:
        if any(needed not in capabilities for needed in needs(request[0])):
            event: v.Event | None = _NOT_ASKED
        else:
            event = ask(*request)
        if event is None:
            return
        past.note_seen(event.outcome)
        try:
            request = look.send(event)
        except StopIteration:
            return


def _last_look(past: Past) -> Look:
    """Yield the requests of a last look.

    At first nothing is disturbed: entities are described and peeked. Then partitions come up, locks
    end, and each message is received, looked at under its lock, and removed. At the end each entity
    is used once more, to see whether it still has the settings that it should have.
    """
    if len(past.queues) + len(past.topics) > MOST_ENTITIES:
        return
    yield from _look_from_outside(past)
    for outage in dict.fromkeys(past.down):
        up = v.BringPartitionUp(queue=outage.queue, partition=outage.partition)
        yield up, CONNECTION
    for path, message in past.originals.items():
        copy = attrs.evolve(message, body=f"copy of {message.body}")
        yield v.Send(queue=path, message=copy), CONNECTION
    yield v.AdvanceClock(duration=past.wait), CONNECTION
    yield from _all_emptied(past)
    yield from _await_scheduled(past)
    if past.is_eventful and len(past.queues) + len(past.topics) <= MOST_USED:
        yield from _use_again(past)
    yield from _count_later(past)
    old = [(path, token) for path, some in past.tokens.items() for token in some[:MOST_TOKENS]]
    for number, (path, token) in enumerate(old, len(old)):
        # The message is gone, or the whole entity is, so the token must be refused.
        yield SETTLEMENTS[number % len(SETTLEMENTS)](queue=path, lock_token=token), CONNECTION


def _await_scheduled(past: Past) -> Look:
    """Receive for two minutes where a scheduled message has not arrived, until one does."""
    lives = ((one, one.message.time_to_live) for one in past.awaited.values())
    missing = next((one for one, life in lives if life is None or life >= LONG), None)
    if missing is None or 0 < past.lives < LONG:
        return
    copies = [v.subscription_path(*pair) for pair in past.subscriptions if pair[0] == missing.queue]
    path = next(iter(copies), missing.queue)
    if past.queues.get(path) is not False:
        return
    for _ in range(TRIES):
        event = yield v.Receive(queue=path), CONNECTION
        if not isinstance(event.outcome, v.Empty):
            return
        yield v.AdvanceClock(duration=PAUSE), CONNECTION


def _count_later(past: Past) -> Look:
    """List and describe the entities a day later, and peek at the messages that are left."""
    yield v.AdvanceClock(duration=LONGEST), CONNECTION
    yield v.ListQueues(), CONNECTION
    yield from _describe(past)
    for path in past.queues:
        yield v.Peek(queue=path, count=MOST_MESSAGES), CONNECTION


def _describe(past: Past) -> Look:
    for path in past.queues:
        yield v.GetQueue(queue=path), CONNECTION
    for topic in past.topics:
        yield v.GetTopic(topic=topic), CONNECTION


def _look_from_outside(past: Past) -> Look:
    """Describe, list and peek, which changes nothing on the bus."""
    yield v.ListQueues(), CONNECTION
    if past.topics:
        yield v.ListTopics(), CONNECTION
    for topic in past.topics:
        yield v.GetTopic(topic=topic), CONNECTION
        yield v.ListSubscriptions(topic=topic), CONNECTION
    for topic, subscription in past.subscriptions:
        yield v.ListRules(topic=topic, subscription=subscription), CONNECTION
    for path, requires_session in past.queues.items():
        yield v.GetQueue(queue=path), CONNECTION
        if requires_session:
            yield v.ListSessions(queue=path), CONNECTION
        for place in (path, path + v.DEAD_LETTERS):
            yield from _peek_twice(place)
        for token in past.tokens.get(path, [])[-MOST_TOKENS:]:
            yield v.RenewLock(queue=path, lock_token=token), CONNECTION


def _peek_twice(path: str) -> Peeks:
    """Peek twice, the second time behind the messages shown first; return all messages shown."""
    shown: list[v.MessageView] = []
    event = yield v.Peek(queue=path, count=MOST_MESSAGES), CONNECTION
    for _ in range(2):
        views = views_of(event.outcome)
        shown += views
        numbers = [view.sequence_number for view in views if view.sequence_number is not None]
        if not numbers:
            break
        behind = max(numbers) + 1
        onward = v.Peek(queue=path, count=MOST_MESSAGES, from_sequence_number=behind)
        event = yield onward, CONNECTION
    return shown


def _use_again(past: Past) -> Look:
    """Send a message with a key, a copy of it and one without a key; abandon what is received."""
    in_session = any(past.queues.values())
    copies = {v.subscription_path(*pair) for pair in past.subscriptions}
    roots = [path for path in past.queues if path not in copies]
    for number, path in enumerate((*roots, *past.topics)):
        # A key that was sent before must still lead to its partition.
        key = None if in_session else past.keys.get(path, "last")
        session_id = "last" if in_session else None
        first = v.Message(
            body=f"last {number}", message_id="last", session_id=session_id, partition_key=key
        )
        for message in (first, attrs.evolve(first, body=f"copy {number}")):
            yield v.Send(queue=path, message=message), CONNECTION
        if not in_session:
            yield v.Send(queue=path, message=v.Message(body=f"free {number}")), CONNECTION
    for path, requires_session in past.queues.items():
        session = "last" if requires_session else None
        if requires_session:
            yield v.AcceptSession(queue=path, session_id="last"), CONNECTION
        for _ in range(past.deliveries_of(path)):
            event = yield v.Receive(queue=path, session_id=session), CONNECTION
            if not isinstance(event.outcome, v.Received):
                break
            token = event.outcome.message.lock_token or ""
            yield v.Abandon(queue=path, lock_token=token), CONNECTION
        if requires_session:
            yield v.CloseSession(queue=path, session_id="last"), CONNECTION
    if past.lives:
        yield v.AdvanceClock(duration=past.lives + MARGIN), CONNECTION
    past.sessions.clear()  # so that sessions are accepted by whether they have messages
    yield from _all_emptied(past)


def _all_emptied(past: Past) -> Look:
    # Under GET-LAG a description may be outdated at first; after the wait it must be right.
    yield from _describe(past)
    for path, requires_session in past.queues.items():
        if requires_session:
            yield from _empty_by_session(path, past)
        else:
            yield from _empty(path, past, None)
        for suffix in (v.DEAD_LETTERS, v.TRANSFERS) if past.forwards else (v.DEAD_LETTERS,):
            yield from _empty(path + suffix, past, None)


def _empty_by_session(path: str, past: Past) -> Look:
    """Empty each session, first those whose ids the sequence used."""
    known = list(dict.fromkeys(past.sessions.get(path, [])))[:MOST_SESSIONS]
    for session in known:
        yield v.AcceptSession(queue=path, session_id=session), CONNECTION
        yield from _empty_while_held(path, past, session)
    for _ in range(MOST_SESSIONS):
        event = yield v.AcceptNextSession(queue=path), CONNECTION
        if not isinstance(event.outcome, v.SessionAccepted):
            break
        yield from _empty_while_held(path, past, event.outcome.session_id)


def _empty_while_held(path: str, past: Past, session: str) -> Look:
    yield v.GetSessionState(queue=path, session_id=session), CONNECTION
    yield from _empty(path, past, session)
    yield v.CloseSession(queue=path, session_id=session), CONNECTION


def _empty(path: str, past: Past, session: str | None) -> Look:
    """Receive all messages, look at the entity while they are locked, and remove them."""
    shown = yield from _peek_twice(path)
    if not shown and path not in past.queues:
        return
    locked: list[v.MessageView] = []
    deferred: list[v.MessageView] = []
    for view in shown:
        number = view.sequence_number
        if view.state is v.MessageState.DEFERRED and session in (None, view.session_id):
            wanted = (0,) if number is None else (number,)
            event = yield (
                v.ReceiveDeferred(queue=path, sequence_numbers=wanted, session_id=session),
                CONNECTION,
            )
            deferred += views_of(event.outcome)
    for _ in range(MOST_MESSAGES):
        event = yield v.Receive(queue=path, session_id=session), CONNECTION
        if not isinstance(event.outcome, v.Received):
            break
        locked.append(event.outcome.message)
    if not (locked or deferred):
        return
    yield from _peek_twice(path)
    if not v.is_dead_letter_queue(path):
        yield v.GetQueue(queue=path), CONNECTION
    for token in past.tokens.get(path, [])[:MOST_TOKENS]:
        # The token is of an earlier delivery, and must not settle this one.
        yield v.Complete(queue=path, lock_token=token), CONNECTION
    for view in deferred:
        yield v.Complete(queue=path, lock_token=view.lock_token or ""), CONNECTION
    yield from _remove(path, locked, session)


def _remove(path: str, locked: Sequence[v.MessageView], session: str | None) -> Look:
    """Complete most messages; abandon two, receive them again, and delete them by receiving.

    Before, some are settled in a transaction that is rolled back, and afterwards locked as before.
    Those that are completed in a transaction are gone after its commit.
    """
    tokens = [view.lock_token for view in locked if view.lock_token is not None]
    again, others = tokens[:2], tokens[2:]
    if others:
        name = f"rolled back in {path} {others[0]}"
        yield v.BeginTransaction(transaction=name), CONNECTION
        for token, settlement in zip(tokens[-MOST_ROLLED_BACK:], SETTLEMENTS, strict=False):
            yield settlement(queue=path, lock_token=token, transaction=name), CONNECTION
        yield v.RollBackTransaction(transaction=name), CONNECTION
        for token in others[::2]:
            yield v.Complete(queue=path, lock_token=token), CONNECTION
    if others[1::2]:
        name = f"committed in {path} {others[0]}"
        yield v.BeginTransaction(transaction=name), CONNECTION
        for token in others[1::2]:
            yield v.Complete(queue=path, lock_token=token, transaction=name), CONNECTION
        yield v.CommitTransaction(transaction=name), CONNECTION
    for token in again:
        yield v.Abandon(queue=path, lock_token=token), CONNECTION
    event = yield v.Receive(queue=path, session_id=session), CONNECTION
    for view in views_of(event.outcome):
        yield v.Abandon(queue=path, lock_token=view.lock_token or ""), CONNECTION
    taken = v.ReceiveMode.RECEIVE_AND_DELETE
    together = v.ReceiveBatch(queue=path, count=2, mode=taken, session_id=session)
    yield together, CONNECTION
    for _ in range(3):
        event = yield v.Receive(queue=path, mode=taken, session_id=session), CONNECTION
        if not isinstance(event.outcome, v.Received):
            break
