"""Sequences of scenarios transformed: what is sent, what is noticed, and that it is sound."""

import os
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import attrs
import pytest
from source_sequences import MINUTE, RENEWED, asked, sent, verdicts

from busproof import vocabulary as v
from busproof.adapters.model import CAPABILITIES, ModelAdapter
from busproof.exploration.cargo import CARGO, LONG_CARGO, laden
from busproof.exploration.machine import Watch, terms_of
from busproof.exploration.metamorphic.entities import use_subscription
from busproof.exploration.metamorphic.follow_ups import SourceSequence, send_follow_up
from busproof.exploration.metamorphic.search import LATER, MetamorphicSearch
from busproof.exploration.metamorphic.transformations import (
    CIRCUMSTANCES,
    ENTITIES,
    Variant,
    VariantChooser,
    request_kinds,
)
from busproof.exploration.sizes import SIZES
from busproof.history.records import (
    METAMORPHIC,
    Ended,
    Record,
    ScenarioVerdict,
    Started,
    StepResult,
)
from busproof.model.answers import Answer
from busproof.model.keys import Keys
from busproof.model.life_cycle import Action
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.partitions import Partitions
from busproof.model.state import Entity, Transaction
from busproof.model.transactions import Transactions
from busproof.model.values import Key, Refusal
from busproof.mutants.mutant import memory
from busproof.steps.source_sequences import LONGEST, SourceSequences

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
POLICIES = ("round-robin", "random", "hostile")
EVERYTHING = (
    v.CreateQueue(queue="q", lock_duration=MINUTE),
    sent("a", partition_key="k", time_to_live=10 * MINUTE),
    sent("b", message_id="i"),
    v.Receive(queue="q"),
    v.Abandon(queue="q", lock_token="@3"),
    v.Receive(queue="q"),
    v.RenewLock(queue="q", lock_token="@5"),
    v.Defer(queue="q", lock_token="@5"),
    v.ReceiveDeferred(queue="q", sequence_numbers=(0,)),
    v.Schedule(queue="q", message=v.Message(body="c"), delay=MINUTE),
    v.CancelScheduled(queue="q", sequence_number=0),
    v.SendBatch(queue="q", messages=(v.Message(body="d"), v.Message(body="e"))),
    v.UpdateQueue(queue="q", max_delivery_count=3),
    v.AdvanceClock(duration=2 * MINUTE),
    v.Receive(queue="q"),
    v.DeadLetter(queue="q", lock_token="@14", reason="r"),
    v.Receive(queue="q" + v.DEAD_LETTERS),
    v.Complete(queue="q" + v.DEAD_LETTERS, lock_token="@16"),
    v.ListQueues(),
)


class EachWay(MetamorphicSearch):
    """Asks each sequence in every variant, or in some of them."""

    some = slice(None)

    def _draw_variants(self) -> Any:
        variants = [
            (entity, circumstance) for entity in ENTITIES for circumstance in CIRCUMSTANCES
        ][1:]
        return [(one, variant) for one in self._sources for variant in variants[self.some]]


def searched(
    adapter: ModelAdapter,
    source: SourceSequence,
    variant: Variant | None = None,
    some: slice = slice(None),
) -> list[Record]:
    """Return the records of a search in every variant, in some of them, or in one."""
    records: list[Record] = []
    size = attrs.evolve(SIZES["quick"], metamorphic=1_000, shrinking=100, rules=1)
    kind = EachWay if variant is None else MetamorphicSearch
    terms = terms_of(adapter)
    search = kind(adapter, terms, size=size, start=0, sources=[source], write=records.append)
    if isinstance(search, EachWay):
        search.some = some
    search.run()
    return records


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_no_way_accuses_a_conforming_bus(policy: str) -> None:
    """At the gate each policy is asked in a third of the variants, and all together in each."""
    some = slice(None) if FULL else slice(POLICIES.index(policy), None, len(POLICIES))
    records = searched(ModelAdapter(policy=policy, seed=2), asked(EVERYTHING), some=some)
    ends = Counter(record.verdict for record in records if isinstance(record, Ended))
    # The hostile policy leaves so much open that the judge gives up now and then.
    given_up = ends.pop(ScenarioVerdict.INCONCLUSIVE, 0)
    most = {"random": 0.01, "hostile": 0.1}.get(policy, 0) * ends[ScenarioVerdict.PASSED]
    assert given_up <= max(most, 1 if most else 0)
    assert {ScenarioVerdict.PASSED} == set(ends)
    assert len(records) > 1_000


