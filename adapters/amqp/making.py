"""Making the adapters of this package, and saying what is missing where they cannot be."""

import importlib
from types import ModuleType
from typing import Any, cast

from busproof.adapters.base import Adapter
from busproof.errors import UsageError

__all__ = ["embedded", "service"]


def embedded(settings: dict[str, Any], timeout: float) -> Adapter:
    """The adapter that starts our own broker.

    Raises:
        UsageError: what it needs is not installed, or a setting is none.
    """
    module = _with_extra("busproof.adapters.amqp.adapter")
    return cast(Adapter, module.EmbeddedAdapter(**settings, timeout=timeout))


def service(name: str, timeout: float) -> Adapter:
    """The adapter for a service by its connection string or address.

    Raises:
        UsageError: what it needs is not installed, the name is none, or nobody has agreed.
    """
    target = _with_extra("busproof.adapters.amqp.target").target_of(name)
    run = _with_extra("busproof.adapters.amqp.run_names").run_agreed_to()
    if target.plain:
        plain = _with_extra("busproof.adapters.amqp.plain")
        return cast(Adapter, plain.PlainAdapter(target, timeout, run))
    module = _with_extra("busproof.adapters.amqp.remote")
    return cast(Adapter, module.RemoteAdapter(target, timeout, run))


def _with_extra(name: str) -> ModuleType:
    """A module of ours that needs what only the extra brings."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"this adapter needs {error.name}; install it with pip install 'busproof[amqp]'"
        ) from None
