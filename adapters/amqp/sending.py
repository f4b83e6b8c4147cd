"""Commands that send and schedule messages, and that begin and end transactions."""

from typing import Any, Final

from proton import Data

from busproof import vocabulary as v
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.failing import Rejected
from busproof.adapters.amqp.links import array, several
from busproof.adapters.amqp.messages import STANDS_FOR, encode, encode_batch
from busproof.adapters.amqp.scenario import (
    DECLARE,
    DECLARED,
    DISCHARGE,
    DeclaredTransaction,
    Scenario,
)
from busproof.adapters.amqp.table import asks
from busproof.adapters.amqp.transfers import transfer
from busproof.vocabulary import commands as c
from busproof.vocabulary import outcomes as o

__all__ = ["begin", "cancel", "commit", "roll_back", "schedule", "send", "send_batch"]

MILLISECOND: Final = 1000


@asks(c.Send)
def send(scenario: Scenario, command: c.Send, client: AmqpClient) -> o.Outcome:
    """Send a message; in a transaction, on the connection that began it."""
    sender, transaction = scenario.part_of(command.transaction, client)
    link = sender.sender(scenario.path(command.queue))
    seconds = command.timeout / v.MICROSECONDS + sender.connection.timeout
    raw = encode(command.message, counted=sender.connection.offers(STANDS_FOR))
    transfer(sender.connection, link, raw, transaction, seconds).settle()
    return o.Done()


@asks(c.SendBatch)
def send_batch(scenario: Scenario, command: c.SendBatch, client: AmqpClient) -> o.Outcome:
    """Send several messages in one transfer with the message format of a batch."""
    sender, transaction = scenario.part_of(command.transaction, client)
    link = sender.sender(scenario.path(command.queue))
    seconds = command.timeout / v.MICROSECONDS + sender.connection.timeout
    raw = encode_batch(command.messages, counted=sender.connection.offers(STANDS_FOR))
    with sender.connection.sending_batches():
        transfer(sender.connection, link, raw, transaction, seconds).settle()
    return o.Done()


@asks(c.Schedule)
def schedule(scenario: Scenario, command: c.Schedule, client: AmqpClient) -> o.Outcome:
    """Schedule a message."""
    asker, transaction = scenario.part_of(command.transaction, client)
    moment = scenario.setting.epoch + scenario.setting.now() + command.delay
    message = command.message
    named = {
        "message-id": message.message_id,
        "session-id": message.session_id,
        "partition-key": message.partition_key,
    }
    entry: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    counted = asker.connection.offers(STANDS_FOR)
    # Round up to milliseconds, so that the message is not enqueued too early.
    entry["message"] = encode(message, -(-moment // MILLISECOND), counted=counted)
    body = {"messages": [entry]}
    _, answer = asker.request(scenario.path(command.queue), "schedule-message", body, transaction)
    numbers = several(answer.get("sequence-numbers"))
    return o.Scheduled(sequence_number=int(numbers[0]) if numbers else None)


@asks(c.CancelScheduled)
def cancel(scenario: Scenario, command: c.CancelScheduled, client: AmqpClient) -> o.Outcome:
    """Cancel a scheduled message."""
    body = {"sequence-numbers": array(Data.LONG, [command.sequence_number])}
    client.request(scenario.path(command.queue), "cancel-scheduled-message", body)
    return o.Done()


@asks(c.BeginTransaction)
def begin(scenario: Scenario, command: c.BeginTransaction, client: AmqpClient) -> o.Outcome:
    """Declare a transaction, and record the id that the service gives it."""
    if command.transaction in scenario.open:
        return o.Refused(error=v.Error.ALREADY_EXISTS, detail="a name of ours, which is taken")
    settled = client.control(DECLARE, None)
    if settled.state != DECLARED or not settled.data:
        raise Rejected("amqp:not-allowed", f"a declaration was answered with {settled.state!r}")
    identity = bytes(settled.data[0])
    scenario.transactions[command.transaction] = DeclaredTransaction(client, identity)
    scenario.open.add(command.transaction)
    return o.Done()


@asks(c.CommitTransaction)
def commit(scenario: Scenario, command: c.CommitTransaction, client: AmqpClient) -> o.Outcome:
    """Discharge a transaction, so that all of it takes effect."""
    return _end(scenario, command.transaction, client, failed=False)


@asks(c.RollBackTransaction)
def roll_back(scenario: Scenario, command: c.RollBackTransaction, client: AmqpClient) -> o.Outcome:
    """Discharge a transaction as failed, so that none of it takes effect."""
    return _end(scenario, command.transaction, client, failed=True)


def _end(scenario: Scenario, name: str, client: AmqpClient, *, failed: bool) -> o.Outcome:
    asker, identity = scenario.part_of(name, client)
    scenario.open.discard(name)
    asker.control(DISCHARGE, identity, failed)
    return o.Done()
