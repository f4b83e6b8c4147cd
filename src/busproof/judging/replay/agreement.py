"""Whether the model's answer is the recorded one.

An adapter may leave out what its client cannot see, and a number or token of the bus differs from
the model's. So answers are compared field by field; what an answer shows for the first time is
bound (`bindings`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from busproof import vocabulary as v
from busproof.judging.replay.bindings import Bindings, Numbered
from busproof.judging.replay.descriptions import Descriptions
from busproof.judging.replay.errors import Errors
from busproof.judging.replay.evidence import Evidence, views_of
from busproof.judging.replay.guide import Guide
from busproof.judging.replay.open_answers import OpenAnswers
from busproof.judging.replay.open_rules import is_same_rule, with_values_of
from busproof.model.ambiguities import DeadLetterCount, LikeRegular
from busproof.model.answers import Answer
from busproof.model.life_cycle import State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import EntityKind

__all__ = ["Agreement"]

CARRIED: Final = (
    "correlation_id",
    "to",
    "reply_to",
    "subject",
    "reply_to_session_id",
    "content_type",
)
"""Properties that a bus returns as they were sent, and does not interpret."""

REASON: Final = "DeadLetterReason"
"""The property in which a dead letter has its reason; a sender may set it, too."""

UNNAMED_REASONS: Final = frozenset(
    (
        *("DestinationDisabled", "DestinationFull", "DestinationNotFound"),
        *("MaxTransferHopCountExceeded", "SessionIdMissing"),
    )
)
"""The model's reasons of dead letters for which no document names one."""


def is_same_text(sent: str | None, shown: str | None, or_else: str | None = None) -> bool:
    """Return whether a property agrees; an empty one may be missing, a key may be `or_else`."""
    if (sent or None) == (shown or None):
        return True
    return sent is None and or_else is not None and shown == or_else


def can_be_matched(candidates: Sequence[Sequence[Numbered]]) -> bool:
    """Return whether each view can show another one of its candidates."""
    shown_by: dict[Numbered, int] = {}

    def place(view: int, tried: set[Numbered]) -> bool:
        for candidate in candidates[view]:
            if candidate in tried:
                continue
            tried.add(candidate)
            if candidate not in shown_by or place(shown_by[candidate], tried):
                shown_by[candidate] = view
                return True
        return False

    return all(place(view, set()) for view in range(len(candidates)))


