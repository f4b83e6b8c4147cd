"""Limits on messages, on their keys and properties, and on names of entities.

The documents leave open how many bytes a KB has (KB-BYTES) and how large a message's overhead is.
Between sizes that are surely allowed and sizes that surely are not, a bus may do either.
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
"""KB-BYTES: the least and the greatest number of bytes in a KB."""
LARGEST: Final = 256
"""LIMIT-01, LIMIT-02: maximum message size of Basic and Standard, in KB."""
LARGE: Final = 1000
"""LIMIT-03: size in KB that Premium always accepts: the least that 1 MB can be."""
LARGEST_IN_PREMIUM: Final = 100 * 1024
"""LIMIT-04: maximum message size of Premium in KB: the greatest that 100 MB can be."""
PROPERTY, PROPERTIES = 32, 64
"""LIMIT-13, LIMIT-14: maximum size in KB of a property, and of all properties of a message."""
LONGEST_KEY: Final = 128
"""LIMIT-07 to LIMIT-12: maximum number of characters of a key."""
LONGEST_NAME: Final = 260
"""LIMIT-17, LIMIT-18: maximum number of characters of a queue's or topic's name."""
LONGEST_SHORT_NAME: Final = 50
"""TOPIC-17, TOPIC-18, FILTER-26, FILTER-27: maximum of a subscription's or rule's name."""
PLAIN: Final = LONGEST_KEY // 2
PLAIN_SIZE: Final = 100_000
"""Number of characters, and of bytes, that is far within every limit."""
MOST_IN_BATCH, MOST_IN_BATCH_OF_PREMIUM = 4_500, 15_900
"""LIMIT-23: number of messages in a batch beyond which the service was seen to refuse it."""
NEARLY: Final = 0.9
"""Share of a limit that an accepted size must reach to exercise the limit."""
KEYS: Final[tuple[tuple[str, v.RuleId, v.RuleId], ...]] = (
    ("message_id", "LIMIT-07", "LIMIT-08"),
    ("session_id", "LIMIT-09", "LIMIT-10"),
    ("partition_key", "LIMIT-11", "LIMIT-12"),
)
"""Key property; the rule that allows its maximum length; the rule that forbids more."""


@attrs.frozen
class Excess:
    """A limit that a message exceeds or may exceed; `surely` if it certainly does."""

    rule: v.RuleId
    error: v.Error
    surely: bool


def must_refuse_beyond(namespace: Namespace) -> bool:
    """Return whether the bus declares limits, and has to refuse what surely exceeds one."""
    return namespace.observability.limits


def beyond_limits(namespace: Namespace, command: v.Send | v.Schedule) -> Iterator[Transition]:
    """LIMIT-02, LIMIT-04 to LIMIT-06, LIMIT-08, LIMIT-10, LIMIT-12 to LIMIT-14, LIMIT-21: refuse.

    A limit that is surely exceeded comes first, and only that one is exercised.
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
    """LIMIT-06, LIMIT-21: return the rules that a refusal for this limit exercises."""
    if not excess.surely:
        return (excess.rule,) if excess.rule == "LIMIT-05" else ()
    if excess.error is not v.Error.MESSAGE_TOO_LARGE:
        return (excess.rule,)
    if command.transaction is not None:
        return ("LIMIT-21", excess.rule)
    return ("LIMIT-06", excess.rule) if isinstance(command, v.Schedule) else (excess.rule,)


def no_more(namespace: Namespace, transaction: Transaction) -> Iterator[Transition]:
    """LIMIT-16: refuse one more message in a transaction that has the maximum."""
    if transaction.size >= SIZE_LIMIT:
        yield refusal(namespace, v.Error.INVALID_OPERATION, "LIMIT-16", any_error=True)
    elif may_be_full(transaction):
        # The documents do not say whether settlements count towards the maximum.
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def held_to_limits(
    namespace: Namespace, command: v.Send | v.Schedule, answers: Iterator[Transition]
) -> Iterator[Transition]:
    """Yield the answers to a send, except acceptance of a message that must be refused.

    Acceptance at a limit exercises that limit. A send that dooms its transaction is a refusal that
    comes later (TXN-REFUSAL).
    """
    few = command.transaction is None or held_in(namespace, command) < SIZE_LIMIT - 1
    if few and is_plain(command.message):
        return answers
    return _within_limits(namespace, command, answers)


def _within_limits(
    namespace: Namespace, command: v.Send | v.Schedule, answers: Iterator[Transition]
) -> Iterator[Transition]:
    # A scheduled message may be refused only at the commit, unseen here. For other sends the state
    # records that the commit has to be refused (`_is_doomed`).
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
    """Return how many messages the transaction of a send already has."""
    transaction = namespace.transactions.get(command.transaction or "")
    return 0 if transaction is None else transaction.size


