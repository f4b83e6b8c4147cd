"""What the readers of other programs' logs return."""

from collections import Counter

import attrs

from busproof import vocabulary as v

__all__ = ["Converted"]


@attrs.frozen(kw_only=True)
class Converted:
    """A log as a history.

    Attributes:
        events: the events, in the order of their answers.
        left_out: what was left out, and how much of it.
    """

    events: tuple[v.Event, ...]
    left_out: Counter[str]
