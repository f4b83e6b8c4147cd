"""The matrix on a terminal is whole at 80 and 120 columns, and plain where there is none."""

import io
import re

import attrs
import pytest
from rich.console import Console

from busproof.history.conformance import Conformance, Counterexample, ExitCode, Verdict
from busproof.reports.overview import id_words
from busproof.reports.terminal import show

ESCAPE = "\x1b["
COLOUR = re.compile(r"\x1b\[[\d;]*3\d[;m]")


@pytest.fixture
def shown(catalogue):
    """What a run looks like on a console."""

    def text(conformance: Conformance, *, width: int = 80, verbose: bool = False, **kind) -> str:
        file = kind.pop("file", None) or io.StringIO()
        console = Console(width=width, file=file, **kind)
        show(conformance, catalogue, console, verbose=verbose)
        file.seek(0)
        return file.read()

    return text


def row(text: str, rule: str) -> list[str]:
    """The cells of a rule's first line."""
    line = next(line for line in text.splitlines() if re.match(rf"{rule} +\w", line))
    return re.split(r"\s{2,}", line)


@pytest.mark.parametrize("width", [80, 120])
def test_every_line_fits_and_no_id_or_verdict_is_cut(shown, conformance, width) -> None:
    text = shown(conformance, width=width, verbose=True)
    assert max(map(len, text.splitlines())) <= width
    assert all(f"\n{rule.id} " in text for rule in conformance.rules)
    symbols = {
        "KEY-08": "✗ violated",
        "LIFE-07": "○ not shown",
        "LIFE-08": "? inconclusive",
        "LIFE-09": "! errored",
    }
    for rule in conformance.rules:
        usual = "- not applicable" if rule.id.startswith("TXN") else "✓ shown"
        assert row(text, rule.id)[2] == symbols.get(rule.id, usual)


def test_a_row_has_the_count_of_events(shown, conformance) -> None:
    text = shown(conformance, width=120, verbose=True)
    assert ["KEY-02", "Same partition key, same partition", "✓ shown", "7"] == row(text, "KEY-02")


def test_a_cause_stands_below_its_rule(shown, with_rule) -> None:
    lines = shown(with_rule("LIFE-07", cause="because " * 30)).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("LIFE-07"))
    assert lines[at + 1].startswith("         ")
    assert lines[at + 1].lstrip().startswith("because because")
    assert lines[at + 2].endswith("...") or lines[at + 3].endswith("...")
    assert lines[at + 4].startswith("LIFE-08")


def test_verbose_shows_a_cause_in_full(shown, with_rule) -> None:
    text = shown(with_rule("LIFE-07", cause="because " * 30), verbose=True)
    assert text.count("because") == 30


def test_families_head_their_rules_with_a_count(shown, conformance) -> None:
    text = shown(conformance)
    life = [rule for rule in conformance.rules if rule.id.startswith("LIFE-")]
    assert re.search(rf"\nLIFE +Message life cycle +{len(life) - 3} of {len(life)} shown\n", text)
    assert re.search(r"\nTXN +Transactions +not applicable\n", text)


def test_family_of_which_nothing_arose_is_a_heading_alone(shown, conformance) -> None:
    """Unless every row is asked for, or one of its rules has another cause or was seen."""

    def unseen(rule, **other):
        life = rule.id.startswith("LIFE-")
        fields = {"verdict": Verdict.NOT_SHOWN, "events": 0, "cause": "never", **other}
        return attrs.evolve(rule, **fields) if life else rule

    alike = attrs.evolve(conformance, rules=tuple(map(unseen, conformance.rules)))
    text = shown(alike)
    assert re.search(r"\nLIFE +Message life cycle +0 of \d+ shown\n +never\n", text)
    assert "LIFE-07 " not in text.partition("Claimed")[0]
    assert "\nLIFE-07 " in shown(alike, verbose=True)
    for other in ({"cause": "late"}, {"events": 1}):
        seventh = (
            unseen(rule, **(other if rule.id == "LIFE-07" else {})) for rule in conformance.rules
        )
        assert "\nLIFE-07 " in shown(attrs.evolve(conformance, rules=tuple(seventh)))


