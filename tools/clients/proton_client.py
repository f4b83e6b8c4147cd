"""Try Proton's Python client, which knows nothing about Service Bus."""

import os
import re

from proton import Message
from proton.utils import BlockingConnection

CONNECTION = os.environ["BUSPROOF_CONNECTION"]
(ADDRESS,) = re.findall(r"sb://([^;]+)", CONNECTION)
(NAME,), (KEY,) = (
    re.findall(rf"{field}=([^;]+)", CONNECTION) for field in ("KeyName", "AccessKey")
)

try:
    connection = BlockingConnection(
        f"amqp://{ADDRESS}", timeout=20, user=NAME, password=KEY, allowed_mechs="PLAIN"
    )
    sender, receiver = connection.create_sender("plain"), connection.create_receiver("plain")
    for body in ("x" * 200_000, "1", "2"):
        sender.send(Message(body))
        assert body == receiver.receive(timeout=20).body
        receiver.accept()
    connection.close()
except Exception as error:
    print("sends_and_receives failed:", repr(error)[:300])
else:
    print("sends_and_receives ok")
