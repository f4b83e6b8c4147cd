"""Recorded histories with one event changed, so that one rule is broken whatever the order was."""

from collections.abc import Callable, Iterator, Sequence
from math import inf

import attrs

from busproof import vocabulary as v

Corrupted = tuple[list[v.Event], int]


def end(event: v.Event) -> float:
    return inf if event.returned is None else event.returned


def view(event: v.Event) -> v.MessageView:
    return event.outcome.message


class History:
    """Events, and questions about them."""

    def __init__(self, events: Sequence[v.Event]) -> None:
        self.events = list(events)

    def of(self, command: type, outcome: type, queue: str = "") -> Iterator[tuple[int, v.Event]]:
        for index, event in enumerate(self.events):
            fits = isinstance(event.command, command) and isinstance(event.outcome, outcome)
            if fits and queue in ("", getattr(event.command, "queue", "")):
                yield index, event

    def sends(self, queue: str) -> dict[str, tuple[int, v.Event]]:
        return {
            event.command.message.body: (index, event)
            for index, event in self.of(v.Send, v.Done, queue)
        }

    def gives(self, queue: str, body: str) -> list[tuple[int, v.Event]]:
        return [
            each for each in self.of(v.Receive, v.Received, queue) if view(each[1]).body == body
        ]

    def settled(self, queue: str, token: str | None) -> list[v.Event]:
        return [
            event
            for event in self.events
            if isinstance(
                event.command, v.Complete | v.Abandon | v.DeadLetter | v.Defer | v.RenewLock
            )
            and (event.command.queue, event.command.lock_token) == (queue, token)
        ]

    def with_event(self, index: int, **changes: object) -> Corrupted:
        events = list(self.events)
        events[index] = attrs.evolve(events[index], **changes)
        return events, index

    def giving(self, index: int, shown: v.MessageView) -> Corrupted:
        """The history in which this receive is given that message, under a lock of its own."""
        lock = None if view(self.events[index]).lock_token is None else f"new-{index}"
        shown = attrs.evolve(shown, lock_token=lock, locked_until=None, delivery_count=None)
        return self.with_event(index, outcome=v.Received(message=shown))

    def unsettled(self, queue: str) -> Iterator[tuple[int, v.Event]]:
        """Receives whose message nobody settles: what they are given stands in no other event."""
        for index, event in self.of(v.Receive, v.Received, queue):
            once = len(self.gives(queue, view(event).body)) == 1
            unsettled = not self.settled(queue, view(event).lock_token)
            if once and unsettled and event.command.session_id is None:
                yield index, event

    def peeked(self) -> set[str]:
        return {
            each.body for _, event in self.of(v.Peek, v.Peeked) for each in event.outcome.messages
        }


def never_sent(history: History) -> Iterator[Corrupted]:
    for index, event in history.unsettled("keyed"):
        yield history.giving(index, attrs.evolve(view(event), body="never sent"))


def property_changed(history: History) -> Iterator[Corrupted]:
    for index, event in history.of(v.Receive, v.Received, "keyed"):
        changed = attrs.evolve(view(event), partition_key="another")
        yield history.with_event(index, outcome=v.Received(message=changed))


def completed_again(history: History) -> Iterator[Corrupted]:
    done = [
        (event, given)
        for _, event in history.of(v.Complete, v.Done, "keyed")
        for _, given in history.of(v.Receive, v.Received, "keyed")
        if view(given).lock_token == event.command.lock_token
    ]
    for index, event in history.unsettled("keyed"):
        for completed, given in done:
            if end(completed) < event.called:
                yield history.giving(index, view(given))


def locked_again(history: History) -> Iterator[Corrupted]:
    """Instead of a message without a key: no order is broken because it is not given."""
    for index, event in history.unsettled("keyed"):
        if view(event).partition_key is not None:
            continue
        for _, holder in history.of(v.Receive, v.Received, "keyed"):
            settled = history.settled("keyed", view(holder).lock_token)
            held = bool(settled) and end(holder) < event.called and view(holder).lock_token
            if held and all(end(event) < each.called for each in settled):
                yield history.giving(index, view(holder))


def settled_by_a_wrong_token(history: History) -> Iterator[Corrupted]:
    for index, event in history.of(v.Complete, v.Done):
        yield history.with_event(index, command=attrs.evolve(event.command, lock_token="none"))


def number_of_another_partition(history: History) -> Iterator[Corrupted]:
    for index, event in history.of(v.Receive, v.Received, "keyed"):
        number = view(event).sequence_number ^ (1 << v.SEQUENCE_BITS)
        changed = attrs.evolve(view(event), sequence_number=number)
        yield history.with_event(index, outcome=v.Received(message=changed))


def key_moved(history: History) -> Iterator[Corrupted]:
    for index, event in history.of(v.Send, v.Done, "keyed"):
        message = event.command.message
        unseen = not history.gives("keyed", message.body) and message.body not in history.peeked()
        plain = event.command.transaction is None and message.partition_key is not None and unseen
        others = [
            each
            for _, each in history.of(v.Send, v.Done, "keyed")
            if each.command.message.partition_key == message.partition_key and each is not event
        ]
        if plain and others and event.witness is not None:
            moved = v.Witness(partition=event.witness.partition ^ 1)
            yield history.with_event(index, witness=moved)


