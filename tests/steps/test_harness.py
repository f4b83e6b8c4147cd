"""The bus as the steps see it: every answer is recorded, then judged."""

from collections.abc import Callable

import attrs
import pytest
from rows import command_of, rows_of

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.errors import AdapterError, HistoryError
from busproof.history.records import Oracle, ScenarioVerdict
from busproof.judging.driver import Recording
from busproof.judging.scenario_outcome import Inconclusive, NotApplicable, NotConforming, Undeclared
from busproof.spec import load
from busproof.steps.bus import ROUNDS, BusUnderTest
from busproof.steps.stage import verdict_on

CATALOGUE = load()
CREATE = v.CreateQueue(queue="q")
SEND = v.Send(queue="q", message=v.Message(body="m1"))
EVERYTHING = frozenset(v.Capability) - {v.Capability.CLIENT_LIBRARY}


@attrs.define
class Scripted:
    """An implementation with scripted answers, and the model's where there are none."""

    answers: dict[type[v.Command], object] = attrs.field(factory=dict)
    capabilities: frozenset[v.Capability] = EVERYTHING
    slack: int = 0
    asked: list[v.Command] = attrs.field(factory=list)
    model: ModelAdapter = attrs.field(factory=ModelAdapter)

    @property
    def declaration(self) -> v.Declaration:
        return v.Declaration(
            implementation=v.Implementation(name="scripted"),
            capabilities=self.capabilities,
            slack=self.slack,
        )

    def do(self, command: v.Command, connection: str) -> object:
        self.asked.append(command)
        answer = self.answers.get(type(command))
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return self.model.do(command, connection)
        return v.Observed(answer) if isinstance(answer, v.Outcome) else answer


@pytest.fixture
def recorded() -> list[v.Event]:
    return []


@pytest.fixture
def bus_of(recorded) -> Callable[..., BusUnderTest]:
    """A bus in front of an implementation, from empty."""

    def made(adapter: Scripted, oracle: Oracle = Oracle.STRICT, **terms: object) -> BusUnderTest:
        def sentence(rule: str) -> str:
            return CATALOGUE.rule(rule).statement

        profile = v.profile_for(CATALOGUE, **terms)
        adapter.model.start(profile)
        recording = Recording(record=recorded.append, sentence=sentence)
        return BusUnderTest(adapter, profile, oracle, recording)

    return made


def test_an_answer_that_no_rule_allows_is_reported_with_rule_answer_and_what_was_allowed(
    bus_of, recorded
):
    """The message of the failed test is all that its reader needs."""
    stranger = v.Received(message=v.MessageView(body="never sent"))
    bus = bus_of(Scripted({v.Receive: stranger}))
    bus.do(CREATE)
    with pytest.raises(NotConforming) as found:
        bus.receive("q")
    said = str(found.value)
    assert said.startswith(f"LIFE-01: {CATALOGUE.rule('LIFE-01').statement}\n")
    assert "asked and came: Receive from q (peek-lock) -> " in said
    assert "'never sent'" in said
    assert "allowed: Empty" in said
    assert stranger == recorded[-1].outcome


def test_answer_is_recorded_before_it_is_judged(bus_of, recorded):
    """A run that ends here has it in its history."""
    bus = bus_of(Scripted({v.Send: v.Unsupported()}))
    bus.do(CREATE)
    with pytest.raises(Undeclared, match="declared, yet unsupported: Send to q"):
        bus.do(SEND)
    assert [CREATE, SEND] == [each.command for each in recorded]


def test_an_answer_that_never_came_is_inconclusive_and_has_no_end(bus_of, recorded):
    """The bus is not to blame, and neither does it pass."""
    bus = bus_of(Scripted({v.Send: v.Indeterminate()}))
    bus.do(CREATE)
    with pytest.raises(Inconclusive, match="no answer came to: Send to q"):
        bus.do(SEND)
    assert recorded[-1].returned is None


def test_long_exception_of_an_adapter_is_cut(bus_of):
    """And nothing of the rest is kept, which pytest would write into the log."""
    bus = bus_of(Scripted({v.CreateQueue: ValueError("gone " * 1_000_000)}))
    with pytest.raises(AdapterError, match=r"ValueError: gone .* characters more$") as raised:
        bus.do(v.CreateQueue(queue="q"))
    assert len(str(raised.value)) < 5_000
    assert raised.value.__suppress_context__


@pytest.mark.parametrize("raised", [RuntimeError("gone"), AssertionError("gone"), KeyError("gone")])
def test_exception_of_an_adapter_is_an_adapter_error(bus_of, raised):
    """A failed assert in an adapter is no failed expectation of the bus."""
    bus = bus_of(Scripted({v.CreateQueue: raised}))
    with pytest.raises(AdapterError, match=f"the adapter raised {type(raised).__name__}: .*gone"):
        bus.do(CREATE)


@pytest.mark.parametrize(
    ("view", "why"),
    [
        (v.MessageView(body="a", sequence_number=2**63), "at most 64 bits"),
        (v.MessageView(body=b"a"), "body is .* must be a string"),
        (v.MessageView(body="a", properties={"p": float("nan")}), "number"),
        (v.MessageView(body="a", properties={"p": 2**70}), "at most 64 bits"),
    ],
)
def test_answer_that_no_history_can_hold_is_the_adapters_fault(bus_of, view, why):
    bus = bus_of(Scripted({v.Receive: v.Observed(v.Received(message=view))}))
    bus.do(CREATE)
    with pytest.raises(AdapterError, match=f"answered Receive with what no history.*{why}"):
        bus.do(v.Receive(queue="q"))


