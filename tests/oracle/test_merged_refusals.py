"""Merging of the states after a refused send."""

from observing import observing

from busproof.oracle.merged_refusals import for_whatever_reason
from busproof.oracle.messages.message_store import never_arrives
from busproof.oracle.state import with_queue
from busproof.oracle.transition import refusal
from busproof.vocabulary.commands import Send
from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import Error

SEND = Send(queue="q", message=Message(body="m1"))


def test_message_that_is_there_in_one_state_stays_there_when_an_equal_one_is_refused() -> None:
    """Whether the first of two equal sends took effect may be open when the second is refused."""
    observer = observing()
    observer.queue()
    (before,) = observer.possible
    refused = with_queue(before, never_arrives(before.queues["q"], "m1", "KEY-03"))
    observer.send()
    (arrived,) = observer.possible
    ways = [refusal(state, Error.UNAVAILABLE) for state in (arrived, refused)]
    one, other = for_whatever_reason(ways, SEND)
    assert isinstance(one.next.queues["q"].bodies.get("m1"), tuple)
    assert "KEY-03" == other.next.queues["q"].bodies.get("m1")
