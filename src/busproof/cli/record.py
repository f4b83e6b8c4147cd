"""`busproof record`: a proxy that records what clients and a service say as a history."""

import asyncio
import functools
import secrets
import signal
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from busproof import __version__
from busproof.cli.console import say, say_next, write_aside
from busproof.cli.frame import PATH, Command, Options, flag, option
from busproof.cli.live_judge import LiveJudge, serve_metrics
from busproof.cli.serving.options import PORT
from busproof.errors import UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.history.records import Header
    from busproof.recorder.recording import Recording

__all__ = ["COMMAND", "run"]

AMQPS_PORT: Final = 5671
VIOLATED: Final = 1
MEGABYTE: Final = 1024 * 1024
SLACK: Final = 1.0
"""How much earlier or later than announced a timer of a service may fire, in seconds."""


def run(args: Options) -> int:
    """Record until interrupted.

    Raises:
        HistoryError: the recording cannot be written any more.
    """
    need("amqp", "busproof record")
    return asyncio.run(_record(args))


async def _record(args: Options) -> int:
    from busproof.recorder.journal import Rolling  # needs the extra
    from busproof.recorder.messages import Privacy
    from busproof.recorder.proxy import place_of
    from busproof.recorder.recording import Kept, Ports, begin_recording

    @functools.cache
    def read_trust() -> ssl.SSLContext:
        return _trust(args.to_ca)

    amqp = place_of(args.to, ("amqp", "amqps"), read_trust)
    ports = Ports(
        host=args.host,
        port=args.listen,
        admin_port=args.admin_port,
        tls=_certificate(args),
        amqp=amqp,
        websockets=place_of(args.to_websockets or amqp.host, ("ws", "wss"), read_trust),
        administration=place_of(args.to_admin or amqp.host, ("http", "https"), read_trust),
    )
    privacy = Privacy(
        secrets.token_bytes(32),
        keeps_bodies=args.bodies == "keep",
        keeps_properties=args.properties == "keep",
    )
    kept = Kept(
        privacy=privacy,
        rolling=Rolling(int(args.roll_size * MEGABYTE), args.roll_time * 60),
        receive_wait=int(args.receive_wait * 1_000_000),
    )
    recording = await begin_recording(args.out, _header(args), ports, kept, say)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    judge = LiveJudge(args.out, lambda: recording.desk.journal.events, say)
    unmeasured = _serve_metrics(args, recording, judge)
    _greet(args, recording.ports, secure=ports.tls is not None)
    judging = asyncio.ensure_future(judge.go_on(args.judge)) if args.judge else None
    await recording.wait_for_end(ended)
    if judging is not None:
        judging.cancel()
        await asyncio.wait([judging])
    unmeasured()
    recording.stop()
    if judging is not None:
        await judge.judge()
    _tell_the_end(args, recording)
    return VIOLATED if judge.violations else 0


def _serve_metrics(args: Options, recording: "Recording", judge: LiveJudge) -> Callable[[], None]:
    """Serve metrics if that is wanted; return the function that ends it."""
    if args.metrics_port is None:
        return lambda: None
    desk = recording.desk
    try:
        return serve_metrics(
            args.host,
            args.metrics_port,
            {
                "events": ("events recorded", lambda: desk.journal.events),
                "connections": ("AMQP connections accepted", lambda: recording.connections),
                "left_out": (
                    "requests and answers that no history can say",
                    lambda: sum(desk.tally.left_out.values()),
                ),
                "judged_events": ("events that were judged", lambda: judge.judged),
                "violated_rules": (
                    "rules that the recording breaks",
                    lambda: len(judge.violations),
                ),
            },
        )
    except OSError as error:
        raise UsageError(
            f"cannot listen on {args.host}:{args.metrics_port}: {error.strerror}; choose another "
            "--metrics-port"
        ) from None


def _trust(authority: Path | None) -> ssl.SSLContext:
    """Return how to check the service's certificate.

    Raises:
        UsageError: the file of the authority cannot be used.
    """
    try:
        return ssl.create_default_context(cafile=authority)
    except OSError as error:  # an `SSLError` is one, too
        reason = error.strerror or "it has no certificate as PEM"
        raise UsageError(f"cannot use --to-ca {authority}: {reason}") from None


