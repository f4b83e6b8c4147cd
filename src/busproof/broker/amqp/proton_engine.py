"""Proton's engine for a connection, configured for the broker."""

import attrs
from proton import Collector, Condition, Transport
from proton import Connection as Endpoint

from busproof.broker.amqp.messages import STANDS_FOR
from busproof.broker.limits import Limits

__all__ = ["Engine"]


@attrs.frozen
class Engine:
    """Proton's objects for a connection: transport, endpoint and event collector."""

    transport: Transport
    endpoint: Endpoint
    collector: Collector

    @classmethod
    def within(cls, limits: Limits) -> "Engine":
        """Return an engine that enforces the given limits on its client."""
        transport, endpoint, collector = Transport(Transport.SERVER), Endpoint(), Collector()
        # By default Proton traces to the terminal, including tokens and text that clients control.
        transport.tracer = _write_nothing
        transport.max_frame_size = limits.frame
        # AMQP names the highest channel number, and the first channel is 0.
        transport.channel_max = limits.sessions - 1
        transport.idle_timeout = limits.idle
        endpoint.collect(collector)
        endpoint.container = "busproof"
        # A test recognises by this capability that small messages may stand for large ones here.
        endpoint.offered_capabilities = [STANDS_FOR]
        transport.bind(endpoint)
        return cls(transport, endpoint, collector)

    def close(self, error: Condition) -> None:
        """Close the connection with an error."""
        if self.endpoint.state & Endpoint.REMOTE_UNINIT:
            # If the client has sent no Open, Proton writes a Close only for a broken transport.
            self.transport.condition = error
            self.transport.close_tail()
        else:
            self.endpoint.condition = error
            self.endpoint.close()

    def free(self) -> None:
        """Free the memory that the C library has allocated."""
        self.transport.unbind()
        self.endpoint.free()
        self.collector.release()

    @property
    def reason(self) -> dict[str, str | None]:
        """The error with which the client or the engine ended the connection, for the log."""
        try:
            error = self.endpoint.remote_condition or self.transport.condition
        # A client's error has values of any type, and Python can represent only some of them.
        except (TypeError, ValueError, RecursionError):
            return {"condition": "(not readable)"}
        return {} if error is None else {"condition": error.name, "said": error.description}


def _write_nothing(*_: object) -> None:
    """Discard a trace message."""
