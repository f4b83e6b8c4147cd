"""How kinds of namespaces differ: `busproof rules --diff standard premium:4`."""

import json
from pathlib import Path
from typing import Any

import pytest

from busproof.cli import rules
from busproof.errors import SpecificationError, UsageError
from busproof.spec import Catalogue, compare_namespaces, name_namespace
from busproof.spec.namespaces import load_subjects

NEWEST = "en-2026-02"


def test_the_rules_of_two_namespaces_are_divided(catalogue: Catalogue) -> None:
    diff = compare_namespaces(catalogue, "standard", "premium:4")

    standard = catalogue.in_force(NEWEST, "standard")
    premium = catalogue.in_force(NEWEST, "partitioned-premium")
    assert {rule.id for rule in diff.only_in_a} == standard - premium
    assert {rule.id for rule in diff.only_in_b} == premium - standard
    assert len(standard & premium) == diff.in_both
    # Known from the documents: keys do not matter for copies there, and nothing else is created.
    assert "DUP-05" in {rule.id for rule in diff.only_in_a}
    assert "PREM-15" in {rule.id for rule in diff.only_in_b}


def test_limits_and_quotas_stand_beside_each_other(catalogue: Catalogue) -> None:
    diff = compare_namespaces(catalogue, "standard", "premium:2")

    answers = {subject: (a and a.answer, b and b.answer) for subject, a, b in diff.subjects}
    assert answers["Largest state of a session"] == ("256 KB", "1 MB")
    assert answers["Queues and topics that are not partitioned"][1] == "refused"
    assert answers["Size of a queue or topic"] == ("1 to 5 GB", None)


def test_an_answer_has_only_rules_in_force(catalogue: Catalogue) -> None:
    for one in ("basic", "standard", "premium", "premium:4", "fr-2016-09/premium"):
        diff = compare_namespaces(catalogue, one, "standard")
        in_force = catalogue.in_force(diff.a.edition, diff.a.kind)
        for _, answer, _ in diff.subjects:
            assert answer is None or (answer.rules and set(answer.rules) <= in_force)


def test_subjects_name_rules_that_hold_in_their_kinds(catalogue: Catalogue) -> None:
    for subject in load_subjects():
        for answer in subject.answers:
            tiers = [set(catalogue.rule(rule).tiers) for rule in answer.rules]
            assert all(set(answer.tiers) <= each for each in tiers), (subject.subject, answer)


def test_no_kind_has_two_answers_on_a_subject() -> None:
    for subject in load_subjects():
        tiers = [tier for answer in subject.answers for tier in answer.tiers]
        assert len(tiers) == len(set(tiers)), subject.subject


def test_a_namespace_does_not_differ_from_itself(catalogue: Catalogue) -> None:
    diff = compare_namespaces(catalogue, "premium:4", f"{NEWEST}/premium:4")

    assert (diff.only_in_a, diff.only_in_b, diff.subjects, diff.changed) == ((), (), (), ())


def test_an_edition_beside_a_tier_is_its_standard_namespace(capsys) -> None:
    assert run("--diff", "fr-2016-09", "basic") == 0

    out = capsys.readouterr().out
    assert "Holds only in fr-2016-09/standard: " in out
    assert "In both, differing: " in out


def test_the_table_and_json_have_the_same_rules(catalogue, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert run("--diff", "standard", "premium:4", "--format", "json") == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert run("--diff", "standard", "premium:4") == 0
    table = capsys.readouterr().out

    assert (answer["a"], answer["b"]) == (f"{NEWEST}/standard", f"{NEWEST}/premium:4")
    for rule in (*answer["only_in_a"], *answer["only_in_b"]):
        assert rule["title"] == catalogue.rule(rule["id"]).title
        assert f"{rule['id']:<11}{rule['modality']}" in table
    for subject in answer["subjects"]:
        assert subject["subject"] in table
    assert f"Holds only in {NEWEST}/premium:4: {len(answer['only_in_b'])} rules" in table


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gold", "there is no namespace 'gold'; use basic, standard, premium, premium:2"),
        ("premium:3", "there is no namespace 'premium:3'"),
        ("premium:", "there is no namespace 'premium:'"),
        ("standard:2", "there is no namespace 'standard:2'"),
        ("de-2021/premium", "there is no namespace 'de-2021/premium'"),
        ("/premium", "there is no namespace '/premium'"),
        ("de-2021-04/premium:4", "knows no partitioned namespaces"),
    ],
)
def test_a_namespace_that_does_not_exist_is_refused_with_the_possible_ones(catalogue, name, said):
    with pytest.raises(UsageError) as raised:
        name_namespace(catalogue, name)
    assert said in str(raised.value)
    with pytest.raises(UsageError):
        run("--diff", "standard", name)


def test_a_subject_with_an_unknown_tier_is_refused(tmp_path: Path) -> None:
    text = "subjects: [{subject: Size, answers: [{tiers: [gold], answer: 1, rules: [SIZE-01]}]}]"
    (tmp_path / "subjects.yaml").write_text(text, "utf-8")

    with pytest.raises(SpecificationError, match="gold"):
        load_subjects(tmp_path)


def run(*words: str) -> int:
    return rules.run(rules.COMMAND.read(words))
