"""The model, held to every edition, tier, reading and oracle: what does not apply says why."""

import os

import pytest
from covering import covering

from busproof.history.conformance import Verdict
from busproof.spec import load

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
CATALOGUE = load()
EDITIONS_AT_GATE = ("fr-2016-09",)
EDITIONS = [each.id for each in CATALOGUE.editions if FULL or each.id in EDITIONS_AT_GATE]
READINGS = [
    f"{each.id}={reading}"
    for each in CATALOGUE.ambiguities
    for reading in each.choices
    if reading != each.default
]
NAMESPACES = {
    "standard": (),
    "premium": ("--tier", "premium"),
    "partitioned-premium": ("--tier", "premium", "--namespace-partitions", "2"),
}
NOT_DONE = {"MESSAGES-EXPIRE=message": {"LIFE-08"}}
"""What a bus may do, and what the model does in no scenario of these families."""
SETS = covering({each.id: each.choices for each in CATALOGUE.ambiguities}) if FULL else []
ANYHOW = "model?policy=random&seed=1"
AGAINST_THE_FEATURES = {"TXN-REFUSAL=at-commit", "TXN-REFUSAL=either"}
"""The scenarios of TXN-03 to TXN-08 say that a send is refused at once, and do not apply."""


DECLARING_LESS = """
import attrs
from busproof.adapters.base import Observed
from busproof.vocabulary.capabilities import Capability
from busproof.adapters.model import ModelAdapter

class Less(ModelAdapter):
    slack, hides = 0, frozenset()
    {0}

    @property
    def declaration(self):
        told = super().declaration
        left = told.capabilities - self.hides
        return attrs.evolve(told, slack=self.slack, capabilities=left)

    def do(self, command, connection):
        came = super().do(command, connection)
        return Observed(came.outcome) if Capability.WITNESS in self.hides else came
"""


def written(busproof, line: str) -> str:
    """The name of an adapter in the folder: the model that declares less."""
    (busproof.folder / "less.py").write_text(DECLARING_LESS.format(line))
    return "less:Less"


def causes(run) -> dict[str, str]:
    """Why rules do not apply."""
    rules = run.report.rules
    return {each.id: each.cause for each in rules if each.verdict is Verdict.NOT_APPLICABLE}


RUN = ("run", "--only", "features", "--name", "it")


def of(*few: str) -> tuple[str, ...]:
    """At the gate these rules and families, for what is said of no others."""
    return () if FULL else tuple(word for name in few for word in ("--rule", name))


def among(rules: set[str], *few: str) -> set[str]:
    """At the gate those of these rules and families: a run says nothing of any other."""
    return rules if FULL else {rule for rule in rules if {rule, rule.partition("-")[0]} & {*few}}


def shown(busproof, *options: str) -> dict[str, str]:
    """Run the model, which has to show every rule that applies; the causes of all others.

    Where what has to come may come at any time, that it has not come is inconclusive.
    """
    ended = busproof(*RUN, *options)
    run = busproof.run("it")
    found = {each.verdict for each in run.report.rules}
    left = {Verdict.NOT_SHOWN} if "--rule" in options else set()
    if any(each.endswith("=unbounded") for each in options):
        left |= {Verdict.INCONCLUSIVE}
    # The families that a reading is about may all apply.
    certain = {Verdict.SHOWN} if "--reading" in options else {Verdict.SHOWN, Verdict.NOT_APPLICABLE}
    assert certain <= found <= {Verdict.SHOWN, Verdict.NOT_APPLICABLE} | left
    assert (3 if found & left else 0, "") == (ended.code, ended.problems)
    return causes(run)


def where_they_hold(rules: tuple[str, ...]) -> tuple[str, ...]:
    """The options for an edition and a namespace in which some of these rules are in force."""
    editions = (CATALOGUE.default_edition, *(each.id for each in CATALOGUE.editions))
    edition, tier = next(
        (edition, tier)
        for edition in editions
        for tier in NAMESPACES
        if CATALOGUE.in_force(edition, tier) & {*rules}
    )
    return ("--edition", edition, *NAMESPACES[tier])


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_model_shows_every_rule_of_an_edition(busproof, edition):
    """What an edition says nothing of does not apply, with that cause."""
    few = ("KEY", "SEQ")
    reasons = shown(busproof, "--edition", edition, *of(*few))
    silent = map(CATALOGUE.rule, CATALOGUE.silent(edition, "standard") - {"KEY-13"})
    expected = {rule.id for rule in silent if rule.shown_by != "never" and "standard" in rule.tiers}
    assert among(expected, *few) == {
        rule for rule, cause in reasons.items() if cause == f"edition: {edition} says nothing of it"
    }


