"""Failures that may come in place of an answer."""

__all__ = ["Lost", "Rejected", "Silent", "Unreachable"]


class Rejected(Exception):  # noqa: N818 - an answer of the service, not an error of the adapter
    """The service refused a request, a link or a session.

    Args:
        condition: the AMQP error condition, or the HTTP status, as in `http:404`.
        description: the sentence for people.
    """

    def __init__(self, condition: str, description: str = "") -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition
        self.description = description


class Silent(Exception):  # noqa: N818 - one possible end of a request
    """No answer came in time."""


class Lost(Exception):  # noqa: N818 - a possible end of a connection
    """The connection was lost; the last request may have taken effect."""


class Unreachable(Lost):
    """No connection could be opened, so nothing was requested."""
