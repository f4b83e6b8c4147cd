"""Checks that apply to every adapter."""

from typing import Final

from busproof import vocabulary as v
from busproof.adapters.checking.findings import Wrong
from busproof.adapters.checking.talk import HOUR, Talk, check
from busproof.history.render.outcomes import outcome_words

__all__ = ["AFTER", "BASICS", "DECLARATION", "check_declaration"]

ODD_TEXT: Final = 'é ß 中 \U0001f600 "quoted" \\ back / \t tab \n line \u2028 \x7f { } null'
LONG_TEXT: Final = "long " * 40_000
"""A text of 200 kB, several times what a pipe or a naive line reader holds at once."""

TOO_LONG: Final = (v.Error.MESSAGE_TOO_LARGE, v.Error.QUOTA_EXCEEDED)


def check_declaration(declared: object) -> v.Declaration:
    """Check all fields of a declaration, and return it.

    Raises:
        Wrong: the declaration is invalid.
    """
    if not isinstance(declared, v.Declaration):
        raise Wrong(f"it declares {declared!r}, and must declare a Declaration")
    if not isinstance(declared.implementation, v.Implementation):
        raise Wrong(f"implementation is {declared.implementation!r}, and must be an Implementation")
    if not declared.implementation.name or not isinstance(declared.implementation.name, str):
        raise Wrong("implementation has no name for reports")
    known = ", ".join(capability.value for capability in v.Capability)
    for unknown in set(declared.capabilities) - set(v.Capability):
        raise Wrong(f"capabilities has {unknown!r}, and may have only {known}")
    if not isinstance(declared.capabilities, frozenset):
        raise Wrong(f"capabilities is {declared.capabilities!r}, and must be a frozenset")
    if not isinstance(declared.clock, v.Clock):
        raise Wrong(f"clock is {declared.clock!r}, and must be Clock.VIRTUAL or Clock.REAL")
    if type(declared.slack) is not int:
        raise Wrong(f"slack is {declared.slack!r}, and must be whole microseconds")
    return declared


@check(
    id="declaration",
    title="declares who it is and what it can do",
    protocol="An adapter declares its implementation, its capabilities by the names of the "
    "protocol, its clock and its slack in whole microseconds. It declares the same each time.",
    advice="Return one Declaration of busproof.adapters.base; `hello` has its fields in a process.",
)
def _declares_the_same(talk: Talk) -> None:
    talk.start()
    again = check_declaration(talk.declared_now())
    talk.insist(again == talk.declaration, "it declares something else after start than before")


@check(
    id="create",
    title="creates queues",
    protocol="CreateQueue succeeds with Done, whatever text the name is.",
    advice="Map names that your bus does not take to ones that it does.",
)
def _creates(talk: Talk) -> None:
    talk.begin()
    talk.expect(v.Done, v.CreateQueue(queue="another queue"))


@check(
    id="send-receive",
    title="sends a message and receives it",
    protocol="Send succeeds with Done, and Receive takes what is there now: Received.",
    advice="If your bus delivers late, wait for a moment before you answer Empty.",
)
def _sends_and_receives(talk: Talk) -> None:
    talk.begin()
    sent = talk.send()
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


@check(
    id="properties",
    title="keeps the properties of a message",
    protocol="The body and any of MessageId, SessionId and PartitionKey was set come back "
    "unchanged; null means that the sender did not set it.",
    advice="Pass all three on, set none that is null, and read them back on receiving.",
)
def _keeps_properties(talk: Talk) -> None:
    talk.begin()
    sent = talk.send(message_id="id 1", session_id="s", partition_key="s")
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)
    sent = talk.send("m2", partition_key="k")
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


@check(
    id="text",
    title="keeps text of any script",
    protocol="Bodies and properties are Unicode text; lines are UTF-8.",
    advice="Use a JSON library for every line, and read and write UTF-8, not the locale's "
    "encoding.",
)
def _keeps_text(talk: Talk) -> None:
    talk.begin()
    sent = talk.send(ODD_TEXT, message_id=f"id {ODD_TEXT}", partition_key="ключ")
    talk.insist_same(sent, talk.expect(v.Received, talk.take()).message)


