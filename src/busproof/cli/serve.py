"""`busproof serve`: the embedded broker."""

import asyncio
import gc
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from busproof import __version__
from busproof.cli.console import say, write_aside
from busproof.cli.frame import Command, Options
from busproof.cli.serving.options import FAULTY, OPTIONS
from busproof.cli.serving.security import Protection, bracket_host
from busproof.errors import UsageError
from busproof.extras import need

if TYPE_CHECKING:
    from busproof.broker.bus import Bus
    from busproof.broker.configuration.emulator import Configuration
    from busproof.broker.core import Hub
    from busproof.broker.limits import Limits
    from busproof.broker.observability.event_log import Journal
    from busproof.broker.server import Broker
    from busproof.broker.storage.startup import Keeping
    from busproof.cli.serving.also import Shadow
    from busproof.model import Families

__all__ = ["COMMAND", "run"]

GARBAGE_LOOKED_FOR = 50_000
"""Number of new objects between garbage collections; a message has about ten, and keeps them."""
OUTPUT = "-"
PORTS = ("port", "tls_port", "websocket_port", "admin_port")


def _check_store(args: Options) -> None:
    if args.store is None and args.durable_power:
        raise UsageError("--durable-power is of no use without --store")
    if args.store is None and args.accept_loss:
        raise UsageError("--accept-loss is of no use without --store")
    if args.store is not None and args.adapter != "model":
        raise UsageError("--store keeps what the model decides; leave --adapter out")
    if args.store is not None and args.policy == "hostile":
        raise UsageError("--store keeps no wrong timers; choose another --policy than hostile")


def _families(args: Options) -> "Families":
    """Return the families with the fault of the served mutant; none for the model."""
    from busproof.model import NO_FAULT

    if args.adapter == "model":
        return NO_FAULT
    if not args.adapter.startswith(FAULTY):
        raise UsageError(f"--adapter is {args.adapter!r}; it can be model or {FAULTY}FAULT-ID")
    if args.policy != "round-robin":
        raise UsageError("--policy is the model's; a seeded fault has none")
    named = args.adapter.removeprefix(FAULTY)
    if named == NO_FAULT:
        return {}  # not `NO_FAULT`: it is served like a mutant, without a store
    # Import the mutants only here, because they make the start of a broker half as long again.
    from busproof.adapters.faults import fault

    return fault(named).families


def run(args: Options) -> int:
    """Serve until interrupted."""
    need("amqp", "busproof serve")
    from busproof.broker.event_loop import run as run_fairly

    return run_fairly(_serve(args))


def _choose_keeping(args: Options) -> "Keeping":
    from busproof.broker.storage.startup import Keeping  # needs the extra

    kept = Keeping(args.store, synced=args.durable_power, accepts_loss=args.accept_loss)
    for lost in kept.losses:
        say(f"the store has lost messages or settlements: {lost}")
    return kept


def _namespace(args: Options) -> dict[str, Any]:
    """Return the settings of the namespace that options override."""
    names = ("tier", "edition", "namespace_partitions", "messaging_units")
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}


def _configuration(args: Options) -> "Configuration":
    """Return the entities that `--config` names.

    Raises:
        UsageError: the file cannot be read, or an option about it is of no use.
    """
    from busproof.broker.configuration.emulator import Configuration, read_configuration

    parameters = {}
    for text in args.config_parameter:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--config-parameter is {text!r}; it has the form NAME=VALUE")
        parameters[name] = value
    if args.config is None:
        if parameters or args.strict_config:
            raise UsageError(
                "--config-parameter and --strict-config are of no use without --config"
            )
        return Configuration()
    return read_configuration(args.config, strict=args.strict_config, parameters=parameters)


async def _serve(args: Options) -> int:
    from busproof.broker.admin.endpoint import Administration  # needs the extra
    from busproof.broker.bus import Bus
    from busproof.broker.core import Hub
    from busproof.broker.http_port import serve_http
    from busproof.broker.observability.event_log import Silent, journal
    from busproof.broker.server import bus_for, start_broker

    _check_store(args)
    configuration = attrs.evolve(_configuration(args), **_namespace(args))
    protection = Protection(args, configuration)
    limits = _limits(args.limit)
    families = _families(args)
    log = Silent() if args.log is None else journal(_named_file(args.log), sys.stdout, say)
    chosen = {"policy": args.policy, "seed": args.seed, "clock": args.clock}

    def make_bus() -> Bus:
        return bus_for(configuration, **chosen, families=families)

    ended = asyncio.Event()
    kept = None if args.store is None else _choose_keeping(args)
    bus = make_bus() if kept is None else kept.bus(configuration, make_bus, chosen)
    shadow = _shadow(args, log, bus, kept)

    def warn(text: str) -> None:
        say(text)
        log.warning("warning", said=text)

    def http(hub: Hub) -> Any:
        hub.configured, hub.warn, hub.journal = make_bus, warn, log
        hub.renew = protection.renewal(hub)
        hub.identifies = args.message_ids == "assigned"
        hub.moving = None if shadow is None else shadow.page
        if kept is not None:
            kept.attach(hub, ended.set)
        return serve_http(hub, Administration(hub, warn, protection.control, protection.metrics))

    try:
        broker = await start_broker(bus, protection.keys, protection.places, http, limits)
    except UsageError:
        if kept is not None:
            kept.close()
        raise
    # Objects that exist by now will stay, so do not look for garbage among them.
    gc.freeze()
    gc.set_threshold(GARBAGE_LOOKED_FOR)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, _renew, broker.hub)
    for warning in configuration.warnings:
        warn(warning)
    _greet(args, _greeting(protection, broker, len(bus.names())))
    log.info("started", version=__version__, entities=len(bus.names()), **_places(broker))
    await ended.wait()
    await broker.stop()
    # At exit, looking through a million messages for garbage would take half a minute.
    gc.freeze()
    log.info("stopped")
    if kept is not None:
        kept.check()
    return 0 if shadow is None else shadow.finish()


