"""JSON encoding of the model's values, where each object names its class.

Fields with default values are omitted. Only the classes listed here can be read.
"""

import json
from collections.abc import Callable
from typing import Any, Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.broker.client_descriptions import Written
from busproof.model.values import EntitySettings

__all__ = ["encode_value", "read"]

_CLASSES: Final[tuple[type, ...]] = (
    v.CorrelationFilter,
    EntitySettings,
    v.FalseFilter,
    v.Message,
    v.SqlFilter,
    v.SubscriptionRule,
    v.TrueFilter,
    Written,
)
MAP, SET = "Map", "Set"
_NOTHING: Final = object()

_Writer = Callable[[Any], Any]
_WRITERS: dict[type, _Writer] = {}


def encode_value(value: Any, *, without: tuple[str, ...] = ()) -> str:
    """Encode a value of the model, leaving out the fields named in `without`."""
    plain = _plain(value) if not without else _fields_of(type(value), without)(value)
    return _encode(plain)


def read(text: str, **more: Any) -> Any:
    """Decode a value; `more` has the fields that were left out.

    Raises:
        ValueError: the text is not an encoded value.
    """
    try:
        value, end = _decode(text)
        if end < len(text):
            raise ValueError(f"{text[:80]!r} continues after its end")
        return _complete(value, more) if more else _tuples(value)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"{text[:80]!r} is not an encoded value: {error}") from None


def _complete(value: Any, more: dict[str, Any]) -> Any:
    """Build a value of its class from the stored fields and the ones left out."""
    kind, fields = value
    return _READ[kind](fields | more)


def _plain(value: Any) -> Any:
    writer = _WRITERS.get(type(value))
    if writer is None:
        writer = _WRITERS[type(value)] = _writer_of(type(value))
    return writer(value)


def _writer_of(kind: type) -> _Writer:
    if kind in _CLASSES:
        fields, name = _fields_of(kind, ()), kind.__name__
        return lambda value: {name: fields(value)[1]}
    if issubclass(kind, str):
        return str  # what is counted for as long as it is there is stored as its text
    if kind not in _SIMPLE:
        # A class that is not listed would be lost at the next start, and nobody would notice.
        raise AssertionError(f"{kind.__name__} has no encoding")
    return _SIMPLE[kind]


def _same(value: Any) -> Any:
    return value


def _map(value: Any) -> Any:
    return {MAP: [[_plain(key), _plain(item)] for key, item in value.items()]}


_SIMPLE: Final[dict[type, _Writer]] = {
    str: _same,
    int: _same,
    float: _same,
    bool: _same,
    type(None): _same,
    tuple: lambda value: [_plain(item) for item in value],
    frozenset: lambda value: {SET: sorted(value)},
    Map: _map,
}


_FIELDS: dict[tuple[type, tuple[str, ...]], _Writer] = {}


def _fields_of(kind: type, without: tuple[str, ...]) -> _Writer:
    """Return a function that writes a class's name and its fields without default values."""
    if (writer := _FIELDS.get((kind, without))) is not None:
        return writer
    fields = [(attribute.name, _default(attribute)) for attribute in attrs.fields(kind)]
    kept = [(name, default) for name, default in fields if name not in without]

    def write(value: Any) -> list[Any]:
        written = {}
        for name, default in kept:
            field = getattr(value, name)
            # Compare identities first: most fields have their default, and values cost more.
            if field is not default and field != default:
                written[name] = _plain(field)
        return [kind.__name__, written]

    _FIELDS[kind, without] = write
    return write


def _default(field: "attrs.Attribute[Any]") -> Any:
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type] # attrs' own advice
        return _NOTHING if default.takes_self else default.factory()
    return _NOTHING if default is attrs.NOTHING else default


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if type(value) is list else value


def _value(encoded: dict[str, Any]) -> Any:
    """Return the value that an object encodes; an object of fields is returned unchanged."""
    if len(encoded) == 1:
        ((name, inside),) = encoded.items()
        if (reader := _READ.get(name)) is not None:
            return reader(inside)
    return encoded


def _reader_of(kind: type) -> _Writer:
    def reader(fields: dict[str, Any]) -> Any:
        for name, value in fields.items():
            if type(value) is list:
                fields[name] = _tuples(value)
        return kind(**fields)

    return reader


_READ: Final[dict[str, _Writer]] = {
    MAP: lambda pairs: Map({_tuples(key): _tuples(value) for key, value in pairs}),
    SET: frozenset,
    **{kind.__name__: _reader_of(kind) for kind in _CLASSES},
}

_encode: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_decode: Final = json.JSONDecoder(object_hook=_value).raw_decode
