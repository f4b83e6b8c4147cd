"""A round with FastStream, by its broker for Service Bus."""

import asyncio
import os

from faststream_azure_servicebus import ServiceBusBroker

CONNECTION = os.environ["BUSPROOF_CONNECTION"]
WAIT = 30


async def comes(given, broker, **subscription):
    """What a handler is given of what is published."""
    found, done = [], asyncio.Event()

    @broker.subscriber(**subscription)
    async def handle(body: dict) -> None:
        found.append(body)
        done.set()

    async with broker:
        await broker.start()
        await given()
        await asyncio.wait_for(done.wait(), WAIT)
    assert found == [{"number": 1}], found


async def sends_and_receives():
    """A message that a handler of a queue is given."""
    broker = ServiceBusBroker(CONNECTION)
    await comes(lambda: broker.publish({"number": 1}, queue="parted"), broker, queue="parted")


async def subscribes():
    """A message that a handler of a subscription is given."""
    broker = ServiceBusBroker(CONNECTION)
    await comes(
        lambda: broker.publish({"number": 1}, topic="topic"),
        broker,
        topic="topic",
        subscription="all",
    )


for step in (sends_and_receives, subscribes):
    try:
        asyncio.run(step())
    except Exception as error:  # a step that failed is told, and the others are tried
        print(step.__name__, "failed:", repr(error).replace("\n", " ")[:300], flush=True)
    else:
        print(step.__name__, "ok", flush=True)