@pytest.mark.parametrize("adapter", ["model", ANYHOW] if FULL else [ANYHOW])
def test_the_model_shows_every_rule_of_the_basic_tier(busproof, adapter):
    """Transactions, sessions and duplicate detection are not of that tier.

    Where it may choose, the model refuses sessions and duplicate detection, or forgets them.
    """
    few = ("KEY", "LIFE-06")
    reasons = shown(busproof, "--tier", "basic", "--adapter", adapter, *of(*few))
    not_basic = {rule for rule, cause in reasons.items() if cause.startswith("tier: basic")}
    expected = {
        rule.id
        for rule in CATALOGUE.rules
        if "basic" not in rule.tiers and rule.shown_by != "never"
    }
    assert among(expected, *few) == not_basic
    some = {"KEY-05", "LIFE-10", "SESS-01", "TXN-01", "TOPIC-01", "FILTER-01", "DUP-01"}
    assert among(some, *few) <= not_basic
    assert {"KEY-04", "KEY-08", "KEY-09", "LIFE-06"}.isdisjoint(reasons)


@pytest.mark.full_size("much as without a witness, below: run by the nightly part terms")
def test_the_model_shows_every_rule_that_the_client_oracle_judges(busproof):
    """What only partitions show does not apply."""
    reasons = shown(busproof, "--oracle", "client")
    assert "oracle: only strict can judge it" == reasons["KEY-01"]
    assert "KEY-06" not in reasons


@pytest.mark.full_size("a run for each reading: run by the nightly part terms")
@pytest.mark.parametrize("reading", READINGS)
def test_the_model_shows_every_rule_under_another_reading(busproof, reading):
    """The model behaves as it is read, and the judge reads the same.

    Only families that the reading is about are run, where its rules hold; the sets below have every
    reading in whole runs.
    """
    ambiguity = CATALOGUE.ambiguity(reading.partition("=")[0])
    families = sorted({rule.partition("-")[0] for rule in ambiguity.rules})
    few = [word for family in families for word in ("--rule", family)]
    reasons = shown(busproof, "--reading", reading, *few, *where_they_hold(ambiguity.rules))
    verdicts = {each.id: each.verdict for each in busproof.run("it").report.rules}
    assert NOT_DONE.get(reading, set()) == {
        rule
        for rule, verdict in verdicts.items()
        if verdict is Verdict.NOT_SHOWN and rule.partition("-")[0] in families
    }
    read = {f"reading: {each.id}={each.default}" for each in CATALOGUE.ambiguities}
    read |= {f"reading: {reading}", "capability: client-library"}
    assert [] == [
        cause
        for cause in reasons.values()
        if cause not in read and not cause.startswith(("edition: ", "tier: "))
    ]


@pytest.mark.full_size("a whole run for each set of readings: run by the nightly part terms")
@pytest.mark.parametrize("readings", SETS)
def test_no_scenario_accuses_the_model_whatever_is_read_together(busproof, readings):
    """Every ambiguity at once; any two readings are together in one of these sets.

    Where what has to come may come at any time, that it has not come is inconclusive.
    """
    words = [word for pair in readings.items() for word in ("--reading", "=".join(pair))]
    ended = busproof(*RUN, *words)
    assert ended.code in (0, 3)
    found = {each.verdict for each in busproof.run("it").report.rules}
    late = {Verdict.INCONCLUSIVE} if "unbounded" in readings.values() else set()
    assert found <= {Verdict.SHOWN, Verdict.NOT_APPLICABLE, Verdict.NOT_SHOWN} | late


