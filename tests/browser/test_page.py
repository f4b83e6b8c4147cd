"""The page in a browser: counts, filters, a rule's view, keyboard, readers, sizes, colours."""

import os
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from busproof.history.conformance import Verdict
from busproof.reports import overview
from busproof.reports.levels import levels_found

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
NONE = "\N{EN DASH}"


def test_each_implementation_has_the_counts_of_its_report(look, runs, catalogue) -> None:
    page = look().page
    for run in runs:
        card = page.locator(".card", has=page.get_by_role("heading", name=run.subject.name))
        counts = {verdict: run.counted(verdict) for verdict in Verdict}
        applicable = overview.applicable(run.rules)
        shown = counts[Verdict.SHOWN]
        assert f"{shown} of {applicable}" == card.locator(".figure strong").inner_text()
        expect(card.locator(".figure")).to_contain_text("applicable rules shown")
        assert "%" not in card.inner_text()
        levels = dict(
            zip(
                card.locator(".levels dt").all_inner_texts(),
                card.locator(".levels dd b").all_inner_texts(),
                strict=True,
            )
        )
        found = levels_found(run, catalogue)
        assert {each.level.title: each.state.value for each in found} == levels
        shown = dict(
            reversed(line.split(maxsplit=1))
            for line in card.locator(".legend li").all_inner_texts()
        )
        for verdict, count in counts.items():
            assert str(count) == shown.get(verdict.value, "0"), verdict
        expect(card).to_contain_text(overview.conclusion(run))
        expect(card).to_contain_text(f"catalogue {run.catalogue}")


def test_claimed_but_unshown_capabilities_stand_out(visit) -> None:
    page = visit().page
    (alert,) = page.locator(".alert:visible").all()
    expect(alert).to_contain_text("Claimed, but not shown: 2 capabilities")
    expect(alert).to_contain_text("sessions, peek-lock")
    alert.get_by_text("Which rules").click()
    alert.get_by_role("link", name="SESS-01").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("SESS-01")


def test_all_rules_are_listed_with_the_verdicts_of_the_reports(look, catalogue, runs) -> None:
    seen = look()
    assert seen.rows() == [rule.id for rule in catalogue.rules]
    listed = {
        name: verdicts
        for name, *verdicts in seen.page.evaluate(
            "[...document.querySelectorAll('.matrix tbody tr:not(.head)')].map((row) =>"
            " [row.querySelector('th').textContent,"
            "  ...[...row.querySelectorAll('.mark')].map((mark) => mark.textContent)])"
        )
    }
    judged = [{rule.id: rule.verdict.value for rule in run.rules} for run in runs]
    assert listed == {
        rule.id: [verdicts.get(rule.id, NONE) for verdicts in judged] for rule in catalogue.rules
    }


def choose(seen, label: str, value: str) -> None:
    seen.page.get_by_label(label, exact=True).select_option(value)


def status_line(seen) -> str:
    return seen.page.get_by_role("status").inner_text()


def test_a_family_can_be_chosen(visit, catalogue) -> None:
    seen = visit()
    choose(seen, "Family", "SESS")
    expected = [rule.id for rule in catalogue.rules if rule.family == "SESS"]
    assert seen.rows() == expected
    shown = [rule for rule in catalogue.rules if rule.shown_by != "never"]
    told_of = [rule.id for rule in shown if rule.family == "SESS"]
    beyond = len(expected) - len(told_of)
    more = f", and {beyond} that no run can show" if beyond else ""
    assert status_line(seen) == (
        f"{len(told_of)} of {len(shown)} rules{more}, 3 of 3 implementations"
    )


def test_rules_are_counted_as_a_run_counts_them(look, runs) -> None:
    seen = look()
    assert f"{len(runs[0].rules)} rules, each cited" in seen.page.locator("#about").inner_text()
    assert "that no run can show" in status_line(seen)


def test_an_edition_and_a_tier_choose_among_rules_and_runs(visit, catalogue) -> None:
    seen = visit()
    for label, value, columns in (
        ("Edition", "fr-2016-09", ["Old 1.0"]),
        ("Edition", "es-2020-06", []),
        ("Tier", "basic", ["Old 1.0"]),
        ("Tier", "standard", ["Sound 1.0", "Broken 1.0"]),
    ):
        choose(seen, label, value)
        assert seen.rows() == [
            rule.id for rule in catalogue.rules if value in (*rule.editions, *rule.tiers)
        ]
        assert seen.page.locator("thead th[data-run]:visible").all_inner_texts() == columns
        assert (f"none of them was held to {value}" in status_line(seen)) is (not columns)
        seen.page.get_by_label(label, exact=True).select_option(index=0)


def test_a_verdict_can_be_chosen(visit) -> None:
    seen = visit()
    chosen = {"violated": ["KEY-08"], "errored": ["LIFE-09"], "known failure": []}
    for verdict, expected in chosen.items():
        choose(seen, "Verdict", verdict)
        assert seen.rows() == expected
        nothing = seen.page.get_by_text("No rule fits these filters")
        assert nothing.is_visible() is (not expected)


