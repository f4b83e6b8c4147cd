"""Why some events are not judged, and what would make them judged."""

from enum import Enum

__all__ = ["Reason"]

FROM_THE_START = "a history that begins with the creation of the entity"


class Reason(Enum):
    """A reason why events are not judged, as a sentence, and what would make them judged."""

    BEGUN = (
        "the entity was there before, so only what no past explains is accused, and nothing shows "
        "that a rule is kept",
        FROM_THE_START,
    )
    SETTINGS = (
        "the settings of the entity are unknown, so what depends on them is not judged: times, "
        "limits, copies, forwarding, whether a message has to be there",
        "--began FILE with the settings",
    )
    MESSAGES = (
        "the message was there before, so how it was sent, and when, is not judged",
        FROM_THE_START,
    )
    LOCKS = ("the lock was given before, or never", "a history that begins before the receive")
    TRANSACTIONS = (
        "the transaction was begun before",
        "a history that begins before the transaction",
    )
    REFUSALS = ("what was there before may be the reason of a refusal", FROM_THE_START)
    EMPTY = (
        "it is unknown whether there was anything to give",
        "--began FILE with the settings, or a history that begins with the creation of the entity",
    )
    ASIDE = (
        "the message was scheduled before, or settled in a transaction from before",
        "a history that begins before the message is scheduled and the transaction begins",
    )
    LOOKS = (
        "descriptions, lists, counts and rules depend on all that was there before",
        FROM_THE_START,
    )
    DELETION = (
        "the entity may have been deleted by then",
        "a history that begins after the deletion",
    )
    ORDERS = (
        "messages and keys were judged one by one, and all of the entity's together have too many "
        "possible orders",
        "fewer overlapping requests, or a shorter history",
    )
    NO_QUEUE = (
        "no queue of this tier can stand for the entity",
        FROM_THE_START,
    )

    @property
    def why(self) -> str:
        """Why the events are not judged."""
        return self.value[0]

    @property
    def remedy(self) -> str:
        """What would make them judged."""
        return self.value[1]
