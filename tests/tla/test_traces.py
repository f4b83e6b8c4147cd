"""Histories beside the contract: conforming ones are explained, others fail at their step."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import attrs
import pytest
from rows import rows_of

from busproof import vocabulary as v
from busproof.adapters.faults import make
from busproof.adapters.model import ModelAdapter
from busproof.cli.main import main
from busproof.errors import TlcError
from busproof.history.codec import structure
from busproof.history.files import HistoryWriter
from busproof.history.records import Header, Scenario
from busproof.tla.manifest import FOLDER
from busproof.tla.traces import judge
from busproof.tla.traces.clock_mapping import ticks_for
from busproof.tla.traces.judge import judge_traces, spelt
from busproof.tla.traces.recorded import Recorded, find_traces
from busproof.tla.traces.unsupported import LeftOut

PROFILE = v.Profile(edition="de-2021-04", partitions=2)
LOCK = 60 * v.MICROSECONDS
DAY = 86_400 * v.MICROSECONDS

Ask = Callable[..., v.Event]


class Story:
    """Events one after another, at their times."""

    def __init__(self, lock: int = LOCK) -> None:
        created = v.CreateQueue(queue="q", lock_duration=lock)
        self.events = [v.Event(command=created, outcome=v.Done())]
        self.now = 0

    def has(self, command: object, outcome: object = None, connection: str = "c1") -> "Story":
        self.events.append(
            v.Event(
                called=self.now,
                returned=self.now,
                command=command,
                outcome=outcome or v.Done(),
                connection=connection,
                client=connection,
            )
        )
        return self

    def sends(self, *bodies: str, key: str | None = None) -> "Story":
        for body in bodies:
            self.has(v.Send(queue="q", message=v.Message(body=body, partition_key=key)))
        return self

    def gets(self, body: str, lock: str = "l", connection: str = "c1") -> "Story":
        view = v.MessageView(body=body, lock_token=lock)
        return self.has(v.Receive(queue="q"), v.Received(message=view), connection)

    def waits(self, duration: int) -> "Story":
        self.has(v.AdvanceClock(duration=duration))
        self.now += duration
        return self

    def trace(self) -> Recorded:
        (found,) = find_traces(Scenario(name="it", events=tuple(self.events)), PROFILE)
        assert isinstance(found, Recorded), found
        return found


def failing_steps(stories: list[Story]) -> list[int | None]:
    """Of each, the step that the contract does not explain, counted from 1."""
    traces_ = [story.trace() for story in stories]
    found = {id(each.trace): each for each in judge_traces(FOLDER, traces_)}
    verdicts = [found[id(trace)] for trace in traces_]
    return [None if each.accepted else each.explained + 1 for each in verdicts]


COMPLETE = v.Complete(queue="q", lock_token="l")
ABANDON = v.Abandon(queue="q", lock_token="l")
RECEIVE = v.Receive(queue="q")
LOST = v.Refused(error=v.Error.LOCK_LOST)
DOWN = v.TakePartitionDown(queue="q", partition=1)
TOLD: list[tuple[Story, int | None]] = [
    (Story().sends("a", "b").gets("a").has(COMPLETE), None),
    (Story().sends("a").gets("b"), 2),
    (Story().sends("a").gets("a").gets("a", "l2"), 3),
    (Story().sends("a").gets("a").waits(LOCK + 1).gets("a", "l2"), None),
    (Story().sends("a").gets("a").waits(LOCK // 2).gets("a", "l2"), 3),
    (Story().sends("a").has(RECEIVE, v.Empty()), 2),
    (Story().sends("a", "b", key="k").gets("b"), 3),
    (Story().sends("a", "b", key="k").gets("a").has(ABANDON).gets("b", "l2"), None),
    (Story().sends("a", "b", "c", key="k").gets("a").has(ABANDON).gets("c", "l2"), 6),
    (Story().sends("a", "b").gets("b"), None),
    (Story().has(DOWN).sends("a").has(RECEIVE, v.Empty()), None),
    (Story().sends("a").gets("a").waits(LOCK + 1).has(COMPLETE), 4),
    (Story().sends("a").gets("a").waits(LOCK + 1).has(COMPLETE, LOST), None),
    (Story().sends("a", "b").gets("a").has(RECEIVE, v.Empty(), "c2"), None),
    # A day in microseconds is a number that TLC cannot read.
    (Story(1).sends("a").gets("a").waits(DAY).gets("a", "l2"), None),
    (Story(1).sends("a").gets("a").waits(DAY).has(RECEIVE, v.Empty()), 4),
]
"""Stories, and the step at which each leaves the contract."""


@pytest.mark.slow
def test_a_trace_is_explained_or_fails_at_its_step() -> None:
    assert [step for _, step in TOLD] == failing_steps([story for story, _ in TOLD])


def played(adapter: v.Adapter, seed: int, length: int = 60) -> Scenario:
    """What a bus answers to a random sequence over two connections."""
    adapter.start(PROFILE)
    random, tokens = Random(seed), ["none"]
    commands: list[v.Command] = [v.CreateQueue(queue="q")]
    events, now = [], 0
    for number in range(length):
        settled = random.choice((v.Complete, v.Abandon))(queue="q", lock_token=tokens[-1])
        sent = v.Message(body=f"m{number}", partition_key=random.choice((None, "a", "b")))
        commands.append(
            random.choice(
                (
                    *(v.Send(queue="q", message=sent), v.Send(queue="q", message=sent)),
                    *(v.Receive(queue="q"), v.Receive(queue="q")),
                    v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE),
                    *(settled, settled, v.Peek(queue="q", count=3)),
                    v.AdvanceClock(duration=LOCK + 1),
                )
            )
        )
        command, connection = commands[number], random.choice(("c1", "c2"))
        observed = adapter.do(command, connection)
        if isinstance(observed.outcome, v.Received):
            tokens.append(observed.outcome.message.lock_token or "none")
        events.append(
            v.Event(
                connection=connection,
                called=now,
                returned=now,
                command=command,
                outcome=observed.outcome,
                witness=observed.witness,
            )
        )
        if isinstance(command, v.AdvanceClock):
            now += command.duration
    return Scenario(name=f"sequence {seed}", events=tuple(events))


def traces_of(scenarios: list[Scenario]) -> list[Recorded]:
    found = [each for scenario in scenarios for each in find_traces(scenario, PROFILE)]
    return [each for each in found if isinstance(each, Recorded)]


@pytest.mark.slow
def test_the_model_never_leaves_the_contract() -> None:
    """At its most regular and at random; one run of TLC for all of a kind."""
    scenarios = [
        played(ModelAdapter(policy, seed), seed)
        for policy in ("round-robin", "random")
        for seed in range(12)
    ]
    found = list(judge_traces(FOLDER, traces_of(scenarios)))
    assert len(found) >= 10
    assert [] == [each.failing for each in found if not each.accepted]


@pytest.mark.slow
def test_a_faulty_bus_leaves_it() -> None:
    scenarios = [played(make("locked-given-again"), seed) for seed in range(4)]
    assert any(not each.accepted for each in judge_traces(FOLDER, traces_of(scenarios)))


@pytest.mark.slow
def test_a_corrupted_trace_that_passes_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copies that ride in every run must be rejected, each at its step."""
    monkeypatch.setattr(judge, "_impossible", lambda step: step)
    with pytest.raises(TlcError, match="a corrupted copy of trace 1 had to be rejected at step 2"):
        failing_steps([Story().sends("a").gets("a")])