def _certificate(args: Options) -> ssl.SSLContext | None:
    from busproof.broker.admin.access import is_local
    from busproof.broker.auth.certificates import Certificate, make_context

    if args.tls_cert is not None:
        if args.tls is not None:
            raise UsageError("--tls makes a certificate, --tls-cert gives one; choose one")
        return Certificate(args.tls_cert, args.tls_key).context()
    if args.tls_key is not None:
        raise UsageError("--tls-key is of no use without --tls-cert")
    if args.tls is not None:
        return make_context((args.host, *args.tls_name), args.tls)
    if not is_local(args.host) and not args.allow_plain:
        raise UsageError(
            f"tokens of clients would reach --host {args.host} unencrypted; give --tls or "
            "--tls-cert, or --allow-plain"
        )
    return None


def _header(args: Options) -> "Header":
    """Return the header of the recording: what is known of the service, and what is seen of it."""
    from busproof import vocabulary as v
    from busproof.history.records import Header
    from busproof.spec import load

    readings = {}
    for text in args.reading:
        name, equals, reading = text.partition("=")
        if not equals:
            raise UsageError(f"--reading is {text!r}; it has the form AMBIGUITY=READING")
        readings[name] = reading
    profile = v.profile_for(
        load(),
        edition=args.edition,
        tier=args.tier,
        readings=readings,
        namespace_partitions=int(args.namespace_partitions),
    )
    left_out = {v.Capability.LIMITS, v.Capability.DISPOSABLE_NAMESPACE, v.Capability.OUTAGES}
    left_out |= {v.Capability.LEGACY_ENTITIES, v.Capability.TIMESTAMPS, v.Capability.HTTP}
    return Header(
        busproof=__version__,
        adapter="record",
        implementation={"name": "recorded traffic", "recorder": f"busproof {__version__}"},
        capabilities=tuple(sorted(set(v.Capability) - left_out)),
        clock=v.Clock.REAL,
        slack=int(args.slack * v.MICROSECONDS),
        profile=profile,
    )


def _greet(args: Options, ports: list[int], *, secure: bool) -> None:
    over = " over TLS" if secure else ""
    where = [f"AMQP{over} on {args.host}:{ports[0]}, plain or over WebSockets"]
    if len(ports) > 1:
        where.append(f"HTTP{'S' * secure} on {args.host}:{ports[1]}")
    write_aside(f"busproof: recording {', '.join(where)}, to {args.to}")
    write_aside(f"busproof: events go to {args.out}")
    say_next(f"connect clients to {args.host}:{ports[0]}; Ctrl-C ends the recording")


def _tell_the_end(args: Options, recording: "Recording") -> None:
    journal = recording.journal
    connections = recording.connections
    parts = f" in {journal.parts} files" if journal.parts > 1 else ""
    write_aside(f"busproof: {journal.events:,} events of {connections:,} connections{parts}")
    for what, number in recording.desk.tally.left_out.most_common():
        write_aside(f"busproof: left out: {number:,} {what}")
    say_next(f"busproof check {args.out} judges it")


LISTENING: Final = "Where clients connect"
WATCHED: Final = "While it goes on"
SERVICE: Final = "The service"
KEPT: Final = "What is recorded"

