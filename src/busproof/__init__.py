"""Test whether a message bus behaves as Azure Service Bus documents."""

from typing import Final

__all__ = ["__version__"]

__version__: Final = "0.2.0"