@pytest.mark.parametrize(("events", "why"), rows_of(__file__, "left_out"))
def test_commands_outside_the_contract_are_left_out_with_their_cause(events, why) -> None:
    recorded = tuple(structure(event, v.Event) for event in events)
    found = find_traces(Scenario(name="it", events=recorded), PROFILE)
    assert why == sorted(each.why for each in found if isinstance(each, LeftOut))


def test_trace_is_cut_where_the_contract_ends() -> None:
    inside = v.Send(queue="q", message=v.Message(body="b"), transaction="t")
    assert "Send in a transaction" in Story().sends("a").has(inside).gets("a").trace().cut
    twice = Story().sends("a", "a").gets("a").trace()
    assert (1, "Send is not the contract's matter") == (len(twice.steps), twice.cut)


def test_a_queue_is_judged_from_its_first_creation_to_its_deletion() -> None:
    missing = v.Refused(error=v.Error.NOT_FOUND)
    story = Story()
    (created,) = story.events
    story.events.clear()
    story.has(v.Receive(queue="q"), missing).has(v.TakePartitionDown(queue="q", partition=0))
    story.has(v.CreateQueue(queue="q"), v.Refused(error=v.Error.UNAVAILABLE))
    story.events.append(created)
    story.has(v.GetQueue(queue="q"), missing).sends("a").has(v.DeleteQueue(queue="q"))
    trace = story.has(v.CreateQueue(queue="q", partitioned=False)).gets("a").trace()
    assert ["TakePartitionDown", "Send"] == [step.command["op"] for step in trace.steps]
    assert (2, "DeleteQueue is not the contract's matter") == (trace.partitions, trace.cut)


def test_a_queue_that_is_not_known_to_be_there_gives_no_trace() -> None:
    story = Story()
    created = story.events.pop()
    story.sends("a").events.append(created)
    (found,) = find_traces(Scenario(name="it", events=tuple(story.gets("a").events)), PROFILE)
    assert LeftOut("it", "q", "Send is not the contract's matter") == found