COMMAND: Final = Command(
    "record",
    run,
    description="Pass the traffic of Service Bus clients on to a service, and record it as a "
    "history, until Ctrl-C; busproof check DIR judges it.",
    parameters=[
        option(
            "--to",
            section=SERVICE,
            required=True,
            metavar="HOST",
            help="where the service speaks AMQP: HOST, HOST:PORT, or amqp://HOST:PORT if it has "
            "no TLS",
        ),
        option(
            "--to-websockets",
            section=SERVICE,
            metavar="HOST",
            help="where it speaks AMQP over WebSockets, if not on port 443 of HOST (ws://… "
            "without TLS)",
        ),
        option(
            "--to-admin",
            section=SERVICE,
            metavar="HOST",
            help="where its administration is, if not on port 443 of HOST (http://… without TLS)",
        ),
        option(
            "--to-ca",
            section=SERVICE,
            type=PATH,
            metavar="FILE",
            help="certificate authority (PEM) of the service, if the system does not trust it",
        ),
        option(
            "--host",
            section=LISTENING,
            default="127.0.0.1",
            metavar="HOST",
            help="address to listen on (default: 127.0.0.1)",
        ),
        option(
            "--listen",
            section=LISTENING,
            type=PORT,
            default=AMQPS_PORT,
            metavar="PORT",
            help="port for AMQP, also over WebSockets (default: 5671; 0: any free)",
        ),
        option(
            "--admin-port",
            section=LISTENING,
            type=PORT,
            metavar="PORT",
            help="port for the administration over HTTP (default: none; 0: any free)",
        ),
        option(
            "--tls",
            section=LISTENING,
            type=PATH,
            metavar="FILE",
            help="speak TLS with a generated certificate; write its authority to this file (PEM)",
        ),
        option(
            "--tls-name",
            section=LISTENING,
            multiple=True,
            metavar="NAME",
            help="further host name in the certificate of --tls (repeatable)",
        ),
        option(
            "--tls-cert",
            section=LISTENING,
            type=PATH,
            metavar="FILE",
            help="speak TLS with this certificate (PEM)",
        ),
        option(
            "--tls-key",
            section=LISTENING,
            type=PATH,
            metavar="FILE",
            help="private key (PEM) of --tls-cert",
        ),
        flag(
            "--allow-plain",
            section=LISTENING,
            help="let other machines connect without TLS",
        ),
        option(
            "--out",
            section=KEPT,
            type=PATH,
            required=True,
            metavar="DIR",
            help="new folder for the recording",
        ),
        option(
            "--bodies",
            section=KEPT,
            type=click.Choice(("hash", "keep")),
            default="hash",
            help="hash: only whether bodies are equal (default); keep: bodies as they are",
        ),
        option(
            "--properties",
            section=KEPT,
            type=click.Choice(("keep", "hash")),
            default="keep",
            help="texts in properties and keys: as they are (default), or hashed",
        ),
        option(
            "--roll-size",
            section=KEPT,
            type=click.FloatRange(min=0.001),
            default=256,
            metavar="MB",
            help="begin the next file at this size (default: 256)",
        ),
        option(
            "--roll-time",
            section=KEPT,
            type=click.FloatRange(min=0.001),
            default=60,
            metavar="MINUTES",
            help="begin the next file after this time (default: 60)",
        ),
        option(
            "--judge",
            section=WATCHED,
            type=click.FloatRange(min=0.1),
            metavar="SECONDS",
            help="judge every so many seconds, if the recording has grown by a tenth, and at the "
            "end; a violation is told, and is a line of DIR/violations.jsonl",
        ),
        option(
            "--metrics-port",
            section=WATCHED,
            type=PORT,
            metavar="PORT",
            help="serve metrics in the Prometheus format",
        ),
        option(
            "--tier",
            section=KEPT,
            type=click.Choice(("basic", "standard", "premium")),
            default="standard",
            help="tier of the namespace (default: standard)",
        ),
        option(
            "--edition", section=KEPT, metavar="ID", help="edition of the documents to judge by"
        ),
        option(
            "--reading",
            section=KEPT,
            multiple=True,
            metavar="AMBIGUITY=READING",
            help="how the service reads an ambiguity (repeatable)",
        ),
        option(
            "--namespace-partitions",
            section=KEPT,
            type=click.Choice(("1", "2", "4")),
            default="1",
            help="partitions of a Premium namespace that was created with several (default: 1)",
        ),
        option(
            "--receive-wait",
            section=KEPT,
            type=click.FloatRange(min=0),
            default=1,
            metavar="SECONDS",
            help="how long a receive must have waited before none is there (default: 1)",
        ),
        option(
            "--slack",
            section=KEPT,
            type=click.FloatRange(min=0),
            default=SLACK,
            metavar="SECONDS",
            help="how much earlier or later a lock or delay may end (default: 1)",
        ),
    ],
    examples=[
        (
            "busproof record --to ns.servicebus.windows.net --tls ca.pem --out recorded",
            "Between an application and a namespace:",
        ),
        (
            "busproof record --to amqp://localhost:5672 --listen 5673 --out recorded",
            "Before an emulator or busproof serve:",
        ),
    ],
)
