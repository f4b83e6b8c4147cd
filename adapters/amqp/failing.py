"""Failures between a request and its answer."""

__all__ = ["Lost", "Rejected", "Silent", "Unreachable"]


class Rejected(Exception):  # noqa: N818 - the service's answer, not an error of ours
    """The service refused a request, a link or a session.

    Args:
        condition: the AMQP error condition, or the status of an HTTP answer as `http:404`.
        description: the text for people.
    """

    def __init__(self, condition: str, description: str = "") -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition
        self.description = description


class Silent(Exception):  # noqa: N818 - a possible end of a request
    """No answer came in time."""


class Lost(Exception):  # noqa: N818 - a possible end of a connection
    """The connection is lost; the last request may have taken effect."""


class Unreachable(Lost):
    """No connection could be opened; nothing was requested."""
