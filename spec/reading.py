"""Reader of a YAML file, and of the fields of its entries.

Every error names the file, the entry, the field, the value and the allowed values.
"""

from collections.abc import Collection
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, Final, cast

import yaml

from busproof.errors import SpecificationError

__all__ = ["Fields", "parse", "read_file"]

_TEXT: Final = "tag:yaml.org,2002:str"
_LIST: Final = "tag:yaml.org,2002:seq"
_MAPPING: Final = "tag:yaml.org,2002:map"
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_file(folder: Path, name: str) -> "Fields":
    """Return the top-level fields of `folder / name`.

    Raises:
        SpecificationError: the file is missing, empty, not UTF-8, not YAML or not a mapping.
    """
    data = parse(_text(folder / name, name), name)
    if data is None:
        raise SpecificationError(f"{name}: the file is empty; it needs a mapping of fields.")
    return Fields(name, data)


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SpecificationError(f"{name}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SpecificationError(
            f"{name}: byte {error.start} is not UTF-8; save the file as UTF-8."
        ) from error


def parse(text: str, name: str) -> object:
    """Return the value of a YAML text; `name` is the file's in error messages.

    Raises:
        SpecificationError: the text is not YAML, or a field stands twice in one entry.
    """
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        _refuse_repeated_keys(node, name)
        return None if node is None else _value(node, loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or error
        raise SpecificationError(f"{name}: {line}not valid YAML: {problem}.") from error
    finally:
        loader.dispose()


def _value(node: yaml.Node, loader: yaml.SafeLoader) -> object:
    """Return the value of a node.

    Texts, lists and mappings, which are most of a catalogue, are handled here, because YAML's own
    loader is slow with them.
    """
    if node.tag == _TEXT and isinstance(node, yaml.ScalarNode):
        return node.value
    if node.tag == _LIST and isinstance(node, yaml.SequenceNode):
        return [_value(item, loader) for item in node.value]
    if node.tag == _MAPPING and isinstance(node, yaml.MappingNode) and _is_named(node):
        return {key.value: _value(value, loader) for key, value in node.value}
    return loader.construct_object(node, deep=True)


def _is_named(node: yaml.MappingNode) -> bool:
    return all(key.tag == _TEXT and isinstance(key, yaml.ScalarNode) for key, _ in node.value)


def _refuse_repeated_keys(node: yaml.Node | None, name: str) -> None:
    """Raise an error for a key that occurs twice; YAML's loader would silently take the last."""
    if isinstance(node, yaml.MappingNode):
        earlier: set[str] = set()
        for key, value in node.value:
            if key.value in earlier:
                line = key.start_mark.line + 1
                raise SpecificationError(
                    f"{name}: line {line}: field {key.value!r} stands twice in one entry; keep one."
                )
            earlier.add(key.value)
            _refuse_repeated_keys(value, name)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_repeated_keys(item, name)


class Fields:
    """The fields of one entry; each is taken once, and `end` rejects those that are left."""

    def __init__(self, where: str, data: object) -> None:
        """Set the entry's fields, and `where`, the beginning of its error messages.

        Raises:
            SpecificationError: the entry is not a mapping whose keys are texts.
        """
        self.where = where
        if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
            raise SpecificationError(f"{where}: {data!r} is not a mapping of named fields.")
        self._left: dict[str, object] = dict(data)

    def wrong(self, field: str, value: object, allowed: str) -> SpecificationError:
        """Return the error for a field whose value is not allowed; the caller raises it."""
        return SpecificationError(
            f"{self.where}: {field}: {value!r} is not allowed; allowed: {allowed}."
        )

    def _take(self, field: str) -> object:
        if field not in self._left:
            raise SpecificationError(f"{self.where}: {field}: this field is missing.")
        return self._left.pop(field)

    def text(self, field: str) -> str:
        """Return a text that is not blank."""
        value = self._take(field)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(field, value, "a text that is not blank")
        return value

    def text_or_none(self, field: str) -> str | None:
        """Return a text that is not blank, or `None` if the field is missing."""
        return self.text(field) if field in self._left else None

    def date_or_none(self, field: str) -> date | None:
        """Return a date, written as `2027-01-31`, or `None` if the field is missing."""
        if field not in self._left:
            return None
        value = self._take(field)
        if isinstance(value, str):
            with suppress(ValueError):
                value = date.fromisoformat(value)
        # A datetime is a date in Python; a time of day has no meaning here.
        if type(value) is not date:
            raise self.wrong(field, value, "a day, as in 2027-01-31")
        return value

    def number(self, field: str, lowest: int, highest: int) -> int:
        """Return a whole number in this range, which includes both ends."""
        value = self._take(field)
        # bool is an int in Python, but "true" is not a number in the file.
        if type(value) is not int or not lowest <= value <= highest:
            raise self.wrong(field, value, f"a whole number from {lowest} to {highest}")
        return value

    def choice(self, field: str, allowed: Collection[str]) -> str:
        """Return one of the allowed texts."""
        value = self.text(field)
        if value not in allowed:
            raise self.wrong(field, value, ", ".join(allowed))
        return value

    def texts(self, field: str, allowed: Collection[str] | None = None) -> tuple[str, ...]:
        """Return a list of different texts; if `allowed` is given, only of those."""
        values = self._list(field)
        texts = tuple(value for value in values if isinstance(value, str) and value.strip())
        if len(texts) < len(values) or len(set(texts)) < len(texts):
            raise self.wrong(field, values, "a list of texts, none of them blank or twice")
        for text in texts:
            if allowed is not None and text not in allowed:
                raise self.wrong(field, text, ", ".join(allowed))
        return texts

    def texts_or_none(self, field: str) -> tuple[str, ...]:
        """Return a list of texts, or an empty one if the field is missing."""
        return self.texts(field) if field in self._left else ()

    def entries(self, field: str, key: str | None = None) -> tuple["Fields", ...]:
        """Return a list of entries, at least one; errors name each by `key` or its position."""
        values = self._list(field)
        if not values:
            raise self.wrong(field, values, "a list with at least one entry")
        return tuple(
            Fields(f"{self.where}: {_name(value, key) or f'{field} {place}'}", value)
            for place, value in enumerate(values, start=1)
        )

    def entries_if_any(self, field: str, key: str | None = None) -> tuple["Fields", ...]:
        """Return a list of entries as `entries` does; it may be empty, but not missing."""
        if self._left.get(field) == []:
            self._take(field)
            return ()
        return self.entries(field, key)

    def entry_or_none(self, field: str) -> "Fields | None":
        """Return the fields of a nested entry, or `None` if the field is missing."""
        if field not in self._left:
            return None
        return Fields(f"{self.where}: {field}", self._take(field))

    def raw(self, field: str) -> dict[str, Any]:
        """Return a nested mapping of names to any values, as the file has it."""
        value = self._take(field)
        Fields(f"{self.where}: {field}", value)
        return cast("dict[str, Any]", value)

    def named_texts(self, field: str) -> dict[str, str]:
        """Return a mapping of names to texts, in the file's order."""
        nested = Fields(f"{self.where}: {field}", self._take(field))
        return {name: nested.text(name) for name in tuple(nested._left)}

    def named_entries(self, field: str) -> dict[str, "Fields"]:
        """Return a mapping of names to entries, in the file's order."""
        nested = Fields(f"{self.where}: {field}", self._take(field))
        return {
            name: Fields(f"{nested.where}: {name}", nested._take(name))
            for name in tuple(nested._left)
        }

    def _list(self, field: str) -> list[object]:
        value = self._take(field)
        if not isinstance(value, list):
            raise self.wrong(field, value, "a list")
        return value

    def end(self) -> None:
        """Raise an error if fields are left that were not taken.

        Raises:
            SpecificationError: a field was not taken.
        """
        for field in self._left:
            raise SpecificationError(f"{self.where}: {field}: there is no such field.")


def _name(value: object, key: str | None) -> str | None:
    name = value.get(key) if key and isinstance(value, dict) else None
    return name if isinstance(name, str) else None
