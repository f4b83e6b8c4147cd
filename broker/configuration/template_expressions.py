"""Expressions of Azure Resource Manager in templates, such as `[format('{0}/q', parameters('a'))]`.

Only functions that can be evaluated without Azure are known. Names that Azure makes up, such as
those of `uniqueString`, are made up here, too, and are the same at each start.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

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


class ExpressionError(Exception):
    """An expression that cannot be evaluated here; the text says why."""


def expression_in(text: str) -> str | None:
    """Return the expression in a text of a template, or `None` if the text stands for itself."""
    is_expression = text.startswith("[") and text.endswith("]") and not text.startswith("[[")
    return text[1:-1] if is_expression else None


class Expression:
    """Evaluates one expression.

    Args:
        text: the expression, without its outer brackets.
        look_up: returns the value of a parameter, a variable or the like: `look_up("parameters",
            ["name"])`; `None` if there is no such function.
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
        value = self._part(0)
        if self._place < len(self._tokens):
            raise ExpressionError(f"{self._tokens[self._place]!r} is not expected here")
        return value

    def _next(self) -> str:
        if self._place >= len(self._tokens):
            raise ExpressionError("the expression ends too early")
        self._place += 1
        return self._tokens[self._place - 1]

    def _is_next(self, sign: str) -> bool:
        found = self._place < len(self._tokens) and self._tokens[self._place] == sign
        self._place += found
        return found

    def _part(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise ExpressionError("the expression is nested too deeply")
        token = self._next()
        if token.startswith("'"):
            value: Any = token[1:-1].replace("''", "'")
        elif token.lstrip("-").isdigit():
            value = int(token)
        elif token[0].isalpha():
            value = self._called(token, depth)
        else:
            raise ExpressionError(f"{token!r} is not expected here")
        while True:
            if self._is_next("."):
                value = _member(value, self._next())
            elif self._is_next("["):
                value = _member(value, self._part(depth + 1))
                if not self._is_next("]"):
                    raise ExpressionError("']' is missing")
            else:
                return value

    def _called(self, name: str, depth: int) -> Any:
        if not self._is_next("("):
            raise ExpressionError(f"'(' is missing after {name}")
        arguments: list[Any] = []
        while not self._is_next(")"):
            if arguments and not self._is_next(","):
                raise ExpressionError("',' is missing")
            arguments.append(self._part(depth + 1))
        known = FUNCTIONS.get(name.lower())
        if known is None:
            return self._look_up(name.lower(), arguments)
        try:
            return known(*arguments)
        except ExpressionError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a template does to a function
            shown = ", ".join(json.dumps(argument) for argument in arguments)
            raise ExpressionError(f"{name}({shown[:200]}) cannot be evaluated: {error}") from None


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
        for key, member in value.items():
            if str(key).lower() == str(name).lower():
                return member
    if isinstance(value, list) and isinstance(name, int) and 0 <= name < len(value):
        return value[name]
    raise ExpressionError(f"there is no {name!r} in {json.dumps(value)[:80]}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _formatted(pattern: str, *values: Any) -> str:
    """Return a pattern with its placeholders, `{0}` and so on, filled in; others stay."""
    filled = re.sub(r"\{(\d+)(?::[^}]*)?\}", lambda match: _text(values[int(match[1])]), pattern)
    return filled.replace("{{", "{").replace("}}", "}")


def _joined(*values: Any) -> Any:
    """Return texts or arrays as one."""
    if values and isinstance(values[0], list):
        return [item for value in values for item in value]
    return "".join(_text(value) for value in values)


def _made_up(*values: Any) -> str:
    """Return thirteen characters that are the same for the same values."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:13]


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


def _first_of_all(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _merged(*values: Any) -> Any:
    """Return the union of objects or arrays."""
    if isinstance(values[0], dict):
        return {key: item for value in values for key, item in value.items()}
    kept: list[Any] = []
    for item in (item for value in values for item in value):
        if item not in kept:
            kept.append(item)
    return kept


def _has(container: Any, item: Any) -> bool:
    if isinstance(container, dict):
        return str(item).lower() in (key.lower() for key in container)
    return item in container


def _truth(value: Any) -> bool:
    return value.lower() in ("true", "1") if isinstance(value, str) else bool(value)


def _alike(one: Any, other: Any) -> bool:
    """Return whether two values are equal; texts may differ in case, as in Azure."""
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() == other.lower()
    return bool(one == other)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "add": lambda one, other: one + other,
    "and": lambda *values: all(values),
    "array": lambda value: value if isinstance(value, list) else [value],
    "bool": _truth,
    "coalesce": _first_of_all,
    "concat": _joined,
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
    "first": lambda value: value[0],
    "format": _formatted,
    "greater": lambda one, other: one > other,
    "greaterorequals": lambda one, other: one >= other,
    "guid": _made_up,
    "if": lambda condition, one, other: one if condition else other,
    "indexof": lambda text, part: text.lower().find(part.lower()),
    "int": int,
    "join": lambda values, separator: separator.join(_text(value) for value in values),
    "json": json.loads,
    "last": lambda value: value[-1],
    "length": len,
    "less": lambda one, other: one < other,
    "lessorequals": lambda one, other: one <= other,
    "max": max,
    "min": min,
    "mod": lambda one, other: one % other,
    "mul": lambda one, other: one * other,
    "not": lambda value: not value,
    "null": lambda: None,
    "or": lambda *values: any(values),
    "padleft": lambda value, length, sign=" ": _text(value).rjust(length, sign),
    "range": lambda start, count: list(range(start, start + count)),
    "replace": lambda text, old, new: text.replace(old, new),
    "resourcegroup": lambda: GROUP,
    "resourceid": _resource,
    "skip": lambda value, count: value[count:],
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
    "toupper": lambda text: text.upper(),
    "trim": lambda text: text.strip(),
    "true": lambda: True,
    "union": _merged,
    "uniquestring": _made_up,
}
"""Functions that need neither the template nor Azure, by name in lower case."""
