"""Lookup of an adapter by the name that `--adapter` takes."""

import difflib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import parse_qsl

import attrs

from busproof import vocabulary as v
from busproof.adapters.amqp.making import make_embedded, make_service
from busproof.adapters.amqp.target import bare, is_connection_string
from busproof.errors import AdapterError, ConformanceError, UsageError
from busproof.extras import MODULES, need

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["GROUP", "Available", "available", "check_name", "find", "is_address", "resolve_name"]

GROUP: Final = "busproof.adapters"
"""Entry point group for adapters in installed packages."""

_METHODS: Final = ("start", "do", "stop")
_MODEL_SETTINGS: Final[dict[str, tuple[Callable[[str], object], str]]] = {
    "policy": (str, "the name of a policy"),
    "seed": (int, "a whole number"),
    "clock": ({"real": "real", "virtual": "virtual"}.__getitem__, "real or virtual"),
    "library": ({"true": True, "false": False}.__getitem__, "true or false"),
    "amqp": ({"true": True, "false": False}.__getitem__, "true or false"),
    "http": ({"true": True, "false": False}.__getitem__, "true or false"),
}
"""For each setting of the model, its parser and a description of valid values."""

_BROKER_SETTINGS: Final[dict[str, tuple[Callable[[str], object], str]]] = {
    **{name: _MODEL_SETTINGS[name] for name in ("policy", "seed")},
    "fault": (str, "the id of a seeded fault"),
}
"""The same for the embedded broker, whose clock is always virtual."""

_SPARK_SETTINGS: Final[dict[str, tuple[Callable[[str], object], str]]] = {
    "master": (str, "the Spark master, such as local[2]"),
}
"""The same for the bus on Spark."""

_SETTINGS: Final = {
    "model": _MODEL_SETTINGS,
    "amqp": _BROKER_SETTINGS,
    "http": _BROKER_SETTINGS,
    "spark": _SPARK_SETTINGS,
}

_ADDRESSES: Final = ("amqp://", "amqps://", "http://", "https://")
"""Lower-case prefixes of a service's address that is not a connection string."""

_FROM_ENVIRONMENT: Final = "env:"


@attrs.frozen(kw_only=True)
class Available:
    """A name that `--adapter` accepts, with its kind and a summary."""

    name: str
    kind: str
    summary: str


_BUILT_IN: Final = (
    Available(name="model", kind="built in", summary="the reference model itself"),
    Available(
        name="model?policy=NAME&seed=NUMBER",
        kind="built in",
        summary="the reference model, with this policy where it may choose; "
        "&clock=real: in real time, &library=true: behind a client library, &amqp=true or "
        "&http=true: as if it spoke that",
    ),
    Available(
        name="faulty:FAULT-ID",
        kind="built in",
        summary="the model with one seeded fault",
    ),
    Available(
        name="generated:MUTANT-ID",
        kind="built in",
        summary="the reference model with one generated change",
    ),
    Available(
        name="exec:COMMAND", kind="process", summary="any program that speaks the process protocol"
    ),
    Available(
        name="package.module:factory",
        kind="factory",
        summary="what a function of yours, without arguments, returns",
    ),
    Available(
        name="amqp",
        kind="built in",
        summary="the embedded broker, started for the run and asked over AMQP 1.0; "
        "busproof[amqp]; ?policy=NAME&seed=NUMBER as for the model, ?fault=FAULT-ID",
    ),
    Available(
        name="http",
        kind="built in",
        summary="the same broker, whose messages are sent and received over HTTP; busproof[amqp]; "
        "?policy=NAME&seed=NUMBER, ?fault=FAULT-ID",
    ),
    Available(
        name="Endpoint=sb://…",
        kind="address",
        summary="a Service Bus namespace or emulator by its connection string; busproof[amqp]; "
        "also amqp://KEYNAME:KEY@HOST:PORT and amqps://…, ?dialect=plain for AMQP 1.0 alone; "
        "with Protocol=http, or by http://KEYNAME:KEY@HOST:PORT and https://…, over HTTP",
    ),
    Available(
        name="env:NAME",
        kind="address",
        summary="what the environment variable NAME says, which keeps keys off the command line",
    ),
    Available(
        name="spark",
        kind="built in",
        summary="the rules once more, as expressions that Spark folds; busproof[spark]; "
        "?master=MASTER, all cores of this machine by default",
    ),
)


