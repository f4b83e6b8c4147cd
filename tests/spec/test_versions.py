"""The catalogue has versions of its own; whoever changes what a bus is held to adds one."""

import hashlib
import json
from typing import Any

import attrs
import pytest

from busproof import spec

CATALOGUE = spec.load()


def digest(catalogue: spec.Catalogue) -> str:
    """Of all that the rules and the register say, and nothing of how their files are laid out."""
    content = {
        "rules": {each.id: attrs.asdict(each) for each in catalogue.rules},
        "ambiguities": {each.id: attrs.asdict(each) for each in catalogue.ambiguities},
        "editions": {each.id: attrs.asdict(each) for each in catalogue.editions},
        "sources": {each.id: attrs.asdict(each) for each in catalogue.sources},
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def test_the_newest_version_is_of_these_rules():
    """If this fails, add a version to spec/changes.yaml with this digest, and say what changed."""
    assert digest(CATALOGUE) == CATALOGUE.releases[0].sha256


@pytest.mark.parametrize("field", ["statement", "modality", "tiers"])
def test_a_rule_that_says_something_else_has_another_digest(field):
    """So the test above fails once for each change, whichever field it is of."""
    first, *others = CATALOGUE.rules
    changed = attrs.evolve(first, **{field: "x"})
    assert digest(CATALOGUE) != digest(attrs.evolve(CATALOGUE, rules=(changed, *others)))


def release(**changed: Any) -> dict[str, Any]:
    entry = {"version": "9.0.0", "dated": "2027-01-31", "sha256": "0" * 64, "changes": ["More."]}
    return entry | changed


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (release(version="9.0"), "changes.yaml: 9.0: version: '9.0' is not allowed"),
        (release(dated="soon"), "changes.yaml: 9.0.0: dated: 'soon' is not allowed"),
        (release(sha256="x"), "changes.yaml: 9.0.0: sha256: 'x' is not allowed"),
        (release(changes=[""]), "changes.yaml: 9.0.0: changes: [''] is not allowed"),
        (release(why="x"), "changes.yaml: 9.0.0: why: there is no such field"),
        (release(version="0.0.9"), "allowed: the newest version first"),
    ],
)
def test_a_version_that_is_wrong_is_refused(complaint, entry, said):
    """As all of the catalogue is: with file, entry, field, value and what is allowed."""
    changed = complaint("changes.yaml", lambda content: content["releases"].insert(0, entry))
    assert said in changed


def test_where_a_rule_is_stated_has_an_address():
    """That of the article in its language, and of the section where its anchors have names."""
    places = {each.source: CATALOGUE.link(each) for each in CATALOGUE.rule("KEY-03").citations}
    article = "azure/service-bus-messaging/service-bus-partitioning"
    assert f"https://learn.microsoft.com/de-de/{article}#using-a-partition-key" in places.values()
    assert f"https://learn.microsoft.com/pt-pt/{article}" == places["pt-undated"]


def test_every_section_of_every_edition_can_be_read_in_english():
    """Of the edition's date, or near it, or as it stands today."""
    editions = {each.id for each in CATALOGUE.editions}
    cited = [each for rule in CATALOGUE.rules for each in rule.citations]
    english = ("https://github.com/", "https://learn.microsoft.com/en-us/")
    addresses = {CATALOGUE.english(each) for each in cited if each.source in editions}
    assert all(each and each.startswith(english) and "#" in each for each in addresses)
    outside = {each: CATALOGUE.english(each) for each in cited if each.source not in editions}
    assert all(CATALOGUE.link(each) is None for each, read in outside.items() if read is None)


def test_an_address_that_is_none_is_refused(complaint):
    """A page of the report leads there."""
    said = complaint(
        "sources.yaml", lambda content: content["sources"][0].update(link="javascript:alert(1)")
    )
    assert "link: 'javascript:alert(1)' is not allowed" in said


def test_source_without_an_address_has_no_link():
    """Only some of the outside sources have one."""
    unknown = {each.id for each in CATALOGUE.sources if each.link is None}
    cited = [each for rule in CATALOGUE.rules for each in rule.citations if each.source in unknown]
    assert cited
    assert {None} == {CATALOGUE.link(each) for each in cited}
