"""Tasks of `busproof client` with azure-servicebus, Microsoft's client for Python."""

import json
import os
from datetime import timedelta

from azure.servicebus import ServiceBusClient, ServiceBusMessage

PARAMETERS = json.loads(os.environ["BUSPROOF_PARAMETERS"])


def report(event, **fields):
    """Tell busproof what happened, in a line of JSON."""
    print(json.dumps({"event": event, **fields}), flush=True)


def made(fields):
    """Return a message with the properties that the task names."""
    names = (
        *("message_id", "session_id", "partition_key", "subject", "correlation_id"),
        *("content_type", "reply_to", "to", "reply_to_session_id"),
    )
    options = {name: fields[name] for name in names if name in fields}
    if "time_to_live_seconds" in fields:
        options["time_to_live"] = timedelta(seconds=fields["time_to_live_seconds"])
    if "properties" in fields:
        options["application_properties"] = fields["properties"]
    return ServiceBusMessage(fields["body"], **options)


def send(client):
    """Send messages one after the other."""
    with client.get_queue_sender(PARAMETERS["entity"]) as sender:
        for index, fields in enumerate(PARAMETERS["messages"]):
            try:
                sender.send_messages(made(fields))
            except Exception as error:
                report("failed", index=index, error=f"{type(error).__name__}: {error}")
            else:
                report("sent", index=index)


TASKS = {"send": send}


def main():
    """Carry out the task that the environment names."""
    name = os.environ["BUSPROOF_TASK"]
    if name not in TASKS:
        report("unsupported", reason=f"no task {name}")
        return
    with ServiceBusClient.from_connection_string(
        os.environ["BUSPROOF_CONNECTION_STRING"]
    ) as client:
        TASKS[name](client)
    report("done")


if __name__ == "__main__":
    main()
