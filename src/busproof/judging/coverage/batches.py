"""BATCH: several messages in one request."""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.coverage.keys import key_at
from busproof.judging.coverage.notes import Coverage, coverage_of
from busproof.model.answers import Answer
from busproof.model.batches import MOST_DELETED, MOST_DELETED_PREMIUM, Batches
from busproof.model.state import Entity

__all__ = ["SeenBatches", "of_deleted", "of_received", "of_refused", "of_sent"]

ORDERED: Final = frozenset(("KEY-06", "KEY-17", "KEY-26"))


class SeenBatches(Batches):
    """Observer of batches."""

    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        """BATCH-01, BATCH-03: let the messages of a batch show it when they are delivered."""
        coverage = coverage_of(self)
        coverage.batch = set()
        answer = super().send_batch(command, connection)
        coverage.batch = None
        return answer


def of_sent(coverage: Coverage, entity: Entity, command: v.SendBatch) -> None:
    """BATCH-04 to BATCH-06, BATCH-08: show the rules on a batch that is accepted."""
    messages = command.messages
    partitioned = entity.settings.partitioned
    keys = {key_at(entity, message) for message in messages}
    named = {(message.session_id, message.partition_key) for message in messages}
    together = partitioned and len(keys) == 1 and len(messages) > 1
    coverage.show_if(
        (partitioned and len(keys) > 1, "BATCH-05"),
        (together and "KEY-02" in coverage.rules, "BATCH-04"),
        (not partitioned and len(named) > 1, "BATCH-06"),
        (command.transaction is not None, "BATCH-08"),
        ("KEY-11" in coverage.rules, "BATCH-09"),
    )


def of_refused(coverage: Coverage) -> None:
    """BATCH-02: show the rule on a batch that is refused as a whole."""
    coverage.show_if((coverage.rules, "BATCH-02"))


def of_received(coverage: Coverage, command: v.ReceiveBatch) -> None:
    """BATCH-13, BATCH-14, PART-13: show the rules on several messages of one receive."""
    views = coverage.views
    lines = {(view.session_id, view.partition_key) for view in views}
    ordered = not ORDERED.isdisjoint(coverage.rules)
    locked = command.mode is v.ReceiveMode.PEEK_LOCK
    partitioned = coverage.entity is not None and coverage.entity.settings.partitioned
    coverage.show_if(
        (len(lines) < len(views) and ordered, "BATCH-13"),
        (len(views) > 1 and locked, "BATCH-14"),
        (len(views) > 1 and locked and partitioned, "PART-13"),
    )


def of_deleted(coverage: Coverage, entity: Entity, command: v.DeleteBatch, count: int) -> None:
    """BATCH-18 to BATCH-20: show the rules on messages that one request deleted."""
    partitioned = entity.settings.partitioned
    most = MOST_DELETED_PREMIUM if coverage.namespace.profile.is_premium else MOST_DELETED
    coverage.show_if(
        (count < command.count, "BATCH-18"),
        (partitioned, "BATCH-19"),
        (not partitioned and command.count > most, "BATCH-20"),
    )