@pytest.mark.parametrize("answer", [False, "Done", v.Done, v.Observed("Done")])
def test_an_answer_that_is_none_is_the_adapters_fault(bus_of, answer):
    """It has to be an Observed with an Outcome."""
    bus = bus_of(Scripted({v.CreateQueue: answer}))
    with pytest.raises(AdapterError, match=r"answered CreateQueue with .* must return an Observed"):
        bus.do(CREATE)


def test_a_belief_of_ours_that_is_wrong_is_no_violation(bus_of, monkeypatch):
    """It is an error, which is neither shown nor violated."""
    bus = bus_of(Scripted())

    def saw(_: v.Event) -> None:
        raise AssertionError("this cannot be")

    monkeypatch.setattr(bus._judge, "saw", saw)
    with pytest.raises(RuntimeError, match=r"busproof cannot judge Create queue q.*this cannot be"):
        bus.do(CREATE)


@pytest.mark.parametrize(("told", "needed"), rows_of(__file__, "needing"))
def test_command_is_tried_on_whoever_declares_all_that_it_needs(bus_of, recorded, told, needed):
    """Elsewhere the scenario does not apply; the adapter is not even asked."""
    command = command_of(told)
    for capability in needed:
        adapter = Scripted(capabilities=EVERYTHING - {capability})
        with pytest.raises(NotApplicable, match=f"capability: {capability}"):
            bus_of(adapter).do(command)
        assert [] == adapter.asked == recorded
    adapter = Scripted(capabilities=frozenset(map(v.Capability, needed)))
    bus_of(adapter, Oracle.CLIENT).do(command)
    assert [command] == adapter.asked


def test_a_partition_that_there_is_not_does_not_apply(bus_of):
    """A scenario may need more partitions than the run has."""
    bus = bus_of(Scripted(), partitions=3)
    bus.do(CREATE)
    bus.take_down("q", 2)
    with pytest.raises(NotApplicable, match="partitions: there are only 3"):
        bus.take_down("q", 3)


def test_an_answer_that_a_scenario_goes_on_from_is_insisted_on(bus_of):
    """The message says what was expected and what came."""
    with pytest.raises(NotConforming, match="the scenario expects Done and got Refused: other"):
        bus_of(Scripted()).expect(v.Refused(error=v.Error.OTHER), v.Done)


def test_a_queue_that_never_gets_empty_ends_a_scenario(bus_of, monkeypatch):
    """Where the judge has given up, a bus could go on for ever."""
    bus = bus_of(Scripted({v.Receive: v.Received(message=v.MessageView(body="again"))}))
    monkeypatch.setattr(bus._judge, "saw", lambda _: None)
    bus.do(CREATE)
    with pytest.raises(Inconclusive, match=f"still not empty after {ROUNDS} receives"):
        bus.received("q")


def test_a_bus_without_locks_is_received_from_for_good(bus_of, recorded):
    """Nothing is completed then."""
    bus = bus_of(Scripted(capabilities=EVERYTHING - {v.Capability.PEEK_LOCK}))
    bus.do(CREATE)
    bus.send(SEND)
    assert ["m1"] == [each.body for each in bus.received("q")]
    assert {v.ReceiveMode.RECEIVE_AND_DELETE} == {
        each.command.mode for each in recorded if isinstance(each.command, v.Receive)
    }


def test_time_passes_so_long_that_no_timer_can_be_late_for_it(bus_of, recorded):
    """By the slack that the adapter declares, and a microsecond."""
    bus = bus_of(Scripted(slack=2 * v.MICROSECONDS))
    bus.pass_time(5 * v.MICROSECONDS)
    assert v.AdvanceClock(duration=7 * v.MICROSECONDS + 1) == recorded[-1].command
    bus.do(CREATE)
    assert 7 * v.MICROSECONDS + 1 == recorded[-1].called


def test_partition_is_known_by_witness_or_sequence_number(bus_of):
    """A message that cannot be received is lost."""
    bus = bus_of(Scripted())
    bus.do(CREATE)
    bus.send(SEND)
    assert [bus.partition_of["m1"]] == bus.located("q", ["m1"], None)
    with pytest.raises(NotConforming, match="no receive tells where 'm2' went"):
        bus.located("q", ["m2"], None)


def test_only_sends_that_were_accepted_count_as_sent(bus_of):
    """A refused message is nowhere."""
    bus = bus_of(Scripted())
    bus.do(CREATE)
    refused = v.Message(body="m1", session_id="a", partition_key="b")
    assert isinstance(bus.send(v.Send(queue="q", message=refused)), v.Refused)
    assert [] == bus.sent
    assert isinstance(bus.receive("q"), v.Empty)


VERDICTS = [
    (None, ScenarioVerdict.PASSED, ""),
    (NotApplicable("tier: x"), ScenarioVerdict.NOT_APPLICABLE, "tier: x"),
    (Inconclusive("no answer"), ScenarioVerdict.INCONCLUSIVE, "no answer"),
    (NotConforming("KEY-01: …"), ScenarioVerdict.FAILED, "KEY-01: …"),
    (AssertionError("1 == 2"), ScenarioVerdict.FAILED, "1 == 2"),
    (AdapterError("it broke"), ScenarioVerdict.ERRORED, "it broke"),
    (Undeclared("declared, yet"), ScenarioVerdict.ERRORED, "declared, yet"),
    (HistoryError("disk"), ScenarioVerdict.ERRORED, "HistoryError: disk"),
    (ValueError("odd"), ScenarioVerdict.ERRORED, "ValueError: odd"),
    (KeyboardInterrupt(), ScenarioVerdict.ERRORED, "KeyboardInterrupt: "),
]


@pytest.mark.parametrize(("error", "verdict", "detail"), VERDICTS)
def test_a_scenario_ends_as_what_it_raised_says(error, verdict, detail):
    """Only a finding about the bus is a failure."""
    assert (verdict, detail) == verdict_on(error)
