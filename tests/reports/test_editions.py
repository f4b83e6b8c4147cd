"""Editions beside each other on a terminal: counts, what differs, what broke."""

import io
import re

import attrs
import pytest
from rich.console import Console

from busproof.history.conformance import Conformance, Verdict
from busproof.reports.editions import show


@pytest.fixture
def shown(catalogue):
    def text(*runs: Conformance, width: int = 80, **kind) -> str:
        file = io.StringIO()
        show(runs, catalogue, Console(width=width, file=file, **kind))
        return file.getvalue()

    return text


def held_to(run: Conformance, edition: str, **verdicts: Verdict) -> Conformance:
    """The run as one of another edition, with other verdicts on some rules."""
    rules = tuple(
        attrs.evolve(rule, verdict=verdicts.get(rule.id.replace("-", "_"), rule.verdict))
        for rule in run.rules
    )
    return attrs.evolve(run, subject=attrs.evolve(run.subject, edition=edition), rules=rules)


def cells(text: str, first: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.strip().startswith(first))
    return re.split(r"\s{2,}", line.strip())


def test_each_family_has_a_count_of_each_edition(shown, conformance) -> None:
    old = held_to(conformance, "fr-2016-09", KEY_02=Verdict.NOT_APPLICABLE)
    text = shown(old, held_to(conformance, "de-2021-04"), width=120)
    assert ["family", "fr-2016-09", "de-2021-04"] == cells(text, "family")
    ours, theirs = (re.match(r"(\d+) of (\d+)", each) for each in cells(text, "KEY ")[1:])
    assert int(ours[1]) == int(theirs[1]) - 1
    assert int(ours[2]) == int(theirs[2]) - 1
    assert ["-", "-"] == cells(text, "TXN ")[-2:]
    assert "de-2021-04: " in text


def test_rules_that_differ_or_broke_have_rows_and_the_others_a_line(shown, conformance) -> None:
    old = held_to(conformance, "fr-2016-09", KEY_02=Verdict.NOT_SHOWN)
    text = shown(old, held_to(conformance, "de-2021-04"))
    assert ["KEY-02", "not shown", "shown"] == cells(text, "KEY-02")
    assert ["KEY-08", "violated", "violated"] == cells(text, "KEY-08")
    assert "Shown in no edition: LIFE-07" in text


def test_nothing_is_said_of_rules_where_all_are_shown(shown, conformance) -> None:
    rules = tuple(attrs.evolve(rule, verdict=Verdict.SHOWN) for rule in conformance.rules)
    text = shown(attrs.evolve(conformance, rules=rules))
    assert "Shown in no edition" not in text
    assert "KEY-02" not in text


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_longer_than_the_terminal(shown, conformance, width) -> None:
    five = [held_to(conformance, f"xx-2020-0{number}") for number in range(1, 6)]
    text = shown(*five, width=width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
