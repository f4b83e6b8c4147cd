"""Mutants of LOCK: several messages settled, or several locks renewed, in one request."""

from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.rules import RULES
from busproof.model.state import Namespace
from busproof.mutants.locks import TWO
from busproof.mutants.mutant import mutant
from busproof.mutants.runs import (
    Run,
    complete,
    create,
    home,
    receive,
    renew_together,
    send,
    together,
    wait,
)
from busproof.mutants.wrappers import asks, instead_of, refuses, refuses_yet

RENEWED_TOGETHER: Final[Run] = (*TWO, wait(40), renew_together(0, 1), wait(40), complete(1))
ELSEWHERE: Final = next(key for key in "bcdef" if home(key) != home("a"))
ACROSS: Final[Run] = (
    *(create(), send("m1", partition_key="a"), send("m2", partition_key=ELSEWHERE)),
    *(receive(), receive()),
)


@mutant("LOCK-14", "locks.settle_batch", (*TWO, together(0, 1), complete(1)), asks)
def first_settled_alone(command: v.SettleBatch) -> v.SettleBatch:
    """A request to settle several messages settles the first one and succeeds."""
    return attrs.evolve(command, lock_tokens=command.lock_tokens[:1])


@mutant("LOCK-14", "locks.settle_batch", (*TWO, together(0, 1)), refuses("LOCK-15"))
def several_always_refused(command: v.SettleBatch) -> bool:
    """A request to settle several messages is refused whatever their partitions."""
    return len(command.lock_tokens) > 1


def _of_first_partition(namespace: Namespace, command: v.SettleBatch) -> v.SettleBatch:
    """Return the request for only those messages that are in the partition of the first one."""
    entity = namespace.entities[command.queue]
    numbers = [token.partition("/")[0] for token in command.lock_tokens]
    messages = [
        entity.messages.get(int(number)) if number.isdecimal() else None for number in numbers
    ]
    first = next((queued.partition for queued in messages if queued is not None), None)
    kept = zip(command.lock_tokens, messages, strict=True)
    tokens = tuple(
        token for token, queued in kept if queued is not None and queued.partition == first
    )
    return attrs.evolve(command, lock_tokens=tokens)


@mutant(
    "LOCK-16", "locks.settle_batch", (*ACROSS, together(0, 1), complete(0)), refuses_yet("LOCK-15")
)
def refused_yet_settled(namespace: Namespace, command: v.SettleBatch, connection: str) -> None:
    """A request for several partitions is refused, and settles the messages of one of them."""
    RULES.locks.settle_batch(namespace, _of_first_partition(namespace, command), connection)


@mutant(
    "LOCK-16",
    "locks.settle_batch",
    (*ACROSS, together(0, 1), complete(1)),
    instead_of("LOCK-15"),
    deep=True,
)
def accepted_for_one_partition(namespace: Namespace, command: v.SettleBatch, *rest: Any) -> Answer:
    """A request for several partitions succeeds, and settles the messages of one of them."""
    one = _of_first_partition(namespace, command)
    return RULES.locks.settle_batch(namespace, one, *rest)


@mutant("LOCK-17", "locks.settle_batch", (*TWO, complete(0), together(0, 1)))
def lost_lock_passed_over(namespace: Namespace, command: v.SettleBatch, connection: str) -> Answer:
    """A request with a lost lock succeeds, and settles the other messages."""
    answer = RULES.locks.settle_batch(namespace, _without_lost(namespace, command), connection)
    return Answer(DONE, rules=answer.rules)


def _without_lost(namespace: Namespace, command: v.SettleBatch) -> v.SettleBatch:
    entity = namespace.entities.get(command.queue)
    messages = entity.messages.values() if entity else ()
    current = {queued.token for queued in messages}
    tokens = tuple(token for token in command.lock_tokens if token in current)
    return attrs.evolve(command, lock_tokens=tokens)


@mutant("LOCK-18", "locks.renew_several", (*TWO, renew_together(0, 1)), refuses("LOCK-15"))
def renewals_always_refused(command: v.RenewLocks) -> bool:
    """A request to renew several locks is refused whatever their partitions."""
    return len(command.lock_tokens) > 1


@mutant("LOCK-18", "locks.renew_several", RENEWED_TOGETHER, deep=True)
def first_renewed_alone(namespace: Namespace, command: v.RenewLocks, connection: str) -> Answer:
    """A request to renew several locks renews the first one, and reports its end for all."""
    first = attrs.evolve(command, lock_tokens=command.lock_tokens[:1])
    answer = RULES.locks.renew_several(namespace, first, connection)
    ends = getattr(answer.outcome, "locked_until", ()) * len(command.lock_tokens)
    return Answer(v.RenewedSeveral(locked_until=ends), rules=answer.rules)


@mutant(
    "LOCK-17",
    "locks.renew_several",
    (*TWO, complete(0), renew_together(0, 1)),
    instead_of(v.Error.LOCK_LOST),
)
def lost_lock_renewed_among_several() -> Answer:
    """A request to renew several locks succeeds with a lost one among them."""
    return Answer(v.RenewedSeveral())
