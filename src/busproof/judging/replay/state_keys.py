"""The state of a replay as a value: two equal ones have the same futures.

A state from which the recorded events cannot go on is remembered, so that another path to an equal
one is cut. Messages that look alike make many such paths. What is left out of the value is the same
in every state after the same events: numbers and tokens that were shown, and records that are gone.
"""

from collections.abc import Callable, Hashable

from busproof.judging.replay.bindings import Bindings, Numbered
from busproof.judging.replay.caches import Caches
from busproof.judging.replay.timers import LooseTimers
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Transaction

__all__ = ["state_key"]

Share = Callable[[Hashable], Hashable]


def state_key(
    namespace: Namespace, bindings: Bindings, caches: Caches, pending: Hashable, share: Share
) -> Hashable:
    """Return the state as a value that can be compared.

    Args:
        namespace: the model's namespace.
        bindings: the bus's numbers and tokens.
        caches: which receives may have cached messages.
        pending: the requests without an answer that have not taken effect.
        share: returns an earlier value that equals a new one, so that states share what they have
            in common: a step changes little of it.
    """
    identical = namespace.profile.readings.get("LIKE-REGULAR") == "identical"
    return (
        namespace.now,
        bindings.last_passing,
        pending,
        frozenset(namespace.readings.items()),
        frozenset(namespace.down.items()),
        tuple(
            share((path, _entity(entity, bindings, caches, identical, share)))
            for path, entity in sorted(namespace.entities.items())
        ),
        frozenset(
            (name, share(_transaction(running, bindings, share)))
            for name, running in namespace.transactions.items()
        ),
    )


def _entity(
    entity: Entity, bindings: Bindings, caches: Caches, identical: bool, share: Share
) -> Hashable:
    timers = entity.namespace.timers
    assert isinstance(timers, LooseTimers)  # noqa: S101 - a replay has no others
    messages = sorted(entity.messages.values(), key=_place)
    arrivals = sorted(queued.arrival for queued in messages) if identical else ()
    return (
        entity.settings,
        entity.status,
        entity.last,
        entity.rules,
        entity.down,
        frozenset(entity.homes.items()),
        tuple(share((partition.bytes, partition.arrivals)) for partition in entity.partitions),
        tuple(
            share(
                (
                    _message(queued, bindings, timers),
                    caches.since(queued),
                    identical and arrivals.index(queued.arrival),
                )
            )
            for queued in messages
        ),
        tuple(
            (
                _number_key(one, bindings),
                one.due,
                timers.window(one.due, "scheduling.activate", one),
            )
            for one in sorted(entity.scheduled.values(), key=_place)
        ),
        frozenset(
            (name, one.until, timers.window(one.until, "duplicates.forget", one))
            for name, one in entity.duplicates.items()
        ),
        frozenset(
            (
                session.name,
                session.partition,
                session.holder,
                session.locked_until,
                session.state,
                timers.window(session.locked_until, "sessions.end", session),
            )
            for session in entity.sessions.values()
        ),
        bindings.ends_of_lines(entity),
        bindings.expired_in(entity),
    )


def _place(record: Numbered) -> tuple[int, int]:
    return record.partition, record.number


def _number_key(record: Numbered, bindings: Bindings) -> Hashable:
    return bindings.kind(record.message), record.partition, bindings.number_or_limits(record)


def _message(queued: QueuedMessage, bindings: Bindings, timers: LooseTimers) -> Hashable:
    expires_at = queued.expires_at
    return (
        _number_key(queued, bindings),
        queued.enqueued_at,
        queued.session is not None,
        expires_at,
        None if expires_at is None else timers.window(expires_at, "expiry.end", queued),
        queued.reason,
        queued.state,
        queued.failed,
        bindings.token(queued),
        queued.locked_until,
        timers.window(queued.locked_until, "locks.end", queued),
        queued.cached_by,
        queued.enlisted is not None,
        bindings.overtakes(queued),
    )


def _transaction(running: Transaction, bindings: Bindings, share: Share) -> Hashable:
    return (
        running.ended,
        running.doomed,
        tuple(
            share(
                (
                    bindings.kind(send.message),
                    send.partition,
                    send.sent,
                    share(bindings.came_after(send)),
                )
            )
            for send in running.sends
        ),
        tuple(
            (one.entity.path, bindings.bus_token(one.entity, one.token), one.action)
            for one in running.settlements
        ),
        tuple(id(change.command) for change in running.rule_changes),
    )
