"""Requests that a bus may answer in another way than the model, where the documents say nothing.

A bus may leave out a part of a request that the model refuses (a lock that is too long, a setting
that cannot change), refuse what the model does (a peek of a disabled queue), or have done what it
refused in an outage (MANAGEMENT-IN-OUTAGE).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.judging.replay.evidence import base_path
from busproof.judging.replay.guide import Guide
from busproof.model.duplicates import LONGEST_WINDOW, SHORTEST_WINDOW
from busproof.model.limits import LONGEST_NAME, LONGEST_SHORT_NAME
from busproof.model.locks import LONGEST_LOCK
from busproof.model.management import FIXED
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.model.values import EntityKind, Refusal

__all__ = ["OpenAnswers"]

SENDING: Final = (v.Send, v.SendBatch, v.Schedule)
CREATING: Final = (v.CreateQueue, v.CreateTopic, v.CreateSubscription)
BASIC: Final = "BASIC-FEATURES"
CHANGING: Final = (*CREATING, v.UpdateQueue, v.UpdateTopic, v.DeleteQueue, v.DeleteTopic)
"""Requests to all partitions of an entity."""
LOOKING: Final = (v.GetQueue, v.Peek)
"""Requests that change nothing."""


class OpenAnswers:
    """Answers that are open in a replay.

    Args:
        namespace: the model's namespace.
        guide: the policy that chooses among them.
    """

    def __init__(self, namespace: Namespace, guide: Guide) -> None:
        self._namespace = namespace
        self._guide = guide

    def as_named(self, event: v.Event) -> v.Event:
        """TOPIC-21: return an event as if it named a subscription in the case of its creation.

        If it was refused, it may as well have named nothing.
        """
        command: Any = event.command
        path = v.concerned(command)
        if path is None or path in self._namespace.entities:
            return event
        topic = path.partition(v.SUBSCRIPTIONS)[0]
        named = self._path_alike(path)
        if named is None:
            return event
        if hasattr(command, "queue"):
            command = attrs.evolve(command, queue=named)
        else:
            short = named.removeprefix(topic + v.SUBSCRIPTIONS)
            command = attrs.evolve(command, subscription=short)
        meant = attrs.evolve(event, command=command)
        if not isinstance(event.outcome, v.Refused | v.Indeterminate):
            return meant
        return self._guide.take("TOPIC-21", (event, meant), self._guide.place)

    def _path_alike(self, path: str) -> str | None:
        """TOPIC-21: return the path that differs from this one only in the name's case, if any."""
        topic = path.partition(v.SUBSCRIPTIONS)[0]
        if topic == path:
            return None
        alike = (
            other
            for other in self._namespace.entities
            if other.startswith(topic + v.SUBSCRIPTIONS) and other.lower() == path.lower()
        )
        return next(alike, None)

    def chosen(self, event: v.Event, command: v.Command) -> v.Command | None:
        """Return the command that is executed for a request; `None` if its answer is open.

        Args:
            event: the request and its answer.
            command: the request with the model's numbers and tokens.
        """
        options: list[v.Command | None] = [command]
        if _names_nothing(command):
            return None
        if not isinstance(event.outcome, v.Refused) and not isinstance(command, LOOKING):
            return self.perhaps_reduced(command)
        if isinstance(event.outcome, v.Refused) and self.may_have_worked(command):
            # Also where the model refuses it first, and nothing changes, the choice counts.
            self._namespace.journal.touch(self._namespace)
        elif self._is_open(command, event.outcome):
            options.append(None)
        if len(options) == 1:
            return command
        return self._guide.take("AS-ASKED", options, self._guide.place)

    def perhaps_reduced(self, command: v.Command) -> v.Command:
        """Return a request, or what is left of it if a bus may ignore a part."""
        if not isinstance(command, CHANGING):
            return command
        reduced = self._reduce(command)
        if reduced == command:
            return command
        return self._guide.take("AS-ASKED", (command, reduced), self._guide.place)

    # Parts of a request that a bus may leave out ----------------------------------------------

    def _reduce(self, command: Any) -> v.Command:
        """Return a request without what a bus may ignore instead of refusing it."""
        changes: dict[str, Any] = {}
        lock = getattr(command, "lock_duration", None)
        if lock is not None and lock > LONGEST_LOCK:
            changes["lock_duration"] = LONGEST_LOCK
        match command:
            case v.CreateQueue() | v.CreateTopic() if self._may_ignore_copies(command):
                changes["duplicate_detection"] = False
            case v.CreateQueue() | v.CreateTopic() if command.duplicate_detection:
                window = min(max(command.duplicate_window, SHORTEST_WINDOW), LONGEST_WINDOW)
                changes["duplicate_window"] = window
            case v.UpdateQueue() | v.UpdateTopic():
                changes |= self._without_fixed(command)
        if getattr(command, "forward_to", None) and self._does_not_forward(command):
            changes["forward_to"] = None
        reduced: v.Command = attrs.evolve(command, **changes)
        return reduced

    def _may_ignore_copies(self, command: v.CreateQueue | v.CreateTopic) -> bool:
        """MGMT-24: return whether a tier may accept duplicate detection, and then do without."""
        profile = self._namespace.profile
        is_open = profile.tier is v.Tier.BASIC and profile.readings.get(BASIC) != "refused"
        return command.duplicate_detection and is_open

    def _without_fixed(self, command: v.UpdateQueue | v.UpdateTopic) -> dict[str, Any]:
        """MGMT-04, MGMT-13, MGMT-14, ROLE-STATUS: return the changes that an update may ignore."""
        path = command.queue if isinstance(command, v.UpdateQueue) else command.topic
        entity = self._namespace.entities.get(path)
        readings = self._namespace.profile.readings
        if entity is None:
            return {}
        is_held = readings.get("OPTION-UPDATE") == "refused"
        names = [name for name in FIXED if not (name == "partitioned" and is_held)]
        changes: dict[str, Any] = {name: None for name in names if hasattr(command, name)}
        unfit = {
            EntityKind.SUBSCRIPTION: v.EntityStatus.SEND_DISABLED,
            EntityKind.TOPIC: v.EntityStatus.RECEIVE_DISABLED,
        }
        if readings.get("ROLE-STATUS") != "refused" and command.status is unfit.get(entity.kind):
            changes["status"] = None
        return changes

    def _does_not_forward(self, command: Any) -> bool:
        """FWD-25, TOPIC-06: return whether an entity may be accepted that does not forward."""
        destination = self._namespace.entities.get(command.forward_to)
        if destination is None:
            return False
        if isinstance(command, v.UpdateQueue):
            source = self._namespace.entities.get(command.queue)
            has_sessions = source is not None and source.settings.requires_session
        else:
            has_sessions = command.requires_session
        return has_sessions or destination.kind is EntityKind.SUBSCRIPTION

    # Answers that show nothing ----------------------------------------------------------------

    def _is_open(self, command: v.Command, outcome: v.Outcome) -> bool:
        """Return whether a request may get an answer, whatever it is, and change nothing."""
        path = v.concerned(command)
        entity = None if path is None else self._namespace.entities.get(path)
        if isinstance(command, LOOKING) and path is not None:
            return self._is_looked_at_openly(command, outcome, entity)
        return isinstance(outcome, v.Refused) and self._may_be_refused(command, entity)

    def _may_be_refused(self, command: v.Command, entity: Entity | None) -> bool:
        match command:
            case v.TakePartitionDown() | v.BringPartitionUp():
                # An adapter may be unable to disturb an entity that does not exist.
                is_open = entity is None
            case v.CreateQueue() | v.CreateTopic() | v.CreateSubscription():
                is_open = self._is_doubtful_creation(command) or self._is_of_old_premium(entity)
            case v.UpdateQueue() | v.UpdateTopic():
                is_open = self._is_of_old_premium(entity)
            case v.AddRule() | v.RemoveRule() if command.transaction is not None:
                reading = self._namespace.profile.readings.get("REGULAR-RULES")
                is_regular = entity is not None and not entity.settings.partitioned
                is_open = is_regular and reading != "supported"
            case _:
                is_open = entity is not None and self._fails_in_outage(command, entity)
        return is_open

    def _fails_in_outage(self, command: v.Command, entity: Entity) -> bool:
        """AVAILABLE, SESSION-IN-OUTAGE: return whether an outage elsewhere may refuse a request."""
        readings = self._namespace.profile.readings
        if isinstance(command, SENDING):
            is_large = len(entity.base.down) > 1
            return is_large and readings.get("AVAILABLE") == "one-store"
        is_of_session = getattr(command, "session_id", None) is not None
        any_session = readings.get("SESSION-IN-OUTAGE") == "either"
        return any_session and is_of_session and bool(entity.base.down)

    def _is_of_old_premium(self, entity: Entity | None) -> bool:
        """PREM-05: return whether a partitioned entity is from before Premium forbade them."""
        profile = self._namespace.profile
        if entity is None or not profile.is_premium or profile.is_partitioned:
            return False
        is_partitioned = entity.settings.partitioned
        return is_partitioned and profile.readings.get("PREMIUM-EXISTING") != "everything"

    def _is_doubtful_creation(self, command: v.Creation) -> bool:
        """Return whether nothing says that an entity can be created in this way."""
        path, under, _ = v.created_path(command).partition(v.SUBSCRIPTIONS)
        if under and not isinstance(command, v.CreateSubscription):
            return path in self._namespace.entities
        onward = getattr(command, "forward_dead_letters_to", None)
        return bool(getattr(command, "requires_session", False)) and onward is not None

    def _is_looked_at_openly(
        self, command: v.Command, outcome: v.Outcome, entity: Entity | None
    ) -> bool:
        """FWD-15: return whether a look at an entity may get an answer, and this one."""
        if entity is None:
            return False
        if isinstance(command, v.GetQueue):
            # The documents do not say whether dead letters can be managed as a queue.
            return entity.owner is not entity
        if isinstance(outcome, v.Peeked) and entity.kind is EntityKind.TOPIC:
            # A peek of a topic shows nothing but what is scheduled there (SCHED-08).
            scheduled = Counter(one.message.body for one in entity.scheduled.values())
            states = {view.state for view in outcome.messages}
            shown = Counter(view.body for view in outcome.messages)
            return shown <= scheduled and states <= {None, v.MessageState.SCHEDULED}
        return isinstance(outcome, v.Refused) and entity.settings.forward_to is not None

    # Refusals ---------------------------------------------------------------------------------

    def may_have_worked(self, command: v.Command) -> bool:
        """MGMT-18: return whether a refused request may have done what it was to do.

        An outage may refuse it although it has reached partitions (MANAGEMENT-IN-OUTAGE).
        """
        if not isinstance(command, CHANGING):
            return False
        path = v.created_path(command) if isinstance(command, CREATING) else v.concerned(command)
        is_down = bool(path and self._namespace.down.get(base_path(path)))
        reading = self._namespace.profile.readings.get("MANAGEMENT-IN-OUTAGE", "either")
        return is_down and reading == "either"

    def has_another_reason(self, command: v.Command, rules: Sequence[v.RuleId]) -> bool:
        """Return whether something else is wrong with a refused request.

        Of several reasons the documents do not say which one is named.
        """
        if isinstance(command, SENDING) and "MGMT-10" in rules:
            messages = command.messages if isinstance(command, v.SendBatch) else (command.message,)
            return any(map(self._is_objectionable, messages))
        of_names = {"MGMT-09", "MGMT-10", "TOPIC-19", "TOPIC-21"}
        if isinstance(command, v.RestoreQueue):
            return True  # it is a test's own
        if isinstance(command, v.CreateSubscription) and command.topic in self._namespace.entities:
            topic = self._namespace.entities[command.topic]
            return topic.kind is not EntityKind.TOPIC or self._is_objectionable_creation(command)
        if isinstance(command, CREATING) and of_names.intersection(rules):
            return self._is_objectionable_creation(command)
        if "MGMT-10" in rules:
            owner = (v.concerned(command) or "").partition(v.SUBSCRIPTIONS)[0]
            return len(owner) > LONGEST_NAME or not isinstance(command, NAMING)
        return False

    def _is_objectionable(self, message: v.Message) -> bool:
        keys = {message.session_id, message.partition_key} - {None}
        try:
            self._namespace.rules.limits.check_message(message)
        except Refusal:
            return True
        return len(keys) > 1

    def _is_objectionable_creation(self, command: Any) -> bool:
        lock = getattr(command, "lock_duration", None) or 0
        name = v.created_path(command).partition(v.SUBSCRIPTIONS)[0]
        short = getattr(command, "subscription", "")
        return (
            self._namespace.profile.tier is not v.Tier.STANDARD
            or bool(v.destinations(command))
            or lock > LONGEST_LOCK
            or len(name) > LONGEST_NAME
            or len(short) > LONGEST_SHORT_NAME
        )


NAMING: Final = (
    *(v.Send, v.Receive, v.Peek, v.GetQueue, v.UpdateQueue, v.DeleteQueue),
    *(v.GetTopic, v.UpdateTopic, v.DeleteTopic, v.ListSubscriptions),
)
"""Requests that the documents answer with an error of its own if there is no such entity."""


def _names_nothing(command: v.Command) -> bool:
    """Return whether a request for several messages names none: nothing is said of such a one."""
    match command:
        case v.SendBatch(messages=named):
            return not named
        case v.SettleBatch(lock_tokens=named) | v.RenewLocks(lock_tokens=named):
            return not named
        case v.ReceiveDeferred(sequence_numbers=named):
            return not named
    return False
