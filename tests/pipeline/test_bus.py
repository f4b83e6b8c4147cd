"""The bus on Spark: what its expressions cover, how large they are, and that they fold as one."""

import os
from collections.abc import Iterator
from functools import partial

import pytest
from pyspark.sql import SparkSession

from busproof import vocabulary as v
from busproof.adapters.spark import SparkAdapter
from busproof.adapters.spark import adapter as adapter_module
from busproof.adapters.spark.rehearsal import Rehearsal
from busproof.history.codec import union_of
from busproof.pipeline.bus.bulk import answer_sequences
from busproof.pipeline.bus.folding import COMMANDS
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"

SEQUENCE: list[v.Command] = [
    v.CreateQueue(queue="q"),
    v.BeginTransaction(transaction="t"),
    v.Send(queue="q", message=v.Message(body="a", partition_key="k"), transaction="t"),
    v.Send(queue="q", message=v.Message(body="b", partition_key="other"), transaction="t"),
    v.Receive(queue="q"),
    v.CommitTransaction(transaction="t"),
    v.Receive(queue="q"),
    v.Receive(queue="q"),
    v.AdvanceClock(duration=61 * v.MICROSECONDS),
    v.Receive(queue="q"),
]
ANSWERS = ["Done", "Done", "Done", "Refused", "Empty", "Done", "Received", "Empty", "Done"]
"""Of all but the last of these commands, by the documents."""


ASKED = ("CreateQueue", "Send", "Receive", "ReceiveDeferred", "Defer", "Complete", "ListQueues")
"""The commands of the adapter's plan; the gate has all of them in the runs of tests/pipeline/."""
OF_SEQUENCE = {type(each).__name__ for each in SEQUENCE}


def kinds(*few: str) -> list[str]:
    """Return the commands of a plan: a few at the gate, which take Spark a third of the time."""
    return sorted(COMMANDS if FULL else few)


@pytest.fixture(scope="module")
def started(spark: SparkSession) -> Iterator[SparkAdapter]:
    """In the session that all tests of the pipeline share; its plan is made once."""
    assert spark is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            adapter_module, "answer_sequences", partial(answer_sequences, kinds=kinds(*ASKED))
        )
        yield SparkAdapter()


@pytest.fixture
def adapter(started: SparkAdapter) -> Iterator[SparkAdapter]:
    """With an empty namespace."""
    started.start(v.profile_for(load()))
    yield started
    started.stop()


UNCOVERED = (
    *("AddRule", "RemoveRule", "ListRules"),
    *("GetTopic", "ListTopics", "UpdateTopic", "DeleteTopic", "ListSubscriptions"),
    *("SettleBatch", "RenewLocks", "DeleteBatch"),
)


def test_every_command_is_covered_but_a_few() -> None:
    """Those about subscription rules, several locks, and the management of topics."""
    commands = union_of(v.Command)
    assert set(UNCOVERED) == set(commands.members) - set(COMMANDS)


def test_nothing_of_the_plan_is_python(adapter, capsys) -> None:
    """Of the one plan that answers all commands."""
    assert v.Done() == adapter.do(v.CreateQueue(queue="q"), "c1").outcome
    adapter._one.explain("extended")
    explained = capsys.readouterr().out
    assert "Physical Plan" in explained
    assert "Python" not in explained


def test_settlement_names_the_lock_that_spark_gave(adapter: SparkAdapter) -> None:
    """LIFE-03: of one message, and of one among several."""
    adapter.do(v.CreateQueue(queue="q"), "c1")
    numbers = []
    for body in "abc":
        adapter.do(v.Send(queue="q", message=v.Message(body=body, partition_key="k")), "c1")
    for _ in "ab":
        received = adapter.do(v.Receive(queue="q"), "c1").outcome
        numbers.append(received.message.sequence_number or 0)
        token = received.message.lock_token or ""
        assert v.Done() == adapter.do(v.Defer(queue="q", lock_token=token), "c1").outcome
    several = adapter.do(
        v.ReceiveDeferred(queue="q", sequence_numbers=tuple(numbers)), "c1"
    ).outcome
    token = several.messages[1].lock_token or ""
    assert v.Done() == adapter.do(v.Complete(queue="q", lock_token=token), "c1").outcome
    lost = adapter.do(v.Complete(queue="q", lock_token=token), "c1").outcome
    assert v.Refused(error=v.Error.LOCK_LOST) == lost


