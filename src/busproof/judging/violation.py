"""A violation: an event that the documents do not allow."""

import attrs

from busproof import vocabulary as v

__all__ = ["Violation"]


@attrs.frozen(kw_only=True)
class Violation:
    """An event that the documents do not allow.

    Attributes:
        index: its index among the judged events.
        rules: the rules that it breaks, the most relevant first.
        allowed: the answers that would have been allowed; empty if none can be compared.
        why: an explanation, if more than this one event is wrong.
    """

    index: int
    rules: tuple[v.RuleId, ...]
    allowed: tuple[v.Outcome, ...]
    why: str = ""