def test_an_implementation_can_be_chosen_with_its_verdict(visit) -> None:
    seen = visit()
    card = seen.page.locator(".card", has=seen.page.get_by_role("heading", name="Broken"))
    card.get_by_role("link", name="1 inconclusive").click()
    # The page hears of a new address a little after the click.
    expect(seen.ids).to_have_text(["LIFE-08"])
    assert seen.page.locator("thead th[data-run]:visible").all_inner_texts() == ["Broken 1.0"]


def test_verdicts_on_others_do_not_count(visit) -> None:
    assert visit("#run=Sound+1.0&verdict=violated").rows() == []


def test_only_rules_that_differ_can_be_chosen(visit) -> None:
    seen = visit("#tier=standard")
    seen.page.get_by_label("Only where they differ").check()
    assert sorted(seen.rows()) == ["KEY-08", "LIFE-08", "LIFE-09", "SESS-01"]


def test_words_are_looked_for_in_ids_titles_and_statements(visit, catalogue) -> None:
    seen = visit()
    seen.page.get_by_label("Search").fill("Session KEY-")
    expected = [
        rule.id
        for rule in catalogue.rules
        if "session" in f"{rule.title} {rule.statement}".lower() and "KEY-" in rule.id
    ]
    assert expected
    assert set(expected) <= set(seen.rows())
    seen.page.get_by_label("Search").fill("no rule speaks of zeppelins")
    assert seen.rows() == []
    seen.page.get_by_role("button", name="Show all").click()
    shown = sum(rule.shown_by != "never" for rule in catalogue.rules)
    expect(seen.page.get_by_role("status")).to_contain_text(f"{shown} of {shown} rules")


def test_the_address_keeps_what_was_chosen(visit) -> None:
    """So that it can be sent to somebody, with a rule looked at in between."""
    seen = visit()
    choose(seen, "Verdict", "violated")
    choose(seen, "Family", "KEY")
    fragment = seen.page.evaluate("location.hash.slice(1)")
    assert parse_qs(fragment) == {"verdict": ["violated"], "family": ["KEY"]}
    seen.page.get_by_role("link", name="KEY-08", exact=True).click()
    seen.page.get_by_role("link", name="All rules").click()
    expect(seen.ids).to_have_text(["KEY-08"])
    again = visit(f"#{fragment}")
    assert again.rows() == ["KEY-08"]
    assert again.page.get_by_label("Verdict", exact=True).input_value() == "violated"


def test_a_rule_shows_all_about_itself(look, catalogue) -> None:
    page = look("#KEY-08").page
    rule = catalogue.rule("KEY-08")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"KEY-08 {rule.title}")
    assert page.title().startswith(f"KEY-08 {rule.title}")
    expect(page.locator(".statement")).to_have_text(rule.statement)
    cited = page.get_by_role("region", name="Where KEY-08 is stated").locator("tbody tr")
    assert cited.count() == len(rule.citations)
    expect(cited.first).to_contain_text(rule.citations[0].source)
    expect(cited.first).to_contain_text(f"#{rule.citations[0].anchor}")
    shown = page.locator(".part", has=page.get_by_role("heading", name="What shows it"))
    for words in ("TLA+ operators", ".feature"):
        expect(shown).to_contain_text(words)
    tested = page.locator(".part", has=page.get_by_role("heading", name="Would the tests notice?"))
    expect(tested).to_contain_text("1 of 1 seeded fault noticed by the tests of this rule")
    expect(tested).to_contain_text("mismatch-accepted")
    expect(tested).to_contain_text("Of 4 generated faults in a sample that break this rule")


def test_citations_link_to_the_documents_of_today(look) -> None:
    """Of the Portuguese edition the article, whose headings have no names to go to."""
    cited = look("#KEY-08").page.get_by_role("region", name="Where KEY-08 is stated")
    article = "azure/service-bus-messaging/service-bus-partitioning"
    for locale, end in (("de-de", "#using-a-partition-key"), ("pt-pt", "")):
        address = f"https://learn.microsoft.com/{locale}/{article}{end}"
        expect(cited.locator(f'a[href="{address}"]')).to_have_text("#using-a-partition-key")


def test_a_rule_shows_its_readings(visit, catalogue) -> None:
    page = visit("#KEY-14").page
    left_open = page.locator(".reading", has=page.get_by_role("heading", name="ROUND-ROBIN"))
    expect(left_open).to_contain_text(catalogue.ambiguity("ROUND-ROBIN").question)
    assert left_open.locator("dt").all_inner_texts() == ["anydefault", "strict"]


def test_the_worst_verdict_comes_first_with_its_counterexample(look) -> None:
    page = look("#KEY-08").page
    first = page.locator(".outcome").first
    expect(first.get_by_role("heading", level=3)).to_have_text("Broken 1.0 violated")
    expect(first).to_contain_text("broken in 1 scenario, strict oracle")
    lines = first.locator("pre").inner_text().splitlines()
    assert lines[:3] == [
        "@KEY-08",
        "Scenario: What broke KEY-08",
        '  When c1 asks: Create queue, queue "q"',
    ]
    assert "window.hacked=1</script>" in lines[3]
    expect(first).to_contain_text("Refused: invalid-operation")
    assert first.locator(".story li").count() == 2
    others = page.locator(".outcome h3").all_inner_texts()
    assert [each.split() for each in others[1:]] == [
        ["Sound", "1.0", "shown"],
        ["Old", "1.0", "shown"],
    ]


