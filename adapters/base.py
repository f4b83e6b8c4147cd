"""The interface of adapters, where programs import it from."""

from busproof.vocabulary.adapter import Adapter, Declaration, Hearing, Implementation, Observed

__all__ = ["Adapter", "Declaration", "Hearing", "Implementation", "Observed"]