def within_limits(namespace: Namespace, command: v.Send | v.Schedule) -> tuple[v.RuleId, ...]:
    """LIMIT-01, LIMIT-03, LIMIT-07, LIMIT-09, LIMIT-11, LIMIT-15: return the limits reached.

    An accepted message exercises a limit that it barely keeps, if it exceeds no other. LIMIT-05 is
    exercised by one that a bus in Premium may refuse for its size, but accepts.
    """
    message = command.message
    exceeded = list(excesses(namespace, message))
    if exceeded:
        # In Premium, messages beyond 1 MB may be accepted (LIMIT-05), which is shown by one that
        # was.
        optional = all(excess.rule == "LIMIT-05" and not excess.surely for excess in exceeded)
        return ("LIMIT-05",) if optional else ()
    rules = [allowed for name, allowed, _ in KEYS if _length(message, name) == LONGEST_KEY]
    premium = namespace.profile.tier is v.Tier.PREMIUM
    taken = _surely_taken(namespace)
    # Only a message close to the limit shows that no lower one is enforced.
    if NEARLY * taken <= most(message) <= taken:
        rules.append("LIMIT-03" if premium else "LIMIT-01")
    if held_in(namespace, command) == SIZE_LIMIT - 1:
        rules.append("LIMIT-15")
    return tuple(rules)


def may_be_too_many(namespace: Namespace, messages: int) -> bool:
    """LIMIT-23: return whether a batch of so many messages may be refused for their number."""
    premium = namespace.profile.tier is v.Tier.PREMIUM
    return messages > (MOST_IN_BATCH_OF_PREMIUM if premium else MOST_IN_BATCH)


def batch_excess(namespace: Namespace, messages: Sequence[v.Message]) -> tuple[bool, bool]:
    """BATCH-07: return whether a batch may exceed the maximum size, and whether it surely does.

    The maximum size of a batch in Premium is open.
    """
    if sum(map(most, messages)) <= _surely_taken(namespace):
        return False, False
    # A message that stands in for several may be larger than the tier permits.
    size = sum(message.size or 0 for message in messages if not message.stands_in)
    beyond = size > LARGEST * _kb(namespace)[1] and namespace.profile.tier is not v.Tier.PREMIUM
    return True, beyond and must_refuse_beyond(namespace)


def is_plain(message: v.Message) -> bool:
    """Return whether a message is so far within every limit that it need not be measured."""
    for key in (message.message_id, message.session_id, message.partition_key):
        if key is not None and len(key) >= PLAIN:
            return False
    return not message.properties and most(message) <= PLAIN_SIZE


def excesses(namespace: Namespace, message: v.Message) -> Iterator[Excess]:
    """Yield the limits that a message exceeds or may exceed."""
    if is_plain(message):
        return
    yield from _of_size(namespace, message)
    for name, _, forbidden in KEYS:
        length = _length(message, name)
        if length > LONGEST_KEY:
            # There are two ways to count characters; only if both exceed the limit is it surely
            # exceeded.
            surely = len(getattr(message, name)) > LONGEST_KEY
            yield Excess(forbidden, v.Error.INVALID_OPERATION, surely)
    yield from _of_properties(namespace, message)


def _length(message: v.Message, name: str) -> int:
    """Return the greater length of a key: some buses count characters above U+FFFF twice."""
    # UTF-16 has two units for such characters, which is how .NET and Java count.
    return len((getattr(message, name) or "").encode("utf-16-le", "surrogatepass")) // 2


def _kb(namespace: Namespace) -> tuple[int, int]:
    """KB-BYTES: return the least and the greatest number of bytes in a KB."""
    return KB.get(namespace.reading("KB-BYTES") or "", EITHER_KB)


def _surely_taken(namespace: Namespace) -> int:
    """LIMIT-01, LIMIT-03: return how many bytes, with overhead, are surely accepted."""
    premium = namespace.profile.tier is v.Tier.PREMIUM
    return (LARGE if premium else LARGEST) * _kb(namespace)[0]


def _of_size(namespace: Namespace, message: v.Message) -> Iterator[Excess]:
    """LIMIT-02, LIMIT-04, LIMIT-05: yield the limit on the message's size if it may exceed it."""
    if most(message) <= _surely_taken(namespace):
        return
    premium = namespace.profile.tier is v.Tier.PREMIUM
    greatest = (LARGEST_IN_PREMIUM if premium else LARGEST) * _kb(namespace)[1]
    beyond = (message.size or 0) > greatest
    surely = beyond and not message.stands_in
    rule = ("LIMIT-04" if beyond else "LIMIT-05") if premium else "LIMIT-02"
    yield Excess(rule, v.Error.MESSAGE_TOO_LARGE, surely)


def _of_properties(namespace: Namespace, message: v.Message) -> Iterator[Excess]:
    """LIMIT-13, LIMIT-14: yield the limits on properties that the message may exceed."""
    sizes = [
        len(name.encode()) + len(value.encode() if isinstance(value, str) else b"")
        for name, value in message.properties.items()
    ]
    fewest, greatest = _kb(namespace)
    largest = max(sizes, default=0)
    # The number of bytes per character is open: one, up to the most that any encoding needs.
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
    """LIMIT-20: return whether a session state may be too large, and whether it must be refused."""
    may = most_of_state(state) > _surely_taken(namespace)
    standard = namespace.profile.tier is v.Tier.STANDARD
    beyond = len((state or "").encode()) > LARGEST * _kb(namespace)[1]
    return may, standard and beyond and must_refuse_beyond(namespace)


def shown_of_state(namespace: Namespace, state: str | None) -> tuple[v.RuleId, ...]:
    """LIMIT-19: return the rule that a session state close to the limit exercises."""
    size, standard = most_of_state(state), LARGEST * _kb(namespace)[0]
    return ("LIMIT-19",) if NEARLY * standard <= size <= _surely_taken(namespace) else ()
