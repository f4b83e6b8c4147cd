"""Errors of refusals: which may be recorded where the model names another one.

Of many refusals no document names the error; the `error` of a rule in `spec/rules/` says so.
Where several reasons hold at once they do not say which one is named, so in an outage, or behind a
client library, a lost lock need not be the reason that a client is told.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from busproof import vocabulary as v
from busproof.judging.replay.bindings import Bindings, Numbered
from busproof.model.rules import Namespace
from busproof.model.state import Entity
from busproof.spec import load
from busproof.spec.terms import ANY_ERROR

__all__ = ["Errors"]

IN_DOUBT: Final[frozenset[v.RuleId]] = frozenset(("BATCH-05", "FILTER-09"))
"""Rules whose documented error is open, because another reason may often be named."""

OF_OUTAGES: Final[frozenset[v.RuleId]] = frozenset(("KEY-03", "KEY-18", "PART-01", "PART-03"))
"""Rules by which an outage refuses a send; OUTAGE-ERROR may name the error."""

OF_LOST_LOCKS: Final[frozenset[v.RuleId]] = frozenset(
    ("LIFE-06", "LOCK-05", "LOCK-06", "LOCK-17", "LOCK-18")
)


@cache
def named_errors() -> frozenset[v.RuleId]:
    """Return the rules by which a request is refused with the error that the documents name."""
    errors = {rule.id: rule.error for rule in load().rules}
    named = {rule for rule, error in errors.items() if error not in (None, ANY_ERROR)}
    return frozenset(named - IN_DOUBT)


class Errors:
    """Errors that a bus may name in place of the model's.

    Args:
        namespace: the model's namespace.
        bindings: the bus's numbers and tokens.
        observability: what the observer sees.
    """

    def __init__(
        self, namespace: Namespace, bindings: Bindings, observability: v.Observability
    ) -> None:
        self._namespace = namespace
        self._bindings = bindings
        self._has_library = observability.assigns_message_ids

    def are_open(
        self, event: v.Event, error: v.Error, rules: Sequence[v.RuleId], *, is_of_outage: bool
    ) -> bool:
        """Return whether a request that these rules refuse may be refused with another error.

        Args:
            event: the request with its recorded answer.
            error: the recorded error.
            rules: the rules by which the model refuses it.
            is_of_outage: whether the model refuses it because of an outage.
        """
        if not rules or isinstance(event.command, v.CommitTransaction):
            return True
        if self._are_named_by_readings(rules):
            return False
        path = getattr(event.command, "queue", "")
        if "MGMT-09" in rules and v.is_dead_letter_queue(path):
            return True
        if is_of_outage or named_errors().isdisjoint(rules):
            return True
        entity = self._namespace.entities.get(path)
        return entity is not None and self._are_in_doubt(entity, event, error, rules)

    def _are_named_by_readings(self, rules: Sequence[v.RuleId]) -> bool:
        """Return whether a reading of the profile names the error of a refusal."""
        readings = self._namespace.profile.readings
        if readings.get("OUTAGE-ERROR") == "unavailable" and OF_OUTAGES.intersection(rules):
            return True
        return readings.get("SESSION-ERROR") == "invalid-operation" and "TXN-06" in rules

    def _are_in_doubt(
        self, entity: Entity, event: v.Event, error: v.Error, rules: Sequence[v.RuleId]
    ) -> bool:
        """Return whether another reason than a lost lock or an unknown number may be named."""
        if "KEY-08" in rules and entity.base.down and error is v.Error.UNAVAILABLE:
            # Which of the two is named is open (ERROR-PRECEDENCE).
            return self._namespace.profile.readings.get("ERROR-PRECEDENCE") != "key-first"
        if "SESS-12" in rules:
            return self._is_session_in_doubt(entity, event, error)
        command = event.command
        is_lock_lost = bool(OF_LOST_LOCKS.intersection(rules))
        if entity.settings.forward_to or entity.base.down:
            return is_lock_lost or "DEFER-03" in rules
        if is_lock_lost:
            return self._is_lock_in_doubt(entity, command, error)
        return "DEFER-03" in rules and self._are_numbers_in_doubt(entity, command)

    def _is_session_in_doubt(self, entity: Entity, event: v.Event, error: v.Error) -> bool:
        """SESS-12: return whether another error than that of a lost session may be named.

        The documents name it for a lock that the connection has lost; only an outage makes an
        entity unavailable.
        """
        if entity.base.down or error is v.Error.UNAVAILABLE:
            return bool(entity.base.down)
        name = getattr(event.command, "session_id", None) or ""
        return not self._bindings.has_lost(entity, name, event.connection)

    def _is_lock_in_doubt(self, entity: Entity, command: v.Command, error: v.Error) -> bool:
        """Return whether another error than that of a lost lock may be named."""
        if self._has_library:
            return True
        if entity.settings.requires_session and error is v.Error.SESSION_LOCK_LOST:
            return True
        token = getattr(command, "lock_token", None)
        return token is not None and not self._bindings.knows_token(entity, token)

    def _are_numbers_in_doubt(self, entity: Entity, command: v.Command) -> bool:
        """DEFER-10: return whether the numbers may belong to messages that are not deferred.

        Numbers of several partitions may be refused for that.
        """
        if not isinstance(command, v.ReceiveDeferred):
            return False
        numbers = command.sequence_numbers
        if len({number >> v.SEQUENCE_BITS for number in numbers}) > 1:
            return True
        records: list[Numbered] = [*entity.messages.values(), *entity.scheduled.values()]
        return any(self._bindings.fits(one, number) for number in numbers for one in records)