def _shadow(args: Options, log: "Journal", bus: "Bus", kept: "Keeping | None") -> "Shadow | None":
    """Return the namespace that also decides each request; `None` if none is asked for.

    Raises:
        UsageError: there is no such namespace, or the bus is one already.
    """
    if args.also is None and args.also_report is not None:
        raise UsageError("--also-report is of no use without --also")
    if args.also is None:
        return None
    from busproof.cli.serving.also import Shadow

    shadow = Shadow(args.also, args.also_report, say, log)
    try:
        shadow.begin(bus)
    except UsageError:
        if kept is not None:
            kept.close()
        raise
    bus.watcher = shadow
    return shadow


def _greet(args: Options, greeting: str) -> None:
    """Write the greeting, and for scripts its last line, the connection string, to the output.

    The output is left alone if it is the user's terminal or has the log.
    """
    write_aside(greeting)
    if args.log is not None and str(args.log) == OUTPUT:
        return
    with suppress(OSError, ValueError):
        if not sys.stdout.isatty():
            print(greeting.rpartition("\n")[2], flush=True)


def _limits(texts: list[str]) -> "Limits":
    """Return the limits on clients, and raise the limit of open files to match."""
    from busproof.broker.limits import limits_in  # needs the extra
    from busproof.broker.listener import need_files

    limits = limits_in(texts)
    if (most := need_files(limits.connections + limits.http_connections)) is not None:
        say(
            f"only {most:,} connections are possible, because the process cannot open more files; "
            "raise the hard limit (ulimit -Hn), or lower --limit connections"
        )
    return limits


def _named_file(path: Path) -> Path | None:
    """Return the named file, or `None` for standard output."""
    return None if str(path) == OUTPUT else path


def _places(broker: "Broker") -> dict[str, int]:
    return {name: broker.port_of(f"--{name.replace('_', '-')}") for name in PORTS}


def _renew(hub: "Hub") -> None:
    """Read keys and certificates again; keep the old ones if that fails."""
    try:
        hub.renew()
    except UsageError as error:
        hub.warn(f"the keys and certificates stay as they were: {error}")
    else:
        say("keys and certificates were read again")


def _greeting(protection: Protection, broker: "Broker", entities: int) -> str:
    """Return the text to print at the start: addresses, warnings and the connection string."""
    host = bracket_host(protection.places.host)
    places = protection.places
    plain = broker.port_of("--port")
    secure = broker.port_of("--tls-port")
    where = [f"AMQP on {host}:{plain}"] if plain else []
    where += [f"AMQP over TLS on {host}:{secure}"] if secure else []
    if web := broker.port_of("--websocket-port"):
        over = "over WebSockets and TLS" if places.tls else "over WebSockets"
        where.append(f"AMQP {over} on {host}:{web}")
    where.append(f"{'HTTPS' if places.admin_tls else 'HTTP'} on {host}:{broker.admin_port}")
    lines = [f"busproof: {', '.join(where)}, {entities} entities"]
    if protection.control.is_on or protection.control.is_seen:
        scheme = "https" if places.admin_tls else "http"
        lines.append(f"busproof: its entities: {scheme}://{host}:{broker.admin_port}/busproof/")
    lines += [f"busproof: {warning}" for warning in protection.warnings()]
    lines.append("Next: give a client this connection string; Ctrl-C ends the broker")
    return "\n".join([*lines, protection.connection_string(plain, secure)])


COMMAND: Final = Command(
    "serve",
    run,
    description="Serve the reference model, or a bus that breaks one rule, to Service "
    "Bus clients over AMQP and HTTP, until Ctrl-C.",
    parameters=OPTIONS,
    examples=[
        ("busproof serve", "An empty namespace on this machine:"),
        (
            "busproof serve --config Config.json --page",
            "The emulator's entities, with a live page of their partitions:",
        ),
        (
            "busproof serve --edition en-2026-02 --tier premium --namespace-partitions 4",
            "A partitioned Premium namespace:",
        ),
        (
            "busproof serve --config Config.json --also premium:4 --also-report moving",
            "Clients of Standard, and what breaks when they move to Premium with partitions:",
        ),
        ("busproof serve --store data --log events.jsonl", "Keep messages across restarts:"),
        (
            "busproof serve --adapter faulty:mismatch-accepted",
            "A bus that breaks one rule, to test a client's tests:",
        ),
    ],
)
