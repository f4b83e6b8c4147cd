"""The page is one file that holds what was judged, runs only its own script and has no secret."""

import base64
import hashlib
import html.parser
import json
import re
from pathlib import Path
from typing import Any

import attrs
import pytest

from busproof.cli.evidence import evidence
from busproof.errors import HistoryError
from busproof.history.conformance import Counterexample, Verdict
from busproof.history.render.gherkin import VERDICT, request_of
from busproof.reports import overview
from busproof.reports.page import page, write_page
from busproof.reports.page_data import Comparison, page_data
from busproof.reports.printed import read_audit
from busproof.reports.redaction import redact
from busproof.reports.trends import entry_of

WEB = re.compile(r"https?://(?!www\.w3\.org/)")


class Parts(html.parser.HTMLParser):
    """The elements of a page: tag, attributes, text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes), ""))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}", {}, ""))

    def handle_data(self, text: str) -> None:
        tag, attributes, before = self.found.pop() if self.found else ("", {}, "")
        self.found.append((tag, attributes, before + text))

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, text) for each, attributes, text in self.found if each == tag]


@pytest.fixture(scope="session")
def shown(catalogue):
    return evidence(catalogue.rules)


@pytest.fixture
def comparison(conformance, catalogue, shown) -> Comparison:
    return Comparison(runs=(conformance,), catalogue=catalogue, evidence=shown)


def values(text: str) -> dict[str, Any]:
    """The JSON of a page, as a browser finds it."""
    (found,) = [
        text for attributes, text in Parts(text).of("script") if attributes.get("id") == "values"
    ]
    value: dict[str, Any] = json.loads(found)
    return value


def rule(data: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in data["rules"] if each["id"] == name]
    return found


def test_the_page_holds_its_values(comparison) -> None:
    assert values(page(comparison)) == json.loads(json.dumps(page_data(comparison)))


def test_every_rule_of_the_catalogue_is_there_with_its_verdict(comparison, conformance) -> None:
    data = page_data(comparison)
    assert [each["id"] for each in data["rules"]] == [
        each.id for each in comparison.catalogue.rules
    ]
    (run,) = data["runs"]
    assert {name: data["verdicts"][entry[0]] for name, entry in run["verdicts"].items()} == {
        each.id: each.verdict.value for each in conformance.rules
    }
    texts = data["texts"]
    assert texts[run["verdicts"]["LIFE-07"][2]] == "the situation never arose"
    number, events, cause, scenarios = run["verdicts"]["KEY-02"]
    assert (data["verdicts"][number], events, cause) == ("shown", 7, -1)
    assert [texts[each] for each in scenarios] == ["A scenario"]


def test_a_rule_shows_who_states_it_and_what_shows_it(comparison) -> None:
    entry = rule(page_data(comparison), "KEY-08")
    stated = comparison.catalogue.rule("KEY-08")
    assert entry["statement"] == stated.statement
    assert [tuple(each) for each in entry["citations"]] == [
        (each.source, each.anchor, each.remark) for each in stated.citations
    ]
    assert ["mismatch-accepted"] == [
        each[0] for each in entry["faults"] if each[0] == "mismatch-accepted"
    ]
    assert entry["scenarios"]
    assert all(re.fullmatch(r"\w+!\w+", each) for each in entry["operators"])


def test_a_rule_shows_what_is_left_open_about_it(comparison) -> None:
    data = page_data(comparison)
    readings = rule(data, "KEY-14")["readings"]
    assert "ROUND-ROBIN" in readings
    assert data["ambiguities"]["ROUND-ROBIN"]["default"] == "any"
    assert set(data["ambiguities"]["ROUND-ROBIN"]["readings"]) == {"any", "strict"}


def test_the_counterexample_is_a_scenario_that_can_be_asked_again(comparison, conformance) -> None:
    example = page_data(comparison)["runs"][0]["examples"]["KEY-08"]
    first, name, *steps, last = example["gherkin"].splitlines()
    assert (first, name) == ("@KEY-08", "Scenario: What broke KEY-08")
    assert last.strip() == f"Then {VERDICT}"
    asked = [request_of(step.partition(" asks: ")[2]) for step in steps]
    violated = next(each for each in conformance.rules if each.id == "KEY-08")
    assert asked == [event.command for event in violated.counterexample.events]
    assert (example["seen"], example["allowed"]) == (
        "Refused: other",
        ["Refused: invalid-operation"],
    )


def test_the_sentence_of_a_distilled_situation_is_on_the_page(comparison, with_rule) -> None:
    told = "Wrong if it is accepted. KEY-08: SessionId and PartitionKey that differ are refused."
    example = Counterexample(scenario="a", events=(), seen="x", allowed=(), about=told)
    run = with_rule("KEY-08", verdict=Verdict.VIOLATED, counterexample=example)
    data = page_data(attrs.evolve(comparison, runs=(run,)))
    assert told == data["runs"][0]["examples"]["KEY-08"]["about"]


def test_generated_faults_that_would_have_been_noticed_are_on_the_page(comparison) -> None:
    evidence = {
        "KEY-08": {"generated": {"noticed": 3, "of": 4}},
        "KEY-02": {"generated": {"of": 0}},
    }
    data = page_data(attrs.evolve(comparison, evidence=evidence))
    assert [3, 4] == rule(data, "KEY-08")["generated"]
    assert "generated" not in rule(data, "KEY-02")


def test_fate_of_each_fault_is_on_the_page(comparison, tmp_path) -> None:
    fault = {"id": "mismatch-accepted", "rule": "KEY-08", "result": "killed", "why": ""}
    (tmp_path / "audit.json").write_text(json.dumps({"faults": [fault]}))
    fates = read_audit(tmp_path / "audit.json")
    data = page_data(attrs.evolve(comparison, fates=fates))
    audited = [each for each in rule(data, "KEY-08")["faults"] if len(each) > 2]
    assert data["audited"]
    assert [("mismatch-accepted", "killed", "")] == [(each[0], *each[2:]) for each in audited]
    assert not page_data(comparison)["audited"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not what busproof audit --format json prints"),
        ("[]", "is not what busproof audit --format json prints"),
        (
            '{"faults": [{"id": "x"}]}',
            "is not what busproof audit --format json prints: .*rule is missing",
        ),
        (
            '{"faults": [{"id": "x", "rule": "KEY-01", "result": "fine"}]}',
            "is not what busproof audit --format json prints",
        ),
    ],
)
def test_file_that_is_no_audit_is_named(tmp_path, text, said) -> None:
    (tmp_path / "audit.json").write_text(text)
    with pytest.raises(HistoryError, match=said):
        read_audit(tmp_path / "audit.json")
    with pytest.raises(HistoryError, match=r"cannot read .*none.json: No such file"):
        read_audit(tmp_path / "none.json")


def test_a_claim_that_was_not_shown_is_reported(comparison, with_rule) -> None:
    unshown = with_rule("SESS-01", verdict=Verdict.NOT_SHOWN)
    (run,) = page_data(attrs.evolve(comparison, runs=(unshown,)))["runs"]
    assert ["sessions", "SESS-01 not shown", ["SESS-01"]] in run["claims"]


def test_the_runs_before_are_reported_oldest_first(comparison, with_rule, catalogue) -> None:
    better = with_rule("KEY-08", verdict=Verdict.SHOWN, counterexample=None)
    entries = (
        entry_of(better, catalogue, "2026-11-21T00:00Z", "one"),
        entry_of(comparison.runs[0], catalogue, "2026-11-22T00:00Z", "two"),
    )
    (run,) = page_data(attrs.evolve(comparison, entries=entries))["runs"]
    assert [(each["label"], each["moved"]) for each in run["trend"]] == [
        ("one", []),
        ("two", [["KEY-08", "shown", "violated"]]),
    ]
    assert [sum(each["counts"]) for each in run["trend"]] == [len(better.rules)] * 2


def test_a_rule_that_the_catalogue_does_not_have_is_reported_by_its_title(comparison) -> None:
    run = comparison.runs[0]
    strange = attrs.evolve(run.rules[0], id="NEW-01", title="Something new")
    other = attrs.evolve(run, rules=(*run.rules, strange))
    data = page_data(attrs.evolve(comparison, runs=(other, other)))
    assert rule(data, "NEW-01") == {
        "id": "NEW-01",
        "title": "Something new",
        "statement": "",
        "unknown": True,
    }


def test_only_our_style_and_script_may_run(comparison) -> None:
    """Each is named by its hash, and nothing else is allowed."""
    parts = Parts(page(comparison))
    (policy,) = [
        attributes["content"] or ""
        for attributes, _ in parts.of("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    (style,) = [text for _, text in parts.of("style")]
    (script,) = [text for attributes, text in parts.of("script") if "id" not in attributes]

    def named(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{named(style)}'",
        f"script-src 'sha256-{named(script)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]


HOSTILE = "</script><script>alert(1)</script><!--<script>\u2028\ud800"


def test_nothing_that_was_answered_ends_the_element_it_stands_in(comparison, conformance) -> None:
    run = attrs.evolve(
        conformance,
        problems=(HOSTILE,),
        subject=attrs.evolve(conformance.subject, name=HOSTILE),
    )
    text = page(attrs.evolve(comparison, runs=(run,)))
    assert len(Parts(text).of("script")) == 2
    assert values(text)["runs"][0]["problems"] == [HOSTILE]
    assert text.encode("utf-8")


def test_the_page_asks_no_network_for_anything(comparison) -> None:
    """Neither the page nor any address in it leads anywhere by itself."""
    text = page(comparison)
    assert not WEB.search(text.partition('id="values"')[0])
    for tag, attributes, _ in Parts(text).found:
        assert not {"src", "srcset", "action"} & attributes.keys(), (tag, attributes)
        if tag == "link":
            assert (attributes["href"] or "").startswith("data:")
    assert "url(" not in text.partition('id="values"')[0]
    assert "fetch(" not in text


def test_redacting_twice_takes_nothing_more(with_rule) -> None:
    """A report that is read is redacted again, wherever it was written."""
    said = f"{Path.home()}/x amqp://me:pw@h/q /etc/x/y.txt password=geheim"
    once = redact(with_rule("KEY-02", cause=said))
    assert redact(once) == once


def test_the_same_runs_make_the_same_page(comparison, tmp_path) -> None:
    write_page(comparison, tmp_path / "a" / "one.html")
    write_page(comparison, tmp_path / "two.html")
    assert (tmp_path / "a" / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_in_which_a_report_was_read_makes_no_difference(conformance, order) -> None:
    """Its maps have a different one in each process."""
    ended = [("not-applicable", 3), ("passed", 60), ("strange", 1), ("failed", 2), ("errored", 0)]
    run = attrs.evolve(conformance, scenarios=dict(ended[::order]))
    assert overview.scenario_words(run) == "60 passed, 2 failed, 3 not-applicable, 1 strange"
