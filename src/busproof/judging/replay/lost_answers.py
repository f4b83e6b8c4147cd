"""Requests without an answer: each took effect at once, later, or not at all."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Final

from busproof import vocabulary as v
from busproof.judging.replay.evidence import (
    Evidence,
    base_path,
    messages_of,
    views_of,
)
from busproof.judging.replay.guide import Guide
from busproof.judging.replay.obstacles import Obstacles
from busproof.judging.replay.open_answers import OpenAnswers
from busproof.judging.replay.timers import Clock
from busproof.judging.replay.unseen import Unseen
from busproof.model.ambiguities import RoundRobin
from busproof.model.rules import Namespace
from busproof.model.state import QueuedMessage
from busproof.model.step import step

__all__ = ["LostAnswers"]

CREATIONS: Final = (v.CreateQueue, v.CreateTopic, v.CreateSubscription)
SENDING: Final = (v.Send, v.SendBatch, v.Schedule)
OF_MESSAGES: Final = (
    *(v.Receive, v.ReceiveBatch, v.ReceiveDeferred, v.DeleteBatch, v.CancelScheduled),
    *(v.Complete, v.Abandon, v.DeadLetter, v.Defer, v.SettleBatch, v.RenewLock, v.RenewLocks),
    *(v.AcceptSession, v.AcceptNextSession, v.CloseSession, v.RenewSessionLock),
    *(v.SetSessionState, v.GetSessionState, v.ListSessions, v.Peek),
)
"""Requests about messages and sessions that an entity has."""
OF_TOPICS: Final = (
    *(v.ListQueues, v.ListTopics, v.GetTopic, v.ListSubscriptions),
    *(v.AddRule, v.RemoveRule, v.ListRules, v.BeginTransaction),
)
"""Requests to which it does not matter which messages an entity has."""
WITHOUT_EFFECT: Final = (
    *(v.Peek, v.GetQueue, v.GetTopic, v.GetSessionState, v.ListSessions, v.ListQueues),
    *(v.ListTopics, v.ListSubscriptions, v.ListRules),
)

COUNTING: Final = (v.GetQueue, v.DeleteBatch)
"""Requests whose answers say how many messages there are."""
FINDING_SESSIONS: Final = (v.ListSessions, v.AcceptNextSession)
"""Requests whose answers say which sessions have messages."""

LOCKED: Final = (
    *(v.Complete, v.Abandon, v.DeadLetter, v.Defer, v.SettleBatch),
    *(v.RenewLock, v.RenewLocks, v.RenewSessionLock, v.SetSessionState),
)
"""Requests that take effect only while a lock is held."""


def _place(command: v.Command) -> str:
    """Return the queue or topic of a request; empty if it names none."""
    path = getattr(command, "queue", None) or getattr(command, "topic", None) or ""
    return base_path(path) if path else ""


class LostAnswers:
    """The requests of a history whose answers are unknown.

    Args:
        namespace: the model's namespace.
        guide: the policy that chooses when they take effect.
        evidence: facts about the whole history.
        unseen: what no answer has shown.
        clock: the clock, for what has happened at some time since the request.
        open_answers: what a bus may leave out of a request.
        obstacles: what is in the way of an answer.
    """

    def __init__(
        self,
        namespace: Namespace,
        guide: Guide,
        evidence: Evidence,
        unseen: Unseen,
        clock: Clock,
        open_answers: OpenAnswers,
        obstacles: Obstacles,
    ) -> None:
        self._namespace = namespace
        self._guide = guide
        self._bindings = guide.bindings
        self._evidence = evidence
        self._unseen = unseen
        self._clock = clock
        self._open = open_answers
        self._obstacles = obstacles
        self._pending: dict[int, v.Event] = {}

    @property
    def waiting(self) -> Mapping[int, v.Event]:
        """The requests without an answer that may still take effect."""
        return self._pending

    @property
    def pending(self) -> frozenset[int]:
        """Their indices, as a value."""
        return frozenset(self._pending)

    def ask(self, index: int, event: v.Event) -> None:
        """Let a request without an answer take effect now, or keep it for later."""
        if isinstance(event.command, WITHOUT_EFFECT):
            return
        queue = getattr(event.command, "queue", "")
        fates = ["not yet", "now"]
        if self._took_effect_at_once(index, event):
            fates.reverse()
        fate = self._guide.take("ANSWER-LOST", fates, base_path(queue) if queue else None)
        # Also where it changes nothing now, it might have done so later: the choice counts.
        self._namespace.journal.put(self._pending, index, event)
        if fate == "now":
            self._namespace.journal.drop(self._pending, index)
            self._execute(event)

    def _took_effect_at_once(self, index: int, event: v.Event) -> bool:
        """Return whether a request most likely took effect at once, by what is seen later.

        The number of a message says before which others it came, so that it can wait for them.
        """
        command = event.command
        if isinstance(command, v.Settlement):
            return self._was_settled(index, command)
        if self._is_numbered(event) and not self._guide.is_hasty:
            return False
        return self._obstacles.outlook.is_traced(command)

    def _was_settled(self, index: int, command: v.Settlement) -> bool:
        """Return whether what is seen later of a message shows that it was settled."""
        entity = self._namespace.entities.get(command.queue)
        token = self._bindings.model_token(command.queue, command.lock_token)
        number = token.partition("/")[0]
        if entity is None or not number.isdecimal():
            return False
        queued = self._bindings.made(entity, int(number))
        if not isinstance(queued, QueuedMessage):
            return False
        body = queued.message.body
        if isinstance(command, v.Abandon):
            given = self._evidence.next_given(index, command.queue, body)
            return queued.session is not None and given is not None and given.count > queued.failed
        return self._evidence.is_hidden_after(index, command.queue, body)

    def take_effect(self, index: int, event: v.Event) -> bool:
        """Let earlier requests without an answer take effect before this event, as chosen.

        Returns:
            Whether any has.
        """
        if not self._pending:
            return False
        some = False
        part = self._evidence.part_of_event(index)
        command = event.command
        ahead = command.duration if isinstance(command, v.AdvanceClock) else 0
        # By number: a script counts places, and what was undone is the last of those pending.
        waiting = [
            number
            for number, lost in sorted(self._pending.items(), key=itemgetter(0))
            if (self._evidence.part_of_event(number) == part and self._may_show(lost, event))
            or self._took_room_of(lost, event)
            # When time has passed, its lock may have ended.
            or (ahead and isinstance(lost.command, LOCKED))
        ]
        while waiting:
            sought = self._obstacles.before(event) if self._guide.is_hasty else None
            if sought is not None:
                waiting = [
                    one for one in waiting if self._obstacles.removed(self._pending[one], sought)
                ]
            options: list[int | None] = [None, *waiting]
            options.sort(key=lambda lost: lost is None or not self._comes_now(lost, event))
            places = {_place(self._pending[one].command) for one in waiting}
            # A hasty search tries what has no tag wherever it goes back to.
            is_one = len(places) == 1 and not self._guide.is_hasty
            tag = (places.pop() or None) if is_one else None
            chosen = self._guide.take("ANSWER-LATE", options, tag)
            if chosen is None:
                return some
            lost = self._pending[chosen]
            self._namespace.journal.drop(self._pending, chosen)
            waiting.remove(chosen)
            back = self._guide.consider_lost(chosen, lost)
            since = self._clock.stretch(lost.called, min(ahead, self._lock_of(lost)))
            self._guide.sought = None if sought is None else self._obstacles.removed(lost, sought)
            self._execute(lost)
            self._guide.sought = None
            since()
            back()
            some = True
        return some

    def _lock_of(self, lost: v.Event) -> int:
        """Return for how long a lock may still be held while the clock is advanced."""
        entity = self._namespace.entities.get(getattr(lost.command, "queue", ""))
        return 0 if entity is None else entity.settings.lock_duration

    def _execute(self, event: v.Event) -> None:
        self._unseen.recognise(event)
        command = self._open.perhaps_reduced(self._bindings.translated(event.command))
        if isinstance(command, v.CommitTransaction):
            # A commit that did not arrive leaves a transaction that is given up in the end.
            undone: v.Command = v.RollBackTransaction(transaction=command.transaction)
            command = self._guide.take("ANSWER-LOST", [command, undone], None)
        step(self._namespace, command, event.connection, self._guide, keep=True)

    def _may_show(self, lost: v.Event, event: v.Event) -> bool:
        """Return whether an event can show that a lost request has taken effect."""
        # A transaction may have ended because a send was refused in it (TXN-AFTER-REFUSAL).
        if not isinstance(lost.command, v.Send) or lost.command.transaction is not None:
            return self._may_matter(lost.command, event)
        message = lost.command.message
        if isinstance(event.command, COUNTING) or (
            message.session_id is not None and isinstance(event.command, FINDING_SESSIONS)
        ):
            return True
        if self._took_a_turn(lost.command, event):
            return True
        # It may have taken the room that this event lacks.
        if event.outcome == v.Refused(error=v.Error.QUOTA_EXCEEDED):
            return True
        if any(view.body == message.body for view in views_of(event.outcome)):
            return True
        # A copy of the lost message is dropped only if the message itself had arrived, and a
        # later message of its partition comes after it.
        return any(
            one.message_id is not None and one.message_id == message.message_id
            for one in messages_of(event.command)
        ) or self._evidence.may_have_come_before(lost.command.queue, message.body, event)

    def _took_a_turn(self, lost: v.Send, event: v.Event) -> bool:
        """ROUND-ROBIN: return whether a lost message may have gone where one would go that is sent.

        Where messages without a key take strict turns, each moves the turn on.
        """
        is_strict = self._namespace.known_reading(RoundRobin) is RoundRobin.STRICT
        sent = event.command
        return is_strict and isinstance(sent, SENDING) and sent.queue == lost.queue

    def _may_matter(self, lost: v.Command, event: v.Event) -> bool:
        """Return whether it may matter to an event whether a request took effect before it.

        Until an event to which it matters, a request commutes with everything, so that it may as
        well take effect then.
        """
        command = event.command
        own = _place(lost)
        other = _place(command)
        if own and other and own != other and not self._evidence.forwards:
            return False
        is_sent = isinstance(command, SENDING) and not isinstance(event.outcome, v.Refused)
        if isinstance(lost, v.AddRule | v.RemoveRule):
            return not isinstance(command, OF_MESSAGES)
        if isinstance(lost, OF_MESSAGES):
            needs_room = any(message.size for message in messages_of(command))
            return not isinstance(command, OF_TOPICS) and (not is_sent or needs_room)
        return True

    def _comes_now(self, index: int, event: v.Event) -> bool:
        """Return whether an earlier request most likely takes effect before an event.

        Where there is no more room for a queue or topic, what was created took it.
        """
        return self._took_room_of(self._pending[index], event) or self._came_before(index, event)

    @staticmethod
    def _took_room_of(lost: v.Event, event: v.Event) -> bool:
        """Return whether something that was created may have taken the room that is lacking now."""
        return (
            event.outcome == v.Refused(error=v.Error.QUOTA_EXCEEDED)
            and isinstance(event.command, CREATIONS)
            and isinstance(lost.command, CREATIONS)
        )

    def _came_before(self, index: int, event: v.Event) -> bool:
        """SEQ-01: return whether a lost message has a smaller number than one that is sent now."""
        lost = self._pending[index].command
        return isinstance(lost, v.Send) and self._evidence.came_before(
            lost.queue, lost.message.body, event
        )

    def _is_numbered(self, sent: v.Event) -> bool:
        """Return whether the number of a message that was sent is shown."""
        return isinstance(sent.command, v.Send) and self._evidence.is_numbered(
            sent.command.queue, sent.command.message.body
        )
