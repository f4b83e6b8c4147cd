"""Requests about a queue `q`, which exists already, may come late or go without an answer."""

from busproof import vocabulary as v

TAKEN = v.Refused(error=v.Error.ALREADY_EXISTS)
CREATE = v.CreateQueue(queue="q")
DELETE = v.DeleteQueue(queue="q")
GET = v.GetQueue(queue="q")
RECEIVE = v.Receive(queue="q")
SENT = v.Message(body="sent")
SUBSCRIPTION = "t/subscriptions/s"
