"""How large single messages, their keys and their properties may be, and names of entities.

What nobody states is open: how many bytes a KB has (KB-BYTES), and what a message takes beside its
body. So between what is surely small enough and what is surely too large a bus does as it likes.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Transaction
from busproof.oracle.storage_used import WIDEST, most, most_of_state
from busproof.oracle.transactions.limits import SIZE_LIMIT, may_be_full
from busproof.oracle.transition import Transition, refusal

__all__ = [
    "Excess",
    "batch_excess",
    "beyond_limits",
    "excesses",
    "held_in",
    "held_to_limits",
    "is_long_name",
    "is_long_short_name",
    "is_longest_name",
    "is_longest_short_name",
    "is_plain",
    "must_refuse_beyond",
    "no_more",
    "refuses_state",
    "shown_of_state",
    "surely_beyond",
    "within_limits",
]

KB: Final = {"decimal": (1000, 1000), "binary": (1024, 1024)}
EITHER_KB: Final = (1000, 1024)
"""KB-BYTES: the fewest bytes of a KB, and the most."""
LARGEST: Final = 256
"""LIMIT-01, LIMIT-02: the largest message of Basic and Standard, in KB."""
LARGE: Final = 1000
"""LIMIT-03: what Premium takes in any case, in KB: the fewest that 1 MB can be."""
LARGEST_IN_PREMIUM: Final = 100 * 1024
"""LIMIT-04: the largest message of Premium, in KB: the most that 100 MB can be."""
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
"""A key of fewer characters, and a message of fewer bytes, is far within every limit."""
NEARLY: Final = 0.9
"""From this part of a limit on it is the limit that an accepted size shows."""
KEYS: Final[tuple[tuple[str, v.RuleId, v.RuleId], ...]] = (
    ("message_id", "LIMIT-07", "LIMIT-08"),
    ("session_id", "LIMIT-09", "LIMIT-10"),
    ("partition_key", "LIMIT-11", "LIMIT-12"),
)
"""A property, the rule that allows its greatest length, and the one that forbids more."""


@attrs.frozen
class Excess:
    """A limit that a message may be beyond, and whether it surely is."""

    rule: v.RuleId
    error: v.Error
    surely: bool


def must_refuse_beyond(namespace: Namespace) -> bool:
    """Whether what is surely beyond a limit has to be refused: where a bus is held to limits."""
    return namespace.vantage.limits


def beyond_limits(namespace: Namespace, command: v.Send | v.Schedule) -> Iterator[Transition]:
    """Refusals: LIMIT-02, LIMIT-04 to LIMIT-06, LIMIT-08, LIMIT-10, LIMIT-12 to LIMIT-14, LIMIT-21.

    What is surely beyond a limit comes first, and shows it.
    """
    for excess in sorted(excesses(namespace, command.message), key=lambda each: not each.surely):
        anything = excess.error is not v.Error.MESSAGE_TOO_LARGE
        rules = _rules_of(excess, command)
        yield refusal(namespace, excess.error, *rules, any_error=anything)


def _rules_of(excess: Excess, command: v.Send | v.Schedule) -> tuple[v.RuleId, ...]:
    """LIMIT-06, LIMIT-21: what a refusal shows, of a scheduled message or in a transaction."""
    if not excess.surely:
        return (excess.rule,) if excess.rule == "LIMIT-05" else ()
    if excess.error is not v.Error.MESSAGE_TOO_LARGE:
        return (excess.rule,)
    if command.transaction is not None:
        return ("LIMIT-21", excess.rule)
    return ("LIMIT-06", excess.rule) if isinstance(command, v.Schedule) else (excess.rule,)


def no_more(namespace: Namespace, transaction: Transaction) -> Iterator[Transition]:
    """LIMIT-16: a transaction that holds as much as it may takes no further message."""
    if transaction.size >= SIZE_LIMIT:
        yield refusal(namespace, v.Error.INVALID_OPERATION, "LIMIT-16", any_error=True)
    elif may_be_full(transaction):
        # Outside the documents: whether what is settled in it counts is not said.
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def held_to_limits(
    namespace: Namespace, command: v.Send | v.Schedule, found: Iterator[Transition]
) -> Iterator[Transition]:
    """The transitions of a send, none of which takes what has to be refused for a limit.

    What is taken at a limit shows that limit. A send that dooms its transaction is a refusal that
    comes later (TXN-REFUSAL).
    """
    if command.transaction is None and is_plain(command.message):
        yield from found
        return
    held = must_refuse_beyond(namespace) and not _may_be_refused_later(namespace, command)
    must_refuse = held and surely_beyond(namespace, command)
    rules = within_limits(namespace, command)
    for transition in found:
        refused = isinstance(transition.outcome, v.Refused)
        if must_refuse and not refused and not _is_doomed(transition.next, command):
            continue
        told = rules and not refused
        yield attrs.evolve(transition, rules=(*rules, *transition.rules)) if told else transition


def _may_be_refused_later(namespace: Namespace, command: v.Send | v.Schedule) -> bool:
    """TXN-REFUSAL: whether what is scheduled in a transaction may be refused at its commit.

    Of a send it is kept that the commit has to be refused (`_is_doomed`).
    """
    within = isinstance(command, v.Schedule) and command.transaction is not None
    return within and namespace.profile.readings.get("TXN-REFUSAL") in ("at-commit", "either")


def _is_doomed(namespace: Namespace, command: v.Send | v.Schedule) -> bool:
    transaction = namespace.transactions.get(command.transaction or "")
    return transaction is not None and transaction.doomed


def surely_beyond(namespace: Namespace, command: v.Send | v.Schedule) -> tuple[v.RuleId, ...]:
    """The limits that a message is surely beyond, that of its transaction first (LIMIT-16)."""
    found = [each for each in excesses(namespace, command.message) if each.surely]
    rules = tuple(rule for each in found for rule in _rules_of(each, command))
    return ("LIMIT-16", *rules) if held_in(namespace, command) >= SIZE_LIMIT else rules


def held_in(namespace: Namespace, command: v.Send | v.Schedule) -> int:
    """How many messages the transaction of a send holds already."""
    transaction = namespace.transactions.get(command.transaction or "")
    return 0 if transaction is None else transaction.size


def within_limits(namespace: Namespace, command: v.Send | v.Schedule) -> tuple[v.RuleId, ...]:
    """LIMIT-01, LIMIT-03, LIMIT-07, LIMIT-09, LIMIT-11, LIMIT-15: limits just kept.

    Nothing where it may be beyond another one.
    """
    message = command.message
    found = list(excesses(namespace, message))
    if found:
        optional = all(each.rule == "LIMIT-05" and not each.surely for each in found)
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
    """BATCH-07: whether a batch may be larger than a message may be, and whether it surely is.

    What Premium takes in one batch is open.
    """
    if sum(map(most, messages)) <= _surely_taken(namespace):
        return False, False
    told = sum(message.size or 0 for message in messages if not message.stands_in)
    beyond = told > LARGEST * _kb(namespace)[1] and namespace.profile.tier is not v.Tier.PREMIUM
    return True, beyond and must_refuse_beyond(namespace)


def is_plain(message: v.Message) -> bool:
    """Whether a message is far within every limit, as most are: it need not be measured."""
    keys = (message.message_id, message.session_id, message.partition_key)
    short = all(key is None or len(key) < PLAIN for key in keys)
    return short and not message.properties and most(message) <= PLAIN_SIZE


def excesses(namespace: Namespace, message: v.Message) -> Iterator[Excess]:
    """The limits that a message is beyond or may be beyond."""
    if is_plain(message):
        return
    yield from _of_size(namespace, message)
    for name, _, forbidden in KEYS:
        length = _length(message, name)
        if length > LONGEST_KEY:
            surely = len(getattr(message, name)) > LONGEST_KEY
            yield Excess(forbidden, v.Error.INVALID_OPERATION, surely)
    yield from _of_properties(namespace, message)


def _length(message: v.Message, name: str) -> int:
    """How long a key is at the most: some count a character outside of the first 65,536 twice."""
    return len((getattr(message, name) or "").encode("utf-16-le", "surrogatepass")) // 2


def _kb(namespace: Namespace) -> tuple[int, int]:
    """KB-BYTES: the fewest and the most bytes of a KB."""
    return KB.get(namespace.profile.readings.get("KB-BYTES", ""), EITHER_KB)


def _surely_taken(namespace: Namespace) -> int:
    """LIMIT-01, LIMIT-03: how many bytes, all that a message takes, are never too many."""
    premium = namespace.profile.tier is v.Tier.PREMIUM
    return (LARGE if premium else LARGEST) * _kb(namespace)[0]


def _of_size(namespace: Namespace, message: v.Message) -> Iterator[Excess]:
    """LIMIT-02, LIMIT-04, LIMIT-05: a body that its tier does not take, or need not take."""
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
    if WIDEST * largest > PROPERTY * fewest:
        yield Excess("LIMIT-13", v.Error.INVALID_OPERATION, largest > PROPERTY * greatest)
    if WIDEST * sum(sizes) > PROPERTIES * fewest:
        yield Excess("LIMIT-14", v.Error.INVALID_OPERATION, sum(sizes) > PROPERTIES * greatest)


def is_long_name(name: str) -> bool:
    """LIMIT-18: whether the name of a queue or topic is longer than any may be."""
    return len(name) > LONGEST_NAME


def is_longest_name(name: str) -> bool:
    """LIMIT-17: whether the name of a queue or topic is as long as it may be."""
    return len(name) == LONGEST_NAME


def is_long_short_name(name: str) -> bool:
    """TOPIC-18, FILTER-27: whether the name of a subscription or rule is longer than any may be."""
    return len(name) > LONGEST_SHORT_NAME


def is_longest_short_name(name: str) -> bool:
    """TOPIC-17, FILTER-26: whether the name of a subscription or rule is as long as it may be."""
    return len(name) == LONGEST_SHORT_NAME


def refuses_state(namespace: Namespace, state: str | None) -> tuple[bool, bool]:
    """LIMIT-20: whether what is to be stored with a session may be refused, and whether it must."""
    may = most_of_state(state) > _surely_taken(namespace)
    standard = namespace.profile.tier is v.Tier.STANDARD
    beyond = len((state or "").encode()) > LARGEST * _kb(namespace)[1]
    return may, standard and beyond and must_refuse_beyond(namespace)


def shown_of_state(namespace: Namespace, state: str | None) -> tuple[v.RuleId, ...]:
    """LIMIT-19: what it shows that as much as this was stored with a session."""
    size, standard = most_of_state(state), LARGEST * _kb(namespace)[0]
    return ("LIMIT-19",) if NEARLY * standard <= size <= _surely_taken(namespace) else ()
