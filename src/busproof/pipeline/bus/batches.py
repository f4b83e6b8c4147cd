"""Sends of several messages in one request."""

from busproof import vocabulary as v
from busproof.pipeline.bus.entities import entity, run_on_queue
from busproof.pipeline.bus.limits import too_large
from busproof.pipeline.bus.placing import key_of
from busproof.pipeline.bus.sending import send_message
from busproof.pipeline.bus.terms import Expression, add_outcome, let, refuse, state

__all__ = ["send_batch"]


def send_batch() -> Expression:
    """BATCH-01, BATCH-05, BATCH-07: send messages one after another, or refuse all of them.

    If one is refused, the state is as it was before the first.
    """
    invalid = f"'{v.Error.INVALID_OPERATION.value}'"
    keys = f"array_distinct(transform(c.messages, m -> {key_of('m')}))"
    objection = (
        f"CASE WHEN size(c.messages) = 0 THEN {invalid} "
        f"WHEN {too_large('c.messages')} THEN '{v.Error.MESSAGE_TOO_LARGE.value}' "
        f"WHEN e.partitioned AND size({keys}) > 1 THEN {invalid} END"
    )
    refusal = "get(filter(after.told, x -> x.type = 'Refused'), 0).error"
    taken = "array_distinct(transform(after.told, x -> x.partition))"
    witness = f"IF(size({taken}) = 1, get({taken}, 0), NULL)"
    accepted = state("after", told=add_outcome("Done", partition=witness))
    ended = f"IF(error IS NULL, {accepted}, {refuse('error')})"
    after = let("after", _send_batch(), let("error", f"coalesce(objection, {refusal})", ended))
    return run_on_queue(let("objection", objection, after), to_topics=True)


def _send_batch() -> Expression:
    """Return the state after the sends up to the first refusal, with only their outcomes."""
    one = let("e", entity("e.name"), send_message("each"))
    return (
        f"aggregate(IF(objection IS NULL, c.messages, slice(c.messages, 1, 0)), "
        f"{state(told='slice(s.told, 1, 0)')}, "
        f"(s, each) -> IF(exists(s.told, x -> x.type = 'Refused'), s, {one}))"
    )
