"""Failures that may come in place of an answer."""

__all__ = ["Lost", "Rejected", "Silent", "Unreachable"]


class Rejected(Exception):
    """The service refused a request, a link or a session.

    Args:
        condition: the AMQP error condition, or the HTTP status, as in `http:404`.
        description: the sentence for people.
    """

    def __init__(self, condition: str, description: str = "") -> None:
        super().__init__(f"{condition}: {description}")
        self.condition = condition
        self.description = description


class Silent(Exception):
    """No answer came in time."""


class Lost(Exception):
    """The connection was lost; the last request may have taken effect."""


class Unreachable(Lost):
    """No connection could be opened, so nothing was requested."""
