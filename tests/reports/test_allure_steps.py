"""allure-pytest reports Gherkin steps, rules and adapters for our scenarios, and only for them."""

import json
import shutil
import socket
from pathlib import Path

import pytest
from allure_project import (
    CONFTEST,
    FEATURE,
    HOST_FEATURE,
    HOSTS,
    PLUGIN,
    TESTS,
    labels,
    parameters,
    results,
    run,
    steps,
)

from busproof.reports.allure import clean_results

pytest.importorskip("allure_pytest")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name in ("suite/steps", "suite/features", "host"):
        (folder / name).mkdir(parents=True)
    shutil.copy(PLUGIN, folder / "suite/steps/allure.py")
    (folder / "suite/features/keys.feature").write_text(FEATURE)
    (folder / "suite/features/host.feature").write_text(HOST_FEATURE)
    (folder / "suite/features/test_features.py").write_text(TESTS)
    (folder / "suite/features/test_exploration.py").write_text("def test_exploration(): ...\n")
    (folder / "host/test_exploration.py").write_text("def test_of_a_host(): ...\n")
    (folder / "suite/features/conftest.py").write_text(CONFTEST)
    (folder / "host/test_host.py").write_text(HOSTS)
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = --import-mode=importlib\nmarkers = rule(id): of a scenario\n"
    )
    return folder


@pytest.fixture(scope="module")
def folder(project) -> Path:
    """The results of one adapter, together with those of a host's tests."""
    address = "amqp://me:geheim@bus.example.net/"
    options = ("--bus-adapter", address, "--bus-edition", "de-2021-04", "--bus-tier", "standard")
    run(project, "suite/features", "host", "--alluredir", "results", *options)
    return project / "results"


@pytest.fixture(scope="module")
def cases(folder) -> dict[str, dict]:
    return results(folder)


def test_scenarios_are_titled_as_written(cases) -> None:
    assert set(cases) == {
        "Every step passes",
        "A step fails {here}",
        "A step breaks",
        "A step is not defined",
        "A step cannot begin",
        "A step skips",
        "A step needs more than is declared",
        "Nothing is tried",
        "A key is kept [a]",
        "A key is kept [b]",
        "test_exploring",
        "test_exploration",
        "test_of_a_host",
        "test_host",
        "test_a_scenario_of_the_host",
    }


def test_scenarios_are_described_without_the_path_of_their_file(cases) -> None:
    assert cases["A step breaks"]["description"] == "Partition keys: A step breaks"
    assert cases["Every step passes"]["description"] == "It says why."


def test_each_gherkin_step_is_a_step_with_its_background(cases) -> None:
    assert steps(cases["Every step passes"]) == [
        ("Given a bus", "passed"),
        ("Given the messages", "passed"),
        ("And the text", "passed"),
        ("Then it holds", "passed"),
    ]


def test_a_failed_step_is_the_last_and_has_its_reason(cases) -> None:
    result = cases["A step fails {here}"]
    assert steps(result)[-1] == ("Then it does not hold", "failed")
    assert "assert 1 == 2" in result["steps"][-1]["statusDetails"]["message"]
    assert (len(result["steps"]), result["status"]) == (3, "failed")


@pytest.mark.parametrize(
    ("scenario", "step", "status"),
    [
        ("A step breaks", "Then it breaks", "broken"),
        ("A step is not defined", "Then nobody knows", "broken"),
        ("A step cannot begin", "Then its fixture is missing", "broken"),
        ("A step skips", "Then it is not applicable", "skipped"),
        ("A step needs more than is declared", "Then more is needed", "skipped"),
    ],
)
def test_a_step_that_does_not_end_well_is_reported(cases, scenario, step, status) -> None:
    assert steps(cases[scenario]) == [("Given a bus", "passed"), (step, status)]
    assert cases[scenario]["status"] == status


def test_exploration_is_filed_with_its_adapter_and_terms(cases) -> None:
    """Without parameters a second adapter's exploration would pass for a retry of the first's."""
    assert labels(cases["test_exploration"], "epic", "feature") == [("epic", "Exploration")]
    assert parameters(cases["test_exploration"]).keys() >= {"adapter", "edition", "tier"}
    assert labels(cases["test_of_a_host"], "epic") == []
    assert parameters(cases["test_of_a_host"]) == {}


def test_a_table_and_a_text_are_attached_to_their_step(cases, folder) -> None:
    _, table, text, _ = cases["Every step passes"]["steps"]
    attached = {
        (each["name"], each["type"]): (folder / each["source"]).read_text()
        for step in (table, text)
        for each in step["attachments"]
    }
    assert attached == {
        ("table", "text/csv"): 'body,key\n"m, 1",a\n',
        ("text", "text/plain"): "as it is",
    }


def test_labels_show_family_rules_and_scenario(cases) -> None:
    kinds = ("epic", "feature", "rule", "story", "severity")
    assert labels(cases["Every step passes"], *kinds) == [
        ("epic", "KEY"),
        ("feature", "KEY-01"),
        ("feature", "KEY-02"),
        ("rule", "KEY-01"),
        ("rule", "KEY-02"),
        ("severity", "critical"),
        ("story", "Every step passes"),
    ]


