"""The administration endpoint: entities, the health check, and control for tests."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import attrs

from busproof import vocabulary as v
from busproof.broker.admin.access import Control
from busproof.broker.admin.entities import Entities
from busproof.broker.admin.fields import Problem, body_of, number_of, whole_in, whole_of
from busproof.broker.admin.status_page import kind_of, overview, page
from busproof.broker.bounds import LAST_MOMENT_OF_CLOCK
from busproof.broker.bus import Bus
from busproof.broker.core import Hub
from busproof.broker.disturbances import fault_of
from busproof.broker.http_requests import Answer, Request, Room, room_for
from busproof.broker.names import objection_to
from busproof.broker.observability.metrics import Metrics
from busproof.errors import UsageError
from busproof.model.state import Entity
from busproof.spec import load

__all__ = ["Administration"]

OWN: Final = "/busproof/"
OVERVIEW: Final = "/busproof/overview"
MOVING: Final = "/busproof/moving"
STILL: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Content security policy of a page without a script."""
METRICS: Final = "/metrics"
HEALTH: Final = "/health"
BODILESS: Final = frozenset({OWN, OVERVIEW, METRICS, HEALTH})
"""Paths that clients may request without a token, so no request body is read there."""
NUMBERS: Final = ("partitions", "namespace_partitions", "messaging_units")
"""Numbers that a request to begin a namespace may contain."""
REFUSED: Final = 400
"""The lowest HTTP status that reports an error."""
NOBODY: Final = Control()


def _page(body: bytes, policy: str) -> Answer:
    """Return a page under a content security policy."""
    headers = (
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    )
    return Answer(200, body, "text/html; charset=utf-8", headers)


Answered = TypeVar("Answered", Answer, Answer | None)


