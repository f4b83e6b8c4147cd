"""All families of rules, and a namespace with the rules that apply in it.

A bus with a fault has a subclass in the place of a family: `new_namespace(profile,
sessions=ClosingCounts)`. Families call each other only through `Rules`, so that every call meets
the subclass; for the same reason no family imports another's methods.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, get_type_hints

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.batches import Batches
from busproof.model.dead_letters import DeadLetters
from busproof.model.deferral import Deferral
from busproof.model.duplicates import Duplicates
from busproof.model.expiry import Expiry
from busproof.model.family import HANDLED, Family
from busproof.model.forwarding import Forwarding
from busproof.model.journal import record
from busproof.model.keys import Keys
from busproof.model.limits import Limits
from busproof.model.locks import Locks
from busproof.model.management import Management
from busproof.model.messages import Messages
from busproof.model.partitions import Partitions
from busproof.model.premium import Premium
from busproof.model.quotas import Quotas
from busproof.model.scheduling import Scheduling
from busproof.model.sessions import Sessions
from busproof.model.sizes import Sizes
from busproof.model.state import NamespaceState
from busproof.model.subscription_rules import SubscriptionRules
from busproof.model.topics import Topics
from busproof.model.transactions import Transactions

__all__ = ["FAMILIES", "HANDLERS", "NO_FAULT", "Families", "Namespace", "Rules"]

Families = Mapping[str, type[Family]]
"""Name of a family to its class."""

NO_FAULT: Final[Families] = {}
"""Replaces no family."""

Decide = Callable[[Any, str], Answer]
"""Decides a command of a connection."""


class Rules:
    """The families of one namespace."""

    batches: Batches
    dead_letters: DeadLetters
    deferral: Deferral
    duplicates: Duplicates
    expiry: Expiry
    forwarding: Forwarding
    keys: Keys
    limits: Limits
    locks: Locks
    management: Management
    messages: Messages
    partitions: Partitions
    premium: Premium
    quotas: Quotas
    scheduling: Scheduling
    sessions: Sessions
    sizes: Sizes
    subscription_rules: SubscriptionRules
    topics: Topics
    transactions: Transactions

    def __init__(self, namespace: "Namespace", replaced: Families) -> None:
        """Make each family of `FAMILIES`, or the class that replaces it.

        Raises:
            TypeError: there is no family of a name in `replaced`.
        """
        if unknown := sorted(replaced.keys() - FAMILIES.keys()):
            raise TypeError(f"unknown families {unknown}; there are {', '.join(FAMILIES)}")
        self.namespace = namespace
        for name, kind in FAMILIES.items():
            setattr(self, name, replaced.get(name, kind)(namespace, self))


FAMILIES: Final[Families] = get_type_hints(Rules)
"""The model's own families."""

HANDLERS: Final[Mapping[type[v.Command], str]] = {
    kind: f"{name}.{method}"
    for name, family in FAMILIES.items()
    for method, function in vars(family).items()
    for kind in getattr(function, HANDLED, ())
}
"""Kind of command to the method that decides it, as `family.method`."""


@record(indexes=("replaced", "rules", "handlers"))
class Namespace(NamespaceState):
    """A namespace with its rules: the state of a bus, and all that decides what it does next.

    Attributes:
        replaced: the families that others replace, in a bus with a fault.
        rules: all families.
        handlers: kind of command to the method that decides it.
    """

    replaced: Families = NO_FAULT
    rules: Rules = attrs.field(init=False)
    handlers: dict[type, Decide] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.replace(self.replaced)

    def replace(self, families: Families) -> None:
        """Go on with these families in the place of the model's own."""
        self.replaced = families
        self.rules = Rules(self, families)
        for kind, path in HANDLERS.items():
            self.handlers[kind] = attrgetter(path)(self.rules)
