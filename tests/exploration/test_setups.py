"""Faults that only a prelude to requests shows, or a second subscription."""

from typing import Any

import attrs
import pytest
from source_sequences import MINUTE, RENEWED, asked, verdicts

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.exploration.machine import terms_of
from busproof.exploration.metamorphic.follow_ups import send_follow_up
from busproof.exploration.metamorphic.search import MetamorphicSearch
from busproof.exploration.sizes import SIZES
from busproof.history.records import Record, ScenarioVerdict


class CompletesBothCopies(ModelAdapter):
    """Completes the copy that another subscription has locked, too."""

    def do(self, command: v.Command, connection: str) -> v.Observed:
        if isinstance(command, v.Complete) and command.queue.endswith("/s"):
            super().do(attrs.evolve(command, queue=command.queue[:-1] + "t"), connection)
        return super().do(command, connection)


class KeepsTheFirstSettings(ModelAdapter):
    """Creates a queue under a name that was taken before as the first one was."""

    first: dict[str, v.CreateQueue]

    def start(self, profile: v.Profile) -> None:
        self.first = {}
        super().start(profile)

    def do(self, command: v.Command, connection: str) -> v.Observed:
        if isinstance(command, v.CreateQueue):
            known = self.first.setdefault(command.queue, command)
            command = attrs.evolve(command, max_delivery_count=known.max_delivery_count)
        return super().do(command, connection)


class ForgetsWhatIsDisabled(ModelAdapter):
    """Drops what is sent to an entity that is disabled for receivers."""

    def do(self, command: v.Command, connection: str) -> v.Observed:
        namespace = self._namespace
        assert namespace is not None
        if isinstance(command, v.Send) and command.queue in namespace.entities:
            status = namespace.entities[command.queue].status
            if status is v.EntityStatus.RECEIVE_DISABLED:
                return v.Observed(v.Done())
        return super().do(command, connection)


class AppliesRefusedUpdates(ModelAdapter):
    """Changes the lock duration in an update that it refuses."""

    def do(self, command: v.Command, connection: str) -> v.Observed:
        observed = super().do(command, connection)
        refused = isinstance(observed.outcome, v.Refused)
        if refused and isinstance(command, v.UpdateQueue) and command.lock_duration:
            update = v.UpdateQueue(queue=command.queue, lock_duration=command.lock_duration)
            super().do(update, connection)
        return observed


class RefusesInAnOutage(ModelAdapter):
    """Refuses every message for an entity with a partition that is down."""

    def do(self, command: v.Command, connection: str) -> v.Observed:
        namespace = self._namespace
        assert namespace is not None
        if isinstance(command, v.Send) and namespace.entities[command.queue].down:
            return v.Observed(v.Refused(error=v.Error.UNAVAILABLE))
        return super().do(command, connection)


class DeletesByPrefix(ModelAdapter):
    """Deletes the messages of an entity whose name is the beginning of a deleted one's name."""

    def do(self, command: v.Command, connection: str) -> v.Observed:
        namespace = self._namespace
        assert namespace is not None
        if isinstance(command, v.DeleteQueue):
            for path, entity in namespace.entities.items():
                if path != command.queue and command.queue.startswith(path):
                    for queued in list(entity.messages.values()):
                        namespace.rules.messages.remove(queued)
        return super().do(command, connection)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "variant"),
    [
        (CompletesBothCopies, ("on two subscriptions", "as it was")),
        (KeepsTheFirstSettings, ("where it was", "after predecessors")),
        (ForgetsWhatIsDisabled, ("where it was", "half closed")),
        (AppliesRefusedUpdates, ("where it was", "after refusals")),
        (RefusesInAnOutage, ("where it was", "in an outage")),
        (DeletesByPrefix, ("where it was", "beside deletions")),
    ],
)
def test_fault_that_only_one_variant_meets_is_noticed(kind, variant) -> None:
    source = asked((*RENEWED, v.Complete(queue="q", lock_token="@3"), v.GetQueue(queue="q")))

    class OneWay(MetamorphicSearch):
        def _draw_variants(self) -> Any:
            return [(source, variant)]

    records: list[Record] = []
    size = attrs.evolve(SIZES["quick"], shrinking=100, rules=1)
    adapter = kind()
    search = OneWay(
        adapter, terms_of(adapter), size=size, start=0, sources=[source], write=records.append
    )
    search.run()
    assert ScenarioVerdict.FAILED in verdicts(records)


def test_creation_gets_settings_that_are_not_the_defaults() -> None:
    commands: list[v.Command] = []

    def note(command: v.Command, _: str) -> None:
        commands.append(command)

    created = v.CreateQueue(queue="q", max_delivery_count=3)
    topic = v.CreateTopic(topic="t", duplicate_window=MINUTE)
    send_follow_up([v.Event(command=one, outcome=v.Done()) for one in (created, topic)], note)
    queue, other = commands
    assert isinstance(queue, v.CreateQueue)
    assert isinstance(other, v.CreateTopic)
    assert (3, 420 * v.MICROSECONDS) == (queue.max_delivery_count, queue.duplicate_window)
    assert MINUTE == other.duplicate_window
