"""The fold: from a bus's state and commands to its next state and the outcomes."""

from collections.abc import Callable, Collection, Mapping
from typing import Final

from busproof.pipeline.bus import (
    batches,
    clock,
    managing,
    receiving,
    sending,
    sessions,
    settling,
    staging,
)
from busproof.pipeline.bus.tables import REQUEST, STATE
from busproof.pipeline.bus.terms import Expression, add_outcome, change_struct, let, state
from busproof.pipeline.schema import COMMAND, ddl

__all__ = ["COMMANDS", "SCHEMA", "fold_requests"]

COMMANDS: Final[Mapping[str, Callable[[], Expression]]] = {
    "CreateQueue": managing.create_queue,
    "CreateTopic": managing.create_topic,
    "CreateSubscription": managing.create_subscription,
    "RestoreQueue": managing.restore_queue,
    "GetQueue": managing.get_queue,
    "ListQueues": managing.list_queues,
    "UpdateQueue": managing.update_queue,
    "DeleteQueue": managing.delete_queue,
    "Send": sending.send,
    "SendBatch": batches.send_batch,
    "Schedule": sending.schedule,
    "CancelScheduled": sending.cancel,
    "Receive": receiving.receive,
    "ReceiveBatch": receiving.receive_batch,
    "ReceiveDeferred": receiving.receive_deferred,
    "Peek": receiving.peek,
    "Complete": settling.complete,
    "Abandon": settling.abandon,
    "DeadLetter": settling.dead_letter,
    "Defer": settling.defer,
    "RenewLock": settling.renew_lock,
    "AcceptSession": sessions.accept,
    "AcceptNextSession": sessions.accept_next,
    "RenewSessionLock": sessions.renew,
    "CloseSession": sessions.close,
    "SetSessionState": sessions.set_state,
    "GetSessionState": sessions.get_state,
    "ListSessions": sessions.list_sessions,
    "BeginTransaction": staging.begin,
    "CommitTransaction": staging.commit,
    "RollBackTransaction": staging.roll_back,
    "TakePartitionDown": clock.take_down,
    "BringPartitionUp": clock.bring_up,
    "AdvanceClock": clock.advance,
}
"""The effect of each command `c`, in the request `r`, on the state `s`."""

SCHEMA: Final = f"state STRUCT<{ddl(STATE)}>, requests ARRAY<STRUCT<{ddl(REQUEST)}>>"
"""Schema of rows with one bus each: its state and its requests."""


def fold_requests(
    kinds: Collection[str] = tuple(COMMANDS), *, referring: bool = False
) -> Expression:
    """Return the state of a row after its requests, whose commands have types in `kinds`.

    The outcomes are in the field `told` of the state, in order. With `referring`, a lock token may
    be written as `@` and the number, from 1, of the request that received the lock. If that
    received several messages, `/` and the position of the message, from 0, follow.
    """
    branches = " ".join(f"WHEN '{kind}' THEN {COMMANDS[kind]()}" for kind in kinds)
    strange = state(told=add_outcome("Unsupported"))
    command = _resolve_token() if referring else "r.command"
    step = let("c", command, f"CASE c.type {branches} ELSE {strange} END")
    return f"aggregate(requests, {_silent()}, (s, r) -> {step})"


def _resolve_token() -> Expression:
    lock = "r.command.lock_token"
    part = f"try_cast(split_part(substr({lock}, 2), '/', {{}}) AS INT)"
    one = f"get(answer.messages, coalesce({part.format(2)}, 0)).lock_token"
    answer = f"get(s.told, {part.format(1)} - 1)"
    token = let("answer", answer, f"coalesce(answer.message.lock_token, {one}, {lock})")
    real = change_struct(COMMAND, "r.command", **{"lock_token": token})
    return f"IF(startswith({lock}, '@'), {real}, r.command)"


def _silent() -> Expression:
    """Return the state of the row without outcomes."""
    return state("state", told="slice(state.told, 1, 0)")
