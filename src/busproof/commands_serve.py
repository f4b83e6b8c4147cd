"""`busproof serve`: the embedded broker."""

import argparse
import asyncio
import gc
import signal
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

from busproof.errors import UsageError
from busproof.saying import say, write_aside

if TYPE_CHECKING:
    from busproof.adapters.base import Adapter

__all__ = ["add_parser", "run"]

GARBAGE_LOOKED_FOR = 50_000
"""After how many new objects; each message held is some ten, and none of them is garbage."""
FAULTY, NO_FAULT = "faulty:", "none"
MISSING = (
    "busproof serve needs python-qpid-proton and h11; install them with "
    "pip install 'busproof[amqp]'"
)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `serve` to the command line."""
    parser = subparsers.add_parser("serve", help="serve the model to real Service Bus clients")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=_port, default=5672, help="for AMQP (5672); 0: any free")
    parser.add_argument(
        "--admin-port", type=_port, default=5300, help="for HTTP (5300); 0: any free"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="entities, as the emulator's")
    parser.add_argument(
        "--adapter",
        default="model",
        metavar="NAME",
        help=f"what decides: model, {FAULTY}FAULT-ID, a bus that breaks one rule, or "
        f"{FAULTY}{NO_FAULT}, the same bus without a fault",
    )
    parser.add_argument(
        "--policy",
        default="round-robin",
        help="round-robin, random or hostile, where it may choose",
    )
    parser.add_argument("--admin-cert", type=Path, metavar="FILE", help="PEM: HTTPS, not HTTP")
    parser.add_argument(
        "--admin-tls",
        type=Path,
        metavar="FILE",
        help="HTTPS with a certificate that is made; its authority's is written here as PEM",
    )
    parser.add_argument("--admin-key", type=Path, metavar="FILE", help="PEM: of --admin-cert")
    parser.add_argument("--seed", type=int, default=0, help="of the policy's choices (0)")
    parser.add_argument("--clock", choices=("real", "virtual"), default="real")
    parser.add_argument(
        "--message-ids",
        choices=("assigned", "as-sent"),
        default="assigned",
        help="what is sent without a MessageId goes out with one (assigned) or without",
    )
    parser.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        help="keep all in this folder, from one start to the next; without it, in memory only",
    )
    parser.add_argument(
        "--durable-power",
        action="store_true",
        help="with --store: what was answered outlasts a loss of power too, not only a kill",
    )
    parser.set_defaults(run=run)


def _check_store(args: argparse.Namespace) -> None:
    if args.store is None and args.durable_power:
        raise UsageError("--durable-power is of no use without --store")
    if args.store is not None and args.adapter != "model":
        raise UsageError("--store keeps what the model decides; leave --adapter out")
    if args.store is not None and args.policy == "hostile":
        raise UsageError("--store keeps no wrong timers; choose another --policy than hostile")


def _fault(args: argparse.Namespace) -> "Adapter | None":
    """The bus that is served in the model's place."""
    if args.adapter == "model":
        return None
    from busproof.adapters.faults import SeededBus, make  # noqa: PLC0415

    if not args.adapter.startswith(FAULTY):
        raise UsageError(f"--adapter is {args.adapter!r}; served are model and {FAULTY}FAULT-ID")
    if args.policy != "round-robin":
        raise UsageError("--policy is the model's; a seeded fault has none")
    fault = args.adapter.removeprefix(FAULTY)
    return SeededBus() if fault == NO_FAULT else make(fault)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; one is a number from 0 to 65535")
    return int(text)


def _tls(args: argparse.Namespace) -> ssl.SSLContext | None:
    if args.admin_tls is not None:
        from busproof.broker.certificates import made  # noqa: PLC0415 - needs the extra

        if args.admin_cert is not None:
            raise UsageError("--admin-tls makes a certificate, --admin-cert gives one; choose one")
        return made(args.host, args.admin_tls)
    if args.admin_cert is None:
        if args.admin_key is not None:
            raise UsageError("--admin-key is of no use without --admin-cert")
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(args.admin_cert, args.admin_key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"cannot use the certificate {args.admin_cert}: {error}") from None
    return context


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    try:
        import h11  # noqa: F401, PLC0415
        import proton  # noqa: F401, PLC0415
    except ImportError:
        raise UsageError(MISSING) from None
    return asyncio.run(_serve(args))


async def _serve(args: argparse.Namespace) -> int:
    from busproof.broker.admin import Administration  # noqa: PLC0415 - needs the extra
    from busproof.broker.bus import Bus  # noqa: PLC0415
    from busproof.broker.config import Configuration, read_configuration  # noqa: PLC0415
    from busproof.broker.http import served  # noqa: PLC0415
    from busproof.broker.hub import Hub  # noqa: PLC0415
    from busproof.broker.resuming import Keeping  # noqa: PLC0415
    from busproof.broker.serving import bus_for, started  # noqa: PLC0415
    from busproof.broker.tokens import Keys  # noqa: PLC0415

    _check_store(args)
    configuration = read_configuration(args.config) if args.config else Configuration()
    fault = _fault(args)
    chosen = {"policy": args.policy, "seed": args.seed, "clock": args.clock}

    def configured() -> Bus:
        return bus_for(configuration, **chosen, instead=fault)

    ended = asyncio.Event()
    kept = None if args.store is None else Keeping(args.store, synced=args.durable_power)
    bus = configured() if kept is None else kept.bus(configuration, configured, chosen)
    keys = Keys({key.name: key for key in configuration.keys})

    def http(hub: Hub) -> Any:
        if kept is not None:
            kept.attach(hub, ended.set)
        return served(Administration(hub, say).answer, hub.saved)

    tls = _tls(args)
    try:
        broker = await started(bus, keys, args.host, args.port, args.admin_port, http, tls)
    except UsageError:
        if kept is not None:
            kept.close()
        raise
    broker.hub.configured = configured
    broker.hub.identifies = args.message_ids == "assigned"
    # What is there by now stays: looking for garbage in it would only take time.
    gc.freeze()
    gc.set_threshold(GARBAGE_LOOKED_FOR)
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, ended.set)
    first = configuration.keys[0]
    write_aside(
        f"busproof: AMQP on {args.host}:{broker.port}, HTTP on {args.host}:{broker.admin_port}, "
        f"{len(bus.names())} entities\n"
        f"Endpoint=sb://{args.host}:{broker.port};SharedAccessKeyName={first.name};"
        f"SharedAccessKey={first.key};UseDevelopmentEmulator=true;"
    )
    await ended.wait()
    await broker.stop()
    if kept is not None:
        kept.check()
    return 0
