"""The judge names the rules of what it accuses by the model."""

from alike import Recorder

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.judging.judge import Judge
from busproof.spec import load

SECOND = v.MICROSECONDS


def test_a_violation_after_alike_messages_is_charged_to_its_own_rule() -> None:
    """With the answer that would have been allowed; here a lock token that was never given."""
    recorder = Recorder(ModelAdapter("round-robin"), v.profile_for(load(), partitions=2))
    message = v.Message(body="x")
    recorder.send(v.CreateQueue(queue="q", partitioned=True))
    recorder.send(v.Send(queue="q", message=message))
    recorder.send(v.Schedule(queue="q", message=message, delay=30 * SECOND))
    recorder.send(v.AdvanceClock(duration=60 * SECOND))
    recorder.send(v.Send(queue="q", message=message))
    recorder.send(v.Peek(queue="q", count=10))
    judge = Judge(recorder.profile, recorder.observability)
    for event in recorder.events:
        judge.saw(event)
    assert not judge.exhausted
    assert judge.violation is None
    at = recorder.events[-1].called
    wrong = v.Complete(queue="q", lock_token="none")
    judge.saw(v.Event(client="c1", connection="c1", called=at, command=wrong, outcome=v.Done()))
    assert judge.violation.index == len(recorder.events)
    assert judge.violation.rules[0] == "LIFE-06"
    assert judge.violation.allowed == (v.Refused(error=v.Error.LOCK_LOST),)
