"""The options of a run are read exactly, or refused with what is allowed."""

from pathlib import Path

import attrs
import pytest

from busproof.adapters.model import ModelAdapter
from busproof.errors import AdapterError, HistoryError, UsageError
from busproof.history.files import load
from busproof.history.records import Oracle, ScenarioVerdict
from busproof.steps import stage
from busproof.steps.options import rules_asked_for
from busproof.steps.running import Run
from busproof.vocabulary.capabilities import Capability


class Options:
    """What a pytest session was started with."""

    def __init__(self, *readings: str, **given: str) -> None:
        self.given: dict[str, object] = {"--bus-reading": list(readings), "--bus-rule": []}
        self.given |= {f"--bus-{name}": value for name, value in given.items()}

    def getoption(self, name: str) -> object:
        return self.given.get(name)


def run(*readings: str, **given: str) -> Run:
    return Run(Options(*readings, **given))


def test_a_run_without_options_is_of_the_default_edition_on_the_model():
    """In the standard tier, with 16 partitions, by the strict oracle."""
    begun = run()
    assert "model" == begun.name
    assert ("en-2026-02", "standard", 16) == (
        begun.profile.edition,
        begun.profile.tier,
        begun.profile.partitions,
    )
    assert Oracle.STRICT is begun.oracle


def test_profile_has_every_option_of_the_run():
    """Every option of the profile."""
    begun = run(
        "KEY-ORDER=sessions-only",
        edition="fr-2016-09",
        tier="basic",
        partitions="3",
        oracle="client",
        adapter="model?seed=3",
    )
    assert ("fr-2016-09", "basic", 3) == (
        begun.profile.edition,
        begun.profile.tier,
        begun.profile.partitions,
    )
    assert "sessions-only" == begun.profile.readings["KEY-ORDER"]
    assert Oracle.CLIENT is begun.oracle


@pytest.mark.parametrize(
    "text", ["", "0", "1", "-1", "two", "2.5", "1e3", " 16", "٣", "0x10", "32769", "9" * 5000]
)
def test_a_number_of_partitions_that_there_cannot_be_is_refused(text):
    """The sentence names the value and the bounds."""
    with pytest.raises(
        UsageError, match=r"the number of partitions is .*; give .* from 2 to 32768"
    ):
        run(partitions=text)


@pytest.mark.parametrize("text", ["2", "3", "32768", "0016"])
def test_a_number_of_partitions_is_taken(text):
    """Any that a sequence number can distinguish."""
    assert int(text) == run(partitions=text).profile.partitions


@pytest.mark.parametrize("text", ["", "0", "-1", "soon", "nan", "inf", "-inf", "1e99", "86401"])
def test_a_timeout_that_makes_no_sense_is_refused(text):
    """An endless one would hold a run up for ever."""
    with pytest.raises(UsageError, match=r"the timeout is .*; give a number of seconds above 0"):
        run(timeout=text)


@pytest.mark.parametrize("text", ["0.1", "10", "1e3", "86400"])
def test_a_timeout_is_handed_to_the_adapter(text, monkeypatch):
    """In seconds."""
    found = []
    monkeypatch.setattr(stage, "find", lambda _, timeout: found.append(timeout) or ModelAdapter())
    run(timeout=text)
    assert [float(text)] == found


@pytest.mark.parametrize(
    ("readings", "said"),
    [
        (["KEY-ORDER"], "'KEY-ORDER' is not a reading; write AMBIGUITY=READING"),
        (["KEY-ORDER="], "'KEY-ORDER=' is not a reading; write AMBIGUITY=READING"),
        (["=x"], "There is no ambiguity ''"),
        (["KEY-ORDER=a=b"], "KEY-ORDER has no reading 'a=b'"),
    ],
)
def test_a_reading_that_there_is_not_is_refused(readings, said):
    """With the form, or with the readings that there are."""
    with pytest.raises(UsageError, match=said):
        run(*readings)


def test_options_are_refused_before_an_adapter_is_looked_for(monkeypatch):
    """A process would be started for nothing."""
    monkeypatch.setattr(stage, "find", lambda *_, **__: pytest.fail("it was looked for"))
    for wrong in ({"oracle": "x"}, {"tier": "x"}, {"timeout": "x"}, {"partitions": "x"}):
        with pytest.raises(UsageError):
            run(**wrong)


@pytest.mark.parametrize(
    ("capabilities", "oracle"),
    [
        ([], Oracle.CLIENT),
        ([Capability.SESSIONS], Oracle.CLIENT),
        ([Capability.WITNESS], Oracle.STRICT),
        ([Capability.OUTAGES], Oracle.STRICT),
    ],
)
def test_the_oracle_is_strict_wherever_partitions_can_be_distinguished(
    capabilities, oracle, monkeypatch
):
    """Unless another one was asked for."""
    declaring(monkeypatch, capabilities=frozenset(capabilities))
    assert oracle is run().oracle
    assert Oracle.STRICT is run(oracle="strict").oracle