@check(
    id="long-text",
    title="keeps a body of 200 kB",
    protocol="A line may have up to 16 MiB; a bus that takes no such message refuses it as "
    "message-too-large or quota-exceeded.",
    advice="Read until the line end, however many chunks a line comes in.",
)
def _keeps_long_text(talk: Talk) -> None:
    talk.begin()
    message = v.Message(body=LONG_TEXT)
    outcome = talk.ask(v.Send(queue="q", message=message))
    if isinstance(outcome, v.Refused) and outcome.error in TOO_LONG:
        return
    talk.insist(
        isinstance(outcome, v.Done),
        f"the send came back as {outcome_words(outcome)}; a bus that takes no message of 200 kB "
        'refuses it with the error "message-too-large" or "quota-exceeded"',
    )
    talk.insist_same(message, talk.expect(v.Received, talk.take()).message)


@check(
    id="empty",
    title="reports an empty queue by Empty",
    protocol="A receive without a message succeeds with Empty; it does not wait, and it is not an "
    "error.",
    advice="Turn your client's time-out on an empty queue into Empty.",
)
def _reports_empty(talk: Talk) -> None:
    talk.begin()
    talk.expect(v.Empty, talk.take())


@check(
    id="receive-and-delete",
    title="receives and deletes a message",
    protocol="In mode receive-and-delete, a receive removes the message.",
    advice="Read the command's mode; its default is peek-lock.",
)
def _deletes(talk: Talk) -> None:
    talk.begin()
    talk.send()
    talk.expect(v.Received, talk.take())
    talk.expect(v.Empty, talk.take())


@check(
    id="refusal",
    title="reports a refusal by Refused",
    protocol="Where the bus answers with an error and nothing took effect, the outcome is "
    "Refused, with not-found for a queue that does not exist and already-exists for one that "
    "does, or other.",
    advice="Catch your client's errors and map them; an exception ends the scenario.",
)
def _refuses(talk: Talk) -> None:
    talk.begin()
    talk.expect(v.Refused, v.Send(queue="no such queue", message=v.Message(body="m1")))
    talk.expect(v.Refused, v.Receive(queue="no such queue", mode=v.ReceiveMode.RECEIVE_AND_DELETE))
    talk.expect(v.Refused, v.CreateQueue(queue="q"))


@check(
    id="connections",
    title="takes requests over several connections",
    protocol="Each request names its connection, a text; a new name is a new connection.",
    advice="Keep a map from name to connection, and open one when a name is new.",
)
def _takes_connections(talk: Talk) -> None:
    talk.begin()
    talk.expect(v.Done, v.Send(queue="q", message=v.Message(body="m1")), "c1")
    talk.expect(v.Received, talk.take(), "c1")
    talk.expect(v.Empty, talk.take(), "connection number two")


@check(
    id="start",
    title="forgets everything at start",
    protocol="start means an empty namespace: no queue of the last scenario, no message, no lock, "
    "virtual time 0.",
    advice="Delete what the last scenario made, or use new names after each start.",
)
def _forgets(talk: Talk) -> None:
    talk.begin()
    talk.send()
    talk.begin()
    talk.expect(v.Empty, talk.take())


@check(
    id="clock",
    title="advances virtual time",
    protocol="Under a virtual clock AdvanceClock moves time by whole microseconds, also by none; "
    "under a real clock it is never sent.",
    advice='Declare clock "real" if you cannot move your bus\'s time.',
)
def _advances(talk: Talk) -> None:
    talk.begin()
    if talk.virtual:
        talk.expect(v.Done, v.AdvanceClock(duration=0))
        talk.expect(v.Done, v.AdvanceClock(duration=HOUR))


@check(
    id="stop",
    title="stops, also if it is stopped twice",
    protocol="stop ends the implementation and frees its resources, and may be called again. A "
    "process answers bye and exits within 2 s.",
    advice="End after bye; close what you opened; let a second stop do nothing.",
)
def _stops_twice(talk: Talk) -> None:
    talk.stop()
    talk.stop()


BASICS: Final = (
    _declares_the_same,
    _creates,
    _sends_and_receives,
    _keeps_properties,
    _keeps_text,
    _keeps_long_text,
    _reports_empty,
    _deletes,
    _refuses,
    _takes_connections,
    _forgets,
    _advances,
)
"""Checks that need no capability."""

AFTER: Final = _stops_twice
"""The check that runs last."""

DECLARATION: Final = _declares_the_same.lesson
