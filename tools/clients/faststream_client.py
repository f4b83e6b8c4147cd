"""Try FastStream with its broker for Service Bus."""

import asyncio
import os

from faststream_azure_servicebus import ServiceBusBroker

CONNECTION = os.environ["BUSPROOF_CONNECTION"]
WAIT = 30


async def comes(publish, broker, **subscription):
    """Check that a handler receives the published message."""
    bodies, done = [], asyncio.Event()

    @broker.subscriber(**subscription)
    async def handle(body: dict) -> None:
        bodies.append(body)
        done.set()

    async with broker:
        await broker.start()
        await publish()
        await asyncio.wait_for(done.wait(), WAIT)
    assert bodies == [{"number": 1}], bodies


async def sends_and_receives():
    """Receive a message of a queue in a handler."""
    broker = ServiceBusBroker(CONNECTION)
    await comes(lambda: broker.publish({"number": 1}, queue="parted"), broker, queue="parted")


async def subscribes():
    """Receive a message of a subscription in a handler."""
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
    except Exception as error:  # print the failed step, and try the others
        print(step.__name__, "failed:", repr(error).replace("\n", " ")[:300], flush=True)
    else:
        print(step.__name__, "ok", flush=True)
