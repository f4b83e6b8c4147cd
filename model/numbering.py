"""Sequence numbers: each partition gives out its own, and they rise as messages arrive.

They are learned one by one, when a message is received or peeked. So each is held against the one
that was learned last in its line, which costs the same however many there are.
"""

from collections.abc import Iterator
from typing import Any, Final

from busproof.model.dead_letters import is_dead_letter_queue
from busproof.model.state import Namespace, Queue
from busproof.model.stored import Key, Numbered, Stored
from busproof.model.values import MessageView, RuleId

__all__ = ["misnumbered", "numbered", "why_numbered"]

_ALL: Final = Key("", "")
"""In the place of a line: all messages of an entity that is not partitioned."""


def misnumbered(
    namespace: Namespace, queue: Queue, stored: Stored, view: MessageView
) -> RuleId | None:
    """SEQ-01, SEQ-03, SEQ-05: the rule by which the message cannot have the number it is seen with.

    Of two messages of one line, the one that surely arrived first has the smaller number.
    """
    number = view.sequence_number
    if number in (None, stored.sequence_number) or not _is_one(queue, stored):
        return None
    if queue.numbers.get(number, stored.number) != stored.number:
        return "SEQ-03"
    rule, latest = _order(queue), _latest(queue, stored)
    if latest is None or rule in namespace.profile.silent:
        return None
    if latest.arrived < min(stored.number, stored.sent):
        return rule if latest.number > number else None
    if stored.number < min(latest.arrived, latest.sent):
        return rule if latest.number < number else None
    return None


def why_numbered(queue: Queue, stored: Stored, view: MessageView) -> Iterator[RuleId]:
    """SEQ-01, SEQ-03, SEQ-04, SEQ-05: what it shows that the message has this number."""
    if view.sequence_number is None:
        return
    if stored.sequence_number is not None:
        yield "SEQ-04"
    elif _is_one(queue, stored):
        if len(queue.numbers):
            yield "SEQ-03"
        latest = (queue.latest_numbers.get(row) for row in _rows(queue, stored))
        if any(each is not None and _is_behind(stored, view, each) for each in latest):
            yield _order(queue)


def numbered(queue: Queue, stored: Stored, number: int | None) -> dict[str, Any]:
    """The changes of a queue in which a message was seen with this number, if it told one."""
    if number is None:
        return {}
    changes: dict[str, Any] = {"numbers": queue.numbers.set(number, stored.number)}
    if _is_one(queue, stored):
        learned = Numbered(stored.number, stored.sent, number)
        rows = dict.fromkeys(_rows(queue, stored), learned)
        changes["latest_numbers"] = queue.latest_numbers.update(rows)
    return changes


def _is_one(queue: Queue, stored: Stored) -> bool:
    """Whether no other message ever had its body, so that it is this one that was seen."""
    return queue.bodies.get(stored.message.body) == (stored.number,)


def _line(queue: Queue, stored: Stored) -> Key | None:
    """The line in which its place is known: that of a scheduled message or a dead letter is not."""
    dead = is_dead_letter_queue(queue.settings.queue)
    return None if dead or stored.came is not None else stored.line


def _latest(queue: Queue, stored: Stored) -> Numbered | None:
    """What was learned last of its line."""
    line = _line(queue, stored)
    return None if line is None else queue.latest_numbers.get(line)


def _rows(queue: Queue, stored: Stored) -> Iterator[Key]:
    """Its line, and that of all messages of a regular entity.

    No answer is judged by the latter: of sends side by side it is not asked which came first.
    """
    line = _line(queue, stored)
    if line is not None:
        yield line
    dead = is_dead_letter_queue(queue.settings.queue)
    if not queue.settings.partitioned and stored.certain and stored.came is None and not dead:
        yield _ALL


def _is_behind(stored: Stored, view: MessageView, latest: Numbered) -> bool:
    """Whether it surely came after the latest one, as its number says."""
    number = view.sequence_number or 0
    return latest.arrived < min(stored.number, stored.sent) and latest.number < number


def _order(queue: Queue) -> RuleId:
    return "SEQ-01" if queue.settings.partitioned else "SEQ-05"
