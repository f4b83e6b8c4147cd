"""The manifest: it has the expected result of each configuration, in `manifest.toml`."""

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.errors import HistoryError, SpecificationError, UsageError
from busproof.history.codec import structure
from busproof.tla.setting import Difference, Pin, Setting

__all__ = [
    "FOLDER",
    "SUCCESS",
    "Configuration",
    "Difference",
    "Kind",
    "Manifest",
    "Pin",
    "Setting",
    "Size",
    "load",
    "read_toml",
    "vary_configuration",
]

FORMAT: Final = 1
FOLDER: Final = Path(__file__).parent
SUCCESS: Final = "success"
_PROPERTIES: Final = re.compile(r"(INVARIANT|PROPERT|ACTION_CONSTRAINT)")
_SLACK: Final = (20, 600.0)
"""Time limit of a run: a multiple of its measured duration, plus some seconds.

The limit is generous. It has to stop runs that never end, but not those on a busy machine.
"""


class Kind(StrEnum):
    """The purpose of a configuration."""

    CHECK = "check"
    REFINEMENT = "refinement"
    LIVENESS = "liveness"
    UNFAIR = "unfair"
    WITNESS = "witness"
    DENIED = "denied"
    GRAPH = "graph"


class Size(StrEnum):
    """Schedule of a configuration: before each change (gate), or every night (full)."""

    GATE = "gate"
    FULL = "full"


@attrs.frozen(kw_only=True)
class _Plain:
    """The fields of a configuration that the strict codec reads."""

    name: str
    module: str
    config: str
    size: Size
    kind: Kind
    title: str
    expect: str = SUCCESS
    violation: str = ""
    distinct: int = 0
    generated: int = 0
    depth: int = 0
    workers: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    initial: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    specification: str = ""
    only: bool = False
    idle: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Configuration(_Plain):
    """A configuration of TLC, with its pinned result.

    Attributes:
        name: its name, which no other configuration has.
        module: the root module.
        config: the name of the configuration file.
        specification: the specification to check instead of the one that the file names.
        constants: constant to the value to use instead of the file's; a value that begins with `<-`
            names an operator.
        only: whether to check only the property in `expect`.
        size: when it runs.
        kind: its purpose.
        title: a sentence for the list of configurations.
        expect: `success`, or the name of the property that must be violated.
        violation: the expected kind of violation.
        distinct: the number of distinct states; pinned if nothing is violated.
        generated: the number of generated states; pinned if nothing is violated.
        depth: the depth of the search, or the length of the counterexample; pinned with one worker.
        seconds: the measured duration, for the time limit and the list.
        workers: the number of threads.
        initial: the number of initial states.
        idle: actions that are expected to generate no state.
        rules: the ids of the rules that it shows.
        graph: the setting of the graph's comparison; `None` if it has none.
    """

    seconds: float = 0
    constants: Mapping[str, str] = attrs.field(factory=dict)
    graph: Setting | None = None

    @property
    def timeout(self) -> float:
        """Time limit in seconds."""
        return _SLACK[0] * self.seconds + _SLACK[1]


@attrs.frozen(kw_only=True)
class Manifest:
    """All configurations of a folder."""

    folder: Path
    configurations: tuple[Configuration, ...]

    def configuration(self, name: str) -> Configuration:
        """Return the configuration with this name.

        Raises:
            UsageError: there is no such configuration.
        """
        names = {configuration.name: configuration for configuration in self.configurations}
        if name in names:
            return names[name]
        close = get_close_matches(name.lower(), names, cutoff=0.5)
        hint = f"nearest: {', '.join(close)}; " if close else ""
        raise UsageError(
            f"There is no configuration {name!r}; {hint}`busproof modelcheck --list` lists all."
        )

    def setting(self, configuration: Configuration) -> Setting | None:
        """Return the setting that replays a configuration on the model; `None` if there is none.

        It is the configuration's own, or that of a graph with the same file or module.
        """
        graphs = [other for other in self.configurations if other.graph is not None]
        alike = (
            [graph.graph for graph in graphs if graph.config == configuration.config],
            [graph.graph for graph in graphs if graph.module == configuration.module],
        )
        return configuration.graph or next((settings[0] for settings in alike if settings), None)

    def of_size(self, size: Size) -> tuple[Configuration, ...]:
        """Return the configurations to run for this size; the full size includes the gate."""
        return tuple(
            configuration
            for configuration in self.configurations
            if size in (Size.FULL, configuration.size)
        )

    def text(self, configuration: Configuration) -> str:
        """Return the configuration file with the changes that its manifest entry makes.

        Raises:
            SpecificationError: the entry changes a line that the file does not have.
        """
        text = (self.folder / configuration.config).read_text(encoding="utf-8")
        return vary_configuration(configuration, text, _alone(configuration))


