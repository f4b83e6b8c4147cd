"""Templates of Azure Resource Manager, which Bicep compiles to, as configurations.

The Service Bus resources of a template become the emulator's configuration: a namespace with
queues, topics, subscriptions and rules. All other resources are left out. Errors name the line of
the template.
"""

import json
from collections.abc import Iterator, Mapping
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

__all__ = ["is_template", "namespace_in"]

PROVIDER: Final = "microsoft.servicebus/"
DEPLOYMENT: Final = "microsoft.resources/deployments"
QUEUES, TOPICS = "namespaces/queues", "namespaces/topics"
SUBSCRIPTIONS, RULES = "namespaces/topics/subscriptions", "namespaces/topics/subscriptions/rules"
NAMESPACE: Final = "namespaces"
READ: Final = (NAMESPACE, QUEUES, TOPICS, SUBSCRIPTIONS, RULES)
MOST_COPIES: Final = 10_000
DEEPEST: Final = 10
"""Maximum depth of deployments and resources within others."""
DEEPEST_REFERENCE: Final = 20
"""Maximum number of variables and parameters that refer to one another."""
TEXT, LIST, OBJECT = "tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"


@attrs.frozen
class Resource:
    """A Service Bus resource of a template.

    Attributes:
        kind: its type without the provider, in lower case.
        names: the names of the namespace, the entity and so on, the last of them its own.
        value: the resource as the template has it.
        scope: what its expressions refer to.
    """

    kind: str
    names: tuple[str, ...]
    value: Value
    scope: "Scope"


@attrs.frozen
class Scope:
    """What expressions of one template may refer to.

    Attributes:
        parameters: the values of parameters, by name in lower case.
        definitions: the parameters that the template defines, likewise.
        variables: the variables, likewise; they may be expressions.
        indexes: the numbers of the loops around an expression, the innermost as "".
        depth: how many variables and parameters refer to one another on the way here.
    """

    parameters: Mapping[str, Any]
    definitions: Mapping[str, Value]
    variables: Mapping[str, Value]
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


def is_template(top: Value) -> bool:
    """Return whether a file is a template and not a configuration of the emulator."""
    fields = _fields(top)
    return "resources" in fields and "userconfig" not in fields


def namespace_in(top: Value, parameters: Mapping[str, str], warnings: list[str]) -> Value:
    """Return the namespace that a template describes, in the shape of the emulator's configuration.

    Args:
        top: the template.
        parameters: the values of its parameters; others have their default values.
        warnings: takes a sentence for each resource of Service Bus that is left out.

    Raises:
        UsageError: the template has several namespaces, or something that cannot be evaluated.
    """
    definitions = _members(top, "parameters")
    given = {name.lower(): text for name, text in parameters.items()}
    for name in given:
        if name not in definitions:
            raise UsageError(
                f"there is no parameter {name!r}; the template has "
                f"{', '.join(definitions) or 'none'}"
            )
    values = {name: _typed(name, text, definitions[name]) for name, text in given.items()}
    resources = [
        resource
        for resource in _resources(top, _scope(top, values), (), (), 0)
        if resource.kind in READ or _leave_out(resource, warnings)
    ]
    if not resources:
        raise top.wrong("a template with resources of the type Microsoft.ServiceBus/namespaces")
    namespaces = {resource.names[0].lower() for resource in resources}
    if len(namespaces) > 1:
        raise top.wrong(f"one namespace, not {', '.join(sorted(namespaces))}")
    return _namespace(top, resources)


def _leave_out(resource: Resource, warnings: list[str]) -> bool:
    kind, place = _plain(_fields(resource.value)["type"]), resource.value.place
    warnings.append(f"{place}: a resource of the type {kind} has no effect here")
    return False


def _typed(name: str, text: str, definition: Value) -> Any:
    """Return the value of a parameter that is given as text, by the type of its definition."""
    kind = str(_plain(_fields(definition).get("type")) or "string").lower()
    if kind in ("string", "securestring"):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise UsageError(f"the parameter {name} is {text!r}; it is of the type {kind}") from None


def _scope(top: Value, parameters: Mapping[str, Any]) -> Scope:
    return Scope(parameters, _members(top, "parameters"), _members(top, "variables"))


def _resources(
    template: Value, scope: Scope, kinds: tuple[str, ...], names: tuple[str, ...], depth: int
) -> Iterator[Resource]:
    """Yield the Service Bus resources of a template, or of a resource that has others in it."""
    if depth > DEEPEST:
        raise template.wrong("resources that are nested less deeply")
    for value in _listed(_fields(template).get("resources")):
        for around in _copies(value, scope):
            fields = _fields(value)
            if "condition" in fields and not _value(fields["condition"], around):
                continue
            yield from _of_resource(value, around, kinds, names, depth)


