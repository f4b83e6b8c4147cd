"""Replays recorded sessions of the real service's administration on a broker without sockets."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from busproof.broker.admin.endpoint import Administration
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.configuration.emulator import Configuration
from busproof.broker.core import Hub
from busproof.broker.http_requests import Answer, Request
from busproof.broker.server import bus_for
from busproof.spec import Observation

from .. import raw
from ..fuzz import fuzzing

ATOM = "http://www.w3.org/2005/Atom"
SERVICE_BUS = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
HOST = "recorded.example"


def sessions_of(observations: Iterable[Observation]) -> dict[str, list[Observation]]:
    """Group the recorded exchanges by session; each session began in an empty namespace."""
    sessions: dict[str, list[Observation]] = {}
    for observation in observations:
        if observation.session is not None:
            sessions.setdefault(observation.session, []).append(observation)
    return sessions


def differences(session: Sequence[Observation]) -> dict[str, list[str]]:
    """Replay a session, and return what differs, by the id of the exchange."""
    found = {}

    async def replay() -> None:
        configuration = Configuration(tier=session[0].tier)
        hub = Hub(bus_for(configuration), AccessPolicies(configuration.keys))
        answer = Administration(hub, lambda _: None).answer
        for exchange in session:
            found[exchange.id] = differences_of(exchange, answer)
        hub.close()

    asyncio.run(replay())
    return found


def differences_of(exchange: Observation, answer: Callable[[Request], Answer]) -> list[str]:
    """Send one recorded request, and compare the answer with the recorded one."""
    given = answer(_request_of(exchange))
    return list(_compared(exchange.recorded, given))


def _request_of(exchange: Observation) -> Request:
    request = exchange.request
    query = "&".join(filter(None, (request.get("query"), f"api-version={request['api_version']}")))
    headers = {"host": HOST}
    if request.get("token", True):
        headers["authorization"] = raw.token(f"http://{HOST}/", fuzzing.NAME, fuzzing.KEY)
    if request.get("if_match"):
        headers["if-match"] = "*"
    target = f"{request['path']}?{query}"
    return Request(request["method"], target, headers, _body_of(exchange).encode(), "127.0.0.1")


def _body_of(exchange: Observation) -> str:
    request = exchange.request
    description = request.get("raw", "")
    if "kind" in request:
        fields = "".join(f"<{name}>{text}</{name}>" for name, text in request["properties"])
        description = f"<{request['kind']}>{fields}</{request['kind']}>".replace("HOST", HOST)
    if not description:
        return ""
    kind = re.match(r"<(\w+)", description)[1]
    named = description.replace(f"<{kind}", f'<{kind} xmlns="{SERVICE_BUS}"', 1)
    content = f'<content type="application/xml">{named}</content>'
    return f'<entry xmlns="{ATOM}">{content}</entry>'


def _compared(recorded: dict, given: Answer) -> Iterator[str]:
    yield from _unlike("status", recorded["status"], given.status)
    kind = given.content_type.replace(" ", "").partition(";charset")[0]
    yield from _unlike("content type", recorded.get("content_type", kind), kind)
    if not given.body:
        return
    top = ET.fromstring(given.body)
    if given.status >= 400:
        detail = top.findtext("Detail") or ""
        code = re.search(r"SubCode=(\d+)", detail)
        yield from _unlike("sub-code", recorded.get("sub_code"), code and code[1])
        if recorded.get("says", "") not in detail:
            yield f"says {detail!r} without {recorded['says']!r}"
        return
    yield from _unlike("entry", recorded.get("entry", _names(top)), _names(top))
    yield from _unlike("feed", recorded.get("feed", _names(top)), _names(top))
    described = top.find(f"{{{ATOM}}}content/*")
    values = dict(recorded.get("values", {}))
    # Parsed XML has no prefixes any more, and a value's type is a name with a prefix.
    if (expected := values.pop("duration namespace", None)) is not None:
        found = re.search(rb'i:type="(\w+):duration" xmlns:\1="([^"]*)"', given.body)
        yield from _unlike("duration namespace", expected, found and found[2].decode())
    whole = top if described is None else described
    yield from _described(recorded | {"values": values}, whole)
    entries = top.findall(f"{{{ATOM}}}entry")
    for expected, entry in zip(recorded.get("entries", ()), entries, strict=False):
        yield from _unlike("title", expected["title"], entry.findtext(f"{{{ATOM}}}title"))
        yield from _described(expected, entry.find(f"{{{ATOM}}}content/*"))
    yield from _unlike("entries", len(recorded.get("entries", entries)), len(entries))


def _described(recorded: dict, description: ET.Element) -> Iterator[str]:
    names = _names(description)
    yield from _unlike("elements", recorded.get("elements", names), names)
    for name in set(recorded.get("absent", ())) & set(names):
        yield f"{name}: recorded absent, and is there"
    for name, expected in recorded.get("values", {}).items():
        value = expected.replace("HOST", HOST)
        yield from _unlike(name, value, _value(description, name))


def _value(description: ET.Element, name: str) -> str | None:
    if name == "feed title":
        return description.findtext(f"{{{ATOM}}}title")
    if name.endswith(" children"):
        child = description.find(f"{{{SERVICE_BUS}}}{name.removesuffix(' children')}")
        return None if child is None else " ".join(_names(child))
    return description.findtext(f"{{{SERVICE_BUS}}}{name}")


def _names(element: ET.Element) -> list[str]:
    return [child.tag.rpartition("}")[2] for child in element]


def _unlike(what: str, recorded: object, given: object) -> Iterator[str]:
    if recorded != given:
        yield f"{what}: recorded {recorded!r}, given {given!r}"
