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


def answer(request: dict, kind: str, more: bytes = b"") -> None:
    write(json.dumps({"id": request["id"], **ANSWERS[kind]}).encode() + b"\n" + more)


def say(request: dict, _: str, text: str) -> None:
    """Write TEXT as the answer, several lines where it has a backslash and an n."""
    text = text.replace("$ID", str(request["id"]))
    write(text.encode("latin-1").replace(b"\\n", b"\n") + b"\n")


def say_and_exit(_: dict, __: str, text: str) -> None:
    """Write a line without its end, and end."""
    write(text.encode())
    sys.exit(0)


def say_and_hang(_: dict, __: str, text: str) -> None:
    """Write a line without its end, and no more."""
    write(text.encode())
    hang()


def add(request: dict, kind: str, text: str) -> None:
    """Answer, and write one line more."""
    answer(request, kind, text.encode() + b"\n")


def end(_: dict, __: str, text: str) -> None:
    """Exit with the code that TEXT says."""
    sys.stderr.write("about to exit\n")
    sys.exit(int(text))


def kill(_: dict, __: str, text: str) -> None:
    """Die of the signal that TEXT names or numbers."""
    os.kill(os.getpid(), getattr(signal, text, None) or int(text))


def hang(*_: object) -> None:
    """Do nothing for ten minutes."""
    time.sleep(600)


def hang_deaf(request: dict, kind: str, _: str) -> None:
    """Answer, then ignore every signal that can be."""
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    answer(request, kind)
    hang()


def hang_with_family(*_: object) -> None:
    """Start a process that hangs, and hang."""
    subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
    hang()


def leave_family(request: dict, kind: str, _: str) -> None:
    """Start a process that hangs, answer and end."""
    subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
    answer(request, kind)
    sys.exit(0)


def flood(*_: object) -> None:
    """Write 100 MB on one line."""
    for _each in range(100):
        write(b"x" * 1_000_000)
    hang()


def flood_lines(request: dict, kind: str, _: str) -> None:
    """Answer, and never stop writing lines."""
    answer(request, kind, b"more\n")
    while True:
        write(b'{"id": 0}\n' * 1000)


def close(*_: object) -> None:
    """Close the output and hang."""
    os.close(1)
    hang()


def close_input(request: dict, kind: str, _: str) -> None:
    """Close the input, answer and hang."""
    os.close(0)
    answer(request, kind)
    hang()


def log(request: dict, kind: str, _: str) -> None:
    """Write 30 MB of log, in red, with a byte that is not UTF-8, and answer."""
    for number in range(100_000):
        sys.stderr.write(f"\033[31mlog line {number} \udcff{'y' * 300}\n")
    sys.stderr.flush()
    answer(request, kind)


def main() -> None:
    sys.stderr.reconfigure(errors="surrogateescape")
    when, action, text = [*sys.argv[1:], "", "", ""][:3]
    if when == "never-read":
        hang()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        kind = next(each for each in ANSWERS if each in request)
        if kind == when:
            globals()[action.replace("-", "_")](request, kind, text)
        else:
            answer(request, kind)
        if kind == "bye":
            return


main()
