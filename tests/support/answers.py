"""What an adapter answered: a message, an error, or nothing that went wrong."""

from collections.abc import Callable

from busproof.vocabulary.commands import Send
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Done, Outcome, Received, Refused
from busproof.vocabulary.values import Error


def message_of(outcome: Outcome) -> MessageView:
    assert isinstance(outcome, Received), outcome
    return outcome.message


def error_of(outcome: Outcome) -> Error:
    assert isinstance(outcome, Refused), outcome
    return outcome.error


def send(ask: Callable[..., Outcome], **properties: object) -> None:
    """Send a message to the queue `q`; its body is `m1` unless another one is given."""
    message = Message(**{"body": "m1", **properties})
    assert ask(Send(queue="q", message=message)) == Done()
