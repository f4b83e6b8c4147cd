"""Commands as requests over HTTP."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

from busproof import vocabulary as v
from busproof.adapters.amqp import managing
from busproof.adapters.http.client import HttpClient
from busproof.adapters.http.messages import (
    BATCH,
    can_carry,
    headers_of,
    read_message,
    words_in,
    write_batch,
)
from busproof.adapters.http.rules import rule_of, write_rule
from busproof.adapters.http.scenario import HttpScenario
from busproof.vocabulary import commands as c
from busproof.vocabulary import outcomes as o

__all__ = ["ask"]


def ask(scenario: HttpScenario, command: c.Command, client: HttpClient) -> v.Outcome:
    """Execute a command over HTTP, and return its outcome."""
    do = ASKED.get(type(command))
    if do is None or getattr(command, "session_id", None) is not None:
        return v.Unsupported(detail=f"{type(command).__name__} is not possible over HTTP")
    return do(scenario, command, client)


def _send(scenario: HttpScenario, command: c.Send, client: HttpClient) -> v.Outcome:
    message = command.message
    if command.transaction is not None or not can_carry(message.properties):
        return v.Unsupported(detail="HTTP cannot carry a property of this name, or a transaction")
    scenario.names.note(message)
    client.send(scenario.path(command.queue), headers_of(message), message.body.encode())
    return o.Done()


def _send_batch(scenario: HttpScenario, command: c.SendBatch, client: HttpClient) -> v.Outcome:
    carried = all(can_carry(message.properties) for message in command.messages)
    if command.transaction is not None or not carried:
        return v.Unsupported(detail="HTTP cannot carry a property of this name, or a transaction")
    for message in command.messages:
        scenario.names.note(message)
    path = scenario.path(command.queue)
    client.send(path, {"Content-Type": BATCH}, write_batch(command.messages))
    return o.Done()


def _receive(scenario: HttpScenario, command: c.Receive, client: HttpClient) -> v.Outcome:
    path, locks = scenario.path(command.queue), command.mode is v.ReceiveMode.PEEK_LOCK
    answer = client.receive(path, locks=locks, wait=scenario.setting.receive_wait)
    if answer is None:
        return o.Empty()
    view = read_message(answer, scenario.names, locked=locks)
    if view.lock_token is not None:
        named = view.message_id or str(view.sequence_number or 0)
        place = client.place_in(answer) or _locate(path, named, view.lock_token)
        scenario.places[path, view.lock_token] = place
    return o.Received(message=view)


def _locate(path: str, named: str, token: str) -> str:
    """Return the path of a locked message by the reference."""
    return f"/{quote(path, safe='/$')}/messages/{quote(named, safe='')}/{token}"


def _settle(
    scenario: HttpScenario, command: c.Complete | c.Abandon | c.RenewLock, client: HttpClient
) -> v.Outcome:
    """Complete or unlock a message, or renew its lock, wherever the service said that it is."""
    if getattr(command, "transaction", None) is not None:
        return v.Unsupported(detail="HTTP has no transactions")
    path = scenario.path(command.queue)
    # A scenario may name a lock that there never was, or one of another entity.
    unknown = _locate(path, "0", str(_read_token(command.lock_token)))
    place = scenario.places.get((path, command.lock_token), unknown)
    client.settle(METHODS[type(command)], path, place)
    # Times over HTTP have no fractions of a second, so the end of the lock is not told.
    return o.Renewed() if isinstance(command, c.RenewLock) else o.Done()


def _read_token(text: str) -> UUID:
    """Return a lock token; if the text is none, the nil UUID, which no lock has."""
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)


METHODS: Final = {c.Complete: "DELETE", c.Abandon: "PUT", c.RenewLock: "POST"}


def _add_rule(scenario: HttpScenario, command: c.AddRule, _: HttpClient) -> v.Outcome:
    action = command.action or ""
    if command.transaction is not None or not can_carry(words_in(action)):
        return v.Unsupported(detail="HTTP cannot carry a property of this name, or a transaction")
    scenario.names.note_action(action)
    description = write_rule(command.rule, command.filter, command.action)
    scenario.setting.entities.put_entry(_path_of_rule(scenario, command), description)
    return o.Done()


def _remove_rule(scenario: HttpScenario, command: c.RemoveRule, _: HttpClient) -> v.Outcome:
    if command.transaction is not None:
        return v.Unsupported(detail="HTTP has no transactions")
    scenario.setting.entities.delete(_path_of_rule(scenario, command))
    return o.Done()


def _list_rules(scenario: HttpScenario, command: c.ListRules, _: HttpClient) -> v.Outcome:
    path = scenario.path(v.subscription_path(command.topic, command.subscription))
    entries = scenario.setting.entities.entries(f"{path}/rules")
    return o.RulesListed(rules=tuple(map(rule_of, entries)))


def _path_of_rule(scenario: HttpScenario, command: c.AddRule | c.RemoveRule) -> str:
    path = scenario.path(v.subscription_path(command.topic, command.subscription))
    return f"{path}/rules/{command.rule}"


ASKED: Final[dict[type[c.Command], Callable[[Any, Any, Any], v.Outcome]]] = {
    c.Abandon: _settle,
    c.AddRule: _add_rule,
    c.Complete: _settle,
    c.CreateQueue: managing.create_queue,
    c.CreateSubscription: managing.create_subscription,
    c.CreateTopic: managing.create_topic,
    c.DeleteQueue: managing.delete_queue,
    c.DeleteTopic: managing.delete_topic,
    c.GetQueue: managing.get_queue,
    c.GetTopic: managing.get_topic,
    c.ListQueues: managing.list_queues,
    c.ListRules: _list_rules,
    c.ListSubscriptions: managing.list_subscriptions,
    c.ListTopics: managing.list_topics,
    c.Receive: _receive,
    c.RemoveRule: _remove_rule,
    c.RenewLock: _settle,
    c.Send: _send,
    c.SendBatch: _send_batch,
    c.UpdateQueue: managing.update_queue,
    c.UpdateTopic: managing.update_topic,
}
"""Functions by type of command; other commands are impossible over HTTP."""
