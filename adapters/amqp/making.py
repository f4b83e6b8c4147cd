"""Creation of the adapters that need the extra `amqp`; `finding` checks that it is installed."""

import importlib
from typing import Any, cast

from busproof import vocabulary as v

__all__ = ["make_embedded", "make_service"]


def make_embedded(settings: dict[str, Any], timeout: float, *, http: bool = False) -> v.Adapter:
    """Return an adapter that starts the embedded broker, and reaches it over AMQP or HTTP.

    Raises:
        UsageError: a setting is invalid.
    """
    module = importlib.import_module("busproof.adapters.amqp.adapter")
    return cast(v.Adapter, module.EmbeddedAdapter(**settings, timeout=timeout, **_dialect(http)))


def _dialect(http: bool) -> dict[str, Any]:
    """Return what makes an adapter speak HTTP."""
    if not http:
        return {}
    return {"dialect": importlib.import_module("busproof.adapters.http.dialect").OVER_HTTP}


def make_service(name: str, timeout: float) -> v.Adapter:
    """Return an adapter for the service at a connection string or an address.

    Raises:
        UsageError: the name is invalid, or the user has not given consent.
    """
    target = importlib.import_module("busproof.adapters.amqp.target").target_of(name)
    run = importlib.import_module("busproof.adapters.amqp.run_names").run_agreed_to()
    if target.plain:
        plain = importlib.import_module("busproof.adapters.amqp.plain")
        return cast(v.Adapter, plain.PlainAdapter(target, timeout, run))
    module = importlib.import_module("busproof.adapters.amqp.remote")
    return cast(v.Adapter, module.RemoteAdapter(target, timeout, run, **_dialect(target.http)))
