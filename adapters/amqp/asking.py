"""Dispatch of commands to the functions that request them over AMQP or HTTP."""

from collections.abc import Callable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.adapters.amqp import managing, receiving, sending, sessions
from busproof.adapters.amqp.client import Client
from busproof.adapters.amqp.scenario import Scenario
from busproof.vocabulary import commands as c

__all__ = ["ask"]

ASKED: Final[dict[type[c.Command], Callable[[Scenario, Any, Client], v.Outcome]]] = {
    c.Abandon: receiving.settle,
    c.AcceptNextSession: sessions.accept_next,
    c.AcceptSession: sessions.accept,
    c.AddRule: managing.add_rule,
    c.BeginTransaction: sending.begin,
    c.CancelScheduled: sending.cancel,
    c.CloseSession: sessions.close_session,
    c.CommitTransaction: sending.commit,
    c.Complete: receiving.settle,
    c.CreateQueue: managing.create_queue,
    c.CreateSubscription: managing.create_subscription,
    c.CreateTopic: managing.create_topic,
    c.DeadLetter: receiving.settle,
    c.Defer: receiving.settle,
    c.DeleteBatch: receiving.delete_batch,
    c.DeleteQueue: managing.delete_queue,
    c.DeleteTopic: managing.delete_topic,
    c.GetQueue: managing.get_queue,
    c.GetTopic: managing.get_topic,
    c.GetSessionState: sessions.get_state,
    c.ListQueues: managing.list_queues,
    c.ListRules: managing.list_rules,
    c.ListSessions: sessions.list_sessions,
    c.ListSubscriptions: managing.list_subscriptions,
    c.ListTopics: managing.list_topics,
    c.Peek: receiving.peek,
    c.Receive: receiving.receive,
    c.ReceiveBatch: receiving.receive_batch,
    c.ReceiveDeferred: receiving.receive_deferred,
    c.RemoveRule: managing.remove_rule,
    c.RenewLock: receiving.renew_lock,
    c.RenewLocks: receiving.renew_locks,
    c.RenewSessionLock: sessions.renew_session,
    c.RollBackTransaction: sending.roll_back,
    c.Schedule: sending.schedule,
    c.Send: sending.send,
    c.SendBatch: sending.send_batch,
    c.SetSessionState: sessions.set_state,
    c.SettleBatch: receiving.settle_batch,
    c.UpdateQueue: managing.update_queue,
    c.UpdateTopic: managing.update_topic,
}
"""Functions by type of command; clients cannot control the clock or outages, so these have none."""


def ask(scenario: Scenario, command: c.Command, client: Client) -> v.Outcome:
    """Execute a command and return its outcome.

    Raises:
        Rejected: the service refuses it.
        Silent: no answer came in time.
        Lost: the connection is lost.
    """
    handler = ASKED.get(type(command))
    if handler is None:
        return v.Unsupported(detail=f"{type(command).__name__} cannot be sent over AMQP")
    return handler(scenario, command, client)
