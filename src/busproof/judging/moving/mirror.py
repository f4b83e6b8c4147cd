"""A model that follows the answers of another bus, and objects where its own would differ.

Each request is first decided by the model itself. An answer that is none of the model's is an
objection, and the model is brought to where the other bus is all the same: a refused message is
sent as the model takes it, a delivered one is taken out, whatever its place in the order. So one
difference is one objection, and its consequences are none. Which partition takes a message, and
which of several messages comes first, is free and never an objection.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.moving.records import Records, name_of, views_in
from busproof.model import Answer, Namespace, RoundRobin, forget, new_namespace, step, ways
from busproof.model.journal import Change
from busproof.model.life_cycle import ACTIVE, LOCKED_STATES, Action, State
from busproof.model.state import QueuedMessage, Transaction
from busproof.model.values import Refusal
from busproof.spec import observed_readings

__all__ = ["Mirror", "Objection"]

EITHER: Final = "either"
"""The reading under which a bus may answer in each permitted way."""
TRIED: Final = 64
"""Maximum number of ways to look at for one in which the model agrees."""
CREATIONS: Final = v.CreateQueue | v.CreateTopic | v.RestoreQueue
RECEIVES: Final = v.Receive | v.ReceiveBatch
SETTLEMENTS: Final = v.Complete | v.Abandon | v.DeadLetter | v.Defer
OUTAGES: Final = v.TakePartitionDown | v.BringPartitionUp
ACTIONS: Final = {
    v.Complete: Action.COMPLETE,
    v.Abandon: Action.ABANDON,
    v.DeadLetter: Action.DEAD_LETTER,
    v.Defer: Action.DEFER,
}
SETTLED_BY: Final = {action: kind for kind, action in ACTIONS.items()}
DESCRIBED: Final = (
    "partitioned",
    "requires_session",
    "duplicate_detection",
    "duplicate_window",
    "lock_duration",
    "max_delivery_count",
    "time_to_live",
    "max_size",
)
"""Fields of descriptions that are compared; the others are counts, which may lag."""


@attrs.frozen(kw_only=True)
class Objection:
    """An answer that differs from the other bus's.

    Attributes:
        outcome: the model's own answer.
        rules: the rules that decided it.
        certain: whether no way of the model gives the other bus's answer.
        field: the field of a description that differs; empty if it is about something else.
        extra: messages of the model that the other bus does not have.
    """

    outcome: v.Outcome
    rules: tuple[v.RuleId, ...] = ()
    certain: bool = True
    field: str = ""
    extra: tuple[QueuedMessage, ...] = ()


class Mirror:
    """A namespace of the model that follows another bus's answers.

    Args:
        profile: the edition, tier and readings that the model follows.
        learns: whether to take over how the other bus reads what is open. At first it is read as
            the real service was seen to read it.

    Attributes:
        enqueued: for the latest event, the messages that were enqueued by it.
        rules: the rules that decided the model's own answer to the latest event.
        lacks: whether the latest event is about what the model lacks, so that it was passed over.
    """

    def __init__(self, profile: v.Profile, *, learns: bool) -> None:
        self.namespace: Namespace = new_namespace(profile)
        self._learns = learns
        seen = observed_readings(profile.edition).items()
        self._seen = {name: each for name, each in seen if profile.readings.get(name) == EITHER}
        self.namespace.readings.update(self._seen)
        self._choices = RoundRobin()
        self._records = Records()
        self._lost: set[Hashable] = set()
        self._absent: set[str] = set()
        self._pending: dict[str, list[v.Command]] = {}
        self._outside: set[str] = set()
        self._doomed: dict[str, list[tuple[v.Command, tuple[v.RuleId, ...]]]] = {}
        self.enqueued: list[QueuedMessage] = []
        self.rules: tuple[v.RuleId, ...] = ()
        self.lacks = False

    # Following --------------------------------------------------------------------------------

    def follow(self, command: v.Command, outcome: v.Outcome, connection: str) -> Objection | None:
        """Decide a request, object if the answer differs, and go where the other bus is."""
        self.enqueued = []
        self.rules = ()
        self.lacks = self._is_out_of_reach(command, outcome)
        if self.lacks:
            self._pass_over(command, outcome, connection)
        elif isinstance(command, v.AdvanceClock):
            self.pass_time(self.namespace.now + command.duration)
        if self.lacks or isinstance(command, v.AdvanceClock | OUTAGES):
            return None
        if isinstance(command, RECEIVES | v.ReceiveDeferred | v.DeleteBatch | v.Peek):
            return self._follow_free(command, outcome, connection)
        if isinstance(command, v.AcceptNextSession) and isinstance(outcome, v.SessionAccepted):
            accepted = v.AcceptSession(queue=command.queue, session_id=outcome.session_id)
            return self._follow(accepted, v.Done(), connection)
        return self._follow(command, outcome, connection)

    def _follow_free(
        self,
        command: v.Receive | v.ReceiveBatch | v.ReceiveDeferred | v.DeleteBatch | v.Peek,
        outcome: v.Outcome,
        connection: str,
    ) -> Objection | None:
        """Follow a request about messages that the bus chooses."""
        match command:
            case v.ReceiveDeferred():
                return self._follow_deferred(command, outcome, connection)
            case v.DeleteBatch():
                return self._follow_deletion(command, outcome, connection)
            case v.Peek():
                # What a peek shows is mostly free, and it changes nothing.
                asked = attrs.evolve(command, from_sequence_number=None)
                objection = self._object(asked, outcome, connection)
                self.namespace.journal.undo()
                return objection
            case _:
                return self._follow_receive(command, outcome, connection)

    def pass_time(self, until: int) -> None:
        """Let time pass until a moment; what becomes due happens."""
        if until > self.namespace.now:
            passing = v.AdvanceClock(duration=until - self.namespace.now)
            self._note(self._step(passing, "clock").changes)

    def drop(self, messages: Iterable[QueuedMessage]) -> None:
        """Remove messages that the other bus does not have."""

        def remove(namespace: Namespace) -> None:
            for queued in messages:
                if queued.is_there and queued.state is ACTIVE:
                    namespace.rules.messages.consume(queued, Action.RECEIVE_AND_DELETE)

        self._act(remove)

    def lose(self, message: v.Message | v.MessageView) -> None:
        """Note that the other bus has a message which the model does not have."""
        self._lost.add(name_of(message))

    def release(self, path: str, token: str) -> None:
        """Release a locked message as if it had never been delivered."""
        known = self._records.find_locked(path, token)
        if known is None or known[0].token != known[1]:
            return
        queued = known[0]

        def give_back(namespace: Namespace) -> None:
            namespace.journal.touch(queued)
            queued.failed -= 1
            namespace.rules.locks.release(queued, Action.ABANDON)

        self._act(give_back)

    def delete(self, path: str, bodies: Iterable[str]) -> None:
        """Delete the messages of an entity with these bodies."""
        views = [v.MessageView(body=body) for body in bodies]
        found = [self._records.find(path, view) for view in views]
        self.drop(queued for queued in found if queued is not None)

    def _is_out_of_reach(self, command: v.Command, outcome: v.Outcome) -> bool:
        """Return whether a request is about an entity, message or transaction that is not here."""
        if getattr(command, "transaction", None) in self._outside:
            return True
        path = v.owner_of(getattr(command, "queue", getattr(command, "topic", "")))
        if any(f"{path}/".startswith(f"{absent}/") for absent in self._absent):
            # It may be created once more, with other settings.
            if not isinstance(command, CREATIONS) or isinstance(outcome, v.Refused):
                return True
            self._absent.discard(path)
        if isinstance(command, SETTLEMENTS | v.RenewLock):
            return ("lock", command.lock_token) in self._lost
        if isinstance(command, v.SettleBatch | v.RenewLocks):
            return any(("lock", token) in self._lost for token in command.lock_tokens)
        if isinstance(command, v.CancelScheduled):
            return ("number", command.sequence_number) in self._lost
        return False

    def _pass_over(self, command: v.Command, outcome: v.Outcome, connection: str) -> None:
        """Note what a request does that is out of reach here."""
        if isinstance(outcome, v.Refused):
            return
        within: Any = self._translate(command)  # of any kind that may be in a transaction
        if getattr(command, "transaction", None) in self._outside:
            if isinstance(command, v.CommitTransaction | v.RollBackTransaction):
                self._outside.discard(command.transaction)
                self._finish(command, outcome, connection)
            else:
                alone = attrs.evolve(within, transaction=None)
                self._pending.setdefault(within.transaction, []).append(alone)
        elif isinstance(command, v.Send | v.Schedule):
            self.lose(command.message)
        elif isinstance(command, v.SendBatch):
            for message in command.messages:
                self.lose(message)

    # Requests that say themselves what they do -------------------------------------------------

    def _follow(self, command: v.Command, outcome: v.Outcome, connection: str) -> Objection | None:
        own = self._translate(command)
        objection = self._object(own, outcome, connection)
        if objection is None:
            self._note_number(command, outcome)
            self._finish(command, outcome, connection)
            return None
        refused = isinstance(objection.outcome, v.Refused)
        if refused and not isinstance(outcome, v.Refused):
            self._catch_up(own, connection)
            self._note_number(command, outcome)
        elif isinstance(command, v.CommitTransaction) and not refused:
            # The other bus did nothing of it.
            self._step(v.RollBackTransaction(transaction=command.transaction), connection)
        self._finish(command, outcome, connection)
        return objection

    def _object(self, command: v.Command, outcome: v.Outcome, connection: str) -> Objection | None:
        """Decide a request; an answer that differs is undone and returned as an objection."""
        answer = self._step(command, connection)
        self.rules = answer.rules
        field = difference(answer.outcome, outcome)
        if field is None:
            self._note(answer.changes)
            self._note_doomed(command, answer)
            return None
        self.namespace.journal.undo()
        certain = not field and not self._may_agree(command, outcome, connection)
        rules = answer.rules
        if isinstance(command, v.CommitTransaction):
            # The commit is refused for what was sent before.
            doomed = self._doomed.get(command.transaction, ())
            rules = rules or next((because for _, because in doomed), ())
        return Objection(outcome=answer.outcome, rules=rules, certain=certain, field=field)

    def _note_doomed(self, command: v.Command, answer: Answer) -> None:
        """TXN-REFUSAL: note a send that is accepted and makes its transaction fail."""
        name = getattr(command, "transaction", None)
        transaction = self.namespace.transactions.get(name or "")
        if not isinstance(command, v.Send | v.SendBatch | v.Schedule):
            return
        if transaction is None or not transaction.doomed:
            return
        kept = {name_of(buffered.message) for buffered in transaction.sends}
        sent = command.messages if isinstance(command, v.SendBatch) else (command.message,)
        if not isinstance(answer.outcome, v.Refused) and kept.isdisjoint(map(name_of, sent)):
            within: Any = command
            alone = attrs.evolve(within, transaction=None)
            self._doomed.setdefault(within.transaction, []).append((alone, answer.rules))

    def _may_agree(self, command: v.Command, outcome: v.Outcome, connection: str) -> bool:
        """Return whether the model answers as the other bus in some way; nothing is changed."""
        readings = self.namespace.readings
        # Without any change first, and then with one reading left open.
        for name in (None, *self._seen) if self._learns else (None,):
            reading = None if name is None else readings.pop(name, None)
            found = self._agreeing(command, outcome, connection)
            if found is not None:
                if self._learns:
                    self._seen.pop(name or "", None)
                    readings.update(found)
                return True
            if name is not None and reading is not None:
                readings[name] = reading
        return False

    def _agreeing(
        self, command: v.Command, outcome: v.Outcome, connection: str
    ) -> dict[str, str] | None:
        """Return the readings of a way in which the model agrees; `None` if there is none."""
        found = None
        for _, answer in islice(ways(self.namespace, command, connection), TRIED):
            if difference(answer.outcome, outcome) is None:
                found = dict(self.namespace.readings)
                break
        self.namespace.journal.undo()
        return found

    def adopt(self, other: "Mirror") -> None:
        """Read what the profile leaves open as another bus was found to read it."""
        own = self.namespace.readings
        found = other.namespace.readings
        for name, reading in self.namespace.profile.readings.items():
            if reading == EITHER and name in found:
                own[name] = found[name]
            elif reading == EITHER:
                own.pop(name, None)

    def _translate(self, command: v.Command) -> v.Command:
        """Return a request with the model's own tokens and numbers."""
        records = self._records
        changes: dict[str, Any] = {}
        match command:
            case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer() | v.RenewLock():
                changes["lock_token"] = records.token(command.queue, command.lock_token)
            case v.SettleBatch() | v.RenewLocks():
                tokens = command.lock_tokens
                changes["lock_tokens"] = tuple(records.token(command.queue, t) for t in tokens)
            case v.CancelScheduled():
                known = records.find_numbered(command.queue, command.sequence_number)
                changes["sequence_number"] = -1 if known is None else known.number
        return attrs.evolve(command, **changes) if changes else command

    def _note_number(self, command: v.Command, outcome: v.Outcome) -> None:
        """Note the number under which the other bus has scheduled a message."""
        if not isinstance(command, v.Schedule) or not isinstance(outcome, v.Scheduled):
            return
        entity = self.namespace.entities.get(command.queue)
        alike = [
            each
            for each in (() if entity is None else entity.scheduled.values())
            if name_of(each.message) == name_of(command.message)
        ]
        if alike:
            self._records.number(command.queue, outcome.sequence_number, alike[-1])
        elif outcome.sequence_number is not None and command.transaction is None:
            self._lost.add(("number", outcome.sequence_number))

    def _finish(self, command: v.Command, outcome: v.Outcome, connection: str) -> None:
        """Do with the end of a transaction what could not be done in it."""
        if not isinstance(command, v.CommitTransaction | v.RollBackTransaction):
            return
        name = command.transaction
        waiting = self._pending.pop(name, ())
        is_committed = isinstance(command, v.CommitTransaction) and isinstance(outcome, v.Done)
        for late in waiting if is_committed else ():
            self._do_anyhow(late, connection)
        # Its name is never reused.
        self._doomed.pop(name, None)
        self.namespace.transactions.pop(name, None)

    # Catching up with what the other bus accepted ----------------------------------------------

    def _catch_up(self, command: v.Command, connection: str) -> None:
        """Bring the model to where a request has brought the other bus, though it refuses it."""
        within: Any = command  # of any kind that may be in a transaction
        transaction = getattr(command, "transaction", None)
        match command:
            case v.CommitTransaction():
                self._apply_singly(command.transaction, connection)
            case v.BeginTransaction():
                self._outside.add(command.transaction)
            case v.RollBackTransaction():
                pass
            case _ if transaction is not None:
                alone = attrs.evolve(within, transaction=None)
                self._pending.setdefault(transaction, []).append(alone)
            case _:
                self._do_anyhow(command, connection)

    def _apply_singly(self, name: str, connection: str) -> None:
        """Do the requests of a transaction that the model does not commit, one after another."""
        transaction = self.namespace.transactions.get(name)
        if transaction is None:
            return
        commands = list(_requests_of(transaction))
        commands += [command for command, _ in self._doomed.get(name, ())]
        self._note(self._step(v.RollBackTransaction(transaction=name), connection).changes)
        for command in commands:
            self._do_anyhow(command, connection)

    def _do_anyhow(self, command: v.Command, connection: str) -> None:
        """Do what a request does, in the way that the model accepts."""
        if isinstance(command, v.SendBatch):
            for message in command.messages:
                self._do_anyhow(v.Send(queue=command.queue, message=message), connection)
            return
        for other in (command, *_alternatives(command)):
            answer = self._step(other, connection)
            if not isinstance(answer.outcome, v.Refused):
                self._note(answer.changes)
                return
            self.namespace.journal.undo()
        self._do_without(command)

    def _do_without(self, command: v.Command) -> None:
        """Note what the model lacks from now on."""
        match command:
            case v.Send() | v.Schedule():
                self._lost.add(name_of(command.message))
            case v.CreateQueue() | v.RestoreQueue():
                self._absent.add(command.queue)
            case v.CreateTopic():
                self._absent.add(command.topic)
            case v.CreateSubscription():
                self._absent.add(v.subscription_path(command.topic, command.subscription))
            case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer():
                self._settle(command)

    def _settle(self, command: v.Settlement) -> None:
        """Settle a message whose lock the model holds for lost."""
        entity = self.namespace.entities.get(command.queue)
        number = command.lock_token.partition("/")[0]
        queued = entity.messages.get(int(number)) if entity and number.isdecimal() else None
        if queued is None or queued.state not in (ACTIVE, *LOCKED_STATES):
            return

        def settle(namespace: Namespace) -> None:
            if queued.state is ACTIVE:
                namespace.rules.locks.lock(queued, Action.RECEIVE)
            with suppress(Refusal):
                namespace.rules.locks.apply(
                    queued, ACTIONS[type(command)], getattr(command, "reason", "")
                )

        self._act(settle)

    # Receives, whose order is free -------------------------------------------------------------

    def _follow_receive(
        self, command: v.Receive | v.ReceiveBatch, outcome: v.Outcome, connection: str
    ) -> Objection | None:
        views = views_in(outcome)
        asked = self._step(command, connection)
        given = [self._find_shown(command.queue, view) for view in views_in(asked.outcome)]
        self.namespace.journal.undo()
        if isinstance(asked.outcome, v.Refused) or isinstance(outcome, v.Refused):
            objection = self._object(command, outcome, connection)
            self.namespace.journal.undo()
        elif not views and given:
            extra = tuple(queued for queued in given if queued is not None)
            objection = Objection(outcome=asked.outcome, rules=asked.rules, extra=extra)
        else:
            objection = None
        for view in views:
            missing = self._take_out(command.queue, view, command.mode)
            objection = objection or missing
        return objection

    def _find_shown(self, path: str, view: v.MessageView) -> QueuedMessage | None:
        entity = self.namespace.entities[path]
        return entity.messages.get(view.sequence_number or -1)

    def _take_out(self, path: str, view: v.MessageView, mode: v.ReceiveMode) -> Objection | None:
        """Give the message that the other bus has given; object if it cannot be given."""
        if name_of(view) in self._lost:
            self._lose_lock(view)
            return None
        queued = self._records.find(path, view)
        if queued is None or queued.state in (State.DEFERRED, State.DEFERRED_LOCKED):
            self.lose(view)
            self._lose_lock(view)
            return Objection(outcome=v.Empty(), rules=())
        was_locked = queued.state is State.LOCKED

        def give(namespace: Namespace) -> None:
            if queued.state is State.LOCKED:
                namespace.rules.locks.unlock(queued, Action.LOCK_ENDS)
            namespace.rules.messages.give(queued, mode)

        self._act(give)
        self._records.bind(path, view, queued)
        return Objection(outcome=v.Empty(), rules=("LIFE-02",)) if was_locked else None

    def _lose_lock(self, view: v.MessageView) -> None:
        if view.lock_token is not None:
            self._lost.add(("lock", view.lock_token))

    def _follow_deferred(
        self, command: v.ReceiveDeferred, outcome: v.Outcome, connection: str
    ) -> Objection | None:
        numbers = command.sequence_numbers
        known = [self._records.find_numbered(command.queue, number) for number in numbers]
        messages = [each for each in known if isinstance(each, QueuedMessage)]
        if len(messages) < len(numbers) and not isinstance(outcome, v.Refused):
            for view in views_in(outcome):
                self._lose_lock(view)
        own = tuple(-1 if each is None else each.number for each in known)
        asked = attrs.evolve(command, sequence_numbers=own)
        if None in known and not isinstance(outcome, v.Refused):
            return None
        objection = self._object(asked, outcome, connection)
        if objection is not None:
            self.namespace.journal.undo()
            if not isinstance(outcome, v.Refused):
                self._give_deferred(messages, command.mode)
        for queued, view in zip(messages, views_in(outcome), strict=False):
            self._records.bind(command.queue, view, queued)
        return objection

    def _give_deferred(self, messages: Sequence[QueuedMessage], mode: v.ReceiveMode) -> None:
        def give(namespace: Namespace) -> None:
            for queued in messages:
                if queued.is_there and queued.state is State.DEFERRED:
                    namespace.rules.deferral.give(queued, mode)

        self._act(give)

    def _follow_deletion(
        self, command: v.DeleteBatch, outcome: v.Outcome, connection: str
    ) -> Objection | None:
        """Delete as many messages as the other bus did, the oldest first."""
        objection = self._object(command, outcome, connection)
        self.namespace.journal.undo()
        entity = self.namespace.entities.get(command.queue)
        if isinstance(outcome, v.Deleted) and entity is not None:
            active = [each for each in entity.messages.values() if each.state is ACTIVE]
            active.sort(key=lambda queued: queued.arrival)
            self.drop(active[: outcome.count])
        return objection

    # Steps ------------------------------------------------------------------------------------

    def _step(self, command: v.Command, connection: str) -> Answer:
        """Decide a request in a step that can be undone."""
        forget(self.namespace)
        return step(self.namespace, command, connection, self._choices, keep=True)

    def _act(self, do: Callable[[Namespace], None]) -> None:
        """Change the namespace as no request does."""
        forget(self.namespace)
        self.namespace.choices = self._choices
        do(self.namespace)
        self._note(self.namespace.journal.hand_over())

    def _note(self, changes: Sequence[Change]) -> None:
        self.enqueued += self._records.note(changes)


