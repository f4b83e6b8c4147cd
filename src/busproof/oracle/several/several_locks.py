"""Requests about several locks: all are settled or renewed, or the request is refused."""

from collections.abc import Callable, Iterator
from functools import reduce
from operator import and_, or_
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.messages.locks import lost_renew_lock, renew_lock
from busproof.oracle.messages.settling import is_of_lost_answer, locked
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, everywhere, is_unjudged, with_queue
from busproof.oracle.transactions.transactional_settlements import lost_settle, settle
from busproof.oracle.transition import Observation, Rules, Transition, Transitions, refusal

Several = v.SettleBatch | v.RenewLocks
Answers = Callable[[Namespace, Any], Transitions]
"""A function that yields the allowed answers to the request for a single lock."""

ACROSS: Final = "SETTLE-PARTITIONS"
LOST: Final = "SETTLE-LOST"


@attrs.frozen
class Reached:
    """A state after some of the requests for single locks, with their rules and answers."""

    namespace: Namespace
    rules: Rules = ()
    answers: tuple[v.Outcome, ...] = ()


def settle_batch(namespace: Namespace, command: v.SettleBatch) -> Transitions:
    """LOCK-14 to LOCK-17: settle all messages, or refuse if one of the locks is lost."""
    for reached in _all_done(namespace, command, settle):
        yield _answered(v.Done(), reached, _of_several(namespace, command, "LOCK-14"))
    yield from _refusals(namespace, command, settle)


def renew_locks(
    namespace: Namespace, command: v.RenewLocks, observation: Observation
) -> Transitions:
    """LOCK-15 to LOCK-18: renew all locks, or refuse if one of them is lost."""
    outcome = observation.outcome
    ends = dict.fromkeys(command.lock_tokens, None)
    observed = isinstance(outcome, v.RenewedSeveral)
    # An answer may leave the ends of locks out; then none of them is compared.
    if isinstance(outcome, v.RenewedSeveral):
        reported = outcome.locked_until or (None,) * len(command.lock_tokens)
        # An answer about more or fewer locks cannot be the answer to this request.
        if len(reported) != len(command.lock_tokens):
            return
        ends = dict(zip(command.lock_tokens, reported, strict=True))

    def renew(state: Namespace, one: v.RenewLock) -> Transitions:
        answer = v.Renewed(locked_until=ends[one.lock_token])
        return renew_lock(state, one, Observation(answer) if observed else Observation())

    for reached in _all_done(namespace, command, renew):
        until = [answer.locked_until for answer in reached.answers if isinstance(answer, v.Renewed)]
        several = v.RenewedSeveral(locked_until=tuple(until))
        rules = _of_several(namespace, command, "LOCK-18")
        yield _answered(outcome if observed and outcome else several, reached, rules)
    yield from _refusals(namespace, command, renew)


def _ones(command: Several) -> tuple[v.Settlement | v.RenewLock, ...]:
    """Return the requests for the single locks."""
    if isinstance(command, v.SettleBatch):
        return command.settlements()
    return command.renewals()


def _answered(outcome: v.Outcome, reached: Reached, rules: Rules) -> Transition:
    distinct = tuple(dict.fromkeys((*rules, *reached.rules)))
    return Transition(outcome=outcome, next=reached.namespace, rules=distinct)


def _noted(namespace: Namespace, command: Several) -> Namespace:
    """Record a request about several locks, so that later violations can be charged to it."""
    return with_queue(namespace, namespace.queues[command.queue].asked("locks"))


def _stored(namespace: Namespace, command: Several) -> list[Stored | None]:
    """Return the message locked under each token; `None` where the lock is lost."""
    queue = namespace.queues[command.queue]
    # A token that is named twice is one lock.
    return [locked(queue, token) for token in dict.fromkeys(command.lock_tokens)]


def _all_done(namespace: Namespace, command: Several, answers: Answers) -> list[Reached]:
    """Return the states after all single requests succeeded; none if they may not succeed."""
    queue = namespace.queues[command.queue]
    refused = namespace.reading(ACROSS) == "refused"
    # The message of a lost lock may be in any partition: -1 has every bit set.
    locks = _stored(namespace, command)
    places = [-1 if stored is None else stored.where for stored in locks]
    # Then no partition has all of the messages, and such a request is refused (SETTLE-PARTITIONS).
    if refused and queue.settings.partitioned and not reduce(and_, places, -1):
        return []
    # No request succeeds under a lock that is lost, even if others are no longer judged.
    tokens = dict.fromkeys(command.lock_tokens)
    for token, stored in zip(tokens, locks, strict=True):
        if stored is None and not is_of_lost_answer(queue, token):
            return []
    reached = [Reached(_noted(namespace, command))]
    for one in _ones(command):
        reached = [after for before in reached for after in _after(before, one, answers)]
    return reached


