"""Names under which a replay keeps the partitions of keys."""

from busproof.model.ambiguities import KeyProperties
from busproof.model.state import NamespaceState
from busproof.model.values import Key

__all__ = ["key_of_home"]


def key_of_home(namespace: NamespaceState, key: Key) -> Key:
    """KEY-PROPERTIES: return the key under which the partition of a key is kept.

    Unless the two are surely one key, a SessionId and a PartitionKey of the same value may select
    different partitions.
    """
    if namespace.known_reading(KeyProperties) is KeyProperties.ONE_KEY:
        return key
    return key._replace(value=f"{key.source} {key.value}")