def declaring(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Have every adapter declare this."""
    declared = attrs.evolve(ModelAdapter().declaration, **fields)
    monkeypatch.setattr(ModelAdapter, "declaration", declared)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"implementation": "mine"}, "must declare an Implementation"),
        ({"capabilities": frozenset({"peek"})}, "must declare capabilities of"),
        ({"clock": "virtual"}, "must declare a clock of"),
    ],
)
def test_a_declaration_with_a_value_of_another_kind_is_refused(fields, said, monkeypatch):
    """An adapter may be anybody's code, without types."""
    declaring(monkeypatch, **fields)
    with pytest.raises(AdapterError, match=f"model declares Declaration.*{said}"):
        run()


def test_a_command_line_is_not_recorded(tmp_path: Path, monkeypatch):
    """It may reveal a machine, a user or a key."""
    monkeypatch.setattr(stage, "find", lambda *_, **__: ModelAdapter())
    names = {
        "exec:bus --key 123": "exec",
        "amqps://user:key@host": "amqps",
        "model?seed=3": "model?seed=3",
        "mine:make": "mine:make",
    }
    for name, recorded in names.items():
        begun = run(adapter=name, history=str(tmp_path / "it.jsonl"))
        begun.begin(1)
        begun.end()
        assert recorded == load(tmp_path / "it.jsonl").header.adapter


def test_a_scenario_is_recorded_from_its_start_to_its_end(tmp_path: Path):
    """It ends once, whatever is said afterwards."""
    begun = run(history=str(tmp_path / "it.jsonl"))
    begun.begin(1)
    for _ in begun.bus("One", ("KEY-01",)):
        begun.scenario_ended(ScenarioVerdict.FAILED, "first line\nsecond line")
        begun.scenario_ended(ScenarioVerdict.PASSED, "")
    begun.end()
    (scenario,) = load(tmp_path / "it.jsonl").scenarios
    assert ("One", ("KEY-01",)) == (scenario.name, scenario.rules)
    assert ("failed", "first line", "first line\nsecond line") == (
        scenario.ended.verdict,
        scenario.ended.cause,
        scenario.ended.detail,
    )


def test_run_without_a_history_has_no_file_that_an_ending_could_leave(tmp_path, monkeypatch):
    """Its summary comes from a file without a name."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    begun = run()
    assert [] == [*begun.summary()]
    begun = run()
    begun.begin(1, frozenset({"KEY-01"}))
    for _ in begun.bus("One", ("KEY-01",)):
        assert [] == [*tmp_path.iterdir()]
        begun.scenario_ended(ScenarioVerdict.FAILED, "")
    begun.end()
    assert "1 rule: 1 violated" == next(begun.summary())


def test_run_without_room_for_its_history_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(HistoryError, match="cannot make a temporary file: No such file"):
        run()


@pytest.mark.parametrize("distilled", [True, False])
def test_only_a_scenario_that_is_to_show_its_rule_is_repeated_for_its_evidence(tmp_path, distilled):
    """A distilled sequence is charged to a rule that it need not show."""
    begun = run(history=str(tmp_path / "it.jsonl"))
    begun.begin(1)
    for _ in begun.bus("One", ("KEY-01",)):
        if distilled:
            begun.show_nothing()
        begun.scenario_ended(ScenarioVerdict.PASSED, "")
    assert ([] if distilled else ["test"]) == begun.again("test", None)
    begun.end()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("KEY-99", "There is no rule 'KEY-99'"),
        ("key-03", "There is no rule 'key-03'; nearest: KEY-03"),
        ("KEY-19", "no scenario shows KEY-19: It is advice"),
    ],
)
def test_a_rule_without_scenarios_is_refused(asked, said):
    """With the nearest that there are, or why there is none."""
    with pytest.raises(UsageError, match=said):
        rules_asked_for(Options(rule=["KEY-02", asked]))


def test_a_rule_that_can_be_shown_is_taken():
    """Or none, for all."""
    assert {"KEY-03"} == rules_asked_for(Options(rule=["KEY-03"]))
    assert set() == rules_asked_for(Options())


def test_several_rules_can_be_taken_and_whole_families():
    """A family is named by what its rules begin with."""
    assert {"KEY-03", "SEQ-05"} == rules_asked_for(Options(rule=["KEY-03", "SEQ-05"]))
    family = rules_asked_for(Options(rule=["SEQ", "KEY-03"]))
    assert {"KEY-03", "SEQ-01", "SEQ-05"} <= family
    assert {"KEY", "SEQ"} == {rule.partition("-")[0] for rule in family}


def test_smoke_profile_is_not_for_pytest():
    """Pytest selects tests by itself."""
    with pytest.raises(UsageError, match="--profile smoke is for busproof run"):
        run(profile="smoke")