def rolled_back_given(history: History) -> Iterator[Corrupted]:
    yield from _staged_given(
        history, v.RollBackTransaction, lambda event, ending: end(ending) < event.called
    )


def given_before_commit(history: History) -> Iterator[Corrupted]:
    yield from _staged_given(
        history, v.CommitTransaction, lambda event, commit: end(event) < commit.called
    )


def _staged_given(
    history: History, kind: type, when: Callable[[v.Event, v.Event], bool]
) -> Iterator[Corrupted]:
    ends = {event.command.transaction: event for _, event in history.of(kind, v.Done)}
    for index, event in history.unsettled("keyed"):
        for _, sent in history.sends("keyed").values():
            ending = ends.get(sent.command.transaction)
            if ending is not None and end(sent) < event.called and when(event, ending):
                yield history.giving(index, _as_sent(sent))


def _as_sent(sent: v.Event) -> v.MessageView:
    return v.MessageView.of(sent.command.message)


def duplicate_given(history: History) -> Iterator[Corrupted]:
    kept = {}
    for _, event in history.of(v.Receive, v.Received, "detecting"):
        kept.setdefault(view(event).message_id, event)
    sends = history.sends("detecting")
    for index, event in history.unsettled("detecting"):
        for body, (_, sent) in sends.items():
            first = kept.get(sent.command.message.message_id)
            if first is None or history.gives("detecting", body):
                continue
            if end(first) < sent.called and end(sent) < event.called:
                yield history.giving(index, _as_sent(sent))


def session_out_of_order(history: History) -> Iterator[Corrupted]:
    """A receive is given the second message of its session, while the first is there."""
    sends = history.sends("sessions")
    for index, event in history.of(v.Receive, v.Received, "sessions"):
        given = view(event)
        for body, (_, sent) in sends.items():
            first = sends.get(given.body)
            same = sent.command.message.session_id == given.session_id and body != given.body
            if same and first is not None and end(first[1]) < sent.called:
                untouched = not history.gives("sessions", body)
                once = len(history.gives("sessions", given.body)) == 1
                alone = not history.settled("sessions", given.lock_token)
                if untouched and once and alone and end(sent) < event.called:
                    yield history.giving(index, _as_sent(sent))


def session_given_twice(history: History) -> Iterator[Corrupted]:
    for index, event in history.of(v.AcceptSession, v.Refused):
        if _is_held_throughout(history, event):
            yield history.with_event(index, outcome=v.Done())


def _is_held_throughout(history: History, refused: v.Event) -> bool:
    """Whether another connection accepted the session before, and closes it afterwards."""
    session = refused.command.session_id
    mine = [
        event
        for event in history.events
        if isinstance(event.command, v.AcceptSession | v.CloseSession)
        and event.command.session_id == session
        and event is not refused
        and not isinstance(event.outcome, v.Refused)
    ]
    before = [event for event in mine if end(event) < refused.called]
    during = [e for e in mine if e.called <= end(refused) and end(e) >= refused.called]
    last = max(before, key=lambda event: event.called, default=None)
    return (
        not during
        and last is not None
        and isinstance(last.command, v.AcceptSession)
        and last.connection != refused.connection
    )


def gone_peeked(history: History) -> Iterator[Corrupted]:
    for index, event in history.of(v.Peek, v.Peeked, "keyed"):
        for _, given in history.of(v.Receive, v.Received, "keyed"):
            deleted = view(given).lock_token is None and end(given) < event.called
            if deleted and not event.outcome.messages[1:]:
                yield history.with_event(index, outcome=v.Peeked(messages=(view(given),)))


def withheld(history: History) -> Iterator[Corrupted]:
    """Needs one connection: a receive comes back empty although something was surely there."""
    for index, event in history.unsettled("keyed"):
        _, sent = history.sends("keyed").get(view(event).body, (0, None))
        plain = sent is not None and sent.command.transaction is None
        if plain and end(sent) < event.called:
            yield history.with_event(index, outcome=v.Empty())


CORRUPTIONS: dict[str, tuple[set[str], Callable[[History], Iterator[Corrupted]]]] = {
    "never sent": ({"LIFE-01"}, never_sent),
    "property changed": ({"LIFE-01"}, property_changed),
    "completed again": ({"LIFE-03"}, completed_again),
    # Where it was renewed afterwards, the other receive may have found that lock over already.
    "locked again": (
        {"LIFE-02", "LIFE-06", "LIFE-03", "LOCK-04", "LOCK-05", "LOCK-06"},
        locked_again,
    ),
    "settled by a wrong token": ({"LIFE-06"}, settled_by_a_wrong_token),
    "number of another partition": ({"LIFE-12"}, number_of_another_partition),
    "key moved": ({"KEY-02"}, key_moved),
    "rolled back given": ({"TXN-13"}, rolled_back_given),
    "given before commit": ({"TXN-12"}, given_before_commit),
    "duplicate given": ({"KEY-11"}, duplicate_given),
    "session out of order": ({"KEY-06"}, session_out_of_order),
    "session given twice": ({"LIFE-10"}, session_given_twice),
    "gone peeked": ({"LIFE-03"}, gone_peeked),
    "withheld": ({"LIFE-09"}, withheld),
}
"""What is changed, to the rule that it breaks and the ways to change one event like that.

Where a lock may have run in a cache before (CACHE-LOCK), a message that is given again shows only
that the lock was lost, so that its settlement is what breaks a rule, or a peek that shows it after
it was given for good.
"""
