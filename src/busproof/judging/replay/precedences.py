"""Likely order of overlapping requests, from what they are about.

It consists of pairs of a later and an earlier event: a message arrives before it is seen, is locked
before it is settled, and is released before it is given again. `heuristics` ranks candidates by
them.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from busproof import vocabulary as v

__all__ = ["NEVER", "Precedences"]

NEVER: Final = 1 << 62
"""Return of a request that was never answered."""

TRIED: Final = 20
"""How many of the last receives from a partition may have cached a message."""

_Body = tuple[str, str]
"""Entity and body, which identify a message in each entity that it passes."""


class Precedences:
    """Index of events by what they are about, and the pairs that follow from it."""

    def __init__(self, events: Sequence[v.Event]) -> None:
        self._events = events
        self.sends: dict[_Body, list[int]] = defaultdict(list)
        self.gives: dict[_Body, list[int]] = defaultdict(list)
        self.peeks: dict[_Body, list[int]] = defaultdict(list)
        self.tokens: dict[tuple[str, str], int] = {}
        self.settles: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.commits: dict[str, int] = {}
        self.begins: dict[str, int] = {}
        self.creations: dict[str, int] = {}
        self.sessions: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.keys: dict[_Body, tuple[str, str]] = {}
        self.numbers: dict[_Body, int] = {}
        self.regular: set[str] = set()
        self.empties: dict[str, list[int]] = defaultdict(list)
        for number, event in enumerate(events):
            self._add(number, event)

    def _add(self, number: int, event: v.Event) -> None:
        match event.command:
            case v.Send(queue=queue, message=message):
                self._add_sent(number, queue, message)
            case v.SendBatch(queue=queue, messages=messages):
                for batched in messages:
                    self._add_sent(number, queue, batched)
            case (
                v.Complete(queue=queue, lock_token=token)
                | v.Abandon(queue=queue, lock_token=token)
                | v.DeadLetter(queue=queue, lock_token=token)
                | v.Defer(queue=queue, lock_token=token)
                | v.RenewLock(queue=queue, lock_token=token)
            ):
                # A lock token is given once, so it names one delivery.
                self.settles[queue, token].append(number)
            case (
                v.SettleBatch(queue=queue, lock_tokens=tokens)
                | v.RenewLocks(queue=queue, lock_tokens=tokens)
            ):
                for one in tokens:
                    self.settles[queue, one].append(number)
            case (
                v.AcceptSession(queue=queue, session_id=session)
                | v.CloseSession(queue=queue, session_id=session)
            ):
                self.sessions[queue, session].append(number)
            case v.CommitTransaction(transaction=name):
                # A transaction's name may be used again; a hint about its first use is good enough.
                self.commits.setdefault(name, number)
            case v.BeginTransaction(transaction=name):
                self.begins.setdefault(name, number)
            case v.CreateQueue(queue=queue):
                self.creations.setdefault(queue, number)
                # Without keys and sessions its messages come in the order of their numbers.
                if event.command.partitioned is False and not event.command.requires_session:
                    self.regular.add(queue)
        self._add_views(number, event)

    def _add_sent(self, number: int, queue: str, message: v.Message) -> None:
        body = queue, message.body
        self.sends[body].append(number)
        key = message.session_id or message.partition_key
        if key is not None and body not in self.keys:
            self.keys[body] = queue, key

    def _add_views(self, number: int, event: v.Event) -> None:
        queue = getattr(event.command, "queue", "")
        if isinstance(event.outcome, v.Empty):
            self.empties[queue].append(number)
        for body, shown in _views(event):
            if shown is not None:
                self.numbers.setdefault((queue, body), shown)
        for view in _views_of(event):
            self.gives[queue, view.body].append(number)
            if view.lock_token is not None:
                self.tokens.setdefault((queue, view.lock_token), number)
        if isinstance(event.outcome, v.Peeked):
            for view in event.outcome.messages:
                self.peeks[queue, view.body].append(number)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of a later event and one that most likely came before it."""
        yield from self._creations()
        for body, sends in self.sends.items():
            yield from self._arrivals(body, sends)
        for body in self.gives:
            yield from self._deliveries(body)
        yield from self._dead_letters()
        for token, settles in self.settles.items():
            yield from self._settlements(token, settles)
        yield from self._lines()
        yield from self._copies()
        for numbers in self.sessions.values():
            yield from self._holders(numbers)
        yield from self._transactions()
        yield from self._pairs_taken_along()

    def _creations(self) -> Iterator[tuple[int, int]]:
        # Everything about an entity most likely comes after its creation.
        for number, event in enumerate(self._events):
            creation = self.creations.get(getattr(event.command, "queue", ""))
            if creation is not None:
                yield number, creation

    def _arrivals(self, body: _Body, sends: list[int]) -> Iterator[tuple[int, int]]:
        """Yield pairs in which the arrival of a message precedes the events that show it."""
        # If a retry sent the body twice, an observation most likely shows the first message.
        first = min(sends, key=lambda send: self._events[send].called)
        observations = (*self.gives.get(body, ()), *self.peeks.get(body, ()))
        arrival = self._arrival(first)
        yield from ((index, arrival) for index in observations)
        yield from ((index, first) for index in observations)

    def _arrival(self, send: int) -> int:
        """Return the event that makes a message visible: its send, or its transaction's commit."""
        command = self._events[send].command
        # A message in a transaction cannot be seen before the commit.
        if isinstance(command, v.Send | v.SendBatch) and command.transaction is not None:
            return self.commits.get(command.transaction, send)
        return send

    def _deliveries(self, body: _Body) -> Iterator[tuple[int, int]]:
        """Yield pairs in which a delivery and its end precede the next delivery.

        Peeks at the message precede its removal.
        """
        gives = sorted(self.gives[body], key=lambda index: self._delivery(index, body))
        for before, after in pairwise(gives):
            yield after, before
            # After a complete there is no next delivery: only a release or an expired lock permits
            # one.
            for settled in self._settlements_of(before, body):
                if isinstance(self._events[settled].command, v.Abandon | v.Defer):
                    yield after, settled
        # A peek shows only what is still there.
        ends = [*self._deletions(gives), *self._completions(gives, body)]
        yield from ((end, peek) for end in ends for peek in self.peeks.get(body, ()))

    def _dead_letters(self) -> Iterator[tuple[int, int]]:
        """Yield pairs in which a message is dead-lettered before events show it there."""
        for table in (self.gives, self.peeks):
            for (queue, body), observations in table.items():
                alive = (v.owner_of(queue), body)
                # Then the path is not that of a dead-letter queue.
                if alive[0] == queue:
                    continue
                for delivery in self.gives.get(alive, ()):
                    for settled in self._settlements_of(delivery, alive):
                        if isinstance(self._events[settled].command, v.DeadLetter):
                            yield from ((index, settled) for index in observations)

    def _delivery(self, number: int, body: _Body) -> tuple[bool, int, int]:
        """Return the sort key of a delivery among those of its message; a removing one is last."""
        event = self._events[number]
        count = next((view.delivery_count for view in _views_of(event) if view.body == body[1]), 0)
        returned = NEVER if event.returned is None else event.returned
        # Delivery counts order deliveries for certain; without them, the return is a guess.
        return (self._deletes(event), count or 0, returned)

    def _first_delivery(self, body: _Body) -> int:
        return min(self.gives[body], key=lambda index: self._delivery(index, body))

    def _deletes(self, event: v.Event) -> bool:
        command = event.command
        return isinstance(command, v.Receive) and command.mode is v.ReceiveMode.RECEIVE_AND_DELETE

    def _settlements_of(self, number: int, body: _Body) -> Iterator[int]:
        """Yield the settlements under the lock of this delivery of the message."""
        for view in _views_of(self._events[number]):
            if view.body == body[1]:
                yield from self.settles.get((body[0], view.lock_token or ""), ())

    def _deletions(self, gives: Iterable[int]) -> Iterator[int]:
        yield from (give for give in gives if self._deletes(self._events[give]))

    def _completions(self, gives: Iterable[int], body: _Body) -> Iterator[int]:
        for give in gives:
            yield from self._settlements_of(give, body)

    def _settlements(self, token: tuple[str, str], settles: list[int]) -> Iterator[tuple[int, int]]:
        """Yield pairs in which a delivery precedes its settlement, and success precedes refusal."""
        if token in self.tokens:
            yield from ((settle, self.tokens[token]) for settle in settles)
        # A second settlement under a lock is refused because of the first, never the reverse.
        done = [settle for settle in settles if isinstance(self._events[settle].outcome, v.Done)]
        for settle in settles:
            if done and isinstance(self._events[settle].outcome, v.Refused):
                yield settle, done[0]

    def _lines(self) -> Iterator[tuple[int, int]]:
        """Yield pairs that keep the messages of each key or session in one order."""
        lines: dict[tuple[str, str], list[_Body]] = defaultdict(list)
        partitions: dict[tuple[str, int], list[tuple[int, _Body]]] = defaultdict(list)
        for body, sends in self.sends.items():
            if body in self.keys:
                lines[self.keys[body]].append(body)
            number = self.numbers.get(body)
            if number is not None and len(sends) == 1:
                partitions[body[0], number >> v.SEQUENCE_BITS].append((number, body))
        for line in lines.values():
            ordered = sorted(line, key=self._turn)
            yield from _in_a_row([self._arrival(self.sends[body][0]) for body in ordered])
            # A later delivery may be a redelivery, which follows no order.
            gives = self._first_deliveries(ordered)
            yield from _in_a_row(self._in_turn(gives))
        for (queue, _), numbered in partitions.items():
            ordered = [body for _, body in sorted(numbered)]
            yield from _in_a_row([self._arrival(self.sends[body][0]) for body in ordered])
            if queue in self.regular:
                gives = self._first_deliveries(ordered)
                # One that surely came out of turn shows a bus that keeps no order (REGULAR-ORDER).
                if len(self._in_turn(gives)) == len(gives):
                    yield from _in_a_row(gives)

    def _first_deliveries(self, ordered: Iterable[_Body]) -> list[int]:
        return [self._first_delivery(body) for body in ordered if self.gives.get(body)]

    def _in_turn(self, gives: Sequence[int]) -> list[int]:
        """Return the deliveries of a line without those that surely came after later ones."""
        kept: list[int] = []
        soonest = NEVER
        for give in reversed(gives):
            if self._call_of(give) <= soonest:
                kept.append(give)
                soonest = min(soonest, self._return_of(give))
        return kept[::-1]

    def _pairs_taken_along(self) -> Iterator[tuple[int, int]]:
        """Yield pairs in which a message arrives before the receive that cached it (PART-09).

        A message must have been in a cache if an answer was empty while it was there, or if a later
        one of its key was received before it.
        """
        fills: dict[tuple[str, int], list[int]] = defaultdict(list)
        for (queue, body), gives in self.gives.items():
            number = self.numbers.get((queue, body))
            if number is not None and queue not in self.regular:
                fills[queue, number >> v.SEQUENCE_BITS] += gives
        for line in fills.values():
            line.sort(key=self._call_of)
        for hidden, answer in (*self._find_passed_over(), *self._not_found()):
            place = hidden[0], self.numbers[hidden] >> v.SEQUENCE_BITS
            yield from self._fill(hidden, answer, fills.get(place, []))

    def _fill(self, body: _Body, answer: int, line: list[int]) -> Iterator[tuple[int, int]]:
        """Yield the order of a message, the receive that cached it, and the answer that shows it.

        That receive is most likely one of the connection that receives the message next.
        """
        arrival = self._arrival(self.sends[body][0])
        sent = self._call_of(arrival)
        shown = self._return_of(answer)
        end = bisect_left(line, shown, key=self._call_of)
        possible = [
            one
            for one in reversed(line[max(0, end - TRIED) : end])
            if self._return_of(one) >= sent and one != answer
        ]
        receiver = self._receiver(body)
        likely = [one for one in possible if self._events[one].connection == receiver]
        for fill in (likely or possible)[:1]:
            yield fill, arrival
            yield answer, fill

    def _receiver(self, body: _Body) -> str | None:
        gives = self.gives.get(body)
        return self._events[self._first_delivery(body)].connection if gives else None

    def _find_passed_over(self) -> Iterator[tuple[_Body, int]]:
        """Yield messages with the delivery of a later one of their key that came before theirs."""
        lines: dict[tuple[str, str], list[_Body]] = defaultdict(list)
        for body, key in self.keys.items():
            if body in self.numbers and len(self.sends[body]) == 1:
                lines[key].append(body)
        for numbered in lines.values():
            numbered.sort(key=self.numbers.__getitem__)
            soonest = -1
            for body in reversed(numbered):
                own = self._first_delivery(body) if self.gives.get(body) else -1
                if soonest >= 0 and (own < 0 or self._return_of(soonest) < self._call_of(own)):
                    yield body, soonest
                if own >= 0 and (soonest < 0 or self._return_of(own) < self._return_of(soonest)):
                    soonest = own

    def _not_found(self) -> Iterator[tuple[_Body, int]]:
        """Yield messages that were surely there with the first empty answer that shows none."""
        arrivals: dict[str, list[tuple[int, _Body]]] = defaultdict(list)
        for body, sends in self.sends.items():
            if body in self.numbers and len(sends) == 1 and body[0] not in self.regular:
                arrivals[body[0]].append((self._return_of(self._arrival(sends[0])), body))
        for queue, arrived in arrivals.items():
            arrived.sort(reverse=True)
            waiting: list[_Body] = []
            for answer in self.empties.get(queue, ()):
                while arrived and arrived[-1][0] < self._call_of(answer):
                    waiting.append(arrived.pop()[1])
                still = []
                for body in waiting:
                    own = self._first_delivery(body) if self.gives.get(body) else -1
                    if own < 0 or self._call_of(own) > self._return_of(answer):
                        yield body, answer
                    elif self._return_of(own) >= self._call_of(answer):
                        still.append(body)
                waiting = still

    def _call_of(self, number: int) -> int:
        return self._events[number].called

    def _return_of(self, number: int) -> int:
        returned = self._events[number].returned
        return NEVER if returned is None else returned

    def _turn(self, body: _Body) -> tuple[int, int]:
        """Return the sort key of a message in its line: sequence number, or else first delivery."""
        gives = self.gives.get(body, ())
        observations = [*gives, *self.peeks.get(body, ())]
        # A sequence number proves the place in the line; a receive only hints at it.
        for index in observations:
            for view in _views(self._events[index]):
                if view[0] == body[1] and view[1] is not None:
                    return (0, view[1])
        first = min((self._events[give].called for give in gives), default=NEVER)
        return (1, first)

    def _copies(self) -> Iterator[tuple[int, int]]:
        """Yield pairs in which a message that was seen precedes other sends of its MessageId."""
        alike: dict[tuple[str, str], list[tuple[bool, int]]] = defaultdict(list)
        for body, sends in self.sends.items():
            command = self._events[sends[0]].command
            if isinstance(command, v.Send) and command.message.message_id is not None:
                observed = body in self.gives or body in self.peeks
                arrival = self._arrival(sends[0])
                alike[command.queue, command.message.message_id].append((observed, arrival))
        for copies in alike.values():
            # A copy that is never seen was most likely dropped because of one that was.
            kept = [number for shown, number in copies if shown]
            # A few pairs are enough, because all pairs would grow with the square of the copies.
            yield from ((number, one) for shown, number in copies if not shown for one in kept[-3:])

    def _holders(self, numbers: list[int]) -> Iterator[tuple[int, int]]:
        """Yield pairs in which a close precedes the next accept of a session.

        An accept precedes refusals of other connections.
        """
        events = self._events
        closes = [n for n in numbers if isinstance(events[n].command, v.CloseSession)]
        accepts = [n for n in numbers if isinstance(events[n].command, v.AcceptSession)]
        done = [n for n in accepts if isinstance(events[n].outcome, v.Done)]
        refused = [n for n in accepts if isinstance(events[n].outcome, v.Refused)]
        for accept in done:
            yield from ((accept, close) for close in self._beside(accept, closes))
        for accept in refused:
            yield from ((accept, other) for other in self._beside(accept, done))
        for close in closes:
            yield from ((close, accept) for accept in self._beside(close, refused))

    def _beside(self, one: int, others: list[int]) -> Iterator[int]:
        """Yield those of the other events that overlap and are of another connection."""
        event = self._events[one]
        end = NEVER if event.returned is None else event.returned
        for candidate in others:
            other = self._events[candidate]
            other_end = NEVER if other.returned is None else other.returned
            overlaps = other.called <= end and event.called <= other_end
            if overlaps and other.connection != event.connection:
                yield candidate

    def _transactions(self) -> Iterator[tuple[int, int]]:
        for number, event in enumerate(self._events):
            name = getattr(event.command, "transaction", None)
            if name is None:
                continue
            if name in self.begins:
                yield number, self.begins[name]
            if (
                isinstance(event.command, v.Send | v.SendBatch | v.Settlement)
                and name in self.commits
            ):
                yield self.commits[name], number
            if isinstance(event.command, v.RollBackTransaction) and name in self.commits:
                yield number, self.commits[name]


def _in_a_row(numbers: list[int]) -> Iterator[tuple[int, int]]:
    return ((after, before) for before, after in pairwise(numbers))


def _views_of(event: v.Event) -> tuple[v.MessageView, ...]:
    outcome = event.outcome
    if isinstance(outcome, v.Received):
        return (outcome.message,)
    return outcome.messages if isinstance(outcome, v.ReceivedSeveral) else ()


def _views(event: v.Event) -> Iterator[tuple[str, int | None]]:
    yield from ((view.body, view.sequence_number) for view in _views_of(event))
    if isinstance(event.outcome, v.Peeked):
        yield from ((view.body, view.sequence_number) for view in event.outcome.messages)
