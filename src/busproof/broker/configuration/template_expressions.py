"""Expressions of Azure Resource Manager in templates, such as `[format('{0}/q', parameters('a'))]`.

Only functions that can be evaluated without Azure are known. Names that Azure makes up, such as
those of `uniqueString` and `newGuid`, are made up here, too, and are the same at each start.
"""

import hashlib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import cmp_to_key
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin
from uuid import UUID

import attrs

__all__ = ["Expression", "ExpressionError", "expression_in"]

TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[()\[\],.]))"
)
DEEPEST: Final = 50
"""Maximum depth of an expression."""
GROUP: Final = {
    "id": "/subscriptions/local/resourceGroups/local",
    "location": "local",
    "name": "local",
    "subscriptionId": "local",
}
"""What functions about the place of a deployment return."""


A_TIME: Final = "20200101T000000Z"
"""What `utcNow()` returns, so that a file says the same at each start."""


class ExpressionError(Exception):
    """An expression that cannot be evaluated here; the text says why."""


def expression_in(text: str) -> str | None:
    """Return the expression in a text of a template, or `None` if the text stands for itself."""
    is_expression = text.startswith("[") and text.endswith("]") and not text.startswith("[[")
    return text[1:-1] if is_expression else None


@attrs.frozen
class Part:
    """A part of an expression; it is evaluated only if its value is needed.

    Attributes:
        value: returns its value, from the values of the variables of lambdas around it.
        names: the parameters of a lambda, which alone is a part that others evaluate again and
            again; `None` otherwise.
    """

    value: Callable[[Mapping[str, Any]], Any]
    names: tuple[str, ...] | None = None


class Expression:
    """Evaluates one expression.

    Args:
        text: the expression, without its outer brackets.
        look_up: returns the value of a parameter, a variable or the like: `look_up("parameters",
            ["name"])`; it raises `ExpressionError` if there is no such function.
    """

    def __init__(self, text: str, look_up: Callable[[str, list[Any]], Any]) -> None:
        self._tokens = list(_tokens(text))
        self._place = 0
        self._look_up = look_up

    def value(self) -> Any:
        """Return the value of the expression.

        Raises:
            ExpressionError: it is not an expression, or has a function that is unknown here.
        """
        part = self._part(0)
        if self._place < len(self._tokens):
            raise ExpressionError(f"{self._tokens[self._place]!r} is not expected here")
        return part.value({})

    def _next(self) -> str:
        if self._place >= len(self._tokens):
            raise ExpressionError("the expression ends too early")
        self._place += 1
        return self._tokens[self._place - 1]

    def _is_next(self, sign: str) -> bool:
        found = self._place < len(self._tokens) and self._tokens[self._place] == sign
        self._place += found
        return found

    def _part(self, depth: int) -> Part:
        if depth > DEEPEST:
            raise ExpressionError("the expression is nested too deeply")
        token = self._next()
        if token.startswith("'"):
            part = _constant(token[1:-1].replace("''", "'"))
        elif token.lstrip("-").isdigit():
            part = _constant(int(token))
        elif token[0].isalpha() or token[0] == "_":
            part = self._call(token, depth)
        else:
            raise ExpressionError(f"{token!r} is not expected here")
        while True:
            if self._is_next("."):
                part = _member_of(part, _constant(self._next()))
            elif self._is_next("["):
                part = _member_of(part, self._part(depth + 1))
                if not self._is_next("]"):
                    raise ExpressionError("']' is missing")
            else:
                return part

    def _call(self, name: str, depth: int) -> Part:
        """Return the part that calls a function, maybe one of the template: `space.function()`."""
        while self._is_next("."):
            name = f"{name}.{self._next()}"
        if not self._is_next("("):
            raise ExpressionError(f"'(' is missing after {name}")
        arguments: list[Part] = []
        while not self._is_next(")"):
            if arguments and not self._is_next(","):
                raise ExpressionError("',' is missing")
            arguments.append(self._part(depth + 1))
        low = name.lower()
        if low == "lambda":
            return _lambda(arguments)
        return Part(lambda around: self._evaluate_call(low, arguments, around))

    def _evaluate_call(self, name: str, arguments: list[Part], around: Mapping[str, Any]) -> Any:
        if name in LAZY:
            return LAZY[name](part.value(around) for part in arguments)
        if name == "if" and len(arguments) == len(("condition", "one", "other")):
            return arguments[1 if arguments[0].value(around) else 2].value(around)
        given = [_argument(part, around) for part in arguments]
        if name == "lambdavariables" and given and str(given[0]).lower() in around:
            return around[str(given[0]).lower()]
        known = FUNCTIONS.get(name)
        if known is None:
            return self._look_up(name, given)
        try:
            return known(*given)
        except ExpressionError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a template does to a function
            shown = ", ".join(json.dumps(argument, default=str) for argument in given)
            raise ExpressionError(f"{name}({shown[:200]}) cannot be evaluated: {error}") from None


