"""The reference model behind the process protocol, made to misbehave: bus.py [ACTION] [OPTIONS].

From scenario --at on (the first is 1), ACTION takes the place of every answer to a command.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import attrs

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.history import protocol
from busproof.spec import load


def write(raw: bytes) -> None:
    sys.stdout.buffer.write(raw)
    sys.stdout.buffer.flush()


def log(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def hang(_: int) -> None:
    time.sleep(3600)


def crash(_: int) -> None:
    sys.exit(7)


def garbage(_: int) -> None:
    write(b"hello, I am no JSON\n")


def mixed_ids(identity: int) -> None:
    write(b'{"id": %d, "outcome": {"type": "Done"}}\n' % (identity + 1))


def long_line(_: int) -> None:
    for _each in range(100):
        write(b"x" * 1_000_000)
    write(b"\n")


def invalid_utf8(identity: int) -> None:
    write(b'{"id": %d, "outcome": {"type": "Refused", "error": "\xff"}}\n' % identity)


ACTIONS: dict[str, Callable[[int], None]] = {
    each.__name__.replace("_", "-"): each
    for each in (hang, crash, garbage, mixed_ids, long_line, invalid_utf8)
}


class Bus:
    """The model, and how it is to misbehave."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.model = ModelAdapter()
        self.begun = 0

    def answer(self, request: protocol.Request) -> protocol.Answer | None:
        match request:
            case protocol.HelloRequest(id=identity):
                return protocol.HelloAnswer(id=identity, hello=self.declared())
            case protocol.StartRequest(id=identity):
                self.start(request)
                return protocol.StartedAnswer(id=identity, started=protocol.Nothing())
            case protocol.CommandRequest(id=identity) if self.misbehaves():
                log(f"about to do this: {self.args.action}")
                ACTIONS[self.args.action](identity)
                return None
            case protocol.CommandRequest(id=identity):
                came = self.observed(request)
                return protocol.CommandAnswer(
                    id=identity, outcome=came.outcome, witness=came.witness
                )
            case protocol.ByeRequest(id=identity):
                return protocol.ByeAnswer(id=identity, bye=protocol.Nothing())

    def declared(self) -> protocol.Declared:
        everything = self.model.declaration
        named = [each.value for each in everything.capabilities]
        if self.args.capabilities is not None:
            named = self.args.capabilities.split()
        named = [each for each in named if each not in self.args.without]
        return protocol.Declared(
            implementation=protocol.ImplementationName(**attrs.asdict(everything.implementation)),
            capabilities=tuple(v.Capability(each) for each in named),
            slack=self.args.slack,
        )

    def start(self, request: protocol.StartRequest) -> None:
        held_to = attrs.asdict(request.start)
        self.model.start(v.profile_for(load(), **held_to))
        if self.args.count:
            with self.args.count.open("ab") as file:
                file.write(b".")
            self.begun = self.args.count.stat().st_size

    def misbehaves(self) -> bool:
        return self.args.action is not None and self.begun >= self.args.at

    def observed(self, request: protocol.CommandRequest) -> v.Observed:
        time.sleep(self.args.pause)
        if type(request.command).__name__ in self.args.unsupported:
            return v.Observed(v.Unsupported(detail="no such thing here"))
        if self.args.indeterminate:
            return v.Observed(v.Indeterminate(detail="the network is silent"))
        came = self.model.do(request.command, request.connection)
        lost = self.args.lose and isinstance(request.command, v.Receive)
        witness = None if "witness" in self.args.without else came.witness
        return v.Observed(v.Empty()) if lost else v.Observed(came.outcome, witness)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", nargs="?", choices=ACTIONS)
    parser.add_argument("--at", type=int, default=0)
    parser.add_argument("--count", type=Path, help="a file that counts the scenarios begun")
    parser.add_argument("--capabilities")
    parser.add_argument("--without", nargs="*", default=(), help="capabilities not declared")
    parser.add_argument("--slack", type=int, default=0, help="declared, in microseconds")
    parser.add_argument("--unsupported", nargs="*", default=())
    parser.add_argument("--indeterminate", action="store_true")
    parser.add_argument("--lose", action="store_true", help="every message that is received")
    parser.add_argument("--pause", type=float, default=0)
    bus = Bus(parser.parse_args())
    log(f"the bus is process {os.getpid()}")
    for line in sys.stdin.buffer:
        request = protocol.decode_request(line)
        if (answer := bus.answer(request)) is not None:
            write(protocol.encode(answer))
        if isinstance(request, protocol.ByeRequest):
            return


if __name__ == "__main__":
    main()