def _after(before: Reached, one: Any, answers: Answers) -> Iterator[Reached]:
    # If the lock before this one is from an unanswered receive, the entity is not judged any more.
    if is_unjudged(before.namespace, v.owner_of(one.queue)):
        yield before
        return
    for answer in answers(before.namespace, one):
        # All succeed or none (LOCK-16), so a refusal of one ends this way.
        if not isinstance(answer.outcome, v.Refused):
            rules = (*before.rules, *answer.rules)
            yield Reached(answer.next, rules, (*before.answers, answer.outcome))


def _refusals(namespace: Namespace, command: Several, answers: Answers) -> Transitions:
    """LOCK-15 to LOCK-17: refuse because of one of the locks, or of several partitions.

    The other locks may have been settled or renewed all the same (SETTLE-LOST).
    """
    noted = _noted(namespace, command)
    nothing = namespace.reading(LOST) == "nothing"
    # Each request for a single lock may or may not have been executed, exactly as without an
    # answer.
    lost = noted if nothing else without_answer(namespace, command)
    refused = _refused(namespace, command, answers, lost)
    if refused is not None:
        yield refused
    across = namespace.reading(ACROSS) != "accepted"
    if not across or not _may_span(namespace, command):
        return
    # The documents give only the status of this refusal, and no error.
    if refused is None:
        yield refusal(noted, v.Error.INVALID_OPERATION, "LOCK-15", "LOCK-16", any_error=True)
    # A bus may check the partitions before the locks, and name that error.
    elif not refused.any_error:
        yield refusal(lost, v.Error.INVALID_OPERATION, any_error=True)


def _refused(
    namespace: Namespace, command: Several, answers: Answers, lost: Namespace
) -> Transition | None:
    """LOCK-17: return the refusal for one of the locks, if there is a reason for it.

    The documents do not cover a request that names no lock, or one lock twice.
    """
    ones = _ones(command)
    transitions = [answer for one in ones for answer in answers(namespace, one)]
    refusals = [
        transition for transition in transitions if isinstance(transition.outcome, v.Refused)
    ]
    # `_ones` has each token once, so fewer requests than tokens means a repetition.
    strange = not ones or len(ones) < len(command.lock_tokens)
    if not refusals and not strange:
        return None
    errors = [
        refused.outcome.error for refused in refusals if isinstance(refused.outcome, v.Refused)
    ]
    error = errors[0] if errors else v.Error.INVALID_OPERATION
    # If there are several reasons, the bus may name any of them.
    free = any(refused.any_error for refused in refusals) or len(set(errors)) > 1
    rules = [rule for refused in refusals for rule in refused.rules]
    if rules and len(ones) > 1 and error is v.Error.LOCK_LOST:
        rules.insert(0, "LOCK-17")
    return refusal(lost, error, *dict.fromkeys(rules), any_error=free or strange)


def _of_several(namespace: Namespace, command: Several, together: v.RuleId) -> Rules:
    """LOCK-14 to LOCK-16, LOCK-18: return the rules that a request for several locks exercises."""
    spans = _may_span(namespace, command)
    return rules_if(
        (spans, "LOCK-15", "LOCK-16"), (not spans and len(command.lock_tokens) > 1, together)
    )


def _may_span(namespace: Namespace, command: Several) -> bool:
    """Return whether the messages may be in several partitions.

    A lost lock's message counts, too, because a bus may check the partitions first.
    """
    queue, stored = namespace.queues[command.queue], _stored(namespace, command)
    if not queue.settings.partitioned or len(stored) < 2:
        return False
    keys = {None if message is None else message.key for message in stored}
    # Messages with equal keys are in one partition, wherever that is.
    if len(keys) == 1 and None not in keys:
        return False
    whole = everywhere(namespace, queue.settings)
    places = (whole if message is None else message.where for message in stored)
    return reduce(or_, places).bit_count() > 1


def without_answer(namespace: Namespace, command: Several) -> Namespace:
    """Return the namespace in which each single request takes effect now, later or never."""
    namespace = _noted(namespace, command)
    for one in _ones(command):
        if isinstance(one, v.RenewLock):
            namespace = lost_renew_lock(namespace, one)
        else:
            namespace = lost_settle(namespace, one)
    return namespace