def test_trace_is_cut_at_an_unanswered_request() -> None:
    story = Story().sends("a").has(v.Receive(queue="q"), v.Indeterminate()).gets("a")
    trace = story.trace()
    assert (1, "Receive got no answer") == (len(trace.steps), trace.cut)


DELETING = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)


@pytest.mark.parametrize(
    ("command", "connection", "judged"),
    [(DELETING, "c1", 4), (DELETING, "c2", 3), (RECEIVE, "c2", 3), (v.Peek(queue="q"), "c1", 3)],
)
def test_possibly_deleted_message_is_not_missed(command, connection, judged) -> None:
    """By no other connection, and by no peek; the one that deletes is given what is cached."""
    outcome = v.Peeked() if isinstance(command, v.Peek) else v.Empty()
    story = Story().sends("a", "b").has(DELETING, v.Received(message=v.MessageView(body="a")))
    trace = story.has(command, outcome, connection).trace()
    assert judged == len(trace.steps)
    assert ("may be gone" in trace.cut) is (judged < 4)


def test_reading_may_keep_messages_in_a_deleting_cache() -> None:
    """Then it is there for others too."""
    story = Story().sends("a", "b").has(DELETING, v.Received(message=v.MessageView(body="a")))
    events = tuple(story.has(RECEIVE, v.Empty(), "c2").events)
    kept = attrs.evolve(PROFILE, readings={"CACHE-DELETE": "kept"})
    (trace,) = find_traces(Scenario(name="it", events=events), kept)
    assert isinstance(trace, Recorded)
    assert len(trace.steps) == 4
    assert trace.cut == ""


def test_the_clock_is_reported_in_the_coarsest_ticks_that_lose_nothing() -> None:
    assert (
        1 == ticks_for(LOCK, Story().sends("a").gets("a").waits(LOCK + 1).sends("b").events).whole
    )
    half = Story().waits(LOCK // 2).gets("a").waits(LOCK // 2).sends("b").events
    assert 2 == ticks_for(LOCK, half).whole
    edge = Story().sends("a").gets("a").waits(LOCK).sends("b").events
    assert ticks_for(LOCK, edge) is None


def test_values_are_spelt_for_tla() -> None:
    value = {"a": (1, True), "b": frozenset((2, 1)), "c": 'x"\\é'}
    assert '[a |-> <<1, TRUE>>, b |-> {1, 2}, c |-> "x_22__5c__e9_"]' == spelt(value)


def write(path: Path, events: list[v.Event]) -> Path:
    with HistoryWriter(path) as writer:
        writer.write(Header(profile=PROFILE))
        for event in events:
            writer.write(event)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("story", "code", "said"),
    [
        (Story().sends("a").gets("a"), 0, "1 of 1 traces explained"),
        (Story().sends("a").gets("b"), 1, "rejected: the history, queue q, at step 2 of 2"),
    ],
    ids=["explained", "rejected"],
)
def test_the_command_shows_verdict_and_step(tmp_path, capsys, story, code, said) -> None:
    path = write(tmp_path / "h.jsonl", story.events)
    assert code == main(["modelcheck", "--traces", str(path)])
    assert said in capsys.readouterr().out


def test_longer_locks_than_there_are_end_after_five_minutes() -> None:
    """A bus that creates the queue all the same gives the longest lock that there is."""
    asked = v.CreateQueue(queue="q", lock_duration=600 * v.MICROSECONDS)
    sent = v.Send(queue="q", message=v.Message(body="a"))
    given = v.Received(message=v.MessageView(body="a", lock_token="one"))
    again = v.Received(message=v.MessageView(body="a", lock_token="two"))
    passed = v.AdvanceClock(duration=301 * v.MICROSECONDS)
    receive = v.Receive(queue="q", mode=v.ReceiveMode.PEEK_LOCK)
    events = [
        v.Event(command=asked, outcome=v.Done()),
        v.Event(command=sent, outcome=v.Done()),
        v.Event(command=receive, outcome=given),
        v.Event(command=passed, outcome=v.Done(), returned=301 * v.MICROSECONDS),
        v.Event(
            command=receive,
            outcome=again,
            called=301 * v.MICROSECONDS,
            returned=301 * v.MICROSECONDS,
        ),
    ]
    (trace,) = find_traces(Scenario(name="it", events=tuple(events)), PROFILE)
    assert isinstance(trace, Recorded)
    (verdict,) = judge_traces(FOLDER, [trace])
    assert verdict.accepted


def test_a_history_of_unknown_queues_is_no_pass(tmp_path, capsys) -> None:
    path = write(tmp_path / "h.jsonl", Story().sends("a").events[1:])
    assert 3 == main(["modelcheck", "--traces", str(path)])
    assert "nothing recorded created this queue" in capsys.readouterr().out


def test_a_missing_history_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert 3 == main(["modelcheck", "--traces", "nowhere.jsonl"])
    assert "nowhere.jsonl" in capsys.readouterr().err
