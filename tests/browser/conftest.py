"""A real Chromium, and pages of known runs in it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import attrs
import pytest
from node_packages import installed
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from busproof import spec
from busproof import vocabulary as v
from busproof.cli.environment import chromium
from busproof.cli.evidence import evidence
from busproof.history.conformance import (
    Conformance,
    Counterexample,
    ExitCode,
    RuleVerdict,
    Subject,
    Verdict,
)
from busproof.reports.page import write_page
from busproof.reports.page_data import Comparison
from busproof.reports.printed import Fate
from busproof.reports.trends import entry_of

PATIENCE = 60_000
"""Milliseconds after which a page that hangs is given up."""
expect.set_options(timeout=PATIENCE)

HOSTILE = "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of a module, not of the session: while it is open, no other test could use asyncio."""
    found = chromium()
    assert found is not None, "mark the test with needs('chromium')"
    # Its sandbox refuses to be started by root, as in a container.
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=options)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core."""
    folder = installed(Path(__file__).parent)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def catalogue() -> spec.Catalogue:
    return spec.load()


def subject(name: str, **fields: object) -> Subject:
    defaults = {"edition": "de-2021-04", "tier": "standard", "partitions": 16, "language": "Go"}
    return Subject(name=name, version="1.0", adapter="acme:make", **defaults | fields)


def judged(catalogue: spec.Catalogue, about: Subject, special: dict[str, RuleVerdict]):
    """A run in which every rule was shown but these, and transactions did not apply."""
    rules = []
    for rule in catalogue.rules:
        if rule.shown_by == "never":
            continue
        verdict = RuleVerdict(
            id=rule.id, title=rule.title, verdict=Verdict.SHOWN, oracle="strict", events=1200
        )
        if rule.family == "TXN":
            cause = "capability: transactions"
            verdict = attrs.evolve(verdict, verdict=Verdict.NOT_APPLICABLE, events=0, cause=cause)
        rules.append(special.get(rule.id, verdict))
    return Conformance(
        catalogue=catalogue.version,
        subject=about,
        oracle="strict",
        rules=tuple(rules),
        scenarios={"passed": 60},
        events=4321,
    )


def verdict(catalogue: spec.Catalogue, rule: str, name: Verdict, **fields) -> RuleVerdict:
    title = catalogue.rule(rule).title
    return RuleVerdict(id=rule, title=title, verdict=name, oracle="strict", **fields)


@pytest.fixture(scope="session")
def runs(catalogue) -> tuple[Conformance, ...]:
    """A sound bus; one with a violation and what is worse than shown; one of another edition."""
    example = Counterexample(
        scenario="Keys that differ",
        events=(
            v.Event(command=v.CreateQueue(queue="q"), outcome=v.Done()),
            v.Event(
                command=v.Send(queue="q", message=v.Message(body=HOSTILE, session_id="a")),
                outcome=v.Done(),
            ),
        ),
        seen=f"Done {HOSTILE}",
        allowed=("Refused: invalid-operation",),
    )
    special = (
        verdict(
            catalogue,
            "KEY-08",
            Verdict.VIOLATED,
            cause="1 counterexample",
            scenarios=("Keys that differ",),
            counterexample=example,
        ),
        verdict(catalogue, "SESS-01", Verdict.NOT_SHOWN, cause="the situation never arose"),
        verdict(catalogue, "LIFE-08", Verdict.INCONCLUSIVE, cause="more than 512 states"),
        verdict(catalogue, "LIFE-09", Verdict.ERRORED, cause=HOSTILE),
    )
    broken = judged(
        catalogue,
        subject("Broken", capabilities=("sessions", "peek-lock")),
        {each.id: each for each in special},
    )
    return (
        judged(catalogue, subject("Sound"), {}),
        attrs.evolve(broken, exit_code=ExitCode.VIOLATION, problems=(HOSTILE,)),
        judged(catalogue, subject("Old", edition="fr-2016-09", tier="basic"), {}),
    )


@pytest.fixture(scope="session")
def comparison(runs, catalogue) -> Comparison:
    better = attrs.evolve(runs[1], rules=runs[0].rules)
    shown = evidence(catalogue.rules)
    shown["KEY-08"]["generated"] = {"noticed": 3, "of": 4}
    return Comparison(
        runs=runs,
        catalogue=catalogue,
        evidence=shown,
        fates={"mismatch-accepted": Fate(id="mismatch-accepted", rule="KEY-08", result="killed")},
        entries=(
            entry_of(better, catalogue, "2026-11-20T04:00Z", "a1"),
            entry_of(runs[1], catalogue, "2026-11-21T04:00Z", "b2"),
        ),
    )


@pytest.fixture(scope="session")
def address(comparison, tmp_path_factory) -> str:
    """Where the page of these runs is, on the disk."""
    file = tmp_path_factory.mktemp("page") / "page.html"
    write_page(comparison, file)
    return file.as_uri()


@attrs.define
class Visit:
    """A page that was opened, and what went wrong while it was."""

    page: Page
    said: list[str] = attrs.field(factory=list)
    asked: list[str] = attrs.field(factory=list)

    @property
    def ids(self) -> Locator:
        """Where the ids of the rules that are seen stand."""
        return self.page.locator("tbody tr:visible > th > a.id")

    def rows(self) -> list[str]:
        """The ids of the rules that are seen now; after a click on a link, wait for them first."""
        return self.ids.all_inner_texts()


Open = Callable[..., Visit]


@contextmanager
def visiting(browser: Browser, address: str) -> Iterator[Open]:
    """Open the page; in the end it must have been silent and have asked for nothing else."""
    opened: list[Visit] = []

    def to(fragment: str = "", *, width: int = 1600, scheme: str = "light") -> Visit:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        seen = Visit(context.new_page())
        opened.append(seen)
        seen.page.on("console", lambda message: seen.said.append(message.text))
        seen.page.on("pageerror", lambda error: seen.said.append(str(error)))
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.goto(f"{address}{fragment}")
        seen.page.wait_for_selector("html[data-ready]", state="attached", timeout=PATIENCE)
        return seen

    yield to
    for each in opened:
        assert [] == each.said
        assert [] == [url for url in each.asked if not url.startswith((address, "data:"))]
        assert each.page.evaluate("window.hacked") is None
        each.page.context.close()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Open]:
    """Open the page for one test."""
    with visiting(browser, address) as to:
        yield to


@pytest.fixture(scope="module")
def look(browser: Browser, address: str) -> Iterator[Open]:
    """Open the page once for all tests that only look at it: it takes a second to draw."""
    with visiting(browser, address) as to:
        yield cache(to)
