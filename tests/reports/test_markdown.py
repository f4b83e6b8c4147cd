"""The Markdown page says it all at a glance, and nothing in it is taken for Markdown by mistake."""

import attrs
import pytest
from markdown_it import MarkdownIt

from busproof import vocabulary as v
from busproof.history.conformance import Conformance, Counterexample, ExitCode, Verdict
from busproof.reports.markdown import page

HOSTILE = "a | b `c` *d* _e_ [f](g) <img src=x> # h @i ~~j~~ \\ & \x1b[31m\n\n- k\n| l |"


@pytest.fixture
def lines(conformance, catalogue) -> list[str]:
    return page(conformance, catalogue).splitlines()


def part(lines: list[str], heading: str) -> list[str]:
    """The lines under a heading, up to the next one of any level."""
    start = lines.index(heading) + 1
    end = next((at for at in range(start, len(lines)) if lines[at].startswith("#")), len(lines))
    return [line for line in lines[start:end] if line]


def rendered(text: str) -> str:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


def test_the_first_line_counts_the_rules_shown(lines, conformance) -> None:
    shown = conformance.counted(Verdict.SHOWN)
    assert lines[0] == f"# ❌ {shown} of {shown + 4} applicable rules shown"


def test_every_other_verdict_stands_beside_it(lines, conformance) -> None:
    not_tried = conformance.counted(Verdict.NOT_APPLICABLE)
    assert lines[2] == (
        "❌ 1 violated · ⚠️ 1 not shown · ❔ 1 inconclusive · 💥 1 errored · "
        f"⚪ {not_tried} not applicable"
    )
    assert lines[4] == "Exit code 1: a rule was violated."


@pytest.mark.parametrize(
    ("code", "mark"), [(ExitCode.OK, "✅"), (ExitCode.INCOMPLETE, "⚠️"), (ExitCode.STALE, "⚠️")]
)
def test_only_a_run_that_ends_well_is_ticked(conformance, catalogue, code, mark) -> None:
    text = page(attrs.evolve(conformance, exit_code=code), catalogue)
    assert text.startswith(f"# {mark} ")


def test_the_head_shows_who_was_held_to_what(lines) -> None:
    assert "| implementation | Acme Bus 2.1 (Go) |" in lines
    assert "| held to | edition de-2021-04, tier standard, 16 partitions |" in lines
    assert "| time | real clock, slack 2 s |" in lines
    assert "| scenarios | 60 passed, 1 failed |" in lines


def test_only_readings_that_are_not_the_default_are_reported(lines, conformance, catalogue) -> None:
    assert "| readings | KEY-ORDER=sessions-only |" in lines
    readings = {ambiguity.id: ambiguity.default for ambiguity in catalogue.ambiguities}
    subject = attrs.evolve(conformance.subject, readings=readings)
    text = page(attrs.evolve(conformance, subject=subject), catalogue)
    assert "| readings | the default of every ambiguity |" in text


def test_each_family_has_a_table_with_all_its_rules(lines, conformance) -> None:
    rows = part(lines, "## TXN: Transactions")
    assert rows[0] == "0 of 0 applicable rules shown."
    assert len(rows) == 3 + sum(rule.id.startswith("TXN-") for rule in conformance.rules)
    assert (
        "| TXN&#8209;01 | A keyed message is accepted in a transaction "
        "| ⚪&nbsp;not&nbsp;applicable | 0 | capability: transactions |"
    ) in rows


def test_a_claim_that_was_not_shown_stands_out(lines) -> None:
    assert [
        "- **peek**: LIFE-07 not shown",
        "- **peek-lock**: LIFE-08 inconclusive",
    ] == part(lines, "## ⚠️ Claimed, but not shown")


def test_problems_are_listed(lines) -> None:
    assert ["- the history's last line is cut off"] == part(lines, "## Problems")


def test_a_violation_shows_rule_citations_run_and_what_was_allowed(lines, catalogue) -> None:
    rule = catalogue.rule("KEY-08")
    section = part(lines, f"### KEY-08: {rule.title}")
    assert section == [
        f"> {rule.statement}",
        "Stated (documented) in:",
        "- using-a-partition-key: "
        "`de-2021-04`, `fr-2016-09`, `pt-undated`, `es-2020-06`, `cs-2020-12`, "
        "`en-2026-02`",
        "Cause: 1 counterexample",
        "Scenario: Keys that differ",
        "1. `Create queue q: partitioned` → `Done`",
        "2. `Send to q: body 'm1', SessionId 'a'` → `Done (partition 3)`",
        "3. `Receive from q (peek-lock)` → "
        "`Received 'm1', SessionId 'a' (partition 3, sequence number 5, lock t1)`",
        "4. `Send to q: body 'm2', SessionId 'a', PartitionKey 'b'` → `Refused: other (odd)`",
        "**Seen:** `Refused: other`",
        "**Allowed:**",
        "- `Refused: invalid-operation`",
    ]


def test_a_run_without_violations_has_no_such_part(with_rule, catalogue) -> None:
    fine = with_rule("KEY-08", verdict=Verdict.SHOWN, cause="", counterexample=None)
    assert "Violations" not in page(fine, catalogue)


def test_a_violation_without_counterexample_is_reported_by_its_cause(with_rule, catalogue) -> None:
    text = page(with_rule("KEY-08", counterexample=None, cause="seen twice"), catalogue)
    assert "\nCause: seen twice\n" in text


def test_a_rule_of_another_catalogue_is_reported_without_its_sentence(with_rule, catalogue) -> None:
    lines = page(with_rule("KEY-08", id="OLD-01", title="Gone"), catalogue).splitlines()
    assert "## OLD: rules that this catalogue does not have" in lines
    assert part(lines, "### OLD-01: Gone")[0] == "Cause: 1 counterexample"


def test_hostile_text_stays_text(with_rule, catalogue) -> None:
    event = v.Event(
        client="`*c*`", command=v.Send(queue="`", message=v.Message(body=HOSTILE)), outcome=v.Done()
    )
    example = Counterexample(
        scenario=HOSTILE, events=(event, v.Event(**_same(event))), seen=HOSTILE, allowed=(HOSTILE,)
    )
    plain = rendered(page(with_rule("KEY-08", cause="x", counterexample=None), catalogue))
    page_html = rendered(
        page(with_rule("KEY-08", cause=HOSTILE, counterexample=example), catalogue)
    )
    for tag in ("<img", "<em>", "<s>", "<a "):
        assert tag not in page_html
    for tag in ("<tr>", "<td", "<table>", "<h1>", "<h2>"):
        assert plain.count(tag) == page_html.count(tag)
    assert "\x1b" not in page_html


def _same(event: v.Event) -> dict:
    return {"client": "c1", "command": event.command, "outcome": event.outcome}


def test_an_empty_run_is_a_page_too(subject, catalogue) -> None:
    empty = Conformance(subject=subject, oracle="client", rules=())
    assert page(empty, catalogue).startswith("# ✅ 0 of 0 applicable rules shown\n")
