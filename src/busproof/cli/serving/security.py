"""Security of `busproof serve`: keys, certificates and the control endpoint, from its options."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from busproof.cli.frame import Options
from busproof.cli.serving.options import AMQP_PORT, AMQPS_PORT
from busproof.errors import UsageError

if TYPE_CHECKING:
    from busproof.broker.admin.access import Control
    from busproof.broker.auth.certificates import Certificate
    from busproof.broker.auth.tokens import AccessPolicy
    from busproof.broker.configuration.emulator import Configuration
    from busproof.broker.core import Hub
    from busproof.broker.server import Places

__all__ = ["Protection"]

HIDDEN: Final = "<key>"
"""Placeholder for a secret key in a connection string that is printed."""


class Protection:
    """Access rules and addresses of a broker.

    Args:
        args: the options.
        configuration: the configuration, which may have access policies.

    Raises:
        UsageError: the options do not fit together, or a file cannot be used.
    """

    def __init__(self, args: Options, configuration: "Configuration") -> None:
        from busproof.broker.auth.tokens import AccessPolicies  # needs what serving needs

        self._args = args
        self._certificates: list[tuple[Certificate, ssl.SSLContext]] = []
        self.rules: tuple[AccessPolicy, ...] = self._rules() if args.keys else configuration.keys
        self.keys = AccessPolicies(self.rules, args.audience)
        self._check_reach()
        self.control: Control = self._control()
        self.metrics: Control = self._metrics()
        self.places: Places = self._places()

    def _rules(self) -> "tuple[AccessPolicy, ...]":
        from busproof.broker.auth.policies import read_rules

        return read_rules(self._args.keys)

    @property
    def _is_public(self) -> bool:
        from busproof.broker.auth.policies import is_public

        return is_public(self.rules)

    @property
    def _is_local(self) -> bool:
        from busproof.broker.admin.access import is_local

        return is_local(self._args.host)

    def _check_reach(self) -> None:
        if self._is_public and not self._is_local and not self._args.allow_public_key:
            raise UsageError(
                f"others can reach --host {self._args.host}, and a key is the emulator's, which "
                "everybody knows; give keys of your own by --keys, or --allow-public-key"
            )

    def _control(self) -> "Control":
        from busproof.broker.admin.access import Control
        from busproof.broker.auth.policies import read_secret

        source = self._args.control_token
        token = None if source is None else read_secret(source)
        return Control(
            is_on=self._args.control or token is not None, token=token, is_seen=self._args.page
        )

    def _metrics(self) -> "Control":
        from busproof.broker.admin.access import Control
        from busproof.broker.auth.policies import read_secret

        source = self._args.metrics_token
        token = None if source is None else read_secret(source)
        is_on = self._args.metrics or token is not None
        return Control(is_on=is_on, token=token, what="metrics", option="--metrics")

    def _places(self) -> "Places":
        from busproof.broker.server import Places

        args = self._args
        tls = self._tls()
        plain = AMQP_PORT if args.port is None and tls is None else args.port
        secure = AMQPS_PORT if args.tls_port is None else args.tls_port
        return Places(
            host=args.host,
            port=plain,
            admin_port=args.admin_port,
            tls_port=None if tls is None else secure,
            tls=tls,
            admin_tls=self._admin_tls() or tls,
            websocket_port=args.websocket_port,
        )

    def _tls(self) -> ssl.SSLContext | None:
        """Return the TLS context for AMQP, with a given or a generated certificate."""
        args = self._args
        if args.tls_cert is None and args.tls_key is not None:
            raise UsageError("--tls-key is of no use without --tls-cert")
        if args.tls is None and args.tls_name:
            raise UsageError("--tls-name is of no use without --tls")
        if args.tls is not None and args.admin_tls is not None:
            # Check this before --tls writes its file.
            raise UsageError("--tls makes a certificate for HTTPS too; leave --admin-tls out")
        if args.tls_cert is not None:
            if args.tls is not None:
                raise UsageError("--tls makes a certificate, --tls-cert gives one; choose one")
            return self._make_context(args.tls_cert, args.tls_key)
        if args.tls is not None:
            return self._make("--tls", args.tls, *args.tls_name)
        if args.tls_port is not None:
            raise UsageError("--tls-port is of no use without --tls or --tls-cert")
        return None

    def _admin_tls(self) -> ssl.SSLContext | None:
        args = self._args
        if args.admin_tls is not None:
            if args.admin_cert is not None or args.tls_cert is not None:
                raise UsageError(
                    "--admin-tls makes a certificate, --admin-cert and --tls-cert give one; "
                    "choose one"
                )
            return self._make("--admin-tls", args.admin_tls)
        if args.admin_cert is None:
            if args.admin_key is not None:
                raise UsageError("--admin-key is of no use without --admin-cert")
            return None
        return self._make_context(args.admin_cert, args.admin_key)

    def _make(self, option: str, authority: Path, *names: str) -> ssl.SSLContext:
        from busproof.broker.auth.certificates import make_context

        return make_context((self._args.host, *names), authority, option=option)

    def _make_context(self, chain: Path, key: Path | None) -> ssl.SSLContext:
        from busproof.broker.auth.certificates import Certificate

        certificate = Certificate(chain, key)
        context = certificate.context()
        self._certificates.append((certificate, context))
        return context

    def renewal(self, hub: "Hub") -> Callable[[], None]:
        """Return a function that reads keys and certificates again.

        If one of them cannot be used, all stay as they were. Keys that do not come from a file of
        keys are kept.
        """

        def renew() -> None:
            rules = self._rules() if self._args.keys else self.rules
            for certificate, _ in self._certificates:
                certificate.context()
            for certificate, context in self._certificates:
                certificate.load(context)
            self.rules = rules
            hub.renew_keys(rules)

        return renew

    def warnings(self) -> list[str]:
        """Return the warnings to print at the start."""
        from busproof.broker.auth.policies import is_exposed

        args = self._args
        warnings = list[str]()
        if self._is_public:
            who = "only this machine can connect" if self._is_local else "everybody can connect"
            warnings.append(
                f"{who}: the key is the emulator's well-known one; use --keys for your own"
            )
        places = self.places
        web = None if places.tls else places.websocket_port
        for port in () if self._is_local else (places.port, web):
            if port is None:
                continue
            warnings.append(
                f"traffic on port {port} is not encrypted; --tls, or "
                "--tls-cert and --tls-key, encrypt it"
            )
        for source in filter(
            None,
            (
                args.keys,
                args.control_token,
                args.metrics_token,
                _read_named(args.tls_key),
            ),
        ):
            if is_exposed(source):
                warnings.append(f"{source} can be read by others; chmod 600 keeps it to you")
        return warnings

    def connection_string(self, amqp_port: int, tls_port: int) -> str:
        """Return the connection string for clients; it shows only the well-known key."""
        rule = self.rules[0]
        key = rule.key if self._is_public_key(rule) else HIDDEN
        end = "UseDevelopmentEmulator=true;" if amqp_port else ""
        return (
            f"Endpoint=sb://{bracket_host(self._args.host)}:{amqp_port or tls_port};"
            f"SharedAccessKeyName={rule.name};SharedAccessKey={key};{end}"
        )

    def _is_public_key(self, rule: "AccessPolicy") -> bool:
        from busproof.broker.auth.policies import DEFAULT_KEYS

        return rule.key == DEFAULT_KEYS[0].key


def bracket_host(host: str) -> str:
    """Return a host as addresses have it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _read_named(path: Path | None) -> Any:
    return None if path is None else str(path)
