"""What busproof's own catalogue promises."""

from pathlib import Path

import pytest
import yaml

from busproof import vocabulary as v
from busproof.model.ambiguities import Reading
from busproof.spec import Catalogue, Rule, load, terms
from busproof.spec.client_rules import load_client_rules
from busproof.spec.reading import parse

ROOT = Path(__file__).parents[2]

SLIPS = [
    ("A4", "fr-2016-09", "partitioned-queues-and-topics"),
    ("A4", "pt-undated", "partitioned-queues-and-topics"),
    ("A4", "cs-2020-12", "partitioned-queues-and-topics"),
    ("A7", "fr-2016-09", "how-it-works"),
    ("A7", "pt-undated", "how-it-works"),
    ("A7", "cs-2020-12", "how-it-works"),
    ("C6", "cs-2020-12", "using-a-partition-key"),
    ("C11", "pt-undated", "using-a-partition-key"),
    ("D3", "cs-2020-12", "advanced-topics-use-transactions-with-partitioned-entities"),
    ("D4", "fr-2016-09", "advanced-topics-use-transactions-with-partitioned-entities"),
    ("D5", "fr-2016-09", "advanced-topics-use-transactions-with-partitioned-entities"),
    ("D5", "es-2020-06", "advanced-topics-use-transactions-with-partitioned-entities"),
    ("D5", "cs-2020-12", "advanced-topics-use-transactions-with-partitioned-entities"),
    ("D8", "fr-2016-09", "using-sessions-with-partitioned-entities"),
    ("F2", "pt-undated", "considerations-and-guidelines"),
    ("F2", "cs-2020-12", "considerations-and-guidelines"),
    ("G5", "de-2021-04", "partitioned-entities-limitations"),
]
"""Statement, edition and section where a translation says something else than the others."""


def is_slip(remark: str | None) -> bool:
    return remark is not None and remark.startswith("slip")


def test_rule_ids_are_unique_and_in_order(catalogue: Catalogue) -> None:
    ids = [rule.id for rule in catalogue.rules]

    assert sorted(set(ids)) == ids


def test_every_outside_source_is_used(catalogue: Catalogue) -> None:
    cited = {citation.source for rule in catalogue.rules for citation in rule.citations}
    cited |= {said.source for ambiguity in catalogue.ambiguities for said in ambiguity.said}
    cited |= {citation.source for rule in load_client_rules() for citation in rule.citations}

    assert set() == {source.id for source in catalogue.sources} - cited


STATEMENTS = {"A": 14, "B": 14, "C": 19, "D": 8, "E": 3, "F": 14, "G": 9, "H": 3}
"""How many statements of each kind the editions make; 84 in all."""


def test_all_statements_are_covered(catalogue: Catalogue) -> None:
    covered = {statement for rule in catalogue.rules for statement in rule.covers}
    expected = {f"{kind}{n + 1}" for kind, most in STATEMENTS.items() for n in range(most)}

    assert set() == expected - covered
    assert set() == covered - expected


def test_a_rule_stated_by_no_edition_is_in_force_in_all(catalogue: Catalogue) -> None:
    rule = catalogue.rule("TXN-12")

    assert rule.outside
    assert tuple(edition.id for edition in catalogue.editions) == rule.editions


def test_a_page_beside_an_edition_states_rules_for_it_alone(catalogue: Catalogue) -> None:
    """SIZE-01 is cited from older editions, and from a page of the newest one's time."""
    page = next(each for each in catalogue.sources if each.id == "facts-enabling-standard")
    rule = catalogue.rule("SIZE-01")

    assert "en-2026-02" == page.beside
    assert not rule.outside
    assert not rule.cited_in("en-2026-02")
    assert "FPSCE" == "".join(catalogue.edition(each).mark for each in rule.editions)


def test_a_page_beside_an_edition_takes_no_rule_from_the_others(catalogue: Catalogue) -> None:
    """LIMIT-07 cites a page of no edition, too."""
    rule = catalogue.rule("LIMIT-07")

    assert rule.cited_in("facts-common-limits")
    assert rule.outside


@pytest.mark.parametrize(
    ("rule", "marks"),
    [
        ("KEY-16", "PSCDE"),
        ("KEY-21", "DE"),
        ("PREM-01", "PSCDE"),
        ("PREM-14", "E"),
        ("KEY-03", "FPSCDE"),
    ],
)
def test_a_rules_editions_are_those_that_it_cites(catalogue, rule, marks) -> None:
    editions = [catalogue.edition(edition) for edition in catalogue.rule(rule).editions]

    assert marks == "".join(edition.mark for edition in editions)


