"""Templates of Azure Resource Manager, which Bicep compiles to, as configurations.

The Service Bus resources of a template become the emulator's configuration: a namespace with
queues, topics, subscriptions and rules. All other resources are left out. Errors name the line of
the template.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs
import yaml

from busproof.broker.configuration.deployments import DEPLOYMENT, Deployments, inside
from busproof.broker.configuration.jsonc import Value
from busproof.broker.configuration.template_values import (
    LIST,
    OBJECT,
    Scope,
    copies,
    evaluate,
    evaluate_node,
    fields_of,
    members_of,
    node_of,
    parameter_from_text,
    plain,
    resources_by_name,
    scope_of,
)
from busproof.errors import UsageError

__all__ = ["is_parameters", "is_template", "namespace_in"]

PROVIDER: Final = "microsoft.servicebus/"
QUEUES, TOPICS = "namespaces/queues", "namespaces/topics"
SUBSCRIPTIONS, RULES = "namespaces/topics/subscriptions", "namespaces/topics/subscriptions/rules"
NAMESPACE: Final = "namespaces"
READ: Final = (NAMESPACE, QUEUES, TOPICS, SUBSCRIPTIONS, RULES)
DEEPEST: Final = 10
"""Maximum depth of deployments and resources within others."""


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
    scope: Scope


def is_template(top: Value) -> bool:
    """Return whether a file is a template and not a configuration of the emulator."""
    fields = fields_of(top)
    return "resources" in fields and "userconfig" not in fields


def is_parameters(top: Value) -> bool:
    """Return whether a file has nothing but the parameters of a template."""
    schema = str(plain(fields_of(top).get("$schema")))
    return schema.rstrip("#").endswith("deploymentParameters.json")


def namespace_in(top: Value, parameters: Mapping[str, str], warnings: list[str]) -> Value:
    """Return the namespace that a template describes, in the shape of the emulator's configuration.

    Args:
        top: the template.
        parameters: the values of its parameters; others have their default values.
        warnings: takes a sentence for each resource of Service Bus that is left out.

    Raises:
        UsageError: the template has several namespaces, or something that cannot be evaluated.
    """
    definitions = members_of(top, "parameters")
    given = {name.lower(): text for name, text in parameters.items()}
    for name in given:
        if name not in definitions:
            raise UsageError(
                f"there is no parameter {name!r}; the template has "
                f"{', '.join(definitions) or 'none'}"
            )
    outside = scope_of(top, {})
    values = {
        name: parameter_from_text(name, text, definitions[name], outside)
        for name, text in given.items()
    }
    scope = Deployments(top, attrs.evolve(outside, parameters=values)).scope
    resources = [
        resource
        for resource in _resources(top, scope, (), (), 0)
        if resource.kind in READ or _leave_out(resource, warnings)
    ]
    if not resources:
        raise top.wrong("a template with resources of the type Microsoft.ServiceBus/namespaces")
    namespaces = {resource.names[0].lower() for resource in resources}
    if len(namespaces) > 1:
        raise top.wrong(f"one namespace, not {', '.join(sorted(namespaces))}")
    return _namespace(top, resources)


def _leave_out(resource: Resource, warnings: list[str]) -> bool:
    kind = plain(fields_of(resource.value)["type"])
    place = resource.value.place
    warnings.append(f"{place}: a resource of the type {kind} has no effect here")
    return False


def _resources(
    template: Value, scope: Scope, kinds: tuple[str, ...], names: tuple[str, ...], depth: int
) -> Iterator[Resource]:
    """Yield the Service Bus resources of a template, or of a resource that has others in it."""
    if depth > DEEPEST:
        raise template.wrong("resources that are nested less deeply")
    for value in resources_by_name(fields_of(template).get("resources")).values():
        for around in copies(value, scope):
            fields = fields_of(value)
            if "condition" in fields and not evaluate(fields["condition"], around):
                continue
            yield from _read_resource(value, around, kinds, names, depth)


def _read_resource(
    value: Value, scope: Scope, kinds: tuple[str, ...], names: tuple[str, ...], depth: int
) -> Iterator[Resource]:
    fields = fields_of(value)
    if "type" not in fields or "name" not in fields:
        raise value.wrong("a resource with a type and a name")
    kind = str(evaluate(fields["type"], scope))
    if kind.lower() == DEPLOYMENT:
        if (deployed := inside(fields, scope)) is not None:
            yield from _resources(*deployed, (), (), depth + 1)
        return
    whole = kind if kind.lower().startswith(PROVIDER) or not kinds else "/".join((*kinds, kind))
    if not whole.lower().startswith(PROVIDER):
        return
    own = tuple(str(evaluate(fields["name"], scope)).split("/"))
    path = own if len(own) == whole.count("/") else (*names, *own)
    yield Resource(whole.lower().removeprefix(PROVIDER), path, value, scope)
    yield from _resources(value, scope, tuple(whole.split("/")), path, depth + 1)


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
            namespace.value.append((node_of(name, mark), node_of(data, mark)))
        return
    above = namespace if len(place) == len(QUEUES.split("/")) else found.get(place[:-1])
    if above is None:
        raise resource.value.wrong(f"{'/'.join(resource.names[:-1])} in the same template")
    properties = fields_of(resource.value).get("properties")
    fields = {} if properties is None else {"Properties": evaluate_node(properties, resource.scope)}
    entity = _entity(resource.names[-1], mark, fields)
    name = LISTS[resource.kind]
    lists = {key.value: listed for key, listed in above.value}
    if name not in lists:
        lists[name] = yaml.SequenceNode(LIST, [], mark)
        above.value.append((node_of(name, mark), lists[name]))
    lists[name].value.append(entity)
    found[place] = entity


def _entity(name: str, mark: Any, fields: Mapping[str, Any]) -> Any:
    pairs = [(node_of(key, mark), node) for key, node in fields.items()]
    return yaml.MappingNode(OBJECT, [(node_of("Name", mark), node_of(name, mark)), *pairs], mark)


def _settings(resource: Resource) -> dict[str, Any]:
    """Return the settings of a namespace that have an effect here, by the emulator's names."""
    fields = fields_of(resource.value)
    sku = (evaluate(fields["sku"], resource.scope) if "sku" in fields else None) or {}
    if not isinstance(sku, dict):
        raise fields["sku"].wrong('an object, such as {"name": "Standard"}')
    sku = {name.lower(): value for name, value in sku.items()}
    tier = str(sku.get("name") or sku.get("tier") or "Standard")
    settings: dict[str, Any] = {"Tier": tier}
    if tier.lower() == "premium":
        wanted = fields_of(fields.get("properties")).get("premiummessagingpartitions")
        partitions = (None if wanted is None else evaluate(wanted, resource.scope)) or 1
        settings["NamespacePartitions"] = partitions
        settings["MessagingUnits"] = sku.get("capacity") or partitions
    return settings
