"""What a bus that decides does to its messages, sessions and transactions, command by command."""

from collections import Counter
from typing import Any

from busproof.adapters.model import ModelAdapter
from busproof.oracle.returning import prepared
from busproof.oracle.state import Namespace, Queue, Transaction
from busproof.vocabulary.commands import AdvanceClock, Command

__all__ = ["Observing"]

Changes = set[tuple[str, str, str]]


class Observing(ModelAdapter):
    """The model as a bus of which each change of a state is noted: before, by what, and after.

    That is the name of a command, or `time` for what has happened in the meantime.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.messages: Changes = set()
        self.sessions: Changes = set()
        self.transactions: Changes = set()

    def _answer(self, command: Command, connection: str) -> Any:
        before = self._namespace
        answer = super()._answer(command, connection)
        after, by = self._namespace, type(command).__name__
        path = getattr(command, "queue", None)
        for each in before.queues if path is None else (path,):
            present = _at_present(before, each)
            by_itself = "time" if isinstance(command, AdvanceClock) else by
            self._compare(before, present, "time", each)
            self._compare(present, _at_present(after, each), by_itself, each)
        started = _transactions(before), _transactions(after)
        self.transactions |= _changes(*started, by, "absent")
        return answer

    def _compare(self, before: Namespace, after: Namespace, by: str, path: str) -> None:
        one, two = before.queues.get(path), after.queues.get(path)
        if one is None or two is None:
            return
        self.messages |= _changes(*_messages(one, two), by, "absent")
        self.sessions |= _changes(_sessions(before, one), _sessions(after, two), by, "free")


def _at_present(namespace: Namespace, path: str) -> Namespace:
    """The namespace with what has become of an entity by now; the model finds out when asked."""
    return prepared(namespace, path) or namespace


def _changes(before: dict[str, str], after: dict[str, str], by: str, default: str) -> Changes:
    pairs = ((before.get(each, default), after.get(each, default)) for each in {*before, *after})
    return {(one, by, two) for one, two in pairs if one != two}


def _messages(*queues: Queue) -> list[dict[str, str]]:
    """In each, the messages that are told apart from all others by their bodies, and their states.

    Of two copies that came to one queue by different ways nobody can say which is which.
    """
    found = [_states(queue) for queue in queues]
    often = [Counter(body for body, _ in each) for each in found]
    twins = {body for each in often for body, number in each.items() if number > 1}
    return [{body: state for body, state in each if body not in twins} for each in found]


def _states(queue: Queue) -> list[tuple[str, str]]:
    found = [(each.message.body, "scheduled") for each in queue.calendar.entries.values()]
    for stored in queue.messages.values():
        state = "deferred" if stored.deferred else "active"
        if stored.lock is not None:
            state = "deferred and locked" if stored.deferred else "locked"
        found.append((stored.message.body, state))
    return found


def _sessions(namespace: Namespace, queue: Queue) -> dict[str, str]:
    now = namespace.now.latest
    return {
        session: "held" for session, held in queue.sessions.items() if now <= held.expiry.latest
    }


def _transactions(namespace: Namespace) -> dict[str, str]:
    return {name: _state(each) for name, each in namespace.transactions.items()}


def _state(transaction: Transaction | None) -> str:
    if transaction is None:
        return "over"
    return "begun" if transaction.staged is not None or transaction.settlements else "empty"
