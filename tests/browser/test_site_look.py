"""The documents' site in a real Chromium: everybody can read it, and nothing is beyond the edge."""

import functools
import os
import shutil
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.needs("node"), pytest.mark.needs("chromium")]

ROOT = Path(__file__).parent.parent.parent
FULL = os.environ.get("BUSPROOF_SIZE") == "full"
PAGES = ("index.html", "results.html", "reference/rules/KEY.html")
"""The first one, one with diagrams and the widest table, one with citations."""
GRAVE = {"serious", "critical"}


def pages(site: Path) -> list[str]:
    """Every page at full size, those that differ most at the gate."""
    found = [str(path.relative_to(site)) for path in sorted(site.rglob("*.html"))]
    return found if FULL else [*PAGES]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Page]:
    """A page; it must ask for nothing beyond this machine."""
    context = browser.new_context(reduced_motion="reduce")
    asked: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    yield page
    here = ("file:", "data:", "blob:", "http://127.0.0.1:")
    assert [] == [url for url in asked if not url.startswith(here)]
    context.close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The address of a server of the site: its page for what is not found is made for a root."""
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_site_has_no_serious_axe_finding(
    site: Path, served: str, opened: Page, axe: str, width: int, scheme: str
) -> None:
    opened.set_viewport_size({"width": width, "height": 900})
    opened.emulate_media(color_scheme=scheme)
    wrong = []
    for name in pages(site):
        opened.goto(f"{served}/{name}")
        opened.wait_for_load_state("load")
        opened.evaluate(axe)
        violations = opened.evaluate("axe.run().then(found => found.violations)")
        wrong += [
            f"{name}: {each['id']}: {each['nodes'][0]['html'][:160]} ({len(each['nodes'])})"
            for each in violations
            if each["impact"] in GRAVE
        ]
        if opened.evaluate("document.documentElement.scrollWidth") > width:
            wrong.append(f"{name}: is wider than the window")
    assert [] == wrong


def test_diagrams_of_the_site_are_drawn_offline(site: Path, opened: Page) -> None:
    opened.set_viewport_size({"width": 1600, "height": 900})
    opened.goto((site / "results.html").as_uri())
    opened.wait_for_function("document.querySelectorAll('div.mermaid').length === 4")
    assert 0 == opened.locator("pre.mermaid").count()


def test_axe_would_find_something(site: Path, opened: Page, axe: str, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    page = broken / "faq.html"
    page.write_text(page.read_text().replace("<body", '<body style="--md-typeset-color: #ddd"'))
    opened.goto(page.as_uri())
    opened.evaluate(axe)
    found = opened.evaluate("axe.run().then(found => found.violations.map(v => v.id))")
    assert "color-contrast" in found