def test_what_broke_a_rule_is_marked_and_nothing_reads_like_a_pass(look) -> None:
    """The breaking step, Seen beside Allowed, why it matters, and a line that did not hold."""
    page = look("#KEY-08").page
    first = page.locator(".outcome").first
    expect(first.locator(".story li").last).to_contain_text("breaks KEY-08")
    expect(first.locator(".story li.breaking")).to_have_count(1)
    expect(first).to_contain_text("Why it matters: Messages that belong together")
    seen, allowed = (
        first.locator(f".beside .{each}").bounding_box() for each in ("came", "allowed")
    )
    assert seen["y"] == allowed["y"]
    assert seen["x"] < allowed["x"]
    scenario = first.locator("pre").first.inner_text()
    assert "✗ the answer breaks KEY-08" in scenario
    assert scenario.rstrip().endswith("Then every answer was allowed ✗ it was not")


def test_counts_of_a_rule_are_those_of_the_report(visit) -> None:
    page = visit("#KEY-02").page
    expect(page.locator(".outcome").first).to_contain_text("decided 1,200 events, in 0 scenarios")
    page = visit("#TXN-01").page
    expect(page.locator(".outcome").first).to_contain_text("capability: transactions")


def test_a_scenario_is_copied(visit) -> None:
    seen = visit("#KEY-08")
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    seen.page.get_by_role("button", name="Copy").click()
    expect(seen.page.get_by_role("button", name="Copied")).to_be_visible()
    copied = seen.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("@KEY-08\nScenario: What broke KEY-08\n  When c1 asks: ")


def test_changed_verdicts_are_listed_run_by_run(visit) -> None:
    page = visit().page
    card = page.locator(".card", has=page.get_by_role("heading", name="Broken"))
    expect(card.locator("figcaption")).to_have_text(
        "2 runs since 2026-11-20; 4 rules moved in the last one"
    )
    card.get_by_text("Run by run").click()
    newest = card.get_by_role("row").nth(1)
    expect(newest).to_contain_text("KEY-08 shown → violated")
    expect(newest).to_contain_text("b2")
    assert page.locator("svg.trend").count() == 1


def test_a_keyboard_is_enough(visit) -> None:
    """Over the cards to the rules, into a rule, on to the next, and back to where one was."""
    seen = visit()
    page = seen.page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the rules")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type("KEY-0")
    link = page.get_by_role("link", name="KEY-02", exact=True)
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.get_by_role("link", name="KEY-03 →").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("KEY-03")
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="KEY-03", exact=True)).to_be_focused()
    assert page.get_by_label("Search").input_value() == "KEY-0"


LOOKS = {"#family=KEY": (1600, "dark"), "#KEY-08": (360, "light")}
"""How the gate opens the list and the view of a rule; at full size each is opened in both ways."""


@pytest.mark.parametrize("fragment", LOOKS)
@pytest.mark.parametrize("look", LOOKS.values() if FULL else [None])
def test_screen_readers_find_nothing_serious(visit, axe, fragment, look) -> None:
    width, scheme = look or LOOKS[fragment]
    page = visit(fragment, width=width, scheme=scheme).page
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert [] == [
        (each["id"], each["impact"], [node["html"][:160] for node in each["nodes"][:3]])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical", "moderate")
    ]


@pytest.mark.parametrize("fragment", ["", "#KEY-08"])
def test_nothing_is_wider_than_the_window(visit, fragment) -> None:
    page = visit(fragment, width=360).page
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    for width in (360, 768, 1600):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_narrow_window_has_one_rule_below_the_other(visit) -> None:
    page = visit("#family=KEY", width=360).page
    boxes = [page.locator("tbody tr:visible").nth(1).locator("td").nth(at) for at in (1, 2)]
    for width, stacked in ((360, True), (1600, False)):
        page.set_viewport_size({"width": width, "height": 900})
        one, other = [box.bounding_box() for box in boxes]
        assert stacked is (one["x"] == other["x"] and one["y"] < other["y"])


def test_light_and_dark_are_as_the_reader_set_them(visit) -> None:
    def ground(scheme: str) -> int:
        page = visit(scheme=scheme).page
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(","))

    assert ground("dark") < 3 * 64 < 3 * 192 < ground("light")


def test_an_address_that_asks_for_nothing_known_shows_the_list(visit) -> None:
    page = visit("#%E0%A4%A").page
    rules = page.get_by_role("heading", name="Rules", exact=True)
    expect(rules).to_be_visible()
    for fragment in ("#NO-99", "#family=NONE", "#differ"):
        page.evaluate("location.hash = '#KEY-08'")
        expect(page.get_by_role("heading", level=1)).to_contain_text("KEY-08")
        page.evaluate(f"location.hash = '{fragment}'")
        expect(rules).to_be_visible()