class WrongOnSubscriptions(Locks):
    """Renew no lock of a subscription."""

    def renew(self, command: v.RenewLock, connection: str) -> Answer:
        if v.SUBSCRIPTIONS in command.queue:
            raise Refusal(v.Error.LOCK_LOST, "LOCK-05")
        return super().renew(command, connection)


class WrongAfterAnHour(Locks):
    """Renew no lock after an hour."""

    def renew(self, command: v.RenewLock, connection: str) -> Answer:
        if self.namespace.now > 60 * MINUTE:
            raise Refusal(v.Error.LOCK_LOST, "LOCK-05")
        return super().renew(command, connection)


class WrongBesideATransaction(Locks):
    """Renew no lock while a transaction is open."""

    def renew(self, command: v.RenewLock, connection: str) -> Answer:
        if any(not transaction.ended for transaction in self.namespace.transactions.values()):
            raise Refusal(v.Error.LOCK_LOST, "LOCK-05")
        return super().renew(command, connection)


class ListsOnlyTen(Management):
    """List at most ten names."""

    def list_queues(self, command: v.ListQueues, connection: str) -> Answer:
        answer = super().list_queues(command, connection)
        answer.outcome = v.Listed(names=answer.outcome.names[:10])
        return answer


def test_list_that_is_cut_off_is_noticed_among_a_hundred_others() -> None:
    adapter = ModelAdapter(families={"management": ListsOnlyTen})
    source = asked((EVERYTHING[0], v.ListQueues()))
    assert ScenarioVerdict.FAILED in verdicts(searched(adapter, source))


class ThirdRenewalDoesNothing(Locks):
    """Renew a lock twice only."""

    def renew(self, command: v.RenewLock, connection: str) -> Answer:
        entity = self.namespace.entities[command.queue]
        queued = super().locked_under(entity, command.lock_token)
        renewals = memory(self.namespace, Counter)
        renewals[command.lock_token] += 1
        if renewals[command.lock_token] > 2:
            return Answer(v.Renewed(locked_until=queued.locked_until))
        return super().renew(command, connection)


@pytest.mark.slow
@pytest.mark.parametrize(
    "locks",
    [
        ThirdRenewalDoesNothing,
        WrongOnSubscriptions,
        WrongAfterAnHour,
        WrongBesideATransaction,
    ],
)
def test_fault_that_a_scenario_does_not_meet_is_noticed_in_a_variant(locks) -> None:
    families = {"locks": locks}
    source = asked(RENEWED, ModelAdapter(families=families))
    assert isinstance(source.events[-1].outcome, v.Renewed), "the scenario notices nothing"
    records = searched(ModelAdapter(families=families), source)
    assert ScenarioVerdict.FAILED in verdicts(records)


HELD = (
    v.CreateQueue(queue="q", lock_duration=5 * MINUTE),
    sent("a", partition_key="k"),
    v.Receive(queue="q"),
    v.Peek(queue="q"),
    v.Complete(queue="q", lock_token="@2"),
    v.Complete(queue="q", lock_token="@2"),
)


def released(locks: Locks, entity: Entity) -> None:
    """Release all messages of an entity as if their locks had ended."""
    for queued in list(entity.messages.values()):
        if queued.token is not None:
            locks.release(queued, Action.LOCK_ENDS)