def test_not_applicable_rules_are_condensed_by_cause(shown, conformance) -> None:
    text = shown(conformance)
    count = conformance.counted(Verdict.NOT_APPLICABLE)
    last = [rule.id for rule in conformance.rules if rule.id.startswith("TXN-")][-1]
    assert f"\nNot applicable ({count})\n  TXN-01 to {last} (capability: transactions)\n" in text
    assert "\nTXN-01" not in text


def test_a_clean_report_takes_at_most_40_lines(shown, conformance, catalogue) -> None:
    """With rules of every family; what does not apply is counted by the kind of its cause."""
    rule = conformance.rules[0]
    every = [attrs.evolve(rule, id=each.id, verdict=Verdict.SHOWN) for each in catalogue.rules]
    barred = {"verdict": Verdict.NOT_APPLICABLE, "cause": "reading: X=either"}
    every[0] = attrs.evolve(every[0], **barred)
    clean = attrs.evolve(conformance, rules=tuple(every), problems=(), exit_code=ExitCode.OK)
    text = shown(clean)
    assert len(text.splitlines()) <= 40
    assert "\nNot applicable: 1 by reading (-v names them)\n" in text
    assert len(shown(clean, verbose=True).splitlines()) > len(every)


def test_the_summary_line_has_every_count(shown, conformance) -> None:
    shown_rules = conformance.counted(Verdict.SHOWN)
    not_tried = conformance.counted(Verdict.NOT_APPLICABLE)
    assert shown(conformance, width=120).splitlines()[-2:] == [
        f"{shown_rules} of {shown_rules + 4} applicable rules shown, 1 violated, 1 not shown, "
        f"1 inconclusive, 1 errored, {not_tried} not applicable",
        "Exit code 1: a rule was violated.",
    ]


def test_a_claim_that_was_not_shown_has_its_own_block(shown, conformance) -> None:
    block = (
        "\n\nClaimed, but not shown\n"
        "  peek: LIFE-07 not shown\n"
        "  peek-lock: LIFE-08 inconclusive\n\n"
    )
    assert block in shown(conformance)


def test_a_violated_rule_is_no_shown_claim_either(shown, conformance) -> None:
    rules = tuple(
        attrs.evolve(rule, verdict=Verdict.VIOLATED) if rule.id == "KEY-11" else rule
        for rule in conformance.rules
    )
    text = shown(attrs.evolve(conformance, rules=rules))
    assert "  duplicate-detection: KEY-11 violated\n" in text


def test_rules_of_a_claim_are_reported_in_runs_by_verdict(shown, conformance) -> None:
    rules = tuple(
        attrs.evolve(rule, verdict=Verdict.NOT_SHOWN) if rule.id.startswith("TXN-0") else rule
        for rule in conformance.rules
    )
    capabilities = (*conformance.subject.capabilities, "transactions")
    subject = attrs.evolve(conformance.subject, capabilities=capabilities)
    text = shown(attrs.evolve(conformance, rules=rules, subject=subject))
    assert "  transactions: TXN-01 to TXN-09 not shown\n" in text


def test_a_violation_shows_it_all(shown, conformance, catalogue) -> None:
    rule = catalogue.rule("KEY-08")
    text = shown(conformance, width=200)
    lines = text[text.index("KEY-08 violated") : text.rindex("\n\n")].splitlines()
    assert lines == [
        f"KEY-08 violated: {rule.title}",
        f"  {rule.statement}",
        "  Documented: using-a-partition-key "
        "(de-2021-04, fr-2016-09, pt-undated, es-2020-06, cs-2020-12, en-2026-02)",
        "  Cause: 1 counterexample",
        "  Scenario: Keys that differ",
        "  1. Create queue q: partitioned -> Done",
        "  2. Send to q: body 'm1', SessionId 'a' -> Done (partition 3)",
        "  3. Receive from q (peek-lock) -> "
        "Received 'm1', SessionId 'a' (partition 3, sequence number 5, lock t1)",
        "  4. Send to q: body 'm2', SessionId 'a', PartitionKey 'b' -> Refused: other (odd)"
        "  <- breaks KEY-08",
        "  Seen: Refused: other",
        "  Allowed: Refused: invalid-operation",
    ]


