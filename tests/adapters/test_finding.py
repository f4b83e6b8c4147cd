"""An adapter is found by its name, or the name is refused with what there is instead."""

import itertools
import re
import sys
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from busproof.adapters import finding
from busproof.adapters.finding import Available, available, find
from busproof.adapters.model import ModelAdapter
from busproof.adapters.process import ProcessAdapter
from busproof.errors import AdapterError, UsageError
from busproof.vocabulary.profile import Profile

COUNT = itertools.count()

ADAPTER = """
import busproof.errors

class Whole:
    declaration = None
    def start(self, profile): ...
    def do(self, command, connection): ...
    def stop(self): ...

class Asking(Whole):
    @property
    def declaration(self):
        raise AssertionError("nobody may ask yet")

class Proxy:
    def __getattr__(self, name):
        return getattr(Whole(), name)

class Half:
    def start(self, profile): ...
    stop = 3

class Nest:
    Inner = Whole

def fails():
    raise RuntimeError("no bus today")

def refuses():
    raise busproof.errors.UsageError("name a bus")

number = 3
_hidden = 4
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module in the current folder."""
    name = f"found_adapter_{next(COUNT)}"
    (tmp_path / f"{name}.py").write_text(ADAPTER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


def seek(name: str) -> object:
    return find(name, timeout=1)


def installed(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    point = EntryPoint(name, value, finding.GROUP)

    def entry_points(*, group: str, name: str | None = None) -> list[EntryPoint]:
        return [point] if group == finding.GROUP and name in (None, point.name) else []

    monkeypatch.setattr(metadata, "entry_points", entry_points)


@pytest.mark.parametrize("name", ["model", "model?", "model?policy=hostile&seed=3"])
def test_the_model_is_found(name: str) -> None:
    assert isinstance(seek(name), ModelAdapter)


def test_the_model_takes_its_policy() -> None:
    assert (
        seek("model?policy=hostile").declaration.implementation.name == "busproof model (hostile)"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("model?polcy=hostile", "model has no setting polcy: it has policy, seed"),
        ("model?seed=three", "model's seed is 'three', and must be a whole number"),
        ("model?policy=kind", "there is no policy 'kind'"),
    ],
)
def test_a_wrong_setting_of_the_model_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        seek(name)


def test_a_fault_is_found_by_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = ModuleType("busproof.adapters.faults")
    faults.make = lambda fault: f"adapter with {fault}"
    monkeypatch.setitem(sys.modules, faults.__name__, faults)
    assert seek("faulty:KEY-03-A") == "adapter with KEY-03-A"


def test_a_command_is_a_process_that_is_not_started_yet() -> None:
    adapter = find("exec:/no/such/program --port 3", timeout=0.5)
    assert isinstance(adapter, ProcessAdapter)
    with pytest.raises(AdapterError, match="/no/such/program was not found"):
        adapter.start(Profile(edition="e"))


def test_a_command_must_name_something() -> None:
    with pytest.raises(UsageError, match="the command is empty"):
        seek("exec:")


@pytest.mark.parametrize("factory", ["Whole", "Asking", "Proxy", "Nest.Inner"])
def test_a_factory_in_the_current_folder_is_called(module: str, factory: str) -> None:
    adapter = seek(f"{module}:{factory}")
    assert type(adapter).__name__ == factory.removeprefix("Nest.").replace("Inner", "Whole")


def test_an_installed_module_is_preferred_to_the_current_folder(module: str) -> None:
    Path("json.py").write_text("raise AssertionError")
    sys.modules.pop("json.tool", None)
    with pytest.raises(UsageError, match=re.escape("the module json.tool has no factory")):
        seek("json.tool:factory")
    assert module


@pytest.mark.parametrize(
    ("factory", "kind", "said"),
    [
        ("Hole", UsageError, "has no Hole; it has Whole"),
        ("zzz", UsageError, "has no zzz; it has busproof, Whole, Asking, Proxy, Half"),
        ("Nest.Outer", UsageError, "has no Nest.Outer; it has"),
        ("number", UsageError, "must be a function that returns an adapter, and is 3"),
        ("refuses", UsageError, "name a bus"),
        ("fails", AdapterError, "failed to make an adapter: RuntimeError: no bus today"),
        (
            "Half",
            AdapterError,
            "returned a Half, which is not an adapter: it lacks do, stop, decla",
        ),
    ],
)
def test_a_factory_that_is_none_is_refused(
    module: str, factory: str, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=re.escape(said)):
        seek(f"{module}:{factory}")


@pytest.mark.parametrize("name", ["no_such_package", "no_such_package.adapter", "json.no_such"])
def test_a_module_that_is_not_there_is_named(name: str) -> None:
    missing = re.escape("no_such_package" if name.startswith("no") else name)
    with pytest.raises(UsageError, match=f"there is no module {missing}, neither installed nor"):
        seek(f"{name}:factory")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import no_such_dependency", "ModuleNotFoundError: No module named 'no_such_dependency'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError: invalid syntax"),
        (
            "from importlib.metadata import version; version(__name__)",
            "PackageNotFoundError: No package metadata was found for",
        ),
    ],
)
def test_a_module_that_fails_is_reported(module: str, text: str, said: str) -> None:
    Path(f"{module}_broken.py").write_text(text)
    with pytest.raises(AdapterError, match=f"{module}_broken cannot be imported: {said}"):
        seek(f"{module}_broken:factory")