def difference(own: v.Outcome, other: v.Outcome) -> str | None:
    """Return how two answers differ: a field of a description, or empty for another difference.

    `None` if they do not differ as far as they are compared: refusals by their error, descriptions
    by their settings, and other answers not at all, because what they show is mostly free.
    """
    if isinstance(own, v.Refused) and isinstance(other, v.Refused):
        unnamed = v.Error.OTHER in (own.error, other.error)
        return None if own.error is other.error or unnamed else ""
    if isinstance(own, v.Refused) or isinstance(other, v.Refused):
        return ""
    if isinstance(own, v.SessionState) and isinstance(other, v.SessionState):
        return None if own == other else ""
    if isinstance(own, v.SessionAccepted) is not isinstance(other, v.SessionAccepted):
        return "" if v.Empty in (type(own), type(other)) else None
    if isinstance(own, v.Described | v.TopicDescribed) and type(own) is type(other):
        mine = own.description
        theirs = other.description
        for name in DESCRIBED:
            values = getattr(mine, name, None), getattr(theirs, name, None)
            if None not in values and values[0] != values[1]:
                return name
    return None


def _alternatives(command: v.Command) -> Iterator[v.Command]:
    """Yield requests that do what another namespace may accept in place of a request."""
    match command:
        case v.CreateQueue() | v.CreateTopic():
            plain: dict[str, Any] = {"duplicate_detection": False}
            for changes in ({}, plain):
                for partitioned in (True, False):
                    for size in dict.fromkeys((command.max_size, None)):
                        yield attrs.evolve(
                            command, partitioned=partitioned, max_size=size, **changes
                        )
        case v.RestoreQueue():
            yield v.CreateQueue(
                queue=command.queue,
                requires_session=command.requires_session,
                duplicate_detection=command.duplicate_detection,
            )
        case v.Send() | v.Schedule():
            message = command.message
            # A keyless message, one with the session alone, and one of no size.
            small: dict[str, Any] = {"size": None}
            free: dict[str, Any] = {"partition_key": None}
            for changes in (free, small, free | small, free | small | {"properties": {}}):
                yield attrs.evolve(command, message=attrs.evolve(message, **changes))


def _requests_of(transaction: Transaction) -> Iterator[v.Command]:
    """Yield what a transaction would do with its commit, as requests outside of one."""
    for enlisted in transaction.settlements:
        kind: Any = SETTLED_BY[enlisted.action]
        reason = {"reason": enlisted.reason} if kind is v.DeadLetter else {}
        yield kind(queue=enlisted.entity.path, lock_token=enlisted.token, **reason)
    for change in transaction.rule_changes:
        yield attrs.evolve(change.command, transaction=None)
    for buffered in transaction.sends:
        path = buffered.entity.path
        message = buffered.message
        if buffered.scheduled is None:
            yield v.Send(queue=path, message=message)
        else:
            delay = max(buffered.scheduled.due - buffered.sent, 0)
            yield v.Schedule(queue=path, message=message, delay=delay)
