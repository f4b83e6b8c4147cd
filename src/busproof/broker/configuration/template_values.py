"""Values of templates of Azure Resource Manager, in which texts in brackets are expressions.

What an expression refers to is its scope: parameters, variables, functions that the template
defines, loops, and the outputs of the deployments within it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import attrs
import yaml

from busproof.broker.configuration.jsonc import Value
from busproof.broker.configuration.template_expressions import (
    Expression,
    ExpressionError,
    expression_in,
)
from busproof.errors import UsageError

__all__ = [
    "LIST",
    "OBJECT",
    "Scope",
    "copies",
    "evaluate",
    "evaluate_node",
    "fields_of",
    "members_of",
    "node_of",
    "parameter_from_text",
    "plain",
    "resources_by_name",
    "scope_of",
]

MOST_COPIES: Final = 10_000
DEEPEST_REFERENCE: Final = 20
"""Maximum number of variables and parameters that refer to one another."""
TEXT = "tag:yaml.org,2002:str"
LIST = "tag:yaml.org,2002:seq"
OBJECT = "tag:yaml.org,2002:map"
TEXTS: Final = ("string", "securestring")


@attrs.frozen(kw_only=True)
class Scope:
    """What expressions of one template may refer to; all names are in lower case.

    Attributes:
        parameters: the values of parameters.
        definitions: the parameters that the template defines.
        variables: the variables; they may be expressions.
        loops: the variables that loops make.
        functions: the functions that the template defines, by space and name.
        types: the types that the template defines.
        outputs: returns the outputs of a deployment of this template by its name.
        indexes: the numbers of the loops around an expression, the innermost as "".
        depth: how many variables and parameters refer to one another on the way here.
    """

    parameters: Mapping[str, Any]
    definitions: Mapping[str, Value]
    variables: Mapping[str, Value]
    loops: Mapping[str, Value]
    functions: Mapping[str, Value]
    types: Mapping[str, Value]
    outputs: Callable[[str], Mapping[str, Any] | None] = lambda _: None
    indexes: Mapping[str, int] = attrs.field(factory=dict)
    depth: int = 0

    def deeper(self) -> "Scope":
        """Return the scope for what an expression refers to.

        Raises:
            ExpressionError: variables refer to one another without an end.
        """
        if self.depth > DEEPEST_REFERENCE:
            raise ExpressionError("variables that refer to one another are nested too deeply")
        return attrs.evolve(self, depth=self.depth + 1)

    def at(self, loop: str, index: int) -> "Scope":
        """Return the scope of one copy in a loop."""
        return attrs.evolve(self, indexes={**self.indexes, "": index, loop: index})


def scope_of(template: Value, parameters: Mapping[str, Any]) -> Scope:
    """Return the scope of a template whose parameters have these values."""
    functions = {}
    whole = fields_of(template).get("functions")
    for space in [] if whole is None else whole.items():
        prefix = str(plain(fields_of(space).get("namespace")) or "").lower()
        for name, function in members_of(space, "members").items():
            functions[f"{prefix}.{name}"] = function
    variables = members_of(template, "variables")
    copied = variables.pop("copy", None)
    loops = [] if copied is None else copied.items()
    return Scope(
        parameters=parameters,
        definitions=members_of(template, "parameters"),
        variables=variables,
        loops={str(plain(fields_of(loop).get("name"))).lower(): loop for loop in loops},
        functions=functions,
        types=members_of(template, "definitions"),
    )


def fields_of(value: Value | None) -> dict[str, Value]:
    """Return the fields of an object by name in lower case; none if the value is not an object."""
    if value is None or not isinstance(value.node, yaml.MappingNode):
        return {}
    return {
        str(key.value).lower(): value.part(node, f"{value.where}.{key.value}")
        for key, node in value.node.value
    }


def members_of(value: Value, field: str) -> dict[str, Value]:
    """Return the fields of a field; none if it is missing or not an object."""
    return fields_of(fields_of(value).get(field))


def resources_by_name(value: Value | None) -> dict[str, Value]:
    """Return the resources in an array, or in an object that gives each a symbolic name.

    Those of an array are named by their places.
    """
    if value is None or value.is_null:
        return {}
    if isinstance(value.node, yaml.MappingNode):
        return fields_of(value)
    return {str(place): item for place, item in enumerate(value.items())}


def plain(value: Value | None) -> Any:
    """Return a value as it is written, without evaluating expressions."""
    return None if value is None else _data(value.node)


def _data(node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _data(inner) for key, inner in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_data(inner) for inner in node.value]
    return str(node.value) if node.style == '"' else json.loads(node.value)


def parameter_from_text(name: str, text: str, definition: Value, scope: Scope) -> Any:
    """Return the value of a parameter that is given as text, by the type of its definition.

    Raises:
        UsageError: the text is not of the type, or not one of the values that are allowed.
    """
    kind = _kind(definition, scope)
    try:
        value = text if kind in TEXTS else json.loads(text.lower() if kind == "bool" else text)
    except ValueError:
        raise UsageError(f"the parameter {name} is {text!r}; it is of the type {kind}") from None
    allowed = plain(fields_of(definition).get("allowedvalues")) or []
    if allowed and value not in allowed and kind not in ("array", "object"):
        shown = ", ".join(json.dumps(choice) for choice in allowed)
        raise UsageError(f"the parameter {name} is {text!r}; the template allows {shown}")
    return value


def _kind(definition: Value, scope: Scope) -> str:
    """Return the type of a parameter, maybe one that the template defines by another name."""
    for _ in range(DEEPEST_REFERENCE):
        fields = fields_of(definition)
        known = scope.types.get(str(plain(fields.get("$ref")) or "").rpartition("/")[2].lower())
        if known is None:
            return str(plain(fields.get("type")) or "string").lower()
        definition = known
    raise definition.wrong("a type that does not refer to itself")


def copies(value: Value, scope: Scope) -> Iterator[Scope]:
    """Yield the scope of each copy of a resource; of a resource without `copy` only one."""
    copy = fields_of(value).get("copy")
    if copy is None:
        yield scope
    else:
        yield from _loop(copy, scope)


def _loop(copy: Value, scope: Scope) -> Iterator[Scope]:
    fields = fields_of(copy)
    count = evaluate(fields["count"], scope) if "count" in fields else None
    if type(count) is not int or not 0 <= count <= MOST_COPIES:
        raise copy.wrong(f"a count from 0 to {MOST_COPIES:,}")
    name = str(plain(fields.get("name")) or "").lower()
    return (scope.at(name, index) for index in range(count))


def evaluate(value: Value, scope: Scope) -> Any:
    """Return a value with all expressions in it evaluated.

    Raises:
        UsageError: an expression cannot be evaluated; the message names its line.
    """
    return _data(evaluate_node(value, scope))


def evaluate_node(value: Value, scope: Scope) -> Any:
    """Return the node of a value with all expressions in it evaluated.

    Raises:
        UsageError: as for `evaluate`.
    """
    node = value.node
    if isinstance(node, yaml.MappingNode):
        return yaml.MappingNode(OBJECT, list(_pairs(value, scope)), node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        items = [evaluate_node(value.part(inner, value.where), scope) for inner in node.value]
        return yaml.SequenceNode(LIST, items, node.start_mark)
    text = str(node.value) if node.style == '"' else ""
    expression = expression_in(text)
    if expression is None:
        return node_of(text[1:], node.start_mark) if text.startswith("[[") else node
    try:
        found = Expression(expression, lambda name, given: _look_up(name, given, scope)).value()
    except ExpressionError as error:
        raise UsageError(f"{value.place}: {value.where} is {text[:200]!r}: {error}") from None
    return node_of(found, node.start_mark)


def _pairs(value: Value, scope: Scope) -> Iterator[tuple[Any, Any]]:
    """Yield the members of an object; a member `copy` with an array makes others by loops."""
    for key, inner in value.node.value:
        part = value.part(inner, f"{value.where}.{key.value}")
        if str(key.value).lower() != "copy" or not isinstance(inner, yaml.SequenceNode):
            yield key, evaluate_node(part, scope)
            continue
        for loop in part.items():
            name = plain(fields_of(loop).get("name"))
            yield node_of(str(name), inner.start_mark), _repeat(loop, scope)


def _repeat(loop: Value, scope: Scope) -> Any:
    """Return the node of the array that a loop makes of its `input`."""
    fields = fields_of(loop)
    if "input" not in fields:
        raise loop.wrong("a loop with a name, a count and an input")
    items = [evaluate_node(fields["input"], around) for around in _loop(loop, scope)]
    return yaml.SequenceNode(LIST, items, loop.node.start_mark)


def _look_up(name: str, given: list[Any], scope: Scope) -> Any:
    """Return what an expression refers to in its template.

    Raises:
        ExpressionError: there is no such parameter or variable, or the function is unknown.
    """
    called = str(given[0]).lower() if given else ""
    if name == "parameters" and called in {**scope.definitions, **scope.parameters}:
        return scope.parameters[called] if called in scope.parameters else _default(called, scope)
    if name == "variables" and called in scope.variables:
        return evaluate(scope.variables[called], scope.deeper())
    if name == "variables" and called in scope.loops:
        return _data(_repeat(scope.loops[called], scope.deeper()))
    if name == "copyindex":
        loop = called if isinstance(given[0] if given else None, str) else ""
        offset = next((number for number in given if isinstance(number, int)), 0)
        if loop in scope.indexes:
            return scope.indexes[loop] + offset
    if name in scope.functions:
        return _call_function(scope.functions[name], given, scope)
    if name == "reference" and (outputs := scope.outputs(called.rpartition("/")[2])) is not None:
        return {"outputs": outputs}
    raise ExpressionError(
        f"{name}({', '.join(map(repr, given))}) is not known here; it needs Azure or a definition"
    )


def _default(name: str, scope: Scope) -> Any:
    fields = fields_of(scope.definitions[name])
    if "defaultvalue" in fields:
        return evaluate(fields["defaultvalue"], scope.deeper())
    if plain(fields.get("nullable")):
        return None
    raise ExpressionError(
        f"the parameter {name!r} has no value; give it by --config-parameter {name}=VALUE"
    )


def _call_function(function: Value, given: list[Any], scope: Scope) -> Any:
    """Return the value of a function of the template, which sees nothing but its parameters."""
    fields = fields_of(function)
    named = [] if "parameters" not in fields else fields["parameters"].items()
    names = [str(plain(fields_of(one).get("name"))).lower() for one in named]
    value = members_of(function, "output").get("value")
    if value is None or len(given) > len(names):
        raise ExpressionError(f"the template's function takes {len(names)} parameters")
    inside = attrs.evolve(
        scope.deeper(),
        parameters=dict(zip(names, given, strict=False)),
        definitions=dict(zip(names, named, strict=True)),
        variables={},
        loops={},
    )
    return evaluate(value, inside)


def node_of(data: Any, mark: Any) -> Any:
    """Return plain data as a node at a place of the file."""
    if isinstance(data, Mapping):
        pairs = [(node_of(str(key), mark), node_of(inner, mark)) for key, inner in data.items()]
        return yaml.MappingNode(OBJECT, pairs, mark)
    if isinstance(data, list | tuple):
        return yaml.SequenceNode(LIST, [node_of(inner, mark) for inner in data], mark)
    if isinstance(data, str):
        return yaml.ScalarNode(TEXT, data, mark, style='"')
    kind = "null" if data is None else type(data).__name__
    return yaml.ScalarNode(f"tag:yaml.org,2002:{kind}", json.dumps(data), mark)
