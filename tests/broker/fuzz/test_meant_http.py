"""Boundaries in what administration clients send: a value in each field, and XML of each shape."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

import pytest
from work import TURN, measure_passes

from busproof.broker.admin.endpoint import Administration
from busproof.broker.http_requests import Answer, Request
from busproof.broker.limits import ALL_DEFAULT

from .. import raw
from ..inside import hub_of
from . import fuzzing
from .test_fuzz import QUEUES

pytestmark = pytest.mark.slow

MOST_SAID: Final = 1_000_000
LARGEST: Final = ALL_DEFAULT.http_body - 1_000
SPACE: Final = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
XSI: Final = "http://www.w3.org/2001/XMLSchema-instance"
FIELDS: Final = {
    "Queue": (
        *("LockDuration", "MaxSizeInMegabytes", "RequiresDuplicateDetection", "RequiresSession"),
        *("DefaultMessageTimeToLive", "DeadLetteringOnMessageExpiration", "MaxDeliveryCount"),
        *("DuplicateDetectionHistoryTimeWindow", "Status", "ForwardTo", "UserMetadata"),
        *("EnablePartitioning", "AutoDeleteOnIdle", "MaxMessageSizeInKilobytes"),
        *("ForwardDeadLetteredMessagesTo", "AuthorizationRules", "Unheard"),
    ),
    "Rule": ("Filter", "Action", "Name"),
}
VALUES: Final = {
    "nothing": "",
    "a word": "x",
    "a long word": "x" * LARGEST,
    "a long number": "9" * LARGEST,
    "many digits": "9" * 30,
    "below zero": "-1",
    "a fraction": "0.5",
    "not a number": "NaN",
    "of other digits": "\u0663",
    "a duration of years": "P1Y",
    "a long duration": f"P{'9' * 15}D",
    "a longer duration": f"P{'9' * LARGEST}D",
    "leading zeros": f"PT{'0' * LARGEST}1S",
    "many elements": "<a/>" * (LARGEST // 4),
    "an element of many attributes": "<a " + " ".join(f"a{n}=''" for n in range(6_000)) + "/>",
    "deep elements": "<a>" * (LARGEST // 7) + "</a>" * (LARGEST // 7),
    "characters by number": "&#x10ffff;" * (LARGEST // 10),
}
LONG: Final = "u" * (LARGEST // 2)
NAMED: Final = "".join(f"<b{number}/>" for number in range(3_000))
PAIR: Final = (
    f'<KeyValueOfstringanyType><Key>@p</Key><Value xmlns:d="{SPACE}" i:type="d:string">'
    f"{'x' * 30_000}</Value></KeyValueOfstringanyType>"
)
BODIES: Final = {
    "a namespace that many names have": f'<a xmlns="{LONG}">{"<b/>" * 7_000}</a>',
    "a namespace that many other names have": f'<a xmlns="{LONG}">{NAMED}</a>',
    "a namespace that is empty": '<a xmlns=""/>',
    "many namespaces": "<a " + " ".join(f"xmlns:a{n}='u'" for n in range(3_500)) + "/>",
    "no end": "<a>" * (LARGEST // 3),
    "comments": "<a>" + "<!---->" * (LARGEST // 8) + "</a>",
    "instructions": "<a>" + "<?a?>" * (LARGEST // 6) + "</a>",
}


def entry(kind: str, inside: str) -> str:
    return (
        '<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
        f'<{kind}Description xmlns="{SPACE}" xmlns:i="{XSI}">{inside}</{kind}Description>'
        "</content></entry>"
    )


def rule(expression: str) -> str:
    """A rule whose filter has a long parameter."""
    sql = f"<SqlExpression>{expression}</SqlExpression><Parameters>{PAIR}</Parameters>"
    return entry("Rule", f'<Filter i:type="SqlFilter">{sql}</Filter><Name>r</Name>')


def bodies() -> Iterator[tuple[str, str, str]]:
    """What is sent, where, and its name."""
    for what, body in BODIES.items():
        yield f"body: {what}", "new", body
    for kind, fields in FIELDS.items():
        path = "new" if kind == "Queue" else "t/subscriptions/s/rules/r"
        for field in fields:
            for what, value in VALUES.items():
                yield f"{field}: {what}", path, entry(kind, f"<{field}>{value}</{field}>")
    for count in (1, 250, 10_000):
        yield f"{count} parameters", "t/subscriptions/s/rules/r", rule("@p " * count)


def answering(act: Callable[[Callable[[str, str, str], tuple[int, bytes, float]]], None]) -> None:
    """Ask a broker without sockets for what an administrator may ask for."""

    async def run() -> None:
        hub = hub_of(*QUEUES)
        answer = Administration(hub, lambda _: None).answer
        token = raw.token("http://h/", fuzzing.NAME, fuzzing.KEY)

        def ask(method: str, path: str, body: str = "") -> tuple[int, bytes, float]:
            headers = {"authorization": token, "host": "h"}
            request = Request(method, f"/{path}", headers, body.encode(), "127.0.0.1")
            answers: list[Answer] = []
            passes = measure_passes(lambda: answers.append(answer(request)))
            return answers[0].status, answers[0].body, passes

        act(ask)
        hub.close()

    asyncio.run(run())


def test_fields_and_bodies_at_their_boundaries_are_taken_or_refused_at_little_cost() -> None:
    """And whoever reads the list of entities afterwards is answered little."""
    wrong: list[str] = []

    def ask_all(ask: Callable[[str, str, str], tuple[int, bytes, float]]) -> None:
        for what, path, body in bodies():
            status, said, passes = ask("PUT", path, body)
            if passes > TURN:
                ask("DELETE", path, "")
                status, said, passes = ask("PUT", path, body)
            _, listed, later = ask("GET", "$Resources/queues", "")
            ask("DELETE", path, "")
            if status >= 500 or max(passes, later) > TURN:
                wrong.append(f"{what}: {status}, {passes:.0f} and {later:.0f} passes")
            if max(len(said), len(listed)) > MOST_SAID:
                wrong.append(f"{what}: {len(said):,} and {len(listed):,} bytes")

    answering(ask_all)
    assert not wrong, wrong
