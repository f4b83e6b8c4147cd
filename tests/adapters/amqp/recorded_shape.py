"""A proxy that gives the administration's answers of our broker the form of recorded ones.

What is not in a recording of the real service is left out: elements, words of errors and headers.
So an adapter that understands these answers understands those of the service.
"""

import http.client
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from busproof.spec import Observation, load_observations

ATOM = "http://www.w3.org/2005/Atom"
SERVICE_BUS = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
BASE = "https://recorded.example/"
MORE = "To know more visit https://aka.ms/sbResourceMgrExceptions."
NAMES = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 409: "Conflict"}
KINDS = {"queues": "QueueDescription", "topics": "TopicDescription"}
"""Kinds of the descriptions in a list, by the last part of its path."""


def _kind_of(observation: Observation) -> str:
    """Return the kind of the descriptions that an exchange is about."""
    path = urlsplit(observation.request["path"]).path.lower().strip("/").split("/")
    if len(path) > 3:
        return "RuleDescription"
    if len(path) > 1 and path[1] == "subscriptions":
        return "SubscriptionDescription"
    return KINDS.get(path[-1]) or observation.request.get("kind") or KINDS[_of_name(path[0])]


def _of_name(name: str) -> str:
    return "topics" if name.startswith("t") else "queues"


def elements_recorded() -> dict[str, list[str]]:
    """Return the names of all recorded elements of each kind of description, in their order."""
    found: dict[str, list[str]] = {}
    for observation in load_observations():
        recorded = observation.recorded
        if observation.session in (None, "namespace") or recorded["status"] >= 400:
            continue
        for part in (recorded, *recorded.get("entries", ())):
            names = found.setdefault(_kind_of(observation), [])
            names += [name for name in part.get("elements", ()) if name not in names]
    return found


def reshaped(
    method: str, status: int, body: bytes, elements: Mapping[str, list[str]]
) -> tuple[int, bytes]:
    """Return status and body of an answer as the real service was recorded to give them."""
    if status == 404 and method == "GET":
        # R043, R044: what is not there is an empty list.
        return 200, _nothing()
    if status >= 400:
        return status, _error(status, body)
    if not body:
        return status, body
    top = ET.fromstring(body)
    for description in top.iter():
        kind = description.tag.rpartition("}")[2]
        for element in list(description) if kind in elements else ():
            if element.tag.rpartition("}")[2] not in elements[kind]:
                description.remove(element)
    for link in top.iter(f"{{{ATOM}}}link"):
        link.set("href", link.get("href", "").removeprefix("/"))
    for own in top.iter(f"{{{ATOM}}}id"):
        own.text = BASE + urlsplit(own.text or "").path.removeprefix("/")
    return status, b"\xef\xbb\xbf" + ET.tostring(top)


def _nothing() -> bytes:
    return (
        f'<feed xmlns="{ATOM}"><title type="text">Publicly Listed Services</title>'
        '<subtitle type="text">This is the list of publicly-listed services currently available.'
        f"</subtitle><id>uuid:1;id=2</id><updated>2020-07-02T05:59:39Z</updated>"
        "<generator>Service Bus 1.1</generator></feed>"
    ).encode()


def _error(status: int, body: bytes) -> bytes:
    """Return the recorded words: a sub-code if there is one, and nothing about rules."""
    detail = ET.fromstring(body).findtext("Detail") or ""
    code = re.search(r"SubCode=\d+", detail)
    words = f"{code[0]}. {NAMES[status]}. " if code else f"{NAMES[status]}. "
    tail = f"{MORE} . TrackingId:0-0_G1, SystemTracker:recorded.example:q, Timestamp:2020"
    return f"<Error><Code>{status}</Code><Detail>{words}{tail}</Detail></Error>".encode()


@contextmanager
def serving(admin: str) -> Iterator[str]:
    """Serve the proxy of an administration, and yield its address."""
    elements = elements_recorded()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = "Microsoft-HTTPAPI/2.0"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            sent = self.rfile.read(length)
            upstream = http.client.HTTPConnection(urlsplit(admin).netloc)
            headers = {k: v for k, v in self.headers.items() if k.lower() != "host"}
            upstream.request(self.command, self.path, sent, headers)
            given = upstream.getresponse()
            status = given.status
            body = given.read()
            upstream.close()
            if "namespaceinfo" not in self.path.lower():
                status, body = reshaped(self.command, status, body, elements)
            self.send_response(status)
            # The service sends its answers in chunks.
            self.send_header("Transfer-Encoding", "chunked")
            self.send_header("Strict-Transport-Security", "max-age=31536000")
            self.end_headers()
            chunks = [body[place : place + 200] for place in range(0, len(body), 200)]
            for chunk in (*chunks, b""):
                self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")

        do_GET = do_PUT = do_DELETE = answer  # noqa: N815 - the names that the server calls

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
