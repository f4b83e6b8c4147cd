"""Templates of Azure Resource Manager as configurations, as Bicep compiles them or as by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from busproof import vocabulary as v
from busproof.broker.configuration.emulator import Configuration, read_configuration
from busproof.broker.configuration.template_expressions import Expression, ExpressionError
from busproof.errors import UsageError

SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
NAMESPACE = {
    "type": "Microsoft.ServiceBus/namespaces",
    "apiVersion": "2022-10-01-preview",
    "name": "[parameters('serviceBusNamespaceName')]",
    "location": "[parameters('location')]",
    "sku": {"name": "Standard"},
    "properties": {"minimumTlsVersion": "1.2"},
}
QUEUE = {
    "type": "Microsoft.ServiceBus/namespaces/queues",
    "apiVersion": "2022-10-01-preview",
    "name": "[format('{0}/{1}', parameters('serviceBusNamespaceName'), variables('queue'))]",
    "properties": {
        "lockDuration": "PT30S",
        "maxSizeInMegabytes": 2048,
        "requiresSession": True,
        "defaultMessageTimeToLive": "P10675199DT2H48M5.4775807S",
        "enablePartitioning": "[equals(parameters('partitioned'), 'yes')]",
        "maxDeliveryCount": "[parameters('deliveries')]",
        "forwardTo": None,
    },
    "dependsOn": ["[resourceId('Microsoft.ServiceBus/namespaces', 'x')]"],
}
TEMPLATE = {
    "$schema": SCHEMA,
    "contentVersion": "1.0.0.0",
    "metadata": {"_generator": {"name": "bicep", "version": "0.30.23"}},
    "parameters": {
        "serviceBusNamespaceName": {"type": "string"},
        "location": {"type": "string", "defaultValue": "[resourceGroup().location]"},
        "partitioned": {"type": "string", "defaultValue": "yes", "allowedValues": ["yes", "no"]},
        "deliveries": {"type": "int", "defaultValue": 7},
    },
    "variables": {"queue": "[toLower(concat('Ord', 'ers'))]"},
    "resources": [NAMESPACE, QUEUE],
    "outputs": {"key": {"type": "string", "value": "[listKeys('a', '2020').primaryKey]"}},
}


def configured(folder: Path, template: dict[str, Any], **parameters: str) -> Configuration:
    path = folder / "main.json"
    path.write_text(json.dumps(template, indent=1), encoding="utf-8")
    return read_configuration(path, parameters=parameters)


def template_of(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"$schema": SCHEMA, "resources": list(resources), **more}


def resource(kind: str, name: str, **properties: Any) -> dict[str, Any]:
    return {"type": f"Microsoft.ServiceBus/{kind}", "name": name, "properties": properties}


def test_template_of_bicep_is_read_with_its_parameters(tmp_path: Path) -> None:
    """Parameters have the values of options or their defaults; outputs are not evaluated."""
    found = configured(tmp_path, TEMPLATE, serviceBusNamespaceName="bus", deliveries="3")
    assert found.created == [
        v.CreateQueue(
            queue="orders",
            partitioned=True,
            requires_session=True,
            lock_duration=30_000_000,
            max_delivery_count=3,
            max_size=2,
        )
    ]
    assert ("Standard", []) == (found.tier.capitalize(), found.warnings)


def test_parameter_without_a_value_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        configured(tmp_path, TEMPLATE)
    assert "main.json:3" in str(caught.value)
    assert "--config-parameter servicebusnamespacename=VALUE" in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"colour": "red"}, "there is no parameter 'colour'; the template has"),
        ({"serviceBusNamespaceName": "b", "deliveries": "x"}, "it is of the type int"),
        ({"partitioned": "maybe"}, '\'maybe\'; the template allows "yes", "no"'),
    ],
)
def test_wrong_parameter_is_refused(tmp_path: Path, parameters: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        configured(tmp_path, TEMPLATE, **parameters)


def test_topics_have_subscriptions_with_rules(tmp_path: Path) -> None:
    """By their types; filters are named as Azure Resource Manager names them."""
    topic = "namespaces/topics"
    found = configured(
        tmp_path,
        template_of(
            resource(topic, "bus/prices", enablePartitioning=True),
            resource(f"{topic}/subscriptions", "bus/prices/dear", maxDeliveryCount=4),
            resource(
                f"{topic}/subscriptions/rules",
                "bus/prices/dear/high",
                filterType="SqlFilter",
                sqlFilter={"sqlExpression": "price > 100", "compatibilityLevel": 20},
                correlationFilter=None,
                action={},
            ),
            resource(
                f"{topic}/subscriptions/rules",
                "bus/prices/dear/red",
                filterType="CorrelationFilter",
                correlationFilter={"label": "red", "properties": {"size": "big"}},
            ),
        ),
    )
    place = {"topic": "prices", "subscription": "dear"}
    assert found.created == [
        v.CreateTopic(topic="prices", partitioned=True),
        v.CreateSubscription(**place, max_delivery_count=4),
        v.RemoveRule(**place, rule="$Default"),
        v.AddRule(**place, rule="high", filter=v.SqlFilter(expression="price > 100")),
        v.AddRule(
            **place,
            rule="red",
            filter=v.CorrelationFilter(subject="red", properties={"size": "big"}),
        ),
    ]


def test_resources_may_stand_within_others(tmp_path: Path) -> None:
    """Their types and names are then relative; so it is with the symbolic names of Bicep."""
    subscription = {"type": "subscriptions", "name": "s", "properties": {}}
    topic = {"type": "topics", "name": "t", "properties": {}, "resources": [subscription]}
    queue = {"type": "queues", "name": "q", "properties": {}}
    namespace = resource("namespaces", "bus") | {"resources": [topic, queue]}
    found = configured(tmp_path, {"resources": {"bus": namespace}})
    assert [v.created_path(each) for each in found.created] == ["q", "t", "t/subscriptions/s"]


def test_copies_and_conditions_are_followed(tmp_path: Path) -> None:
    """A loop makes a queue for each of its numbers."""
    many = resource("namespaces/queues", "[concat('bus/q', copyIndex(1))]")
    many["copy"] = {"name": "loop", "count": "[length(createArray('a', 'b'))]"}
    listed = resource("namespaces/queues", "[format('bus/{0}', variables('n')[copyIndex('all')])]")
    listed["copy"] = {"name": "all", "count": 2}
    never = resource("namespaces/queues", "bus/never") | {"condition": "[not(true())]"}
    found = configured(tmp_path, template_of(many, listed, never, variables={"n": ["x", "y"]}))
    assert [each.queue for each in found.created] == ["q1", "q2", "x", "y"]


def test_module_is_a_template_within_the_template(tmp_path: Path) -> None:
    inner = template_of(
        resource("namespaces/queues", "[format('bus/{0}', parameters('name'))]"),
        parameters={"name": {"type": "string"}},
    )
    module = {
        "type": "Microsoft.Resources/deployments",
        "name": "module",
        "properties": {
            "expressionEvaluationOptions": {"scope": "inner"},
            "parameters": {"name": {"value": "[variables('inside')]"}},
            "template": inner,
        },
    }
    found = configured(tmp_path, template_of(module, variables={"inside": "q"}))
    assert [each.queue for each in found.created] == ["q"]


def module_of(called: str, template: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    return {
        "type": "Microsoft.Resources/deployments",
        "name": called,
        "properties": {
            "expressionEvaluationOptions": {"scope": "inner"},
            "parameters": {key: {"value": value} for key, value in parameters.items()},
            "template": template,
        },
    }


NAMING = module_of(
    "naming",
    template_of(
        resource("namespaces", "[parameters('name')]"),
        parameters={"name": {"type": "string"}},
        outputs={
            "name": {"type": "string", "value": "[parameters('name')]"},
            "key": {"type": "string", "value": "[listKeys('a', '2020').primaryKey]"},
        },
    ),
    name="bus",
)


@pytest.mark.parametrize(
    "name",
    [
        "reference(resourceId('Microsoft.Resources/deployments', 'naming'), '2022').outputs",
        "reference('naming').outputs",
    ],
)
def test_outputs_of_a_module_are_known_to_the_template_around_it(tmp_path: Path, name: str) -> None:
    """By its id or its symbolic name; an output that needs Azure is in nobody's way."""
    queue = resource("namespaces/queues", f"[format('{{0}}/q', {name}.name.value)]")
    found = configured(tmp_path, {"resources": {"naming": NAMING, "queue": queue}})
    assert [each.queue for each in found.created] == ["q"]


