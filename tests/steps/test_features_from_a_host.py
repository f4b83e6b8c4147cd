"""`pytest --pyargs busproof.features` in somebody's project, with all that pytest offers."""

import json
import os

import pytest

from busproof.adapters.model import ModelAdapter
from busproof.exploration.machine import terms_of
from busproof.history.files import load
from busproof.steps.distilled import distilled_sequences
from busproof.steps.plugin import ANY_READING

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
RULE = "KEY-03"
RUNNING_ON = "clocks that run on in an outage"
"""A step that asks for a reading, where the other one is the usual one."""


@pytest.fixture(scope="session")
def whole(recorded_scenarios, skipped) -> str:
    """How a session ends in which everything runs on the model."""
    return f"{recorded_scenarios - skipped} passed, {skipped} skipped"


@pytest.fixture(scope="session")
def recorded_scenarios(pickles) -> int:
    """How many scenarios and distilled sequences there are, counted by their sources."""
    return len(pickles) + len(distilled_sequences())


@pytest.fixture(scope="session")
def skipped(pickles) -> int:
    """How many scenarios do not apply to the model in the newest edition, by rule or by tier."""
    terms = terms_of(ModelAdapter())
    tags = [[tag["name"].removeprefix("@") for tag in each["tags"]] for each in pickles]
    rules = [[tag for tag in each if tag != ANY_READING] for each in tags]
    about = [[terms.catalogue.rule(each) for each in tagged] for tagged in rules]
    # A rule that holds by either reading has scenarios that need one of them.
    asking = [any(step["text"] == RUNNING_ON for step in each["steps"]) for each in pickles]
    sequences = [(each.tier, terms.catalogue.rule(each.rule)) for each in distilled_sequences()]
    return sum(
        asks or any(map(terms.inapplicable, each)) for asks, each in zip(asking, about, strict=True)
    ) + sum(
        tier is not terms.profile.tier or bool(terms.inapplicable(rule)) for tier, rule in sequences
    )


@pytest.fixture(scope="session")
def pickles() -> list:
    """The scenarios, one for each row of examples."""
    from importlib import resources

    from gherkin.parser import Parser
    from gherkin.pickles.compiler import Compiler

    files = [
        each
        for each in resources.files("busproof.features").iterdir()
        if each.name.endswith(".feature")
    ]
    documents = [Parser().parse(each.read_text()) | {"uri": each.name} for each in files]
    return [each for document in documents for each in Compiler().compile(document)]


@pytest.fixture(scope="session")
def some(pickles, whole) -> tuple[list[str], str]:
    """Options for the scenarios of one rule, at full size for all, and how a session then ends."""
    if FULL:
        return [], whole
    number = of_the_rule(pickles)
    assert number >= 3
    return ["--bus-rule", RULE], f"{number} passed, {beside(pickles) - number} deselected"


def of_the_rule(pickles: list) -> int:
    """How many scenarios and distilled sequences show the rule."""
    distilled = sum(each.rule == RULE for each in distilled_sequences())
    return distilled + sum(is_of(each, RULE) for each in pickles)


def beside(pickles: list, rule: str = RULE) -> int:
    """How many are read: the features with a scenario of the rule, and all sequences."""
    files = {each["uri"] for each in pickles if is_of(each, rule)}
    return len(distilled_sequences()) + sum(each["uri"] in files for each in pickles)


def is_of(pickle: dict, rule: str) -> bool:
    """Whether the scenario is tagged with the rule."""
    return f"@{rule}" in {tag["name"] for tag in pickle["tags"]}


def test_the_features_run_over_processes(host, some):
    """None is lost, and none runs twice; what they leave out, processes do not count."""
    about, expected = some
    ended = host.features("-n", "2", *about)
    counted = [each for each in expected.split(", ") if not each.endswith("deselected")]
    assert counted == ended.counted.split(", ")
    assert 0 == ended.code


OPTIONS = [
    "-W error",
    "--import-mode=importlib --strict-markers --strict-config",
    "-o bdd_features_base_dir=tests",
]
"""The last is for the host's own scenarios."""


@pytest.mark.parametrize("options", OPTIONS if FULL else [" ".join(OPTIONS)])
def test_the_features_run_in_anybodys_project(host, some, options):
    """In either way to import, with warnings as errors, and with the host's scenarios elsewhere."""
    about, expected = some
    ended = host.features(*options.split(), *about, is_new=True)
    assert expected == ended.counted
    assert 0 == ended.code


