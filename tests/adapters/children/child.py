"""An adapter without a bus, which misbehaves once: child.py WHEN ACTION [TEXT].

WHEN is the request, `hello`, `start`, `command` or `bye`, at which ACTION replaces the answer.
`$ID` in TEXT stands for the request's id.
"""

import json
import os
import signal
import subprocess
import sys
import time

DECLARATION = {
    "protocol": 1,
    "implementation": {"name": "no bus", "version": "1", "language": "Python"},
    "capabilities": ["peek", "witness"],
    "clock": os.environ.get("CHILD_CLOCK", "virtual"),
    "slack": int(os.environ.get("CHILD_SLACK", "0")),
}
ANSWERS = {
    "hello": {"hello": DECLARATION},
    "start": {"started": {}},
    "command": {"outcome": {"type": "Done"}, "witness": {"partition": 3}},
    "bye": {"bye": {}},
}


def write(raw: bytes) -> None:
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()


def answer(request: dict, kind: str) -> None:
    write(json.dumps({"id": request["id"], **ANSWERS[kind]}).encode() + b"\n")


def hang() -> None:
    time.sleep(60)


def misbehave(request: dict, kind: str, action: str, text: str) -> None:  # noqa: PLR0912
    text = text.replace("$ID", str(request["id"]))
    if action == "say":
        write(text.encode("latin-1").replace(b"\\n", b"\n") + b"\n")
    elif action == "say-and-exit":
        write(text.encode())
        sys.exit(0)
    elif action == "add":
        answer(request, kind)
        write(text.encode() + b"\n")
    elif action == "exit":
        print("about to exit", file=sys.stderr, flush=True)
        sys.exit(int(text))
    elif action == "kill":
        os.kill(os.getpid(), getattr(signal, text))
    elif action == "hang":
        hang()
    elif action == "hang-deaf":
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)
        answer(request, kind)
        hang()
    elif action == "hang-with-family":
        subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
        hang()
    elif action == "leave-family":
        subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
        answer(request, kind)
        sys.exit(0)
    elif action == "flood":
        for _ in range(100):
            write(b"x" * 1_000_000)
        hang()
    elif action == "flood-lines":
        answer(request, kind)
        while True:
            write(b'{"id": 0}\n' * 1000)
    elif action == "close":
        os.close(1)
        hang()
    elif action == "close-input":
        answer(request, kind)
        os.close(0)
        hang()
    elif action == "log":
        for number in range(100_000):
            print(f"\033[31mlog line {number} \udcff" + "y" * 300, file=sys.stderr)
        sys.stderr.flush()
        answer(request, kind)
    else:
        raise SystemExit(f"no action {action}")


def main() -> None:
    sys.stderr.reconfigure(errors="surrogateescape")
    when, action, text = [*sys.argv[1:], "never", "", ""][:3] if sys.argv[1:] else ("", "", "")
    if when == "never-read":
        hang()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        kind = next(each for each in ANSWERS if each in request)
        if kind == when:
            misbehave(request, kind, action, text)
        else:
            answer(request, kind)
        if kind == "bye":
            return


main()