def _constant(value: Any) -> Part:
    return Part(lambda around: value)  # noqa: ARG005 - as all parts


def _member_of(part: Part, name: Part) -> Part:
    return Part(lambda around: _member(part.value(around), name.value(around)))


def _lambda(arguments: list[Part]) -> Part:
    """Return a lambda: the names of its parameters, and the expression that they are used in."""
    if not arguments:
        raise ExpressionError("lambda() has no expression")
    *names, body = arguments
    return Part(body.value, tuple(str(name.value({})).lower() for name in names))


def _argument(part: Part, around: Mapping[str, Any]) -> Any:
    """Return the value of an argument; of a lambda, a function of its parameters."""
    names = part.names
    if names is None:
        return part.value(around)
    return lambda *values: part.value({**around, **dict(zip(names, values, strict=False))})


def _tokens(text: str) -> list[str]:
    tokens, place = [], 0
    while text[place:].strip():
        match = TOKEN.match(text, place)
        if match is None:
            raise ExpressionError(f"{text[place:].strip()[:40]!r} is not expected here")
        tokens.append(match[0].strip())
        place = match.end()
    return tokens


def _member(value: Any, name: Any) -> Any:
    if isinstance(value, Mapping):
        for key in value:
            if str(key).lower() == str(name).lower():
                return value[key]
    if isinstance(value, list) and isinstance(name, int) and 0 <= name < len(value):
        return value[name]
    raise ExpressionError(f"there is no {name!r} in {json.dumps(value, default=str)[:80]}")


def _text(value: Any) -> str:
    """Return a value as Azure writes it: True, and objects without blanks."""
    if isinstance(value, str | bool):
        return str(value)
    return json.dumps(value, separators=(",", ":"))


def _format(pattern: str, *values: Any) -> str:
    """Return a pattern with its placeholders, `{0}` and so on, filled in; others stay."""
    filled = re.sub(r"\{(\d+)(?::[^}]*)?\}", lambda match: _text(values[int(match[1])]), pattern)
    return filled.replace("{{", "{").replace("}}", "}")


def _join(*values: Any) -> Any:
    """Return texts or arrays as one."""
    if values and isinstance(values[0], list):
        return [item for value in values for item in value]
    return "".join(_text(value) for value in values)