class UpdateReleases(Management):
    def apply_update(self, entity: Entity, command: v.UpdateQueue) -> None:
        super().apply_update(entity, command)
        released(self.rules.locks, entity)


class RecoveryReleases(Partitions):
    def switch(self, command: v.TakePartitionDown | v.BringPartitionUp, connection: str) -> Answer:
        answer = super().switch(command, connection)
        entity = self.namespace.entities.get(command.queue)
        if entity is not None and isinstance(command, v.BringPartitionUp):
            released(self.rules.locks, entity)
        return answer


class KeyMovesAfterHalfADay(Keys):
    def home(self, entity: Entity, key: Key) -> int:
        partition = super().home(entity, key)
        late = self.namespace.now > LATER + 12 * 60 * MINUTE
        return (partition + 1) % len(entity.partitions) if late else partition


class TwelfthSendIsLost(Transactions):
    def apply(self, transaction: Transaction) -> None:
        self.namespace.journal.touch(transaction)
        transaction.sends = transaction.sends[:11]
        super().apply(transaction)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("management", UpdateReleases),
        ("partitions", RecoveryReleases),
        ("keys", KeyMovesAfterHalfADay),
        ("transactions", TwelfthSendIsLost),
    ],
    ids=["amid updates", "amid outages", "with pauses", "in transactions"],
)
def test_fault_of_updates_outages_pauses_or_many_sends_is_noticed_in_a_variant(name, family):
    source = asked(HELD)
    assert set() == verdicts(searched(ModelAdapter(), source)) - {ScenarioVerdict.PASSED}
    records = searched(ModelAdapter(families={name: family}), source)
    assert ScenarioVerdict.FAILED in verdicts(records)


def test_some_messages_have_long_values_and_each_keeps_its_own() -> None:
    messages = [v.Message(body=f"m{number}") for number in range(20)]
    loaded = [laden(message, is_filtered=False) for message in messages]
    assert {CARGO["subject"], LONG_CARGO["subject"]} == {message.subject for message in loaded}
    assert loaded == [laden(message, is_filtered=False) for message in messages]
    for message in (laden(message, is_filtered=True) for message in messages):
        assert message.properties
        assert message.subject is None


def test_short_state_of_a_session_is_made_long() -> None:
    commands: list[v.Command] = []
    state = v.SetSessionState(queue="q", session_id="s", state="x")
    send_follow_up(
        [v.Event(command=state, outcome=v.Done())], lambda command, _: commands.append(command)
    )
    (changed,) = commands
    assert isinstance(changed, v.SetSessionState)
    assert len(changed.state or "") > 1_000


def test_search_records_each_sequence_with_its_place_and_its_manner() -> None:
    records = searched(ModelAdapter(), asked(RENEWED), ("", ""))
    names = [record.scenario for record in records if isinstance(record, Started)]
    assert len(names) == len(set(names)) > 1
    started = next(record for record in records if isinstance(record, Started))
    name, entity, circumstance = started.scenario.split(", ")
    assert ("a scenario", METAMORPHIC) == (name, started.feature)
    assert entity in ENTITIES
    assert circumstance in CIRCUMSTANCES


def test_real_clock_gets_no_sequence() -> None:
    """It would have to wait."""
    assert [] == searched(ModelAdapter(clock=v.Clock.REAL), asked(RENEWED))


def chosen(commands: Sequence[v.Command], times: int) -> list[Variant | None]:
    """Return the variants that are chosen one after another for the same sequence."""
    variants, events = VariantChooser(Random(1)), asked(commands).events
    return [variants.choose_for(request_kinds(events)) for _ in range(times)]