def available() -> list[Available]:
    """Return all names that `--adapter` accepts; those of installed packages are last."""
    installed = [
        Available(name=point.name, kind="installed", summary=_origin(point))
        for point in sorted(_find_installed(), key=attrgetter("name"))
    ]
    return [*_BUILT_IN, *installed]


def find(name: str, *, timeout: float) -> v.Adapter:
    """Return the adapter with this name, not yet started.

    Args:
        name: a name that `--adapter` accepts; `available` lists them.
        timeout: maximum wait for an answer of an adapter in another process, in seconds.

    Raises:
        UsageError: there is no such adapter, or its extra is not installed.
        AdapterError: the code of the adapter fails, or returns something else.
    """
    name = resolve_name(name)
    _need_extra(name)
    if (built_in := _find_built_in(name, timeout)) is not None:
        return built_in
    for point in _find_installed(name):
        return _make(_load(point), name)
    if ":" in name:
        return _make(_import(name), name)
    raise UsageError(_unknown(name))


def check_name(name: str) -> None:
    """Check the name of an adapter, as far as possible without importing the adapter.

    Raises:
        UsageError: there is no such adapter, or its extra is not installed.
    """
    name = resolve_name(name)
    _need_extra(name)
    kind, _, query = name.partition("?")
    if kind in _SETTINGS:
        dict(_settings(kind, query, _SETTINGS[kind]))
    elif ":" not in name and not _find_installed(name):
        raise UsageError(_unknown(name))


def _find_installed(name: str | None = None) -> "Iterable[EntryPoint]":
    """Return the adapters of installed packages, or the one with this name."""
    # A run on a built-in adapter starts faster without it.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP) if name is None else entry_points(group=GROUP, name=name)


def _need_extra(name: str) -> None:
    kind = name.partition("?")[0]
    if is_address(name):
        need("amqp", "a service over AMQP or HTTP")
    elif kind in ("http", *MODULES):
        # It starts the same broker.
        need("amqp" if kind == "http" else kind, f"the adapter {kind}")


def _find_built_in(name: str, timeout: float) -> v.Adapter | None:
    if name == "model" or name.startswith("model?"):
        return _model(name.partition("?")[2])
    if name.startswith(("faulty:", "generated:")):
        return _mutant(*name.split(":", 1))
    if name.startswith("exec:"):
        return _process(name.removeprefix("exec:"), timeout)
    kind, _, query = name.partition("?")
    if kind in ("amqp", "http"):
        settings = _settings(kind, query, _BROKER_SETTINGS)
        return make_embedded(dict(settings), timeout, http=kind == "http")
    if name == "spark" or name.startswith("spark?"):
        return _spark(name.partition("?")[2])
    return make_service(name, timeout) if is_address(name) else None


def _model(query: str) -> v.Adapter:
    module = importlib.import_module("busproof.adapters.model")
    settings = dict(_settings("model", query, _MODEL_SETTINGS))
    return cast(v.Adapter, module.ModelAdapter(**settings))


def _spark(query: str) -> v.Adapter:
    settings = dict(_settings("spark", query, _SPARK_SETTINGS))
    module = importlib.import_module("busproof.adapters.spark")
    return cast(v.Adapter, module.SparkAdapter(**settings))


def _settings(
    adapter: str, query: str, known: Mapping[str, tuple[Callable[[str], object], str]]
) -> Iterator[tuple[str, object]]:
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key not in known:
            raise UsageError(f"{adapter} has no setting {key}: it has {', '.join(known)}")
        read, allowed = known[key]
        try:
            yield key, read(value)
        except (KeyError, ValueError):
            raise UsageError(f"{adapter}'s {key} is {value!r}, and must be {allowed}") from None