def test_modules_that_need_one_another_are_refused(tmp_path: Path) -> None:
    """Instead of being followed for ever."""
    inner = template_of(outputs={"x": {"value": "[parameters('y')]"}}, parameters={"y": {}})
    one = module_of("one", inner, y="[reference('two').outputs.x.value]")
    two = module_of("two", inner, y="[reference('one').outputs.x.value]")
    with pytest.raises(UsageError, match="there is no 'x'"):
        configured(tmp_path, template_of(one, two))


def test_loops_make_variables_and_properties(tmp_path: Path) -> None:
    """As Bicep writes a `for` in a variable."""
    variables = {
        "copy": [{"name": "names", "count": 2, "input": "[concat('q', copyIndex('names'))]"}],
        "settings": {"copy": [{"name": "locks", "count": 2, "input": "PT30S"}]},
    }
    queue = resource("namespaces/queues", "[concat('bus/', variables('names')[copyIndex()])]")
    queue["copy"] = {"name": "queues", "count": "[length(variables('names'))]"}
    queue["properties"]["lockDuration"] = "[variables('settings').locks[copyIndex()]]"
    found = configured(tmp_path, template_of(queue, variables=variables))
    assert [(each.queue, each.lock_duration) for each in found.created] == [
        ("q0", 30_000_000),
        ("q1", 30_000_000),
    ]


