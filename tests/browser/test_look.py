"""The page of a broker in a real Chromium: what it shows, live, and what a click does."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from embedded_clients import client, send
from playwright.sync_api import Browser, Page, expect
from work import PATIENCE

from busproof.broker.embedding import Embedded, embedded

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror='window.hacked=1'>"
BODIES = ["x" * 4000] * 3
FULL = os.environ.get("BUSPROOF_SIZE") == "full"
LOOKS = [(360, "dark"), (1600, "light"), (360, "light"), (1600, "dark")]
OPEN = Callable[..., Page]


@pytest.fixture(scope="module")
def shared() -> Iterator[Embedded]:
    with embedded(partitions=16) as broker:
        yield broker


@pytest.fixture
def bus(shared: Embedded) -> Embedded:
    """With something in every list of the page."""
    shared.begin()
    shared.queue("orders")
    shared.queue("plain", partitioned=False)
    shared.topic("news")
    shared.subscription("news", "mine")
    shared.queue("bookings", requires_session=True)
    send(shared, "orders", *BODIES, partition_key="k")
    send(shared, "bookings", *BODIES, session_id=HOSTILE)
    return shared


@pytest.fixture
def visit(browser: Browser) -> Iterator[OPEN]:
    """Open a page; nothing of it may go wrong, or ask for something elsewhere."""
    opened: list[tuple[Page, list[str]]] = []

    def to(address: str, *, width: int = 1400, scheme: str = "light") -> Page:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        page, said = context.new_page(), []
        opened.append((page, said))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request", lambda each: each.url.startswith((address, "data:")) or said.append(each.url)
        )
        page.goto(f"{address}/busproof/")
        page.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        return page

    yield to
    for page, said in opened:
        assert [] == said
        assert page.evaluate("window.hacked") is None
        page.context.close()


def partition(page: Page, number: int, of: str = "orders"):
    return page.get_by_role("region", name=of, exact=True).locator(".partition").nth(number)


def test_page_shows_what_the_partitions_hold(bus: Embedded, visit: OPEN) -> None:
    (place,) = {each["partition"] for each in bus.decisions() if each["entity"] == "orders"}
    page = visit(bus.admin_address)
    names = page.locator("h2").all_inner_texts()
    assert ["bookings", "news", "news/subscriptions/mine", "orders", "plain"] == names
    for number in range(16):
        held = "3" if number == place else "0"
        expect(partition(page, number).locator("strong")).to_have_text(held)
    expect(partition(page, place)).to_contain_text("12 kB")
    assert 1 == page.get_by_role("region", name="plain", exact=True).locator(".partition").count()


def test_page_follows_sessions_and_locks(bus: Embedded, visit: OPEN) -> None:
    """Sessions and locks come and go; nothing that a client named is taken for a part of it."""
    page = visit(bus.admin_address)
    bookings = page.get_by_role("region", name="bookings", exact=True)
    assert 0 == bookings.locator("details").count()
    with (
        client(bus) as found,
        found.get_queue_receiver(
            "bookings", session_id=HOSTILE, max_wait_time=PATIENCE
        ) as receiver,
    ):
        assert 2 == len(receiver.receive_messages(2))
        bookings.get_by_text("Sessions held: 1").click()
        expect(bookings.get_by_role("cell", name=HOSTILE).first).to_be_visible()
        expect(bookings.get_by_text("Locks: 2")).to_be_visible()
    expect(bookings.get_by_text("Sessions held")).to_have_count(0)


def test_a_click_takes_a_partition_down_and_up_again(bus: Embedded, visit: OPEN) -> None:
    page = visit(bus.admin_address)
    page.get_by_role("button", name="Take down partition 3 of orders").click()
    again = page.get_by_role("button", name="Bring up partition 3 of orders, down")
    expect(again).to_be_focused()
    expect(partition(page, 3)).to_contain_text("down")
    assert [3] == bus.state()["entities"]["orders"]["down"]
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Take down partition 3 of orders, up")).to_be_focused()
    assert [] == bus.state()["entities"]["orders"]["down"]


def test_page_of_many_entities_folds_empty_ones_and_finds_names(bus: Embedded, visit: OPEN) -> None:
    """An entity with something in it, or with a partition down, is never folded."""
    page = visit(bus.admin_address)
    expect(page.get_by_label("Show entities whose names have")).to_be_hidden()
    for number in range(4):
        bus.queue(f"more{number}")
    bus.take_down("more3", 0)
    expect(page.get_by_text("Empty: 6")).to_be_visible()
    shown = page.get_by_role("region").locator("h2")
    expect(shown).to_have_text(["bookings", "more3", "orders"])
    page.get_by_text("Empty: 6").click()
    expect(shown).to_have_count(9)
    page.get_by_label("Show entities whose names have").fill("ORE1")
    expect(shown).to_have_text(["more1"])
    page.get_by_label("Show entities whose names have").fill("nothing")
    expect(page.get_by_text("No entity has a name like that.")).to_be_visible()


def test_partition_shows_its_locks_and_a_fill_that_can_be_seen(bus: Embedded, visit: OPEN) -> None:
    """Twelve thousand bytes of a gigabyte fill a third, by orders of magnitude."""
    (place,) = {each["partition"] for each in bus.decisions() if each["entity"] == "orders"}
    page = visit(bus.admin_address)
    with (
        client(bus) as found,
        found.get_queue_receiver("orders", max_wait_time=PATIENCE) as receiver,
    ):
        assert receiver.receive_messages(2)
        expect(partition(page, place)).to_contain_text("locked")
    other = (place + 1) % 16
    assert "locked" not in partition(page, other).inner_text()
    widths = [
        float(partition(page, number).locator("i").evaluate("part => parseFloat(part.style.width)"))
        for number in (place, other)
    ]
    assert 20 < widths[0] < 50
    assert widths[1] == 0


@pytest.mark.parametrize(("width", "scheme"), LOOKS if FULL else LOOKS[:2])
def test_everybody_can_read_it(
    bus: Embedded, visit: OPEN, axe: str, width: int, scheme: str
) -> None:
    bus.take_down("orders", 3)
    with (
        client(bus) as found,
        found.get_queue_receiver(
            "bookings", session_id=HOSTILE, max_wait_time=PATIENCE
        ) as receiver,
    ):
        receiver.receive_messages(2)
        page = visit(bus.admin_address, width=width, scheme=scheme)
        for each in page.locator("summary").all():
            each.click()
        page.evaluate(axe)
        found_by_axe = page.evaluate("axe.run().then(found => found.violations.map(v => v.id))")
    assert [] == found_by_axe
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., tuple[str, "subprocess.Popen[str]"]]]:
    """A broker as users start it: where its page is, and its process."""
    begun: list[subprocess.Popen[str]] = []

    def start(*options: str) -> tuple[str, "subprocess.Popen[str]"]:
        words = ["serve", "--port", "0", "--admin-port", "0", *options]
        process = subprocess.Popen(
            [sys.executable, "-m", "busproof", *words],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        assert process.stderr is not None
        found = re.search(r"HTTP on (\S+:\d+)", process.stderr.readline())
        assert found is not None
        return f"http://{found[1]}", process

    yield start
    for each in begun:
        each.kill()
        each.communicate(timeout=60)


def test_without_control_it_can_only_be_looked_at(serve, visit: OPEN, tmp_path: Path) -> None:
    config = tmp_path / "Config.json"
    config.write_text(
        '{"UserConfig": {"Namespaces": [{"Name": "n", "Queues": [{"Name": "orders"}]}]}}'
    )
    address, process = serve("--page", "--config", str(config))
    page = visit(address)
    expect(partition(page, 0).locator("strong")).to_have_text("0")
    assert 0 == page.get_by_role("button").count()
    assert "--control" in page.locator("#state").inner_text()
    assert 404 == page.request.post(f"{address}/busproof/partitions/down", data={}).status
    process.kill()
    expect(page.locator("#state")).to_have_text(
        "The broker does not answer; this is its last answer.", timeout=60_000
    )
    expect(partition(page, 0)).to_be_visible()


def test_page_shows_the_rest_to_holders_of_the_token(serve, visit: OPEN, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("open-sesame\n")
    token.chmod(0o600)
    address, _ = serve("--control-token", str(token))
    page = visit(address)
    said, field = page.locator("#state"), page.get_by_label("The control token")
    expect(said).to_have_text("The request does not carry the control token.")
    field.fill("guess")
    page.keyboard.press("Enter")
    expect(said).to_have_text("The request does not carry the control token.")
    field.fill("open-sesame")
    page.get_by_role("button", name="Show it").click()
    expect(said).to_contain_text("Live.")
    expect(field).to_be_hidden()
    expect(page.get_by_text("There are no queues and no topics yet.")).to_be_visible()
