"""No conforming bus is accused because its messages look alike."""

import os
from pathlib import Path

import attrs
import pytest
from alike import Recorder, alike_history

from busproof import vocabulary as v
from busproof.adapters.model import POLICIES, ModelAdapter
from busproof.cli.main import main
from busproof.history.records import Oracle
from busproof.judging.judge import observability_for
from busproof.judging.linearization.overlap import judged
from busproof.spec import load

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
HISTORIES = 1200 if FULL else 25
SECOND = v.MICROSECONDS


def accused(recorder: Recorder, oracle: Oracle) -> tuple[v.RuleId, ...]:
    """The rules that a history is charged with."""
    observability = observability_for(recorder.observability, oracle)
    violation = judged(recorder.events, recorder.profile, observability).violation
    return () if violation is None else violation.rules


@pytest.mark.usefixtures("impatient")
@pytest.mark.slow
@pytest.mark.parametrize("oracle", Oracle)
@pytest.mark.parametrize("partitions", [2, 4, 16])
@pytest.mark.parametrize("policy", POLICIES)
def test_no_history_of_alike_messages_is_accused(policy, partitions, oracle) -> None:
    wrong = {
        seed: rules
        for seed in range(HISTORIES)
        if (rules := accused(alike_history(policy, partitions, seed), oracle))
    }
    assert {} == wrong


def six_commands() -> Recorder:
    """A history of two partitions, in which one message is easily taken for another."""
    profile = v.profile_for(load(), partitions=2)
    recorder = Recorder(ModelAdapter("round-robin"), profile)
    message = v.Message(body="x")
    recorder.send(v.CreateQueue(queue="q", partitioned=True))
    recorder.send(v.Send(queue="q", message=message))
    recorder.send(v.Schedule(queue="q", message=message, delay=30 * SECOND))
    recorder.send(v.AdvanceClock(duration=60 * SECOND))
    recorder.send(v.Send(queue="q", message=message))
    recorder.send(v.Peek(queue="q", count=10))
    return recorder


def test_a_peek_of_alike_messages_is_explained() -> None:
    assert () == accused(six_commands(), Oracle.STRICT)


def test_a_peek_that_shows_one_message_twice_is_accused_among_alike_ones() -> None:
    """The forbidden thing beside the right one: three messages, of which four are shown."""
    recorder = six_commands()
    peek = recorder.events[-1]
    shown = peek.outcome.messages
    more = v.Peeked(messages=(*shown, v.MessageView(body="x", sequence_number=(1 << 48) + 9)))
    recorder.events[-1] = v.Event(
        client="c1", connection="c1", called=peek.called, command=peek.command, outcome=more
    )
    assert accused(recorder, Oracle.STRICT)


HEARTBEATS = """\
{"record":"header","protocol":1,"profile":{"edition":"en-2026-02"},"clock":"real"}
{"record":"event","client":"a","connection":"a","called":0,"returned":100,"command":{"type":"CreateQueue","queue":"beats","partitioned":true},"outcome":{"type":"Done"}}
{"record":"event","client":"p","connection":"p","called":1000000,"returned":1010000,"command":{"type":"Send","queue":"beats","message":{"body":"beat"}},"outcome":{"type":"Done"}}
{"record":"event","client":"p","connection":"p","called":1100000,"returned":1110000,"command":{"type":"Send","queue":"beats","message":{"body":"other"}},"outcome":{"type":"Done"}}
{"record":"event","client":"c1","connection":"c1","called":1200000,"returned":1210000,"command":{"type":"Receive","queue":"beats","mode":"receive-and-delete"},"outcome":{"type":"Received","message":{"body":"other","sequence_number":281474976710657}}}
{"record":"event","client":"p","connection":"p","called":2000000,"returned":2010000,"command":{"type":"Send","queue":"beats","message":{"body":"beat"}},"outcome":{"type":"Done"}}
{"record":"event","client":"c2","connection":"c2","called":2100000,"returned":2110000,"command":{"type":"Receive","queue":"beats","mode":"receive-and-delete"},"outcome":{"type":"Received","message":{"body":"beat","sequence_number":562949953421313}}}
{"record":"event","client":"c2","connection":"c2","called":2200000,"returned":2210000,"command":{"type":"Receive","queue":"beats","mode":"receive-and-delete"},"outcome":{"type":"Empty"}}
"""
"""The first beat may be in the cache of c1's front end, and the second one was received by c2."""


