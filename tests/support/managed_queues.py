"""Requests about a queue `q`, which exists already, may come late or go without an answer."""

from busproof.vocabulary.commands import CreateQueue, DeleteQueue, GetQueue, Receive
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Refused
from busproof.vocabulary.values import Error

TAKEN = Refused(error=Error.ALREADY_EXISTS)
CREATE = CreateQueue(queue="q")
DELETE = DeleteQueue(queue="q")
GET = GetQueue(queue="q")
RECEIVE = Receive(queue="q")
SENT = Message(body="sent")
SUBSCRIPTION = "t/subscriptions/s"