def test_a_violation_of_a_distilled_situation_shows_its_sentence(shown, with_rule) -> None:
    told = "Wrong if it is refused."
    example = Counterexample(scenario="s", events=(), seen="x", allowed=(), about=told)
    text = shown(with_rule("KEY-08", verdict=Verdict.VIOLATED, counterexample=example))
    assert f"  Scenario: s\n  About: {told}\n" in text


def test_many_allowed_answers_are_counted_unless_verbose(shown, with_rule) -> None:
    allowed = tuple(f"Answer {number}" for number in range(20))
    example = Counterexample(scenario="", events=(), seen="x", allowed=allowed)
    run = with_rule("KEY-08", counterexample=example)
    assert "Answer 7\n           12 other answers" in shown(run)
    assert "Answer 19\n" in shown(run, verbose=True)


def test_nothing_comparable_allowed_is_said(shown, with_rule) -> None:
    example = Counterexample(scenario="", events=(), seen="x", allowed=())
    assert "  Allowed: nothing comparable\n" in shown(with_rule("KEY-08", counterexample=example))


def test_without_a_terminal_it_is_plain_text(shown, conformance) -> None:
    text = shown(conformance)
    assert ESCAPE not in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_on_a_terminal_it_has_colours(shown, conformance, monkeypatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert COLOUR.search(shown(conformance, force_terminal=True))


def test_a_console_that_knows_only_ascii_gets_only_that(shown, with_rule) -> None:
    run = with_rule("LIFE-07", cause="ça n'est pas arrivé")
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    text = shown(run, file=file)
    assert text.isascii()
    assert row(text, "KEY-08")[2] == "x violated"


def test_markup_and_escape_codes_stay_text(shown, with_rule, conformance) -> None:
    hostile = "[bold red]x[/bold red] :smile: \x1b[31m"
    example = Counterexample(scenario=hostile, events=(), seen=hostile, allowed=(hostile,))
    run = attrs.evolve(
        with_rule("KEY-08", cause=hostile, title=hostile, counterexample=example),
        problems=(hostile,),
        subject=attrs.evolve(conformance.subject, name=hostile),
    )
    text = shown(run, width=200)
    assert ESCAPE not in text
    assert text.count(r"[bold red]x[/bold red] :smile: \x1b[31m") == 9


def test_a_rule_of_another_catalogue_is_shown_too(shown, with_rule) -> None:
    text = shown(with_rule("KEY-08", id="OLD-01", title="Gone"))
    assert re.search(r"\nOLD +rules that this catalogue does not have +0 of 1 shown\n", text)
    assert "\nOLD-01 violated: Gone\n  Cause: 1 counterexample\n" in text


def test_an_empty_run_can_be_shown(shown, subject) -> None:
    text = shown(Conformance(subject=subject, oracle="client", rules=()), width=120)
    assert text.splitlines()[-2].startswith("0 of 0 applicable rules shown, 0 violated")


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([], ""),
        (["KEY-01"], "KEY-01"),
        (["KEY-01", "KEY-02"], "KEY-01, KEY-02"),
        (["KEY-01", "KEY-02", "KEY-03", "KEY-05"], "KEY-01 to KEY-03, KEY-05"),
        (["KEY-09", "TXN-10", "TXN-11", "TXN-12"], "KEY-09, TXN-10 to TXN-12"),
        (["odd", "KEY-x", "KEY-2"], "odd, KEY-x, KEY-2"),
    ],
)
def test_ids_in_a_row_are_reported_by_the_first_and_the_last(ids, words) -> None:
    assert words == id_words(ids)