def _of_resource(
    value: Value, scope: Scope, kinds: tuple[str, ...], names: tuple[str, ...], depth: int
) -> Iterator[Resource]:
    fields = _fields(value)
    if "type" not in fields or "name" not in fields:
        raise value.wrong("a resource with a type and a name")
    kind = str(_value(fields["type"], scope))
    if kind.lower() == DEPLOYMENT:
        yield from _deployed(fields, scope, depth)
        return
    whole = kind if kind.lower().startswith(PROVIDER) or not kinds else "/".join((*kinds, kind))
    if not whole.lower().startswith(PROVIDER):
        return
    own = tuple(str(_value(fields["name"], scope)).split("/"))
    path = own if len(own) == whole.count("/") else (*names, *own)
    yield Resource(whole.lower().removeprefix(PROVIDER), path, value, scope)
    yield from _resources(value, scope, tuple(whole.split("/")), path, depth + 1)


def _deployed(fields: Mapping[str, Value], scope: Scope, depth: int) -> Iterator[Resource]:
    """Yield the resources of a template within a template, such as a module of Bicep."""
    properties = _fields(fields["properties"]) if "properties" in fields else {}
    if "template" not in properties:
        return
    template, given = properties["template"], properties.get("parameters")
    options = _fields(properties.get("expressionevaluationoptions"))
    inner = str(_plain(options.get("scope")) or "outer").lower() == "inner"
    values = {
        name: _value(_fields(parameter)["value"], scope)
        for name, parameter in _fields(given).items()
        if "value" in _fields(parameter)
    }
    within = _scope(template, values) if inner else scope
    yield from _resources(template, within, (), (), depth + 1)


def _copies(value: Value, scope: Scope) -> Iterator[Scope]:
    """Yield the scope of each copy of a resource; of a resource without `copy` only one."""
    copy = _fields(value).get("copy")
    if copy is None:
        yield scope
        return
    fields = _fields(copy)
    count = _value(fields["count"], scope) if "count" in fields else None
    if type(count) is not int or not 0 <= count <= MOST_COPIES:
        raise copy.wrong(f"a count from 0 to {MOST_COPIES:,}")
    name = str(_plain(fields.get("name")) or "").lower()
    for index in range(count):
        yield attrs.evolve(scope, indexes={**scope.indexes, "": index, name: index})


def _fields(value: Value | None) -> dict[str, Value]:
    """Return the fields of an object by name in lower case; none if the value is not an object."""
    if value is None or not isinstance(value.node, yaml.MappingNode):
        return {}
    return {
        str(key.value).lower(): value.part(node, f"{value.where}.{key.value}")
        for key, node in value.node.value
    }


def _members(value: Value, field: str) -> dict[str, Value]:
    return _fields(_fields(value).get(field))


def _listed(value: Value | None) -> list[Value]:
    """Return the resources in an array, or in an object that gives each a symbolic name."""
    if value is None or value.is_null:
        return []
    if isinstance(value.node, yaml.MappingNode):
        return list(_fields(value).values())
    return value.items()


def _plain(value: Value | None) -> Any:
    """Return a value as it is written, without evaluating expressions."""
    return None if value is None else _data(value.node)


def _data(node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _data(inner) for key, inner in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_data(inner) for inner in node.value]
    return str(node.value) if node.style == '"' else json.loads(node.value)


def _value(value: Value, scope: Scope) -> Any:
    """Return a value with all expressions in it evaluated."""
    return _data(_evaluated(value, scope))


