"""pytest plugin that runs the live tests of azure-servicebus on a local broker.

The tests are those of the client's source distribution, unchanged. They expect a namespace in Azure
and tools that are not published. This plugin replaces the tools: the broker serves as the
namespace, entities are created by administration requests, and the service's host names resolve to
this machine (`namespace_here.py`).
"""

import asyncio
import functools
import inspect
import itertools
import os
import re
import sys
import types
from collections import namedtuple

from namespace_here import CONNECTION, HOST, KEY, NAMESPACE, POLICY, SUFFIX, WEB_PORT

import aiohttp
import pytest
import websocket

Resource = namedtuple("Resource", "name id")
_numbers = (f"{os.getpid()}-{number}" for number in itertools.count(1))

from azure.servicebus._base_handler import ServiceBusSharedKeyCredential
from azure.servicebus.aio._base_handler_async import (
    ServiceBusSharedKeyCredential as AsyncCredential,
)
from azure.servicebus.management import ServiceBusAdministrationClient


def _over_websockets():
    """Redirect WebSockets to their own port; the service has them on the administration's port."""
    create, connect = websocket.create_connection, aiohttp.ClientSession.ws_connect

    def moved(url):
        return re.sub(rf"^wss://{HOST}(:443)?/", f"wss://{HOST}:{WEB_PORT}/", str(url))

    websocket.create_connection = lambda url, **options: create(moved(url), **options)
    aiohttp.ClientSession.ws_connect = lambda self, url, **options: connect(
        self, moved(url), **options
    )


def get_credential(is_async=False, **_):
    """Return the credential of an access policy, where the tests expect a user's credential."""
    return AsyncCredential(POLICY, KEY) if is_async else ServiceBusSharedKeyCredential(POLICY, KEY)


class AzureRecordedTestCase:
    """Replacement for the tests' base class."""

    is_live = True
    in_recording = False

    @staticmethod
    def await_prepared_test(function):
        """Decorate an asynchronous test that needs no resources."""
        return _given()(function)

    def get_credential(self, *_, **options):
        """Return the same credential as the function of this name."""
        return get_credential(**options)

    def get_resource_name(self, name):
        """Return a unique name."""
        return f"{name}{next(_numbers)}"

    def create_random_name(self, name):
        """Return a unique name."""
        return f"{name}{next(_numbers)}"


def _called(function, args, kwargs):
    """Call a test with the arguments that it accepts, in an event loop if necessary."""
    known = inspect.signature(function).parameters.values()
    if not hasattr(function, "is_prepared") and all(
        parameter.kind is not parameter.VAR_KEYWORD for parameter in known
    ):
        names = {parameter.name for parameter in known}
        kwargs = {name: value for name, value in kwargs.items() if name in names}
    result = function(*args, **kwargs)
    return asyncio.run(result) if inspect.isawaitable(result) else result


def _wrapping(prepare):
    """Return a decorator for tests; `prepare` yields the arguments, and cleans up afterwards."""

    def decorate(function):
        @functools.wraps(function)
        def prepared(*args, **kwargs):
            steps = prepare(kwargs)
            fixtures = next(steps)
            try:
                return _called(function, args, {**kwargs, **fixtures})
            finally:
                next(steps, None)

        # Hide these arguments from pytest, which would look for fixtures with their names.
        known = inspect.signature(function).parameters.values()
        kept = [parameter for parameter in known if not parameter.name.startswith("servicebus_")]
        prepared.__signature__ = inspect.Signature(kept)
        prepared.is_prepared = True
        return prepared

    return decorate


def _given(**values):
    """Decorate a test with fixed arguments."""

    def prepare(_):
        yield values

    return _wrapping(prepare)


def recorded_by_proxy(function):
    """Decorate a test without recording it."""
    return _given()(function)


def _powershell(*_, **fakes):
    known = {
        "servicebus_connection_str": CONNECTION,
        "servicebus_fully_qualified_namespace": HOST,
        "servicebus_sas_policy": POLICY,
        "servicebus_sas_key": KEY,
    }
    return _given(**{name: known.get(name, fake) for name, fake in fakes.items()})


def _administration():
    return ServiceBusAdministrationClient(HOST, ServiceBusSharedKeyCredential(POLICY, KEY))


def _resource_group(*_, **__):
    group = Resource("group", "group")
    return _given(resource_group=group, location="here")


def _namespace(*_, parameter_name="servicebus_namespace", **__):
    names = ("", "_connection_string", "_key_name", "_primary_key")
    values = (Resource(NAMESPACE, NAMESPACE), CONNECTION, POLICY, KEY)
    return _given(
        **{parameter_name + name: value for name, value in zip(names, values, strict=True)}
    )