class Agreement:
    """Comparison of the model's answers with the recorded ones.

    Args:
        namespace: the model's namespace.
        bindings: the bus's numbers and tokens.
        evidence: facts about the whole history.
        guide: the policy, which offers choices of what a peek shows.
        observability: what the observer sees.
        tolerance: how far a shown end of a lock may be from the model's, at this event.
    """

    def __init__(
        self,
        namespace: Namespace,
        bindings: Bindings,
        evidence: Evidence,
        guide: Guide,
        observability: v.Observability,
    ) -> None:
        self._namespace = namespace
        self._bindings = bindings
        self._evidence = evidence
        self._guide = guide
        self._seen = observability
        guide.assigns_message_ids = observability.assigns_message_ids
        readings = namespace.profile.readings
        # A bus may tell any delivery count of a dead letter (DEAD-LETTER-COUNT).
        self._counts_are_open = readings.get("DEAD-LETTER-COUNT") not in tuple(DeadLetterCount)
        peeks = readings.get("PEEK-IN-OUTAGE")
        self._is_served_in_outages = peeks == "served"
        self.open = OpenAnswers(namespace, guide)
        self.descriptions = Descriptions(namespace, bindings, evidence)
        self._errors = Errors(namespace, bindings, observability)
        self.tolerance = 0

    def agrees(self, event: v.Event, answer: Answer) -> bool:
        """Return whether the model's answer to an event may be the recorded one."""
        recorded = event.outcome
        made = answer.outcome
        if isinstance(recorded, v.Refused):
            return self._refusal_agrees(event, recorded, answer)
        if type(recorded) is not type(made):
            return False
        if isinstance(recorded, v.Done):
            return self._partition_agrees(event, answer)
        compare = COMPARED.get(type(recorded))
        return recorded == made if compare is None else compare(self, event, recorded, made)

    def _refusal_agrees(self, event: v.Event, recorded: v.Refused, answer: Answer) -> bool:
        if not isinstance(answer.outcome, v.Refused):
            return self.open.may_have_worked(event.command)
        if recorded.error is answer.outcome.error:
            return True
        if self.open.has_another_reason(event.command, answer.rules):
            return True
        return self._errors.are_open(
            event, recorded.error, answer.rules, is_of_outage=self._guide.any_error
        )

    def _partition_agrees(self, event: v.Event, answer: Answer) -> bool:
        if not self._evidence.strict or event.witness is None or answer.partition is None:
            return True
        if event.witness.partition == answer.partition:
            return True
        # A regular entity has no partitions that a witness could name.
        entity = self._namespace.entities.get(getattr(event.command, "queue", ""))
        return entity is not None and not entity.settings.partitioned

    # Messages ---------------------------------------------------------------------------------

    def _receive_agrees(self, event: v.Event, recorded: v.Received, made: v.Received) -> bool:
        witness = event.witness
        if self._evidence.strict and witness is not None:
            record = self._record(event, made.message)
            if (
                record is not None
                and record.entity.settings.partitioned
                and record.partition != witness.partition
            ):
                return False
        return self._view_agrees(event, recorded.message, made.message)

    def _several_agree(
        self, event: v.Event, recorded: v.ReceivedSeveral, made: v.ReceivedSeveral
    ) -> bool:
        views = recorded.messages
        shown = made.messages
        return len(views) == len(shown) and all(
            self._view_agrees(event, view, own) for view, own in zip(views, shown, strict=True)
        )

    def _view_agrees(self, event: v.Event, view: v.MessageView, shown: v.MessageView) -> bool:
        record = self._record(event, shown)
        if not isinstance(record, QueuedMessage) or not self._is_unchanged(record, view):
            return False
        counts = view.delivery_count, shown.delivery_count
        is_open = self._counts_are_open and v.is_dead_letter_queue(record.entity.path)
        if None not in counts and counts[0] != counts[1] and not is_open:
            return False
        # In a session the lock is the session's; what end a message shows the documents do not say.
        ends = view.locked_until, shown.locked_until
        if record.session is None and not self._end_agrees(*ends):
            return False
        is_locked = shown.lock_token is not None
        if is_locked and not self._bindings.bind_token(record, view.lock_token):
            return False
        return self._bindings.bind_number(record, view.sequence_number)

    def _record(self, event: v.Event, shown: v.MessageView) -> Numbered | None:
        entity = self._namespace.entities.get(getattr(event.command, "queue", ""))
        if entity is None or shown.sequence_number is None:
            return None
        return self._bindings.made(entity, shown.sequence_number)

    def _is_unchanged(self, record: Numbered, view: v.MessageView) -> bool:
        """LIFE-01: return whether a view shows a message as it was sent, with its reason."""
        sent = record.message
        if not self._is_reason(record, view):
            return False
        open_names = self._bindings.open_names(sent)
        if open_names:
            sent = with_values_of(view, sent, open_names)
        if sent.body != view.body or not is_same_text(sent.session_id, view.session_id):
            return False
        if not is_same_text(sent.partition_key, view.partition_key, sent.session_id):
            return False
        # The client library sets an id that an observer cannot know (KEY-13), so any id matches.
        if sent.message_id is None and self._seen.assigns_message_ids:
            if not view.message_id:
                return False
        elif not is_same_text(sent.message_id, view.message_id):
            return False
        return all(
            is_same_text(getattr(sent, name), getattr(view, name)) for name in CARRIED
        ) and v.same_properties(sent.properties, view.properties)

    def _is_reason(self, record: Numbered, view: v.MessageView) -> bool:
        """DLQ-05: return whether a view shows the reason why a message is a dead letter, or none.

        Not every adapter reports reasons, and not of every one the documents say which it is.
        """
        told = view.dead_letter_reason
        reason = record.reason if isinstance(record, QueuedMessage) else None
        if reason is None:
            return not told or REASON in view.properties
        is_told = told is not None or self._seen.dead_letter_reasons
        return not is_told or reason in UNNAMED_REASONS or is_same_text(reason, told)

    def _end_agrees(self, told: int | None, own: int | None) -> bool:
        if told is None or own is None:
            return True
        return abs(told - own) <= 2 * self._seen.slack + self.tolerance

    def _renewal_agrees(self, _: v.Event, recorded: v.Renewed, made: v.Renewed) -> bool:
        return self._end_agrees(recorded.locked_until, made.locked_until)

    def _renewals_agree(
        self, _: v.Event, recorded: v.RenewedSeveral, made: v.RenewedSeveral
    ) -> bool:
        ends = recorded.locked_until
        own = made.locked_until
        return not ends or (len(ends) == len(own) and all(map(self._end_agrees, ends, own)))

    def _number_agrees(self, event: v.Event, recorded: v.Scheduled, made: v.Scheduled) -> bool:
        number = recorded.sequence_number
        own = made.sequence_number
        entity = self._namespace.entities.get(getattr(event.command, "queue", ""))
        if number is None or own is None or entity is None:
            return True
        record = self._bindings.made(entity, own)
        # A dropped copy is nowhere, but it has a number, too (SCHEDULED-COPIES).
        return record is None or self._bindings.bind_number(record, number)

    # Peeks ------------------------------------------------------------------------------------

    def _peek_agrees(self, event: v.Event, recorded: v.Peeked, made: v.Peeked) -> bool:
        """LIFE-07, PART-15, PART-19: each view shows another message that is there, in order."""
        command = event.command
        views = recorded.messages
        assert isinstance(command, v.Peek)  # noqa: S101 - nothing else is answered so
        entity = self._namespace.entities[command.queue]
        if not views:
            start = command.from_sequence_number
            return not (made.messages if start is None else self._is_behind(entity, command, start))
        if len(views) > command.count or self.shows_what_is_before(event):
            return False
        candidates = [
            [
                one
                for one in (
                    *self._peekable_with(entity, command, view.body),
                    *self._not_cleaned_up(command, view.body),
                )
                if self._may_show(one, view)
            ]
            for view in views
        ]
        # Choosing for one view after another would try all orders of messages that look alike
        # before it found that the last view has none.
        if not can_be_matched(candidates):
            return False
        used: set[Numbered] = set()
        latest: dict[int, QueuedMessage] = {}
        is_peeked = self._evidence.is_peeked_after(self._guide.index, entity.path)
        for view, fitting in zip(views, candidates, strict=True):
            options = [one for one in fitting if one not in used and self._is_in_order(one, latest)]
            if not used and self._evidence.strict and self._guide.memory is None:
                options = [one for one in options if self._may_come_first(entity, command, one)]
            number = view.sequence_number
            options = self._bindings.by_likelihood(options, number, is_peeked=is_peeked)
            record = self._guide.take("LIFE-07", options, entity.path)
            used.add(record)
            if isinstance(record, QueuedMessage):
                latest[record.partition] = record
            if not self._bindings.bind_number(record, number):
                return False
        return True

    def _is_behind(self, entity: Entity, command: v.Peek, start: int) -> bool:
        """PART-20: return whether a message surely has a number from `start` on."""
        if entity.base.down and not self._is_served_in_outages:
            return False
        for record in self._peekable(entity, command):
            known = self._bindings.number_or_limits(record)
            if (known if isinstance(known, int) else known[0] + 1) >= start:
                return True
        return False

    def shows_what_is_before(self, event: v.Event) -> bool:
        """PART-20: return whether a peek shows a message before its starting number.

        Partitions may follow one another in any order (PEEK-CONTINUES).
        """
        start = getattr(event.command, "from_sequence_number", None)
        if start is None or not isinstance(event.outcome, v.Peeked):
            return False
        profile = self._namespace.profile
        entity = self._namespace.entities.get(getattr(event.command, "queue", ""))
        is_one_line = profile.readings.get("PEEK-CONTINUES") == "by-number" or (
            entity is not None and not entity.settings.partitioned
        )
        return any(
            number is not None
            and number < start
            and (
                is_one_line
                or (
                    profile.numbers_name_partitions
                    and number >> v.SEQUENCE_BITS == start >> v.SEQUENCE_BITS
                )
            )
            for number in (view.sequence_number for view in event.outcome.messages)
        )

    def shows_another_number(self, event: v.Event) -> bool:
        """SEQ-04: return whether a message is shown with another number than it has."""
        path = getattr(event.command, "queue", "")
        for view in views_of(event.outcome):
            if view.sequence_number is None or view.state is v.MessageState.SCHEDULED:
                continue
            records = list(islice(self._bindings.ever(path, view.body), 2))
            known = self._bindings.number_of(records[0]) if len(records) == 1 else None
            if known is not None and known != view.sequence_number:
                return True
        return False

    def _peekable(self, entity: Entity, command: v.Peek) -> Iterable[Numbered]:
        """Yield the messages that a peek may show, active ones first, in order of their numbers.

        In an outage it may show messages of any partition (PEEK-IN-OUTAGE).
        """
        down = entity.base.down if self._is_served_in_outages else frozenset()
        for partition in entity.partitions:
            if partition.number in down:
                continue
            for queued in partition.line.behind(entity.messages, 0):
                if command.session_id in (None, queued.message.session_id):
                    yield queued
        for scheduled in entity.scheduled.values():
            is_asked_for = command.session_id in (None, scheduled.message.session_id)
            if is_asked_for and scheduled.partition not in down:
                yield scheduled

    def _peekable_with(self, entity: Entity, command: v.Peek, body: str) -> Iterator[Numbered]:
        """Yield those of `_peekable` with this body, without a look at all that are held."""
        down = entity.base.down if self._is_served_in_outages else frozenset()
        records: list[Numbered] = [
            queued
            for queued in self._bindings.ever(entity.path, body)
            if entity.messages.get(queued.number) is queued
        ]
        records.sort(key=lambda record: (record.partition, record.number))
        records += [one for one in entity.scheduled.values() if one.message.body == body]
        for record in records:
            is_asked_for = command.session_id in (None, record.message.session_id)
            if is_asked_for and record.partition not in down:
                yield record

    def _not_cleaned_up(self, command: v.Peek, body: str) -> Iterator[QueuedMessage]:
        """Yield messages that have expired, and that a peek may show until they are cleaned up."""
        for queued in self._bindings.find_expired(command.queue, body):
            is_asked_for = command.session_id in (None, queued.message.session_id)
            if is_asked_for and queued.partition not in queued.entity.base.down:
                yield queued

    def _is_in_order(self, record: Numbered, latest: dict[int, QueuedMessage]) -> bool:
        """PART-14: return whether a message comes after those of its partition shown before it."""
        if isinstance(record, ScheduledMessage) or not self._evidence.strict:
            return True
        before = latest.get(record.partition)
        return before is None or self._bindings.may_precede(before, record)

    def _may_show(self, record: Numbered, view: v.MessageView) -> bool:
        if not self._is_unchanged(record, view):
            return False
        if not self._bindings.fits(record, view.sequence_number):
            return False
        if isinstance(record, ScheduledMessage):
            return view.state in (None, v.MessageState.SCHEDULED)
        deferred = record.state in (State.DEFERRED, State.DEFERRED_LOCKED)
        state = v.MessageState.DEFERRED if deferred else v.MessageState.ACTIVE
        return view.state in (None, state)

    def _may_come_first(self, entity: Entity, command: v.Peek, record: Numbered) -> bool:
        """PART-14 to PART-16: a peek begins with the oldest message of a partition."""
        if isinstance(record, ScheduledMessage) or command.from_sequence_number is not None:
            return True
        if self._seen.partial or self._bindings.has_expired(record):
            return True
        rule = "PART-15" if entity.settings.partitioned else "PART-14"
        if not self._namespace.states(rule):
            return True
        if entity.base.down and not self._is_served_in_outages:
            return True
        if self._namespace.known_reading(LikeRegular) is LikeRegular.IDENTICAL:
            return all(
                record.arrival <= other.arrival
                for other in self._peekable(entity, command)
                if isinstance(other, QueuedMessage)
            )
        line = entity.partitions[record.partition].line.behind(entity.messages, 0)
        return all(
            queued is record or self._bindings.may_precede(record, queued)
            for queued in line
            if command.session_id in (None, queued.message.session_id)
        )

    # Descriptions -----------------------------------------------------------------------------

    def _description_agrees(self, _: v.Event, recorded: Any, made: Any) -> bool:
        return self.descriptions.agree(recorded.description, made.description)

    # Lists ------------------------------------------------------------------------------------

    def _names_agree(self, event: v.Event, recorded: v.Listed, made: v.Listed) -> bool:
        names = list(recorded.names)
        if isinstance(event.command, v.ListQueues):
            # Whether a list has dead-letter queues and topics, too, is not said.
            names = [name for name in names if self._is_queue(name)]
        return sorted(names) == sorted(made.names)

    def _is_queue(self, name: str) -> bool:
        entity = self._namespace.entities.get(name)
        return entity is None or entity.kind is EntityKind.QUEUE

    def _sessions_agree(
        self, _: v.Event, recorded: v.SessionsListed, made: v.SessionsListed
    ) -> bool:
        return sorted(recorded.session_ids) == sorted(made.session_ids)

    def _rules_agree(self, _: v.Event, recorded: v.RulesListed, made: v.RulesListed) -> bool:
        listed = recorded.rules
        own = {rule.name: rule for rule in made.rules}
        return sorted(rule.name for rule in listed) == sorted(own) and all(
            is_same_rule(rule, own[rule.name]) for rule in listed
        )


COMPARED: Final[dict[type, Callable[[Agreement, v.Event, Any, Any], bool]]] = {
    v.Received: Agreement._receive_agrees,
    v.ReceivedSeveral: Agreement._several_agree,
    v.Peeked: Agreement._peek_agrees,
    v.Scheduled: Agreement._number_agrees,
    v.Renewed: Agreement._renewal_agrees,
    v.RenewedSeveral: Agreement._renewals_agree,
    v.Described: Agreement._description_agrees,
    v.TopicDescribed: Agreement._description_agrees,
    v.Listed: Agreement._names_agree,
    v.SessionsListed: Agreement._sessions_agree,
    v.RulesListed: Agreement._rules_agree,
}
"""Kind of answer to its comparison; answers of all other kinds have to be equal."""
