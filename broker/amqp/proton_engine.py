"""Proton's engine of one connection, as the broker uses it."""

import attrs
from proton import Collector, Transport
from proton import Connection as Endpoint

from busproof.broker.amqp.messages import STANDS_FOR
from busproof.broker.amqp.unreadable import readable
from busproof.broker.limits import Limits

__all__ = ["Engine"]


@attrs.frozen
class Engine:
    """What Proton has of a connection: its frames, its state, and the events that tell of it."""

    transport: Transport
    endpoint: Endpoint
    collector: Collector

    @classmethod
    def within(cls, limits: Limits) -> "Engine":
        """Return an engine that holds its client to these limits."""
        transport, endpoint, collector = Transport(Transport.SERVER), Endpoint(), Collector()
        # Proton would write to the terminal what a client makes it, and frames with tokens in them.
        transport.tracer = _write_nothing
        transport.max_frame_size = limits.frame
        transport.channel_max = limits.sessions - 1
        transport.idle_timeout = limits.idle
        endpoint.collect(collector)
        endpoint.container = "busproof"
        endpoint.offered_capabilities = [STANDS_FOR]
        transport.bind(endpoint)
        return cls(transport, endpoint, collector)

    def free(self) -> None:
        """Free what the library has allocated."""
        self.transport.unbind()
        self.endpoint.free()
        self.collector.release()

    @property
    def reason(self) -> dict[str, str | None]:
        """The error by which the client has ended the connection, or the engine has."""
        error = readable(lambda: self.endpoint.remote_condition or self.transport.condition)
        return {} if error is None else {"condition": error.name, "said": error.description}


def _write_nothing(*_: object) -> None:
    """Nobody is to be told."""
