"""Print what docs/compatibility.md promises, one promise a line: `NAME = VALUE`.

    tools/promises.py > tools/release/promises.txt

`make promises` does this for a release. tests/test_promises.py compares the file with the present,
and asks for a line in CHANGELOG.md for each promise that changed or went.
"""

import argparse
import enum
import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import click
import yaml

ROOT: Final = Path(__file__).resolve().parent.parent
REQUIRED: Final = "required"
"""The value of a parameter without a default: a new one breaks callers."""

DOCUMENTED: Final = re.compile(r"^::: (\S+)\n(?: +options:\n +members: \[(.*)\])?", re.MULTILINE)
ADDED: Final = re.compile(r"(?P<callable>\S+)\([^)]+\)")
OF_ANOTHER: Final = re.compile(r"\(| (?=[\"{])| default$")
"""The end of the name of what has a parameter, a member of a list or a default."""

PROSE: Final = ("description", "title", "$schema")
"""Keywords of a schema that a reader of files does not depend on."""

OPAQUE: Final = ("busproof.model.Namespace",)
"""Classes of which only the name is promised: what the functions of their module take and give."""

Promises = dict[str, str]


def promises(root: Path = ROOT) -> Promises:
    """Return all promises of the installed package and of the checkout in `root`."""
    return dict(
        sorted(
            {
                **dict(_exit_codes()),
                **dict(_commands()),
                **dict(_api((root / "docs" / "api.md").read_text(encoding="utf-8"))),
                **dict(_schemas()),
                **dict(_pytest()),
                **dict(_action((root / "action.yml").read_text(encoding="utf-8"))),
            }.items()
        )
    )


def broken(recorded: Promises, present: Promises) -> list[str]:
    """Return what changed or went, and new parameters without a default, each name once.

    The name of a parameter, a default or a member is that of what has it.
    """
    lost = [name for name, value in recorded.items() if present.get(name) != value]
    demanded = [
        name
        for name, value in present.items()
        if value == REQUIRED
        and name not in recorded
        and (match := ADDED.fullmatch(name))
        and match["callable"] in recorded
    ]
    return sorted({OF_ANOTHER.split(name)[0] for name in lost + demanded})


def read(text: str) -> tuple[str, Promises]:
    """Return the version of a recorded file, and its promises."""
    first, *lines = text.splitlines()
    pairs = (line.partition(" = ") for line in lines)
    return first.removeprefix("version "), {name: value for name, _, value in pairs}


def write(version: str, found: Promises) -> str:
    """Return the text of a recorded file."""
    lines = [f"version {version}", *(f"{name} = {value}" for name, value in found.items())]
    return "\n".join(lines) + "\n"


def _exit_codes() -> Iterator[tuple[str, str]]:
    from busproof.history.conformance import ExitCode

    for code in ExitCode:
        yield f"exit code {code.value}", code.name.lower()


def _commands() -> Iterator[tuple[str, str]]:
    from busproof.cli.main import COMMANDS

    context = click.Context(COMMANDS)
    for name in COMMANDS.list_commands(context):
        command = COMMANDS.get_command(context, name)
        if command is None:
            raise AssertionError(f"{name} is listed, and cannot be found")
        yield f"busproof {name}", "command"
        for parameter in command.params:
            takes = "flag" if getattr(parameter, "is_flag", False) else "value"
            for spelling in parameter.opts:
                if spelling.startswith("-"):
                    written = f"busproof {name} {spelling}"
                    yield written, REQUIRED if parameter.required else takes
                    if takes == "value" and isinstance(parameter.default, str | int | float):
                        yield f"{written} default", repr(parameter.default)
                    if isinstance(parameter.type, click.Choice):
                        for choice in parameter.type.choices:
                            yield f"{written} {choice}", "choice"


def _api(page: str) -> Iterator[tuple[str, str]]:
    """Yield what the page on the Python API lists."""
    for match in DOCUMENTED.finditer(page):
        name = match[1]
        members = match[2]
        module = importlib.import_module(name)
        chosen = members.split(", ") if members else module.__all__
        for member in chosen:
            yield from _member(f"{name}.{member}", getattr(module, member))


def _member(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, type) and issubclass(value, enum.Enum):
        yield name, "enumeration"
        for one in value:
            yield f"{name}.{one.name}", repr(one.value)
    elif isinstance(value, type):
        yield name, "class"
        if name in OPAQUE:
            return
        yield from _parameters(name, value)
        for part in inspect.classify_class_attrs(value):
            is_ours = part.defining_class.__module__.startswith("busproof.")
            if is_ours and not part.name.startswith("_"):
                yield from _part(f"{name}.{part.name}", getattr(value, part.name))
        if attrs.has(value):
            for field in attrs.fields(value):
                yield f"{name}.{field.name}", "attribute"
    elif callable(value):
        yield name, "function"
        yield from _parameters(name, value)
    else:
        yield name, "value"


def _part(name: str, value: object) -> Iterator[tuple[str, str]]:
    if callable(value):
        yield name, "method"
        yield from _parameters(name, value)
    else:
        yield name, "attribute"


def _parameters(name: str, value: Any) -> Iterator[tuple[str, str]]:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # built in, without a signature
        return
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.name == "self":
            continue
        needed = parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        )
        yield f"{name}({parameter.name})", REQUIRED if needed else "optional"
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            yield f"{name}({parameter.name}) place", str(place)


def _schemas() -> Iterator[tuple[str, str]]:
    from busproof.history.schemas import FOLDER
    from busproof.reports.schemas import FILE

    for file in (*sorted(FOLDER.glob("*.json")), FILE):
        schema = json.loads(file.read_text(encoding="utf-8"))
        definitions = schema.pop("$defs")
        yield from _flat(file.name.removesuffix(".schema.json"), schema)
        for name, definition in definitions.items():
            yield from _flat(f"JSON {name}", definition)


def _without_prose(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return {key: inner for key, inner in value.items() if not _is_prose(key, inner)}


def _is_prose(key: str, inner: object) -> bool:
    """Return whether this is a keyword without effect, not a property of this name."""
    return key in PROSE and isinstance(inner, str)


def _flat(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield each keyword of a schema, and each member of its lists."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not _is_prose(key, inner):
                yield from _flat(name if key == "properties" else f"{name}.{key}", inner)
    elif isinstance(value, list):
        for inner in value:
            yield f"{name} {json.dumps(_without_prose(inner), sort_keys=True)}", "member"
    else:
        yield name, json.dumps(value)


def _pytest() -> Iterator[tuple[str, str]]:
    import pytest

    from busproof.broker import fixtures
    from busproof.steps import plugin

    parser = pytest.Parser(_ispytest=True)
    plugin.pytest_addoption(parser)
    for group in parser._groups:
        for option in group.options:
            for name in option.names():
                yield f"pytest {name}", "option"
    for name in fixtures.__all__:
        yield f"fixture {name}", "fixture"


def _action(text: str) -> Iterator[tuple[str, str]]:
    action = yaml.safe_load(text)
    for name, declared in action["inputs"].items():
        yield f"action input {name}", json.dumps(declared["default"])
    for name in action["outputs"]:
        yield f"action output {name}", "output"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout with api.md")
    from busproof import __version__

    sys.stdout.write(write(__version__, promises(parser.parse_args().root)))