def _digest(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _make_up(*values: Any) -> str:
    """Return thirteen characters that are the same for the same values."""
    return _digest(*values)[:13]


def _guid(*values: Any) -> str:
    """Return a GUID that is the same for the same values."""
    return str(UUID(_digest(*values)[:32]))


def _resource(*parts: Any) -> str:
    """Return the id of a resource, of which nothing here reads more than its last names."""
    place = next(place for place, part in enumerate(parts) if "/" in str(part))
    kind, names = str(parts[place]), parts[place + 1 :]
    provider, *kinds = kind.split("/")
    path = "/".join(f"{one}/{name}" for one, name in zip(kinds, names, strict=False))
    return f"{GROUP['id']}/providers/{provider}/{path}"


def _split(text: str, separators: Any) -> list[str]:
    signs = [separators] if isinstance(separators, str) else separators
    return re.split("|".join(re.escape(sign) for sign in signs), text)


def _first_of_all(values: Iterable[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _merge(*values: Any) -> Any:
    """Return the union of arrays, or of objects and the objects in them."""
    if isinstance(values[0], Mapping):
        united: dict[str, Any] = {}
        for key, item in (pair for value in values for pair in value.items()):
            both = isinstance(item, Mapping) and isinstance(united.get(key), Mapping)
            united[key] = _merge(united[key], item) if both else item
        return united
    kept: list[Any] = []
    for item in (item for value in values for item in value):
        if item not in kept:
            kept.append(item)
    return kept


def _end(value: Any, place: int) -> Any:
    """Return the first or last item or character; of nothing, null or an empty text."""
    return value[place] if value else value if isinstance(value, str) else None


def _has(container: Any, item: Any) -> bool:
    if isinstance(container, dict):
        return str(item).lower() in (key.lower() for key in container)
    return item in container


def _member_or_none(value: Any, *names: Any) -> Any:
    """Return a member of a member and so on; null if one of them is missing."""
    for name in names:
        try:
            value = _member(value, name)
        except ExpressionError:
            return None
    return value


def _reduce(values: Any, value: Any, function: Callable[..., Any]) -> Any:
    for item in values:
        value = function(value, item)
    return value


def _sort(values: Any, precedes: Callable[[Any, Any], Any]) -> list[Any]:
    def compared(one: Any, other: Any) -> int:
        return -1 if precedes(one, other) else int(bool(precedes(other, one)))

    return sorted(values, key=cmp_to_key(compared))


def _make_object(values: Any, key: Callable[[Any], Any], value: Any = None) -> dict[str, Any]:
    return {str(key(item)): item if value is None else value(item) for item in values}


def _items(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the members of an object as an array, sorted by name as Azure sorts them."""
    return [{"key": key, "value": value[key]} for key in sorted(value, key=str.lower)]


def _intersect(*values: Any) -> Any:
    """Return the intersection of objects or arrays."""
    first, *others = values
    if isinstance(first, Mapping):
        pairs = first.items()
        return {key: item for key, item in pairs if all(o.get(key) == item for o in others)}
    return [item for item in first if all(item in other for other in others)]


def _truth(value: Any) -> bool:
    return value.lower() in ("true", "1") if isinstance(value, str) else bool(value)


def _alike(one: Any, other: Any) -> bool:
    """Return whether two values are equal; texts may differ in case, as in Azure."""
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() == other.lower()
    return bool(one == other)


LAZY: Final[dict[str, Callable[[Iterable[Any]], Any]]] = {
    "and": all,
    "coalesce": _first_of_all,
    "or": any,
}
"""Functions that evaluate no more arguments than they need; the others may be impossible."""
FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda one, other: one + other,
    "array": lambda value: value if isinstance(value, list) else [value],
    "base64": lambda text: b64encode(text.encode()).decode(),
    "base64tostring": lambda text: b64decode(text).decode(),
    "bool": _truth,
    "concat": _join,
    "contains": _has,
    "createarray": lambda *values: list(values),
    "createobject": lambda *values: dict(zip(values[::2], values[1::2], strict=True)),
    "deployment": lambda: {"name": "local"},
    "div": lambda one, other: one // other,
    "empty": lambda value: not value,
    "endswith": lambda text, end: text.lower().endswith(end.lower()),
    "environment": lambda: {"name": "local"},
    "equals": _alike,
    "false": lambda: False,
    "filter": lambda values, function: [item for item in values if function(item)],
    "first": lambda value: _end(value, 0),
    "flatten": lambda values: [item for value in values for item in value],
    "float": float,
    "format": _format,
    "greater": lambda one, other: one > other,
    "greaterorequals": lambda one, other: one >= other,
    "guid": _guid,
    "indexof": lambda text, part: text.lower().find(part.lower()),
    "int": int,
    "intersection": _intersect,
    "items": _items,
    "join": lambda values, separator: separator.join(_text(value) for value in values),
    "json": json.loads,
    "last": lambda value: _end(value, -1),
    "lastindexof": lambda text, part: text.lower().rfind(part.lower()),
    "length": len,
    "less": lambda one, other: one < other,
    "lessorequals": lambda one, other: one <= other,
    "map": lambda values, function: [function(item, place) for place, item in enumerate(values)],
    "mapvalues": lambda value, function: {key: function(item) for key, item in value.items()},
    "max": max,
    "min": min,
    "mod": lambda one, other: one % other,
    "mul": lambda one, other: one * other,
    "newguid": _guid,
    "not": lambda value: not value,
    "null": lambda: None,
    "objectkeys": lambda value: sorted(value, key=str.lower),
    "padleft": lambda value, length, sign=" ": _text(value).rjust(length, sign),
    "range": lambda start, count: list(range(start, start + count)),
    "reduce": _reduce,
    "replace": lambda text, old, new: text.replace(old, new),
    "resourcegroup": lambda: GROUP,
    "resourceid": _resource,
    "shallowmerge": lambda values: {key: item for value in values for key, item in value.items()},
    "skip": lambda value, count: value[count:],
    "sort": _sort,
    "split": _split,
    "startswith": lambda text, start: text.lower().startswith(start.lower()),
    "string": _text,
    "sub": lambda one, other: one - other,
    "subscription": lambda: {"subscriptionId": "local", "id": "/subscriptions/local"},
    "subscriptionresourceid": _resource,
    "substring": lambda text, start, length=None: (
        text[start:] if length is None else text[start : start + length]
    ),
    "take": lambda value, count: value[:count],
    "tenant": lambda: {"tenantId": "local"},
    "tolower": lambda text: text.lower(),
    "toobject": _make_object,
    "toupper": lambda text: text.upper(),
    "trim": lambda text: text.strip(),
    "true": lambda: True,
    "tryget": _member_or_none,
    "union": _merge,
    "uniquestring": _make_up,
    "uri": urljoin,
    "uricomponent": lambda text: quote(text, safe=""),
    "uricomponenttostring": unquote,
    "utcnow": lambda form="": A_TIME,  # noqa: ARG005 - its form shows nowhere in an entity
}
"""Functions that need neither the template nor Azure, by name in lower case."""