def _mutant(kind: str, identity: str) -> v.Adapter:
    if kind == "faulty":
        return cast(v.Adapter, importlib.import_module("busproof.adapters.faults").make(identity))
    from busproof.adapters.model import ModelAdapter
    from busproof.mutants.by_machine.made import families_of, find_mutant

    return ModelAdapter(families=families_of(find_mutant(identity)))


def _process(command: str, timeout: float) -> v.Adapter:
    from busproof.adapters.process import ProcessAdapter  # the codec loads slowly

    return ProcessAdapter(command, timeout)


def is_address(name: str) -> bool:
    """Return whether a name is the address of a service that someone else runs."""
    text = bare(name)
    return text.lower().startswith(_ADDRESSES) or is_connection_string(text)


def resolve_name(name: str) -> str:
    """Return the name of an adapter; a name such as `env:NAME` is read from the environment.

    Raises:
        UsageError: the environment variable is not set.
    """
    if not name.startswith(_FROM_ENVIRONMENT):
        return name
    variable = name.removeprefix(_FROM_ENVIRONMENT)
    value = os.environ.get(variable, "").strip()
    if not value or value.startswith(_FROM_ENVIRONMENT):
        raise UsageError(f"the environment variable {variable} names no adapter")
    return value


def _load(point: "EntryPoint") -> object:
    try:
        return cast(object, point.load())
    except Exception as error:
        raise AdapterError(
            f"the adapter {point.name} of {_origin(point)} cannot be imported: {_error_text(error)}"
        ) from error


def _import(name: str) -> object:
    module_name, _, path = name.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *path.split(".")]):
        raise UsageError(_unknown(name))
    module = _module(module_name)
    try:
        return cast(object, attrgetter(path)(module))
    except AttributeError:
        public = [var for var in vars(module) if not var.startswith("_")]
        near = difflib.get_close_matches(path, public) or public
        raise UsageError(
            f"the module {module_name} has no {path}; it has {', '.join(near) or 'nothing'}"
        ) from None


def _module(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except Exception as error:
        # The subclass would mean that the metadata of a package is missing.
        missing = error.name if type(error) is ModuleNotFoundError else None
        if missing and f"{name}.".startswith(f"{missing}."):
            raise UsageError(
                f"there is no module {missing}, neither installed nor in the current folder"
            ) from None
        raise AdapterError(f"the module {name} cannot be imported: {_error_text(error)}") from error


def _make(factory: object, name: str) -> v.Adapter:
    if not callable(factory):
        raise UsageError(f"{name} must be a function that returns an adapter, and is {factory!r}")
    try:
        adapter = factory()
    except ConformanceError:
        raise
    except Exception as error:
        raise AdapterError(f"{name} failed to make an adapter: {_error_text(error)}") from error
    lacking = [method for method in _METHODS if not callable(getattr(adapter, method, None))]
    if not _declares(adapter):
        lacking.append("declaration")
    if lacking:
        raise AdapterError(
            f"{name} returned a {type(adapter).__name__}, which is not an adapter: "
            f"it lacks {', '.join(lacking)}"
        )
    return cast(v.Adapter, adapter)


def _declares(adapter: object) -> bool:
    """Return whether an object has a declaration, if possible without evaluating it."""
    missing = object()
    attribute = inspect.getattr_static(adapter, "declaration", missing)
    return attribute is not missing or hasattr(adapter, "declaration")


def _origin(point: "EntryPoint") -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _unknown(name: str) -> str:
    names = [adapter.name for adapter in available()]
    by_start = {name.partition(":")[0].partition("?")[0]: name for name in reversed(names)}
    near = difflib.get_close_matches(name.partition(":")[0], by_start, n=1)
    hint = f" (did you mean {by_start[near[0]]}?)" if near else ""
    shown = name.partition(";")[0]  # the rest of a connection string is secret
    return f"there is no adapter {shown!r}{hint}; there are {', '.join(names)}"