def test_a_scenario_skipped_in_its_setup_has_labels_and_parameters_too(cases) -> None:
    result = cases["Nothing is tried"]
    assert result["status"] == "skipped"
    assert ("rule", "LIFE-02") in labels(result, "rule")
    assert parameters(result)["edition"] == "'de-2021-04'"


def test_parameters_show_who_was_held_to_what_without_address(cases, folder) -> None:
    given = parameters(cases["Every step passes"])
    assert given["adapter"].startswith("'amqp ")
    assert (given["edition"], given["tier"]) == ("'de-2021-04'", "'standard'")
    texts = "".join(file.read_text() for file in folder.iterdir())
    assert "geheim" not in texts
    assert "example.net" not in texts


def test_a_row_of_an_outline_has_its_values_as_parameters(cases) -> None:
    rows = [cases["A key is kept [a]"], cases["A key is kept [b]"]]
    assert ["'a'", "'b'"] == [parameters(row)["key"] for row in rows]
    assert rows[0]["historyId"] != rows[1]["historyId"]


def test_a_test_that_is_no_scenario_has_parameters_too(cases) -> None:
    result = cases["test_exploring"]
    assert "adapter" in parameters(result)
    assert labels(result, "epic", "severity") == [("severity", "normal")]


def test_fixtures_are_reported_where_they_are_a_hosts_or_went_wrong(folder) -> None:
    """Those of our scenarios say nothing that the steps do not say."""
    containers = [json.loads(file.read_text()) for file in folder.glob("*-container.json")]
    fixtures = {each["name"] for container in containers for each in container.get("befores", ())}
    assert {"shared", "alone", "ready"} <= fixtures
    steps_of = {name for name in fixtures if name.startswith("pytestbdd_stepdef")}
    assert steps_of == {"pytestbdd_stepdef_then_the host is content"}


@pytest.mark.parametrize("name", ["test_host", "test_a_scenario_of_the_host"])
def test_a_test_of_the_host_is_left_alone(cases, name) -> None:
    result = cases[name]
    assert labels(result, "epic", "feature", "rule", "story", "severity") == []
    assert parameters(result) == {}
    assert steps(result) == []


def test_two_adapters_in_one_folder_never_pass_for_tries_of_one(project) -> None:
    adapters = ("exec:node a.js", "exec:node b.js", "Endpoint=sb://x/;SharedAccessKey=y")
    for adapter in adapters:
        run(project, "suite/features", "--alluredir", "both", "--bus-adapter", adapter)
    found = [json.loads(file.read_text()) for file in (project / "both").glob("*-result.json")]
    assert len(found) == 12 * len(adapters)
    assert len({result["historyId"] for result in found}) == len(found)


def test_labels_choose_what_runs(project) -> None:
    out = run(project, "suite/features", "--alluredir", "chosen", "--allure-features", "KEY-02")
    assert "1 passed, 11 deselected" in out


def test_without_results_asked_for_nothing_is_registered(project) -> None:
    out = run(project, "suite/features", "--trace-config", "-k", "exploring")
    assert "steps_allure" not in out


def test_steps_are_recorded_on_several_workers(project) -> None:
    pytest.importorskip("xdist")
    run(project, "-n2", "suite/features", "--alluredir", "workers")
    assert len(steps(results(project / "workers")["Every step passes"])) == 4


def test_cleaned_results_name_no_host(project) -> None:
    run(project, "suite/features", "--alluredir", "clean")
    changed = clean_results(project / "clean")
    assert len([file for file in changed if file.name.endswith("-result.json")]) == 12
    for file in (project / "clean").glob("*.json"):
        text = file.read_text()
        assert f'"{socket.gethostname()}"' not in text
        assert str(Path.home()) not in text
        assert str(project) not in text


def test_results_of_a_run_from_elsewhere_name_no_folder(project, tmp_path) -> None:
    shutil.copy(project / "pytest.ini", tmp_path)
    run(tmp_path, str(project / "suite/features"), "--rootdir=.", "--alluredir", "clean")
    clean_results(tmp_path / "clean")
    texts = "".join(file.read_text() for file in (tmp_path / "clean").glob("*-result.json"))
    assert project.parent.name not in texts


def test_steps_are_recorded_where_plugins_are_loaded_by_name(project) -> None:
    plugins = ("-p", "pytest_bdd.plugin", "-p", "allure_pytest.plugin")
    run(
        project,
        *plugins,
        "suite/features",
        "--alluredir",
        "named",
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
    )
    assert len(steps(results(project / "named")["Every step passes"])) == 4


def test_our_own_features_are_reported_as_they_ended(tmp_path) -> None:
    """The model is no client library, so the scenario of KEY-13 is not applicable to it."""
    features = ("--pyargs", "busproof.features", "--alluredir", "own", "--bus-adapter", "model")
    rules = ("--bus-rule", "KEY-13", "--bus-rule", "KEY-08")
    run(tmp_path, *features, *rules, "-k", "not test_sequence")
    by_label = {
        label["value"]: r for r in results(tmp_path / "own").values() for label in r["labels"]
    }
    skipped, passed = by_label["KEY-13"], by_label["KEY-08"]
    assert (skipped["status"], passed["status"]) == ("skipped", "passed")
    assert skipped["steps"][-1]["status"] == "skipped"
    assert {status for _, status in steps(passed)} == {"passed"}
    assert parameters(passed)["adapter"] == "'model'"