def test_an_adapter_of_an_installed_package_is_found(module: str, monkeypatch) -> None:
    monkeypatch.syspath_prepend(Path.cwd())
    installed(monkeypatch, "my-bus", f"{module}:Whole")
    assert type(seek("my-bus")).__name__ == "Whole"
    assert available()[-1] == Available(name="my-bus", kind="installed", summary=f"{module}:Whole")


def test_an_installed_adapter_that_cannot_be_imported_is_reported(monkeypatch) -> None:
    installed(monkeypatch, "my-bus", "no_such_package:make")
    with pytest.raises(AdapterError, match="the adapter my-bus of no_such_package:make cannot be"):
        seek("my-bus")


def test_the_package_of_an_installed_adapter_is_named() -> None:
    (point,) = metadata.entry_points(group="pytest11", name="hypothesispytest")
    assert finding._origin(point).startswith("hypothesis ")


def test_spark_is_found_and_starts_nothing_yet() -> None:
    assert "Spark SQL" == seek("spark?master=local[2]").declaration.implementation.language


def test_a_setting_that_spark_does_not_have_is_reported() -> None:
    with pytest.raises(UsageError, match=re.escape("spark has no setting cores: it has master")):
        seek("spark?cores=4")


@pytest.mark.parametrize(
    "name",
    [
        "amqp://localhost",
        "AMQPS://name:secret@host:5671",
        "Endpoint=sb://x.example.net/;SharedAccessKeyName=k;SharedAccessKey=secret",
        "env:BUS",
    ],
)
def test_a_service_is_not_used_unless_somebody_agreed(name: str, monkeypatch) -> None:
    monkeypatch.delenv("BUSPROOF_NAMESPACE_RUN", raising=False)
    monkeypatch.setenv("BUS", "amqp://name:secret@localhost")
    with pytest.raises(UsageError, match="BUSPROOF_NAMESPACE_RUN") as caught:
        seek(name)
    assert "secret" not in str(caught.value)


@pytest.mark.needs("proton")
def test_a_service_is_found_where_somebody_agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    from busproof.adapters.amqp.remote import RemoteAdapter  # it needs proton

    monkeypatch.setenv("BUSPROOF_NAMESPACE_RUN", "abcd1234")
    assert isinstance(seek("amqp://name:secret@localhost"), RemoteAdapter)


def test_an_environment_that_names_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUS", raising=False)
    with pytest.raises(UsageError, match="variable BUS names no adapter"):
        seek("env:BUS")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("modle", "there is no adapter 'modle' (did you mean model?); there are model, "),
        ("fault:KEY-03", "'fault:KEY-03' (did you mean faulty:FAULT-ID?); there are model, "),
        ("ftp://localhost", "there is no adapter 'ftp://localhost'; there are model, "),
        ("faulti", "(did you mean faulty:FAULT-ID?)"),
        ("exe", "(did you mean exec:COMMAND?)"),
        ("", "there is no adapter ''; there are model, "),
        (":", "there is no adapter ':'; there are model, "),
        (
            "Endpiont=sb://x/;SharedAccessKey=k",
            "'Endpiont=sb://x/' (did you mean Endpoint=sb://…?)",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_what_there_is(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        seek(name)
    assert said in str(caught.value)


def test_every_way_to_name_an_adapter_is_listed() -> None:
    starts = [each.name.split(":")[0].split("?")[0] for each in available()]
    assert starts[:9] == [
        *("model", "model", "faulty", "generated", "exec", "package.module", "amqp", "http"),
        "Endpoint=sb",
    ]
    assert all(each.kind and each.summary for each in available())
