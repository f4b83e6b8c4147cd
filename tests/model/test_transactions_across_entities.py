"""Each way of transactions across entities is accepted, under every reading of TXN-ENTITIES."""

import os
from collections.abc import Iterator
from random import Random

import pytest
from every_way import played
from random_commands import Commands

from busproof import spec
from busproof import vocabulary as v
from busproof.judging.replay.explanation import Ended, explain
from busproof.model import new_namespace

RUNS = 2_000 if os.environ.get("BUSPROOF_SIZE") == "full" else 20
LENGTH = 60
MOST_UNDECIDED = 0.05
"""The share of runs that the replay may give up, which is not a pass."""
CATALOGUE = spec.load()
READINGS = next(each for each in CATALOGUE.ambiguities if each.id == "TXN-ENTITIES").choices
OTHERS = (
    *("TXN-OTHER-OPERATIONS", "TXN-MESSAGE-ID", "TXN-REFUSAL", "TXN-AFTER-REFUSAL"),
    *("KEY-PROPERTIES", "REGULAR-KEYS", "SETTLEMENT-REFUSAL", "BATCH-KEYS", "REGULAR-RULES"),
)
"""Readings beside it that say what a transaction can hold."""
QUEUES = ("q", "d", "s", "r", "w")
SESSIONS = frozenset({"s", "w"})


class InTransactions(Commands):
    """Commands of which nearly all are in one transaction, on entities of each kind."""

    def setup(self) -> Iterator[v.Command]:
        """Create entities with and without partitions, sessions and duplicate detection."""
        yield v.CreateQueue(queue="q", partitioned=True)
        yield v.CreateQueue(queue="d", partitioned=True, duplicate_detection=True)
        yield v.CreateQueue(queue="s", partitioned=True, requires_session=True)
        yield v.CreateQueue(queue="r", partitioned=False)
        yield v.CreateQueue(queue="w", partitioned=False, requires_session=True)
        yield v.CreateTopic(topic="t", partitioned=self._pick(True, False))
        yield v.CreateTopic(topic="p", partitioned=False)
        yield v.CreateSubscription(topic="t", subscription="a")
        yield v.CreateSubscription(topic="p", subscription="a")
        for queue in QUEUES:
            session = "a" if queue in SESSIONS else None
            yield v.Send(queue=queue, message=v.Message(body=f"0{queue}", session_id=session))
            if session:
                yield v.AcceptSession(queue=queue, session_id=session)
            yield v.Receive(queue=queue, session_id=session)
        yield self._transaction()

    def any(self) -> tuple[v.Command, str]:
        """A command, of which most are in the transaction, and its connection."""
        makers = (self._send, self._batch, self._schedule, self._settle, self._rule)
        weights = (9, 2, 3, 4, 2)
        rare = (self._transaction, self._manage_one, self._outage, self._receive)
        if self._yes(0.25):
            return self._pick(*rare)(), "c1"
        return self._random.choices(makers, weights)[0](), "c1"

    def _transaction_name(self, probability: float = 0.2) -> str | None:
        return super()._transaction_name(max(probability, 0.9))

    def _message(self) -> v.Message:
        self._bodies += 1
        return v.Message(
            body=f"m{self._bodies}",
            message_id=self._pick(None, None, "a"),
            session_id=self._pick(None, "a", "a", "b"),
            partition_key=self._pick(None, None, None, "a"),
        )

    def _send(self) -> v.Command:
        queue = self._pick(*QUEUES, "t", "p")
        return v.Send(queue=queue, message=self._message(), transaction=self._transaction_name())

    def _manage_one(self) -> v.Command:
        queue = self._pick("q", "r")
        return self._pick(
            v.DeleteQueue(queue=queue),
            v.CreateQueue(queue=queue, partitioned=self._pick(True, False)),
            v.CreateQueue(queue=queue, partitioned=queue == "q"),
        )


def held_to(random: Random, reading: str) -> v.Profile:
    """A profile with this reading of TXN-ENTITIES, and the other ones at random."""
    choices = {each.id: each.choices for each in CATALOGUE.ambiguities}
    readings = {name: random.choice(choices[name]) for name in OTHERS if random.random() < 0.4}
    return v.profile_for(
        CATALOGUE,
        edition="cs-2020-12",
        readings={**readings, "TXN-ENTITIES": reading},
        partitions=3,
    )


@pytest.mark.slow
@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("partitions", [True, False], ids=["strict", "client"])
def test_replay_explains_every_way_of_transactions_across_entities(partitions, reading) -> None:
    """A second entity, partitioned or not, sent to, settled or scheduled on, or created again."""
    seen = v.Observability(partitions=partitions, limits=True)
    undecided = 0
    for seed in range(RUNS):
        random = Random(f"{partitions}/{reading}/{seed}")
        namespace = new_namespace(held_to(random, reading))
        commands = InTransactions(random, namespace)
        events = list(played(commands, namespace, random, LENGTH))
        ended = explain(events, namespace.profile, seen).ended
        assert ended is not Ended.IMPOSSIBLE, (seed, namespace.profile.readings)
        undecided += ended is Ended.GAVE_UP
    assert undecided <= max(1, MOST_UNDECIDED * RUNS)
