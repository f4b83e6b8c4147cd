"""All rules by family, so that any of them can be replaced.

The functions of a family call each other, and those of other families, only through this record,
which a namespace has. So a bus with one fault is `attrs.evolve(RULES, keys=attrs.evolve(RULES.keys,
home=faulty_home))`. For the same reason no family imports functions of another.
"""

from typing import Final

import attrs

from busproof.model.batches import Batches
from busproof.model.dead_letters import DeadLetters
from busproof.model.deferral import Deferral
from busproof.model.duplicates import Duplicates
from busproof.model.expiry import Expiry
from busproof.model.forwarding import Forwarding
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
from busproof.model.subscription_rules import SubscriptionRules
from busproof.model.topics import Topics
from busproof.model.transactions import Transactions

__all__ = ["RULES", "Rules"]


@attrs.frozen
class Rules:
    """The functions of all families."""

    batches: Batches = attrs.field(factory=Batches)
    dead_letters: DeadLetters = attrs.field(factory=DeadLetters)
    deferral: Deferral = attrs.field(factory=Deferral)
    duplicates: Duplicates = attrs.field(factory=Duplicates)
    expiry: Expiry = attrs.field(factory=Expiry)
    forwarding: Forwarding = attrs.field(factory=Forwarding)
    keys: Keys = attrs.field(factory=Keys)
    limits: Limits = attrs.field(factory=Limits)
    locks: Locks = attrs.field(factory=Locks)
    management: Management = attrs.field(factory=Management)
    messages: Messages = attrs.field(factory=Messages)
    partitions: Partitions = attrs.field(factory=Partitions)
    premium: Premium = attrs.field(factory=Premium)
    quotas: Quotas = attrs.field(factory=Quotas)
    scheduling: Scheduling = attrs.field(factory=Scheduling)
    sessions: Sessions = attrs.field(factory=Sessions)
    sizes: Sizes = attrs.field(factory=Sizes)
    subscription_rules: SubscriptionRules = attrs.field(factory=SubscriptionRules)
    topics: Topics = attrs.field(factory=Topics)
    transactions: Transactions = attrs.field(factory=Transactions)


RULES: Final = Rules()