def _entity(create, delete, parameter):
    """Return a decorator that creates an entity; tests that request a cached one share it."""
    kept = {}

    def preparer(name_prefix="", use_cache=False, parameter_name=parameter, **options):
        settings = {
            name: value
            for name, value in options.items()
            if name.startswith(("requires_", "dead_", "enable_", "lock_"))
        }

        def prepare(fixtures):
            key = (name_prefix, tuple(sorted(settings.items())), fixtures.get("servicebus_topic"))
            name = kept.get(key) if use_cache else None
            with _administration() as client:
                if name is None:
                    name = f"{name_prefix or 'entity'}-{next(_numbers)}"
                    create(client, name, fixtures, settings)
                if use_cache:
                    kept[key] = name
                yield {parameter_name: Resource(name, name)}
                if not use_cache:
                    delete(client, name, fixtures)

        return _wrapping(prepare)

    return preparer


def _create_queue(client, name, _, settings):
    client.create_queue(name, **{"lock_duration": "PT30S", **settings})


def _create_subscription(client, name, fixtures, settings):
    client.create_subscription(fixtures["servicebus_topic"].name, name, **settings)


def _delete_subscription(client, name, fixtures):
    client.delete_subscription(fixtures["servicebus_topic"].name, name)


def _without_rules(*_, **__):
    def decorate(_):
        def test_needs_a_rule(_):
            pytest.skip("keys of an entity's own are not served")

        return test_needs_a_rule

    return decorate


def _module(name, **contents):
    made = types.ModuleType(name)
    vars(made).update(contents)
    sys.modules[name] = made
    return made


class _Rights:
    manage, send, listen = "Manage", "Send", "Listen"


_queue = _entity(
    _create_queue, lambda client, name, _: client.delete_queue(name), "servicebus_queue"
)
_topic = _entity(
    lambda client, name, _, settings: client.create_topic(name, **settings),
    lambda client, name, _: client.delete_topic(name),
    "servicebus_topic",
)
_subscription = _entity(_create_subscription, _delete_subscription, "servicebus_subscription")
_cached = functools.partial(functools.partial, use_cache=True)


def _nothing(*_, **__):
    """Do nothing: no recording needs to be sanitized."""


class _Nothing(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _nothing


sys.modules["devtools_testutils.sanitizers"] = _Nothing("devtools_testutils.sanitizers")
_module("devtools_testutils.aio", recorded_by_proxy_async=recorded_by_proxy)
_module(
    "devtools_testutils",
    __path__=[],
    AzureMgmtRecordedTestCase=AzureRecordedTestCase,
    AzureRecordedTestCase=AzureRecordedTestCase,
    CachedResourceGroupPreparer=_resource_group,
    PowerShellPreparer=_powershell,
    RandomNameResourceGroupPreparer=_resource_group,
    get_credential=get_credential,
    recorded_by_proxy=recorded_by_proxy,
    set_custom_default_matcher=_nothing,
)
_module(
    "servicebus_preparer",
    SERVICEBUS_ENDPOINT_SUFFIX=SUFFIX,
    ServiceBusResourceGroupPreparer=_resource_group,
    CachedServiceBusResourceGroupPreparer=_resource_group,
    ServiceBusNamespacePreparer=_namespace,
    CachedServiceBusNamespacePreparer=_namespace,
    ServiceBusQueuePreparer=_queue,
    CachedServiceBusQueuePreparer=_cached(_queue),
    ServiceBusTopicPreparer=_topic,
    CachedServiceBusTopicPreparer=_cached(_topic),
    ServiceBusSubscriptionPreparer=_subscription,
    CachedServiceBusSubscriptionPreparer=_cached(_subscription),
    ServiceBusNamespaceAuthorizationRulePreparer=_without_rules,
    ServiceBusQueueAuthorizationRulePreparer=_without_rules,
)
_module("azure.mgmt", __path__=[])
_module("azure.mgmt.servicebus", __path__=[])
_module("azure.mgmt.servicebus.models", AccessRights=_Rights)
_over_websockets()


def pytest_configure(config):
    """Register the marks of the tests."""
    for mark in ("liveTest", "live_test_only", "playback_test_only"):
        config.addinivalue_line("markers", f"{mark}: of the client's tests")


@pytest.fixture(scope="session")
def test_proxy():
    """Replace the proxy for recordings; nothing is recorded."""
