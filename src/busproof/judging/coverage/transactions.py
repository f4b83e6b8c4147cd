"""TXN: transactions, from their sends to their end."""

from busproof.judging.coverage.duplicates import declined
from busproof.judging.coverage.keys import key_at
from busproof.judging.coverage.limits import of_transaction
from busproof.judging.coverage.notes import Coverage, coverage_of
from busproof.model.state import BufferedSend, Entity, QueuedMessage, Transaction
from busproof.model.transactions import Transactions

__all__ = ["SeenTransactions", "of_committed", "of_rolled_back", "of_sent"]


class SeenTransactions(Transactions):
    """Observer of transactions."""

    def buffer(self, transaction: Transaction, buffered: BufferedSend) -> None:
        """TXN-12, FWD-33: note what a commit may let come."""
        super().buffer(transaction, buffered)
        coverage = coverage_of(self)
        coverage.noted.setdefault("buffered", []).append((transaction, buffered))
        destination = self.namespace.entities.get(buffered.entity.settings.forward_to or "")
        if destination is not None:
            coverage.keep_away(destination, "FWD-33")

    def deliver(self, buffered: BufferedSend) -> None:
        """SEQ-07: tell which transaction a message was sent in."""
        coverage = coverage_of(self)
        coverage.committing = coverage.noted.get("transaction")
        super().deliver(buffered)
        coverage.committing = None

    def apply(self, transaction: Transaction) -> None:
        """TXN-12: tell which transaction is committed."""
        coverage_of(self).noted["transaction"] = transaction
        super().apply(transaction)

    def release(self, transaction: Transaction) -> None:
        """LOCK-12, DUP-10: note what a transaction that ends without effect leaves as it was."""
        coverage = coverage_of(self)
        coverage.noted["transaction"] = transaction
        super().release(transaction)
        for enlisted in transaction.settlements:
            number = enlisted.token.partition("/")[0]
            queued = enlisted.entity.messages.get(int(number)) if number.isdecimal() else None
            if queued is not None and queued.token == enlisted.token:
                spare(coverage, queued)
        for buffered in transaction.sends:
            declined(coverage, buffered.entity, buffered.message, "DUP-10")


def spare(coverage: Coverage, queued: QueuedMessage) -> None:
    """LOCK-12: note that a settlement of a message was rolled back."""
    notes = coverage.message(queued)
    coverage.change(notes)
    notes.spared = True


def of_sent(coverage: Coverage, entity: Entity) -> None:
    """TXN-01, TXN-02, TXN-05, TXN-09, TXN-10, TXN-14, FWD-34: show the rules on a send."""
    partitioned = entity.settings.partitioned
    for transaction, buffered in coverage.noted.get("buffered", ()):
        message = buffered.message
        if buffered not in transaction.sends:  # it was refused after all
            continue
        earlier = transaction.sends[: transaction.sends.index(buffered)]
        before = [send for send in earlier if send.entity is entity]
        of_transaction(coverage, len(earlier) + 1)
        coverage.show_if((entity.settings.forward_to is not None, "FWD-34"))
        if not partitioned:
            first = earlier[0].message.session_id if earlier else None
            second = message.session_id is not None and first not in (None, message.session_id)
            coverage.show_if((message.session_id is None, "TXN-14"), (second, "TXN-09"))
            continue
        key = key_at(entity, message)
        homes = coverage.at(entity.base).homes
        known = coverage.partition is not None and key is not None and key.value in homes
        coverage.show_if(
            (known, "TXN-10" if before else "TXN-05"),
            (True, "TXN-02" if before else "TXN-01"),
        )
        if coverage.partition is not None and key is not None and key.value not in homes:
            coverage.journal.put(homes, key.value, coverage.partition)


def of_committed(coverage: Coverage) -> None:
    """TXN-12, SESS-26, LIMIT-15, LOCK-11, FEAT-19: show the rules on a commit."""
    transaction = coverage.noted.get("transaction")
    if transaction is None:
        return
    sends = transaction.sends
    sessions = {
        (send.entity, send.message.session_id)
        for send in sends
        if send.message.session_id is not None and not send.entity.settings.partitioned
    }
    coverage.show_if(
        (len({entity for entity, _ in sessions}) < len(sessions), "SESS-26"),
        (transaction.settlements, "LOCK-11"),
        (transaction.rule_changes, "FEAT-19"),
        (sends or not transaction.settlements, "TXN-12"),
        (any(send.entity.subscriptions is not None for send in sends), "TOPIC-15"),
    )
    of_transaction(coverage, len(sends))


def of_rolled_back(coverage: Coverage) -> None:
    """TXN-13, FEAT-19: show the rules on a rollback."""
    transaction = coverage.noted.get("transaction")
    if transaction is not None:
        coverage.show_if((transaction.rule_changes, "FEAT-19"), (transaction.sends, "TXN-13"))