def test_function_of_the_template_is_called(tmp_path: Path) -> None:
    function = {
        "parameters": [{"name": "name", "type": "string"}],
        "output": {"type": "string", "value": "[concat('bus/', parameters('name'))]"},
    }
    functions = [{"namespace": "own", "members": {"path": function}}]
    queue = resource("namespaces/queues", "[own.path('q')]")
    found = configured(tmp_path, template_of(queue, functions=functions))
    assert [each.queue for each in found.created] == ["q"]


def test_parameter_may_be_null_or_of_a_type_of_the_template(tmp_path: Path) -> None:
    """And a boolean is taken in any case, as on the command line of Azure."""
    queue = resource(
        "namespaces/queues",
        "[concat('bus/', parameters('q').name)]",
        forwardTo="[parameters('to')]",
        requiresSession="[parameters('sessions')]",
    )
    template = template_of(
        queue,
        definitions={"queue": {"type": "object"}, "alias": {"$ref": "#/definitions/queue"}},
        parameters={
            "q": {"$ref": "#/definitions/alias"},
            "to": {"type": "string", "nullable": True},
            "sessions": {"type": "bool"},
        },
    )
    found = configured(tmp_path, template, q='{"name": "a"}', sessions="True")
    assert found.created == [v.CreateQueue(queue="a", partitioned=False, requires_session=True)]


def test_premium_namespace_has_its_partitions_and_units(tmp_path: Path) -> None:
    namespace = resource("namespaces", "bus", premiumMessagingPartitions=2, zoneRedundant=True)
    namespace["sku"] = {"name": "Premium", "tier": "Premium", "capacity": 4}
    found = configured(tmp_path, template_of(namespace, resource("namespaces/queues", "bus/q")))
    assert ("premium", 2, 4) == (found.tier, found.namespace_partitions, found.messaging_units)
    assert found.created == [v.CreateQueue(queue="q", partitioned=True)]


def test_other_resources_have_no_effect(tmp_path: Path) -> None:
    found = configured(
        tmp_path,
        template_of(
            resource("namespaces/queues", "bus/q", colour="red"),
            resource("namespaces/AuthorizationRules", "bus/Root", rights=["[reference('x')]"]),
            {"type": "Microsoft.Storage/storageAccounts", "name": "[reference('y')]"},
        ),
    )
    unknown, left_out = sorted(found.warnings, key=lambda warning: "type" in warning)
    assert "'colour', is unknown and has no effect" in unknown
    assert "Microsoft.ServiceBus/namespaces/AuthorizationRules has no effect here" in left_out


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (template_of(), "a template with resources of the type"),
        (template_of({"type": "Microsoft.ServiceBus/namespaces"}), "a type and a name"),
        (
            template_of(resource("namespaces", "a"), resource("namespaces", "b")),
            "one namespace, not a, b",
        ),
        (template_of(resource("namespaces/topics/subscriptions", "a/b/c")), "expected a/b in the"),
        (
            template_of(resource("namespaces", "a") | {"sku": "Basic"}),
            "sku is 'Basic'; expected an",
        ),
        (
            template_of(
                resource("namespaces/queues", "[variables('x')]"),
                variables={"copy": [{"name": "x", "count": 1}]},
            ),
            "a loop with a name, a count and an input",
        ),
        (
            template_of(
                resource("namespaces/queues", "[own.f(1)]"),
                functions=[{"namespace": "own", "members": {"f": {"output": {"value": "x"}}}}],
            ),
            "the template's function takes 0 parameters",
        ),
        (
            {"$schema": "https://x/2019-04-01/deploymentParameters.json#", "parameters": {}},
            "give the template, and each parameter by --config-parameter",
        ),
        (
            template_of(resource("namespaces/queues", "[format('a/{0}', reference('x').y)]")),
            r"reference\('x'\) is not known here",
        ),
        (template_of(resource("namespaces/queues", "a/q", maxDeliveryCount=0)), "from 1 to 2000"),
        (
            template_of(resource("namespaces/queues", "a/q") | {"copy": {"name": "n"}}),
            "a count from 0 to 10,000",
        ),
        (
            template_of(
                resource("namespaces/queues", "[variables('a')]"),
                variables={"a": "[variables('a')]"},
            ),
            "nested too deeply",
        ),
    ],
)
def test_impossible_template_is_refused(
    tmp_path: Path, template: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        configured(tmp_path, template)


@pytest.mark.parametrize("name", ["main.bicep", "main.bicepparam"])
def test_bicep_itself_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="compile it by `bicep build`"):
        read_configuration(tmp_path / name)