def _evaluated(value: Value, scope: Scope) -> Any:
    """Return the node of a value with all expressions in it evaluated."""
    node = value.node
    if isinstance(node, yaml.MappingNode):
        pairs = [
            (key, _evaluated(value.part(inner, f"{value.where}.{key.value}"), scope))
            for key, inner in node.value
        ]
        return yaml.MappingNode(OBJECT, pairs, node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        items = [_evaluated(value.part(inner, value.where), scope) for inner in node.value]
        return yaml.SequenceNode(LIST, items, node.start_mark)
    text = str(node.value) if node.style == '"' else ""
    expression = expression_in(text)
    if expression is None:
        return _node(text[1:], node.start_mark) if text.startswith("[[") else node
    try:
        found = Expression(expression, lambda name, given: _found(name, given, scope)).value()
    except ExpressionError as error:
        raise UsageError(f"{value.place}: {value.where} is {text[:200]!r}: {error}") from None
    return _node(found, node.start_mark)


def _found(name: str, given: list[Any], scope: Scope) -> Any:
    """Return what an expression refers to in its template.

    Raises:
        ExpressionError: there is no such parameter or variable, or the function is unknown.
    """
    called = str(given[0]).lower() if given else ""
    if name == "parameters" and called in scope.parameters:
        return scope.parameters[called]
    if name == "parameters" and called in scope.definitions:
        default = _fields(scope.definitions[called]).get("defaultvalue")
        if default is None:
            raise ExpressionError(
                f"the parameter {called!r} has no value; give it by --config-parameter "
                f"{called}=VALUE"
            )
        return _value(default, scope.deeper())
    if name == "variables" and called in scope.variables:
        return _value(scope.variables[called], scope.deeper())
    if name == "copyindex":
        loop = called if isinstance(given[0] if given else None, str) else ""
        offset = next((number for number in given if isinstance(number, int)), 0)
        if loop in scope.indexes:
            return scope.indexes[loop] + offset
    raise ExpressionError(
        f"{name}({', '.join(map(repr, given))}) is not known here; it needs Azure or a definition"
    )


def _node(data: Any, mark: Any) -> Any:
    """Return plain data as a node at a place of the file."""
    if isinstance(data, Mapping):
        pairs = [(_node(str(key), mark), _node(inner, mark)) for key, inner in data.items()]
        return yaml.MappingNode(OBJECT, pairs, mark)
    if isinstance(data, list | tuple):
        return yaml.SequenceNode(LIST, [_node(inner, mark) for inner in data], mark)
    if isinstance(data, str):
        return yaml.ScalarNode(TEXT, data, mark, style='"')
    kind = "null" if data is None else type(data).__name__
    return yaml.ScalarNode(f"tag:yaml.org,2002:{kind}", json.dumps(data), mark)


def _namespace(top: Value, resources: list[Resource]) -> Value:
    """Return the resources as a namespace of the emulator's configuration."""
    made = _entity(resources[0].names[0], top.node.start_mark, {})
    found: dict[tuple[str, ...], list[tuple[Any, Any]]] = {}
    for kind in READ:
        for resource in resources:
            if resource.kind == kind:
                place = tuple(name.lower() for name in resource.names)
                _add(resource, place, made, found)
    return top.part(made, "the template")


LISTS: Final = {QUEUES: "Queues", TOPICS: "Topics", SUBSCRIPTIONS: "Subscriptions", RULES: "Rules"}


def _add(
    resource: Resource,
    place: tuple[str, ...],
    namespace: Any,
    found: dict[tuple[str, ...], Any],
) -> None:
    """Add a resource to the entity that it belongs to."""
    mark = resource.value.node.start_mark
    if resource.kind == NAMESPACE:
        for name, data in _settings(resource).items():
            namespace.value.append((_node(name, mark), _node(data, mark)))
        return
    above = namespace if len(place) == len(QUEUES.split("/")) else found.get(place[:-1])
    if above is None:
        raise resource.value.wrong(f"{'/'.join(resource.names[:-1])} in the same template")
    properties = _fields(resource.value).get("properties")
    fields = {} if properties is None else {"Properties": _evaluated(properties, resource.scope)}
    entity = _entity(resource.names[-1], mark, fields)
    name = LISTS[resource.kind]
    lists = {key.value: listed for key, listed in above.value}
    if name not in lists:
        lists[name] = yaml.SequenceNode(LIST, [], mark)
        above.value.append((_node(name, mark), lists[name]))
    lists[name].value.append(entity)
    found[place] = entity


def _entity(name: str, mark: Any, fields: Mapping[str, Any]) -> Any:
    pairs = [(_node(key, mark), node) for key, node in fields.items()]
    return yaml.MappingNode(OBJECT, [(_node("Name", mark), _node(name, mark)), *pairs], mark)


def _settings(resource: Resource) -> dict[str, Any]:
    """Return the settings of a namespace that have an effect here, by the emulator's names."""
    fields = _fields(resource.value)
    sku = _value(fields["sku"], resource.scope) if "sku" in fields else {}
    tier = str(sku.get("name") or sku.get("tier") or "Standard")
    settings: dict[str, Any] = {"Tier": tier}
    if tier.lower() == "premium":
        wanted = _fields(fields.get("properties")).get("premiummessagingpartitions")
        partitions = (None if wanted is None else _value(wanted, resource.scope)) or 1
        settings["NamespacePartitions"] = partitions
        settings["MessagingUnits"] = sku.get("capacity") or partitions
    return settings