def test_the_model_shows_every_rule_of_the_premium_tier(busproof):
    """Its queues are regular ones, and the life of their messages is the same."""
    as_ever = ("LIFE-01", "LIFE-02", "LIFE-05", "LIFE-07", "LIFE-10", "TXN-09", "TXN-12", "TXN-13")
    reasons = shown(busproof, "--tier", "premium", *of("PREM", *as_ever))
    assert not {*as_ever} & reasons.keys()


@pytest.mark.parametrize(
    ("partitions", "seconds"),
    [("2", 0), ("3", 0), ("16", 3), ("16", 6), ("2", 6)] if FULL else [("2", 6)],
)
def test_few_partitions_and_wrong_timers_show_every_rule(busproof, partitions, seconds):
    """Scenarios that take more partitions down leave one up.

    Those that a timer within its slack could spoil do not apply.
    """
    adapter = written(busproof, f"slack = {seconds}_000_000")
    few = of("PART", "SCHED")
    shown(busproof, "--partitions", partitions, "--adapter", adapter, *few)


@pytest.mark.parametrize("reading", sorted(AGAINST_THE_FEATURES)[: None if FULL else 1])
def test_no_scenario_accuses_the_model_where_refusals_come_at_the_commit(busproof, reading):
    """A literal expectation must hold under all that a run can be held to, or not apply."""
    options = ("--reading", reading, "--adapter", "model?policy=random&seed=2")
    ended = busproof(*RUN, *options, *of("TXN"))
    run = busproof.run("it")
    # What this bus happens to do may leave the situation of a rule out.
    assert ended.code in (0, 3)
    found = {each.verdict for each in run.report.rules}
    assert found <= {Verdict.SHOWN, Verdict.NOT_APPLICABLE, Verdict.NOT_SHOWN}
    assert {"passed", "not-applicable"} >= run.report.scenarios.keys()
    reasons = causes(run)
    assert {f"TXN-0{number}" for number in (3, 4, 6, 7, 8)} <= reasons.keys()
    assert "TXN-05" not in reasons


def test_outages_show_where_keys_go_without_a_witness(busproof):
    """The partition whose outage stops a key is the key's, even without a witness."""
    less = written(busproof, "hides = {Capability.WITNESS}")
    by_outage = [f"KEY-{number}" for number in ("02", "04", "05", "07", "10", "12", "24")]
    reasons = shown(busproof, "--adapter", less, *of("KEY"))
    assert not {*by_outage} & reasons.keys()
    assert "capability: witness" == reasons["KEY-01"]


def test_a_client_library_in_front_of_the_model_shows_its_rule(busproof):
    """KEY-13 applies then, and no message is without key in a transaction (TXN-03)."""
    by_reading = {"KEY-26", "MGMT-29", "MGMT-30", "PART-29", "TTL-13", "TXN-15"}
    not_then = {"DUP-12", "TXN-03", *by_reading}
    options = ("--adapter", "model?library=true")
    if FULL:
        reasons = shown(busproof, *options)
    else:
        busproof(*RUN, *options, *of("KEY-13", "TXN-04", *sorted(not_then)))
        reasons = causes(busproof.run("it"))
    assert not_then == {
        rule for rule, cause in reasons.items() if not cause.startswith(("edition", "tier"))
    }
    assert "client-library is declared" in reasons["TXN-03"]
    assert Verdict.SHOWN is busproof.run("it").verdict("KEY-13").verdict


def test_the_model_keeps_real_time_where_asked_to(busproof):
    """Its clock is that of the machine, and the judge knows."""
    adapter = "model?clock=real"
    ended = busproof(*RUN, "--adapter", adapter, "--rule", "KEY-03")
    run = busproof.run("it")
    assert 0 == ended.code
    assert "real" == run.report.subject.clock
    assert Verdict.SHOWN is run.verdict("KEY-03").verdict


@pytest.mark.full_size("tests/steps tries the default one: run by the nightly part terms")
@pytest.mark.parametrize("edition", [each.id for each in CATALOGUE.editions])
def test_the_hostile_model_passes_in_every_edition(busproof, edition):
    """Each rule is shown, though answers are lost, timers are off and the choices are the worst."""
    adapter = "model?policy=hostile"
    ended = busproof(*RUN, "--adapter", adapter, "--edition", edition)
    assert 0 == ended.code, ended.out