class Administration:
    """The HTTP endpoint for administration.

    Args:
        hub: the broker's core.
        warn: called with a warning about properties that have no effect.
        control: access to the paths under `/busproof/`.
        metrics: access to the metrics.
    """

    def __init__(
        self,
        hub: Hub,
        warn: Callable[[str], None],
        control: Control = NOBODY,
        metrics: Control = NOBODY,
    ) -> None:
        self._control = control
        self._may_measure = metrics
        self._metrics = Metrics(hub)
        self._hub = hub
        self._warn = warn
        self._entities = Entities(hub, warn)

    def admit(self, head: Request) -> Answer | Room:
        """Answer a request if its head is enough to refuse it, before its body is read."""
        answer = self._reply(head, self._objection)
        if answer is None:
            return room_for(self._hub.limits.http_body)
        self._tell(head, answer)
        return answer

    def answer(self, request: Request) -> Answer:
        """Answer a request, and log it if it changed something or was refused."""
        if (listener := self._hub.disturbances.listener) is not None:
            listener.note_request(
                request.method, request.target, request.headers, request.connection
            )
        answer = self._reply(request, self._answer)
        self._tell(request, answer)
        return answer

    def _tell(self, request: Request, answer: Answer) -> None:
        if request.method != "GET" or answer.status >= REFUSED:
            self._hub.journal.info(
                "http",
                peer=request.peer,
                method=request.method,
                path=request.target.partition("?")[0],
                status=answer.status,
            )

    def _reply(
        self,
        request: Request,
        answered: Callable[[Request, str, Mapping[str, str]], Answered],
    ) -> Answer | Answered:
        try:
            url = urlsplit(request.target)
        except ValueError:
            return _json({"error": "The address of the request cannot be read."}, 400)
        path, query = unquote(url.path), dict(parse_qsl(url.query))
        try:
            return answered(request, path, query)
        except Problem as problem:
            return _json({"error": problem.sentence}, problem.status)
        except UsageError as error:
            return _json({"error": str(error)}, 400)
        except Exception as error:  # noqa: BLE001 - a failing request must not affect other clients
            self._hub.complain("a request over HTTP", error)
            return _json({"error": "The broker failed on this request."}, 500)

    def _objection(
        self,
        head: Request,
        path: str,
        query: Mapping[str, str],  # noqa: ARG002 - as `_answer`
    ) -> Answer | None:
        """Return the refusal of a request with a body, or `None` if the body may be read."""
        if path in BODILESS:
            raise Problem(413, f"A request for {path} has no body.")
        if path.startswith(OWN):
            self._check_control(head)
            return None
        return self._entities.admit(head)

    def _answer(self, request: Request, path: str, query: Mapping[str, str]) -> Answer:
        if path == HEALTH:
            return _json({"status": "healthy", "message": "Service is healthy."})
        if path in (OWN, OVERVIEW) and request.method == "GET":
            return self._serve_status(request, path)
        if path == MOVING and request.method == "GET" and self._hub.moving is not None:
            self._check_control(request, looks=True)
            return _page(self._hub.moving(), STILL)
        if path == METRICS and request.method == "GET":
            return self._measure(request)
        if path.startswith(OWN):
            self._check_control(request)
            return _json(self._own(request, path.removeprefix(OWN).strip("/"), query))
        return self._entities.answer(request)

    def _check_control(self, request: Request, *, looks: bool = False) -> None:
        if (objection := self._control.objection(request, looks=looks)) is not None:
            raise Problem(*objection)

    def _measure(self, request: Request) -> Answer:
        if (objection := self._may_measure.objection(request)) is not None:
            raise Problem(*objection)
        return self._metrics.answer(request.headers.get("accept", ""))

    def _serve_status(self, request: Request, path: str) -> Answer:
        """Serve the status page, which has no data, or its data, which may require a token."""
        if path == OVERVIEW or self._control.token is None:
            self._check_control(request, looks=True)
        if path == OVERVIEW:
            return _json(overview(self._hub, may_disturb=self._control.is_on))
        return _page(*page())

    def _own(self, request: Request, what: str, query: Mapping[str, str]) -> Any:
        route = f"{request.method} {what}"
        answers: dict[str, Callable[[], Any]] = {
            "GET state": self._state,
            "GET clock": self._clock,
            "GET decisions": lambda: self._decisions(query.get("after", "0")),
            "POST clock": lambda: self._advance(body_of(request)),
            "POST namespace": lambda: self._begin(body_of(request)),
            "POST partitions/down": lambda: self._outage(body_of(request), down=True),
            "POST partitions/up": lambda: self._outage(body_of(request), down=False),
            "GET faults": self._faults,
            "POST faults": lambda: self._disturb(body_of(request)),
            "POST faults/clear": self._calm,
            "POST entities/restore": lambda: self._restore(body_of(request)),
            "POST keys/renew": self._renew,
        }
        if route not in answers:
            raise Problem(404, f"There is no {route!r}; there are {', '.join(answers)}.")
        return answers[route]()

    def _faults(self) -> list[dict[str, Any]]:
        return [attrs.asdict(fault) for fault in self._hub.disturbances.waiting]

    def _disturb(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Let a fault wait for the next operation that it is for."""
        if isinstance(name := fields.get("entity"), str):
            fields = {**fields, "entity": self._hub.bus.path(name)}
        self._hub.disturbances.add(fault_of(fields))
        self._hub.journal.info("fault", kind=fields["kind"], entity=fields.get("entity"))
        return self._faults()

    def _calm(self) -> dict[str, Any]:
        self._hub.disturbances.clear()
        return {}

    def _renew(self) -> dict[str, Any]:
        self._hub.renew()
        return {}

    def _decisions(self, after: str) -> Any:
        return self._hub.bus.decisions.since(whole_in(after, "after"))

    def _clock(self) -> dict[str, Any]:
        bus = self._hub.bus
        now = bus.now
        time = (bus.epoch + now) / 1_000_000
        return {"clock": bus.clock.value, "now": now, "time": time, "epoch": bus.epoch}

    def _advance(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Advance the clock, by seconds and a moment or by exact microseconds."""
        bus, more = self._hub.bus, 0 if "microseconds" in fields else 1
        if more:
            duration = round(number_of(fields, "advance") * 1_000_000)
        else:
            duration = whole_of(fields, "microseconds")
        if bus.epoch + bus.now + duration > LAST_MOMENT_OF_CLOCK:
            raise Problem(400, "The clock cannot be moved beyond the year 9899.")
        bus.advance(duration, more=more)
        self._hub.schedule_serving()
        return self._clock()

    def _begin(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Serve an empty namespace; missing profile fields are those of the current namespace.

        With `configured`, serve the namespace that the broker started with, including its entities.
        """
        if fields.get("configured") is True:
            if len(fields) > 1:
                raise Problem(400, "The field configured allows no other field.")
            return self._serve(self._hub.configured())
        known = self._hub.bus.namespace.profile
        readings = fields.get("readings", {})
        tiers = [tier.value for tier in v.Tier]
        if fields.get("tier", known.tier.value) not in tiers:
            raise Problem(400, f"tier is {fields['tier']!r}; it is one of {', '.join(tiers)}.")
        if not isinstance(readings, dict):
            raise Problem(400, "readings has to be an object: ambiguity to reading.")
        profile = v.profile_for(
            load(),
            edition=str(fields.get("edition", known.edition)),
            tier=str(fields.get("tier", known.tier.value)),
            readings={str(name): str(reading) for name, reading in readings.items()},
            **_namespace_of(fields, known),
        )
        return self._serve(self._hub.bus.anew(profile))

    def _serve(self, bus: Bus) -> dict[str, Any]:
        self._hub.begin(bus)
        self._entities = Entities(self._hub, self._warn)
        return self._clock()

    def _outage(self, fields: Mapping[str, Any], *, down: bool) -> Any:
        bus = self._hub.bus
        name, partition = fields.get("entity"), fields.get("partition")
        path = bus.path(name) if isinstance(name, str) else ""
        if path:
            _check_name(path, dollar=True)
        entity = bus.entity(path) if path else None
        if not path or (entity is None and fields.get("planned") is not True):
            raise Problem(
                404,
                f"There is no entity {name!r}; the body has to name one, or to say "
                '"planned": true of one that is yet to be created.',
            )
        count = bus.namespace.profile.partitions if entity is None else len(entity.partitions)
        # JSON's true is 1 in Python, and no partition.
        if type(partition) is not int or not 0 <= partition < count:
            raise Problem(400, f"partition is {partition!r}; {path!r} has 0 to {count - 1}.")
        command = v.TakePartitionDown if down else v.BringPartitionUp
        refused = bus.ask(command(queue=path, partition=partition), "administration").refused
        if refused is not None:
            raise Problem(400, f"The model refuses it: {refused.error.value}.")
        event = "partition-down" if down else "partition-up"
        self._hub.journal.info(event, entity=path, partition=partition)
        self._hub.schedule_serving()
        known = bus.namespace.entities.get(path)
        return {} if known is None else self._describe(known)

    def _restore(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Add a partitioned queue that was created before the tier disallowed it (PREM-03)."""
        bus, name = self._hub.bus, fields.get("entity")
        if not isinstance(name, str) or not name:
            raise Problem(400, f"entity is {name!r}; it has to be the name of the queue.")
        name = bus.path(name)
        _check_name(name)
        command = v.RestoreQueue(
            queue=name,
            requires_session=fields.get("requires_session") is True,
            duplicate_detection=fields.get("duplicate_detection") is True,
            max_size=whole_of({"max_size": 1} | dict(fields), "max_size"),
        )
        refused = bus.ask(command, "administration").refused
        if refused is not None:
            raise Problem(409, f"{name!r} cannot be there from before: {refused.error.value}.")
        bus.record_name(name)
        self._hub.schedule_serving()
        return {}

    def _state(self) -> dict[str, Any]:
        bus = self._hub.bus
        profile = bus.namespace.profile
        entities, readings = bus.namespace.entities, bus.namespace.readings
        names = bus.names()
        return {
            "edition": profile.edition,
            "tier": profile.tier.value,
            "partitions": profile.partitions,
            "namespace_partitions": profile.namespace_partitions,
            "messaging_units": profile.messaging_units,
            "slack": bus.slack / 1_000_000,
            "readings": dict(sorted({**profile.readings, **readings}.items())),
            **self._clock(),
            "connections": len(self._hub.connections),
            "entities": {name: self._describe(entities[name]) for name in names[:MOST_TOLD]},
            "entities_left_out": max(0, len(names) - MOST_TOLD),
        }

    def _describe(self, entity: Entity) -> dict[str, Any]:
        tally, dead = self._hub.tallies.of(entity), entity.dead_letters
        return {
            "kind": kind_of(entity),
            "partitioned": entity.settings.partitioned,
            "requires_session": entity.settings.requires_session,
            "down": sorted(entity.base.down),
            "held": [partition.messages for partition in entity.partitions],
            "locked": len(tally.locked),
            "deferred": len(tally.deferred),
            "scheduled": len(entity.scheduled),
            "dead_letters": 0 if dead is None else len(dead.messages),
        }


MOST_TOLD: Final = 2_000
"""Maximum number of entities in one answer, which others wait for meanwhile."""


def _namespace_of(fields: Mapping[str, Any], known: v.Profile) -> dict[str, Any]:
    """Return the numbers of a namespace to begin; missing ones are those of the current namespace.

    If the tier or the number of partitions changes, missing numbers are the defaults.
    """
    numbers: dict[str, Any] = {name: whole_of(fields, name) for name in NUMBERS if name in fields}
    if fields.get("tier", known.tier.value) == known.tier.value:
        numbers.setdefault("namespace_partitions", known.namespace_partitions)
        if numbers["namespace_partitions"] == known.namespace_partitions:
            numbers.setdefault("messaging_units", known.messaging_units)
    if numbers.get("namespace_partitions", 1) == known.namespace_partitions:
        numbers.setdefault("partitions", known.partitions)
    return numbers


def _check_name(name: str, *, dollar: bool = False) -> None:
    if (objection := objection_to(name, dollar=dollar)) is not None:
        raise Problem(400, objection)


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value, indent=2).encode() + b"\n")
