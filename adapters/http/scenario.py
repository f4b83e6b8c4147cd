"""The state of a scenario over HTTP: locks, and what its messages may have."""

from busproof.adapters.amqp.scenario import Scenario, Setting
from busproof.adapters.http.messages import Names

__all__ = ["HttpScenario"]


class HttpScenario(Scenario):
    """The state of one scenario over HTTP.

    Args:
        setting: the parameters of the service.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.places: dict[tuple[str, str], str] = {}
        """Addresses of locked messages, by the entity's path and the lock token."""
        self.names = Names()
        """What messages may have."""