def test_rehearsed_commands_are_folded_before_they_come(spark, tmp_path, monkeypatch) -> None:
    """What is asked otherwise than in the rehearsal is folded when it comes, and answered alike."""
    assert spark is not None
    monkeypatch.setattr(
        adapter_module, "answer_sequences", partial(answer_sequences, kinds=kinds(*OF_SEQUENCE))
    )
    monkeypatch.setenv("BUSPROOF_REHEARSED", str(tmp_path / "commands.jsonl"))
    played = _played(Rehearsal(), SEQUENCE)
    rehearsed = SparkAdapter()
    folded_later: list[int] = []
    monkeypatch.setattr(rehearsed, "_fold_one", lambda _, asked: folded_later.append(len(asked)))
    assert [*ANSWERS, "Received"] == played == _played(rehearsed, SEQUENCE)
    assert [] == folded_later
    rehearsed.start(v.profile_for(load()))
    rehearsed.hear(SEQUENCE, "c1")
    assert [] == folded_later
    rehearsed.do(SEQUENCE[0], "c1")
    with pytest.raises(KeyError):
        rehearsed.do(SEQUENCE[-1], "c1")
    assert [2] == folded_later


def _played(adapter: v.Adapter, commands: list[v.Command]) -> list[str]:
    adapter.start(v.profile_for(load()))
    outcomes = [adapter.do(each, "c1").outcome for each in commands]
    adapter.stop()
    return [type(each).__name__ for each in outcomes]


@pytest.mark.parametrize("place", [0, 2, 3])
def test_announced_commands_that_are_not_asked_have_no_effect(adapter, place) -> None:
    """Whatever is asked in its place; what was asked of it has had its effect, once."""
    heard = [v.CreateQueue(queue=name) for name in "aba"]
    adapter.hear(heard, "c1")
    outcomes = [adapter.do(each, "c1").outcome for each in heard[:place]]
    assert [v.Done(), v.Done(), v.Refused(error=v.Error.ALREADY_EXISTS)][:place] == outcomes
    adapter.hear([v.CreateQueue(queue="c")], "c1")
    assert v.Listed(names=("a", "b")[:place]) == adapter.do(v.ListQueues(), "c1").outcome
    assert v.Done() == adapter.do(v.CreateQueue(queue="b" if place < 2 else "c"), "c1").outcome


def test_a_key_keeps_its_partition_and_the_rest_take_turns(adapter: SparkAdapter) -> None:
    """KEY-02, KEY-14: as the witness has it."""
    adapter.do(v.CreateQueue(queue="q"), "c1")
    keyed = [v.Send(queue="q", message=v.Message(body=b, partition_key="k")) for b in "ab"]
    free = [v.Send(queue="q", message=v.Message(body=b)) for b in "cd"]
    taken = [adapter.do(each, "c1").witness for each in (*keyed, *free)]
    partitions = [-1 if each is None else each.partition for each in taken]
    assert partitions[0] == partitions[1]
    assert [0, 1] == partitions[2:]


def test_keys_that_differ_are_refused(adapter: SparkAdapter) -> None:
    """KEY-08."""
    adapter.do(v.CreateQueue(queue="q"), "c1")
    message = v.Message(body="a", session_id="s", partition_key="k")
    refusal = v.Refused(error=v.Error.INVALID_OPERATION)
    assert refusal == adapter.do(v.Send(queue="q", message=message), "c1").outcome
    assert v.Empty() == adapter.do(v.Receive(queue="q"), "c1").outcome


def test_properties_come_back_with_their_types(adapter: SparkAdapter) -> None:
    adapter.do(v.CreateQueue(queue="q"), "c1")
    message = v.Message(body="a", properties={"n": 1, "text": "1", "yes": True})
    assert v.Done() == adapter.do(v.Send(queue="q", message=message), "c1").outcome
    received = adapter.do(v.Receive(queue="q"), "c1").outcome
    assert message.properties == received.message.properties
