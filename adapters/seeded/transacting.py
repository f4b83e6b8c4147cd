"""Transactions of the seeded bus: what may be sent in one, and what becomes of it."""

from typing import Final

import attrs

from busproof.adapters.seeded.deferring import Deferring
from busproof.adapters.seeded.forwarding import Forwarding
from busproof.adapters.seeded.placing import SESSION_ID
from busproof.adapters.seeded.queues import Change, Key, Queue, Staged, Transaction
from busproof.vocabulary.commands import Abandon, Complete, DeadLetter, Settlement
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Outcome, Refused
from busproof.vocabulary.values import Error

__all__ = ["Transacting"]

_UNKNOWN: Final = Refused(error=Error.NOT_FOUND)


class Transacting(Deferring, Forwarding):
    """Stages messages until their transaction ends; every method is a hook.

    `transactions` has a name for each transaction that ever began, and `None` for those that ended.
    """

    transactions: dict[str, Transaction | None]

    def begin(self, name: str) -> Outcome:
        """Begin a transaction under a new name."""
        if name in self.transactions:
            return Refused(error=Error.ALREADY_EXISTS)
        self.transactions[name] = Transaction()
        return Done()

    def stage(self, queue: Queue, message: Message, transaction: Transaction) -> int | Error:
        """Take a message into a transaction and tell its partition, or why it is refused."""
        error = self.objection(queue, message, transaction)
        if error is not None:
            return error
        key = self.key_in_transaction(queue, message)
        placed = self.place_in_transaction(queue, key, transaction)
        if isinstance(placed, int):
            staged = Staged(queue=queue, message=message, key=key, partition=placed)
            self.add(transaction, staged)
        return placed

    def add(self, transaction: Transaction, staged: Staged) -> None:
        """Keep a message until the transaction ends."""
        transaction.staged.append(staged)
        if staged.key is not None:
            transaction.keys.setdefault(staged.queue.name, []).append(staged.key)

    def change_in_transaction(self, subscription: Queue, command: Change) -> Outcome:
        """Let a rule of a regular topic's subscription change with the commit, no other."""
        transaction = self.transactions.get(command.transaction or "")
        if transaction is None:
            return _UNKNOWN
        if subscription.settings.partitioned:
            return Refused(error=Error.INVALID_OPERATION)
        transaction.changes.append((subscription, command))
        return Done()

    def key_in_transaction(self, queue: Queue, message: Message) -> Key | None:
        """The key of a message in a transaction: the same as outside of one."""
        return self.key_of(queue, message)

    def place_in_transaction(
        self,
        queue: Queue,
        key: Key | None,
        transaction: Transaction,  # noqa: ARG002 - for faults
    ) -> int | Error:
        """The partition of a message in a transaction: the same as outside of one."""
        if key is None:
            return Error.UNAVAILABLE if queue.down else 0
        return self.place_with_key(queue, key)

    def objection(self, queue: Queue, message: Message, transaction: Transaction) -> Error | None:
        """Why this message must not be sent in this transaction, if it must not."""
        if self.session_missing(queue, message):
            return Error.INVALID_OPERATION
        if not queue.settings.partitioned:
            return None
        if self.conflicts_in_transaction(queue, message):
            return self.conflict_error
        key = self.key_in_transaction(queue, message)
        if key is None:
            return self.refusal_of_keyless()
        earlier = transaction.keys.get(queue.name, [])
        if self.other_session(queue, earlier, key) or self.other_key(queue, earlier, key):
            return Error.INVALID_OPERATION
        return None

    def session_missing(self, queue: Queue, message: Message) -> bool:
        """Whether the queue requires sessions and the message names none."""
        return queue.settings.requires_session and message.session_id is None

    def conflicts_in_transaction(self, queue: Queue, message: Message) -> bool:  # noqa: ARG002
        """Whether SessionId and PartitionKey differ, as outside of a transaction."""
        return self.conflicts(message)

    def refusal_of_keyless(self) -> Error | None:
        """How a message without key is refused."""
        return Error.INVALID_OPERATION

    def other_session(self, queue: Queue, earlier: list[Key], key: Key) -> bool:  # noqa: ARG002
        """Whether a message of another session is in the transaction already."""
        return any(before[0] == key[0] == SESSION_ID and before != key for before in earlier)

    def other_key(self, queue: Queue, earlier: list[Key], key: Key) -> bool:  # noqa: ARG002
        """Whether a message with another key is in the transaction, two sessions apart."""
        return any(
            before[1] != key[1] and not before[0] == key[0] == SESSION_ID for before in earlier
        )

    def settle_in_its_time(self, queue: Queue, command: Settlement) -> Outcome:
        """Settle a message at once, or with the commit of the transaction that is named."""
        if command.transaction is None:
            return self.settle_at_once(queue, command)
        transaction = self.transactions.get(command.transaction)
        if transaction is None:
            return _UNKNOWN
        if isinstance(command, DeadLetter) and queue.dead is None:
            return Refused(error=Error.INVALID_OPERATION)
        alone = attrs.evolve(command, transaction=None)
        if not self.may_enlist(queue, alone):
            return Refused(error=Error.LOCK_LOST)
        return self.enlist(transaction, queue, alone)

    def settle_at_once(self, queue: Queue, command: Settlement) -> Outcome:
        """Settle a message, if it is locked under this token."""
        if isinstance(command, DeadLetter):
            return self.dead_letter_on_request(queue, command)
        if isinstance(command, Complete):
            return self.settle(queue, command.lock_token, self.complete)
        act = self.abandon if isinstance(command, Abandon) else self.defer
        return self.settle(queue, command.lock_token, act)

    def may_enlist(self, queue: Queue, command: Settlement) -> bool:
        """Whether a message can be settled in a transaction: while its lock lasts."""
        return self.locked(queue, command.lock_token) is not None

    def enlist(self, transaction: Transaction, queue: Queue, command: Settlement) -> Outcome:
        """Keep a settlement until the transaction ends."""
        transaction.settlements.append((queue, command))
        return Done()

    def enlisted(self, transaction: Transaction) -> list[tuple[Queue, Settlement]]:
        """The settlements that a commit makes."""
        return transaction.settlements

    def has_lost(self, transaction: Transaction) -> bool:
        """Whether a lock has ended, of a message that was settled in the transaction."""
        for queue, _ in transaction.settlements:
            self.end_what_is_over(queue)
        return any(
            self.locked(queue, command.lock_token) is None
            for queue, command in self.enlisted(transaction)
        )

    def commit(self, name: str) -> Outcome:
        """Let all take effect that the transaction holds, or nothing where a part of it cannot."""
        transaction = self.ended(name)
        if transaction is None:
            return _UNKNOWN
        if any(staged.partition in staged.queue.down for staged in transaction.staged):
            return Refused(error=Error.UNAVAILABLE)
        if self.has_lost(transaction):
            return Refused(error=Error.LOCK_LOST)
        for queue, command in self.enlisted(transaction):
            self.settle_at_once(queue, command)
        for subscription, change in transaction.changes:
            self.change(subscription, change)
        for staged in self.committed(transaction):
            self.store_staged(staged)
        return Done()

    def store_staged(self, staged: Staged) -> None:
        """Store a message at the commit of its transaction."""
        self.store(staged.queue, staged.message, staged.key, staged.partition)

    def committed(self, transaction: Transaction) -> list[Staged]:
        """The messages that a commit stores."""
        return transaction.staged

    def roll_back(self, name: str) -> Outcome:
        """Forget all that was sent and settled in the transaction."""
        return _UNKNOWN if self.ended(name) is None else Done()

    def ended(self, name: str) -> Transaction | None:
        """The transaction of this name, which ends; `None` where none was running."""
        transaction = self.transactions.get(name)
        if transaction is not None:
            self.transactions[name] = None
        return transaction
