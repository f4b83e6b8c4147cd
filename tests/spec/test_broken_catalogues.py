"""A catalogue that is wrong in one place is refused, and the complaint says where and why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from busproof.errors import SpecificationError
from busproof.spec import load

Change = Callable[[Any], object]
Complaint = Callable[[str, Change], str]

KEY = "rules/KEY.yaml"
REGISTER = "ambiguities/KEY.yaml"


def rule(content: Any, wanted: str = "KEY-03") -> Any:
    return next(entry for entry in content["rules"] if entry["id"] == wanted)


def first(content: Any, section: str) -> Any:
    return content[section][0]


def test_an_unchanged_copy_loads_to_an_equal_catalogue(copy: Path) -> None:
    assert load() == load(copy)


@pytest.mark.parametrize(
    "field",
    [
        "title",
        "statement",
        "modality",
        "shown_by",
        "status",
        "tiers",
        "needs",
        "oracles",
        "covers",
        "citations",
    ],
)
def test_a_rule_that_lacks_a_field_is_refused(complaint: Complaint, field: str) -> None:
    said = complaint(KEY, lambda content: rule(content).pop(field))

    assert f"{KEY}: KEY-03: {field}: this field is missing." == said


def test_a_rule_without_an_id_is_named_by_its_place(complaint: Complaint) -> None:
    said = complaint(KEY, lambda content: rule(content).pop("id"))

    assert f"{KEY}: rules 3: id: this field is missing." == said


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("title", "", "a text that is not blank"),
        ("title", 7, "a text that is not blank"),
        ("title", "x" * 61, "at most 60 characters"),
        ("statement", ["a", "b"], "a text that is not blank"),
        ("statement", None, "a text that is not blank"),
        ("modality", "shall", "must, must-not, may, should, informative"),
        ("modality", "may", "allowed, never for 'may'"),
        ("shown_by", "sometimes", "always, allowed, never"),
        ("shown_by", "allowed", "always, never for 'must'"),
        ("status", "rumoured", "documented, observed, inferred"),
        ("tiers", "standard", "a list"),
        ("tiers", [], "at least one of basic, standard, premium"),
        ("tiers", ["gold"], "basic, standard, premium"),
        ("tiers", ["basic", "basic"], "none of them blank or twice"),
        ("error", "teapot", "any, invalid-operation"),
        ("needs", ["telepathy"], "witness, outages"),
        ("needs", ["witness|telepathy"], "witness, outages"),
        ("needs", ["witness|"], "witness, outages"),
        ("needs", [3], "a list of texts"),
        ("oracles", [], "at least one of strict, client"),
        ("oracles", ["delphi"], "strict, client"),
        ("covers", ["C20"], "C1 to C19"),
        ("covers", ["Z1"], "A1 to A14"),
        ("covers", ["C0"], "C1 to C19"),
        ("citations", [], "a list with at least one entry"),
        ("citations", {}, "a list"),
        ("why_never", "No reason.", "nothing, unless shown_by is 'never'"),
        ("id", "KEY-3", "what matches"),
        ("id", "key-03", "what matches"),
        ("id", "TXN-03", "KEY-01 to KEY-99 in this file"),
    ],
)
def test_a_rule_with_a_wrong_value_is_refused(
    complaint: Complaint, field: str, value: object, allowed: str
) -> None:
    said = complaint(KEY, lambda content: rule(content).update({field: value}))

    assert said.startswith(f"{KEY}: {value if field == 'id' else 'KEY-03'}: ")
    assert "is not allowed; allowed: " in said
    assert allowed in said
    assert f" {'shown_by' if value in ('may', 'allowed') else field}: " in said


def test_an_unknown_field_is_refused(complaint: Complaint) -> None:
    said = complaint(KEY, lambda content: rule(content).update(colour="red"))

    assert f"{KEY}: KEY-03: colour: there is no such field." == said


def test_never_without_a_reason_is_refused_whatever_the_modality(complaint: Complaint) -> None:
    said = complaint(KEY, lambda content: rule(content).update(shown_by="never", oracles=[]))

    assert f"{KEY}: KEY-03: why_never: this field is missing" in said


def test_a_rule_that_is_never_shown_needs_no_oracle(complaint: Complaint) -> None:
    said = complaint(KEY, lambda content: rule(content, "KEY-19").update(oracles=["client"]))

    assert f"{KEY}: KEY-19: oracles: ['client'] is not allowed" in said


def test_an_id_that_two_rules_have_is_refused(complaint: Complaint) -> None:
    said = complaint(KEY, lambda content: rule(content, "KEY-04").update(id="KEY-03"))

    assert f"{KEY}: KEY-03: id: 'KEY-03' is used twice; give each entry its own." == said


@pytest.mark.parametrize(
    ("citation", "message"),
    [
        ({"source": "en-2021", "anchor": "how-it-works"}, "source: 'en-2021' is not allowed"),
        ({"source": "de-2021-04", "anchor": "premium"}, "anchor: 'premium' is not allowed"),
        ({"source": "de-2021-04"}, "anchor: this field is missing"),
        ({"anchor": "how-it-works"}, "source: this field is missing"),
        ({"source": "facts-transactions", "anchor": "timeout"}, "anchor: 'timeout' is not allowed"),
        ({"source": "facts-transactions", "remark": ""}, "remark: '' is not allowed"),
        ({"source": "facts-transactions", "page": 3}, "page: there is no such field"),
        ("de-2021-04", "'de-2021-04' is not a mapping of named fields"),
    ],
)
def test_a_wrong_citation_is_refused(complaint: Complaint, citation: object, message: str) -> None:
    said = complaint(KEY, lambda content: rule(content).update(citations=[citation]))

    assert said.startswith(f"{KEY}: KEY-03: citations 1: {message}")


def test_a_place_that_a_rule_cites_twice_is_refused(complaint: Complaint) -> None:
    said = complaint(
        KEY,
        lambda content: rule(content)["citations"].append(
            {
                "source": "de-2021-04",
                "anchor": "using-a-partition-key",
                "remark": "again",
            }
        ),
    )

    assert "KEY-03: citations: 'de-2021-04 using-a-partition-key' is not allowed" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda content: content.update(family="TXN"),
            "family: 'TXN' is not allowed; allowed: KEY",
        ),
        (lambda content: content.pop("title"), "title: this field is missing"),
        (lambda content: content.update(rules=[]), "rules: [] is not allowed"),
        (lambda content: content.update(notes="x"), "notes: there is no such field"),
    ],
)
def test_a_wrong_head_of_a_file_of_rules_is_refused(
    complaint: Complaint, change: Change, message: str
) -> None:
    assert complaint(KEY, change).startswith(f"{KEY}: {message}")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("id", "french", "french: id: 'french' is not allowed"),
        ("mark", "FR", "mark: 'FR' is not allowed"),
        ("mark", "P", "P: mark: 'P' is used twice"),
        ("order", 0, "order: 0 is not allowed"),
        ("order", True, "order: True is not allowed"),
        ("order", 2, "2: order: '2' is used twice"),
        ("language", "french", "language: 'french' is not allowed"),
        ("translation", "alien", "translation: 'alien' is not allowed; allowed: machine, human"),
        ("dated", "last year", "dated: 'last year' is not allowed"),
        ("sha256", "abc", "sha256: 'abc' is not allowed"),
        ("anchored_by", "guess", "anchored_by: 'guess' is not allowed; allowed: name, heading"),
        ("anchors", [], "anchor: "),
        ("note", 4, "note: 4 is not allowed"),
        ("snapshot", "main", "snapshot: 'main' is not a mapping"),
        ("snapshot", {"repository": "a/b", "path": "/x", "commit": "0" * 40}, "path: '/x' is not"),
        ("snapshot", {"repository": "a", "path": "x", "commit": "0" * 40}, "repository: 'a' is"),
        ("snapshot", {"repository": "a/b", "path": "x", "commit": "main"}, "commit: 'main' is"),
        ("weight", 4, "weight: there is no such field"),
    ],
)
def test_a_wrong_edition_is_refused(
    complaint: Complaint, field: str, value: object, message: str
) -> None:
    said = complaint(
        "sources.yaml", lambda content: first(content, "editions").update({field: value})
    )

    assert message in said


def test_an_edition_needs_a_hash_or_a_snapshot(complaint: Complaint) -> None:
    said = complaint("sources.yaml", lambda content: first(content, "editions").pop("sha256"))

    assert "sha256: None is not allowed; allowed: a SHA-256, or the snapshot of an" in said


def test_a_statement_needs_words(complaint: Complaint) -> None:
    said = complaint("statements.yaml", lambda content: content["statements"]["A1"].pop("says"))

    assert said == "statements.yaml: statements: A1: says: this field is missing."


def test_a_statement_of_an_unknown_edition_is_refused(complaint: Complaint) -> None:
    said = complaint(
        "statements.yaml", lambda content: content["statements"]["B2"].update(apart={"en": ["x"]})
    )

    assert said == "statements.yaml: statements: B2: apart: en: there is no such field."


def test_a_default_edition_that_does_not_exist_is_refused(complaint: Complaint) -> None:
    said = complaint("sources.yaml", lambda content: content.update(default="en-1999-01"))

    assert said.startswith("sources.yaml: default: 'en-1999-01' is not allowed; allowed: fr-2016")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "message sessions"),
        ("kind", "hearsay"),
        ("title", " "),
        ("as_of", "June 2023"),
        ("status", "wished"),
        ("beside", "en-1999-01"),
    ],
)
def test_a_wrong_outside_source_is_refused(complaint: Complaint, field: str, value: str) -> None:
    said = complaint(
        "sources.yaml", lambda content: first(content, "sources").update({field: value})
    )

    assert said.startswith("sources.yaml: ")
    assert f"{field}: {value!r} is not allowed" in said


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("id", "Round robin", "id: 'Round robin' is not allowed"),
        ("id", "TXN-OUTAGE", "TXN-OUTAGE: id: 'TXN-OUTAGE' is used twice"),
        ("number", "one", "number: 'one' is not allowed"),
        ("question", 1, "question: 1 is not allowed"),
        ("said", [], "said: [] is not allowed"),
        ("said", [{"source": "de-2021-04", "anchor": "no", "what": "x"}], "said 1: anchor: 'no'"),
        ("readings", {"any": "x"}, "readings: ['any'] is not allowed; allowed: at least two"),
        ("readings", {"any": "x", "strict": 3}, "readings: strict: 3 is not allowed"),
        ("readings", ["any"], "readings: ['any'] is not a mapping"),
        ("default", "loose", "default: 'loose' is not allowed; allowed: any, strict"),
        ("why", "", "why: '' is not allowed"),
        ("told_apart_by", None, "told_apart_by: None is not allowed"),
        ("rules", ["KEY-99"], "rules: 'KEY-99' is not allowed"),
        ("rules", [], "rules: [] is not allowed"),
        ("answer", "x", "answer: there is no such field"),
    ],
)
def test_a_wrong_ambiguity_is_refused(
    complaint: Complaint, field: str, value: object, message: str
) -> None:
    said = complaint(REGISTER, lambda content: first(content, "ambiguities").update({field: value}))

    assert said.startswith("ambiguities: " if "used twice" in message else f"{REGISTER}: ")
    assert message in said


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"# only a comment\n", "the file is empty"),
        (b"family: KEY\ntitle: [unclosed\n", "line 3: not valid YAML"),
        (b"family: KEY\nfamily: KEY\n", "line 2: field 'family' stands twice in one entry"),
        (b"family: KEY\nrules: [{id: a, id: b}]\n", "line 2: field 'id' stands twice"),
        (b"family: KEY\ntitle: \x80\n", "byte 19 is not UTF-8"),
        (b"- KEY-01\n", "['KEY-01'] is not a mapping of named fields"),
        (b"1: KEY\n", "{1: 'KEY'} is not a mapping of named fields"),
        (b"family: !!python/name:os.system x\n", "line 1: not valid YAML"),
    ],
)
def test_a_file_that_is_no_catalogue_file_is_refused(
    copy: Path, content: bytes, message: str
) -> None:
    (copy / KEY).write_bytes(content)

    with pytest.raises(SpecificationError) as caught:
        load(copy)

    assert str(caught.value).startswith(f"{KEY}: {message}")


def test_a_missing_file_is_refused(copy: Path) -> None:
    (copy / "sources.yaml").unlink()

    with pytest.raises(SpecificationError, match=r"sources.yaml: cannot be read: No such file"):
        load(copy)


@pytest.mark.parametrize("kind", ["rules", "ambiguities"])
def test_a_folder_without_files_is_refused(copy: Path, kind: str) -> None:
    for file in (copy / kind).iterdir():
        file.unlink()

    with pytest.raises(SpecificationError, match=f"{kind}/: there is no file of {kind}"):
        load(copy)


@pytest.mark.parametrize(
    ("condition", "allowed"),
    [
        ("KEY-ORDER=loose", "KEY-ORDER=one-receiver, KEY-ORDER=sessions-only."),
        ("NO-SUCH=either", "a reading of "),
    ],
)
def test_a_rule_that_depends_on_an_unknown_reading_is_refused(
    complaint: Complaint, condition: str, allowed: str
) -> None:
    said = complaint(KEY, lambda content: rule(content).update(unless=[condition]))

    start = f"{KEY}: KEY-03: unless: {condition!r} is not allowed; allowed: "
    assert said.startswith(start + allowed)


def test_a_rule_that_depends_on_an_unknown_capability_is_refused(complaint: Complaint) -> None:
    said = complaint(KEY, lambda content: rule(content).update(unless=["telepathy"]))

    assert "KEY-03: unless: 'telepathy' is not allowed; allowed: AMBIGUITY=reading" in said
