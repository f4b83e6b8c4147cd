"""What an adapter answered: a message, an error, or nothing that went wrong."""

from collections.abc import Callable

from busproof import vocabulary as v


def message_of(outcome: v.Outcome) -> v.MessageView:
    assert isinstance(outcome, v.Received), outcome
    return outcome.message


def error_of(outcome: v.Outcome) -> v.Error:
    assert isinstance(outcome, v.Refused), outcome
    return outcome.error


def send(ask: Callable[..., v.Outcome], **properties: object) -> None:
    """Send a message to the queue `q`; its body is `m1` unless another one is given."""
    message = v.Message(**{"body": "m1", **properties})
    assert ask(v.Send(queue="q", message=message)) == v.Done()