def test_the_features_run_beside_a_hosts_own_tests(host, some, pickles, skipped):
    """Each with its own fixtures, tags and steps."""
    about, _ = some
    of_ours = len(pickles) + len(distilled_sequences()) - skipped if FULL else of_the_rule(pickles)
    ended = host.features("tests", *about)
    counts = dict(reversed(each.split()) for each in ended.counted.split(", "))
    left_out = skipped + 1 if FULL else 1
    assert ("1", str(of_ours + 3), str(left_out)) == tuple(
        counts[each] for each in ("failed", "passed", "skipped")
    )


def test_scenarios_are_chosen_by_keyword_and_rule_and_leave_no_file(host, pickles, tmp_path):
    """Two ways to run less; the summary has files of its own meanwhile."""
    (tmp_path / "temporary").mkdir()
    about = ("--bus-rule", "KEY-09", "-k", "identical")
    chosen = host.features(*about, TMPDIR=str(tmp_path / "temporary"))
    assert "1 rule: 1 shown" in chosen.out
    assert [] == list((tmp_path / "temporary").glob("busproof*"))
    assert f"2 passed, {beside(pickles, 'KEY-09') - 2} deselected" == chosen.counted


def test_a_history_is_recorded_where_it_was_asked_for(host):
    """With a header, and every scenario from its start to its end; `busproof check` judges it."""
    ended = host.features("--bus-history=it.jsonl", "--bus-rule=KEY-04")
    assert (0, False) == (ended.code, "1 rule" in ended.out)
    history = load(host.folder / "it.jsonl")
    assert 3 == history.header.planned == len(history.scenarios)
    assert all(each.ended and each.events and each.ended.steps for each in history.scenarios)


def test_one_history_cannot_be_recorded_by_several_processes(host):
    """One clear sentence, before anything runs."""
    ended = host.features("--bus-history=it.jsonl", "-n", "2")
    assert 4 == ended.code
    assert (
        "ERROR: --bus-history=it.jsonl records one run in one process, and pytest-xdist spreads "
        "it over several: leave one of both out (-n0 turns pytest-xdist off)\n"
    ) == ended.err.rstrip("\n") + "\n"
    assert not (host.folder / "it.jsonl").exists()


WRONG = [
    ("--bus-rule=KEY-99", "There is no rule 'KEY-99'"),
    ("--bus-adapter=nope", "there is no adapter 'nope'"),
]
"""The second is looked for by several processes, too."""


@pytest.mark.parametrize(("option", "said"), WRONG if FULL else WRONG[:1])
def test_a_wrong_option_ends_the_session_in_one_sentence(host, option, said):
    ended = host.features(option, "--bus-rule", RULE)
    assert 2 == ended.code
    assert f"busproof: {said}" in ended.err
    assert "Traceback" not in ended.out + ended.err


def test_a_wrong_option_is_reported_once_by_several_processes(host):
    """A worker that exits would only be started again, and again."""
    ended = host.features("--bus-adapter=nope", "--bus-rule", RULE, "-n", "2")
    assert "1 error" == ended.counted
    assert "\nbusproof: there is no adapter 'nope'" in ended.out
    assert "node down" not in ended.out
    assert 1 == ended.code


def test_a_history_that_cannot_be_written_ends_the_session_in_one_sentence(host):
    """The folder is not there."""
    ended = host.features("--bus-history=no/such/folder/it.jsonl", "--bus-rule", RULE)
    assert 3 == ended.code
    assert "busproof: cannot write the history no/such/folder/it.jsonl: No such file" in ended.err


def test_scenario_that_does_not_apply_is_skipped_with_its_cause(host):
    """And what is inconclusive is, too; neither is a failure of the bus."""
    (host.folder / "mine.py").write_text(
        "import attrs\n"
        "from busproof.adapters.base import Observed\n"
        "from busproof.adapters.model import ModelAdapter\n"
        "from busproof.vocabulary.outcomes import Indeterminate\n"
        "class Mute(ModelAdapter):\n"
        "    @property\n"
        "    def declaration(self):\n"
        "        return attrs.evolve(super().declaration, capabilities=frozenset())\n"
        "    def do(self, command, connection):\n"
        "        return Observed(Indeterminate())\n"
    )
    ended = host.features(
        "--bus-adapter=mine:Mute", "-rs", "--bus-rule", "KEY-02", "--bus-rule", "KEY-09"
    )
    assert 0 == ended.code
    assert ": not-applicable: capability: witness or outages" in ended.out
    assert ": inconclusive: no answer came to: Create queue orders" in ended.out


