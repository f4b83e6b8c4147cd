"""What the real service was seen to do: recorded exchanges and public reports, with sources.

A fact never makes a rule: rules come from documents. Facts are shown beside the rules and the
questions that they are about, and `readings.yaml` says which of them decide how busproof's own
broker answers where the documents leave it open.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.errors import SpecificationError
from busproof.spec import checks, terms
from busproof.spec.catalogue import Catalogue
from busproof.spec.loading import load
from busproof.spec.reading import Fields, read_file

__all__ = [
    "Evidence",
    "Observation",
    "Origin",
    "load_evidence",
    "load_observations",
    "observed_about",
    "observed_readings",
]

_OWN: Final = Path(__file__).parent / "observed"
PLANES: Final = ("atom", "arm", "amqp")
"""The interfaces of the service: administration over HTTP, Azure Resource Manager, messaging."""
ANY_TIER: Final = "any"


@attrs.frozen(kw_only=True)
class Origin:
    """Where an observation can be read: a file at a commit, or an issue at a time.

    Attributes:
        repository: the public repository on GitHub, as owner and name.
        path: the file with the recording; `None` for an issue.
        commit: the commit that has the file; `None` for an issue.
        issue: the number of the issue; `None` for a file.
        as_of: when the behaviour was seen, as far as the issue says it; `None` for a file.
    """

    repository: str
    path: str | None
    commit: str | None
    issue: int | None
    as_of: str | None

    @property
    def link(self) -> str:
        """The address at which it can be read."""
        if self.issue is not None:
            return f"https://github.com/{self.repository}/issues/{self.issue}"
        return f"https://github.com/{self.repository}/blob/{self.commit}/{self.path}"


@attrs.frozen(kw_only=True)
class Observation:
    """Something that the real service was seen to do.

    Attributes:
        id: its id, such as `R013`.
        plane: the interface of the service (`PLANES`).
        tier: the tier of the namespace, or `any`.
        session: the recorded session that an exchange belongs to, in which all exchanges follow one
            another in an empty namespace; `None` if it is not a whole exchange.
        about: the ids of the rules and ambiguities that it is about.
        request: what was asked; an exchange has `method`, `path`, `api_version` and so on, any
            other observation only `text`.
        recorded: what was answered.
        note: a remark; `None` if there is none.
        sources: where it can be read.
    """

    id: str
    plane: str
    tier: str
    session: str | None
    about: tuple[str, ...]
    request: Mapping[str, Any]
    recorded: Mapping[str, Any]
    note: str | None
    sources: tuple[Origin, ...]

    @property
    def summary(self) -> str:
        """The observation in one line: what was asked, and what was answered."""
        asked = self.request.get("text") or _in_short(self.request)
        answered = ", ".join(_tell(name, value) for name, value in self.recorded.items())
        return f"{asked}: {answered}" + (f" ({self.note})" if self.note else "")


def _in_short(request: Mapping[str, Any]) -> str:
    words = [request["method"], request["path"], request.get("kind", "")]
    words += ["If-Match" if request.get("if_match") else ""]
    words += [f"{name}={text}" for name, text in request.get("properties", ())]
    return " ".join(word for word in words if word)


def _tell(name: str, value: object) -> str:
    """Return one field of an answer; long lists of elements are counted."""
    if name in ("elements", "entry", "feed", "entries") and isinstance(value, list):
        return f"{len(value)} in {name}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {text}" for key, text in value.items())
    return f"{name.replace('_', ' ')} {value}"


@attrs.frozen(kw_only=True)
class Evidence:
    """A reading of an ambiguity that the real service was seen to have.

    Attributes:
        ambiguity: the id of the ambiguity.
        reading: the name of the reading.
        editions: the ids of the editions in whose time it was seen; empty for all.
        observed: the ids of the observations.
    """

    ambiguity: str
    reading: str
    editions: tuple[str, ...]
    observed: tuple[str, ...]


def load_evidence(folder: Path | None = None) -> tuple[Evidence, ...]:
    """Load the readings that were observed; without a folder busproof's own.

    Raises:
        SpecificationError: an entry is broken, or is about no ambiguity, reading or observation.
    """
    return _own_evidence() if folder is None else _evidence_in(folder)


@cache
def _own_evidence() -> tuple[Evidence, ...]:
    return _evidence_in(_OWN)


def _evidence_in(folder: Path) -> tuple[Evidence, ...]:
    catalogue, known = load(), tuple(each.id for each in load_observations(folder))
    readings = {each.id: each.readings for each in catalogue.ambiguities}
    editions = [edition.id for edition in catalogue.editions]
    top, found = read_file(folder, "readings.yaml"), []
    for fields in top.entries("readings", "ambiguity"):
        ambiguity = fields.choice("ambiguity", readings)
        evidence = Evidence(
            ambiguity=ambiguity,
            reading=fields.choice("reading", readings[ambiguity]),
            editions=fields.texts_or_none("editions"),
            observed=fields.texts("observed", known),
        )
        for edition in evidence.editions:
            if edition not in editions:
                raise fields.wrong("editions", edition, ", ".join(editions))
        fields.end()
        found.append(evidence)
    top.end()
    return tuple(found)


def observed_readings(edition: str) -> dict[str, str]:
    """Return the reading of each ambiguity that the real service was seen to have by an edition."""
    return {
        evidence.ambiguity: evidence.reading
        for evidence in load_evidence()
        if not evidence.editions or edition in evidence.editions
    }


def load_observations(folder: Path | None = None) -> tuple[Observation, ...]:
    """Load the observations in `folder`; without it busproof's own, which are read only once.

    Raises:
        SpecificationError: an entry is broken; the message names file, line, field and value.
    """
    return _own() if folder is None else _load(folder)


@cache
def _own() -> tuple[Observation, ...]:
    return _load(_OWN)


def observed_about(catalogue: Catalogue, rule: str) -> tuple[Observation, ...]:
    """Return the observations about a rule, or about an ambiguity that concerns it."""
    names = {rule, *(ambiguity.id for ambiguity in catalogue.concerning({rule}))}
    return tuple(each for each in load_observations() if names.intersection(each.about))


def _load(folder: Path) -> tuple[Observation, ...]:
    found = [
        _observation(_fields(f"{path.name}: line {number}", line))
        for path in sorted(folder.glob("*.jsonl"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    ]
    checks.check_unique(Fields("observed", {}), "id", [each.id for each in found])
    return tuple(found)


def _fields(where: str, line: str) -> Fields:
    try:
        return Fields(where, json.loads(line))
    except ValueError as error:
        raise SpecificationError(f"{where}: not valid JSON: {error}.") from error


def _observation(fields: Fields) -> Observation:
    session = fields.text_or_none("session")
    observation = Observation(
        id=checks.matching(fields, "id", r"[A-Z]\d{2,4}"),
        plane=fields.choice("plane", PLANES),
        tier=fields.choice("tier", (*terms.TIERS, ANY_TIER)),
        session=session,
        about=fields.texts("about"),
        request={"text": fields.text("request")} if session is None else fields.raw("request"),
        recorded=fields.raw("recorded"),
        note=fields.text_or_none("note"),
        sources=tuple(_origin(entry) for entry in fields.entries("sources")),
    )
    fields.end()
    return observation


def _origin(fields: Fields) -> Origin:
    path = checks.matching_or_none(fields, "path", r"[A-Za-z0-9.$-][^\s]*")
    origin = Origin(
        repository=checks.matching(fields, "repository", r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+"),
        path=path,
        commit=None if path is None else checks.matching(fields, "commit", r"[0-9a-f]{40}"),
        issue=fields.number("issue", 1, 999_999) if path is None else None,
        as_of=checks.matching(fields, "as_of", r"\d{4}(-\d\d(-\d\d)?)?") if path is None else None,
    )
    fields.end()
    return origin
