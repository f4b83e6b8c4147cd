"""Consequences of a broken rule for applications: one sentence per family of rules."""

from typing import Final

__all__ = ["CONSEQUENCES", "consequence"]

CONSEQUENCES: Final = {
    "BATCH": "An application that sends or receives several messages at once may lose some of them "
    "or have only a part of them taken.",
    "DEFER": "A message that an application set aside may be lost, or come back when it is not "
    "expected.",
    "DLQ": "Messages that cannot be processed may be lost, or be put where nobody looks for them.",
    "DUP": "A message that is sent again after a failure may be processed twice, or a new one may "
    "be taken for a duplicate and dropped.",
    "FEAT": "An application that uses a newer feature works on Service Bus and fails here.",
    "FILTER": "A subscription may receive messages that it did not ask for, or miss its own.",
    "FWD": "Messages may stop at an entity that has to pass them on, or be passed on twice.",
    "KEY": "Messages that belong together may be spread over partitions, and their order and their "
    "transactions are lost.",
    "LIFE": "A message may be lost, changed, delivered twice or held back.",
    "LIMIT": "A request that Service Bus refuses is taken here, or the other way round: the error "
    "shows in production first.",
    "LOCK": "Two receivers may process one message, or nobody may get it back after a failure.",
    "MGMT": "Programs that create, describe or change entities see other settings than those in "
    "force.",
    "PART": "An outage of one partition affects more, or less, than applications are built for.",
    "PREM": "An entity that Premium does not have can be used here.",
    "QUOTA": "A deployment that fits here does not fit into a namespace, or the other way round.",
    "SCHED": "A message may become active too early, too late or never, or cannot be cancelled.",
    "SEQ": "Programs that remember a sequence number or a time find the wrong message, or none.",
    "SESS": "Messages of one session may be processed by two receivers, or out of order.",
    "SIZE": "An entity that is full takes messages here that Service Bus refuses, or the other way "
    "round.",
    "TOPIC": "A subscription may miss messages, or get those of another.",
    "TTL": "Messages that have expired may be processed, or others may be removed too early.",
    "TXN": "Operations that belong together may take effect in part.",
}
"""A sentence for each family of rules."""


def consequence(rule: str) -> str:
    """Return why a violation of a rule matters to applications; empty for an unknown family."""
    return CONSEQUENCES.get(rule.partition("-")[0], "")