def value_of(text: str) -> Any:
    def nothing(name: str, given: list[Any]) -> Any:  # noqa: ARG001 - as templates look up
        raise ExpressionError(f"no {name}")

    return Expression(text, nothing).value()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'it''s'", "it's"),
        ("add(-1, 3)", 2),
        ("if(and(true(), not(false())), 'a', 'b')", "a"),
        ("if(or(equals('A', 'a'), false()), createArray(1), null())[0]", 1),
        ("createObject('a', createObject('B', 3)).A.b", 3),
        ("format('{0}-{{x}}-{1:D2}', 'n', 4)", "n-{x}-4"),
        ("concat(createArray(1), createArray(2))", [1, 2]),
        ("split('a/b-c', createArray('/', '-'))[2]", "c"),
        ("last(split('a/b', '/'))", "b"),
        ("union(createArray(1, 2), createArray(2, 3))", [1, 2, 3]),
        ("union(createObject('a', 1), createObject('b', 2))", {"a": 1, "b": 2}),
        ("coalesce(null(), 'x')", "x"),
        ("contains(createObject('Key', 1), 'key')", True),
        ("take('abc', 2)", "ab"),
        ("skip(range(2, 3), 1)", [3, 4]),
        ("substring('abcd', 1, 2)", "bc"),
        ("string(createArray(1))", "[1]"),
        ("bool('true')", True),
        ("length(uniqueString(resourceGroup().id))", 13),
        ("last(split(resourceId('Microsoft.ServiceBus/namespaces/queues', 'n', 'q'), '/'))", "q"),
        ("json('{\"a\": [1]}').a[0]", 1),
        ("if(true(), 'a', first(createArray())[0])", "a"),
        ("and(false(), first('')[0])", False),
        ("or(true(), unheard())", True),
        ("map(createArray('a'), lambda('x', concat(lambdaVariables('x'), 'b')))[0]", "ab"),
        ("map(createArray('a'), lambda('x', 'i', lambdaVariables('i')))[0]", 0),
        (
            "map(createArray(2), lambda('x', map(createArray(3), "
            "lambda('y', add(lambdaVariables('x'), lambdaVariables('y'))))))[0][0]",
            5,
        ),
        ("length(filter(range(0, 4), lambda('x', greater(lambdaVariables('x'), 1))))", 2),
        (
            "reduce(range(1, 3), 0, "
            "lambda('a', 'b', add(lambdaVariables('a'), lambdaVariables('b'))))",
            6,
        ),
        (
            "sort(createArray(3, 1, 2), "
            "lambda('a', 'b', less(lambdaVariables('a'), lambdaVariables('b'))))",
            [1, 2, 3],
        ),
        ("toObject(createArray('a'), lambda('x', lambdaVariables('x')), lambda('x', 1)).a", 1),
        ("mapValues(createObject('a', 1), lambda('x', add(lambdaVariables('x'), 1))).a", 2),
        ("items(createObject('b', 1, 'a', 2))[0].key", "a"),
        ("tryGet(createObject('a', createObject('b', 1)), 'a', 'b')", 1),
        ("tryGet(createObject('a', 1), 'z')", None),
        (
            "union(createObject('a', createObject('b', 1)), "
            "createObject('a', createObject('c', 2))).a.b",
            1,
        ),
        ("intersection(createArray(1, 2), createArray(2))", [2]),
        ("intersection(createObject('a', 1, 'b', 2), createObject('a', 1)).a", 1),
        ("base64ToString(base64('x'))", "x"),
        ("concat(first(''), last(createArray('b')))", "b"),
        ("string(true())", "True"),
        ("length(newGuid())", 36),
    ],
)
def test_expression_has_its_value(text: str, expected: Any) -> None:
    """As Azure evaluates it."""
    assert expected == value_of(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "ends too early"),
        ("add(1", "ends too early|',' is missing"),
        ("add", r"'\(' is missing"),
        ("add(1 2)", "',' is missing"),
        ("'a' 'b'", "is not expected here"),
        (")", "is not expected here"),
        ("#", "is not expected here"),
        ("add(1, 'a')", "cannot be evaluated"),
        ("createArray(1)[4]", "there is no 4"),
        ("createArray(1)[0", "ends too early|'\\]' is missing"),
        ("createObject('a', 1).b", "there is no 'b'"),
        ("unheard()", "no unheard"),
        ("add(" * 60, "nested too deeply"),
        ("lambda()", "has no expression"),
        ("lambdaVariables('x')", "no lambdavariables"),
        ("own.f", r"'\(' is missing after own.f"),
    ],
)
def test_wrong_expression_is_refused(text: str, said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        value_of(text)
