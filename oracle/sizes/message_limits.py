"""Limits on messages, their keys and properties, and on names of entities.

The documents leave open how many bytes a KB has (KB-BYTES), and the overhead of a message. Between
what is surely small enough and what is surely too large a bus may do either.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Transaction
from busproof.oracle.storage_used import WIDEST, most, most_of_state
from busproof.oracle.transactions.limits import SIZE_LIMIT, may_be_full
from busproof.oracle.transition import Transition, refusal

KB: Final = {"decimal": (1000, 1000), "binary": (1024, 1024)}
EITHER_KB: Final = (1000, 1024)
"""KB-BYTES: the fewest bytes of a KB, and the most."""
LARGEST: Final = 256
"""LIMIT-01, LIMIT-02: maximum message size of Basic and Standard, in KB."""
LARGE: Final = 1000
"""LIMIT-03: size always accepted in Premium, in KB: the fewest that 1 MB can be."""
LARGEST_IN_PREMIUM: Final = 100 * 1024
"""LIMIT-04: maximum message size of Premium, in KB: the most that 100 MB can be."""
PROPERTY, PROPERTIES = 32, 64
"""LIMIT-13, LIMIT-14: the largest property, and all of a message together, in KB."""
LONGEST_KEY: Final = 128
"""LIMIT-07 to LIMIT-12: in characters."""
LONGEST_NAME: Final = 260
"""LIMIT-17, LIMIT-18: in characters."""
LONGEST_SHORT_NAME: Final = 50
"""TOPIC-17, TOPIC-18, FILTER-26, FILTER-27: in characters."""
PLAIN: Final = LONGEST_KEY // 2
PLAIN_SIZE: Final = 100_000
"""Shorter keys and smaller messages are far within every limit."""
NEARLY: Final = 0.9
"""Least fraction of a limit at which an accepted size exercises it."""
KEYS: Final[tuple[tuple[str, v.RuleId, v.RuleId], ...]] = (
    ("message_id", "LIMIT-07", "LIMIT-08"),
    ("session_id", "LIMIT-09", "LIMIT-10"),
    ("partition_key", "LIMIT-11", "LIMIT-12"),
)
"""A property, the rule that allows its maximum length, and the one that forbids more."""


@attrs.frozen
class Excess:
    """A limit that a message may exceed, and whether it surely does."""

    rule: v.RuleId
    error: v.Error
    surely: bool


def must_refuse_beyond(namespace: Namespace) -> bool:
    """Return whether a message surely beyond a limit has to be refused (`limits` declared)."""
    return namespace.observability.limits


def beyond_limits(namespace: Namespace, command: v.Send | v.Schedule) -> Iterator[Transition]:
    """LIMIT-02, LIMIT-04 to LIMIT-06, LIMIT-08, LIMIT-10, LIMIT-12 to LIMIT-14, LIMIT-21: refuse.

    A limit that is surely exceeded comes first, and is exercised.
    """
    if is_plain(command.message):
        return
    for excess in sorted(
        excesses(namespace, command.message), key=lambda candidate: not candidate.surely
    ):
        anything = excess.error is not v.Error.MESSAGE_TOO_LARGE
        rules = _rules_of(excess, command)
        yield refusal(namespace, excess.error, *rules, any_error=anything)


def _rules_of(excess: Excess, command: v.Send | v.Schedule) -> tuple[v.RuleId, ...]:
    """LIMIT-06, LIMIT-21: return the rules of a refusal, also if scheduled or in a transaction."""
    if not excess.surely:
        return (excess.rule,) if excess.rule == "LIMIT-05" else ()
    if excess.error is not v.Error.MESSAGE_TOO_LARGE:
        return (excess.rule,)
    if command.transaction is not None:
        return ("LIMIT-21", excess.rule)
    return ("LIMIT-06", excess.rule) if isinstance(command, v.Schedule) else (excess.rule,)


def no_more(namespace: Namespace, transaction: Transaction) -> Iterator[Transition]:
    """LIMIT-16: refuse further messages in a transaction that holds the maximum."""
    if transaction.size >= SIZE_LIMIT:
        yield refusal(namespace, v.Error.INVALID_OPERATION, "LIMIT-16", any_error=True)
    elif may_be_full(transaction):
        # Outside the documents: whether its settlements count.
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def held_to_limits(
    namespace: Namespace, command: v.Send | v.Schedule, answers: Iterator[Transition]
) -> Iterator[Transition]:
    """Return the transitions of a send without those that accept what must be refused.

    A send accepted at a limit exercises that limit. A send that dooms its transaction is a refusal
    that comes later (TXN-REFUSAL).
    """
    few = command.transaction is None or held_in(namespace, command) < SIZE_LIMIT - 1
    if few and is_plain(command.message):
        return answers
    return _within_limits(namespace, command, answers)


def _within_limits(
    namespace: Namespace, command: v.Send | v.Schedule, answers: Iterator[Transition]
) -> Iterator[Transition]:
    # A scheduled message may be refused only at the commit; for a send the state records that the
    # commit has to be refused (`_is_doomed`).
    at_commit = namespace.reading("TXN-REFUSAL") in ("at-commit", "either")
    within = isinstance(command, v.Schedule) and command.transaction is not None
    in_force = must_refuse_beyond(namespace) and not (within and at_commit)
    must_refuse = in_force and surely_beyond(namespace, command)
    rules = within_limits(namespace, command)
    for transition in answers:
        refused = isinstance(transition.outcome, v.Refused)
        if must_refuse and not refused and not _is_doomed(transition.next, command):
            continue
        exercised = rules and not refused
        yield (
            attrs.evolve(transition, rules=(*rules, *transition.rules)) if exercised else transition
        )


def _is_doomed(namespace: Namespace, command: v.Send | v.Schedule) -> bool:
    transaction = namespace.transactions.get(command.transaction or "")
    return transaction is not None and transaction.doomed


def surely_beyond(namespace: Namespace, command: v.Send | v.Schedule) -> tuple[v.RuleId, ...]:
    """Return the limits that are surely exceeded, that of the transaction first (LIMIT-16)."""
    certain = [excess for excess in excesses(namespace, command.message) if excess.surely]
    rules = tuple(rule for excess in certain for rule in _rules_of(excess, command))
    return ("LIMIT-16", *rules) if held_in(namespace, command) >= SIZE_LIMIT else rules


def held_in(namespace: Namespace, command: v.Send | v.Schedule) -> int:
    """Return how many messages the transaction of a send already holds."""
    transaction = namespace.transactions.get(command.transaction or "")
    return 0 if transaction is None else transaction.size


def within_limits(namespace: Namespace, command: v.Send | v.Schedule) -> tuple[v.RuleId, ...]:
    """LIMIT-01, LIMIT-03, LIMIT-07, LIMIT-09, LIMIT-11, LIMIT-15: return limits just kept.

    Return nothing if another limit may be exceeded.
    """
    message = command.message
    exceeded = list(excesses(namespace, message))
    if exceeded:
        optional = all(excess.rule == "LIMIT-05" and not excess.surely for excess in exceeded)
        return ("LIMIT-05",) if optional else ()
    rules = [allowed for name, allowed, _ in KEYS if _length(message, name) == LONGEST_KEY]
    premium = namespace.profile.tier is v.Tier.PREMIUM
    taken = _surely_taken(namespace)
    if NEARLY * taken <= most(message) <= taken:
        rules.append("LIMIT-03" if premium else "LIMIT-01")
    if held_in(namespace, command) == SIZE_LIMIT - 1:
        rules.append("LIMIT-15")
    return tuple(rules)


def batch_excess(namespace: Namespace, messages: Sequence[v.Message]) -> tuple[bool, bool]:
    """BATCH-07: return whether a batch may exceed the maximum size, and whether it surely does.

    The maximum batch of Premium is open.
    """
    if sum(map(most, messages)) <= _surely_taken(namespace):
        return False, False
    size = sum(message.size or 0 for message in messages if not message.stands_in)
    beyond = size > LARGEST * _kb(namespace)[1] and namespace.profile.tier is not v.Tier.PREMIUM
    return True, beyond and must_refuse_beyond(namespace)


def is_plain(message: v.Message) -> bool:
    """Return whether a message is far within every limit, so that it need not be measured."""
    for key in (message.message_id, message.session_id, message.partition_key):
        if key is not None and len(key) >= PLAIN:
            return False
    return not message.properties and most(message) <= PLAIN_SIZE


def excesses(namespace: Namespace, message: v.Message) -> Iterator[Excess]:
    """Return the limits that a message exceeds or may exceed."""
    if is_plain(message):
        return
    yield from _of_size(namespace, message)
    for name, _, forbidden in KEYS:
        length = _length(message, name)
        if length > LONGEST_KEY:
            # The other way to count characters gives fewer: only if both are too many it is surely
            # too long.
            surely = len(getattr(message, name)) > LONGEST_KEY
            yield Excess(forbidden, v.Error.INVALID_OPERATION, surely)
    yield from _of_properties(namespace, message)


def _length(message: v.Message, name: str) -> int:
    """Return the greatest length of a key; some count characters beyond U+FFFF twice."""
    return len((getattr(message, name) or "").encode("utf-16-le", "surrogatepass")) // 2


def _kb(namespace: Namespace) -> tuple[int, int]:
    """KB-BYTES: return the fewest and the most bytes of this many KB."""
    return KB.get(namespace.reading("KB-BYTES") or "", EITHER_KB)


def _surely_taken(namespace: Namespace) -> int:
    """LIMIT-01, LIMIT-03: return how many bytes, overhead included, are always accepted."""
    premium = namespace.profile.tier is v.Tier.PREMIUM
    return (LARGE if premium else LARGEST) * _kb(namespace)[0]


def _of_size(namespace: Namespace, message: v.Message) -> Iterator[Excess]:
    """LIMIT-02, LIMIT-04, LIMIT-05: a body that its tier refuses, or may refuse."""
    if most(message) <= _surely_taken(namespace):
        return
    premium = namespace.profile.tier is v.Tier.PREMIUM
    greatest = (LARGEST_IN_PREMIUM if premium else LARGEST) * _kb(namespace)[1]
    beyond = (message.size or 0) > greatest
    surely = beyond and not message.stands_in
    rule = ("LIMIT-04" if beyond else "LIMIT-05") if premium else "LIMIT-02"
    yield Excess(rule, v.Error.MESSAGE_TOO_LARGE, surely)


def _of_properties(namespace: Namespace, message: v.Message) -> Iterator[Excess]:
    """LIMIT-13, LIMIT-14: a property that is too large, or all of them together."""
    sizes = [
        len(name.encode()) + len(value.encode() if isinstance(value, str) else b"")
        for name, value in message.properties.items()
    ]
    fewest, greatest = _kb(namespace)
    largest = max(sizes, default=0)
    # How many bytes a character takes is open, between one and the most that any encoding needs.
    if WIDEST * largest > PROPERTY * fewest:
        yield Excess("LIMIT-13", v.Error.INVALID_OPERATION, largest > PROPERTY * greatest)
    if WIDEST * sum(sizes) > PROPERTIES * fewest:
        yield Excess("LIMIT-14", v.Error.INVALID_OPERATION, sum(sizes) > PROPERTIES * greatest)


def is_long_name(name: str) -> bool:
    """LIMIT-18: return whether the name of a queue or topic exceeds the maximum length."""
    return len(name) > LONGEST_NAME


def is_longest_name(name: str) -> bool:
    """LIMIT-17: return whether the name of a queue or topic has the maximum length."""
    return len(name) == LONGEST_NAME


def is_long_short_name(name: str) -> bool:
    """TOPIC-18, FILTER-27: return whether a subscription's or rule's name is too long."""
    return len(name) > LONGEST_SHORT_NAME


def is_longest_short_name(name: str) -> bool:
    """TOPIC-17, FILTER-26: return whether such a name has the maximum length."""
    return len(name) == LONGEST_SHORT_NAME


def refuses_state(namespace: Namespace, state: str | None) -> tuple[bool, bool]:
    """LIMIT-20: return whether a session state may be refused, and whether it must be."""
    may = most_of_state(state) > _surely_taken(namespace)
    standard = namespace.profile.tier is v.Tier.STANDARD
    beyond = len((state or "").encode()) > LARGEST * _kb(namespace)[1]
    return may, standard and beyond and must_refuse_beyond(namespace)


def shown_of_state(namespace: Namespace, state: str | None) -> tuple[v.RuleId, ...]:
    """LIMIT-19: return the rules exercised by a session state of this size."""
    size, standard = most_of_state(state), LARGEST * _kb(namespace)[0]
    return ("LIMIT-19",) if NEARLY * standard <= size <= _surely_taken(namespace) else ()