@pytest.mark.parametrize(("statement", "edition", "anchor"), SLIPS)
def test_a_slip_of_translation_is_a_remark_wherever_its_statement_is_cited(
    catalogue: Catalogue, statement: str, edition: str, anchor: str
) -> None:
    concerned = [
        citation
        for rule in catalogue.rules
        if statement in rule.covers
        for citation in rule.cited_in(edition)
        if citation.anchor == anchor
    ]

    assert concerned
    assert all(is_slip(citation.remark) for citation in concerned)


def test_no_rule_rests_on_slips_of_translation_alone(catalogue: Catalogue) -> None:
    def rests_on_slips(rule: Rule) -> bool:
        return all(is_slip(citation.remark) for citation in rule.citations)

    assert [rule.id for rule in catalogue.rules if rests_on_slips(rule)] == []


def test_every_ambiguity_that_a_run_can_be_held_to_is_read_by_the_model(catalogue) -> None:
    """A reading that nothing asks for would change nothing; those that cannot say why not."""
    code = "".join(
        path.read_text()
        for room in ("vocabulary", "filters", "model", "judging")
        for path in (ROOT / "src" / "busproof" / room).rglob("*.py")
    )
    typed = {kind.entry for family in Reading.__subclasses__() for kind in family.__subclasses__()}
    unread = {
        entry.id
        for entry in catalogue.ambiguities
        if entry.id not in typed and f'"{entry.id}"' not in code
    }
    assert unread == {entry.id for entry in catalogue.ambiguities if entry.out_of_reach} - typed


def test_capabilities_are_those_of_adapters() -> None:
    assert {capability.value for capability in v.Capability} == set(terms.CAPABILITIES)


def test_errors_are_those_of_the_model() -> None:
    assert {error.value for error in v.Error} == set(terms.ERRORS)


def test_tiers_are_those_of_the_model() -> None:
    assert [*(tier.value for tier in v.Tier), v.PARTITIONED_PREMIUM] == list(terms.TIERS)


def test_the_own_catalogue_is_read_once() -> None:
    assert load() is load()


OF_SIZES = "how large an entity of a partitioned namespace is, the documents do not say"
OF_REGULAR = "it is about a namespace of Premium that is not partitioned"
NOT_IN_PARTITIONED = {
    **dict.fromkeys((f"SIZE-{number:02}" for number in range(1, 15)), OF_SIZES),
    **dict.fromkeys((f"PREM-{number:02}" for number in range(1, 14)), OF_REGULAR),
    **dict.fromkeys(
        (f"QUOTA-{number:02}" for number in range(1, 14)), "its number is not that of Premium"
    ),
    "BATCH-07": "how large a batch of Premium may be is open",
    "BATCH-10": OF_SIZES,
    "LIMIT-01": "the limit is of Basic and Standard",
    "LIMIT-02": "the limit is of Basic and Standard",
    "LIMIT-20": "the limit is of Standard",
    **dict.fromkeys(("SIZE-16", "SIZE-17"), OF_SIZES),
    "MGMT-02": "it is about Basic and Standard by name; PREM-14 is about partitioned namespaces",
}
"""Rules of Standard or Premium that do not hold in partitioned namespaces, and why not."""


def test_a_partitioned_namespace_keeps_every_rule_that_is_not_of_regular_entities(catalogue):
    """A new rule of Standard or Premium names the tier `partitioned-premium`, or is listed here."""
    missing = {
        rule.id
        for rule in catalogue.rules
        if {"standard", "premium"} & {*rule.tiers}
        and v.PARTITIONED_PREMIUM not in rule.tiers
        and "regular-queues" not in rule.needs
    }
    assert missing <= NOT_IN_PARTITIONED.keys()
    assert set() == {
        rule for rule in NOT_IN_PARTITIONED if v.PARTITIONED_PREMIUM in catalogue.rule(rule).tiers
    }


def test_values_of_a_file_are_those_of_yaml_itself() -> None:
    """Texts, lists and mappings are made by the reader, all else by YAML."""
    for text in ("a: 2020-01-01\nb: [1, true, null, x]", "a: {b: &c [d], 1: *c}\ne: {<<: {f: g}}"):
        assert yaml.safe_load(text) == parse(text, "some.yaml")
