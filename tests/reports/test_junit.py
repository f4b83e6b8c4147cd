"""A tool that knows JUnit alone makes of a run what its exit code says."""

import xml.etree.ElementTree as ET

import pytest

from busproof.history.conformance import Verdict
from busproof.reports.junit import write_junit


@pytest.fixture
def written(tmp_path):
    """The root of what is written of some runs."""

    def write(*runs) -> ET.Element:
        write_junit(runs, tmp_path / "out" / "junit.xml")
        return ET.parse(tmp_path / "out" / "junit.xml").getroot()

    return write


def case(root: ET.Element, rule: str) -> ET.Element:
    (found,) = [each for each in root.iter("testcase") if each.get("name", "").startswith(rule)]
    return found


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [
        (Verdict.SHOWN, None),
        (Verdict.VIOLATED, "failure"),
        (Verdict.KNOWN_FAILURE, "skipped"),
        (Verdict.NOT_APPLICABLE, "skipped"),
        (Verdict.NOT_SHOWN, "error"),
        (Verdict.INCONCLUSIVE, "error"),
        (Verdict.ERRORED, "error"),
    ],
)
def test_each_verdict_has_its_kind(with_rule, written, verdict, tag) -> None:
    elements = case(written(with_rule("KEY-02", verdict=verdict, cause="because")), "KEY-02 ")
    assert [each.tag for each in elements] == ([tag] if tag else [])
    if tag:
        assert elements[0].get("message") == f"{verdict.value}: because"
        assert elements[0].get("type") == verdict.value


def test_every_rule_is_counted(conformance, written) -> None:
    root = written(conformance, conformance)
    assert [each.get("name") for each in root] == ["Acme Bus 2.1, run 1", "Acme Bus 2.1, run 2"]
    skipped = conformance.counted(Verdict.NOT_APPLICABLE)
    expected = {"tests": len(conformance.rules), "failures": 1, "errors": 3, "skipped": skipped}
    for suite in root:
        assert {name: int(suite.get(name, "-1")) for name in expected} == expected
        assert len(suite.findall("testcase")) == len(conformance.rules)


def test_a_violation_shows_its_run(conformance, written) -> None:
    text = case(written(conformance), "KEY-08 ")[0].text or ""
    assert text.startswith("scenario: Keys that differ\n1. ")
    assert text.endswith("seen: Refused: other\nallowed: Refused: invalid-operation")


def test_characters_that_xml_cannot_hold_are_replaced(with_rule, written) -> None:
    report = with_rule("KEY-02", verdict=Verdict.ERRORED, cause="\x00\x1b[31m half \ud800 <&\"'>")
    message = case(written(report), "KEY-02 ")[0].get("message")
    assert message == "errored: \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[31m half " + (
        "\N{REPLACEMENT CHARACTER} <&\"'>"
    )


def test_no_host_and_no_time_is_reported(conformance, written) -> None:
    names = {name for each in written(conformance).iter() for name in each.attrib}
    assert names & {"hostname", "timestamp", "file"} == set()
