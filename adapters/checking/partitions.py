"""Checks for adapters that declare what partitions do."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.checking.talk import Talk, check

__all__ = ["PARTITIONS"]


@check(
    v.Capability.OUTAGES,
    title="takes every partition down and up",
    protocol="Partitions are numbered from 0 to one less than the profile has; others are Refused.",
    advice="Make as many partitions as start says, or do not declare outages.",
)
def _suffers_outages(talk: Talk) -> None:
    talk.begin()
    for partition in range(talk.profile.partitions):
        talk.expect(v.Done, v.TakePartitionDown(queue="q", partition=partition))
        talk.expect(v.Done, v.BringPartitionUp(queue="q", partition=partition))
    talk.expect(v.Refused, v.TakePartitionDown(queue="q", partition=talk.profile.partitions))
    talk.send(partition_key="k")
    talk.expect(v.Received, talk.take())


@check(
    v.Capability.WITNESS,
    title="reports the partition of a message",
    protocol="The witness of a send, or the top 16 of the 64 bits of a sequence number, or both, "
    "name the partition, from 0.",
    advice="In JavaScript, use BigInt: numbers above 2^53 lose their last bits.",
)
def _reports_partitions(talk: Talk) -> None:
    talk.begin()
    partitions = talk.profile.partitions
    for body in ("m1", "m2", "m3"):
        sent = talk.observe(v.Send(queue="q", message=v.Message(body=body)))
        talk.insist(isinstance(sent.outcome, v.Done), "a send to a queue that is up is to be Done")
        number = talk.expect(v.Received, talk.take()).message.sequence_number
        witnessed = None if sent.witness is None else sent.witness.partition
        named = None if number is None else number >> v.SEQUENCE_BITS
        talk.insist(
            witnessed is not None or named is not None,
            "neither a witness of the send nor a sequence number names the partition",
        )
        talk.insist(
            None in (witnessed, named) or witnessed == named,
            f"the witness says partition {witnessed}, and sequence number {number} says {named}",
        )
        one = witnessed if witnessed is not None else named
        talk.insist(
            one is not None and 0 <= one < partitions,
            f"partition {one} does not exist: there are {partitions}, numbered from 0",
        )


PARTITIONS: Final = (_suffers_outages, _reports_partitions)
"""Checks of partitions."""
