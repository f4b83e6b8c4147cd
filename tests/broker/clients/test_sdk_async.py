"""The official Python client in its other form: asynchronous."""

import asyncio

import pytest
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.exceptions import ServiceBusAuthenticationError, SessionCannotBeLockedError
from work import PATIENCE

from ..conftest import SETTINGS, Served

pytestmark = pytest.mark.slow


def test_queues_and_sessions(served: Served, name: str) -> None:
    found = asyncio.run(_conversation(served.connection_string, name))
    assert ["first", "second", "while it waits", "of the session"] == found


async def _conversation(text: str, name: str) -> list[str]:
    found = []
    async with ServiceBusClient.from_connection_string(text, **SETTINGS) as client:
        async with client.get_queue_sender("plain") as sender:
            await sender.send_messages([Message("first"), Message("second")])
            async with client.get_queue_receiver("plain") as receiver:
                while len(found) < 2:
                    for each in await receiver.receive_messages(2, max_wait_time=PATIENCE):
                        found.append(str(each))
                        await receiver.complete_message(each)
                waiting = asyncio.create_task(receiver.receive_messages(1, max_wait_time=PATIENCE))
                await asyncio.sleep(0.5)
                await sender.send_messages(Message("while it waits"))
                (late,) = await waiting
                found.append(str(late))
                await receiver.complete_message(late)
        async with client.get_queue_sender("sessions") as sender:
            await sender.send_messages(Message("of the session", session_id=name))
        async with client.get_queue_receiver("sessions", session_id=name) as receiver:
            with pytest.raises(SessionCannotBeLockedError):
                async with client.get_queue_receiver("sessions", session_id=name):
                    pass
            (held,) = await receiver.receive_messages(1, max_wait_time=PATIENCE)
            found.append(str(held))
            await receiver.complete_message(held)
        with pytest.raises(ServiceBusAuthenticationError, match="client-error"):
            async with client.get_queue_sender("nowhere") as sender:
                await sender.send_messages(Message("lost"))
    return found