def test_heartbeats_on_a_real_clock_are_explained(tmp_path, capsys) -> None:
    history = tmp_path / "history.jsonl"
    history.write_text(HEARTBEATS)
    assert main(["check", str(history), "--oracle", "client", "--verbose"]) == 3
    assert "0 violated" in capsys.readouterr().out


def test_without_the_other_receiver_the_missing_heartbeat_is_a_violation(tmp_path: Path) -> None:
    """No other front end can have cached it then."""
    alone = HEARTBEATS.replace('"client":"c1","connection":"c1"', '"client":"c2","connection":"c2"')
    history = tmp_path / "history.jsonl"
    history.write_text(alone)
    assert main(["check", str(history), "--oracle", "client"]) == 1


def test_alike_messages_without_proof_are_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spent budget is no accusation where messages look alike, and no pass either."""
    for module in ("search", "explanation"):
        monkeypatch.setattr(f"busproof.judging.replay.{module}.STEPS_AT_LEAST", 1)
        monkeypatch.setattr(f"busproof.judging.replay.{module}.STEPS_AN_EVENT", 0)
    monkeypatch.setattr("busproof.judging.replay.explanation.PROPER_AT_LEAST", 1)
    monkeypatch.setattr("busproof.judging.judge.ATTEMPTS", 1)
    recorder = six_commands()
    last = recorder.events[-1]
    unknown = v.Received(message=v.MessageView(body="never sent"))
    taken = attrs.evolve(last, command=v.Receive(queue="q"), outcome=unknown)
    result = judged([*recorder.events, taken], recorder.profile, recorder.observability)
    assert result.violation is None
    assert "too many executions" in result.exhausted


def test_an_explained_history_shows_its_execution(tmp_path, capsys) -> None:
    """The choice that nobody saw: c1's front end took the first beat along."""
    history = tmp_path / "history.jsonl"
    history.write_text(HEARTBEATS)
    main(["check", str(history), "--oracle", "client", "--explain"])
    lines = capsys.readouterr().out.splitlines()
    received = next(at for at, line in enumerate(lines) if "Received 'other'" in line)
    assert "the front end caches 1 more message (LIFE-08)" in lines[received + 1]


TRIED_AGAIN = """\
{"record":"header","protocol":1,"profile":{"edition":"en-2026-02"},"capabilities":["peek-lock"]}
{"record":"event","called":0,"command":{"type":"CreateQueue","queue":"r","partitioned":false},"outcome":{"type":"Done"},"returned":0}
{"record":"event","called":1,"command":{"type":"CreateQueue","queue":"q","partitioned":false,"forward_dead_letters_to":"r"},"outcome":{"type":"Done"},"returned":1}
{"record":"event","called":2,"command":{"type":"UpdateQueue","queue":"r","status":"disabled"},"outcome":{"type":"Done"},"returned":2}
{"record":"event","called":3,"command":{"type":"Send","queue":"q","message":{"body":"a"}},"outcome":{"type":"Done"},"returned":3}
{"record":"event","called":4,"command":{"type":"Receive","queue":"q"},"outcome":{"type":"Received","message":{"body":"a","lock_token":"l"}},"returned":4}
{"record":"event","called":5,"command":{"type":"DeadLetter","queue":"q","lock_token":"l","reason":"why"},"outcome":{"type":"Done"},"returned":5}
{"record":"event","called":6,"command":{"type":"UpdateQueue","queue":"r","status":"active"},"outcome":{"type":"Done"},"returned":6}
{"record":"event","called":7,"command":{"type":"Receive","queue":"r"},"outcome":{"type":"Received","message":{"body":"a","lock_token":"m","dead_letter_reason":"why"}},"returned":7}
"""
"""A dead letter goes on once its destination is enabled again (FWD-37)."""


def test_an_execution_has_words_for_what_a_bus_does_by_itself(tmp_path, capsys) -> None:
    history = tmp_path / "history.jsonl"
    history.write_text(TRIED_AGAIN)
    main(["check", str(history), "--explain"])
    out = capsys.readouterr().out
    assert "before it: 'a' is forwarded" in out
    assert "before it: dead letter 'a' is tried again" in out


def test_a_history_without_explanation_names_the_event(tmp_path, capsys) -> None:
    history = tmp_path / "history.jsonl"
    history.write_text(HEARTBEATS.replace('"body":"other","seq', '"body":"never sent","seq'))
    assert main(["check", str(history), "--oracle", "client", "--explain"]) == 1
    out = capsys.readouterr().out
    assert "no execution of the reference model goes on after event 3" in out
    assert "  4. c1 at 1.2 s" in out