def test_way_needs_the_commands_that_it_changes() -> None:
    assert [None] == chosen((v.GetQueue(queue="q"),), 1)
    looks = (v.GetQueue(queue="q"), v.Peek(queue="q"), v.Peek(queue="q", count=2))
    commands = (EVERYTHING[0], *looks, v.DeleteQueue(queue="q"))
    variants = [variant for variant in chosen(commands, 20) if variant is not None]
    subscriptions = {"on a subscription", "on two subscriptions"}
    assert {"where it was", *subscriptions} == {entity for entity, _ in variants}
    assert {how for _, how in variants} == {
        "as it was",
        "after a hundred others",
        "after an outage",
        "after predecessors",
        "after refusals",
        "in an outage",
    }
    assert ("where it was", "as it was") not in variants


def test_each_place_and_each_manner_has_its_turn() -> None:
    variants = [
        variant
        for variant in chosen(EVERYTHING, max(len(ENTITIES), len(CIRCUMSTANCES)) + 1)
        if variant
    ]
    assert set(ENTITIES) == {entity for entity, _ in variants}
    assert set(CIRCUMSTANCES) == {circumstance for _, circumstance in variants}


def test_locks_and_numbers_are_those_of_the_same_messages_this_time() -> None:
    """A message gets another number behind others, and another token with it."""
    source = asked(EVERYTHING[:9])
    adapter = ModelAdapter()
    sequence = Watch(adapter, terms_of(adapter)).opened()
    for command in (EVERYTHING[0], *(sent(f"before {number}") for number in range(20))):
        sequence.ask(command, "c1")
    while isinstance(event_of(sequence).outcome, v.Received):
        pass
    before = len(sequence.events)
    send_follow_up(source.events[1:], sequence.ask)
    now = sequence.events[before:]
    assert [event.command for event in now] != [event.command for event in source.events[1:]]
    assert [type(event.outcome) for event in source.events[1:]] == [
        type(event.outcome) for event in now
    ]


def event_of(sequence: Any) -> v.Event:
    """Return the event of a receive that deletes."""
    event = sequence.ask(v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE), "c1")
    assert isinstance(event, v.Event)
    return event


def test_command_is_left_out_if_its_lock_does_not_exist_this_time() -> None:
    source = asked(EVERYTHING[:5])
    commands: list[v.Command] = []

    def empty(command: v.Command, _: str) -> v.Event:
        commands.append(command)
        return v.Event(command=command, outcome=v.Empty())

    send_follow_up(source.events, empty)
    assert [v.CreateQueue, v.Send, v.Send, v.Receive] == [type(one) for one in commands]


def test_dead_letters_of_a_queue_become_those_of_its_subscription() -> None:
    paths: list[str] = []

    def note(command: v.Command, _: str) -> None:
        paths.append(getattr(command, "queue", ""))

    ask = use_subscription(note)
    for command in (EVERYTHING[0], sent("a"), v.Receive(queue="q" + v.DEAD_LETTERS)):
        ask(command, "c1")
    assert ["", "", "q", "q/subscriptions/s/$deadletterqueue"] == paths


@pytest.mark.slow
def test_undeclared_requests_are_left_out() -> None:
    class Plain(ModelAdapter):
        @property
        def declaration(self) -> Any:
            declared = super().declaration
            few = CAPABILITIES - {v.Capability.TOPICS, v.Capability.TRANSACTIONS}
            return attrs.evolve(declared, capabilities=few)

    records = searched(Plain(), asked(EVERYTHING))
    commands = {type(record.command) for record in records if isinstance(record, v.Event)}
    assert commands.isdisjoint({v.CreateTopic, v.CreateSubscription, v.BeginTransaction})


def test_scenarios_that_are_long_alike_or_failed_are_not_kept() -> None:
    kept = SourceSequences()
    events = asked(RENEWED).events
    for name in ("a", "b"):
        kept.keep(name, events, ())
    kept.keep("c", events[:2] * LONGEST, ())
    kept.keep("d", events[:2], [StepResult(keyword="When", text="", result="failed")])
    assert ["a"] == [source.name for source in kept.sequences]
