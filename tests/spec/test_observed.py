"""What the real service was seen to do: facts with their sources, beside the rules."""

import json
from pathlib import Path
from typing import Any

import pytest

from busproof import spec
from busproof.errors import SpecificationError

FACT: dict[str, Any] = {
    "id": "M900",
    "plane": "amqp",
    "tier": "standard",
    "about": ["KEY-03"],
    "request": "send a message",
    "recorded": {"condition": "amqp:not-allowed", "seen": {"until 2020": "accepted"}},
    "sources": [{"repository": "Azure/example", "issue": 1, "as_of": "2020"}],
}
EXCHANGE = FACT | {
    "session": "some",
    "request": {"method": "PUT", "path": "/q", "if_match": True, "properties": [["A", "b"]]},
    "recorded": {"status": 201, "elements": ["A", "B"]},
    "note": "a remark",
    "sources": [{"repository": "Azure/example", "path": "a/b.json", "commit": "0" * 40}],
}


def loaded(folder: Path, *facts: object) -> tuple[spec.Observation, ...]:
    lines = [fact if isinstance(fact, str) else json.dumps(fact) for fact in facts]
    (folder / "some.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return spec.load_observations(folder)


def test_observations_are_about_rules_and_ambiguities_that_exist() -> None:
    """Otherwise `busproof rules` would show them nowhere."""
    catalogue = spec.load()
    known = {rule.id for rule in catalogue.rules} | {each.id for each in catalogue.ambiguities}
    observations = spec.load_observations()
    assert {name for each in observations for name in each.about} <= known
    assert len(observations) > 100


def test_rule_has_the_observations_about_its_ambiguities() -> None:
    """SIZE-01 has those about SIZE-UPDATE, for instance."""
    found = {each.id for each in spec.observed_about(spec.load(), "SIZE-01")}
    assert {"R020", "R070"} <= found


def test_observation_is_summed_up_in_a_line(tmp_path: Path) -> None:
    """With what was asked and answered, and a link to each source."""
    fact, exchange = loaded(tmp_path, FACT, EXCHANGE | {"id": "R900"})
    assert (
        "send a message: condition amqp:not-allowed, until 2020 accepted",
        "PUT /q If-Match A=b: status 201, 2 in elements (a remark)",
    ) == (fact.summary, exchange.summary)
    assert (
        "https://github.com/Azure/example/issues/1",
        f"https://github.com/Azure/example/blob/{'0' * 40}/a/b.json",
    ) == (fact.sources[0].link, exchange.sources[0].link)


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("{", "some.jsonl: line 1: not valid JSON"),
        (FACT | {"plane": "mail"}, "line 1: plane: 'mail' is not allowed"),
        (FACT | {"tier": "gold"}, "line 1: tier: 'gold' is not allowed"),
        (FACT | {"sources": []}, "line 1: sources: [] is not allowed"),
        (FACT | {"sources": [{"repository": "x"}]}, "repository: 'x' is not allowed"),
        (FACT | {"recorded": "all well"}, "recorded: 'all well' is not a mapping"),
        (FACT | {"whatever": 1}, "whatever: there is no such field"),
    ],
)
def test_broken_observation_is_refused(tmp_path: Path, fact: object, said: str) -> None:
    """With file, line, field, value and what is allowed."""
    with pytest.raises(SpecificationError) as caught:
        loaded(tmp_path, fact)
    assert said in str(caught.value)


def test_two_observations_of_one_id_are_refused(tmp_path: Path) -> None:
    """An accepted difference names an id."""
    with pytest.raises(SpecificationError, match="'M900' is used twice"):
        loaded(tmp_path, FACT, FACT)


EVIDENCE = {"ambiguity": "EMPTY-KEY", "reading": "set", "observed": ["M900"]}


def evidence_of(folder: Path, **changed: object) -> tuple[spec.Evidence, ...]:
    loaded(folder, FACT)
    entries = {"readings": [EVIDENCE | changed]}
    (folder / "readings.yaml").write_text(json.dumps(entries), encoding="utf-8")
    return spec.load_evidence(folder)


def test_observed_reading_is_one_of_the_register(tmp_path: Path) -> None:
    """With the observations that show it."""
    (found,) = evidence_of(tmp_path, editions=["de-2021-04"])
    assert found == spec.Evidence(
        ambiguity="EMPTY-KEY", reading="set", editions=("de-2021-04",), observed=("M900",)
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ambiguity": "NO-SUCH"}, "ambiguity: 'NO-SUCH' is not allowed"),
        ({"reading": "perhaps"}, "reading: 'perhaps' is not allowed"),
        ({"observed": ["X1"]}, "observed: 'X1' is not allowed"),
        ({"editions": ["en-1999-01"]}, "editions: 'en-1999-01' is not allowed"),
        ({"whatever": 1}, "whatever: there is no such field"),
    ],
)
def test_wrong_observed_reading_is_refused(tmp_path, changed, said) -> None:
    """With what is allowed."""
    with pytest.raises(SpecificationError) as caught:
        evidence_of(tmp_path, **changed)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("edition", "keys", "option"),
    [("es-2020-06", "accepted", "no-effect"), ("en-2026-02", "refused", "refused")],
)
def test_service_read_some_questions_otherwise_in_earlier_times(edition, keys, option) -> None:
    """It refuses keys that differ since 2020, and the option of Premium since 2024."""
    seen = spec.observed_readings(edition)
    assert (keys, option) == (seen["REGULAR-KEYS"], seen["PREMIUM-CHECKBOX"])
    assert seen["SIZE-UPDATE"] == "changed"
