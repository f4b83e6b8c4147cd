"""Deployments within a template of Azure Resource Manager, which Bicep makes of modules."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import attrs

from busproof.broker.configuration.jsonc import Value
from busproof.broker.configuration.template_values import (
    Scope,
    copies,
    evaluate,
    fields_of,
    members_of,
    plain,
    resources_by_name,
    scope_of,
)
from busproof.errors import UsageError

__all__ = ["DEPLOYMENT", "Deployments", "inside"]

DEPLOYMENT: Final = "microsoft.resources/deployments"
Fields = Mapping[str, Value]


def inside(fields: Fields, scope: Scope) -> tuple[Value, Scope] | None:
    """Return the template of a deployment, and what its expressions refer to.

    Args:
        fields: the deployment.
        scope: what the template around it refers to.

    Returns:
        `None` if the template is not in the file.
    """
    properties = fields_of(fields.get("properties"))
    if "template" not in properties:
        return None
    template = properties["template"]
    given = fields_of(properties.get("parameters"))
    options = fields_of(properties.get("expressionevaluationoptions"))
    if str(plain(options.get("scope")) or "outer").lower() != "inner":
        return template, scope
    values = {
        name: evaluate(fields_of(parameter)["value"], scope)
        for name, parameter in given.items()
        if "value" in fields_of(parameter)
    }
    return template, Deployments(template, scope_of(template, values)).scope


class Deployments:
    """The deployments within a template, whose outputs its expressions may refer to.

    Args:
        template: the template around them.
        scope: what it refers to beside them.

    Attributes:
        scope: the same, and the outputs.
    """

    def __init__(self, template: Value, scope: Scope) -> None:
        self.scope = attrs.evolve(scope, outputs=self._outputs)
        self._template = template
        self._known: dict[str, tuple[Fields, Scope]] | None = None
        self._found: dict[str, Mapping[str, Any]] = {}

    def _outputs(self, name: str) -> Mapping[str, Any] | None:
        """Return the outputs of a deployment; `None` if the template has none of this name."""
        if self._known is None:
            # The names of some may refer to the outputs of others: these are unknown until then.
            self._known = {}
            self._known.update(self._deployments())
        if name in self._known and name not in self._found:
            # In a circle, the outputs are unknown to themselves.
            self._found[name] = {}
            self._found[name] = dict(_outputs_of(*self._known[name]))
        return self._found.get(name)

    def _deployments(self) -> Iterator[tuple[str, tuple[Fields, Scope]]]:
        """Yield each deployment by its symbolic name, and by its own."""
        for symbol, value in resources_by_name(fields_of(self._template).get("resources")).items():
            fields = fields_of(value)
            if str(plain(fields.get("type"))).lower() != DEPLOYMENT or "name" not in fields:
                continue
            for place, scope in enumerate(copies(value, self.scope)):
                found = fields, scope
                yield (f"{symbol}[{place}]" if "copy" in fields else symbol), found
                yield str(evaluate(fields["name"], scope)).lower(), found


def _outputs_of(fields: Fields, scope: Scope) -> Iterator[tuple[str, Any]]:
    """Yield the outputs of a deployment; those that need Azure are left out."""
    deployed = inside(fields, scope)
    if deployed is None:
        return
    template, within = deployed
    for name, output in members_of(template, "outputs").items():
        value = fields_of(output).get("value")
        if value is not None:
            with suppress(UsageError):
                yield name, {"value": evaluate(value, within)}