def load(folder: Path = FOLDER) -> Manifest:
    """Return the manifest in a folder of specs; without a folder, busproof's own.

    Raises:
        SpecificationError: the manifest is broken; the message names the entry and the field.
    """
    path = folder / "manifest.toml"
    entries = read_toml(path).get("configuration", [])
    configurations = tuple(_configuration(entry, path) for entry in entries)
    names = [configuration.name for configuration in configurations]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SpecificationError(f"{path.name}: two configurations are called {twice[0]!r}")
    for configuration in configurations:
        _check(configuration, folder)
    return Manifest(folder=folder, configurations=configurations)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file in the folder of the specs.

    Raises:
        SpecificationError: the file cannot be read, or has another format.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecificationError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecificationError(f"{path.name} is not TOML: {error}") from None
    if content.get("format") != FORMAT:
        raise SpecificationError(
            f"{path.name} has format {content.get('format')!r}, and must have {FORMAT}"
        )
    return content


def _configuration(entry: Mapping[str, Any], path: Path) -> Configuration:
    named = entry.get("name", "one without a name")
    what = f"{path.name}, configuration {named}"
    entry = dict(entry)
    graph = entry.pop("graph", None)
    constants = _constants(entry.pop("constants", {}), what)
    try:
        seconds = float(entry.pop("seconds", 0))
        plain = structure(entry, _Plain, what)
        return Configuration(
            **attrs.asdict(plain, recurse=False),
            seconds=seconds,
            constants=constants,
            graph=None if graph is None else _setting(graph),
        )
    except (HistoryError, TypeError, ValueError) as error:
        raise SpecificationError(f"{what}: {error}") from None


def _constants(entry: object, what: str) -> dict[str, str]:
    if isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values()):
        return entry
    raise SpecificationError(f"{what}: constants must be a table of texts, not {entry!r}")


def _setting(entry: Mapping[str, Any]) -> Setting:
    known = {field.name for field in attrs.fields(Setting)}
    unknown = sorted(set(entry) - known)
    if unknown:
        raise ValueError(
            f"graph has a field {unknown[0]!r}; it may have {', '.join(sorted(known))}"
        )
    return Setting(**entry)


def _check(configuration: Configuration, folder: Path) -> None:
    """Raise an error for an entry whose fields contradict each other."""
    if (configuration.kind is Kind.GRAPH) is not (configuration.graph is not None):
        raise SpecificationError(
            f"{configuration.name}: kind graph and the table graph go together"
        )
    careful = configuration.kind in (Kind.GRAPH, Kind.LIVENESS, Kind.UNFAIR)
    if careful and configuration.workers != 1:
        raise SpecificationError(
            f"{configuration.name}: {configuration.kind.value} needs workers = 1; "
            "TLC 2.15 is unsound with more"
        )
    must_fail = configuration.kind in (Kind.UNFAIR, Kind.WITNESS, Kind.DENIED)
    if must_fail is (configuration.expect == SUCCESS):
        raise SpecificationError(
            f"{configuration.name}: {configuration.kind.value} must expect "
            f"{'the name of a property' if must_fail else SUCCESS}, not {configuration.expect!r}"
        )
    for name in (f"{configuration.module}.tla", configuration.config):
        if not (folder / name).exists():
            raise SpecificationError(f"{configuration.name}: there is no file {name}")


def _alone(configuration: Configuration) -> tuple[str, ...]:
    """Return the lines that replace all properties of the file; none for an ordinary check.

    A witness has to fail by its own property, so no other one is checked.
    """
    if configuration.kind is Kind.GRAPH:
        return ("INVARIANT TypeOK", "ACTION_CONSTRAINT Printed")
    if configuration.kind in (Kind.WITNESS, Kind.DENIED) or configuration.only:
        heading = "INVARIANT" if configuration.violation == "invariant" else "PROPERTY"
        return (f"{heading} {configuration.expect}",)
    return ()


def vary_configuration(configuration: Configuration, text: str, alone: tuple[str, ...] = ()) -> str:
    """Return a configuration file with the specification and the constants of its entry.

    Args:
        configuration: the entry of the manifest.
        text: the content of the file.
        alone: the lines that replace all invariants and properties; none to keep them.

    Raises:
        SpecificationError: a line to replace does not occur exactly once.
    """
    lines = text.splitlines()
    if configuration.specification:
        _replace(
            lines, "SPECIFICATION", f"SPECIFICATION {configuration.specification}", configuration
        )
    for name, value in configuration.constants.items():
        sign = "" if value.startswith("<-") else "= "
        _replace(lines, name, f"  {name} {sign}{value}", configuration)
    if alone:
        cut = [place for place, line in enumerate(lines) if _PROPERTIES.match(line)]
        lines = [*lines[: cut[0] if cut else len(lines)], *alone]
    return "\n".join(lines) + "\n"


def _replace(lines: list[str], word: str, line: str, configuration: Configuration) -> None:
    places = [place for place, old in enumerate(lines) if old.split()[:1] == [word]]
    if len(places) != 1:
        raise SpecificationError(
            f"{configuration.name} varies {word}, which stands in {len(places)} lines of "
            f"{configuration.config}, and must in one"
        )
    lines[places[0]] = line