BROKEN = """
from busproof.adapters.model import ModelAdapter

def helper():
    return {}["no such key"]

class Broken(ModelAdapter):
    def do(self, command, connection):
        return helper() if type(command).__name__ == "Receive" else super().do(command, connection)
"""

NOTICED = """
import pytest

@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        print("seen by a host:", call.excinfo.type.__name__ if call.excinfo else "", report.outcome)
    return report
"""


def test_not_applicable_is_a_skip_of_pytests_own(host):
    """Nothing is formatted as a failure, which took minutes where little is declared."""
    (host.folder / "mine.py").write_text(
        "import attrs\n"
        "from busproof.adapters.model import ModelAdapter\n"
        "class Little(ModelAdapter):\n"
        "    @property\n"
        "    def declaration(self):\n"
        "        return attrs.evolve(super().declaration, capabilities=frozenset())\n"
    )
    (host.folder / "noticing.py").write_text(NOTICED)
    about = ("-s", "--bus-adapter=mine:Little", "--bus-rule", "SESS-01")
    ended = host.features("-p", "noticing", *about)
    assert "seen by a host: Skipped skipped" in ended.out
    assert "NotApplicable" not in ended.out
    assert 0 == ended.code


def test_rules_and_families_are_markers_and_collecting_begins_no_run(host, pickles):
    """`-m` takes an id as it is: pytest's own grammar has hyphens in names."""
    tagged = [{tag["name"].removeprefix("@") for tag in each["tags"]} for each in pickles]
    tagged += [{each.rule} for each in distilled_sequences()]
    number = sum(RULE in tags or any(tag.startswith("SESS-") for tag in tags) for tags in tagged)
    run = ("--bus-adapter=nope", "--bus-history=it.jsonl")
    ended = host.features("--strict-markers", "--collect-only", "-m", f"SESS or {RULE}", *run)
    assert ended.counted.startswith(f"{number}/{len(tagged)} tests collected")
    assert 0 == ended.code
    assert not (host.folder / "it.jsonl").exists()


def test_violation_is_reported_in_the_words_of_the_scenario(host):
    """Steps, the rule, what came and what was allowed; no frame of ours, and the verdicts last."""
    about = ("--bus-rule", "KEY-08", "--bus-rule", "KEY-09")
    ended = host.features("--bus-adapter=faulty:mismatch-accepted", *about)
    assert 1 == ended.code
    assert '> When a message with SessionId "a" and PartitionKey "b" is sent' in ended.out
    assert "E     allowed: Refused: invalid-operation" in ended.out
    assert ".py" not in ended.out.partition("FAILURES")[2].partition("short test summary")[0]
    assert " - KEY-08: Sending a message whose SessionId" in ended.out
    assert "2 rules: 1 shown, 1 violated\n  violated KEY-08: " in ended.out
    assert "busproof run --adapter faulty:mismatch-accepted" in ended.out


def test_broken_adapter_is_reported_with_its_own_frames_alone(host):
    """What its author has to look at."""
    (host.folder / "mine.py").write_text(BROKEN)
    ended = host.features("--bus-adapter=mine:Broken", "--bus-rule", "KEY-02")
    assert 1 == ended.code
    traceback = ended.out.partition("FAILURES")[2].partition("short test summary")[0]
    assert "in helper" in traceback
    assert "KeyError: 'no such key'" in traceback
    assert "pytest_bdd" not in traceback
    assert "driver.py" not in traceback
    assert "1 rule: 1 errored" in traceback


def test_allure_results_have_rules_and_steps(host):
    """Our own plugin for Allure is there where allure-pytest is asked for results."""
    pytest.importorskip("allure_pytest")
    assert 0 == host.features("--alluredir=told", "--bus-rule", "KEY-02", "-k", "sixty").code
    (result,) = [
        json.loads(each.read_text()) for each in (host.folder / "told").glob("*-result.json")
    ]
    assert "Sixty messages with one key" == result["name"]
    assert {"name": "rule", "value": "KEY-02"} in result["labels"]
    assert "Given a partitioned queue" == result["steps"][0]["name"]
