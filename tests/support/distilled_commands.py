"""Distilled sequences, asked of an adapter."""

import time
from collections.abc import Iterator
from functools import cache

import attrs

from busproof import vocabulary as v
from busproof.history.render.gherkin import request_of
from busproof.history.replay import RecordedCommand, resolved
from busproof.steps.distilled import DistilledSequence

__all__ = ["ask_adapter", "commands_in"]


@cache
def commands_in(sequence: DistilledSequence) -> tuple[RecordedCommand, ...]:
    """Return the commands of a sequence."""
    parts = [each.partition(" asks: ") for each in sequence.commands]
    return tuple(
        RecordedCommand(number=number, connection=connection, command=request_of(request))
        for number, (connection, _, request) in enumerate(parts, 1)
    )


def ask_adapter(
    adapter: v.Adapter, sequence: DistilledSequence, *, clock: bool = False
) -> Iterator[v.Event]:
    """Yield what a bus answers; on a real clock with the times of each call and return."""
    tokens: dict[int, str] = {}
    for request in commands_in(sequence):
        command = resolved(request.command, tokens)
        if command is None:
            continue
        called = time.monotonic_ns() // 1_000 if clock else None
        observed = adapter.do(command, request.connection)
        event = v.Event(
            client=request.connection,
            connection=request.connection,
            command=command,
            outcome=observed.outcome,
            witness=observed.witness,
        )
        if clock:
            event = attrs.evolve(event, called=called, returned=time.monotonic_ns() // 1_000)
        yield event
        received = observed.outcome
        if isinstance(received, v.Received) and received.message.lock_token:
            tokens[request.number] = received.message.lock_token
