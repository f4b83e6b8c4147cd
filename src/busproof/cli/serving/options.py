"""Options of `busproof serve`."""

from typing import Any, Final

import click

from busproof.broker.limits import MEANINGS
from busproof.cli import values
from busproof.cli.frame import PATH, Option, flag, option

__all__ = ["AMQPS_PORT", "AMQP_PORT", "FAULTY", "NO_FAULT", "OPTIONS", "PORT"]

AMQP_PORT: Final = 5672
AMQPS_PORT: Final = 5671
HTTP_PORT: Final = 5300
FAULTY: Final = "faulty:"
NO_FAULT: Final = "none"


class _Port(click.ParamType[int]):
    """A port number, as the type of an option's value."""

    name = "port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the port, or fail with a sentence."""
        text = str(value)
        if not text.isdecimal() or int(text) > 65_535:
            self.fail(f"{text!r} is not a port; give a number from 0 to 65535", param, ctx)
        return int(text)


PORT: Final = _Port()

CERTIFICATES: Final = "TLS"
KEYS: Final = "Keys"
MOVE: Final = "Another namespace"
WATCH: Final = "Control, page and metrics"

OPTIONS: Final[tuple[Option, ...]] = (
    option(
        "--host",
        default="127.0.0.1",
        metavar="HOST",
        help="address to listen on (default: 127.0.0.1)",
    ),
    option(
        "--port",
        type=PORT,
        metavar="PORT",
        help=f"for AMQP without TLS ({AMQP_PORT}; with TLS, none); 0: any free",
    ),
    option(
        "--admin-port",
        type=PORT,
        metavar="PORT",
        default=HTTP_PORT,
        help=f"for HTTP ({HTTP_PORT}); 0: any free",
    ),
    option(
        "--websocket-port",
        type=PORT,
        metavar="PORT",
        help="port for AMQP over WebSockets, with TLS if AMQP has it (default: none; 0: any free)",
    ),
    option(
        "--keys",
        section=KEYS,
        metavar="SOURCE",
        help="access policies and keys, as JSON in a file or in env:NAME; SIGHUP reads a "
        "file again",
    ),
    option(
        "--audience",
        section=KEYS,
        multiple=True,
        metavar="HOST",
        help="host that tokens may name (repeatable; default: any)",
    ),
    flag(
        "--allow-public-key",
        section=KEYS,
        help="let other machines connect with the emulator's well-known key",
    ),
    option(
        "--tls-cert",
        section=CERTIFICATES,
        type=PATH,
        metavar="FILE",
        help="certificate (PEM) for AMQP over TLS and HTTPS",
    ),
    option(
        "--tls-key",
        section=CERTIFICATES,
        type=PATH,
        metavar="FILE",
        help="private key (PEM) of --tls-cert",
    ),
    option(
        "--tls",
        section=CERTIFICATES,
        type=PATH,
        metavar="FILE",
        help="serve AMQP over TLS and HTTPS with a generated certificate; write its "
        "authority to this file (PEM)",
    ),
    option(
        "--tls-name",
        section=CERTIFICATES,
        multiple=True,
        metavar="NAME",
        help="further host name in the certificate of --tls, such as "
        "'*.servicebus.windows.net' (repeatable)",
    ),
    option(
        "--tls-port",
        section=CERTIFICATES,
        type=PORT,
        metavar="PORT",
        help=f"for AMQP over TLS ({AMQPS_PORT}); 0: any free",
    ),
    option(
        "--admin-cert",
        section=CERTIFICATES,
        type=PATH,
        metavar="FILE",
        help="certificate (PEM) for HTTPS only",
    ),
    option(
        "--admin-key",
        section=CERTIFICATES,
        type=PATH,
        metavar="FILE",
        help="private key (PEM) of --admin-cert",
    ),
    option(
        "--admin-tls",
        section=CERTIFICATES,
        type=PATH,
        metavar="FILE",
        help="serve HTTPS with a generated certificate; write its authority to this file (PEM)",
    ),
    flag(
        "--control",
        section=WATCH,
        help="serve the control API under /busproof/ to local programs: partitions, time, state",
    ),
    flag(
        "--page",
        section=WATCH,
        help="serve a live page of entities and partitions to local browsers, at "
        "/busproof/ of the HTTP port",
    ),
    option(
        "--control-token",
        section=WATCH,
        metavar="SOURCE",
        help="serve the control API to holders of the token in this file or in env:NAME",
    ),
    flag(
        "--metrics",
        section=WATCH,
        help="serve Prometheus metrics to local programs, at /metrics of the HTTP port",
    ),
    option(
        "--metrics-token",
        section=WATCH,
        metavar="SOURCE",
        help="serve metrics to holders of the token in this file or in env:NAME",
    ),
    option(
        "--config",
        type=PATH,
        metavar="FILE",
        help="entities, in the format of the Service Bus emulator or as an ARM template in JSON",
    ),
    option(
        "--config-parameter",
        multiple=True,
        metavar="NAME=VALUE",
        help="value of a parameter of an ARM template (repeatable)",
    ),
    flag("--strict-config", help="refuse unknown fields of --config, instead of warning"),
    option(
        "--tier",
        type=click.Choice(("basic", "standard", "premium")),
        help="tier of the namespace (default: standard, or as --config says)",
    ),
    option(
        "--edition",
        metavar="ID",
        help="edition of the documents (default: the default edition, or as --config says)",
        shell_complete=values.editions,
    ),
    option(
        "--namespace-partitions",
        type=int,
        metavar="N",
        help="partitions of a Premium namespace: 1 (not partitioned, default), 2 or 4",
    ),
    option(
        "--messaging-units",
        type=int,
        metavar="N",
        help="messaging units of a Premium namespace (default: one for each partition)",
    ),
    option(
        "--adapter",
        default="model",
        metavar="NAME",
        help=f"what decides: model, {FAULTY}FAULT-ID, a bus that breaks one rule, or "
        f"{FAULTY}{NO_FAULT}, the same bus without a fault",
    ),
    option(
        "--policy",
        default="round-robin",
        metavar="P",
        help="choices where the rules leave some: round-robin, random or hostile",
    ),
    option("--seed", type=int, default=0, metavar="N", help="seed of the policy (default: 0)"),
    option(
        "--clock",
        type=click.Choice(("real", "virtual")),
        default="real",
        help="real (default), or virtual: time passes on request",
    ),
    option(
        "--message-ids",
        type=click.Choice(("assigned", "as-sent")),
        default="assigned",
        help="assigned (default): messages without a MessageId are given one, as client "
        "libraries do; as-sent: they stay without",
    ),
    option(
        "--limit",
        multiple=True,
        metavar="NAME=NUMBER",
        help="limit on one client (repeatable): "
        + "; ".join(f"{name}, {what} ({most})" for name, (most, what) in MEANINGS.items()),
    ),
    option(
        "--also",
        section=MOVE,
        metavar="NAMESPACE",
        help="also decide each request as another namespace, and say which kinds would break when "
        "the clients move there: premium:4, premium, basic, an edition, EDITION/TIER or "
        "AMBIGUITY=READING; exit with 1 if one breaks, with 3 if one may",
        shell_complete=values.namespaces,
    ),
    option(
        "--also-report",
        section=MOVE,
        type=PATH,
        metavar="DIR",
        help="write what breaks to this folder: a page, JSON, and a JSON line for each new kind",
    ),
    option(
        "--store",
        type=PATH,
        metavar="DIR",
        help="keep everything in this folder (default: in memory)",
    ),
    flag(
        "--durable-power",
        help="with --store: acknowledged requests survive a power loss, not only a kill",
    ),
    flag(
        "--accept-loss",
        help="with --store: start although commits are lost, without what was in them",
    ),
    option(
        "--log",
        type=PATH,
        metavar="FILE",
        help="append events to this file as JSON lines; - is the standard output",
    ),
)
"""All options in the order of the help; addresses and access come first."""
