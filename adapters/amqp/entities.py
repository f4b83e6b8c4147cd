"""Administration of entities over HTTP, with descriptions in Atom."""

import http.client
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from busproof.adapters.amqp.failing import Lost, Rejected
from busproof.adapters.amqp.http_connection import HttpConnection
from busproof.adapters.amqp.target import Target

__all__ = [
    "API_VERSION",
    "ATOM",
    "NOTHING_THERE",
    "SB",
    "Entities",
    "detail_of",
    "duration",
    "entries_of",
    "microseconds",
    "parse_answer",
    "read_fields",
]

API_VERSION: Final = "2021-05"
ATOM: Final = "http://www.w3.org/2005/Atom"
SB: Final = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
PAGE: Final = 100
ENTRY: Final = (
    '<entry xmlns="{atom}"><content type="application/xml">{description}</content></entry>'
)
DURATION: Final = re.compile(
    r"P(?:(?P<days>\d+)D)?(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?"
    r"(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?"
)
SECONDS: Final = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
NOTHING_THERE: Final = "Publicly Listed Services"
"""The title of the list that the service gives for an address where there is nothing."""
FOR_EVER: Final = 10_000 * 86_400 * 1_000_000
"""Minimum time to live that means no expiry, in microseconds."""


def duration(microseconds: int) -> str:
    """Return a duration as XML writes it, such as PT30S."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"PT{seconds}S" if not rest else f"PT{seconds}.{rest:06}S"


def microseconds(text: str) -> int | None:
    """Parse a duration into microseconds; `None` if it means no limit or is not a duration."""
    match = DURATION.fullmatch(text)
    if match is None or not any(match.groups()):
        return None
    total = sum(
        int(float(match[second] or 0) * 1_000_000 + 0.5) * SECONDS[second] for second in SECONDS
    )
    return None if total >= FOR_EVER else total


class Entities:
    """A client of the service's administration, with one persistent connection.

    Args:
        target: the service.
        timeout: maximum wait for an answer, in seconds.
    """

    def __init__(self, target: Target, timeout: float) -> None:
        self._target = target
        self._http = HttpConnection(target.admin, timeout)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def put(
        self,
        path: str,
        kind: str,
        values: Mapping[str, str],
        *,
        change: bool = False,
        version: str = API_VERSION,
    ) -> dict[str, str]:
        """Create or update an entity, and return its new description."""
        fields = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in values.items())
        description = f'<{kind} xmlns="{SB}">{fields}</{kind}>'
        body = ENTRY.format(atom=ATOM, description=description)
        headers = {"If-Match": "*"} if change else {}
        return read_fields(self._ask("PUT", path, body.encode(), headers, version))

    def get(self, path: str) -> dict[str, str]:
        """Return the description of an entity as texts by name."""
        description = read_fields(self._ask("GET", path))
        if not description:
            raise Rejected("http:404", f"{path} has no description")
        return description

    def names(self, path: str) -> list[str]:
        """Return the names of the entities under a path, such as `$Resources/queues`."""
        return [entry.findtext(f"{{{ATOM}}}title") or "" for entry in self.entries(path)]

    def entries(self, path: str) -> list[ET.Element]:
        """Return all entries of the list at a path."""
        entries: list[ET.Element] = []
        while True:
            query = {"$skip": str(len(entries)), "$top": str(PAGE)}
            page = entries_of(self._ask("GET", path, query=query))
            entries += page
            if len(page) < PAGE:
                return entries

    def put_entry(self, path: str, description: str) -> None:
        """Create what a description in XML says."""
        body = ENTRY.format(atom=ATOM, description=description)
        self._ask("PUT", path, body.encode())

    def delete(self, path: str) -> None:
        """Delete an entity."""
        self._ask("DELETE", path)

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        version: str = API_VERSION,
        query: Mapping[str, str] | None = None,
    ) -> ET.Element | None:
        parameters = dict(query or {}) | ({"api-version": version} if version else {})
        tail = "&".join(f"{name}={value}" for name, value in parameters.items())
        url = f"/{quote(path, safe='/$')}?{tail}"
        all_headers = {
            "Authorization": self._target.token(path),
            "Content-Type": "application/atom+xml",
            **(headers or {}),
        }
        try:
            answer = self._http.ask(method, url, all_headers, body)
        except Lost as lost:
            raise Lost(f"the administration at {self._target.admin} fails: {lost}") from None
        if answer.status >= http.client.BAD_REQUEST:
            raise Rejected(f"http:{answer.status}", detail_of(answer.body))
        top = parse_answer(answer.body)
        if top is not None and top.findtext(f"{{{ATOM}}}title") == NOTHING_THERE:
            raise Rejected("http:404", f"there is nothing at {path}")
        return top


def parse_answer(answer: bytes) -> ET.Element | None:
    """Return the XML of an answer; `None` if it has none."""
    if not answer.strip() or b"<!DOCTYPE" in answer:
        return None
    try:
        return ET.fromstring(answer)  # noqa: S314 - without a document type there are no entities
    except ET.ParseError:
        return None


def entries_of(top: ET.Element | None) -> list[ET.Element]:
    """Return the entries of a list."""
    return [] if top is None else top.findall(f"{{{ATOM}}}entry")


def read_fields(top: ET.Element | None) -> dict[str, str]:
    """Return the fields of a description that are plain text, and the message counts."""
    content = None if top is None else top.find(f"{{{ATOM}}}content")
    if content is None or not len(content):
        return {}
    return {
        element.tag.rpartition("}")[2]: element.text
        for element in content[0].iter()
        if element.text and not len(element)
    }


def detail_of(answer: bytes) -> str:
    """Return the sentence of an answer that refuses a request."""
    top = parse_answer(answer)
    detail = None if top is None else top.findtext("Detail")
    return detail or answer.decode("utf-8", "replace")[:200].strip()
