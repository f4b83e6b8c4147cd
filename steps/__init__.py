"""The pytest plugin and the steps of the features."""

from typing import Final

STEP_MODULES: Final = (
    "creating",
    "publishing",
    "acting",
    "forwarding",
    "managing",
    "stranding",
    "managing_topics",
    "sending",
    "receiving",
    "batching",
    "dead_letters",
    "deferring",
    "scheduling",
    "expiring",
    "locks",
    "enlisting",
    "sessions",
    "disturbing",
    "filling",
    "measuring",
    "crowding",
    "restoring",
    "expecting",
    "numbering",
    "partitions",
    "browsing",
    "asking",
)
"""The modules of this package that define steps."""
