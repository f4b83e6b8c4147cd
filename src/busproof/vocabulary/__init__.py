"""The vocabulary: what a client requests of a bus, and what it sees.

A `Command` is one request, an `Outcome` is its result, and an `Event` records both. All other rooms
translate to and from these two closed unions. The values are frozen and contain no rules. All times
and durations are whole numbers of microseconds.

Use it as a module: `from busproof import vocabulary as v`, then `v.Send`, `v.Refused`, `v.Command`.
Each module lists in `__all__` the names that it adds.
"""

from busproof.vocabulary.adapter import *
from busproof.vocabulary.addressing import *
from busproof.vocabulary.capabilities import *
from busproof.vocabulary.commands import *
from busproof.vocabulary.entity_settings import *
from busproof.vocabulary.messages import *
from busproof.vocabulary.observability import *
from busproof.vocabulary.outcomes import *
from busproof.vocabulary.paths import *
from busproof.vocabulary.profile import *
from busproof.vocabulary.subscription_rules import *
from busproof.vocabulary.values import *
