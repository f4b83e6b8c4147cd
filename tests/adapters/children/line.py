"""An adapter around one list a queue, which gets its lines wrong in one way: line.py HOW [FILE]."""

import json
import sys
import time
from pathlib import Path

HOW = sys.argv[1]
STATE = Path(sys.argv[2]) if len(sys.argv) > 2 else None
HELLO = {
    "protocol": 1,
    "implementation": {"name": "a list", "version": "1", "language": "Python"},
    "capabilities": [],
    "clock": "virtual",
    "slack": float("nan") if HOW == "not-a-number" else 0,
}
STARTED: list[bool] = []
queues: dict[str, list[dict]] = {}


def outcome(command):
    if HOW == "needs-all":
        _ = command["queue"], command.get("message", {"session_id": None})["session_id"]
    match command:
        case {"type": "CreateQueue", "queue": name} if name in queues:
            return {"type": "Refused", "error": "already-exists"}
        case {"type": "CreateQueue", "queue": name}:
            queues[name] = []
        case {"queue": name} if name not in queues and command["type"] != "FlyToTheMoon":
            return {"type": "Refused", "error": "not-found"}
        case {"type": "Send", "queue": name, "message": message}:
            queues[name].append(message)
        case {"type": "Receive", "queue": name}:
            if not queues[name]:
                return {"type": "Empty"}
            return {"type": "Received", "message": queues[name].pop(0)}
        case {"type": "AdvanceClock"}:
            pass
        case _ if HOW == "clueless":
            raise KeyError(command["type"])
        case _:
            return {"type": "Empty" if HOW == "ignorant" else "Unsupported"}
    return {"type": "Done"}


def content(request):
    if "hello" in request:
        return {"hello": HELLO}
    if "start" in request:
        queues.clear()
        STARTED.append(True)
        return {"ok": True} if HOW == "start-as-ok" else {"started": {}}
    if "command" in request:
        return {"outcome": outcome(request["command"])}
    if HOW == "bye-needs-start":
        _ = STARTED[0]
    return {"ok": True} if HOW == "bye-as-ok" else {"bye": {}}


def identity(request, count):
    return count if HOW == "counts-itself" else request["id"]


def main():
    if HOW == "gone":
        sys.stderr.write("no bus to be found\n")
        sys.exit(3)
    if HOW == "moody":
        with STATE.open("a") as file:
            file.write(".")
        HELLO["implementation"]["version"] = str(STATE.stat().st_size)
    for count, line in enumerate(sys.stdin, 1):
        request = json.loads(line)
        if HOW == "silent":
            continue
        text = json.dumps({"id": identity(request, count), **content(request)})
        if HOW == "no-json":
            text = "Hello!"
        if HOW == "field-twice":
            text = text.replace('{"id"', '{"id": 1, "id"', 1)
        print(text, flush=True)
        if HOW == "chatty" and "start" in request:
            print("started", flush=True)
        if "bye" in request:
            if HOW == "lingers":
                time.sleep(600)
            return


main()
